/*
 * Bounded scanners over borrowed text: nothing here reads past the end, needs a NUL, looks at the locale or allocates.
 * Functions that take struct text * move its start past what they consumed, and leave it alone on failure.
 */
#ifndef HIWAT_BASE_SCAN_H
#define HIWAT_BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
	const char *p; /* borrowed */
	size_t n;
};

/* A string literal as text. */
#define TEXT(literal) ((struct text){ literal, sizeof(literal) - 1 })

/* What is small is inline: with a literal its length is known when compiled, and scanners of lines try many. */
static inline struct text
text_of(const char *s)
{
	return (struct text){ s, strlen(s) };
}

static inline bool
text_same(struct text a, struct text b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool
text_eq(struct text t, const char *s)
{
	return text_same(t, text_of(s));
}

static inline bool
text_starts(struct text t, const char *prefix)
{
	size_t n = strlen(prefix);

	return t.n >= n && (n == 0 || memcmp(t.p, prefix, n) == 0);
}

static inline bool
text_ends(struct text t, const char *suffix)
{
	size_t n = strlen(suffix);

	return t.n >= n && (n == 0 || memcmp(t.p + t.n - n, suffix, n) == 0);
}

/* Offset of the first occurrence of needle, or -1. */
long text_find(struct text t, const char *needle);

static inline bool
text_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static inline void
text_skip_blanks(struct text *t)
{
	while (t->n > 0 && text_is_blank(*t->p)) {
		t->p++;
		t->n--;
	}
}

static inline void
text_trim_right(struct text *t)
{
	while (t->n > 0 && text_is_blank(t->p[t->n - 1]))
		t->n--;
}

/* Without leading and trailing blanks, tabs and CRs. */
static inline struct text
text_trim(struct text t)
{
	text_skip_blanks(&t);
	text_trim_right(&t);
	return t;
}

/*
 * The next line without its newline and a CR before it. The last line counts without a newline too; *cut, when not NULL,
 * says whether its newline was missing. False at the end of the text.
 */
bool text_line(struct text *rest, struct text *line, bool *cut);
/* The next word between blanks and tabs; leading blanks are skipped. False when only blanks are left. */
bool text_word(struct text *rest, struct text *word);
/* The last word; what stands before it stays in *rest, trimmed at its right. False when only blanks are left. */
bool text_last_word(struct text *rest, struct text *word);
/* What stands before the separator; *rest goes on behind it. False when it does not occur. */
bool text_until(struct text *rest, char separator, struct text *before);
/* Skip prefix if the text starts with it. */
static inline bool
text_skip(struct text *t, const char *prefix)
{
	if (!text_starts(*t, prefix))
		return false;
	t->p += strlen(prefix);
	t->n -= strlen(prefix);
	return true;
}

/* Decimal digits at the start: HIWAT_E_FORMAT without a digit, HIWAT_E_RANGE when more than 64 bits. */
int text_u64(struct text *t, uint64_t *value);
/* The same, a leading '-' allowed. */
int text_i64(struct text *t, int64_t *value);
/* Hexadecimal digits, with or without 0x. */
int text_hex(struct text *t, uint64_t *value);
/* A decimal number with optional sign, fraction and exponent, '.' as the point whatever the locale. */
int text_double(struct text *t, double *value);
/* The whole of t, trimmed, is one number. */
bool text_is_u64(struct text t, uint64_t *value);
bool text_is_double(struct text t, double *value);

#endif
