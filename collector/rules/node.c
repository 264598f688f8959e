#include "expr.h"

#include <stdlib.h>

#include "arena.h"
#include "catalogue.h"
#include "hash.h"
#include "value.h"
#include "window.h"

void
nodes_init(struct node_table *t, struct arena *arena)
{
	*t = (struct node_table){ .arena = arena };
}

void
nodes_fini(struct node_table *t)
{
	for (uint32_t i = 0; i < t->n_regexes; i++)
		regfree(t->regexes[i]);
	t->n_regexes = 0;
}

double
value_pow2up(double v)
{
	double p = 1;

	if (!(v > 1) || v > 0x1p62)
		return v;
	while (p < v)
		p *= 2;
	return p;
}

double
value_call(enum call call, double a, double b)
{
	switch (call) {
	case CALL_ABS:
		return fabs(a);
	case CALL_CEIL:
		return ceil(a);
	case CALL_FLOOR:
		return floor(a);
	case CALL_POW2UP:
		return value_pow2up(a);
	case CALL_MIN:
		return a < b ? a : b;
	case CALL_MAX:
		return a > b ? a : b;
	}
	return NAN;
}

static uint64_t
node_hash(const struct node *n)
{
	uint64_t h = hash_u64(HASH_SEED, (uint64_t)n->op << 16 | (uint64_t)n->kind << 8 | n->join);
	uint64_t bits;

	memcpy(&bits, &n->number, sizeof(bits));
	h = hash_u64(h, bits);
	h = hash_u64(h, n->window_ns);
	h = hash_u64(h, (uint64_t)n->is_bare ^ n->param_key);
	if (n->op == NODE_SERIES || n->op == NODE_ABSENT)
		h = hash_string(h, catalogue_metrics[n->metric].name);
	for (unsigned i = 0; i < n->n_matchers; i++) {
		h = hash_u64(h, n->matchers[i].kind);
		h = hash_string(h, n->matchers[i].label);
		h = hash_string(h, n->matchers[i].value);
	}
	for (unsigned i = 0; i < n->labels.n; i++)
		h = hash_string(h, n->labels.names[i]);
	h = hash_u64(h, n->a != NULL ? n->a->hash : 0);
	return hash_u64(h, n->b != NULL ? n->b->hash : 0);
}

static bool
node_same(const struct node *x, const struct node *y)
{
	if (x->op != y->op || x->kind != y->kind || x->join != y->join || x->is_bare != y->is_bare || x->param != y->param ||
	    x->metric != y->metric || x->window_ns != y->window_ns || x->a != y->a || x->b != y->b ||
	    x->n_matchers != y->n_matchers || x->labels.n != y->labels.n ||
	    memcmp(&x->number, &y->number, sizeof(x->number)) != 0)
		return false;
	for (unsigned i = 0; i < x->n_matchers; i++) {
		if (x->matchers[i].kind != y->matchers[i].kind || strcmp(x->matchers[i].label, y->matchers[i].label) != 0 ||
		    strcmp(x->matchers[i].value, y->matchers[i].value) != 0)
			return false;
	}
	for (unsigned i = 0; i < x->labels.n; i++) {
		if (strcmp(x->labels.names[i], y->labels.names[i]) != 0)
			return false;
	}
	return true;
}

static bool
can_fold(const struct node *n)
{
	if (n->op < NODE_NEG || n->op > NODE_CALL || n->op == NODE_AGGREGATE)
		return false;
	return n->a->op == NODE_CONST && (n->b == NULL || n->b->op == NODE_CONST);
}

/* What is known of a node's value from its operands. */
static void
node_derive(struct node *n)
{
	const struct node *a = n->a, *b = n->b;

	n->has_history = n->op == NODE_WINDOW || (a != NULL && a->has_history) || (b != NULL && b->has_history);
	n->has_series =
	    n->op == NODE_SERIES || n->op == NODE_ABSENT || (a != NULL && a->has_series) || (b != NULL && b->has_series);
	switch (n->op) {
	case NODE_EQ:
	case NODE_NE:
	case NODE_LT:
	case NODE_LE:
	case NODE_GT:
	case NODE_GE:
	case NODE_AND:
	case NODE_UNLESS:
	case NODE_ABSENT:
	case NODE_TEXT:
		n->is_condition = true;
		break;
	case NODE_OR:
		n->is_condition = a->is_condition;
		n->is_ratio = a->is_ratio && b->is_ratio;
		n->is_counter = a->is_counter && b->is_counter;
		break;
	case NODE_SERIES:
		n->is_counter = catalogue_metrics[n->metric].is_counter;
		n->is_ratio = strcmp(catalogue_metrics[n->metric].unit, "ratio") == 0;
		break;
	case NODE_WINDOW:
		n->is_condition = n->kind == WINDOW_GROWS;
		n->is_ratio = a->is_ratio && (n->kind == WINDOW_AVG || n->kind == WINDOW_MAX || n->kind == WINDOW_MIN);
		break;
	case NODE_DIV:
		n->is_ratio = a->has_series && b->has_series;
		break;
	case NODE_ADD:
		n->is_ratio = a->is_ratio && b->is_ratio;
		n->is_counter = a->is_counter && b->is_counter;
		break;
	case NODE_SUB:
		n->is_ratio = (a->is_ratio || a->op == NODE_CONST) && b->is_ratio;
		break;
	case NODE_AGGREGATE:
		n->is_ratio = a->is_ratio && n->kind != AGGREGATE_COUNT;
		n->is_counter = a->is_counter && n->kind == AGGREGATE_SUM;
		break;
	case NODE_CALL:
		n->is_ratio = a->is_ratio && n->kind != CALL_POW2UP;
		break;
	default:
		break;
	}
}

/*
 * Of a window on a plain series: itself, or the one on all series of the metric. NULL: it is no such, or memory is out.
 * changes() compares values and so needs a last one of its own, which banks have for counters alone.
 */
static struct node *
shared_window(struct node_table *t, const struct node *proto, struct node *self)
{
	struct node all, window = *proto;

	if (proto->op != NODE_WINDOW || proto->kind == WINDOW_CHANGES || proto->a->op != NODE_SERIES || proto->a->is_bare)
		return NULL;
	if (proto->a->n_matchers == 0)
		return self;
	all = *proto->a;
	all.n_matchers = 0;
	all.matchers = NULL;
	window.a = node_make(t, &all);
	return window.a != NULL ? node_make(t, &window) : NULL;
}

struct node *
node_make(struct node_table *t, const struct node *proto)
{
	if (can_fold(proto))
		return node_const(t,
		    value_compute(proto->op, proto->kind, proto->a->number, proto->b != NULL ? proto->b->number : 0));
	uint64_t hash = node_hash(proto);
	struct node **bucket = &t->buckets[hash % (sizeof(t->buckets) / sizeof(t->buckets[0]))];
	for (struct node *n = *bucket; n != NULL; n = n->next) {
		if (n->hash == hash && node_same(n, proto))
			return n;
	}
	struct node *n = t->n < EXPR_NODES_MAX ? arena_alloc(t->arena, sizeof(*n)) : NULL;
	struct node **slot = n != NULL ? arena_grow(t->arena, (void **)&t->nodes, t->n, sizeof(*slot)) : NULL;
	if (slot == NULL)
		return NULL;
	*n = *proto;
	if (n->op == NODE_WINDOW) {
		struct window_shape *shape = arena_alloc(t->arena, sizeof(*shape));
		if (shape == NULL)
			return NULL;
		*shape = window_shape_of(n->kind, n->window_ns);
		n->shape = shape;
	}
	n->hash = hash;
	n->index = t->n++;
	n->next = *bucket;
	node_derive(n);
	*slot = n;
	*bucket = n;
	n->window = shared_window(t, n, n);
	return n;
}

struct node *
node_const(struct node_table *t, double v)
{
	struct node proto = { .op = NODE_CONST, .number = v };

	return node_make(t, &proto);
}

struct node *
node_binary(struct node_table *t, enum node_op op, struct node *a, struct node *b)
{
	struct node proto = { .op = op, .a = a, .b = b };

	return a != NULL && b != NULL ? node_make(t, &proto) : NULL;
}

static bool
is_comparison(const struct node *n)
{
	return n->op >= NODE_EQ && n->op <= NODE_GE;
}

/* The side of and, or, unless that speaks: the left one, unless it only asks what kind of host this is. */
static bool
speaks_right(const struct node *n)
{
	return n->op == NODE_AND && !n->a->has_series && n->b->has_series;
}

static bool
is_logical(const struct node *n)
{
	return n->op == NODE_AND || n->op == NODE_OR || n->op == NODE_UNLESS;
}

struct node *
node_main(struct node *n)
{
	while (is_logical(n))
		n = speaks_right(n) ? n->b : n->a;
	return is_comparison(n) || n->op == NODE_WINDOW || n->op == NODE_ABSENT ? n : NULL;
}

/* n with other operands. */
static struct node *
node_with(struct node_table *t, const struct node *n, struct node *a, struct node *b)
{
	struct node proto = *n;

	if (a == NULL || b == NULL)
		return NULL;
	proto.a = a;
	proto.b = b;
	return node_make(t, &proto);
}

struct node *
node_with_threshold(struct node_table *t, struct node *n, struct node *threshold)
{
	if (is_comparison(n))
		return node_with(t, n, n->a, threshold);
	if (!is_logical(n))
		return n;
	if (speaks_right(n))
		return node_with(t, n, n->a, node_with_threshold(t, n->b, threshold));
	struct node *a = node_with_threshold(t, n->a, threshold);
	struct node *m = n->op == NODE_OR ? node_main(n->b) : NULL;
	/* The other side of or has the same threshold, or keeps its own. */
	struct node *mine = node_main(n->a);
	bool same = m != NULL && mine != NULL && is_comparison(m) && is_comparison(mine) && m->b == mine->b;
	return node_with(t, n, a, same ? node_with_threshold(t, n->b, threshold) : n->b);
}

struct node *
node_value(struct node_table *t, struct node *n)
{
	if (is_comparison(n))
		return n->a;
	if (n->op == NODE_OR)
		return node_with(t, n, node_value(t, n->a), node_value(t, n->b));
	if (is_logical(n))
		return node_value(t, speaks_right(n) ? n->b : n->a);
	return n;
}

struct node *
node_threshold(struct node *n)
{
	n = node_main(n);
	return n != NULL && is_comparison(n) ? n->b : NULL;
}
