/* One host: at each time the records that the case gives, then the rules; what they say is held against the case. */
#include "case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "runner.h"
#include "scan.h"

#define BOOT_SECONDS 1000.0 /* uptime at the first record */
#define REBOOT_SECONDS 20.0 /* uptime at the first record after a boot */
#define BOUNDARY 0.05
#define STATE_MAX (1u << 24)

static uint64_t
wall_ns(const struct runner *u, double at)
{
	return (uint64_t)((u->c->clock + at) * 1e9);
}

static void
keep_told(struct runner *u)
{
	for (unsigned i = 0; i < u->host.n_events; i++) {
		const struct rule_event *e = &u->host.events[i];
		unsigned at = 0;
		while (at < u->n_told && (strcmp(u->told[at].rule, e->rule->id) != 0 || u->told[at].labels != e->labels))
			at++;
		if (e->status == RULE_OK && at < u->n_told)
			u->told[at] = u->told[--u->n_told];
		else if (e->status != RULE_OK && at < RULE_HOST_EVENTS)
			u->told[at] = (struct told){ e->rule->id, e->labels, e->status, e->level, e->gone };
		if (e->status != RULE_OK && at == u->n_told)
			u->n_told++;
	}
}

struct compare {
	struct runner *u;
	unsigned seen;
	const char *why;
};

static void
compare_told(void *arg, const struct rule_event *e)
{
	struct compare *c = arg;

	c->seen++;
	for (unsigned i = 0; i < c->u->n_told; i++) {
		const struct told *t = &c->u->told[i];
		if (strcmp(t->rule, e->rule->id) != 0 || t->labels != e->labels)
			continue;
		if (t->status != e->status || t->level != e->level || t->gone != e->gone)
			c->why = e->rule->id;
		return;
	}
	c->why = e->rule->id;
}

/* Events are what incidents are made of, rules_each() is what the API shows: they must always tell the same. */
static void
check_told(struct runner *u, double at)
{
	struct compare c = { .u = u };
	char what[80];

	rules_each(u->rules, u->host.state, compare_told, &c);
	if (c.why == NULL && c.seen == u->n_told)
		return;
	snprintf(what, sizeof(what), "events and state at %gs", at);
	case_fail(u->r, u->c->node, what, "the same", c.why != NULL ? c.why : "another number of them");
}

static void
make_incidents(struct runner *u, double at)
{
	struct alert_host host = {
		.uuid = { 1 },
		.view = &u->host.view,
		.wall_ns = wall_ns(u, at),
		.boot_wall_ns = wall_ns(u, u->boot_at),
	};

	for (unsigned i = 0; u->has_tally && i < u->host.n_events; i++) {
		if (alerts_event(u->tally.alerts, &host, &u->host.events[i]) != HIWAT_OK)
			case_fail(u->r, u->c->node, "incidents", "an event taken", u->host.events[i].rule->id);
	}
}

static void
save_and_load(struct runner *u)
{
	struct rule_host *h = &u->host;
	struct buf b, again;

	buf_init(&b, STATE_MAX);
	buf_init(&again, STATE_MAX);
	int err = rule_state_save(u->rules, h->state, h->labels, &b);
	rule_state_free(h->state);
	h->state = rule_state_new();
	if (err == HIWAT_OK)
		err = rule_state_load(u->rules, h->state, h->labels, buf_str(&b), b.len);
	if (err == HIWAT_OK)
		err = rule_state_save(u->rules, h->state, h->labels, &again);
	if (err != HIWAT_OK || again.len != b.len)
		case_fail(u->r, u->c->node, "state saved and loaded", "the same", err_text(err));
	buf_fini(&b);
	buf_fini(&again);
}

static struct rule_set *
load_rules(struct runner *u)
{
	struct rule_set *rules = NULL;
	struct buf errors;

	buf_init(&errors, 1 << 20);
	if (rule_set_load(u->rules_path, &rules, &errors) != HIWAT_OK) {
		case_fail(u->r, u->c->node, "rules", "none with mistakes", buf_str(&errors));
		rules = NULL;
	}
	buf_fini(&errors);
	return rules;
}

static void
reload(struct runner *u)
{
	struct rule_set *fresh = load_rules(u);

	if (fresh == NULL || rule_state_migrate(u->rules, fresh, u->host.state) != HIWAT_OK) {
		case_fail(u->r, u->c->node, "reload", "ok", "an error");
		rule_set_free(fresh);
		return;
	}
	for (unsigned i = 0; i < u->n_told; i++)
		u->told[i].rule = rule_set_find(fresh, u->told[i].rule)->id;
	rule_set_free(u->rules);
	u->rules = u->host.rules = fresh;
}

/* All records of one time. */
static void
run_tick(struct runner *u, unsigned tick, char sign)
{
	double at = tick * u->c->every;

	for (unsigned i = 0; i < u->n_samplers && sign != '.'; i++) {
		enum verdict verdict = VERDICT_OK;
		if (!runner_speaks(u, u->samplers[i], at, &verdict))
			continue;
		if (sign == '?')
			verdict = VERDICT_FAILED;
		size_t set = rule_host_set(&u->host, u->samplers[i]);
		if (verdict == VERDICT_OK) {
			rule_host_begin(&u->host, u->samplers[i]);
			runner_fill(u, set, u->samplers[i], tick, at);
		}
		u->host.wall_offset = u->c->clock + u->boot_at;
		if (rule_host_eval(&u->host, set, at - u->boot_at, u->c->every, verdict) != HIWAT_OK)
			case_fail(u->r, u->c->node, "evaluation", "ok", "an error");
		keep_told(u);
		check_told(u, at);
		make_incidents(u, at);
	}
	if (u->has_tally)
		tally_tick(&u->tally, wall_ns(u, at));
}

struct search {
	const struct runner *u;
	bool is_summary, found;
	const char *expected;
	struct buf seen;
};

/* One row of the rule that says so is enough. */
static void
search_row(void *arg, const struct rule_event *e)
{
	struct search *s = arg;
	size_t start = s->seen.len;

	if (s->found || strcmp(e->rule->id, s->u->c->rule) != 0)
		return;
	if (start > 0)
		buf_puts(&s->seen, "; ");
	rule_render(s->is_summary ? e->rule->summary : e->rule->remedy, e, &s->u->host.view, &s->seen);
	s->found = strstr(buf_str(&s->seen) + start, s->expected) != NULL;
}

static void
check_text(struct runner *u, const struct case_expect *e, const char *what, const char *expected)
{
	struct search s = { .u = u, .is_summary = strcmp(what, "summary") == 0, .expected = expected };

	if (expected == NULL)
		return;
	buf_init(&s.seen, 1 << 20);
	rules_each(u->rules, u->host.state, search_row, &s);
	if (!s.found)
		case_fail(u->r, e->node, what, expected, buf_str(&s.seen));
	buf_fini(&s.seen);
}

struct nearest {
	const char *rule;
	double off, value, threshold; /* of the row that is nearest to its threshold; off NAN: none has one */
};

static void
find_nearest(void *arg, const struct rule_event *e)
{
	struct nearest *n = arg;

	if (strcmp(e->rule->id, n->rule) != 0 || e->level == RULE_LEVEL_NONE || isnan(e->threshold) || isnan(e->value))
		return;
	double off = fabs(e->value - e->threshold);
	if (isnan(n->off) || off < n->off)
		*n = (struct nearest){ n->rule, off, e->value, e->threshold };
}

/* A case that says "at" must be at the threshold, where there is one: within a twentieth, or one of what is counted. */
static void
check_boundary(struct runner *u, const struct case_expect *e)
{
	struct nearest n = { .rule = u->c->rule, .off = NAN };
	char expected[60], seen[40];

	if (e->boundary != CASE_AT)
		return;
	rules_each(u->rules, u->host.state, find_nearest, &n);
	double size = fabs(n.threshold);
	if (isnan(n.off) || n.off <= BOUNDARY * size || (n.off <= 1 && (size > 1 || size == 0)))
		return;
	snprintf(expected, sizeof(expected), "a value at the threshold %g", n.threshold);
	snprintf(seen, sizeof(seen), "%g", n.value);
	case_fail(u->r, e->node, "boundary", expected, seen);
}

static void
check_expect(struct runner *u, const struct case_expect *e)
{
	struct buf seen;

	if (e->has_incidents || e->pages >= 0) {
		tally_collect(&u->tally, wall_ns(u, e->at));
		tally_check(&u->tally, u->tally.alerts, u->r, e);
	}
	if (e->status == NULL)
		return;
	buf_init(&seen, 1 << 20);
	for (const char *p = rule_host_status(&u->host, u->c->rule); *p != '\0'; p++) {
		buf_putc(&seen, *p == '\n' ? ';' : *p);
		if (*p == '\n')
			buf_putc(&seen, ' ');
	}
	const struct rule *rule = u->c->rule != NULL ? rule_set_find(u->rules, u->c->rule) : NULL;
	case_check_status(u->r, e, buf_str(&seen), rule != NULL && rule_objects(u->host.state, rule) > 0, &u->fired);
	buf_fini(&seen);
	check_text(u, e, "summary", e->summary);
	check_text(u, e, "remedy", e->remedy);
	check_boundary(u, e);
}

/* What stands before the record of a tick: its sign, or what happens to host and collector. */
static char
next_sign(struct runner *u, const char **p, unsigned *left, char sign, unsigned tick)
{
	while (*left == 0 && **p != '\0') {
		struct text t = text_of(*p + 1);
		uint64_t n = 1;
		char c = **p;
		if (text_skip(&t, "x"))
			text_u64(&t, &n);
		*p = t.p;
		switch (c) {
		case '!':
			rule_state_reboot(u->host.state);
			u->boot_at = tick * u->c->every - REBOOT_SECONDS;
			break;
		case 'S':
			save_and_load(u);
			break;
		case 'R':
			reload(u);
			break;
		case ' ':
			break;
		default:
			sign = c;
			*left = (unsigned)n;
		}
	}
	*left -= *left > 0;
	return sign;
}

static void
run_ticks(struct runner *u)
{
	const char *p = u->c->records;
	unsigned left = 0;
	char sign = '+';

	for (unsigned tick = 0; tick < u->c->n_ticks; tick++) {
		sign = next_sign(u, &p, &left, sign, tick);
		run_tick(u, tick, sign);
		for (unsigned i = 0; i < u->c->n_expects; i++) {
			if (fabs(u->c->expects[i].at - tick * u->c->every) < 0.001)
				check_expect(u, &u->c->expects[i]);
		}
	}
}

void
case_run(const struct rule_case *c, const char *rules_path, struct case_report *r)
{
	static struct runner u;
	struct arena arena;

	memset(&u, 0, sizeof(u));
	u.c = c;
	u.r = r;
	u.rules_path = rules_path;
	u.rules = load_rules(&u);
	if (u.rules == NULL)
		return;
	arena_init(&arena, 1 << 20);
	rule_host_init(&u.host, u.rules, c->os);
	u.host.view.release = c->release;
	u.host.view.name = c->host;
	u.host.view.host_labels = c->labels;
	u.host.view.n_host_labels = c->n_labels;
	u.boot_at = -BOOT_SECONDS;
	u.texts = calloc(c->n_steps + 1, sizeof(*u.texts));
	for (unsigned i = 0; i < c->n_expects; i++)
		u.has_tally = u.has_tally || c->expects[i].has_incidents || c->expects[i].pages >= 0;
	if (u.has_tally && !tally_open(&u.tally, wall_ns(&u, 0))) {
		case_fail(r, c->node, "incidents", "a store in the directory for temporary files", "none");
		u.has_tally = false;
	}
	runner_list_samplers(&u, &arena);
	runner_resolve(&u);
	if (r->failures == 0)
		run_ticks(&u);
	if (u.has_tally)
		tally_close(&u.tally);
	for (unsigned i = 0; i < c->n_steps && u.texts != NULL; i++)
		free(u.texts[i].values);
	free(u.texts);
	rule_host_fini(&u.host);
	rule_set_free(u.rules);
	arena_fini(&arena);
}
