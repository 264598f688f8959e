/*
 * Expressions as nodes. Equal expressions of a rule set are one node, so that what several rules ask of a host is worked
 * out once. Values are doubles with two special ones: UNKNOWN (nothing can be said, say no history yet) and FALSE (a
 * condition that does not hold, or a quotient without a divisor). A condition that holds has the value of its left side.
 */
#ifndef HIWAT_COLLECTOR_EXPR_H
#define HIWAT_COLLECTOR_EXPR_H

#include <math.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct arena;
struct diag;
struct window_shape;

#define EXPR_NODES_MAX 65536 /* of one rule set: 1,000 rules of 65 operations */
#define EXPR_DEPTH_MAX 64
#define EXPR_BYTES_MAX 4096 /* of one expression */
#define EXPR_LABELS_MAX 8   /* in by (), on (), ignoring () and {} */

enum node_op {
	NODE_CONST,
	NODE_PARAM,
	NODE_SERIES,
	NODE_WINDOW, /* a function over time of a */
	NODE_NEG,
	NODE_ADD,
	NODE_SUB,
	NODE_MUL,
	NODE_DIV,
	NODE_MOD,
	NODE_EQ,
	NODE_NE,
	NODE_LT,
	NODE_LE,
	NODE_GT,
	NODE_GE,
	NODE_AND,
	NODE_OR,
	NODE_UNLESS,
	NODE_AGGREGATE,
	NODE_CALL,    /* a function of one or two numbers */
	NODE_TIME_TO, /* a: trend window, b: limit */
	NODE_AGE,
	NODE_ABSENT,
	NODE_TEXT, /* a fact of the host compared with a text */
};

enum window_kind {
	WINDOW_RATE_LAST, /* since the value before */
	WINDOW_GROWS,
	WINDOW_RATE,
	WINDOW_INCREASE,
	WINDOW_ACTIVE, /* minutes with an increase */
	WINDOW_DELTA,
	WINDOW_AVG,
	WINDOW_MAX,
	WINDOW_MIN,
	WINDOW_CHANGES,
	WINDOW_TREND,
};

enum aggregate { AGGREGATE_SUM, AGGREGATE_AVG, AGGREGATE_MAX, AGGREGATE_MIN, AGGREGATE_COUNT };
enum call { CALL_ABS, CALL_CEIL, CALL_FLOOR, CALL_POW2UP, CALL_MIN, CALL_MAX };
enum fact { FACT_OS, FACT_RELEASE, FACT_HOST, FACT_LABEL };
enum matcher_kind { MATCH_EQ, MATCH_NE, MATCH_RE, MATCH_NOT_RE };
/* How rows of two operands find each other: equal labels, equal in these labels, equal in all but these. */
enum join { JOIN_EQUAL, JOIN_ON, JOIN_IGNORING };

struct matcher {
	const char *label, *value;
	enum matcher_kind kind;
	regex_t *re; /* owned by the rule set */
};

/* A sorted list of label names. */
struct label_list {
	unsigned n;
	const char *names[EXPR_LABELS_MAX];
};

struct node {
	uint8_t op;        /* enum node_op */
	uint8_t kind;      /* window_kind, aggregate, call or fact */
	uint8_t join;      /* enum join */
	bool is_bare;      /* NODE_SERIES: its labels are dropped, as setting() does */
	bool is_counter;   /* its value only grows */
	bool is_condition; /* may be FALSE on purpose */
	bool is_ratio;     /* a share, 0 to 1 */
	bool has_history;  /* needs earlier values */
	bool has_series;   /* reads a value of the host; without, it is the same for all of the host's series */
	uint16_t n_matchers;
	uint32_t index; /* in the rule set */
	uint32_t param; /* NODE_PARAM: index in the rule set's params */
	uint64_t param_key;
	int metric;
	double number;
	uint64_t window_ns;
	const struct window_shape *shape; /* NODE_WINDOW */
	struct node *window; /* NODE_WINDOW on a series: the one on all series of the metric, whose windows it shares */
	struct matcher *matchers;
	struct label_list labels; /* of join or aggregate */
	struct node *a, *b;
	struct node *next; /* in its hash bucket */
	uint64_t hash;     /* of the meaning, the same in every process */
};

struct node_table {
	struct arena *arena; /* borrowed: nodes live there */
	struct node **nodes; /* by index, operands before operators */
	uint32_t n;
	struct node *buckets[1024];
	regex_t **regexes; /* to free */
	uint32_t n_regexes;
};

void nodes_init(struct node_table *t, struct arena *arena);
void nodes_fini(struct node_table *t);
/* The node with this meaning; constants are folded. proto is copied. NULL when memory is out. */
struct node *node_make(struct node_table *t, const struct node *proto);
struct node *node_const(struct node_table *t, double v);
struct node *node_binary(struct node_table *t, enum node_op op, struct node *a, struct node *b);
/* a with its main comparison, the leftmost one, made against another threshold: what holds until the level clears. */
struct node *node_with_threshold(struct node_table *t, struct node *n, struct node *threshold);
/* The main comparison, the window function that is the condition, or NULL. */
struct node *node_main(struct node *n);
/* Left side of the main comparison; of grows() and absent() the function itself. */
struct node *node_value(struct node_table *t, struct node *n);
/* Right side of the main comparison, NULL without one. */
struct node *node_threshold(struct node *n);

/* Named figures of a rule that its expressions may use. */
struct param {
	const char *name;
	double value;
	uint64_t key; /* hash of rule id, name and value: its meaning */
};

struct param_list {
	struct param *params;
	uint32_t n;
};

/* Where an expression stands in its file, for complaints. */
struct expr_place {
	const char *file;
	unsigned line, column; /* of the first byte */
	unsigned indent;       /* columns before the text on the following lines */
};

/* What an expression may name beside metrics and functions. */
struct expr_names {
	const struct param_list *params;
	uint32_t first_param, n_params; /* those of the rule */
	struct node *expr;              /* what "expr" stands for; NULL: nothing */
};

/* Parses text[0..len). On failure the complaint is in diag: HIWAT_E_CONFIG or HIWAT_E_NOMEM. */
int expr_parse(struct node_table *t, const struct expr_names *names, const char *text, size_t len,
    const struct expr_place *place, struct diag *diag, struct node **out);

/* FALSE is a NaN with a mark of its own; value.h settles which NaN arithmetic returns. */
#define VALUE_FALSE_BITS 0x7ff8000000000f15ULL

static inline double
value_false(void)
{
	const uint64_t bits = VALUE_FALSE_BITS;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline bool
value_is_false(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits == VALUE_FALSE_BITS;
}

/* Smallest power of two that is not below v; v itself below 1. */
double value_pow2up(double v);

#endif
