/* The check command's judgement: one sample, no history, no `for`. */
#include "catalogue.h"
#include "err.h"
#include "run.h"

struct checking {
	struct rule_set *set;
	const struct plan *plan;
	struct run run;
	uint64_t bad;
	const struct rule_check *out;
	enum rule_level worst;
};

/* What one row of a rule came to. */
struct outcome {
	bool fires, judged, open;
	unsigned level;           /* that fires, or that is open */
	enum rule_gap_reason why; /* of open */
	double counted;
};

static double
operand_value(const struct checking *c, const struct plan_row *row, unsigned k)
{
	return c->run.numbers[c->plan->operands[row->first + k]];
}

/* A condition that has no values here, or never holds on such a host. */
static bool
is_nothing(const struct checking *c, const struct plan_row *row, unsigned k)
{
	return c->plan->operands[row->first + k] < c->plan->n_consts && value_is_false(operand_value(c, row, k));
}

static struct rule_event
event_of(const struct checking *c, const struct plan_row *row, unsigned i, enum rule_level level)
{
	unsigned n = row->n_levels;

	return (struct rule_event){ .rule = &c->set->rules[row->rule].pub,
		.labels = row->labels,
		.object = row->object,
		.status = RULE_FIRING,
		.level = level,
		.threshold = operand_value(c, row, 3 * n + i),
		.used = operand_value(c, row, 4 * n),
		.limit = operand_value(c, row, 4 * n + 1),
		.seconds_to_limit = NAN };
}

static void
fire(struct checking *c, const struct plan_row *row, unsigned i)
{
	const struct level *level = &c->set->rules[row->rule].levels[i];
	enum rule_level l = level->level;

	/* Counted since boot: it happened, nobody knows when. */
	bool is_since_boot = level->wait == NULL && level->check != level->fire && !level->is_peak;
	if (is_since_boot && l > RULE_LEVEL_WARNING)
		l = RULE_LEVEL_WARNING;
	struct rule_event e = event_of(c, row, i, l);
	e.value = operand_value(c, row, i);
	c->out->found(c->out->arg, &e, is_since_boot);
	if (l > c->worst)
		c->worst = l;
}

static enum rule_gap_reason
reason_of(const struct level *level)
{
	if (level->fire->has_history)
		return RULE_GAP_HISTORY;
	return level->check == NULL ? RULE_GAP_DURATION : RULE_GAP_CLOCK;
}

/* Judges one row, the worst level first. */
static struct outcome
check_row(const struct checking *c, const struct plan_row *row)
{
	const struct rule_full *r = &c->set->rules[row->rule];
	struct outcome o = { .counted = NAN };

	for (unsigned i = row->n_levels; i-- > 0;) {
		double now = operand_value(c, row, i), later = operand_value(c, row, row->n_levels + i);
		if (!isnan(now))
			return (struct outcome){ .fires = true, .judged = true, .level = i };
		bool has_values = !is_nothing(c, row, i), may_hold = !value_is_false(later) || r->levels[i].is_peak;
		/* It does not hold, and nothing that time could tell would make it hold. */
		if (has_values && value_is_false(now) && !may_hold) {
			o.judged = true;
			continue;
		}
		/* The worst level that counted something speaks, else the lowest. */
		if ((has_values || !is_nothing(c, row, row->n_levels + i)) && isnan(o.counted)) {
			o.open = true;
			o.level = i;
			o.why = reason_of(&r->levels[i]);
			o.counted = later;
		}
	}
	return o;
}

static bool
is_there(const struct host_view *view, const struct node *n)
{
	for (size_t s = 0; s < view->n_sets; s++) {
		for (uint32_t i = 0; i < view->sets[s].n_values; i++) {
			const struct series_value v = sample_value(&view->sets[s], i);
			bool matches = v.metric == n->metric;
			for (unsigned m = 0; matches && m < n->n_matchers; m++) {
				const char *value = labels_value(view->labels, v.labels, n->matchers[m].label);
				matches = n->matchers[m].kind != MATCH_EQ ||
				    strcmp(value != NULL ? value : "", n->matchers[m].value) == 0;
			}
			if (matches)
				return true;
		}
	}
	return false;
}

static void
add_missing(struct rule_gap *gap, const struct node *n)
{
	struct rule_series missing = { .metric = catalogue_metrics[n->metric].name };

	for (unsigned i = 0; i < n->n_matchers && missing.label == NULL; i++) {
		if (n->matchers[i].kind == MATCH_EQ && n->matchers[i].value[0] != '\0') {
			missing.label = n->matchers[i].label;
			missing.value = n->matchers[i].value;
		}
	}
	for (unsigned i = 0; i < gap->n_missing; i++) {
		/* Names are the catalogue's own; a value that is written twice may be there twice. */
		if (gap->missing[i].metric == missing.metric &&
		    strcmp(missing.value != NULL ? missing.value : "",
			gap->missing[i].value != NULL ? gap->missing[i].value : "") == 0)
			return;
	}
	if (gap->n_missing < RULE_GAP_MISSING)
		gap->missing[gap->n_missing++] = missing;
}

/* Which series the expression reads that are not there. True when it could have a value all the same. */
static bool
look_for(const struct host_view *view, const struct node *n, struct rule_gap *gap, bool *any)
{
	unsigned before = gap->n_missing;

	if (n->op == NODE_TEXT)
		return false; /* for hosts of another kind, as far as one sample can tell */
	if (n->op == NODE_SERIES) {
		bool found = is_there(view, n);
		*any = *any || found;
		if (!found)
			add_missing(gap, n);
		return found;
	}
	bool a = n->a == NULL || look_for(view, n->a, gap, any);
	bool b = n->b == NULL || n->op == NODE_UNLESS || look_for(view, n->b, gap, any);
	if (n->op != NODE_OR)
		return a && b;
	if (a || b)
		gap->n_missing = before;
	return a || b;
}

static bool
is_for_some(const struct node *n)
{
	return n != NULL && (n->op == NODE_TEXT || is_for_some(n->a) || is_for_some(n->b));
}

/* A rule without a row: is a part of what it reads there? patient: also where a sample would not do. */
static bool
report_missing(const struct checking *c, const struct host_view *view, uint32_t rule, bool patient)
{
	const struct rule_full *r = &c->set->rules[rule];

	for (unsigned i = r->n_levels; i-- > 0 && !override_is_off(c->set, view, rule);) {
		struct rule_gap gap = { .why = RULE_GAP_SERIES, .event = { .rule = &r->pub, .value = NAN } };
		bool any = false;
		const struct node *n = patient ? r->levels[i].fire : r->levels[i].check;
		if (n == NULL || is_for_some(n))
			continue;
		look_for(view, n, &gap, &any);
		if (any && gap.n_missing > 0) {
			gap.takes_history = n->has_history;
			c->out->left(c->out->arg, &gap);
			return true;
		}
	}
	return false;
}

static void
report_open(const struct checking *c, const struct plan_row *row, const struct outcome *o, bool judged)
{
	const struct level *level = &c->set->rules[row->rule].levels[o->level];
	struct rule_gap gap = { .why = o->why,
		.is_judged_else = judged,
		.for_ns = level->for_ns,
		.event = event_of(c, row, o->level, level->level) };

	gap.event.status = RULE_UNKNOWN;
	gap.event.value = o->counted;
	c->out->left(c->out->arg, &gap);
}

/* The rows of one rule. Of what stays open all that was counted is told, else one row for the rule. */
static bool
check_rule(struct checking *c, uint32_t first, uint32_t end, bool *is_any_open)
{
	const struct plan_row *rows = c->plan->rows;
	uint32_t one = end, n_counted = 0;
	bool judged = false;

	for (uint32_t i = first; i < end; i++) {
		struct outcome o = check_row(c, &rows[i]);
		if (rows[i].sets & c->bad)
			continue;
		if (o.fires)
			fire(c, &rows[i], o.level);
		judged = judged || o.judged;
		n_counted += o.open && !isnan(o.counted);
		one = o.open && one == end ? i : one;
	}
	for (uint32_t i = first; i < end; i++) {
		struct outcome o = check_row(c, &rows[i]);
		if (!(rows[i].sets & c->bad) && o.open && (n_counted > 0 ? !isnan(o.counted) : i == one))
			report_open(c, &rows[i], &o, judged);
	}
	*is_any_open = *is_any_open || one != end;
	return judged;
}

enum rule_level
rules_check(struct rule_set *set, const struct host_view *view, struct labels *labels, const struct rule_check *out,
    unsigned *judged)
{
	struct checking c = { .set = set, .out = out };
	bool is_any_open = false;
	struct plan *p;

	*judged = 0;
	if (plan_take(set, view, labels, true, &p) != HIWAT_OK)
		return RULE_LEVEL_NONE;
	c.plan = p;
	c.run = (struct run){ .plan = p, .wall_seconds = NAN };
	run_load(&c.run, view, p->n_sets < 64 ? (1ULL << p->n_sets) - 1 : UINT64_MAX);
	for (uint32_t s = 0; s < p->n_sets; s++) {
		c.bad |= (uint64_t)(view->sets[s].verdict != VERDICT_OK) << s;
		double wall = (double)view->sets[s].wall_ns / 1e9;
		if (wall > 0 && !(wall < c.run.wall_seconds))
			c.run.wall_seconds = wall;
	}
	for (uint32_t s = 0; s < p->n_sets; s++) {
		run_steps(&c.run, &p->sets[s].hot);
		run_steps(&c.run, &p->sets[s].cold);
	}
	for (uint32_t rule = 0, i = 0; rule < set->n_rules; rule++) {
		uint32_t first = i;
		while (i < p->n_rows && p->rows[i].rule == rule)
			i++;
		if (i > first)
			*judged += check_rule(&c, first, i, &is_any_open);
		else
			is_any_open = report_missing(&c, view, rule, false) || is_any_open;
	}
	/* Rather than nothing at all: what would take both more time and more values. */
	for (uint32_t rule = 0; rule < set->n_rules && *judged == 0 && !is_any_open; rule++)
		report_missing(&c, view, rule, true);
	plan_release(p);
	return c.worst;
}
