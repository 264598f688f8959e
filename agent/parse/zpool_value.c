#include "zpool_value.h"

#include <math.h>
#include <string.h>

#include "arena.h"
#include "err.h"
#include "record_row.h"

bool
zpool_decimal(struct text *t, double *number)
{
	struct text fraction, rest = *t;
	double whole, part;
	uint64_t digits;

	if (t->n == 0 || *t->p < '0' || *t->p > '9' || text_double(&rest, &whole) != HIWAT_OK)
		return false;
	fraction = rest;
	if (text_skip(&fraction, ",") && fraction.n > 0 && *fraction.p >= '0' && *fraction.p <= '9') {
		struct text end = fraction;
		if (text_u64(&end, &digits) != HIWAT_OK)
			return false;
		part = (double)digits;
		for (size_t i = end.n; i < fraction.n; i++)
			part /= 10;
		whole += part;
		rest = end;
	}
	*number = whole;
	*t = rest;
	return true;
}

bool
zpool_number(struct text t, double *number)
{
	static const char units[] = "BKMGTPE";
	double d;

	t = text_trim(t);
	if (!zpool_decimal(&t, &d))
		return false;
	if (t.n > 0) {
		const char *unit = *t.p != '\0' ? strchr(units, *t.p) : NULL;
		if (unit == NULL)
			return false;
		d = ldexp(d, 10 * (int)(unit - units));
		t.p++;
		t.n--;
		if (*unit != 'B')
			text_skip(&t, "B");
	}
	if (t.n > 0 || !(d >= 0 && d < 18446744073709551615.0))
		return false;
	*number = d;
	return true;
}

/* Days from 1970-01-01 in the Gregorian calendar; month from 1. */
static int64_t
days_from_civil(int64_t year, int64_t month, int64_t day)
{
	/* Years from March on, so that the leap day is the last of its year. */
	int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

struct date {
	uint64_t year, month, day, seconds; /* month from 1; seconds of the day */
	bool has_time, is_pm, is_am, is_utc;
};

/* 11:40:04 */
static bool
clock_of(struct text t, uint64_t *seconds)
{
	struct text part;
	uint64_t h, m, s;

	if (!text_until(&t, ':', &part) || !text_is_u64(part, &h) || h > 23)
		return false;
	if (!text_until(&t, ':', &part) || !text_is_u64(part, &m) || m > 59 || !text_is_u64(t, &s) || s > 60)
		return false;
	*seconds = h * 3600 + m * 60 + s;
	return true;
}

/* Each word of a date tells by its shape what it is; names of days and zones are of no use. */
static void
date_word(struct date *date, struct text word)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	uint64_t n;

	if (!date->has_time && clock_of(word, &n)) {
		date->seconds = n;
		date->has_time = true;
	} else if (text_is_u64(word, &n)) {
		if (word.n == 4 && n >= 1970)
			date->year = n;
		else if (word.n <= 2 && n >= 1 && n <= 31)
			date->day = n;
	} else if (word.n == 3) {
		for (uint64_t i = 0; i < 12 && date->month == 0; i++) {
			if (memcmp(months + 3 * i, word.p, 3) == 0)
				date->month = i + 1;
		}
		date->is_utc |= text_eq(word, "UTC") || text_eq(word, "GMT");
	} else {
		date->is_am |= text_eq(word, "AM");
		date->is_pm |= text_eq(word, "PM");
	}
}

bool
zpool_date(struct text t, int tz_seconds, double *seconds)
{
	struct date date = { 0 };
	struct text word;

	while (text_last_word(&t, &word) && !text_eq(word, "on"))
		date_word(&date, word);
	if (date.year == 0 || date.month == 0 || date.day == 0 || !date.has_time)
		return false;
	if (date.is_pm && date.seconds < 12 * 3600)
		date.seconds += 12 * 3600;
	if (date.is_am && date.seconds >= 12 * 3600 && date.seconds < 13 * 3600)
		date.seconds -= 12 * 3600;
	int64_t days = days_from_civil((int64_t)date.year, (int64_t)date.month, (int64_t)date.day);
	*seconds = (double)(days * 86400 + (int64_t)date.seconds - (date.is_utc ? 0 : tz_seconds));
	return true;
}

bool
zpool_is_state(struct text word)
{
	static const char *const states[] = { "ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "REMOVED", "UNAVAIL", "SUSPENDED",
		"AVAIL", "INUSE", "SPLIT" };

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (text_eq(word, states[i]))
			return true;
	}
	return false;
}

int
zpool_set_state(struct arena *arena, Hiwat__Zpool *pool, struct text state)
{
	if (pool->n_states > 0)
		return HIWAT_OK;
	Hiwat__ZpoolOnline *online = RECORD_ADD(arena, pool, states, zpool_online);
	if (online == NULL || (online->state = record_label(arena, state)) == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(online, value, text_eq(state, "ONLINE"));
	return HIWAT_OK;
}

int
zpool_add_errors(struct arena *arena, Hiwat__Zpool *pool, struct text name, const uint64_t *counts, size_t n)
{
	static const char *const kinds[] = { "read", "write", "checksum" };
	Hiwat__ZpoolVdev *vdev = RECORD_ROW(arena, pool, vdevs, zpool_vdev, name);

	if (vdev == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		Hiwat__ZpoolVdevErrors *errors = RECORD_ROW(arena, vdev, errors, zpool_vdev_errors, text_of(kinds[i]));
		if (errors == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(errors, total, errors->total + counts[i]);
	}
	return HIWAT_OK;
}
