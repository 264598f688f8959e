/* Incidents and pages of a case, made by the parts that make them at work: alerts and their store, in a directory of its own. */
#ifndef HIWAT_COLLECTOR_TALLY_H
#define HIWAT_COLLECTOR_TALLY_H

#include "alert.h"
#include "case.h"

struct tally {
	char dir[64], path[80];
	struct store *store;
	struct alerts *alerts; /* NULL with tally_open_store() */
	unsigned pages;        /* told so far to a route that wants what is critical */
};

extern const struct alert_route tally_route;

/* False when there is no room for temporary files; errno says more. */
bool tally_open_store(struct tally *t);
bool tally_open(struct tally *t, uint64_t wall_ns);
void tally_close(struct tally *t);
/* After the records of one time. */
void tally_tick(struct tally *t, uint64_t wall_ns);
/* Counts what waits in the outbox. */
void tally_collect(struct tally *t, uint64_t wall_ns);
/* Complains when incidents or pages are not what is expected. */
void tally_check(struct tally *t, struct alerts *alerts, struct case_report *r, const struct case_expect *e);

#endif
