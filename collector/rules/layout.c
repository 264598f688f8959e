#include "layout.h"

#include <stdlib.h>

#include "err.h"
#include "bank.h"

struct layout {
	struct making *m;
	struct binder *b;
	struct plan p;                                 /* its arrays are the binder's */
	uint32_t *window_bank;                         /* by the binder's number */
	uint32_t *window_at;                           /* place in its bank; alone: in alone */
	uint32_t *load_input;                          /* UINT32_MAX: none yet */
	uint32_t first_load, first_window, first_step; /* in the array of numbers */
};

/* One more element of an array of the plan, NULL with err set when memory is out. */
#define ADD(l, array) bind_grow((l)->b, (void *)&(l)->p.array, (l)->p.n_##array, sizeof(*(l)->p.array))

static const struct bind_load *
load_of(const struct layout *l, operand o)
{
	return &l->b->loads[o & OPERAND_INDEX];
}

/* Where an operand's value stands in the array of numbers. */
static uint32_t
place_of(const struct layout *l, operand o)
{
	uint32_t i = o & OPERAND_INDEX;

	switch (o >> OPERAND_SHIFT) {
	case OPERAND_STEP:
		return l->first_step + i;
	case OPERAND_LOAD:
		return l->first_load + i;
	case OPERAND_WINDOW:
		return l->p.banks[l->window_bank[i]].out + l->window_at[i];
	default:
		return i;
	}
}

/* The order of windows in banks: by sampler, then shape. */
struct window_order {
	uint32_t set, number;
	const struct window_shape *shape;
};

static int
compare_order(const void *x, const void *y)
{
	const struct window_order *a = x, *b = y;

	if (a->set != b->set)
		return a->set < b->set ? -1 : 1;
	if (a->shape->kind != b->shape->kind)
		return a->shape->kind < b->shape->kind ? -1 : 1;
	if (a->shape->seconds < b->shape->seconds || a->shape->seconds > b->shape->seconds)
		return a->shape->seconds < b->shape->seconds ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static bool
same_bank(const struct window_order *a, const struct window_order *b)
{
	return a->set == b->set && a->shape->kind == b->shape->kind && !(a->shape->seconds < b->shape->seconds) &&
	    !(a->shape->seconds > b->shape->seconds);
}

/* The counter's place in the list of those whose last value is kept. */
static uint32_t
input_of(struct layout *l, uint32_t load)
{
	if (l->load_input[load] != UINT32_MAX)
		return l->load_input[load];
	uint32_t *slot = ADD(l, inputs);
	if (slot == NULL)
		return 0;
	*slot = l->first_load + load;
	l->p.sets[l->b->loads[load].set].inputs.n++;
	return l->load_input[load] = l->p.n_inputs++;
}

static void
add_to_bank(struct layout *l, const struct window_order *o, bool begin)
{
	const struct bind_window *w = &l->b->windows[o->number];
	struct plan_set *set = &l->p.sets[o->set];

	if (begin) {
		struct plan_bank *slot = ADD(l, banks);
		if (slot == NULL)
			return;
		*slot = (struct plan_bank){ .shape = o->shape,
			.set = o->set,
			.from = l->p.n_from,
			.out = l->first_window + l->p.n_from };
		l->p.n_banks++;
		set->banks.n++;
	}
	struct plan_bank *bank = &l->p.banks[l->p.n_banks - 1];
	uint32_t *from = ADD(l, from), load = w->value & OPERAND_INDEX;
	if (from == NULL)
		return;
	*from = o->shape->counts ? input_of(l, load) : l->first_load + load;
	l->p.n_from++;
	l->window_bank[o->number] = l->p.n_banks - 1;
	l->window_at[o->number] = bank->n++;
}

/* Banks, what they take, and where they stand in the state: last values of counters, windows by themselves, banks. */
static void
place_windows(struct layout *l)
{
	struct binder *b = l->b;
	struct window_order *order = bind_calloc(b, b->n_windows, sizeof(*order));
	uint32_t n = 0, at;

	for (uint32_t i = 0; i < b->n_windows && b->err == HIWAT_OK; i++) {
		if (!b->windows[i].alone)
			order[n++] = (struct window_order){ load_of(l, b->windows[i].value)->set, i, b->windows[i].shape };
	}
	if (b->err == HIWAT_OK && n > 0)
		qsort(order, n, sizeof(*order), compare_order);
	for (uint32_t i = 0, s = 0; s < l->p.n_sets && b->err == HIWAT_OK; s++) {
		l->p.sets[s].inputs.first = l->p.n_inputs;
		l->p.sets[s].banks.first = l->p.n_banks;
		for (; i < n && order[i].set == s && b->err == HIWAT_OK; i++)
			add_to_bank(l, &order[i], l->p.sets[s].banks.n == 0 || !same_bank(&order[i - 1], &order[i]));
	}
	at = l->p.n_inputs;
	for (uint32_t i = 0; i < b->n_windows && b->err == HIWAT_OK; i++) {
		if (!b->windows[i].alone)
			continue;
		struct plan_alone *slot = ADD(l, alone);
		if (slot == NULL)
			return;
		*slot = (struct plan_alone){ b->windows[i].shape, at };
		l->window_bank[i] = PLAN_ALONE;
		l->window_at[i] = l->p.n_alone++;
		at += b->windows[i].shape->size / 8;
	}
	for (uint32_t i = 0; i < l->p.n_banks && b->err == HIWAT_OK; i++) {
		struct plan_bank *bank = &l->p.banks[i];
		bank->cells = at;
		at += (bank->n * bank->shape->columns + 1) / 2;
	}
	l->p.state_bytes = at * 8;
}

static void
list_windows(struct layout *l)
{
	for (uint32_t i = 0; i < l->b->n_windows && l->b->err == HIWAT_OK; i++) {
		struct plan_window *slot = ADD(l, windows);
		if (slot == NULL)
			return;
		*slot = (struct plan_window){ l->b->windows[i].node, l->b->windows[i].labels, l->window_bank[i],
			l->window_at[i] };
		l->p.n_windows++;
	}
	if (l->p.n_windows > 0)
		qsort(l->p.windows, l->p.n_windows, sizeof(*l->p.windows), plan_compare_windows);
}

int
plan_compare_windows(const void *x, const void *y)
{
	const struct plan_window *a = x, *b = y;

	return a->node != b->node ? (a->node > b->node) - (a->node < b->node)
				  : (a->labels > b->labels) - (a->labels < b->labels);
}

/* What of steps and windows the rows of one set need: 1 for what is said, 2 for conditions. */
struct needs {
	uint8_t *steps, *windows;
};

static void
need_operand(struct needs *n, operand o, uint8_t how)
{
	if (o >> OPERAND_SHIFT == OPERAND_STEP)
		n->steps[o] |= how;
	if (o >> OPERAND_SHIFT == OPERAND_WINDOW)
		n->windows[o & OPERAND_INDEX] |= how;
}

/* Adds what the needed steps need in turn. */
static void
close_needs(const struct binder *b, struct needs *n)
{
	for (uint32_t i = b->n_steps; i-- > 0;) {
		/* A window that only explains must take its samples all the same. */
		if (n->steps[i] != 0 && b->steps[i].op == NODE_WINDOW)
			n->steps[i] |= 2;
		if (n->steps[i] == 0)
			continue;
		need_operand(n, b->steps[i].a, n->steps[i]);
		if (b->steps[i].op != NODE_WINDOW)
			need_operand(n, b->steps[i].b, n->steps[i]);
	}
}

static void
list_rows(struct layout *l, uint32_t s, struct needs *needs)
{
	struct plan_set *set = &l->p.sets[s];

	set->fires.first = l->p.n_fires;
	for (uint32_t i = 0; i < l->m->n_rows && l->b->err == HIWAT_OK; i++) {
		const struct plan_row *row = &l->m->rows[i];
		if (row->sets != 0 && !(row->sets & 1ULL << s))
			continue;
		for (unsigned k = 0; k < row->n_levels * 4u + 3; k++) {
			operand o = l->m->operands[row->first + k];
			need_operand(needs, o, k < row->n_levels ? 3 : 1);
			set->reads |= bind_sets(l->b, o);
			struct plan_fire *slot = k < row->n_levels ? ADD(l, fires) : NULL;
			if (slot != NULL) {
				*slot = (struct plan_fire){ place_of(l, o), i };
				l->p.n_fires++;
				set->fires.n++;
			}
		}
	}
}

/* A step's place in the order of doing: what can be done in one go stands together. */
struct step_order {
	uint32_t depth, kind, number;
};

static int
compare_steps(const void *x, const void *y)
{
	const struct step_order *a = x, *b = y;

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void
add_step(struct layout *l, const struct step_order *o, struct plan_list *groups, bool begin)
{
	const struct bind_step *s = &l->b->steps[o->number];
	struct plan_step *slot = ADD(l, steps);

	if (slot == NULL)
		return;
	*slot = (struct plan_step){ place_of(l, s->a), 0, l->first_step + o->number };
	slot->b = s->op == NODE_WINDOW ? l->window_at[s->b] : place_of(l, s->b);
	if (begin) {
		struct plan_group *group = ADD(l, groups);
		if (group == NULL)
			return;
		*group = (struct plan_group){ .op = s->op, .kind = s->kind, .feeds = o->kind & 1, .first = l->p.n_steps };
		l->p.n_groups++;
		groups->n++;
	}
	l->p.groups[l->p.n_groups - 1].n++;
	l->p.n_steps++;
}

/* The steps that are needed in this way, in groups. */
static void
list_steps(struct layout *l, uint32_t s, const struct needs *needs, bool hot, struct plan_list *groups)
{
	struct binder *b = l->b;
	struct step_order *order = bind_calloc(b, b->n_steps, sizeof(*order));
	uint32_t n = 0;

	groups->first = l->p.n_groups;
	for (uint32_t i = 0; i < b->n_steps && b->err == HIWAT_OK; i++) {
		const struct bind_step *step = &b->steps[i];
		if (needs->steps[i] == 0 || hot != !!(needs->steps[i] & 2))
			continue;
		bool feeds = step->op == NODE_WINDOW && step->sets & 1ULL << s;
		order[n++] =
		    (struct step_order){ step->depth, (uint32_t)step->op << 16 | (uint32_t)step->kind << 8 | feeds, i };
		l->p.sets[s].reads |= step->sets;
	}
	if (b->err == HIWAT_OK && n > 0)
		qsort(order, n, sizeof(*order), compare_steps);
	for (uint32_t i = 0; i < n && b->err == HIWAT_OK; i++)
		add_step(l, &order[i], groups,
		    i == 0 || order[i].depth != order[i - 1].depth || order[i].kind != order[i - 1].kind);
}

/* Windows of other samplers that the rows of this one read. */
static void
list_others(struct layout *l, uint32_t s, const struct needs *needs)
{
	struct plan_list *list = &l->p.sets[s].others;

	list->first = l->p.n_reads;
	for (uint32_t i = 0; i < l->b->n_windows && l->b->err == HIWAT_OK; i++) {
		const struct bind_window *w = &l->b->windows[i];
		if (needs->windows[i] == 0 || load_of(l, w->value)->set == s)
			continue;
		struct plan_read *slot = ADD(l, reads);
		if (slot == NULL)
			return;
		*slot = (struct plan_read){ l->window_bank[i], l->window_at[i] };
		l->p.n_reads++;
		list->n++;
	}
}

/* For each set of samples: the rows that it can change and the steps they need. */
static void
list_sets(struct layout *l)
{
	struct binder *b = l->b;
	struct needs needs = { bind_calloc(b, b->n_steps, 1), bind_calloc(b, b->n_windows, 1) };

	for (uint32_t s = 0; s < l->p.n_sets && b->err == HIWAT_OK; s++) {
		struct plan_set *set = &l->p.sets[s];
		memset(needs.steps, 0, b->n_steps);
		memset(needs.windows, 0, b->n_windows);
		set->reads = 1ULL << s;
		list_rows(l, s, &needs);
		close_needs(b, &needs);
		list_others(l, s, &needs);
		list_steps(l, s, &needs, true, &set->hot);
		list_steps(l, s, &needs, false, &set->cold);
	}
}

static void
begin_sets(struct layout *l)
{
	const struct host_view *view = l->b->view;
	uint32_t load = 0;

	l->p.sets = bind_calloc(l->b, l->p.n_sets, sizeof(*l->p.sets));
	for (uint32_t s = 0; s < l->p.n_sets && l->b->err == HIWAT_OK; s++) {
		l->p.sets[s].values = l->first_load + load;
		l->p.sets[s].n_values = view->sets[s].n_values;
		l->p.sets[s].series = view->sets[s].n_values > 0 ? view->sets[s].series : NULL;
		load += view->sets[s].n_values;
	}
}

static size_t
array_bytes(size_t n, size_t size)
{
	return (n * size + 7) / 8 * 8;
}

size_t
plan_bytes(const struct plan *p)
{
	return sizeof(*p) + array_bytes(p->n_sets, sizeof(*p->sets)) + array_bytes(p->n_rows, sizeof(*p->rows)) +
	    array_bytes(p->n_fires, sizeof(*p->fires)) + array_bytes(p->n_operands, sizeof(*p->operands)) +
	    array_bytes(p->n_consts, sizeof(*p->consts)) + array_bytes(p->n_steps, sizeof(*p->steps)) +
	    array_bytes(p->n_groups, sizeof(*p->groups)) + array_bytes(p->n_windows, sizeof(*p->windows)) +
	    array_bytes(p->n_banks, sizeof(*p->banks)) + array_bytes(p->n_alone, sizeof(*p->alone)) +
	    array_bytes(p->n_from, sizeof(*p->from)) + array_bytes(p->n_inputs, sizeof(*p->inputs)) +
	    array_bytes(p->n_reads, sizeof(*p->reads));
}

/* Copies an array out of the temporary arena behind the plan's head. */
static void *
take_array(char **at, const void *from, size_t n, size_t size)
{
	void *to = *at;

	if (n > 0)
		memcpy(to, from, n * size);
	*at += array_bytes(n, size);
	return to;
}

static struct plan *
take_plan(const struct plan *from)
{
	struct plan *p = malloc(plan_bytes(from));

	if (p == NULL)
		return NULL;
	*p = *from;
	char *at = (char *)(p + 1);
	p->sets = take_array(&at, from->sets, p->n_sets, sizeof(*p->sets));
	p->rows = take_array(&at, from->rows, p->n_rows, sizeof(*p->rows));
	p->fires = take_array(&at, from->fires, p->n_fires, sizeof(*p->fires));
	p->operands = take_array(&at, from->operands, p->n_operands, sizeof(*p->operands));
	p->consts = take_array(&at, from->consts, p->n_consts, sizeof(*p->consts));
	p->steps = take_array(&at, from->steps, p->n_steps, sizeof(*p->steps));
	p->groups = take_array(&at, from->groups, p->n_groups, sizeof(*p->groups));
	p->windows = take_array(&at, from->windows, p->n_windows, sizeof(*p->windows));
	p->banks = take_array(&at, from->banks, p->n_banks, sizeof(*p->banks));
	p->alone = take_array(&at, from->alone, p->n_alone, sizeof(*p->alone));
	p->from = take_array(&at, from->from, p->n_from, sizeof(*p->from));
	p->inputs = take_array(&at, from->inputs, p->n_inputs, sizeof(*p->inputs));
	p->reads = take_array(&at, from->reads, p->n_reads, sizeof(*p->reads));
	for (uint32_t s = 0; s < p->n_sets; s++)
		series_use(p->sets[s].series);
	return p;
}

void
plan_free(struct plan *p)
{
	for (uint32_t s = 0; s < p->n_sets; s++)
		series_release(p->sets[s].series);
	free(p);
}

struct plan *
plan_layout(struct making *m, const struct plan *draft)
{
	struct binder *b = m->b;
	struct layout l = { .m = m, .b = b, .p = *draft };
	uint32_t n_banked = 0;

	for (uint32_t i = 0; i < b->n_windows; i++)
		n_banked += !b->windows[i].alone;
	l.first_load = b->n_consts;
	l.first_window = l.first_load + b->n_loads;
	l.first_step = l.first_window + n_banked;
	l.p.n_numbers = l.first_step + b->n_steps;
	l.window_bank = bind_calloc(b, b->n_windows, sizeof(*l.window_bank));
	l.window_at = bind_calloc(b, b->n_windows, sizeof(*l.window_at));
	l.load_input = bind_calloc(b, b->n_loads, sizeof(*l.load_input));
	begin_sets(&l);
	if (b->err != HIWAT_OK)
		return NULL;
	memset(l.load_input, 0xff, b->n_loads * sizeof(*l.load_input));
	place_windows(&l);
	list_windows(&l);
	list_sets(&l);
	l.p.operands = bind_calloc(b, m->n_operands, sizeof(*l.p.operands));
	if (b->err != HIWAT_OK)
		return NULL;
	for (uint32_t i = 0; i < m->n_operands; i++)
		l.p.operands[i] = place_of(&l, m->operands[i]);
	l.p.n_operands = m->n_operands;
	l.p.rows = m->rows;
	l.p.n_rows = m->n_rows;
	l.p.consts = b->consts;
	l.p.n_consts = b->n_consts;
	struct plan *p = take_plan(&l.p);
	if (p == NULL)
		b->err = HIWAT_E_NOMEM;
	return p;
}
