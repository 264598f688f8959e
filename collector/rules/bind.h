/* Making a plan: rows of each node, worked out once per node. All memory is of a temporary arena. */
#ifndef HIWAT_COLLECTOR_BIND_H
#define HIWAT_COLLECTOR_BIND_H

#include "plan.h"

/* Where a value comes from: a step, a number of a sampler, a constant, a window in a bank. */
typedef uint32_t operand;
#define OPERAND_SHIFT 30
#define OPERAND_STEP 0u
#define OPERAND_LOAD 1u /* by its number among all loads */
#define OPERAND_CONST 2u
#define OPERAND_WINDOW 3u
#define OPERAND_INDEX 0x3fffffffu

struct bind_step {
	uint8_t op; /* node_op or step_op */
	uint8_t kind;
	uint16_t depth; /* above the depths of the steps that it needs */
	operand a, b;   /* NODE_WINDOW, by itself: b is its number among the windows */
	uint64_t sets;  /* that it reads */
};

struct bind_window {
	const struct window_shape *shape;
	uint32_t node, labels;
	operand value; /* that it takes */
	bool alone;
	uint32_t next; /* on the same load, UINT32_MAX ends */
};

struct bind_load {
	uint32_t labels;
	uint32_t set, index;
	uint32_t next;    /* of the same metric, UINT32_MAX ends */
	uint32_t windows; /* the first on it, UINT32_MAX ends */
};

struct vector_row {
	uint32_t labels;
	operand value;
};

/* Rows by labels, each set once. */
struct vector {
	uint32_t n;
	struct vector_row *rows;
};

struct binder {
	struct rule_set *set;
	const struct host_view *view;
	struct labels *labels;
	struct arena *arena;
	bool check;
	int err;
	struct vector **memo; /* by node */
	uint32_t *heads;      /* by metric, the first load; UINT32_MAX: none */
	struct bind_load *loads;
	uint32_t n_loads;
	/* The plan so far. */
	struct bind_step *steps;
	uint32_t n_steps;
	double *consts;
	uint32_t n_consts;
	struct bind_window *windows;
	uint32_t n_windows;
};

int binder_init(struct binder *b);
/* Rows of a node; NULL on failure, with err set. */
const struct vector *bind_node(struct binder *b, struct node *n);
/* The row with these labels, else the one without labels; NULL when there is neither. */
const struct vector_row *vector_find(const struct vector *v, uint32_t labels);
operand bind_const(struct binder *b, double v);
bool bind_is_const(const struct binder *b, operand o, double *v);
uint64_t bind_sets(const struct binder *b, operand o);
/* The set with only these labels (keep), or without them. LABELS_FULL on failure, with err set. */
uint32_t bind_project(struct binder *b, uint32_t labels, const struct label_list *list, bool keep);
/* x op y, a node_op or a step_op; worked out at once where both are known. */
operand bind_op(struct binder *b, unsigned op, unsigned kind, operand x, operand y);
/* Rows of an operator with two operands, in bind_join.c. */
void bind_binary(struct binder *b, const struct node *n, const struct vector *x, const struct vector *y, struct vector *out);
/* The row with exactly these labels, or NULL. */
const struct vector_row *vector_exact(const struct vector *v, uint32_t labels);
/* Puts rows in order; of those with equal labels the first stays. */
void vector_sort(struct vector *v);
/* Zeroed memory; NULL on failure, with err set. */
void *bind_calloc(struct binder *b, size_t n, size_t size);
/* Room for one more element; NULL on failure, with err set. */
void *bind_grow(struct binder *b, void *array, uint32_t n, size_t size);

#endif
