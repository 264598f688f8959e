/*
 * The busiest of many interrupt sources one by one, the others as one sum; which are the busiest changes slowly, and no
 * counter steps back when it does.
 */
#ifndef HIWAT_AGENT_BUSIEST_H
#define HIWAT_AGENT_BUSIEST_H

#include <stdbool.h>

#include "hiwat.pb-c.h"
#include "live.h"

struct arena;

struct busiest {
	struct live *rows; /* owned by the user: one for each source, read anew before each call */
	uint64_t others;   /* interrupts counted while their source was not shown */
	bool has_shown;    /* a reading decided which are shown */
};

/* The name of a source's row in rows; room takes LIVE_NAME_MAX + 1 bytes for a name that must be made. */
typedef struct text busiest_key(const Hiwat__InterruptsBySource *source, char *room);

/* Leaves at most 32 sources in m, with totals of their rows, and adds the sum of the others. HIWAT_E_NOMEM. */
int busiest_keep(struct busiest *b, busiest_key *key, struct arena *arena, Hiwat__Interrupt *m);

#endif
