/*
 * A plan is a rule set bound to the series of a host: which numbers to read from where, and the operations on them in
 * order, one step each. Hosts that deliver the same series share one. A step is done for a record only when a row needs
 * it that the record can change.
 */
#ifndef HIWAT_COLLECTOR_PLAN_H
#define HIWAT_COLLECTOR_PLAN_H

#include "set.h"

#define PLAN_SETS_MAX 64 /* samplers of a host that rules look at; further ones are ignored */

/* Where a value comes from: the result of a step, a number of a sample set, or a constant. */
typedef uint32_t operand;
#define OPERAND_SHIFT 30
#define OPERAND_STEP 0u
#define OPERAND_LOAD 1u
#define OPERAND_CONST 2u
#define OPERAND_SET_SHIFT 24
#define OPERAND_INDEX 0xffffffu

/* Steps that no node stands for: one more row of an aggregate. */
enum step_op { STEP_SUM = NODE_TEXT + 1, STEP_LEAST, STEP_MOST, STEP_COUNT };

struct step {
	uint8_t op; /* node_op or step_op */
	uint8_t kind;
	uint16_t node; /* NODE_WINDOW */
	operand a, b;  /* NODE_WINDOW: b is the place of its window, in units of 8 bytes */
};

struct plan_row {
	uint64_t sets; /* that its conditions read */
	uint32_t labels, object;
	/* In operands: fire of each level, then stay, value and threshold of each, used, limit, eta. In a check: check, wait. */
	uint32_t first;
	uint16_t rule;
	uint16_t n_levels;
};

struct plan_window {
	uint32_t node, labels, at; /* at: in units of 8 bytes */
};

/* In a list of hot steps: this window takes a sample from the set. */
#define PLAN_FEEDS 0x80000000u

/* A list inside plan->lists. */
struct plan_list {
	uint32_t first, n;
};

struct plan_set {
	uint64_t reads;        /* sets that any of its steps reads, the set itself included */
	struct plan_list hot;  /* steps that conditions need */
	struct plan_list cold; /* steps for what is said of a row that is not ok */
	struct plan_list rows;
};

struct plan {
	struct plan *next;
	struct rule_set *owner;
	uint64_t key[2];
	uint32_t users;
	uint32_t n_steps, n_rows, n_windows, n_operands, n_consts, n_lists, n_sets, n_seen, window_bytes;
	struct step *steps;
	struct plan_row *rows;       /* by rule and labels */
	struct plan_window *windows; /* by node and labels */
	operand *operands;
	double *consts;
	uint32_t *lists;
	uint32_t *seen; /* label sets of the host's values when the plan was made */
	struct plan_set *sets;
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

#endif
