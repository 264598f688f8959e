#include "state.h"

#include <stdlib.h>

#include "err.h"
#include "hash.h"

struct rule_state *
rule_state_new(void)
{
	return calloc(1, sizeof(struct rule_state));
}

void
state_forget_kept(struct rule_state *st)
{
	for (uint32_t i = 0; i < st->n_kept; i++)
		free(st->kept[i].window);
	free(st->kept);
	st->kept = NULL;
	st->n_kept = st->kept_capacity = 0;
}

void
rule_state_free(struct rule_state *st)
{
	if (st == NULL)
		return;
	plan_release(st->plan);
	state_forget_kept(st);
	free(st->windows);
	free(st->row_live);
	free(st->live);
	free(st->sets);
	free(st);
}

size_t
rule_state_bytes(const struct rule_state *st)
{
	size_t n = sizeof(*st) + st->live_capacity * sizeof(*st->live) + st->n_sets * sizeof(*st->sets) +
	    st->kept_capacity * sizeof(*st->kept);

	if (st->plan != NULL)
		n += st->plan->state_bytes;
	if (st->row_live != NULL)
		n += st->plan->n_rows * sizeof(*st->row_live);
	for (uint32_t i = 0; i < st->n_kept; i++) {
		const struct node *node = st->set->nodes.nodes[st->kept[i].node];
		n += node->shape->size;
	}
	return n;
}

void
rule_state_reboot(struct rule_state *st)
{
	state_reboot_windows(st);
	for (uint32_t i = st->n_live; i-- > 0;) {
		struct live *l = &st->live[i];
		memset(l->true_ns, 0, sizeof(l->true_ns));
		memset(l->false_ns, 0, sizeof(l->false_ns));
		if (l->on == 0)
			state_remove_live(st, l);
	}
	for (uint32_t i = 0; i < st->n_sets; i++) {
		st->sets[i].delivered = st->sets[i].good_ns != 0;
		st->sets[i].last_ns = st->sets[i].good_ns = 0;
	}
}

void
rule_state_mark(const struct rule_state *st, struct labels *labels)
{
	const struct plan *p = st->plan;

	if (p != NULL)
		plan_mark(p, labels);
	for (uint32_t i = 0; i < st->n_live; i++) {
		labels_mark(labels, st->live[i].labels);
		labels_mark(labels, st->live[i].object);
	}
	for (uint32_t i = 0; i < st->n_kept; i++)
		labels_mark(labels, st->kept[i].labels);
}

/* Of what is gone somebody has been told; when there is no more room it is forgotten first. */
static void
evict_gone(struct rule_state *st)
{
	for (uint32_t i = 0; i < st->n_live; i++) {
		if (st->live[i].is_gone && st->live[i].row == NO_ROW) {
			state_remove_live(st, &st->live[i]);
			return;
		}
	}
}

struct live *
state_add_orphan(struct rule_state *st)
{
	if (st->n_live == STATE_LIVE_MAX)
		evict_gone(st);
	if (st->n_live == st->live_capacity) {
		uint32_t capacity = st->live_capacity == 0 ? 4 : st->live_capacity * 2;
		if (capacity > STATE_LIVE_MAX)
			capacity = STATE_LIVE_MAX;
		struct live *bigger = st->n_live < STATE_LIVE_MAX ? realloc(st->live, capacity * sizeof(*bigger)) : NULL;
		if (bigger == NULL)
			return NULL;
		st->live = bigger;
		st->live_capacity = capacity;
	}
	struct live *l = &st->live[st->n_live++];
	*l = (struct live){ .row = NO_ROW, .value = NAN, .threshold = NAN, .used = NAN, .limit = NAN, .eta = NAN };
	return l;
}

struct live *
state_add_live(struct rule_state *st, uint32_t row)
{
	const struct plan_row *r = &st->plan->rows[row];
	struct live *l = state_add_orphan(st);

	if (l == NULL)
		return NULL;
	l->row = row;
	l->labels = r->labels;
	l->object = r->object;
	l->rule = r->rule;
	if (st->row_live == NULL)
		st->row_live = calloc(st->plan->n_rows, sizeof(*st->row_live));
	if (st->row_live == NULL) {
		st->n_live--;
		return NULL;
	}
	st->row_live[row] = (uint16_t)st->n_live;
	for (uint32_t s = 0; s < st->n_sets && s < PLAN_SETS_MAX; s++) {
		if (r->sets & 1ULL << s) {
			l->source = st->sets[s].name_hash;
			break;
		}
	}
	return l;
}

void
state_remove_live(struct rule_state *st, struct live *l)
{
	struct live *last = &st->live[st->n_live - 1];

	if (l->row != NO_ROW)
		st->row_live[l->row] = 0;
	if (l != last) {
		*l = *last;
		if (l->row != NO_ROW)
			st->row_live[l->row] = (uint16_t)(l - st->live + 1);
	}
	st->n_live--;
	/* After a bad time give the memory back. */
	if (st->n_live == 0) {
		free(st->live);
		free(st->row_live);
		st->live = NULL;
		st->row_live = NULL;
		st->live_capacity = 0;
	}
}

int
state_keep(struct rule_state *st, uint32_t node, uint32_t labels, uint64_t since_ns, struct window *w)
{
	if (st->n_kept == st->kept_capacity) {
		uint32_t capacity = st->kept_capacity == 0 ? 8 : st->kept_capacity * 2;
		struct kept *bigger = capacity <= STATE_KEPT_MAX ? realloc(st->kept, capacity * sizeof(*bigger)) : NULL;
		if (bigger == NULL) {
			free(w);
			return HIWAT_E_NOMEM;
		}
		st->kept = bigger;
		st->kept_capacity = capacity;
	}
	st->kept[st->n_kept++] = (struct kept){ node, labels, since_ns, w };
	return HIWAT_OK;
}

int
state_unbind(struct rule_state *st, uint64_t now_ns)
{
	int err = HIWAT_OK;

	for (uint32_t i = 0; st->plan != NULL && i < st->plan->n_windows; i++) {
		if (state_keep_window(st, &st->plan->windows[i], now_ns) != HIWAT_OK)
			err = HIWAT_E_NOMEM;
	}
	for (uint32_t i = 0; i < st->n_live; i++)
		st->live[i].row = NO_ROW;
	plan_release(st->plan);
	free(st->windows);
	free(st->row_live);
	st->plan = NULL;
	st->windows = NULL;
	st->row_live = NULL;
	return err;
}

static int
size_sets(struct rule_state *st, const struct host_view *view)
{
	if (view->n_sets > st->n_sets) {
		struct state_set *bigger = realloc(st->sets, view->n_sets * sizeof(*bigger));
		if (bigger == NULL)
			return HIWAT_E_NOMEM;
		memset(bigger + st->n_sets, 0, (view->n_sets - st->n_sets) * sizeof(*bigger));
		st->sets = bigger;
		st->n_sets = (uint32_t)view->n_sets;
	}
	for (size_t i = 0; i < view->n_sets; i++) {
		struct state_set *s = &st->sets[i];
		uint64_t hash = hash_string(HASH_SEED, view->sets[i].sampler);
		/* After loading, and when the host's sets were made anew, a set is known by its name alone. */
		for (size_t j = i; s->name_hash != hash && j < st->n_sets; j++) {
			if (st->sets[j].name_hash == hash || st->sets[j].name_hash == 0) {
				struct state_set other = st->sets[j];
				st->sets[j] = *s;
				*s = other;
			}
		}
		if (s->name_hash != hash)
			*s = (struct state_set){ .name_hash = hash };
		s->sampler = view->sets[i].sampler;
		s->shape = view->sets[i].shape;
	}
	return HIWAT_OK;
}

static bool
sets_are_where_they_were(const struct rule_state *st, const struct host_view *view)
{
	for (size_t i = 0; i < st->n_sets && i < view->n_sets; i++) {
		if (st->sets[i].name_hash != hash_string(HASH_SEED, view->sets[i].sampler))
			return false;
	}
	return st->n_sets <= view->n_sets;
}

int
state_bind(struct rule_state *st, struct rule_set *set, const struct host_view *view, struct labels *labels, size_t updated,
    uint64_t now_ns)
{
	struct plan *p;

	/* The plan knows samplers by their place. */
	if (st->plan != NULL && !sets_are_where_they_were(st, view))
		state_unbind(st, now_ns);
	int err = plan_take(set, view, labels, false, &p);

	if (err != HIWAT_OK)
		return err;
	uint64_t *windows = calloc(1, p->state_bytes > 0 ? p->state_bytes : 8);
	uint16_t *row_live = st->n_live > 0 ? calloc(p->n_rows + 1, sizeof(*row_live)) : NULL;
	if (windows == NULL || (st->n_live > 0 && row_live == NULL) || size_sets(st, view) != HIWAT_OK) {
		free(windows);
		free(row_live);
		plan_release(p);
		return HIWAT_E_NOMEM;
	}
	st->set = set;
	state_move_windows(st, p, windows, view, updated, now_ns);
	plan_release(st->plan);
	free(st->windows);
	free(st->row_live);
	st->plan = p;
	st->windows = windows;
	st->row_live = row_live;
	st->os = view->os;
	st->release = view->release;
	st->name = view->name;
	st->host_labels = view->host_labels;
	for (uint32_t i = 0; i < st->n_live; i++) {
		struct live *l = &st->live[i];
		l->row = plan_find_row(p, l->rule, l->labels);
		if (l->row == NO_ROW)
			continue;
		l->object = p->rows[l->row].object;
		row_live[l->row] = (uint16_t)(i + 1);
	}
	return HIWAT_OK;
}

bool
live_is_over(const struct live *l)
{
	bool is_over = l->on == 0;

	for (unsigned i = 0; i < RULE_LEVELS; i++)
		is_over = is_over && l->true_ns[i] == 0;
	return is_over;
}

int
live_level(const struct live *l)
{
	for (int i = RULE_LEVELS - 1; i >= 0; i--) {
		if (l->on & 1u << i)
			return i;
	}
	return -1;
}

void
live_describe(const struct rule_set *set, const struct live *l, struct rule_event *e)
{
	const struct rule_full *r = &set->rules[l->rule];
	int level = live_level(l);

	*e = (struct rule_event){
		.rule = &r->pub,
		.labels = l->labels,
		.object = l->object,
		.status = level >= 0 ? RULE_FIRING : RULE_PENDING,
		.level = level >= 0 ? r->levels[level].level : RULE_LEVEL_NONE,
		.value = l->value,
		.threshold = l->threshold,
		.used = l->used,
		.limit = l->limit,
		.seconds_to_limit = l->eta,
		.gone = l->is_gone,
	};
	for (int i = RULE_LEVELS - 1; i >= 0 && e->since_boot_ns == 0; i--) {
		if (level < 0 || i == level)
			e->since_boot_ns = l->true_ns[i];
	}
}
