/* The windows of a host: where they stand, and what becomes of them when the plan changes. */
#include <stdlib.h>

#include "err.h"
#include "state.h"

/* A window's bank as the state has it, or as a new plan's windows will. */
static struct bank
bank_in(const struct rule_state *st, uint64_t *windows, const struct plan_bank *b)
{
	return (struct bank){ (float *)(void *)(windows + b->cells), b->n, (double)st->sets[b->set].good_ns / 1e9 };
}

static const struct window_shape *
shape_of(const struct rule_state *st, uint32_t node)
{
	return st->set->nodes.nodes[node]->shape;
}

/* Place of the counter's last value, NULL for a gauge. */
static double *
last_of(const struct plan *p, uint64_t *windows, const struct plan_window *pw)
{
	const struct plan_bank *b = &p->banks[pw->bank];

	return b->shape->counts ? (double *)(void *)windows + p->from[b->from + pw->at] : NULL;
}

void
state_get_window(const struct rule_state *st, const struct plan_window *pw, struct window *w)
{
	const struct plan *p = st->plan;

	if (pw->bank == PLAN_ALONE) {
		const struct plan_alone *a = &p->alone[pw->at];
		memcpy(w, state_alone(st, a), a->shape->size);
		return;
	}
	const struct plan_bank *b = &p->banks[pw->bank];
	const double *last = last_of(p, st->windows, pw);
	struct bank bank = state_bank(st, b);
	window_init(w, b->shape);
	w->last = last != NULL ? *last : 0;
	w->time = bank.time;
	bank_get(b->shape, &bank, pw->at, w);
}

void
state_reboot_windows(struct rule_state *st)
{
	const struct plan *p = st->plan;
	union any_window any;

	for (uint32_t i = 0; p != NULL && i < p->n_alone; i++)
		window_reboot(state_alone(st, &p->alone[i]), p->alone[i].shape);
	for (uint32_t i = 0; p != NULL && i < p->n_banks; i++) {
		const struct plan_bank *b = &p->banks[i];
		struct bank bank = state_bank(st, b);
		for (uint32_t k = 0; k < b->n; k++) {
			any.w.last = b->shape->counts ? state_lasts(st)[p->from[b->from + k]] : NAN;
			window_reboot(&any.w, b->shape);
			bank_set(b->shape, &bank, k, &any.w);
		}
	}
	for (uint32_t i = 0; p != NULL && i < p->n_inputs; i++) {
		double *last = &state_lasts(st)[i];
		*last = isnan(*last) || *last < 0 ? *last : -1 - *last;
	}
	for (uint32_t i = 0; i < st->n_kept; i++) {
		window_reboot(st->kept[i].window, shape_of(st, st->kept[i].node));
		st->kept[i].since_ns = 0;
	}
}

int
state_keep_window(struct rule_state *st, const struct plan_window *pw, uint64_t now_ns)
{
	struct window *w = malloc(shape_of(st, pw->node)->size);

	if (w == NULL)
		return HIWAT_E_NOMEM;
	state_get_window(st, pw, w);
	return state_keep(st, pw->node, pw->labels, now_ns, w);
}

struct move {
	struct rule_state *st;
	const struct plan *to;
	uint64_t *windows;
	const struct host_view *view;
	size_t updated;
	double now;
};

/* Puts a window that was there before into its place. */
static void
put_window(const struct move *m, const struct plan_window *pw, struct window *w)
{
	if (pw->bank == PLAN_ALONE) {
		const struct plan_alone *a = &m->to->alone[pw->at];
		memcpy(m->windows + a->at, w, a->shape->size);
		return;
	}
	const struct plan_bank *b = &m->to->banks[pw->bank];
	const struct bank bank = bank_in(m->st, m->windows, b);
	double *last = last_of(m->to, m->windows, pw);
	/* One that was away while others of its sampler had samples joins them where they are. */
	if (b->set == m->updated) {
		uint32_t from = m->to->from[b->from + pw->at];
		uint32_t load = (last != NULL ? m->to->inputs[from] : from) - m->to->sets[b->set].values;
		window_catch_up(w, b->shape, bank.time, m->view->sets[b->set].values[load], m->now);
	}
	bank_set(b->shape, &bank, pw->at, w);
	if (last != NULL)
		*last = w->last;
}

/* Did the sampler deliver this series in the record before? */
static bool
was_there(const struct move *m, const struct plan_bank *b, uint32_t labels, int metric)
{
	const struct plan *old = m->st->plan;

	if (old == NULL || b->set >= old->n_sets)
		return false;
	const struct plan_set *set = &old->sets[b->set];
	for (uint32_t i = 0; i < set->n_values; i++) {
		if (set->series->series[i].labels == labels && set->series->series[i].metric == metric)
			return true;
	}
	return false;
}

/* A window without a past; of a series that is new as well, a counter began at 0 when its sampler last spoke. */
static void
begin_window(const struct move *m, const struct plan_window *pw)
{
	union any_window any;

	if (pw->bank == PLAN_ALONE) {
		const struct plan_alone *a = &m->to->alone[pw->at];
		window_init((struct window *)(void *)(m->windows + a->at), a->shape);
		return;
	}
	const struct plan_bank *b = &m->to->banks[pw->bank];
	const struct bank bank = bank_in(m->st, m->windows, b);
	double *last = last_of(m->to, m->windows, pw);
	const struct node *n = m->st->set->nodes.nodes[pw->node];
	window_init(&any.w, b->shape);
	if (last != NULL && isnan(*last) && b->set == m->updated && m->st->sets[b->set].delivered &&
	    !was_there(m, b, pw->labels, n->a->metric))
		*last = 0;
	if (last != NULL && !isnan(*last)) {
		double before = *last;
		window_begin_at_zero(&any.w, b->shape, bank.time);
		*last = before;
	}
	bank_set(b->shape, &bank, pw->at, &any.w);
}

void
state_move_windows(struct rule_state *st, const struct plan *p, uint64_t *windows, const struct host_view *view,
    size_t updated, uint64_t now_ns)
{
	struct move m = { st, p, windows, view, updated, (double)now_ns / 1e9 };
	uint8_t *moved = calloc(p->n_windows + 1, 1);
	union any_window any;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_inputs; i++)
		((double *)(void *)windows)[i] = NAN;
	for (uint32_t i = 0; st->plan != NULL && i < st->plan->n_windows; i++) {
		const struct plan_window *old = &st->plan->windows[i];
		const struct plan_window *new = plan_find_window(p, old->node, old->labels);
		if (new == NULL || moved == NULL) {
			state_keep_window(st, old, now_ns);
			continue;
		}
		state_get_window(st, old, &any.w);
		put_window(&m, new, &any.w);
		moved[new - p->windows] = 1;
	}
	for (uint32_t i = 0; i < st->n_kept; i++) {
		struct kept *k = &st->kept[i];
		const struct plan_window *new = moved != NULL ? plan_find_window(p, k->node, k->labels) : NULL;
		if (new != NULL && !moved[new - p->windows]) {
			put_window(&m, new, k->window);
			moved[new - p->windows] = 1;
		}
		if (new != NULL || (now_ns > k->since_ns && now_ns - k->since_ns > STATE_KEPT_NS))
			free(k->window);
		else
			st->kept[n++] = *k;
	}
	st->n_kept = n;
	if (n == 0)
		state_forget_kept(st);
	for (uint32_t i = 0; i < p->n_windows; i++) {
		if (moved == NULL || !moved[i])
			begin_window(&m, &p->windows[i]);
	}
	free(moved);
}
