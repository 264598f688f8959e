#include "pasted.h"

#include "arena.h"
#include "err.h"

#define NUMBERED_MIN 3 /* lines in a row that are no accident */
#define OTHERS_MAX 2   /* without a number: a prompt before and behind */
#define INDENT_MIN 4   /* less is what some programs print */

/* The length of the sequence at t, which begins with ESC; a title that has no end ends with its line. */
static size_t
escape_length(struct text t)
{
	size_t i = 1;

	if (t.n < 2)
		return 1;
	if (t.p[1] == ']') {
		for (i = 2; i < t.n && t.p[i] != '\n'; i++) {
			if (t.p[i] == '\a')
				return i + 1;
			if (t.p[i] == '\033')
				return i + 1 < t.n && t.p[i + 1] == '\\' ? i + 2 : i;
		}
		return i;
	}
	if (t.p[1] == '[') {
		for (i = 2; i < t.n && t.p[i] >= 0x20 && t.p[i] <= 0x3f; i++)
			;
		return i < t.n && t.p[i] >= 0x40 && t.p[i] <= 0x7e ? i + 1 : i;
	}
	while (i < t.n && t.p[i] >= 0x20 && t.p[i] <= 0x2f)
		i++;
	return i < t.n && t.p[i] >= 0x30 && t.p[i] <= 0x7e ? i + 1 : i;
}

int
pasted_plain(struct arena *arena, struct text *text)
{
	struct text t = *text;
	bool has_newlines = t.n > 0 && memchr(t.p, '\n', t.n) != NULL;
	bool has_bytes = t.n > 0 && (memchr(t.p, '\033', t.n) != NULL || memchr(t.p, '\b', t.n) != NULL);

	if (has_newlines && !has_bytes && text_find(t, "\r\r") < 0 && text_find(t, "\xc2\xa0") < 0)
		return HIWAT_OK;
	char *out = arena_calloc(arena, t.n + 1, 1);
	if (out == NULL)
		return HIWAT_E_NOMEM;
	size_t len = 0;
	while (t.n > 0) {
		size_t n = 1;
		if (*t.p == '\033') {
			n = escape_length(t);
		} else if (*t.p == '\b') {
			len -= len > 0 && out[len - 1] != '\n';
		} else if (text_starts(t, "\xc2\xa0")) {
			out[len++] = ' ';
			n = 2;
		} else if (*t.p == '\r' && !has_newlines) {
			out[len++] = '\n';
		} else if (*t.p != '\a' && !text_starts(t, "\r\r")) {
			out[len++] = *t.p;
		}
		t.p += n;
		t.n -= n;
	}
	*text = (struct text){ out, len };
	return HIWAT_OK;
}

/* "   12<tab>", "12 " or "12:" at the start of a line. */
static bool
skip_number(struct text *line, uint64_t *number)
{
	struct text t = *line;

	text_skip_blanks(&t);
	if (text_u64(&t, number) != HIWAT_OK || t.n == 0 || (*t.p != '\t' && *t.p != ' ' && *t.p != ':'))
		return false;
	t.p++;
	t.n--;
	*line = t;
	return true;
}

static bool
is_numbered(struct text text)
{
	struct text line;
	uint64_t number, next = 0;
	size_t n = 0, n_others = 0;

	while (text_line(&text, &line, NULL)) {
		if (text_trim(line).n == 0)
			continue;
		if (!skip_number(&line, &number))
			n_others++;
		else if (n++ > 0 && number != next)
			return false;
		else
			next = number + 1;
	}
	return n >= NUMBERED_MIN && n_others <= OTHERS_MAX;
}

/* Blanks that all lines with something in them begin with. */
static size_t
indent_of(struct text text)
{
	struct text line;
	size_t least = SIZE_MAX;

	while (text_line(&text, &line, NULL) && least > 0) {
		size_t n = 0;
		while (n < line.n && line.p[n] == ' ')
			n++;
		if (text_trim(line).n > 0 && n < least)
			least = n;
	}
	return least != SIZE_MAX ? least : 0;
}

int
pasted_margin(struct arena *arena, struct text *text)
{
	bool numbered = is_numbered(*text);
	size_t indent = numbered ? 0 : indent_of(*text), len = 0;
	struct text rest = *text, line;
	uint64_t number;
	bool cut;

	if (!numbered && indent < INDENT_MIN)
		return HIWAT_OK;
	char *out = arena_calloc(arena, text->n + 1, 1);
	if (out == NULL)
		return HIWAT_E_NOMEM;
	while (text_line(&rest, &line, &cut)) {
		if (numbered)
			skip_number(&line, &number);
		size_t skip = indent < line.n ? indent : line.n;
		memcpy(out + len, line.p + skip, line.n - skip);
		len += line.n - skip;
		if (!cut)
			out[len++] = '\n';
	}
	*text = (struct text){ out, len };
	return HIWAT_OK;
}
