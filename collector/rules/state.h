/* What is remembered of one host. Rows that are ok and known take one number each; the others have an entry in live. */
#ifndef HIWAT_COLLECTOR_STATE_H
#define HIWAT_COLLECTOR_STATE_H

#include "plan.h"
#include "bank.h"

#define STATE_LIVE_MAX 65000
#define STATE_KEPT_MAX 4096                  /* windows of series that are not there now */
#define STATE_KEPT_NS (3600 * 1000000000ULL) /* how long they are kept: a series may come back */
#define NO_ROW UINT32_MAX

struct state_set {
	const char *sampler; /* borrowed from the view; compared as an address */
	uint64_t last_ns;    /* of the last record evaluated, good or not; 0 none */
	uint64_t good_ns;    /* of the last good one */
	uint64_t name_hash;
	uint32_t shape;
	bool delivered; /* a good record was evaluated in this boot with these rules */
	bool is_bad;    /* the last record was not good */
};

/* A row that is not ok, or whose series is gone while it fires. */
struct live {
	uint32_t row; /* in the plan, NO_ROW when it has none now */
	uint32_t labels, object;
	uint16_t rule;
	uint8_t on;                                /* bit per level: fires */
	bool is_gone;                              /* said so */
	uint64_t source;                           /* hash of the sampler's name */
	uint64_t true_ns[RULE_LEVELS];             /* since when the condition holds, 0: it does not */
	uint64_t false_ns[RULE_LEVELS];            /* since when a firing level could clear, 0: it could not */
	double value, threshold, used, limit, eta; /* last said */
};

/* Room for any window. */
union any_window {
	struct window w;
	char bytes[WINDOW_BYTES_MAX];
};

/* A window without a place in the plan. */
struct kept {
	uint32_t node, labels;
	uint64_t since_ns;
	struct window *window; /* owned */
};

struct rule_state {
	const struct rule_set *set; /* whose rules the numbers mean; NULL before the first record */
	struct plan *plan;          /* NULL until the next record */
	uint64_t *windows;          /* plan->state_bytes: last values of counters, windows by themselves, banks */
	uint16_t *row_live;         /* per row of the plan: 0, or place in live plus 1; NULL: nothing is live */
	struct live *live;
	struct state_set *sets;
	struct kept *kept;
	uint32_t n_live, live_capacity, n_sets, n_kept, kept_capacity;
	/* Whose facts the plan was made for; compared as addresses, which change with the texts. */
	const void *os, *release, *name, *host_labels;
};

/* Takes a plan that fits the view, moving what the old one remembered. updated: the set of the record that is new. */
int state_bind(struct rule_state *st, struct rule_set *set, const struct host_view *view, struct labels *labels,
    size_t updated, uint64_t now_ns);
/* Lets go of the plan; its windows are kept. HIWAT_E_NOMEM: some were lost. */
int state_unbind(struct rule_state *st, uint64_t now_ns);
/* A new entry for a row; NULL when there is no room. */
struct live *state_add_live(struct rule_state *st, uint32_t row);
/* An entry without a row. */
struct live *state_add_orphan(struct rule_state *st);
/* Removes an entry; the last one takes its place. */
void state_remove_live(struct rule_state *st, struct live *l);
/* Takes over the window. */
int state_keep(struct rule_state *st, uint32_t node, uint32_t labels, uint64_t since_ns, struct window *w);

/* The windows of a state, in state_windows.c: */
void state_reboot_windows(struct rule_state *st);
/* What the new plan has too is moved to its windows, the rest is kept for a while. */
void state_move_windows(struct rule_state *st, const struct plan *p, uint64_t *windows, const struct host_view *view,
    size_t updated, uint64_t now_ns);
/* Puts a copy of a window aside. HIWAT_E_NOMEM: it is lost. */
int state_keep_window(struct rule_state *st, const struct plan_window *pw, uint64_t now_ns);
void state_forget_kept(struct rule_state *st);
/* A copy of a window of the plan, in room for its shape. */
void state_get_window(const struct rule_state *st, const struct plan_window *pw, struct window *w);

static inline struct window *
state_alone(const struct rule_state *st, const struct plan_alone *a)
{
	return (struct window *)(void *)(st->windows + a->at);
}

static inline double *
state_lasts(const struct rule_state *st)
{
	return (double *)(void *)st->windows;
}

static inline struct bank
state_bank(const struct rule_state *st, const struct plan_bank *b)
{
	return (struct bank){ (float *)(void *)(st->windows + b->cells), b->n, (double)st->sets[b->set].good_ns / 1e9 };
}

static inline struct live *
state_live(const struct rule_state *st, uint32_t row)
{
	return st->row_live != NULL && st->row_live[row] != 0 ? &st->live[st->row_live[row] - 1] : NULL;
}

/* Neither fires nor waits. */
bool live_is_over(const struct live *l);
/* The level that speaks: the worst that fires; -1 when none does. */
int live_level(const struct live *l);
/* The event that tells how things stand. */
void live_describe(const struct rule_set *set, const struct live *l, struct rule_event *e);

#endif
