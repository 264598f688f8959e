/* What is remembered of one host. Rows that are ok and known take one number each; the others have an entry in live. */
#ifndef HIWAT_COLLECTOR_STATE_H
#define HIWAT_COLLECTOR_STATE_H

#include "plan.h"
#include "window.h"

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

/* A window without a place in the plan. */
struct kept {
	uint32_t node, labels;
	uint64_t since_ns;
	struct window *window; /* owned */
};

struct rule_state {
	const struct rule_set *set; /* whose rules the numbers mean; NULL before the first record */
	struct plan *plan;          /* NULL until the next record */
	uint64_t *windows;          /* plan->window_bytes */
	uint16_t *row_live;         /* per row of the plan: 0, or place in live plus 1 */
	struct live *live;
	struct state_set *sets;
	struct kept *kept;
	uint32_t n_live, live_capacity, n_sets, n_kept, kept_capacity;
	/* Whose facts the plan was made for; compared as addresses, which change with the texts. */
	const void *os, *release, *name, *host_labels;
};

/* Takes a plan that fits the view, moving what the old one remembered. */
int state_bind(struct rule_state *st, struct rule_set *set, const struct host_view *view, struct labels *labels,
    uint64_t now_ns);
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

static inline struct window *
state_window(const struct rule_state *st, uint32_t at)
{
	return (struct window *)(void *)(st->windows + at);
}

/* Neither fires nor waits. */
bool live_is_over(const struct live *l);
/* The level that speaks: the worst that fires; -1 when none does. */
int live_level(const struct live *l);
/* The event that tells how things stand. */
void live_describe(const struct rule_set *set, const struct live *l, struct rule_event *e);

#endif
