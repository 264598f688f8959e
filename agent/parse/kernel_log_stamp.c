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

/*
 * How the months begin, lower case, as strftime(3) writes them for journalctl and dmesg -T in English, German, French,
 * Spanish, Italian, Portuguese, Dutch, Polish, Swedish and Russian.
 */
static const char *const month_names[12] = {
	"jan ene gen sty янв",
	"feb fev fév lut фев",
	"mar mär mrz mrt мар",
	"apr avr abr kwi апр",
	"may mai mag mei maj май мая",
	"jun juin giu cze июн",
	"jul juil lug lip июл",
	"aug ago aoû sie авг",
	"sep set wrz сен",
	"oct okt ott out paź окт",
	"nov lis ноя",
	"dec dez dic déc gru дек",
};

static int
month_of(struct text name)
{
	struct text n = name, beginning;
	uint64_t number;

	if (text_u64(&n, &number) == 0) /* Japanese and Chinese, Korean */
		return number >= 1 && number <= 12 && (text_eq(n, "月") || text_eq(n, "월")) ? (int)number : 0;
	for (int i = 0; i < 12; i++) {
		struct text names = text_of(month_names[i]);
		while (text_word(&names, &beginning)) {
			const char *b = beginning.p;
			if (beginning.n <= name.n && (name.p[0] == b[0] || (name.p[0] | 0x20) == b[0]) &&
			    memcmp(name.p + 1, b + 1, beginning.n - 1) == 0)
				return i + 1;
		}
	}
	return 0;
}

/* A month's name and the blanks behind it, which a day has to follow. */
static bool
month_name(struct text *t, int *month)
{
	struct text at = *t, name = { t->p, 0 };

	while (name.n < 12 && name.n < at.n && at.p[name.n] != ' ' && at.p[name.n] != ':')
		name.n++;
	at.p += name.n;
	at.n -= name.n;
	text_skip_blanks(&at);
	if (name.n < 3 || at.n < 6 || !kl_is_digit(*at.p) || (*month = month_of(name)) == 0)
		return false;
	*t = at;
	return true;
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
	int month;
	int64_t day, seconds = 0, year = 0, minute;

	if (!month_name(&at, &month))
		return false;
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
		if (!kl_skip_weekday(&in) && !kl_month_stamp(&in, &stamp)) { /* a weekday in another language */
			struct text weekday;
			if (!text_word(&in, &weekday) || weekday.n > 12)
				return false;
			text_skip_blanks(&in);
		}
		if (!stamp.has_stamp && !kl_month_stamp(&in, &stamp))
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
