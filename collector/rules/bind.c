#include "bind.h"

#include <stdlib.h>

#include "err.h"
#include "value.h"
#include "window.h"

#define CONST_SEARCH 64 /* constants looked at before a new one is added */

void *
bind_grow(struct binder *b, void *array, uint32_t n, size_t size)
{
	void *slot = b->err == HIWAT_OK ? arena_grow(b->arena, array, n, size) : NULL;

	if (slot == NULL)
		b->err = HIWAT_E_NOMEM;
	return slot;
}

void *
bind_calloc(struct binder *b, size_t n, size_t size)
{
	void *p = b->err == HIWAT_OK ? arena_calloc(b->arena, n > 0 ? n : 1, size) : NULL;

	if (p == NULL)
		b->err = HIWAT_E_NOMEM;
	return p;
}

int
binder_init(struct binder *b)
{
	size_t n_sets = b->view->n_sets < PLAN_SETS_MAX ? b->view->n_sets : PLAN_SETS_MAX, n = 0;

	b->memo = bind_calloc(b, b->set->nodes.n, sizeof(*b->memo));
	b->heads = bind_calloc(b, catalogue_n_metrics, sizeof(*b->heads));
	for (size_t s = 0; s < n_sets; s++)
		n += b->view->sets[s].n_values;
	b->loads = bind_calloc(b, n, sizeof(*b->loads));
	if (b->err != HIWAT_OK)
		return b->err;
	memset(b->heads, 0xff, catalogue_n_metrics * sizeof(*b->heads));
	if (n > OPERAND_INDEX)
		return b->err = HIWAT_E_NOMEM;
	/* Chained from the end, so that each chain is in the order of the records. */
	b->n_loads = (uint32_t)n;
	for (size_t s = n_sets; s-- > 0;) {
		const struct sample_set *set = &b->view->sets[s];
		for (uint32_t i = set->n_values; i-- > 0;) {
			const struct series_key *v = &set->series->series[i];
			b->loads[--n] = (struct bind_load){ v->labels, (uint32_t)s, i, UINT32_MAX, UINT32_MAX };
			if (v->metric >= catalogue_n_metrics)
				continue;
			b->loads[n].next = b->heads[v->metric];
			b->heads[v->metric] = (uint32_t)n;
		}
	}
	return HIWAT_OK;
}

operand
bind_const(struct binder *b, double v)
{
	uint32_t i = b->n_consts;

	for (uint32_t back = 0; back < CONST_SEARCH && i > 0; back++) {
		if (memcmp(&b->consts[--i], &v, sizeof(v)) == 0)
			return OPERAND_CONST << OPERAND_SHIFT | i;
	}
	double *slot = bind_grow(b, (void *)&b->consts, b->n_consts, sizeof(*slot));
	if (slot == NULL)
		return OPERAND_CONST << OPERAND_SHIFT;
	*slot = v;
	return OPERAND_CONST << OPERAND_SHIFT | b->n_consts++;
}

bool
bind_is_const(const struct binder *b, operand o, double *v)
{
	if (o >> OPERAND_SHIFT != OPERAND_CONST || (o & OPERAND_INDEX) >= b->n_consts)
		return false;
	*v = b->consts[o & OPERAND_INDEX];
	return true;
}

uint64_t
bind_sets(const struct binder *b, operand o)
{
	switch (o >> OPERAND_SHIFT) {
	case OPERAND_STEP:
		return o < b->n_steps ? b->steps[o].sets : 0;
	case OPERAND_LOAD:
		return 1ULL << b->loads[o & OPERAND_INDEX].set;
	case OPERAND_WINDOW:
		return bind_sets(b, b->windows[o & OPERAND_INDEX].value);
	default:
		return 0;
	}
}

static unsigned
depth_of(const struct binder *b, operand o)
{
	return o >> OPERAND_SHIFT == OPERAND_STEP && o < b->n_steps ? b->steps[o].depth + 1u : 0;
}

/* Adds a step; sets and depth are worked out here. */
static operand
bind_step(struct binder *b, struct bind_step step)
{
	unsigned x = depth_of(b, step.a), y = 0;
	struct bind_step *slot = bind_grow(b, (void *)&b->steps, b->n_steps, sizeof(*slot));

	step.sets = bind_sets(b, step.a);
	if (step.op != NODE_WINDOW) {
		y = depth_of(b, step.b);
		step.sets |= bind_sets(b, step.b);
	}
	step.depth = (uint16_t)(x > y ? x : y);
	if (slot == NULL || b->n_steps > OPERAND_INDEX || x > UINT16_MAX || y > UINT16_MAX) {
		b->err = HIWAT_E_NOMEM;
		return OPERAND_CONST << OPERAND_SHIFT;
	}
	*slot = step;
	return b->n_steps++;
}

operand
bind_op(struct binder *b, unsigned op, unsigned kind, operand x, operand y)
{
	double vx, vy;
	bool known_x = bind_is_const(b, x, &vx), known_y = bind_is_const(b, y, &vy);

	if (known_x && known_y && op <= NODE_CALL)
		return bind_const(b, value_compute(op, kind, vx, vy));
	if (op == NODE_AND && ((known_x && value_is_false(vx)) || (known_y && value_is_false(vy))))
		return bind_const(b, value_false());
	if ((op == NODE_AND && known_y && !isnan(vy)) || (op == NODE_OR && known_y && value_is_false(vy)) ||
	    (op == NODE_UNLESS && known_y && value_is_false(vy)))
		return x;
	return bind_step(b, (struct bind_step){ .op = (uint8_t)op, .kind = (uint8_t)kind, .a = x, .b = y });
}

uint32_t
bind_project(struct binder *b, uint32_t labels, const struct label_list *list, bool keep)
{
	struct sample_label kept[CATALOGUE_LABELS_MAX];
	unsigned n, n_kept = 0;
	const struct sample_label *all = labels_get(b->labels, labels, &n);

	for (unsigned i = 0; i < n && n_kept < CATALOGUE_LABELS_MAX; i++) {
		bool listed = false;
		for (unsigned j = 0; j < list->n && !listed; j++)
			listed = strcmp(list->names[j], all[i].name) == 0;
		if (listed == keep)
			kept[n_kept++] = all[i];
	}
	if (n_kept == n)
		return labels;
	uint32_t set = labels_intern(b->labels, kept, n_kept);
	if (set == LABELS_FULL)
		b->err = HIWAT_E_NOMEM;
	return set;
}

static int
compare_rows(const void *x, const void *y)
{
	const struct vector_row *a = x, *b = y;

	return a->labels != b->labels ? (a->labels > b->labels) - (a->labels < b->labels)
				      : (a->value > b->value) - (a->value < b->value);
}

void
vector_sort(struct vector *v)
{
	uint32_t n = 0;

	if (v->n == 0)
		return;
	qsort(v->rows, v->n, sizeof(*v->rows), compare_rows);
	for (uint32_t i = 1; i < v->n; i++) {
		if (v->rows[i].labels != v->rows[n].labels)
			v->rows[++n] = v->rows[i];
	}
	v->n = n + 1;
}

const struct vector_row *
vector_exact(const struct vector *v, uint32_t labels)
{
	uint32_t low = 0, high = v->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (v->rows[middle].labels < labels)
			low = middle + 1;
		else
			high = middle;
	}
	return low < v->n && v->rows[low].labels == labels ? &v->rows[low] : NULL;
}

const struct vector_row *
vector_find(const struct vector *v, uint32_t labels)
{
	const struct vector_row *row = vector_exact(v, labels);

	return row != NULL ? row : vector_exact(v, LABELS_EMPTY);
}

static bool
text_matches(const struct matcher *m, const char *value)
{
	switch (m->kind) {
	case MATCH_EQ:
		return strcmp(value, m->value) == 0;
	case MATCH_NE:
		return strcmp(value, m->value) != 0;
	case MATCH_RE:
		return regexec(m->re, value, 0, NULL, 0) == 0;
	default:
		return regexec(m->re, value, 0, NULL, 0) != 0;
	}
}

static bool
series_matches(const struct binder *b, const struct node *n, uint32_t labels)
{
	for (unsigned i = 0; i < n->n_matchers; i++) {
		const char *value = labels_value(b->labels, labels, n->matchers[i].label);
		if (!text_matches(&n->matchers[i], value != NULL ? value : ""))
			return false;
	}
	return true;
}

static void
bind_series(struct binder *b, const struct node *n, struct vector *out)
{
	uint32_t count = 0;

	for (uint32_t i = b->heads[n->metric]; i != UINT32_MAX; i = b->loads[i].next)
		count++;
	out->rows = bind_calloc(b, count, sizeof(*out->rows));
	if (out->rows == NULL)
		return;
	for (uint32_t i = b->heads[n->metric]; i != UINT32_MAX; i = b->loads[i].next) {
		uint32_t labels = b->loads[i].labels;
		if (series_matches(b, n, labels))
			out->rows[out->n++] =
			    (struct vector_row){ n->is_bare ? LABELS_EMPTY : labels, OPERAND_LOAD << OPERAND_SHIFT | i };
	}
	vector_sort(out);
}

static void
bind_one(struct binder *b, struct vector *out, operand value)
{
	out->rows = bind_calloc(b, 1, sizeof(*out->rows));
	if (out->rows != NULL)
		out->rows[out->n++] = (struct vector_row){ LABELS_EMPTY, value };
}

static bool
fact_matches(const struct binder *b, const struct node *n)
{
	const struct host_view *v = b->view;
	const char *value = "";

	switch (n->kind) {
	case FACT_OS:
		value = v->os;
		break;
	case FACT_RELEASE:
		value = v->release;
		break;
	case FACT_HOST:
		value = v->name;
		break;
	default:
		for (unsigned i = 0; i < v->n_host_labels; i++) {
			if (strcmp(v->host_labels[i].name, n->matchers->label) == 0)
				value = v->host_labels[i].value;
		}
	}
	return text_matches(n->matchers, value != NULL ? value : "");
}

/* A window on the value x, the one that is there if any. */
static operand
bind_window(struct binder *b, const struct node *n, uint32_t labels, operand x)
{
	bool alone = n->window == NULL || x >> OPERAND_SHIFT != OPERAND_LOAD;
	const struct node *keeper = alone ? n : n->window;
	uint32_t *chain = alone ? NULL : &b->loads[x & OPERAND_INDEX].windows;

	for (uint32_t i = alone ? UINT32_MAX : *chain; i != UINT32_MAX; i = b->windows[i].next) {
		if (b->windows[i].node == keeper->index)
			return OPERAND_WINDOW << OPERAND_SHIFT | i;
	}
	struct bind_window *w = bind_grow(b, (void *)&b->windows, b->n_windows, sizeof(*w));
	if (w == NULL || b->n_windows > OPERAND_INDEX) {
		b->err = HIWAT_E_NOMEM;
		return OPERAND_CONST << OPERAND_SHIFT;
	}
	*w = (struct bind_window){ n->shape, keeper->index, labels, x, alone, UINT32_MAX };
	uint32_t i = b->n_windows++;
	if (alone)
		return bind_step(b, (struct bind_step){ .op = NODE_WINDOW, .kind = n->kind, .a = x, .b = i });
	w->next = *chain;
	*chain = i;
	return OPERAND_WINDOW << OPERAND_SHIFT | i;
}

/* The same step on each row of one operand. */
static void
bind_unary(struct binder *b, const struct node *n, const struct vector *a, struct vector *out)
{
	out->rows = bind_calloc(b, a->n, sizeof(*out->rows));
	for (uint32_t i = 0; i < a->n && b->err == HIWAT_OK; i++) {
		operand x = a->rows[i].value, y = bind_const(b, 0);
		if (n->op == NODE_WINDOW && b->check) {
			y = bind_const(b, NAN);
		} else if (n->op == NODE_WINDOW) {
			y = bind_window(b, n, a->rows[i].labels, x);
		} else {
			y = bind_op(b, n->op, n->kind, x, y);
		}
		out->rows[out->n++] = (struct vector_row){ a->rows[i].labels, y };
	}
}

static void
bind_aggregate(struct binder *b, const struct node *n, const struct vector *a, struct vector *out)
{
	static const uint8_t ops[] = { [AGGREGATE_SUM] = STEP_SUM,
		[AGGREGATE_AVG] = STEP_SUM,
		[AGGREGATE_MAX] = STEP_MOST,
		[AGGREGATE_MIN] = STEP_LEAST,
		[AGGREGATE_COUNT] = STEP_COUNT };
	struct vector keyed = { 0 };

	keyed.rows = bind_calloc(b, a->n, sizeof(*keyed.rows));
	out->rows = bind_calloc(b, a->n, sizeof(*out->rows));
	for (uint32_t i = 0; i < a->n && b->err == HIWAT_OK; i++)
		keyed.rows[keyed.n++] =
		    (struct vector_row){ bind_project(b, a->rows[i].labels, &n->labels, true), a->rows[i].value };
	if (b->err != HIWAT_OK || a->n == 0)
		return;
	qsort(keyed.rows, keyed.n, sizeof(*keyed.rows), compare_rows);
	for (uint32_t i = 0, end; i < keyed.n && b->err == HIWAT_OK; i = end) {
		operand sum = n->kind == AGGREGATE_COUNT ? bind_op(b, STEP_COUNT, 0, bind_const(b, 0), keyed.rows[i].value)
							 : keyed.rows[i].value;
		for (end = i + 1; end < keyed.n && keyed.rows[end].labels == keyed.rows[i].labels; end++)
			sum = bind_op(b, ops[n->kind], 0, sum, keyed.rows[end].value);
		if (n->kind == AGGREGATE_AVG)
			sum = bind_op(b, NODE_DIV, 0, sum, bind_const(b, end - i));
		out->rows[out->n++] = (struct vector_row){ keyed.rows[i].labels, sum };
	}
}

static void
bind_fill(struct binder *b, struct node *n, struct vector *out)
{
	const struct vector *x = n->a != NULL ? bind_node(b, n->a) : NULL;
	const struct vector *y = n->b != NULL ? bind_node(b, n->b) : NULL;

	if (b->err != HIWAT_OK)
		return;
	switch (n->op) {
	case NODE_CONST:
		bind_one(b, out, bind_const(b, n->number));
		break;
	case NODE_PARAM:
		bind_one(b, out, bind_const(b, override_value(b->set, b->view, n->param, n->number)));
		break;
	case NODE_SERIES:
		bind_series(b, n, out);
		break;
	case NODE_TEXT:
		bind_one(b, out, bind_const(b, fact_matches(b, n) ? 1 : value_false()));
		break;
	case NODE_ABSENT:
		bind_series(b, n, out);
		bool found = out->n > 0;
		out->n = 0;
		bind_one(b, out, bind_const(b, found ? value_false() : 1));
		break;
	case NODE_AGGREGATE:
		bind_aggregate(b, n, x, out);
		break;
	default:
		if (y == NULL)
			bind_unary(b, n, x, out);
		else
			bind_binary(b, n, x, y, out);
	}
}

const struct vector *
bind_node(struct binder *b, struct node *n)
{
	if (b->err != HIWAT_OK)
		return NULL;
	if (b->memo[n->index] != NULL)
		return b->memo[n->index];
	struct vector *v = bind_calloc(b, 1, sizeof(*v));
	if (v == NULL)
		return NULL;
	bind_fill(b, n, v);
	if (b->err != HIWAT_OK)
		return NULL;
	b->memo[n->index] = v;
	return v;
}
