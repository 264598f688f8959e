#include "order.h"

void
order_reset(struct order *o)
{
	*o = (struct order){ 0 };
}

/* The backlog has reached the new ones, which are there unless the collector has forgotten them meanwhile. */
static void
merge(struct order *o)
{
	o->sent_before = o->sent;
	if (o->lacking > o->sent && o->lacking <= o->live_sent)
		o->sent = o->lacking - 1;
	else if (o->live_sent > o->sent)
		o->sent = o->live_sent;
	o->live_first = o->backlog_turn = false;
}

enum order_kind
order_next(struct order *o, uint64_t oldest, uint64_t newest, uint64_t now_ns, uint64_t *above)
{
	if (oldest > 0 && o->sent < oldest - 1)
		o->sent = oldest - 1;
	if (o->live_first && o->sent + 1 >= o->live_from)
		merge(o);
	if (!o->live_first) {
		if (newest <= o->sent)
			return ORDER_NOTHING;
		if (newest - o->sent <= ORDER_BACKLOG_SHORT) {
			*above = o->sent;
			return ORDER_IN_TURN;
		}
		o->live_first = true;
		o->backlog_turn = false;
		o->live_from = newest;
		o->live_sent = newest - 1;
	}
	bool has_live = newest > o->live_sent, is_due = now_ns >= o->backlog_due_ns;
	if (has_live && !(o->backlog_turn && is_due)) {
		*above = o->live_sent;
		return ORDER_LIVE;
	}
	*above = o->sent;
	return is_due ? ORDER_BACKLOG : ORDER_WAIT;
}

bool
order_accepts(struct order *o, enum order_kind kind, uint64_t sequence)
{
	if (kind != ORDER_BACKLOG || sequence < o->live_from)
		return true;
	merge(o);
	return false;
}

void
order_sent(struct order *o, enum order_kind kind, uint64_t sequence, uint64_t backlog_interval_ns, uint64_t now_ns)
{
	o->backlog_turn = false;
	if (kind == ORDER_LIVE) {
		o->live_sent = sequence;
		o->sent_before = o->sent;
		return;
	}
	o->sent_before = o->sent;
	o->sent = sequence;
	if (kind == ORDER_BACKLOG)
		o->backlog_due_ns = now_ns + backlog_interval_ns;
}

void
order_failed(struct order *o)
{
	o->backlog_turn = o->live_first && !o->backlog_turn;
}

void
order_missing(struct order *o, enum order_kind kind, uint64_t newest)
{
	if (kind == ORDER_LIVE)
		o->live_sent = newest;
	else if (kind == ORDER_BACKLOG)
		merge(o);
	else
		o->sent = newest;
}

bool
order_is_short(const struct order *o, uint64_t received)
{
	return received < o->sent_before || (o->live_first && received < o->live_sent) || o->lacking != 0;
}

bool
order_acknowledged(struct order *o, uint64_t received, uint64_t next, uint64_t oldest)
{
	o->lacking = next == received + 1 || next == oldest ? next : 0;
	if (o->lacking == 0 || o->lacking > o->sent_before)
		return false;
	o->sent = o->sent_before = o->lacking - 1;
	return true;
}
