/* Values as zpool prints them. */
#ifndef HIWAT_AGENT_ZPOOL_VALUE_H
#define HIWAT_AGENT_ZPOOL_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

struct arena;

/* A count or size: 12, 1.23K, 4.5TB; units of base 1024, a B may follow. Whole, rounded. */
bool zpool_number(struct text t, double *number);

/* "Sun Feb 12 11:40:04 2023", maybe behind other words, to Unix seconds, for a clock this many seconds east of UTC. */
bool zpool_ctime(struct text t, int tz_seconds, double *seconds);

/* Whether the word is a state of a pool or a device, AVAIL and INUSE of spares included. */
bool zpool_is_state(struct text word);

/* A new pool with its name. NULL at the arena's ceiling. */
Hiwat__Zpool *zpool_add(struct arena *arena, Hiwat__Storage *storage, struct text name);
/* HIWAT_E_NOMEM at the arena's ceiling. */
int zpool_set_state(struct arena *arena, Hiwat__Zpool *pool, struct text state);

/*
 * Adds the first n of a device's counts of read, write and checksum errors; devices of the same name in one pool, as old
 * releases print for mirrors, are one. HIWAT_E_NOMEM.
 */
int zpool_add_errors(struct arena *arena, Hiwat__Zpool *pool, struct text vdev, const uint64_t *counts, size_t n);

#endif
