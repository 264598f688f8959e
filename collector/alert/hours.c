#include "hours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "scan.h"

#define ZONES_DIR "/usr/share/zoneinfo"
#define DAY_MINUTES 1440
#define DAY_SECONDS 86400
#define YEARS_BEFORE 1
#define YEARS_AFTER 20

static const char *const day_names[7] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat" };

struct span {
	unsigned days;       /* bit 0: Sunday */
	unsigned begin, end; /* minutes; end not above begin: until the next day's end */
};

struct hours {
	struct zone zone;
	size_t n;
	struct span spans[];
};

static int
take_day(struct text *t)
{
	for (int day = 0; day < 7; day++)
		if (text_skip(t, day_names[day]))
			return day;
	return -1;
}

/* "mon-fri,sun"; untouched when the text begins otherwise. */
static bool
take_days(struct text *t, unsigned *days)
{
	*days = 0;
	do {
		int from = take_day(t), to = from;

		if (from < 0)
			return false;
		if (text_skip(t, "-"))
			to = take_day(t);
		if (to < 0)
			return false;
		for (int day = from;; day = (day + 1) % 7) {
			*days |= 1u << day;
			if (day == to)
				break;
		}
	} while (text_skip(t, ","));
	return true;
}

static bool
take_clock(struct text *t, unsigned *minutes)
{
	uint64_t h, m;

	if (text_u64(t, &h) != 0 || !text_skip(t, ":") || text_u64(t, &m) != 0 || h > 24 || m > 59 || (h == 24 && m > 0))
		return false;
	*minutes = (unsigned)(h * 60 + m);
	return true;
}

static bool
span_parse(const char *text, struct span *span)
{
	struct text t = text_trim(text_of(text));

	*span = (struct span){ .days = 0x7f, .begin = 0, .end = DAY_MINUTES };
	if (t.n == 0)
		return false;
	if (t.p[0] < '0' || t.p[0] > '9') {
		if (!take_days(&t, &span->days))
			return false;
		if (t.n == 0)
			return true;
		if (!text_skip(&t, " "))
			return false;
		text_skip_blanks(&t);
	}
	return take_clock(&t, &span->begin) && text_skip(&t, "-") && take_clock(&t, &span->end) && t.n == 0 &&
	    span->begin < DAY_MINUTES && span->begin != span->end;
}

const char *
hours_check(const char *text)
{
	struct span span;

	return span_parse(text, &span) ? NULL : "times such as mon-fri 08:00-18:00, sat,sun or 22:00-06:00";
}

const char *
zone_check(const char *name)
{
	char path[256];

	if (*name == '\0' || *name == '/' || strstr(name, "..") != NULL || strlen(name) > 128)
		return "the name of a time zone, such as Europe/Berlin";
	snprintf(path, sizeof(path), ZONES_DIR "/%s", name);
	return strcmp(name, "UTC") == 0 || access(path, R_OK) == 0
	    ? NULL
	    : "a time zone that this system knows (a file in " ZONES_DIR "; package tzdata)";
}

static int32_t
offset_at(time_t at)
{
	struct tm tm;

	return localtime_r(&at, &tm) != NULL ? (int32_t)tm.tm_gmtoff : 0;
}

/* The first second in (before, after] with the offset of after; both have different ones. */
static time_t
change_between(time_t before, time_t after)
{
	int32_t old = offset_at(before);

	while (after - before > 1) {
		time_t middle = before + (after - before) / 2;
		if (offset_at(middle) == old)
			before = middle;
		else
			after = middle;
	}
	return after;
}

/* The offsets of the zone that is in force. */
static void
note_offsets(struct zone *z, time_t now)
{
	time_t at = now - (time_t)YEARS_BEFORE * 366 * DAY_SECONDS, end = now + (time_t)YEARS_AFTER * 366 * DAY_SECONDS;

	z->offsets[0].from = INT64_MIN;
	z->offsets[0].seconds = offset_at(at);
	z->n = 1;
	for (; at < end && z->n < ZONE_OFFSETS_MAX; at += 7 * DAY_SECONDS) { /* no change and back is shorter */
		if (offset_at(at) == offset_at(at + 7 * DAY_SECONDS))
			continue;
		time_t change = change_between(at, at + 7 * DAY_SECONDS);
		z->offsets[z->n].from = change;
		z->offsets[z->n].seconds = offset_at(change);
		z->n++;
	}
}

int
zone_load(struct zone *zone, const char *name, uint64_t wall_ns)
{
	if (name != NULL && zone_check(name) != NULL)
		return HIWAT_E_CONFIG;
	const char *tz = getenv("TZ");
	char *before = tz != NULL ? strdup(tz) : NULL;

	if (tz != NULL && before == NULL)
		return HIWAT_E_NOMEM;
	if (name != NULL)
		setenv("TZ", name, 1);
	tzset();
	note_offsets(zone, (time_t)(wall_ns / NSEC_PER_SEC));
	if (before != NULL)
		setenv("TZ", before, 1);
	else
		unsetenv("TZ");
	tzset();
	free(before);
	return 0;
}

int
hours_new(const char *const *texts, size_t n, const struct zone *zone, struct hours **hours)
{
	if (n > HOURS_MAX)
		return HIWAT_E_CONFIG;
	struct hours *h = calloc(1, sizeof(*h) + n * sizeof(h->spans[0]));
	if (h == NULL)
		return HIWAT_E_NOMEM;
	for (; h->n < n; h->n++) {
		if (!span_parse(texts[h->n], &h->spans[h->n])) {
			free(h);
			return HIWAT_E_CONFIG;
		}
	}
	h->zone = *zone;
	*hours = h;
	return 0;
}

void
hours_free(struct hours *hours)
{
	free(hours);
}

static bool
span_contains(const struct span *s, unsigned day, unsigned minute)
{
	bool today = (s->days >> day & 1) != 0, yesterday = (s->days >> (day + 6) % 7 & 1) != 0;

	if (s->begin < s->end)
		return today && minute >= s->begin && minute < s->end;
	return (today && minute >= s->begin) || (yesterday && minute < s->end);
}

bool
hours_contain(const struct hours *h, uint64_t wall_ns)
{
	if (h == NULL || h->n == 0)
		return true;
	int64_t now = (int64_t)(wall_ns / NSEC_PER_SEC);
	size_t k = h->zone.n > 0 ? h->zone.n - 1 : 0;
	while (k > 0 && h->zone.offsets[k].from > now)
		k--;
	int64_t local = now + h->zone.offsets[k].seconds;
	unsigned day = (unsigned)((local / DAY_SECONDS + 4) % 7); /* 1970 began on a Thursday */
	unsigned minute = (unsigned)(local % DAY_SECONDS / 60);

	for (size_t i = 0; i < h->n; i++)
		if (span_contains(&h->spans[i], day, minute))
			return true;
	return false;
}
