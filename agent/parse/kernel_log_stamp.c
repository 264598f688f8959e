/* The time stamps before kernel lines; kernel_log_form.c tells where each is found. */
#include "kernel_log_state.h"

#include <string.h>

/* Exactly n digits. */
static bool
digits(struct text *t, unsigned n, int64_t *value)
{
	int64_t v = 0;

	if (t->n < n)
		return false;
	for (unsigned i = 0; i < n; i++) {
		if (!kl_is_digit(t->p[i]))
			return false;
		v = v * 10 + (t->p[i] - '0');
	}
	*value = v;
	t->p += n;
	t->n -= n;
	return true;
}

/* Days from 1 March of year 0, proleptic Gregorian; only differences matter. */
static int64_t
days_of(int64_t year, int64_t month, int64_t day)
{
	if (month < 3) {
		year--;
		month += 12;
	}
	return year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 - 457) / 5 + day;
}

static int
month_of(struct text t)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	if (t.n < 3)
		return 0;
	for (int i = 0; i < 12; i++) {
		const char *name = names + 3 * i;
		if (t.p[0] == name[0] && t.p[1] == name[1] && t.p[2] == name[2])
			return i + 1;
	}
	return 0;
}

bool
kl_skip_weekday(struct text *t)
{
	static const char names[] = "MonTueWedThuFriSatSun";

	if (t->n < 4 || t->p[3] != ' ')
		return false;
	for (int i = 0; i < 7; i++) {
		if (memcmp(t->p, names + 3 * i, 3) == 0) {
			t->p += 4;
			t->n -= 4;
			return true;
		}
	}
	return false;
}

/* hh:mm:ss, a fraction allowed. */
static bool
clock_time(struct text *t, int64_t *seconds)
{
	struct text at = *t;
	int64_t h, m, s, fraction;

	if (!digits(&at, 2, &h) || !kl_skip_char(&at, ':') || !digits(&at, 2, &m) || !kl_skip_char(&at, ':') ||
	    !digits(&at, 2, &s))
		return false;
	if (at.n > 1 && (*at.p == '.' || *at.p == ',') && kl_is_digit(at.p[1])) {
		kl_skip_char(&at, *at.p);
		while (digits(&at, 1, &fraction))
			;
	}
	*seconds = h * 3600 + m * 60 + s;
	*t = at;
	return true;
}

/* "Mar  3 02:11:40", "Mar  3 02:11", with or without a year before or behind the time. */
bool
kl_month_stamp(struct text *t, struct kl_stripped *out)
{
	struct text at = *t;
	int month = month_of(at);
	int64_t day, seconds = 0, year = 0, minute;

	if (month == 0)
		return false;
	at.p += 3;
	at.n -= 3;
	text_skip_blanks(&at);
	if (!digits(&at, 2, &day) && !digits(&at, 1, &day))
		return false;
	if (!kl_skip_char(&at, ' '))
		return false;
	struct text before = at;
	if (digits(&at, 4, &year) && !kl_skip_char(&at, ' ')) {
		year = 0;
		at = before;
	}
	if (!clock_time(&at, &seconds)) {
		if (!digits(&at, 2, &seconds) || !kl_skip_char(&at, ':') || !digits(&at, 2, &minute))
			return false;
		seconds = seconds * 3600 + minute * 60;
	}
	before = at;
	if (year == 0 && !(kl_skip_char(&at, ' ') && digits(&at, 4, &year) && (at.n == 0 || *at.p == ' ' || *at.p == ']'))) {
		year = 0;
		at = before;
	}
	out->is_yearless = year == 0;
	out->time = days_of(year != 0 ? year : 1, month, day) * 86400 + seconds;
	out->has_stamp = true;
	*t = at;
	return true;
}

/* "2026-03-03T02:11:40.123456+01:00"; a blank for the T allowed. */
bool
kl_iso_stamp(struct text *t, struct kl_stripped *out, bool *has_comma)
{
	struct text at = *t;
	int64_t year, month, day, seconds, h = 0, m = 0;

	if (at.n < 19 || at.p[4] != '-' || at.p[7] != '-')
		return false;
	if (!digits(&at, 4, &year) || !kl_skip_char(&at, '-') || !digits(&at, 2, &month) || !kl_skip_char(&at, '-') ||
	    !digits(&at, 2, &day) || (!kl_skip_char(&at, 'T') && !kl_skip_char(&at, ' ')))
		return false;
	struct text before = at;
	if (!clock_time(&at, &seconds))
		return false;
	*has_comma = before.n > 8 && before.p[8] == ',';
	if (at.n > 0 && (*at.p == '+' || *at.p == '-')) {
		bool east = *at.p == '+';
		kl_skip_char(&at, *at.p);
		if (!digits(&at, 2, &h))
			return false;
		kl_skip_char(&at, ':');
		if (!digits(&at, 2, &m))
			return false;
		seconds -= (east ? 1 : -1) * (h * 3600 + m * 60);
	} else {
		kl_skip_char(&at, 'Z');
	}
	out->time = days_of(year, month, day) * 86400 + seconds;
	out->has_stamp = true;
	*t = at;
	return true;
}

/* "[   12.345678]" and its relatives, a blank behind it skipped. */
bool
kl_bracket_stamp(struct text *t, struct kl_stripped *out)
{
	struct text at = *t, in;
	int64_t time = KERNEL_LOG_NO_TIME;
	uint64_t seconds;

	if (at.n < 3 || *at.p != '[')
		return false;
	/* Seconds with a fraction, the common case. */
	size_t i = 1;
	while (i < at.n && at.p[i] == ' ')
		i++;
	if (i == 1 && at.n > 5 && at.p[5] == '-') { /* "[2021-12-10 20:56:10]", as terminal servers log a console */
		struct kl_stripped stamp = { .time = KERNEL_LOG_NO_TIME };
		bool comma;
		kl_skip_char(&at, '[');
		if (!kl_iso_stamp(&at, &stamp, &comma) || !text_until(&at, ']', &in) || in.n > 10)
			return false;
		time = stamp.time;
	} else if (i < at.n && (kl_is_digit(at.p[i]) || at.p[i] == '+')) {
		bool is_step = at.p[i] == '+'; /* since the line before: tells no time */
		at.p += i + is_step;
		at.n -= i + is_step;
		/* Without one: FreeBSD's kern.msgbuf_show_timestamp=1. */
		if (text_u64(&at, &seconds) != 0 || (!kl_skip_char(&at, '.') && (is_step || !text_starts(at, "] "))))
			return false;
		if (!text_until(&at, ']', &in) || in.n > 40)
			return false;
		if (!is_step && seconds <= INT64_MAX / 4)
			time = (int64_t)seconds;
	} else {
		struct kl_stripped stamp = { .time = KERNEL_LOG_NO_TIME };
		kl_skip_char(&at, '[');
		if (!text_until(&at, ']', &in) || in.n > 40)
			return false;
		kl_skip_weekday(&in);
		if (!kl_month_stamp(&in, &stamp))
			return false;
		time = stamp.time;
		out->is_yearless = stamp.is_yearless;
	}
	/* The printing task or CPU: "[  T123]", "[   C1]". */
	struct text caller = at;
	kl_skip_char(&caller, ' ');
	if (caller.n > 4 && *caller.p == '[') {
		kl_skip_char(&caller, '[');
		text_skip_blanks(&caller);
		if (caller.n > 2 && (*caller.p == 'T' || *caller.p == 'C') && kl_is_digit(caller.p[1]) &&
		    text_until(&caller, ']', &in))
			at = caller;
	}
	kl_skip_char(&at, ' ');
	out->time = time;
	out->has_stamp = true;
	*t = at;
	return true;
}
