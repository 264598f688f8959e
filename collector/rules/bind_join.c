/*
 * Operators with two operands: which row of the left side meets which of the right. Rows meet when their labels are equal,
 * or equal in those of on(), or in all but those of ignoring(). A side without labels meets every row of the other.
 */
#include "bind.h"

#include <stdlib.h>

#include "err.h"

/* Rows of the right side by the labels that count for the join; several may have the same key. */
struct keyed {
	uint32_t n;
	struct vector_row *rows;
};

static uint32_t
join_key(struct binder *b, const struct node *n, uint32_t labels)
{
	return n->join == JOIN_EQUAL ? labels : bind_project(b, labels, &n->labels, n->join == JOIN_ON);
}

static int
compare_keys(const void *x, const void *y)
{
	const struct vector_row *a = x, *b = y;

	return (a->labels > b->labels) - (a->labels < b->labels);
}

static void
make_keyed(struct binder *b, const struct node *n, const struct vector *y, struct keyed *out)
{
	out->n = 0;
	out->rows = bind_calloc(b, y->n, sizeof(*out->rows));
	for (uint32_t i = 0; i < y->n && b->err == HIWAT_OK; i++)
		out->rows[out->n++] = (struct vector_row){ join_key(b, n, y->rows[i].labels), y->rows[i].value };
	if (b->err == HIWAT_OK && n->join != JOIN_EQUAL)
		qsort(out->rows, out->n, sizeof(*out->rows), compare_keys);
}

/* First row with this key, or n. */
static uint32_t
keyed_find(const struct keyed *k, uint32_t key)
{
	uint32_t low = 0, high = k->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (k->rows[middle].labels < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < k->n && k->rows[low].labels == key ? low : k->n;
}

static bool
is_alone(const struct vector *v)
{
	return v->n == 1 && v->rows[0].labels == LABELS_EMPTY;
}

static bool
is_logical(const struct node *n)
{
	return n->op == NODE_AND || n->op == NODE_OR || n->op == NODE_UNLESS;
}

/* The one row of x with each row of y. */
static void
spread_left(struct binder *b, const struct node *n, operand x, const struct vector *y, struct vector *out)
{
	for (uint32_t i = 0; i < y->n && b->err == HIWAT_OK; i++) {
		operand right = y->rows[i].value;
		/* Of "this kind of host and a condition" it is the condition that has a value. */
		operand v = n->op == NODE_AND ? bind_op(b, n->op, 0, right, x) : bind_op(b, n->op, n->kind, x, right);
		out->rows[out->n++] = (struct vector_row){ y->rows[i].labels, v };
	}
}

/* One row of x with all rows of y of its key. */
static void
join_row(struct binder *b, const struct node *n, const struct vector_row *x, const struct keyed *k, bool alone,
    struct vector *out)
{
	uint32_t key = alone ? LABELS_EMPTY : join_key(b, n, x->labels);
	uint32_t i = b->err == HIWAT_OK ? keyed_find(k, key) : k->n;

	if (i == k->n && !is_logical(n))
		return;
	if (i == k->n) {
		operand none = bind_const(b, value_false());
		out->rows[out->n++] = (struct vector_row){ x->labels, bind_op(b, n->op, 0, x->value, none) };
		return;
	}
	/* Several partners: a condition holds when it holds for any of them, arithmetic takes the first. */
	operand y = k->rows[i].value;
	for (i++; is_logical(n) && i < k->n && k->rows[i].labels == key; i++)
		y = bind_op(b, NODE_OR, 0, y, k->rows[i].value);
	out->rows[out->n++] = (struct vector_row){ x->labels, bind_op(b, n->op, n->kind, x->value, y) };
}

void
bind_binary(struct binder *b, const struct node *n, const struct vector *x, const struct vector *y, struct vector *out)
{
	struct keyed k, left;
	bool alone = n->join == JOIN_EQUAL && is_alone(y);

	out->rows = bind_calloc(b, (size_t)x->n + y->n, sizeof(*out->rows));
	if (out->rows == NULL)
		return;
	bool asks_host = n->op == NODE_AND && !n->a->has_series;
	if (n->join == JOIN_EQUAL && is_alone(x) && (asks_host || (!is_alone(y) && n->op != NODE_OR && n->op != NODE_AND))) {
		spread_left(b, n, x->rows[0].value, y, out);
		return;
	}
	if (n->op == NODE_OR)
		alone = false;
	make_keyed(b, n, y, &k);
	for (uint32_t i = 0; i < x->n && b->err == HIWAT_OK; i++)
		join_row(b, n, &x->rows[i], &k, alone, out);
	if (n->op != NODE_OR)
		return;
	make_keyed(b, n, x, &left);
	for (uint32_t i = 0; i < y->n && b->err == HIWAT_OK; i++) {
		uint32_t key = join_key(b, n, y->rows[i].labels);
		if (b->err == HIWAT_OK && keyed_find(&left, key) == left.n)
			out->rows[out->n++] = y->rows[i];
	}
	vector_sort(out);
}
