/*
 * In which order batches go to one collector: a short backlog oldest first and then what is new; a long one behind what is
 * new, throttled, so that an alert is never late because of history. Pure: sequences in, sequences out.
 */
#ifndef HIWAT_AGENT_ORDER_H
#define HIWAT_AGENT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#define ORDER_BACKLOG_SHORT 64 /* batches that are sent before what is new */

struct order {
	uint64_t sent;        /* all up to here were sent to this collector, or are gone */
	uint64_t sent_before; /* the same, before the last batch */
	uint64_t lacking;     /* the collector surely has not this one; 0: nothing is known to lack */
	bool live_first;
	uint64_t live_from, live_sent; /* live first: the new ones that were sent meanwhile */
	bool backlog_turn;             /* a new one failed: the other end is tried next */
	uint64_t backlog_due_ns;
};

enum order_kind {
	ORDER_NOTHING, /* all is sent */
	ORDER_IN_TURN, /* the next one */
	ORDER_LIVE,    /* the next new one, ahead of the backlog */
	ORDER_BACKLOG, /* the next one of the backlog */
	ORDER_WAIT     /* the backlog has to wait until backlog_due_ns */
};

/* Nothing is known to have arrived: at the start and with another collector. */
void order_reset(struct order *o);
/*
 * What to send next, given the lowest and the highest sequence in the spool: the first batch above *above. The caller
 * reports order_sent() or order_failed(), or order_missing() when there was none.
 */
enum order_kind order_next(struct order *o, uint64_t oldest, uint64_t newest, uint64_t now_ns, uint64_t *above);
/* false: the batch that was found is one of the new ones already sent; ask again. */
bool order_accepts(struct order *o, enum order_kind kind, uint64_t sequence);
void order_sent(struct order *o, enum order_kind kind, uint64_t sequence, uint64_t backlog_interval_ns, uint64_t now_ns);
void order_failed(struct order *o);
void order_missing(struct order *o, enum order_kind kind, uint64_t newest);
/* Whether an acknowledgement of received leaves open what the collector has: then order_acknowledged() is to be asked. */
bool order_is_short(const struct order *o, uint64_t received);
/*
 * The collector has everything up to received and, of what is in the spool, next is the first above (0: none). Unless that
 * one is behind a gap that the collector was not told of (oldest is what it was told), it is not there. If it was sent
 * before the last batch, the collector has lost it: true, and sending starts again there.
 */
bool order_acknowledged(struct order *o, uint64_t received, uint64_t next, uint64_t oldest);

#endif
