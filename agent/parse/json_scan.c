#include "json_scan.h"

#include <string.h>

#include "arena.h"
#include "err.h"

static void
skip_space(struct text *t)
{
	while (t->n > 0 && (*t->p == ' ' || *t->p == '\t' || *t->p == '\n' || *t->p == '\r')) {
		t->p++;
		t->n--;
	}
}

/* What stands between quotes; false, and *t behind its line, when the closing one is missing there. */
static bool
take_string(struct text *t, struct text *string)
{
	size_t n = 1;

	while (n < t->n && t->p[n] != '"' && t->p[n] != '\n')
		n += t->p[n] == '\\' ? 2 : 1;
	if (n >= t->n || t->p[n] != '"') {
		n = n < t->n ? n : t->n;
		t->p += n;
		t->n -= n;
		return false;
	}
	*string = (struct text){ t->p + 1, n - 1 };
	t->p += n + 1;
	t->n -= n + 1;
	return true;
}

static bool
ends_scalar(char c)
{
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A number or a word; false when the text ends with it. */
static bool
take_scalar(struct text *t, struct text *scalar)
{
	size_t n = 0;

	while (n < t->n && !ends_scalar(t->p[n]))
		n++;
	if (n == t->n)
		return false;
	*scalar = (struct text){ t->p, n };
	t->p += n;
	t->n -= n;
	return true;
}

static bool
take_value(struct json_scan *s, struct json_member *m)
{
	if (s->rest.n == 0)
		return false;
	if (*s->rest.p == '"') {
		m->type = JSON_STRING;
		return take_string(&s->rest, &m->value);
	}
	if (*s->rest.p == '{' || *s->rest.p == '[') {
		m->type = JSON_CONTAINER;
		m->value = TEXT("");
		return true;
	}
	if (!take_scalar(&s->rest, &m->value))
		return false;
	bool is_number = m->value.n > 0 && (*m->value.p == '-' || (*m->value.p >= '0' && *m->value.p <= '9'));
	m->type = is_number ? JSON_NUMBER : JSON_OTHER;
	return true;
}

bool
json_next(struct json_scan *s, struct json_member *m)
{
	while (s->rest.n > 0) {
		char c = *s->rest.p;
		if (c == '"') {
			if (!take_string(&s->rest, &m->key))
				continue;
			skip_space(&s->rest);
			if (!text_skip(&s->rest, ":"))
				continue;
			skip_space(&s->rest);
			m->depth = s->depth;
			if (take_value(s, m))
				return true;
			continue;
		}
		if (c == '{' || c == '[')
			s->depth++;
		else if ((c == '}' || c == ']') && s->depth > 0)
			s->depth--;
		s->rest.p++;
		s->rest.n--;
	}
	return false;
}

/* Bytes of the string at t with its quotes when it goes over one line end; 0 for any other. */
static size_t
broken_string(struct text t)
{
	size_t n = 1, n_ends = 0;

	for (; n < t.n && t.p[n] != '"'; n += t.p[n] == '\\' ? 2 : 1)
		n_ends += t.p[n] == '\n';
	if (n >= t.n || n_ends != 1)
		return 0;
	struct text rest = { t.p + n + 1, t.n - n - 1 };
	skip_space(&rest);
	return rest.n > 0 && (*rest.p == ':' || ends_scalar(*rest.p)) ? n + 1 : 0;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t
longest_line(struct text text)
{
	struct text line;
	size_t longest = 0;

	while (text_line(&text, &line, NULL))
		longest = line.n > longest ? line.n : longest;
	return longest;
}

int
json_unwrap(struct arena *arena, struct text *text)
{
	struct text t = *text;
	size_t longest = longest_line(t), len = 0, in_line = 0, in_string = 0;
	char *out = arena_calloc(arena, t.n + 1, 1);

	if (out == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i<t.n; i++, in_string -= in_string> 0) {
		char c = t.p[i];
		struct text rest = { t.p + i, t.n - i }, string;
		if (c == '"' && in_string == 0 && (in_string = broken_string(rest)) == 0 && take_string(&rest, &string))
			in_string = string.n + 2;
		size_t end = i + (c == '\r' && i + 1 < t.n && t.p[i + 1] == '\n');
		bool is_number = len > 0 && is_digit(out[len - 1]) && end + 1 < t.n && is_digit(t.p[end + 1]);
		if (t.p[end] != '\n' || (in_string == 0 && !is_number)) {
			out[len++] = c;
			in_line = c == '\n' ? 0 : in_line + 1;
			continue;
		}
		/* A line that is full was broken anywhere, a shorter one behind a hyphen or at a blank. */
		if (in_string > 0 && in_line < longest && out[len - 1] != '-')
			out[len++] = ' ';
		in_string -= end - i;
		i = end;
		in_line = 0;
	}
	*text = (struct text){ out, len };
	return HIWAT_OK;
}

/* One \uXXXX as UTF-8; what is no code point of its own becomes '?'. */
static size_t
put_code(uint64_t code, char *out)
{
	if (code >= 0xd800 && code < 0xe000)
		code = '?';
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | code >> 12);
	out[1] = (char)(0x80 | (code >> 6 & 0x3f));
	out[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

size_t
json_unescape(struct text value, char *out)
{
	static const char letters[] = "bfnrt", bytes[] = "\b\f\n\r\t";
	size_t n = 0;

	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] != '\\' || i + 1 == value.n) {
			out[n++] = value.p[i];
			continue;
		}
		char c = value.p[++i];
		struct text digits = { value.p + i + 1, 4 };
		uint64_t code;
		const char *letter = c != '\0' ? strchr(letters, c) : NULL;
		if (c == 'u' && value.n - i > 4 && text_hex(&digits, &code) == HIWAT_OK && digits.n == 0) {
			n += put_code(code, out + n);
			i += 4;
		} else {
			if (letter != NULL)
				c = bytes[letter - letters];
			out[n++] = c;
		}
	}
	out[n] = '\0';
	return n;
}
