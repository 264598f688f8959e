#include "scan.h"
#include "err.h"

#include <math.h>
#include <string.h>

long
text_find(struct text t, const char *needle)
{
	size_t n = strlen(needle);

	if (n == 0)
		return 0;
	for (size_t i = 0; i + n <= t.n; i++) {
		const char *hit = memchr(t.p + i, needle[0], t.n - n + 1 - i);
		if (hit == NULL)
			return -1;
		i = (size_t)(hit - t.p);
		if (memcmp(hit, needle, n) == 0)
			return (long)i;
	}
	return -1;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool
text_line(struct text *rest, struct text *line, bool *cut)
{
	if (rest->n == 0)
		return false;
	const char *end = memchr(rest->p, '\n', rest->n);
	size_t n = end != NULL ? (size_t)(end - rest->p) : rest->n;
	if (cut != NULL)
		*cut = end == NULL;
	*line = (struct text){ rest->p, n };
	if (n > 0 && line->p[n - 1] == '\r')
		line->n--;
	if (end != NULL)
		n++;
	rest->p += n;
	rest->n -= n;
	return true;
}

bool
text_word(struct text *rest, struct text *word)
{
	struct text t = *rest;

	text_skip_blanks(&t);
	if (t.n == 0)
		return false;
	word->p = t.p;
	word->n = 0;
	while (t.n > 0 && !text_is_blank(*t.p)) {
		t.p++;
		t.n--;
		word->n++;
	}
	*rest = t;
	return true;
}

bool
text_last_word(struct text *rest, struct text *word)
{
	struct text t = *rest;
	size_t n = 0;

	text_trim_right(&t);
	while (n < t.n && !text_is_blank(t.p[t.n - 1 - n]))
		n++;
	if (n == 0)
		return false;
	*word = (struct text){ t.p + t.n - n, n };
	t.n -= n;
	text_trim_right(&t);
	*rest = t;
	return true;
}

bool
text_until(struct text *rest, char separator, struct text *before)
{
	const char *hit = rest->n > 0 ? memchr(rest->p, separator, rest->n) : NULL;

	if (hit == NULL)
		return false;
	size_t n = (size_t)(hit - rest->p);
	*before = (struct text){ rest->p, n };
	rest->p += n + 1;
	rest->n -= n + 1;
	return true;
}

int
text_u64(struct text *t, uint64_t *value)
{
	uint64_t v = 0;
	size_t i = 0;

	for (; i < t->n && is_digit(t->p[i]); i++) {
		uint64_t digit = (uint64_t)(t->p[i] - '0');
		if (i >= 19 && v > (UINT64_MAX - digit) / 10) /* 19 digits fit whatever they are */
			return HIWAT_E_RANGE;
		v = v * 10 + digit;
	}
	if (i == 0)
		return HIWAT_E_FORMAT;
	t->p += i;
	t->n -= i;
	*value = v;
	return HIWAT_OK;
}

int
text_i64(struct text *t, int64_t *value)
{
	struct text s = *t;
	bool negative = text_skip(&s, "-");
	uint64_t v;
	int err = text_u64(&s, &v);

	if (err != HIWAT_OK)
		return err;
	if (v > (uint64_t)INT64_MAX + (negative ? 1 : 0))
		return HIWAT_E_RANGE;
	*value = negative ? (int64_t)(0 - v) : (int64_t)v;
	*t = s;
	return HIWAT_OK;
}

int
text_hex(struct text *t, uint64_t *value)
{
	struct text s = *t;
	uint64_t v = 0;
	size_t i = 0;

	if (!text_skip(&s, "0x"))
		text_skip(&s, "0X");
	for (; i < s.n; i++) {
		char c = s.p[i];
		unsigned digit;
		if (is_digit(c))
			digit = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned)(c - 'a') + 10;
		else if (c >= 'A' && c <= 'F')
			digit = (unsigned)(c - 'A') + 10;
		else
			break;
		if (v > UINT64_MAX >> 4)
			return HIWAT_E_RANGE;
		v = v << 4 | digit;
	}
	if (i == 0)
		return HIWAT_E_FORMAT;
	s.p += i;
	s.n -= i;
	*t = s;
	*value = v;
	return HIWAT_OK;
}

/* Digits at the start added to *mantissa, each moving the scale; those that no longer matter only count. */
static size_t
scan_digits(struct text *s, long double *mantissa)
{
	size_t n = 0;

	while (s->n > 0 && is_digit(*s->p)) {
		*mantissa = *mantissa * 10 + (*s->p - '0');
		s->p++;
		s->n--;
		n++;
	}
	return n;
}

int
text_double(struct text *t, double *value)
{
	struct text s = *t;
	bool negative = text_skip(&s, "-");
	long double mantissa = 0;
	int64_t exponent = 0;

	if (!negative)
		text_skip(&s, "+");
	size_t digits = scan_digits(&s, &mantissa), fraction = 0;
	struct text point = s;
	if (text_skip(&point, ".")) {
		fraction = scan_digits(&point, &mantissa);
		if (digits + fraction > 0)
			s = point;
	}
	if (digits + fraction == 0)
		return HIWAT_E_FORMAT;
	struct text e = s;
	if (text_skip(&e, "e") || text_skip(&e, "E")) {
		text_skip(&e, "+");
		if (text_i64(&e, &exponent) == HIWAT_OK)
			s = e;
		else
			exponent = 0;
	}
	if (exponent > 5000 || exponent < -5000 || fraction > 4000)
		return HIWAT_E_RANGE;
	long double v = mantissa;
	int64_t scale = exponent - (int64_t)fraction;
	v = scale < 0 ? v / powl(10.0L, (long double)-scale) : v * powl(10.0L, (long double)scale);
	double d = (double)(negative ? -v : v);
	if (!isfinite(d))
		return HIWAT_E_RANGE;
	*value = d;
	*t = s;
	return HIWAT_OK;
}

bool
text_is_u64(struct text t, uint64_t *value)
{
	uint64_t v;

	t = text_trim(t);
	if (text_u64(&t, &v) != HIWAT_OK || t.n != 0)
		return false;
	*value = v;
	return true;
}

bool
text_is_double(struct text t, double *value)
{
	double v;

	t = text_trim(t);
	if (text_double(&t, &v) != HIWAT_OK || t.n != 0)
		return false;
	*value = v;
	return true;
}
