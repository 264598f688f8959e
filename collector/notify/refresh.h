/*
 * Telling a receiver again what is open: a walk through the store, piece by piece, so that what the outbox holds waits for
 * no more than one piece. Nothing of it is kept: a restart begins anew at once.
 */
#ifndef HIWAT_COLLECTOR_REFRESH_H
#define HIWAT_COLLECTOR_REFRESH_H

#include "log.h"
#include "notify.h"

/* Zero-initialise. */
struct refresh {
	uint64_t begun_ns, next_ns; /* monotonic: of the walk under way, and when its next piece is due */
	int64_t after;              /* place in the store; 0: no walk is under way */
	bool lacking;               /* somebody did not take a piece of it */
	unsigned failures;          /* pieces in a row that nobody took */
	struct log_complaint complaint;
};

/* The next piece, if it is due. Returns the monotonic time of the one after it, UINT64_MAX for sinks without refresh(). */
uint64_t
refresh_step(struct refresh *r, const struct sink *sink, void *state, const struct route *route, struct store *store);

#endif
