/*
 * Scenarios for the rules as data: rules RULES FILE..., where RULES is the rule pack. A file has a list of tests:
 *
 *	tests:
 *	  - name: what is shown
 *	    rule: listen-overflow        # only this rule's status counts
 *	    os: linux                    # and labels: {role: mail}, both optional
 *	    every: 10s                   # distance of records
 *	    series:
 *	      - 'hiwat_listen_overflows_total: 5x3 5+10x6 _x2'
 *	    records: '+x9 ?x2'           # optional
 *	    expect:
 *	      - { at: 30s, status: warning, summary: "...", remedy: "..." }
 *
 * A series: 5 is one value, 5x3 three of them, 5+10x6 six that begin at 5 and step by 10 (5-10x6 steps down), _ none, all
 * by the tick. Records: + a good one, ? a failed one, . none, each with xN; ! a boot before the next record, S the
 * collector saves and loads its state, R it reloads its rules. The last sign repeats. A series may begin with another
 * sampler's name and a slash: net/hiwat_... Status is what rule_host_status() says, lines joined by "; "; summary and remedy
 * must occur in what the first of them renders. Events and rules_each() must always tell the same.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "diag.h"
#include "err.h"
#include "rule_host.h"
#include "scan.h"
#include "units.h"
#include "yaml_tree.h"

#define SERIES_MAX 64
#define TICKS_MAX 20000
#define BOOT_SECONDS 1000.0 /* uptime at the first record */
#define REBOOT_SECONDS 20.0 /* uptime at the first record after a boot */

struct series {
	char sampler[32], name[256];
	double *values; /* TICKS_MAX; NAN: none; the last one repeats */
	unsigned n;
};

struct told {
	const char *rule;
	uint32_t labels;
	enum rule_status status;
	enum rule_level level;
	bool gone;
};

struct scenario {
	const char *pack, *file, *name, *rule;
	struct rule_set *rules;
	struct rule_host host;
	struct series series[SERIES_MAX];
	unsigned n_series, n_ticks;
	double every;
	char *records;  /* one sign per tick, specials of a tick before it */
	double boot_at; /* tick time at which boot time was 0 */
	struct told told[RULE_HOST_EVENTS];
	unsigned n_told;
	unsigned failures;
};

static void
complain(struct scenario *sc, const struct yaml_node *node, const char *what, const char *wanted, const char *got)
{
	fprintf(stderr, "%s:%u: %s: %s: wanted \"%s\", got \"%s\"\n", sc->file, node != NULL ? node->line : 0, sc->name,
	    what, wanted, got);
	sc->failures++;
}

static const char *
scalar(const struct yaml_node *map, const char *key, const char *otherwise)
{
	const struct yaml_node *n = yaml_get(map, key);

	return n != NULL && n->kind == YAML_SCALAR ? n->text : otherwise;
}

static double
seconds(const char *text)
{
	uint64_t ms;

	return text != NULL && units_parse_duration(text_of(text), &ms) == HIWAT_OK ? (double)ms / 1000 : NAN;
}

/* "5+10x6" and its kin. */
static bool
add_values(struct series *s, struct text word)
{
	double v = NAN, step = 0;
	uint64_t n = 1;
	bool up = true;

	if (!text_skip(&word, "_") && text_double(&word, &v) != HIWAT_OK)
		return false;
	if (text_skip(&word, "+") || (text_skip(&word, "-") && !(up = false))) {
		if (text_double(&word, &step) != HIWAT_OK)
			return false;
	}
	if (text_skip(&word, "x") && text_u64(&word, &n) != HIWAT_OK)
		return false;
	for (; n > 0 && s->n < TICKS_MAX; n--) {
		s->values[s->n++] = v;
		v += up ? step : -step;
	}
	return word.n == 0;
}

static bool
add_series(struct scenario *sc, const char *line)
{
	struct series *s = &sc->series[sc->n_series];
	const char *colon = strstr(line, ": "), *slash = strchr(line, '/');
	struct text rest, word;

	if (colon == NULL || sc->n_series == SERIES_MAX)
		return false;
	if (slash != NULL && slash < strstr(line, "hiwat_"))
		snprintf(s->sampler, sizeof(s->sampler), "%.*s", (int)(slash - line), line);
	else
		snprintf(s->sampler, sizeof(s->sampler), "test");
	const char *name = strcmp(s->sampler, "test") == 0 ? line : slash + 1;
	snprintf(s->name, sizeof(s->name), "%.*s", (int)(colon - name), name);
	s->values = calloc(TICKS_MAX, sizeof(*s->values));
	if (s->values == NULL)
		return false;
	sc->n_series++;
	rest = text_of(colon + 2);
	while (text_word(&rest, &word)) {
		if (!add_values(s, word))
			return false;
	}
	if (s->n > sc->n_ticks)
		sc->n_ticks = s->n;
	return s->n > 0;
}

static void
keep_told(struct scenario *sc)
{
	for (unsigned i = 0; i < sc->host.n_events; i++) {
		const struct rule_event *e = &sc->host.events[i];
		unsigned at = 0;
		while (at < sc->n_told && (strcmp(sc->told[at].rule, e->rule->id) != 0 || sc->told[at].labels != e->labels))
			at++;
		if (e->status == RULE_OK && at < sc->n_told)
			sc->told[at] = sc->told[--sc->n_told];
		else if (e->status != RULE_OK && at < RULE_HOST_EVENTS)
			sc->told[at] = (struct told){ e->rule->id, e->labels, e->status, e->level, e->gone };
		if (e->status != RULE_OK && at == sc->n_told)
			sc->n_told++;
	}
}

struct compare {
	struct scenario *sc;
	unsigned seen;
	const char *why;
};

static void
compare_told(void *arg, const struct rule_event *e)
{
	struct compare *c = arg;

	c->seen++;
	for (unsigned i = 0; i < c->sc->n_told; i++) {
		const struct told *t = &c->sc->told[i];
		if (strcmp(t->rule, e->rule->id) != 0 || t->labels != e->labels)
			continue;
		if (t->status != e->status || t->level != e->level || t->gone != e->gone)
			c->why = e->rule->id;
		return;
	}
	c->why = e->rule->id;
}

static void
check_told(struct scenario *sc, double at)
{
	struct compare c = { .sc = sc };
	char what[80];

	rules_each(sc->rules, sc->host.state, compare_told, &c);
	snprintf(what, sizeof(what), "at %gs events and rules_each() differ on %s", at,
	    c.why != NULL ? c.why : "their number");
	if (c.why != NULL || c.seen != sc->n_told)
		complain(sc, NULL, what, "", "");
}

static bool
is_same_state(struct rule_host *h, const struct buf *saved)
{
	struct buf again;

	buf_init(&again, 1 << 20);
	bool same = rule_state_save(h->rules, h->state, h->labels, &again) == HIWAT_OK && again.len == saved->len;
	buf_fini(&again);
	return same;
}

static void
save_and_load(struct scenario *sc)
{
	struct rule_host *h = &sc->host;
	struct buf b;

	buf_init(&b, 1 << 20);
	int err = rule_state_save(sc->rules, h->state, h->labels, &b);
	rule_state_free(h->state);
	h->state = rule_state_new();
	if (err == HIWAT_OK)
		err = rule_state_load(sc->rules, h->state, h->labels, buf_str(&b), b.len);
	if (err != HIWAT_OK || !is_same_state(h, &b))
		complain(sc, NULL, "state was saved and loaded", "the same", err_text(err));
	buf_fini(&b);
}

static void
reload(struct scenario *sc)
{
	struct rule_set *fresh = NULL;

	if (rule_set_load(sc->pack, &fresh, NULL) != HIWAT_OK ||
	    rule_state_migrate(sc->rules, fresh, sc->host.state) != HIWAT_OK) {
		complain(sc, NULL, "reload", "ok", "an error");
		rule_set_free(fresh);
		return;
	}
	for (unsigned i = 0; i < sc->n_told; i++)
		sc->told[i].rule = rule_set_find(fresh, sc->told[i].rule)->id;
	rule_set_free(sc->rules);
	sc->rules = sc->host.rules = fresh;
}

/* All records of one tick. */
static void
run_tick(struct scenario *sc, unsigned tick, char sign)
{
	double at = tick * sc->every - sc->boot_at;
	const char *done[SERIES_MAX];
	unsigned n_done = 0;

	for (unsigned i = 0; i < sc->n_series && sign != '.'; i++) {
		const char *sampler = sc->series[i].sampler;
		bool again = false;
		for (unsigned k = 0; k < n_done; k++)
			again = again || strcmp(done[k], sampler) == 0;
		if (again)
			continue;
		done[n_done++] = sampler;
		size_t set = 0;
		if (sign == '+')
			set = rule_host_begin(&sc->host, sampler);
		for (unsigned k = i; k < sc->n_series && sign == '+'; k++) {
			const struct series *s = &sc->series[k];
			double v = s->values[tick < s->n ? tick : s->n - 1];
			if (strcmp(s->sampler, sampler) == 0 && !isnan(v) && !rule_host_put(&sc->host, set, s->name, v))
				complain(sc, NULL, s->name, "a series", "none");
		}
		if (sign == '?')
			set = i < sc->host.view.n_sets ? i : 0;
		if (rule_host_eval(&sc->host, set, at, sc->every, sign == '+' ? VERDICT_OK : VERDICT_FAILED) != HIWAT_OK)
			complain(sc, NULL, "evaluation", "ok", "an error");
		keep_told(sc);
		check_told(sc, tick * sc->every);
	}
}

struct first {
	const char *rule;
	struct rule_event event;
	bool found;
};

static void
find_first(void *arg, const struct rule_event *e)
{
	struct first *f = arg;

	if (!f->found && strcmp(e->rule->id, f->rule) == 0) {
		f->event = *e;
		f->found = true;
	}
}

static void
check_text(struct scenario *sc, const struct yaml_node *expect, const char *key)
{
	const char *wanted = scalar(expect, key, NULL);
	struct first f = { .rule = sc->rule };
	struct buf b;

	if (wanted == NULL)
		return;
	buf_init(&b, 10000);
	rules_each(sc->rules, sc->host.state, find_first, &f);
	if (f.found)
		rule_render(strcmp(key, "summary") == 0 ? f.event.rule->summary : f.event.rule->remedy, &f.event,
		    &sc->host.view, &b);
	if (strstr(buf_str(&b), wanted) == NULL)
		complain(sc, expect, key, wanted, buf_str(&b));
	buf_fini(&b);
}

static void
check_expect(struct scenario *sc, const struct yaml_node *expect)
{
	char got[2000];
	size_t n = 0;
	const char *wanted = scalar(expect, "status", "");

	for (const char *p = rule_host_status(&sc->host, sc->rule); *p != '\0' && n + 3 < sizeof(got); p++) {
		got[n++] = *p == '\n' ? ';' : *p;
		if (*p == '\n')
			got[n++] = ' ';
	}
	got[n] = '\0';
	if (strcmp(got, wanted) != 0) {
		char what[60];
		snprintf(what, sizeof(what), "status at %s", scalar(expect, "at", "?"));
		complain(sc, expect, what, wanted, got);
	}
	check_text(sc, expect, "summary");
	check_text(sc, expect, "remedy");
}

static void
run_ticks(struct scenario *sc, const struct yaml_node *expects)
{
	const char *p = sc->records;
	unsigned left = 0;
	char sign = '+';

	for (unsigned tick = 0; tick < sc->n_ticks; tick++) {
		while (left == 0 && *p != '\0') {
			struct text t = text_of(p + 1);
			uint64_t n = 1;
			char c = *p;
			if (text_skip(&t, "x"))
				text_u64(&t, &n);
			p = t.p;
			if (c == '!') {
				rule_state_reboot(sc->host.state);
				sc->boot_at = tick * sc->every - REBOOT_SECONDS;
			} else if (c == 'S') {
				save_and_load(sc);
			} else if (c == 'R') {
				reload(sc);
			} else if (c != ' ') {
				sign = c;
				left = (unsigned)n;
			}
		}
		left -= left > 0;
		run_tick(sc, tick, sign);
		for (const struct yaml_node *e = expects; e != NULL; e = e->next) {
			if (fabs(seconds(scalar(e, "at", "0")) - tick * sc->every) < 0.001)
				check_expect(sc, e);
		}
	}
}

static unsigned
run_scenario(const char *pack, const char *file, const struct yaml_node *test)
{
	static struct scenario sc;
	struct sample_label labels[8];
	struct buf errors;
	const struct yaml_node *series = yaml_get(test, "series"), *expects = yaml_get(test, "expect");
	const struct yaml_node *host_labels = yaml_get(test, "labels");

	memset(&sc, 0, sizeof(sc));
	sc.pack = pack;
	sc.file = file;
	sc.name = scalar(test, "name", "?");
	sc.rule = scalar(test, "rule", "?");
	sc.every = seconds(scalar(test, "every", "10s"));
	sc.records = (char *)(uintptr_t)scalar(test, "records", "+");
	sc.boot_at = -BOOT_SECONDS;
	buf_init(&errors, 100000);
	if (rule_set_load(pack, &sc.rules, &errors) != HIWAT_OK) {
		fputs(buf_str(&errors), stderr);
		buf_fini(&errors);
		return 1;
	}
	buf_fini(&errors);
	rule_host_init(&sc.host, sc.rules, scalar(test, "os", "freebsd"));
	sc.host.view.host_labels = labels;
	for (const struct yaml_node *l = host_labels != NULL ? host_labels->first : NULL; l != NULL; l = l->next)
		labels[sc.host.view.n_host_labels++ % 8] = (struct sample_label){ l->key, l->text };
	for (const struct yaml_node *s = series != NULL ? series->first : NULL; s != NULL; s = s->next) {
		if (!add_series(&sc, s->text))
			complain(&sc, s, "series", "NAME: VALUES", s->text);
	}
	if (rule_set_find(sc.rules, sc.rule) == NULL || expects == NULL || sc.n_series == 0)
		complain(&sc, test, "test", "rule, series and expect", sc.rule);
	for (const struct yaml_node *e = expects != NULL ? expects->first : NULL; e != NULL; e = e->next) {
		double at = seconds(scalar(e, "at", NULL));
		if (!(at >= 0) || at > (TICKS_MAX - 1) * sc.every || fabs(remainder(at, sc.every)) > 0.001)
			complain(&sc, e, "at", "a time of a record", scalar(e, "at", ""));
		else if (at / sc.every + 1 > sc.n_ticks)
			sc.n_ticks = (unsigned)(at / sc.every + 1.5);
	}
	if (sc.failures == 0)
		run_ticks(&sc, expects->first);
	for (unsigned i = 0; i < sc.n_series; i++)
		free(sc.series[i].values);
	rule_host_fini(&sc.host);
	rule_set_free(sc.rules);
	return sc.failures;
}

static unsigned
run_file(const char *pack, const char *file, unsigned *n_tests)
{
	struct arena arena;
	struct diag diag;
	struct yaml_node *root;
	unsigned failures = 0;

	arena_init(&arena, YAML_ARENA_MAX);
	diag_init(&diag);
	if (yaml_tree_load(file, &arena, &diag, &root) != HIWAT_OK) {
		fputs(diag_text(&diag), stderr);
		failures++;
	} else {
		const struct yaml_node *tests = yaml_get(root, "tests");
		for (const struct yaml_node *t = tests != NULL ? tests->first : NULL; t != NULL; t = t->next, ++*n_tests)
			failures += run_scenario(pack, file, t);
	}
	diag_fini(&diag);
	arena_fini(&arena);
	return failures;
}

int
main(int argc, char **argv)
{
	unsigned failures = 0, n_tests = 0;

	for (int i = 2; i < argc; i++)
		failures += run_file(argv[1], argv[i], &n_tests);
	if (n_tests == 0) {
		fprintf(stderr, "usage: rules RULES FILE...: no tests were run\n");
		return EXIT_FAILURE;
	}
	printf("%u scenarios, %u failures\n", n_tests, failures);
	return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
