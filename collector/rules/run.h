/* Running a plan over a host's values. */
#ifndef HIWAT_COLLECTOR_RUN_H
#define HIWAT_COLLECTOR_RUN_H

#include "plan.h"
#include "bank.h"

struct rule_state;

struct run {
	const struct plan *plan;
	double *numbers; /* see plan.h; room of the rule set */
	const struct rule_state *state;
	double boot_seconds, wall_seconds;
	struct window_start start;
};

/* Puts the plan's constants and the values of these sets into the array of numbers. */
void run_load(struct run *r, const struct host_view *view, uint64_t sets);
/* A good record of the set: its windows take their samples and are read, and those of others that its rows need. */
void run_windows(struct run *r, uint32_t set);
/* Does the steps of a list of groups. */
void run_steps(struct run *r, const struct plan_list *groups);

#endif
