/*
 * A plan is a rule set bound to the series of a host: which numbers to read from where, and the operations on them in
 * order. Hosts that deliver the same series share one. All that an evaluation works on stands in one array of numbers:
 * constants, the values of the samplers, windows, and what each step makes of them. Equal operations are done in one go.
 */
#ifndef HIWAT_COLLECTOR_PLAN_H
#define HIWAT_COLLECTOR_PLAN_H

#include "set.h"

struct series_list;
struct window_shape;

#define PLAN_SETS_MAX 64 /* samplers of a host that rules look at; further ones are ignored */

/* Steps that no node stands for: one more row of an aggregate. */
enum step_op { STEP_SUM = NODE_TEXT + 1, STEP_LEAST, STEP_MOST, STEP_COUNT };

/* Numbers in the array; of a window by itself b is its place in plan->alone. */
struct plan_step {
	uint32_t a, b, out;
};

/* Steps that do the same, none of which needs another one of them. */
struct plan_group {
	uint8_t op; /* node_op or step_op */
	uint8_t kind;
	bool feeds; /* NODE_WINDOW: takes a sample */
	uint32_t first, n;
};

/* A list inside of an array of the plan. */
struct plan_list {
	uint32_t first, n;
};

struct plan_row {
	uint64_t sets; /* that its conditions read */
	uint32_t labels, object;
	/* In operands: fire of each level, then stay, value and threshold of each, used, limit, eta. In a check: check, wait. */
	uint32_t first;
	uint16_t rule;
	uint16_t n_levels;
};

/* One condition of one row. */
struct plan_fire {
	uint32_t value, row;
};

#define PLAN_ALONE UINT32_MAX

struct plan_window {
	uint32_t node, labels;
	uint32_t bank; /* PLAN_ALONE: it is by itself, since what it takes is no value of a sampler */
	uint32_t at;   /* place in the bank; alone: in plan->alone */
};

struct plan_alone {
	const struct window_shape *shape;
	uint32_t at; /* place in the state, in units of 8 bytes */
};

/* Windows of one shape on values of one sampler. */
struct plan_bank {
	const struct window_shape *shape;
	uint32_t set;
	uint32_t n;
	uint32_t cells; /* place in the state, in units of 8 bytes */
	uint32_t from;  /* in plan->from: what each window takes, a counter's place in inputs or a value's in the array */
	uint32_t out;   /* of the first window in the array of numbers */
};

/* A window of another sampler that is read. */
struct plan_read {
	uint32_t bank, at;
};

struct plan_set {
	uint64_t reads;          /* sets that any of its steps reads, the set itself included */
	struct plan_list inputs; /* counters that its banks take */
	struct plan_list banks;
	struct plan_list others; /* reads */
	struct plan_list hot;    /* groups of steps that conditions need */
	struct plan_list cold;   /* groups for what is said of a row that is not ok */
	struct plan_list fires;
	uint32_t values; /* of the set in the array of numbers */
	uint32_t n_values;
	struct series_list *series; /* used by the plan */
};

struct plan {
	struct plan *next;
	struct rule_set *owner;
	uint64_t key[2]; /* of the facts that rules ask for */
	uint32_t users;
	uint32_t n_sets, n_rows, n_fires, n_operands, n_consts, n_steps, n_groups, n_windows, n_banks, n_alone, n_from,
	    n_inputs, n_reads;
	uint32_t n_numbers;   /* of the array */
	uint32_t state_bytes; /* that the windows of a host take */
	struct plan_set *sets;
	struct plan_row *rows; /* by rule and labels */
	struct plan_fire *fires;
	uint32_t *operands;
	double *consts; /* the array begins with them */
	struct plan_step *steps;
	struct plan_group *groups;
	struct plan_window *windows; /* by node and labels */
	struct plan_bank *banks;     /* by set */
	struct plan_alone *alone;
	uint32_t *from;
	uint32_t *inputs; /* places in the array; the state begins with the last value of each */
	struct plan_read *reads;
};

/*
 * The plan for this host, shared when there is one; taken for one user. check: without history, with the conditions of
 * the check command. HIWAT_E_NOMEM.
 */
int plan_take(struct rule_set *set, const struct host_view *view, struct labels *labels, bool check, struct plan **out);
void plan_release(struct plan *p);
/* Bytes of a plan. */
size_t plan_bytes(const struct plan *p);
/* Row of this rule and label set, or UINT32_MAX. */
uint32_t plan_find_row(const struct plan *p, uint32_t rule, uint32_t labels);
/* Window of this node and label set, or NULL. */
const struct plan_window *plan_find_window(const struct plan *p, uint32_t node, uint32_t labels);
/* The label sets that the plan knows by number: while it lives they must not come to mean something else. */
void plan_mark(const struct plan *p, struct labels *labels);

#endif
