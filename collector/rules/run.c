#include "run.h"

#include "value.h"

static double
run_window(struct run *r, const struct step *s, bool feeds)
{
	struct window *w = (struct window *)(void *)(r->windows + s->b);
	const struct window_shape *shape = r->plan->owner->nodes.nodes[s->node]->shape;

	if (feeds) {
		double v = run_value(r, s->a);
		if (isfinite(v))
			window_push(w, shape, v, r->boot_seconds, &r->start);
	}
	return window_read(w, shape, r->boot_seconds);
}

/* Seconds until the way is covered at this speed; FALSE when it leads elsewhere. */
static double
time_to(double way, double speed)
{
	if (isnan(way) || isnan(speed))
		return value_of_nan(way, speed);
	if (way == 0)
		return 0;
	double t = speed != 0 ? way / speed : -1;
	return t >= 0 && isfinite(t) ? t : value_false();
}

/* One more row of an aggregate: what is FALSE does not count, what is UNKNOWN makes the whole unknown. */
static double
aggregate(unsigned op, double sum, double v)
{
	if (op == STEP_COUNT)
		return value_is_false(v) ? sum : isnan(v) ? NAN : sum + 1;
	if (value_is_false(v))
		return sum;
	if (value_is_false(sum))
		return v;
	if (isnan(sum) || isnan(v))
		return NAN;
	if (op == STEP_SUM)
		return sum + v;
	return (op == STEP_MOST) == (v > sum) ? v : sum;
}

void
run_steps(struct run *r, const struct plan_list *list)
{
	const uint32_t *entries = r->plan->lists + list->first;

	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t index = entries[i] & ~PLAN_FEEDS;
		const struct step *s = &r->plan->steps[index];
		double a, b, v;

		if (s->op == NODE_WINDOW) {
			r->results[index] = run_window(r, s, entries[i] & PLAN_FEEDS);
			continue;
		}
		a = run_value(r, s->a);
		b = run_value(r, s->b);
		switch (s->op) {
		case NODE_TIME_TO:
			v = time_to(a, b);
			break;
		case NODE_AGE:
			v = isnan(a) ? a : r->wall_seconds - a;
			break;
		case STEP_SUM:
		case STEP_MOST:
		case STEP_LEAST:
		case STEP_COUNT:
			v = aggregate(s->op, a, b);
			break;
		default:
			v = value_compute(s->op, s->kind, a, b);
		}
		r->results[index] = v;
	}
}
