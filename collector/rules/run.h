/* Running the steps of a plan over a host's values. */
#ifndef HIWAT_COLLECTOR_RUN_H
#define HIWAT_COLLECTOR_RUN_H

#include "plan.h"
#include "window.h"

struct run {
	const struct plan *plan;
	double *results;   /* of steps */
	uint64_t *windows; /* of the host; NULL: the plan has none */
	double boot_seconds, wall_seconds;
	struct window_start start;
	const double *loads[PLAN_SETS_MAX];
};

/* Does the steps of a list. */
void run_steps(struct run *r, const struct plan_list *list);

static inline double
run_value(const struct run *r, operand o)
{
	switch (o >> OPERAND_SHIFT) {
	case OPERAND_STEP:
		return r->results[o];
	case OPERAND_LOAD:
		return r->loads[o >> OPERAND_SET_SHIFT & (PLAN_SETS_MAX - 1)][o & OPERAND_INDEX];
	default:
		return r->plan->consts[o & OPERAND_INDEX];
	}
}

#endif
