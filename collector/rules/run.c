#include "run.h"

#include "state.h"
#include "value.h"

void
run_load(struct run *r, const struct host_view *view, uint64_t sets)
{
	const struct plan *p = r->plan;
	struct rule_set *owner = p->owner;

	r->numbers = owner->room.numbers;
	if (owner->room.plan != p && p->n_consts > 0)
		memcpy(r->numbers, p->consts, p->n_consts * sizeof(*p->consts));
	owner->room.plan = p;
	for (; sets != 0; sets &= sets - 1) {
		const struct plan_set *s = &p->sets[__builtin_ctzll(sets)];
		if (s->n_values > 0)
			memcpy(r->numbers + s->values, view->sets[s - p->sets].values, s->n_values * sizeof(double));
	}
}

void
run_windows(struct run *r, uint32_t set)
{
	const struct plan *p = r->plan;
	const struct plan_set *s = &p->sets[set];
	double *increases = p->owner->room.increases, *lasts = state_lasts(r->state);

	for (uint32_t i = s->inputs.first; i < s->inputs.first + s->inputs.n; i++)
		increases[i] = counter_increase(&lasts[i], r->numbers[p->inputs[i]]);
	for (uint32_t i = s->banks.first; i < s->banks.first + s->banks.n; i++) {
		const struct plan_bank *b = &p->banks[i];
		struct bank bank = state_bank(r->state, b);
		bank_push(b->shape, &bank, b->shape->counts ? increases : r->numbers, p->from + b->from, r->boot_seconds);
		bank.time = r->boot_seconds;
		bank_read(b->shape, &bank, 0, b->n, r->boot_seconds, r->numbers + b->out);
	}
	for (uint32_t i = s->others.first; i < s->others.first + s->others.n; i++) {
		const struct plan_read *read = &p->reads[i];
		const struct plan_bank *b = &p->banks[read->bank];
		const struct bank bank = state_bank(r->state, b);
		bank_read(b->shape, &bank, read->at, 1, r->boot_seconds, r->numbers + b->out + read->at);
	}
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

/* Windows by themselves. */
static void
run_alone(const struct run *r, const struct plan_group *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const struct plan_step *s = &r->plan->steps[g->first + i];
		const struct plan_alone *a = &r->plan->alone[s->b];
		struct window *w = state_alone(r->state, a);
		if (g->feeds && isfinite(r->numbers[s->a]))
			window_push(w, a->shape, r->numbers[s->a], r->boot_seconds, &r->start);
		r->numbers[s->out] = window_read(w, a->shape, r->boot_seconds);
	}
}

/* The same for each step; that the operation is known makes it a few instructions. */
#define EACH(expression) \
	for (; s < end; s++) { \
		const double a = numbers[s->a], b = numbers[s->b]; \
		(void)b; \
		numbers[s->out] = (expression); \
	} \
	break
#define COMPUTE(op) \
	case op: \
		EACH(value_compute(op, g->kind, a, b))

static void
run_group(const struct run *r, const struct plan_group *g)
{
	const struct plan_step *s = r->plan->steps + g->first, *end = s + g->n;
	double *numbers = r->numbers;

	switch (g->op) {
		COMPUTE(NODE_NEG);
		COMPUTE(NODE_ADD);
		COMPUTE(NODE_SUB);
		COMPUTE(NODE_MUL);
		COMPUTE(NODE_DIV);
		COMPUTE(NODE_MOD);
		COMPUTE(NODE_EQ);
		COMPUTE(NODE_NE);
		COMPUTE(NODE_LT);
		COMPUTE(NODE_LE);
		COMPUTE(NODE_GT);
		COMPUTE(NODE_GE);
		COMPUTE(NODE_AND);
		COMPUTE(NODE_OR);
		COMPUTE(NODE_UNLESS);
		COMPUTE(NODE_CALL);
	case NODE_WINDOW:
		run_alone(r, g);
		break;
	case NODE_TIME_TO:
		EACH(time_to(a, b));
	case NODE_AGE:
		EACH(isnan(a) ? a : r->wall_seconds - a);
	default:
		EACH(aggregate(g->op, a, b));
	}
}

void
run_steps(struct run *r, const struct plan_list *groups)
{
	for (uint32_t i = 0; i < groups->n; i++)
		run_group(r, &r->plan->groups[groups->first + i]);
}
