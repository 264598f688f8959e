#include "lex.h"

#include <stdbool.h>
#include <string.h>

#include "err.h"
#include "scan.h"
#include "units.h"

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_name(char c)
{
	return is_name_start(c) || is_digit(c);
}

static struct token
lex_fail(size_t at, size_t len, const char *message)
{
	return (struct token){ .kind = TOKEN_ERROR, .at = at, .len = len, .message = message };
}

/* A number, with a unit of time or of size directly behind it. */
static struct token
lex_number(const char *text, size_t len, size_t at)
{
	struct text rest = { text + at, len - at }, whole;
	struct token t = { .kind = TOKEN_NUMBER, .at = at };
	uint64_t plain;
	int err = text_double(&rest, &t.number);

	if (err != HIWAT_OK)
		return lex_fail(at, 1, err == HIWAT_E_RANGE ? "number out of range" : "a number was expected");
	t.len = (size_t)(rest.p - (text + at));
	if (rest.n == 0 || !is_name_start(*rest.p))
		return t;
	size_t end = t.len;
	while (at + end < len && is_name(text[at + end]))
		end++;
	whole = (struct text){ text + at, end };
	t.len = end;
	if (units_parse_duration(whole, &plain) == HIWAT_OK) {
		if (plain > UINT64_MAX / 1000000)
			return lex_fail(at, end, "duration out of range");
		t.kind = TOKEN_DURATION;
		t.number = (double)plain / 1000;
		t.ns = plain * 1000000;
		return t;
	}
	if (units_parse_size(whole, &plain) == HIWAT_OK) {
		t.number = (double)plain;
		return t;
	}
	return lex_fail(at, end, "unknown unit: a number, " UNITS_DURATION_FORM ", or " UNITS_SIZE_FORM " was expected");
}

static struct token
lex_string(const char *text, size_t len, size_t at)
{
	char quote = text[at];

	for (size_t i = at + 1; i < len; i++) {
		if (text[i] == '\\' && i + 1 < len)
			i++;
		else if (text[i] == quote)
			return (struct token){ .kind = TOKEN_STRING, .at = at, .len = i + 1 - at };
		else if (text[i] == '\n')
			break;
	}
	return lex_fail(at, len - at, "the string has no closing quote");
}

struct token
lex_next(const char *text, size_t len, size_t *at)
{
	static const char *const signs[] = { "==", "!=", "=~", "!~", "<=", ">=", "(", ")", "{", "}", "[", "]", ",", "+", "-",
		"*", "/", "%", "=", "<", ">", NULL };
	size_t i = *at;
	struct token t;

	while (i < len && (strchr(" \t\r\n", text[i]) != NULL || text[i] == '#')) {
		if (text[i] == '#') {
			while (i < len && text[i] != '\n')
				i++;
		} else {
			i++;
		}
	}
	if (i >= len) {
		t = (struct token){ .kind = TOKEN_END, .at = len };
	} else if (is_digit(text[i]) || (text[i] == '.' && i + 1 < len && is_digit(text[i + 1]))) {
		t = lex_number(text, len, i);
	} else if (text[i] == '"' || text[i] == '\'') {
		t = lex_string(text, len, i);
	} else if (is_name_start(text[i])) {
		t = (struct token){ .kind = TOKEN_NAME, .at = i };
		while (i + t.len < len && is_name(text[i + t.len]))
			t.len++;
	} else {
		t = lex_fail(i, 1, "unexpected character");
		for (unsigned s = 0; signs[s] != NULL; s++) {
			size_t n = strlen(signs[s]);
			if (len - i >= n && memcmp(text + i, signs[s], n) == 0) {
				t = (struct token){ .kind = TOKEN_SIGN, .at = i, .len = n };
				break;
			}
		}
	}
	*at = t.at + t.len;
	return t;
}

size_t
lex_unquote(const char *text, const struct token *t, char *out)
{
	size_t n = 0;

	for (size_t i = t->at + 1; i + 1 < t->at + t->len; i++) {
		/* Only the quotes and the backslash itself need an escape; in a regular expression \. stays as it is. */
		if (text[i] == '\\' && i + 2 < t->at + t->len && strchr("\\\"'", text[i + 1]) != NULL)
			i++;
		if (out != NULL)
			out[n] = text[i];
		n++;
	}
	return n;
}
