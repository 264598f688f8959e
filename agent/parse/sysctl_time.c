#include "sysctl_time.h"

#include <string.h>

#include "arena.h"
#include "err.h"
#include "sysctl_names.h"

#define STATES_MAX 6
#define CPUS_MAX 1024

static const char *const five_modes[] = { "user", "nice", "system", "interrupt", "idle" };
static const char *const six_modes[] = { "user", "nice", "system", "spin", "interrupt", "idle" };

static bool
is_separator(char c)
{
	return c == ' ' || c == '\t' || c == ',';
}

size_t
sysctl_numbers(struct text t, bool only_numbers, double *numbers, size_t max)
{
	size_t n = 0;

	while (n < max) {
		size_t len = 0;
		while (t.n > 0 && is_separator(*t.p))
			t = (struct text){ t.p + 1, t.n - 1 };
		if (t.n == 0)
			break;
		while (len < t.n && !is_separator(t.p[len]))
			len++;
		if (text_is_double((struct text){ t.p, len }, &numbers[n]))
			n++;
		else if (only_numbers)
			return 0;
		t = (struct text){ t.p + len, t.n - len };
	}
	return n;
}

/* Days since 1970-01-01 of a day of the Gregorian calendar, months from 1. */
static int64_t
days_since_epoch(int64_t year, int64_t month, int64_t day)
{
	/* Years that begin in March, so that the leap day is the last. */
	int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* "22:13:20" */
static bool
take_clock(struct text word, uint64_t *seconds)
{
	struct text part;
	uint64_t hours, minutes, rest;

	if (!text_until(&word, ':', &part) || !text_is_u64(part, &hours) || !text_until(&word, ':', &part) ||
	    !text_is_u64(part, &minutes) || !text_is_u64(word, &rest) || hours > 23 || minutes > 59 || rest > 60)
		return false;
	*seconds = (hours * 60 + minutes) * 60 + rest;
	return true;
}

/* "Tue Nov 14 22:13:20 2023" */
static bool
take_date(struct text t, int tz_seconds, double *seconds)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct text weekday, month, day_word, clock, year_word;
	uint64_t day, of_day, year;
	int64_t number = 0;

	if (!text_word(&t, &weekday) || !text_word(&t, &month) || !text_word(&t, &day_word) || !text_word(&t, &clock) ||
	    !text_word(&t, &year_word) || month.n != 3)
		return false;
	for (int64_t i = 0; i < 12; i++) {
		if (memcmp(months + 3 * i, month.p, 3) == 0)
			number = i + 1;
	}
	if (number == 0 || !text_is_u64(day_word, &day) || day < 1 || day > 31 || !take_clock(clock, &of_day) ||
	    !text_is_u64(year_word, &year) || year < 1970 || year > 9999)
		return false;
	*seconds = (double)(days_since_epoch((int64_t)year, number, (int64_t)day) * 86400 + (int64_t)of_day - tz_seconds);
	return true;
}

/* The number behind "word = " or "word=". */
static bool
named_number(struct text t, const char *word, uint64_t *number)
{
	for (;;) {
		long at = text_find(t, word);
		if (at < 0)
			return false;
		bool is_begin = at == 0 || is_separator(t.p[at - 1]) || t.p[at - 1] == '{';
		t = (struct text){ t.p + at + strlen(word), t.n - (size_t)at - strlen(word) };
		struct text value = t;
		text_skip_blanks(&value);
		if (!is_begin || !text_skip(&value, "="))
			continue;
		text_skip_blanks(&value);
		return text_u64(&value, number) == HIWAT_OK;
	}
}

bool
sysctl_boot_time(struct text value, int tz_seconds, double *seconds)
{
	uint64_t sec, usec;

	if (text_is_u64(value, &sec) || named_number(value, "sec", &sec)) {
		*seconds = (double)sec;
		if (named_number(value, "usec", &usec) && usec < 1000000)
			*seconds += (double)usec / 1e6;
		return sec > 0;
	}
	return take_date(value, tz_seconds, seconds);
}

static int
write_total(const double *ticks, size_t n, double hz, struct arena *arena, Hiwat__Interrupt *interrupt)
{
	const char *const *modes = n == STATES_MAX ? six_modes : five_modes;

	for (size_t i = 0; i < n; i++) {
		Hiwat__CpuByMode *row = RECORD_ADD(arena, interrupt, cpu, cpu_by_mode);
		if (row == NULL || (row->mode = record_label(arena, text_of(modes[i]))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, seconds_total, ticks[i] / hz);
	}
	return HIWAT_OK;
}

static int
write_core(const double *ticks, size_t number, double hz, struct arena *arena, Hiwat__Interrupt *interrupt)
{
	char digits[8];
	size_t n = sizeof(digits);
	Hiwat__CpuCore *core = RECORD_ADD(arena, interrupt, cores, cpu_core);

	do {
		digits[--n] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	if (core == NULL || (core->cpu = record_label(arena, (struct text){ digits + n, sizeof(digits) - n })) == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < 5; i++) {
		Hiwat__CpuCoreByMode *row = RECORD_ADD(arena, core, modes, cpu_core_by_mode);
		if (row == NULL || (row->mode = record_label(arena, text_of(five_modes[i]))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, seconds_total, ticks[i] / hz);
	}
	return HIWAT_OK;
}

int
sysctl_write_cpu_times(const struct text *facts, const struct parse_input *in, struct arena *arena, Hiwat__Record *out)
{
	double ticks[5 * CPUS_MAX], hz = in->hz > 0 ? (double)in->hz : 100;
	Hiwat__Interrupt *interrupt = RECORD_ONE(arena, out, interrupt, interrupt);
	uint64_t number;

	if (interrupt == NULL)
		return HIWAT_E_NOMEM;
	if (facts[FACT_STORM_THRESHOLD].n > 0 && text_is_u64(facts[FACT_STORM_THRESHOLD], &number))
		RECORD_SET(interrupt, storm_threshold, number);
	if ((named_number(facts[FACT_CLOCK_RATE], "stathz", &number) && number > 0) ||
	    (named_number(facts[FACT_CLOCK_RATE], "hz", &number) && number > 0))
		hz = (double)number;
	size_t n = sysctl_numbers(facts[FACT_CP_TIME], false, ticks, STATES_MAX + 1);
	if ((n == 5 || n == STATES_MAX) && write_total(ticks, n, hz, arena, interrupt) != HIWAT_OK)
		return HIWAT_E_NOMEM;
	n = sysctl_numbers(facts[FACT_CP_TIMES], true, ticks, sizeof(ticks) / sizeof(ticks[0]));
	for (size_t i = 0; i + 5 <= n && n % 5 == 0; i += 5) {
		/* Five zeros: no CPU has this number. */
		if (ticks[i] + ticks[i + 1] + ticks[i + 2] + ticks[i + 3] + ticks[i + 4] > 0 &&
		    write_core(ticks + i, i / 5, hz, arena, interrupt) != HIWAT_OK)
			return HIWAT_E_NOMEM;
	}
	return HIWAT_OK;
}
