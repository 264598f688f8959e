/* The check command's judgement: one sample, no history, no `for`. */
#include "err.h"
#include "run.h"

/* `for` is ignored, but a condition that must hold this long says nothing without it. */
#define LONG_FOR_NS (86400 * 1000000000ULL)

struct checking {
	struct rule_set *set;
	const struct plan *plan;
	struct run run;
	uint64_t bad;
	void (*emit)(void *arg, const struct rule_event *event);
	void *arg;
	enum rule_level worst;
};

static double
check_value(const struct checking *c, const struct plan_row *row, unsigned k)
{
	double v = run_value(&c->run, c->plan->operands[row->first + k]);

	return isnan(v) ? NAN : v;
}

/* Judges one row; false when none of its levels can be judged. */
static bool
check_row(struct checking *c, const struct plan_row *row)
{
	const struct rule_full *r = &c->set->rules[row->rule];
	unsigned n = row->n_levels;
	bool judged = false;

	for (unsigned i = n; i-- > 0;) {
		const struct level *level = &r->levels[i];
		if (level->check->has_history || level->for_ns >= LONG_FOR_NS)
			continue;
		judged = true;
		if (isnan(check_value(c, row, i)))
			continue;
		enum rule_level l = level->level;
		/* Counted since boot: it happened, nobody knows when. */
		if (level->check != level->fire && l > RULE_LEVEL_WARNING)
			l = RULE_LEVEL_WARNING;
		struct rule_event e = { .rule = &r->pub,
			.labels = row->labels,
			.object = row->object,
			.status = RULE_FIRING,
			.level = l,
			.value = check_value(c, row, i),
			.threshold = check_value(c, row, 3 * n + i),
			.used = check_value(c, row, 4 * n),
			.limit = check_value(c, row, 4 * n + 1),
			.seconds_to_limit = NAN };
		c->emit(c->arg, &e);
		if (l > c->worst)
			c->worst = l;
		break;
	}
	return judged;
}

enum rule_level
rules_check(struct rule_set *set, const struct host_view *view, struct labels *labels,
    void (*emit)(void *arg, const struct rule_event *event), void (*not_judged)(void *arg, const struct rule *rule),
    void *arg, unsigned *judged)
{
	struct checking c = { .set = set, .emit = emit, .arg = arg };
	struct plan *p;

	*judged = 0;
	if (plan_take(set, view, labels, true, &p) != HIWAT_OK)
		return RULE_LEVEL_NONE;
	c.plan = p;
	c.run = (struct run){ .plan = p, .results = set->values };
	for (uint32_t s = 0; s < p->n_sets; s++) {
		c.run.loads[s] = view->sets[s].values;
		c.bad |= (uint64_t)(view->sets[s].verdict != VERDICT_OK) << s;
		if ((double)view->sets[s].wall_ns / 1e9 > c.run.wall_seconds)
			c.run.wall_seconds = (double)view->sets[s].wall_ns / 1e9;
	}
	for (uint32_t s = 0; s < p->n_sets; s++) {
		run_steps(&c.run, &p->sets[s].hot);
		run_steps(&c.run, &p->sets[s].cold);
	}
	for (uint32_t i = 0, end; i < p->n_rows; i = end) {
		bool any_judged = false, any_known = false;
		for (end = i; end < p->n_rows && p->rows[end].rule == p->rows[i].rule; end++) {
			if (p->rows[end].sets & c.bad)
				continue;
			any_known = true;
			any_judged = check_row(&c, &p->rows[end]) || any_judged;
		}
		*judged += any_judged;
		if (any_known && !any_judged && not_judged != NULL)
			not_judged(arg, &set->rules[p->rows[i].rule].pub);
	}
	plan_release(p);
	return c.worst;
}
