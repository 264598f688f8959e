#include "plan.h"

#include <stdlib.h>

#include "bind.h"
#include "err.h"
#include "hash.h"

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

struct making {
	struct binder *b;
	struct plan_row *rows;
	uint32_t n_rows;
	operand *operands;
	uint32_t n_operands;
};

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

static void
need_operand(uint8_t *needed, operand o)
{
	if (o >> OPERAND_SHIFT == OPERAND_STEP)
		needed[o] = 1;
}

/* Adds what the needed steps need in turn. */
static void
close_needed(const struct binder *b, uint8_t *needed)
{
	for (uint32_t i = b->n_steps; i-- > 0;) {
		if (!needed[i])
			continue;
		need_operand(needed, b->steps[i].a);
		if (b->steps[i].op != NODE_WINDOW)
			need_operand(needed, b->steps[i].b);
	}
}

static void
add_to_list(struct making *m, struct plan *p, struct plan_list *list, uint32_t entry)
{
	uint32_t *slot = bind_grow(m->b, (void *)&p->lists, p->n_lists, sizeof(*slot));

	if (slot != NULL) {
		*slot = entry;
		p->n_lists++;
		list->n++;
	}
}

static void
list_rows(struct making *m, struct plan *p, uint32_t s, uint8_t *hot, uint8_t *all)
{
	struct plan_list *list = &p->sets[s].rows;

	list->first = p->n_lists;
	for (uint32_t i = 0; i < m->n_rows && m->b->err == HIWAT_OK; i++) {
		const struct plan_row *row = &m->rows[i];
		if (row->sets != 0 && !(row->sets & 1ULL << s))
			continue;
		add_to_list(m, p, list, i);
		for (unsigned k = 0; k < row->n_levels * 4u + 3; k++) {
			need_operand(all, m->operands[row->first + k]);
			if (k < row->n_levels)
				need_operand(hot, m->operands[row->first + k]);
		}
	}
}

/* For each set of samples: the rows that it can change and the steps they need. Lists are in the temporary arena. */
static void
make_lists(struct making *m, struct plan *p)
{
	struct binder *b = m->b;
	uint8_t *hot = bind_calloc(b, b->n_steps, 1), *all = bind_calloc(b, b->n_steps, 1);

	p->sets = bind_calloc(b, p->n_sets, sizeof(*p->sets));
	for (uint32_t s = 0; s < p->n_sets && b->err == HIWAT_OK; s++) {
		struct plan_set *set = &p->sets[s];
		memset(hot, 0, b->n_steps);
		memset(all, 0, b->n_steps);
		list_rows(m, p, s, hot, all);
		close_needed(b, all);
		/* A window that only explains must be fed all the same. */
		for (uint32_t i = 0; i < b->n_steps; i++)
			hot[i] = hot[i] || (all[i] && b->steps[i].op == NODE_WINDOW);
		close_needed(b, hot);
		set->hot.first = p->n_lists;
		for (uint32_t i = 0; i < b->n_steps; i++) {
			bool feeds = b->steps[i].op == NODE_WINDOW && b->step_sets[i] & 1ULL << s;
			if (hot[i])
				add_to_list(m, p, &set->hot, feeds ? i | PLAN_FEEDS : i);
		}
		set->reads = 1ULL << s;
		for (uint32_t i = 0; i < b->n_steps; i++)
			set->reads |= hot[i] || all[i] ? b->step_sets[i] : 0;
		for (uint32_t i = 0; i < set->rows.n && b->err == HIWAT_OK; i++) {
			const struct plan_row *row = &m->rows[p->lists[set->rows.first + i]];
			for (unsigned k = 0; k < row->n_levels * 4u + 3; k++)
				set->reads |= bind_sets(b, m->operands[row->first + k]);
		}
		set->cold.first = p->n_lists;
		for (uint32_t i = 0; i < b->n_steps; i++) {
			if (all[i] && !hot[i])
				add_to_list(m, p, &set->cold, i);
		}
	}
}

/* The label sets of all values: while the plan lives their numbers must not come to mean something else. */
static void
note_labels(struct making *m, struct plan *p)
{
	p->seen = m->b->load_labels;
	p->n_seen = m->b->n_loads;
}

static int
compare_windows(const void *x, const void *y)
{
	const struct plan_window *a = x, *b = y;

	return a->node != b->node ? (a->node > b->node) - (a->node < b->node)
				  : (a->labels > b->labels) - (a->labels < b->labels);
}

/* Copies an array out of the temporary arena behind the plan's head. */
static void *
take_array(char **at, const void *from, size_t n, size_t size)
{
	void *to = *at;

	if (n > 0)
		memcpy(to, from, n * size);
	*at += (n * size + 7) / 8 * 8;
	return to;
}

static size_t
array_bytes(size_t n, size_t size)
{
	return (n * size + 7) / 8 * 8;
}

size_t
plan_bytes(const struct plan *p)
{
	return sizeof(*p) + array_bytes(p->n_steps, sizeof(*p->steps)) + array_bytes(p->n_rows, sizeof(*p->rows)) +
	    array_bytes(p->n_windows, sizeof(*p->windows)) + array_bytes(p->n_operands, sizeof(*p->operands)) +
	    array_bytes(p->n_consts, sizeof(*p->consts)) + array_bytes(p->n_lists, sizeof(*p->lists)) +
	    array_bytes(p->n_sets, sizeof(*p->sets)) + array_bytes(p->n_seen, sizeof(*p->seen));
}

static struct plan *
take_plan(const struct making *m, const struct plan *draft)
{
	struct plan sized = *draft;

	sized.n_steps = m->b->n_steps;
	sized.n_rows = m->n_rows;
	sized.n_windows = m->b->n_windows;
	sized.n_operands = m->n_operands;
	sized.n_consts = m->b->n_consts;
	sized.window_bytes = m->b->window_at * 8;
	struct plan *p = malloc(plan_bytes(&sized));
	if (p == NULL)
		return NULL;
	*p = sized;
	char *at = (char *)(p + 1);
	p->rows = take_array(&at, m->rows, p->n_rows, sizeof(*p->rows));
	p->consts = take_array(&at, m->b->consts, p->n_consts, sizeof(*p->consts));
	p->sets = take_array(&at, draft->sets, p->n_sets, sizeof(*p->sets));
	p->steps = take_array(&at, m->b->steps, p->n_steps, sizeof(*p->steps));
	p->windows = take_array(&at, m->b->windows, p->n_windows, sizeof(*p->windows));
	p->operands = take_array(&at, m->operands, p->n_operands, sizeof(*p->operands));
	p->lists = take_array(&at, draft->lists, p->n_lists, sizeof(*p->lists));
	p->seen = take_array(&at, draft->seen, p->n_seen, sizeof(*p->seen));
	qsort(p->windows, p->n_windows, sizeof(*p->windows), compare_windows);
	return p;
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
	make_lists(&m, draft);
	note_labels(&m, draft);
	if (b.err == HIWAT_OK) {
		*out = take_plan(&m, draft);
		if (*out == NULL)
			b.err = HIWAT_E_NOMEM;
	}
	arena_fini(&arena);
	return b.err;
}

static uint64_t
hash_view(uint64_t h, const struct rule_set *set, const struct host_view *view, size_t n_sets)
{
	if (set->uses_fact[FACT_OS])
		h = hash_string(h, view->os);
	if (set->uses_fact[FACT_RELEASE])
		h = hash_string(h, view->release);
	if (set->uses_fact[FACT_HOST])
		h = hash_string(h, view->name);
	for (unsigned i = 0; set->uses_fact[FACT_LABEL] && i < view->n_host_labels; i++)
		h = hash_string(hash_string(h, view->host_labels[i].name), view->host_labels[i].value);
	for (size_t s = 0; s < n_sets; s++) {
		const struct sample_set *samples = &view->sets[s];
		h = hash_u64(h, samples->n_values);
		for (uint32_t i = 0; i < samples->n_values; i++)
			h = hash_u64(h,
			    (uint64_t)samples->series->series[i].metric << 32 | samples->series->series[i].labels);
	}
	return h;
}

int
plan_take(struct rule_set *set, const struct host_view *view, struct labels *labels, bool check, struct plan **out)
{
	size_t n_sets = view->n_sets < PLAN_SETS_MAX ? view->n_sets : PLAN_SETS_MAX;
	struct plan draft = { .owner = set,
		.users = 1,
		.n_sets = (uint32_t)n_sets,
		.key = { hash_view(check, set, view, n_sets), hash_view(HASH_SEED + check, set, view, n_sets) } };
	struct plan *p;

	struct plan **bucket = &set->plans[draft.key[0] % PLAN_BUCKETS];
	for (p = *bucket; p != NULL; p = p->next) {
		if (p->key[0] == draft.key[0] && p->key[1] == draft.key[1] && p->n_sets == draft.n_sets) {
			p->users++;
			*out = p;
			return HIWAT_OK;
		}
	}
	int err = plan_make(set, view, labels, check, &draft, &p);
	if (err != HIWAT_OK)
		return err;
	if (p->n_steps > set->n_values) {
		double *bigger = realloc(set->values, p->n_steps * sizeof(*bigger));
		if (bigger == NULL) {
			free(p);
			return HIWAT_E_NOMEM;
		}
		set->values = bigger;
		set->n_values = p->n_steps;
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
	free(p);
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

	return bsearch(&key, p->windows, p->n_windows, sizeof(*p->windows), compare_windows);
}
