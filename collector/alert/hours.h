/*
 * Times of the week, in a time zone: "mon-fri 08:00-18:00", "sat,sun", "22:00-06:00" (until the next morning; the weekday
 * is that of its beginning), "fri 18:00-24:00". The zone's offsets are worked out when it is loaded, for twenty years, since
 * the C library knows one zone at a time.
 */
#ifndef HIWAT_COLLECTOR_HOURS_H
#define HIWAT_COLLECTOR_HOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hours;

#define HOURS_MAX 32

/* What is wrong with one text, a static sentence; NULL: nothing. */
const char *hours_check(const char *text);
/* Whether the system knows a time zone of this name, such as Europe/Berlin. NULL, or what is wrong. */
const char *hours_check_zone(const char *name);
/*
 * zone NULL: the system's. Changes the environment for a moment: only while no other thread runs. *hours is owned:
 * hours_free(). HIWAT_E_CONFIG, HIWAT_E_NOMEM.
 */
int hours_new(const char *const *texts, size_t n, const char *zone, uint64_t wall_ns, struct hours **hours);
void hours_free(struct hours *hours);
/* Whether the time is within any of them. NULL or none: always. */
bool hours_contain(const struct hours *hours, uint64_t wall_ns);

#endif
