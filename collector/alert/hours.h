/*
 * Times of the week, in a time zone: "mon-fri 08:00-18:00", "sat,sun", "22:00-06:00" (until the next morning; the weekday
 * is that of its beginning), "fri 18:00-24:00".
 */
#ifndef HIWAT_COLLECTOR_HOURS_H
#define HIWAT_COLLECTOR_HOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hours;

#define HOURS_MAX 32
#define ZONE_OFFSETS_MAX 128 /* twice a year; some zones have changed more often */

/* A time zone's offsets for twenty years: the C library knows one zone at a time, for all threads. */
struct zone {
	size_t n;
	struct {
		int64_t from; /* Unix time */
		int32_t seconds;
	} offsets[ZONE_OFFSETS_MAX];
};

/* Whether the system knows a time zone of this name, such as Europe/Berlin. NULL, or what is wrong, a static sentence. */
const char *zone_check(const char *name);
/*
 * name NULL: the system's zone. Changes the environment for a moment: only while no other thread runs. HIWAT_E_CONFIG,
 * HIWAT_E_NOMEM.
 */
int zone_load(struct zone *zone, const char *name, uint64_t wall_ns);

/* What is wrong with one text, a static sentence; NULL: nothing. */
const char *hours_check(const char *text);
/* zone is copied; an empty one is UTC. *hours is owned: hours_free(). HIWAT_E_CONFIG, HIWAT_E_NOMEM. */
int hours_new(const char *const *texts, size_t n, const struct zone *zone, struct hours **hours);
void hours_free(struct hours *hours);
/* Whether the time is within any of them. NULL or none: always. */
bool hours_contain(const struct hours *hours, uint64_t wall_ns);

#endif
