/* Values as zpool prints them. */
#ifndef HIWAT_AGENT_ZPOOL_VALUE_H
#define HIWAT_AGENT_ZPOOL_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

struct arena;

/* A count or size: 12, 1.23K, 4.5TB; units of base 1024, a B may follow. */
bool zpool_number(struct text t, double *number);

/* A number at the start of *t, as text_double(); before 0.8 the point is that of the locale and may be a comma. */
bool zpool_decimal(struct text *t, double *number);

/*
 * A date behind the last word "on", or the whole text, to Unix seconds: "Sun Feb 12 11:40:04 2023" as in the text, "Sun 12 Feb
 * 2023 11:40:04 AM CET" as in JSON under an English locale. The clock is this many seconds east of UTC unless the date says
 * UTC or GMT; names of other zones are not known. False for other languages.
 */
bool zpool_date(struct text t, int tz_seconds, double *seconds);

/* Whether the word is a state of a pool or a device, AVAIL and INUSE of spares included. */
bool zpool_is_state(struct text word);

/* HIWAT_E_NOMEM at the arena's ceiling. */
int zpool_set_state(struct arena *arena, Hiwat__Zpool *pool, struct text state);

/*
 * Adds the first n of a device's counts of read, write and checksum errors; devices of the same name in one pool, as old
 * releases print for mirrors, are one. HIWAT_E_NOMEM.
 */
int zpool_add_errors(struct arena *arena, Hiwat__Zpool *pool, struct text vdev, const uint64_t *counts, size_t n);

#endif
