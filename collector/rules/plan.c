#include "plan.h"

#include <stdlib.h>

#include "err.h"
#include "hash.h"
#include "layout.h"

#define BIND_ARENA_MAX (256u << 20)
#define AGREEING_MAX 64 /* rows looked at one by one */

/* Labels that tell variants of one object apart and are no part of an incident's key unless a rule says so. */
static const struct label_list variant_labels = { 5, { "kind", "level", "operation", "state", "verdict" } };

/* Interrupts go by number, since the text of a device changes; pools by name. */
static const struct label_list by_irq = { 1, { "irq" } };
static const struct label_list by_pool = { 1, { "pool" } };

static uint32_t
object_of(struct binder *b, const struct rule_full *r, uint32_t labels)
{
	if (r->has_by)
		return bind_project(b, labels, &r->by, true);
	const char *irq = labels_value(b->labels, labels, "irq");
	if (irq != NULL && *irq != '\0')
		return bind_project(b, labels, &by_irq, true);
	if (labels_value(b->labels, labels, "vdev") != NULL)
		return bind_project(b, labels, &by_pool, true);
	return bind_project(b, labels, &variant_labels, false);
}

static bool
agree(const struct labels *labels, uint32_t x, uint32_t y)
{
	unsigned n;
	const struct sample_label *l = labels_get(labels, x, &n);

	for (unsigned i = 0; i < n; i++) {
		const char *other = labels_value(labels, y, l[i].name);
		if (other != NULL && strcmp(other, l[i].value) != 0)
			return false;
	}
	return true;
}

/* The only row that contradicts none of the labels; NULL when there are several. */
static const struct vector_row *
find_agreeing(const struct binder *b, const struct vector *v, uint32_t labels)
{
	const struct vector_row *found = NULL;

	for (uint32_t i = 0; v->n <= AGREEING_MAX && i < v->n; i++) {
		if (!agree(b->labels, labels, v->rows[i].labels))
			continue;
		if (found != NULL)
			return NULL;
		found = &v->rows[i];
	}
	return found;
}

static operand
operand_for(struct binder *b, struct node *n, uint32_t labels, double otherwise)
{
	const struct vector *v = n != NULL ? bind_node(b, n) : NULL;
	const struct vector_row *row = v != NULL ? vector_find(v, labels) : NULL;

	if (row == NULL && v != NULL)
		row = find_agreeing(b, v, labels);
	return row != NULL ? row->value : bind_const(b, otherwise);
}

static void
add_operand(struct making *m, operand o)
{
	operand *slot = bind_grow(m->b, (void *)&m->operands, m->n_operands, sizeof(*slot));

	if (slot != NULL) {
		*slot = o;
		m->n_operands++;
	}
}

/* Rows of what makes a level fire; in a check also (also) of what would take time to tell. NULL: there are none. */
static const struct vector *
condition(struct making *m, const struct level *l, bool also)
{
	struct node *n = !m->b->check ? l->fire : also ? l->wait : l->check;

	return n != NULL ? bind_node(m->b, n) : NULL;
}

static void
add_sets(struct making *m, const struct vector *v, uint32_t **sets, uint32_t *n)
{
	for (uint32_t i = 0; v != NULL && i < v->n; i++) {
		uint32_t *slot = bind_grow(m->b, (void *)sets, *n, sizeof(*slot));
		if (slot == NULL)
			return;
		*slot = v->rows[i].labels;
		(*n)++;
	}
}

/* The condition of a level at these labels. */
static operand
condition_at(struct making *m, const struct level *l, bool also, uint32_t labels)
{
	const struct vector *v = condition(m, l, also);
	const struct vector_row *at = v != NULL ? vector_exact(v, labels) : NULL;

	return at != NULL ? at->value : bind_const(m->b, value_false());
}

static bool
is_possible(const struct making *m, operand o)
{
	double known;

	return !bind_is_const(m->b, o, &known) || !value_is_false(known);
}

static int
compare_labels(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* A row for each label set that a condition of the rule has, unless no level can ever hold there. */
static void
make_rows(struct making *m, uint32_t rule)
{
	struct binder *b = m->b;
	const struct rule_full *r = &b->set->rules[rule];
	uint32_t *sets = NULL, n = 0;

	if (override_is_off(b->set, b->view, rule))
		return;
	for (unsigned l = 0; l < r->n_levels; l++) {
		add_sets(m, condition(m, &r->levels[l], false), &sets, &n);
		if (b->check)
			add_sets(m, condition(m, &r->levels[l], true), &sets, &n);
	}
	if (n > 1)
		qsort(sets, n, sizeof(*sets), compare_labels);
	for (uint32_t i = 0; i < n && b->err == HIWAT_OK; i++) {
		if (i > 0 && sets[i] == sets[i - 1])
			continue;
		operand fire[RULE_LEVELS];
		struct plan_row row = { .labels = sets[i],
			.rule = (uint16_t)rule,
			.n_levels = (uint16_t)r->n_levels,
			.first = m->n_operands };
		bool possible = false;
		for (unsigned l = 0; l < r->n_levels; l++) {
			fire[l] = condition_at(m, &r->levels[l], false, sets[i]);
			possible = possible || is_possible(m, fire[l]) ||
			    (b->check && is_possible(m, condition_at(m, &r->levels[l], true, sets[i])));
			row.sets |= bind_sets(b, fire[l]);
		}
		if (!possible)
			continue;
		row.object = object_of(b, r, sets[i]);
		struct plan_row *slot = bind_grow(b, (void *)&m->rows, m->n_rows, sizeof(*slot));
		if (slot == NULL)
			return;
		*slot = row;
		m->n_rows++;
		/* What is only asked when something is amiss is filled in when all conditions have their steps. */
		for (unsigned k = 0; k < r->n_levels * 4 + 3; k++)
			add_operand(m, k < r->n_levels ? fire[k] : 0);
	}
}

static void
fill_row(struct making *m, const struct plan_row *row)
{
	const struct rule_full *r = &m->b->set->rules[row->rule];
	operand values[RULE_LEVELS * 3 + 3];
	unsigned n = r->n_levels;

	for (unsigned l = 0; l < n; l++) {
		const struct level *level = &r->levels[l];
		values[l] = m->b->check ? condition_at(m, level, true, row->labels)
					: operand_for(m->b, level->stay, row->labels, value_false());
		values[n + l] = operand_for(m->b, level->value, row->labels, NAN);
		struct node *threshold =
		    m->b->check && level->check != NULL ? node_threshold(level->check) : level->threshold;
		values[2 * n + l] = operand_for(m->b, threshold, row->labels, NAN);
	}
	values[3 * n] = operand_for(m->b, r->used, row->labels, NAN);
	values[3 * n + 1] = operand_for(m->b, r->limit, row->labels, NAN);
	values[3 * n + 2] = operand_for(m->b, r->eta, row->labels, NAN);
	if (m->b->err == HIWAT_OK)
		memcpy(&m->operands[row->first + n], values, (3 * n + 3) * sizeof(values[0]));
}

static int
plan_make(struct rule_set *set, const struct host_view *view, struct labels *labels, bool check, struct plan *draft,
    struct plan **out)
{
	struct arena arena;
	struct binder b = { .set = set, .view = view, .labels = labels, .arena = &arena, .check = check };
	struct making m = { .b = &b };

	arena_init(&arena, BIND_ARENA_MAX);
	binder_init(&b);
	for (uint32_t r = 0; r < set->n_rules && b.err == HIWAT_OK; r++)
		make_rows(&m, r);
	for (uint32_t i = 0; i < m.n_rows && b.err == HIWAT_OK; i++)
		fill_row(&m, &m.rows[i]);
	if (b.err == HIWAT_OK)
		*out = plan_layout(&m, draft);
	arena_fini(&arena);
	return b.err;
}

static uint64_t
hash_facts(uint64_t h, const struct rule_set *set, const struct host_view *view)
{
	if (set->uses_fact[FACT_OS])
		h = hash_string(h, view->os);
	if (set->uses_fact[FACT_RELEASE])
		h = hash_string(h, view->release);
	if (set->uses_fact[FACT_HOST])
		h = hash_string(h, view->name);
	for (unsigned i = 0; set->uses_fact[FACT_LABEL] && i < view->n_host_labels; i++)
		h = hash_string(hash_string(h, view->host_labels[i].name), view->host_labels[i].value);
	for (size_t s = 0; s < view->n_sets && s < PLAN_SETS_MAX; s++)
		h = hash_u64(h, view->sets[s].n_values > 0 ? view->sets[s].series->hash : 0);
	return h;
}

static bool
plan_is_for(const struct plan *p, const struct plan *draft, const struct host_view *view)
{
	if (p->key[0] != draft->key[0] || p->key[1] != draft->key[1] || p->n_sets != draft->n_sets)
		return false;
	for (uint32_t s = 0; s < p->n_sets; s++) {
		if (p->sets[s].n_values != view->sets[s].n_values ||
		    (p->sets[s].n_values > 0 && p->sets[s].series != view->sets[s].series))
			return false;
	}
	return true;
}

static bool
grow(void *array, uint32_t *have, uint32_t need, size_t size)
{
	void **p = array;

	if (need <= *have)
		return true;
	void *bigger = realloc(*p, need * size);
	if (bigger == NULL)
		return false;
	*p = bigger;
	*have = need;
	return true;
}

/* Room to run the plan in. */
static bool
make_room(struct rule_set *set, const struct plan *p)
{
	return grow(&set->room.numbers, &set->room.n_numbers, p->n_numbers, sizeof(*set->room.numbers)) &&
	    grow(&set->room.increases, &set->room.n_increases, p->n_inputs, sizeof(*set->room.increases)) &&
	    grow(&set->room.due, &set->room.n_due, p->n_rows / 64 + 1, sizeof(*set->room.due));
}

int
plan_take(struct rule_set *set, const struct host_view *view, struct labels *labels, bool check, struct plan **out)
{
	size_t n_sets = view->n_sets < PLAN_SETS_MAX ? view->n_sets : PLAN_SETS_MAX;
	struct plan draft = { .owner = set,
		.users = 1,
		.n_sets = (uint32_t)n_sets,
		.key = { hash_facts(check, set, view), hash_facts(HASH_SEED + check, set, view) } };
	struct plan *p;

	struct plan **bucket = &set->plans[draft.key[0] % PLAN_BUCKETS];
	for (p = *bucket; p != NULL; p = p->next) {
		if (plan_is_for(p, &draft, view)) {
			p->users++;
			*out = p;
			return HIWAT_OK;
		}
	}
	int err = plan_make(set, view, labels, check, &draft, &p);
	if (err != HIWAT_OK)
		return err;
	if (!make_room(set, p)) {
		plan_free(p);
		return HIWAT_E_NOMEM;
	}
	p->next = *bucket;
	*bucket = p;
	*out = p;
	return HIWAT_OK;
}

void
plan_release(struct plan *p)
{
	if (p == NULL || --p->users > 0)
		return;
	for (struct plan **at = &p->owner->plans[p->key[0] % PLAN_BUCKETS]; *at != NULL; at = &(*at)->next) {
		if (*at == p) {
			*at = p->next;
			break;
		}
	}
	if (p->owner->room.plan == p)
		p->owner->room.plan = NULL;
	plan_free(p);
}

void
plan_mark(const struct plan *p, struct labels *labels)
{
	for (uint32_t i = 0; i < p->n_rows; i++) {
		labels_mark(labels, p->rows[i].labels);
		labels_mark(labels, p->rows[i].object);
	}
	for (uint32_t i = 0; i < p->n_windows; i++)
		labels_mark(labels, p->windows[i].labels);
	for (uint32_t s = 0; s < p->n_sets; s++) {
		for (uint32_t i = 0; i < p->sets[s].n_values; i++)
			labels_mark(labels, p->sets[s].series->series[i].labels);
	}
}

uint32_t
plan_find_row(const struct plan *p, uint32_t rule, uint32_t labels)
{
	uint32_t low = 0, high = p->n_rows;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct plan_row *r = &p->rows[middle];
		if (r->rule < rule || (r->rule == rule && r->labels < labels))
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->n_rows && p->rows[low].rule == rule && p->rows[low].labels == labels ? low : UINT32_MAX;
}

const struct plan_window *
plan_find_window(const struct plan *p, uint32_t node, uint32_t labels)
{
	const struct plan_window key = { .node = node, .labels = labels };

	return bsearch(&key, p->windows, p->n_windows, sizeof(*p->windows), plan_compare_windows);
}
