#include "json_scan.h"

#include <string.h>

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
