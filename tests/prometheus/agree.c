/*
 * Do the exported rules say in Prometheus what they say here? agree RULES SERIES TICK TICKS DIRECTORY PROMTOOL [FIRED]
 *
 * The same series go through the engine and, with the exported file, through `promtool test rules`: that is Prometheus' own
 * rule manager and query engine under a clock that the test sets, so that waiting, holding and ALERTS{} are Prometheus'.
 * (A server evaluates its rules at no other time than now, also over blocks that were filled in for the past.) After each
 * tick all firing alerts of all levels are compared, by name, level and labels: beginning and end may differ by one tick.
 * An object that is gone must end its alert after keep_firing_for, and begin anew when it is back.
 *
 * Each alert of the file must fire in at least one of the runs: what fired is appended to FIRED.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "err.h"
#include "export.h"
#include "rule_host.h"
#include "series.h"
#include "state.h"

#define HOSTS 2
#define BOOT_SECONDS 1003.0 /* uptime at the first record: buckets of windows begin at odd times */
#define ALERTS_MAX 2000

enum said { SAID_ENGINE = 1, SAID_GONE = 2, SAID_PROMETHEUS = 4 };

/* One alert on one object: what either side said of it, tick by tick. */
struct alert {
	char *key;      /* rule level {labels} */
	unsigned slack; /* ticks of `for` and of the hold */
	unsigned hold;  /* ticks */
	uint8_t *said;
};

struct agree {
	struct rule_set *rules;
	struct series_file file;
	double tick;
	unsigned n_ticks;
	const char *directory, *promtool;
	struct alert alerts[ALERTS_MAX];
	unsigned n_alerts, failures;
	struct buf missing; /* lines of what is not exported */
};

static const char *const host_names[HOSTS] = { "db1", "web2.example.org" };
static double heights[GROUPS_MAX][SERIES_TICKS_MAX], values[HOSTS][SERIES_MAX][SERIES_TICKS_MAX];

static struct alert *
find_alert(struct agree *a, const char *key)
{
	for (unsigned i = 0; i < a->n_alerts; i++) {
		if (strcmp(a->alerts[i].key, key) == 0)
			return &a->alerts[i];
	}
	if (a->n_alerts == ALERTS_MAX) {
		fprintf(stderr, "more than %d alerts\n", ALERTS_MAX);
		exit(EXIT_FAILURE);
	}
	struct alert *x = &a->alerts[a->n_alerts++];
	*x = (struct alert){ .key = strdup(key), .said = calloc(a->n_ticks, 1) };
	/* Of alerts that the engine never knew there is no `for`; they are wrong whenever they are there. */
	char id[80], level[20];
	if (sscanf(key, "%79s %19s", id, level) == 2) {
		const struct rule *r = rule_set_find(a->rules, id);
		for (unsigned i = 0; r != NULL && i < rule_full_of(r)->n_levels; i++) {
			const struct level *l = &rule_full_of(r)->levels[i];
			if (strcmp(rule_level_word(l->level), level) != 0)
				continue;
			x->slack = (unsigned)ceil((double)(l->for_ns + l->hold_ns) / 1e9 / a->tick);
			x->hold = (unsigned)ceil((double)l->hold_ns / 1e9 / a->tick);
		}
	}
	return x;
}

/* rule level {host="...",...}, labels by name, those without value left out as Prometheus does. */
static void
put_key(struct buf *b, const char *rule, const char *level, const struct sample_label *labels, unsigned n, const char *host)
{
	struct sample_label all[CATALOGUE_LABELS_MAX + 1];
	unsigned k = 0;
	bool placed = false;

	for (unsigned i = 0; i <= n; i++) {
		if (!placed && (i == n || strcmp(labels[i].name, "host") > 0)) {
			all[k++] = (struct sample_label){ "host", host };
			placed = true;
		}
		if (i < n && *labels[i].value != '\0')
			all[k++] = labels[i];
	}
	buf_printf(b, "%s %s ", rule, level);
	series_write(b, "", all, k);
}

/* Is this level said to be missing? */
static bool
is_missing(const struct agree *a, const char *rule, const char *level)
{
	char line[200];

	snprintf(line, sizeof(line), "%s %s: ", rule, level);
	const char *at = strstr(buf_str(&a->missing), line);
	return at == buf_str(&a->missing) || (at != NULL && at[-1] == '\n');
}

/* What fires now, each level by itself: an event tells the worst alone. */
static void
note_engine(struct agree *a, const struct rule_host *h, const char *host, unsigned tick)
{
	struct buf key;

	buf_init(&key, 10000);
	for (uint32_t i = 0; i < h->state->n_live; i++) {
		const struct live *l = &h->state->live[i];
		const struct rule_full *r = &a->rules->rules[l->rule];
		unsigned n;
		const struct sample_label *labels = labels_get(h->labels, l->labels, &n);
		for (unsigned k = 0; k < r->n_levels; k++) {
			const char *level = rule_level_word(r->levels[k].level);
			if (!(l->on & 1u << k) || is_missing(a, r->pub.id, level))
				continue;
			buf_reset(&key);
			put_key(&key, r->pub.id, level, labels, n, host);
			find_alert(a, buf_str(&key))->said[tick] |= l->is_gone ? SAID_GONE : SAID_ENGINE;
		}
	}
	buf_fini(&key);
}

static void
run_engine(struct agree *a, unsigned host)
{
	static struct rule_host h;

	rule_host_init(&h, a->rules, "freebsd");
	h.view.name = host_names[host];
	h.wall_offset = -BOOT_SECONDS; /* as in Prometheus' test */
	for (unsigned t = 0; t < a->n_ticks; t++) {
		double now = BOOT_SECONDS + t * a->tick;
		size_t set = rule_host_begin(&h, "test");
		for (unsigned i = 0; i < a->file.n; i++) {
			double v = values[host][i][t];
			if (!isnan(v) && !rule_host_put(&h, set, a->file.series[i].name, v)) {
				fprintf(stderr, "no series: %s\n", a->file.series[i].name);
				exit(EXIT_FAILURE);
			}
		}
		if (rule_host_eval(&h, set, now, a->tick, VERDICT_OK) != HIWAT_OK)
			exit(EXIT_FAILURE);
		note_engine(a, &h, host_names[host], t);
	}
	rule_host_fini(&h);
}

static void
make_values(struct agree *a)
{
	for (unsigned host = 0; host < HOSTS; host++) {
		for (unsigned g = 0; g < a->file.n_groups; g++) {
			series_curve(g, host, heights[g], a->n_ticks);
			/* The first one is what is always there. */
			for (unsigned t = 0; g == 0 && t < a->n_ticks; t++)
				heights[g][t] = 0;
		}
		for (unsigned i = 0; i < a->file.n; i++)
			series_values(&a->file.series[i], heights[a->file.series[i].group], a->n_ticks, a->tick,
			    values[host][i]);
	}
}

static FILE *
open_file(const struct agree *a, const char *name, const char *mode)
{
	char path[1000];

	snprintf(path, sizeof(path), "%s/%s", a->directory, name);
	FILE *f = fopen(path, mode);
	if (f == NULL) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	return f;
}

/* A series as promtool wants it: "stale" is what a scrape says of one that is no longer there. */
static void
write_series(const struct agree *a, FILE *f, unsigned host, unsigned i)
{
	const struct series *s = &a->file.series[i];
	const char *open = strchr(s->name, '{');

	fprintf(f, "      - series: '%.*s{host=\"%s\"%s%s'\n        values: '", (int)(open != NULL ? open - s->name : 200),
	    s->name, host_names[host], open != NULL ? "," : "}", open != NULL ? open + 1 : "");
	for (unsigned t = 0; t < a->n_ticks; t++) {
		double v = values[host][i][t];
		if (!isnan(v))
			fprintf(f, "%.17g ", v);
		else
			fputs(t > 0 && !isnan(values[host][i][t - 1]) ? "stale " : "_ ", f);
	}
	fputs("'\n", f);
}

/* The test expects that nothing ever fires: the complaints of promtool are what did. */
static void
write_files(struct agree *a)
{
	struct buf rules;
	struct export_count count;

	buf_init(&rules, 16u << 20);
	buf_init(&a->missing, 1u << 20);
	if (rules_export_prometheus(a->rules, &rules, &a->missing, &count) != HIWAT_OK)
		exit(EXIT_FAILURE);
	FILE *f = open_file(a, "rules.yml", "w");
	fputs(buf_str(&rules), f);
	fclose(f);
	buf_fini(&rules);
	f = open_file(a, "test.yml", "w");
	fprintf(f, "rule_files: [rules.yml]\nevaluation_interval: %.0fs\ntests:\n  - interval: %.0fs\n    input_series:\n",
	    a->tick, a->tick);
	fprintf(f, "      - series: 'hiwat_collector_info{version=\"0\"}'\n        values: '1x%u'\n", a->n_ticks);
	for (unsigned host = 0; host < HOSTS; host++) {
		for (unsigned i = 0; i < a->file.n; i++)
			write_series(a, f, host, i);
	}
	fputs("    promql_expr_test:\n", f);
	for (unsigned t = 0; t < a->n_ticks; t++)
		fprintf(f, "      - {expr: 'ALERTS{alertstate=\"firing\"}', eval_time: %.0fs}\n", t * a->tick);
	fclose(f);
}

static void
run_promtool(const struct agree *a)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (chdir(a->directory) != 0 || freopen("out.txt", "w", stdout) == NULL || dup2(1, 2) != 2)
			_exit(127);
		execl(a->promtool, "promtool", "test", "rules", "test.yml", (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) == 127) {
		fprintf(stderr, "promtool did not run\n");
		exit(EXIT_FAILURE);
	}
}

/* Seconds of "1w2d3h4m5s". */
static double
model_duration(const char *s)
{
	double sum = 0;
	char *end;

	while (*s >= '0' && *s <= '9') {
		double v = strtod(s, &end);
		sum += v * (*end == 'w' ? 604800 : *end == 'd' ? 86400 : *end == 'h' ? 3600 : *end == 'm' ? 60 : 1);
		s = end + 1;
	}
	return sum;
}

/* One {__name__="ALERTS", ...}; where it ends, NULL when it is none. */
static const char *
note_prometheus(struct agree *a, const char *p, unsigned tick)
{
	static const char *const dropped[] = { "__name__", "alertname", "alertstate", "cause" };
	struct sample_label labels[16];
	char texts[16][256];
	unsigned n = 0;
	const char *rule = "", *level = "", *host = "";
	struct buf key;

	while (*p != '}' && n < 16) {
		size_t name_len = strcspn(p, "=");
		const char *v = p + name_len + 2;
		unsigned k = 0;
		char *name = texts[n], *value = texts[n] + name_len + 1;
		snprintf(name, sizeof(texts[n]), "%.*s", (int)name_len, p);
		for (; *v != '"' && *v != '\0' && name_len + k + 3 < sizeof(texts[n]); v++) {
			v += *v == '\\';
			value[k++] = *v;
		}
		value[k] = '\0';
		p = v + 1;
		p += strspn(p, ", ");
		bool keep = true;
		for (unsigned i = 0; i < 4; i++)
			keep = keep && strcmp(name, dropped[i]) != 0;
		if (strcmp(name, "rule") == 0)
			rule = value;
		else if (strcmp(name, "severity") == 0)
			level = value;
		else if (strcmp(name, "host") == 0)
			host = value;
		else if (keep)
			labels[n] = (struct sample_label){ name, value };
		else
			continue;
		if (rule == value || level == value || host == value)
			labels[n] = (struct sample_label){ "", "" };
		n++;
	}
	if (*p != '}')
		return NULL;
	struct sample_label kept[16];
	unsigned n_kept = 0;
	for (unsigned i = 0; i < n; i++) {
		if (*labels[i].name != '\0')
			kept[n_kept++] = labels[i];
	}
	buf_init(&key, 10000);
	put_key(&key, rule, level, kept, n_kept < CATALOGUE_LABELS_MAX ? n_kept : CATALOGUE_LABELS_MAX, host);
	find_alert(a, buf_str(&key))->said[tick] |= SAID_PROMETHEUS;
	buf_fini(&key);
	return p + 1;
}

static void
read_promtool(struct agree *a)
{
	FILE *f = open_file(a, "out.txt", "r");
	char *line = NULL;
	size_t size = 0;
	unsigned tick = 0, seen = 0;

	while (getline(&line, &size, f) > 0) {
		const char *time = strstr(line, ", time: "), *p = strstr(line, "got: ");
		if (strstr(line, "expr: ") != NULL && time != NULL) {
			tick = (unsigned)(model_duration(time + strlen(", time: ")) / a->tick + 0.5);
		} else if (p != NULL && tick < a->n_ticks) {
			while (p != NULL && (p = strchr(p, '{')) != NULL) {
				p = note_prometheus(a, p + 1, tick);
				seen++;
			}
		} else if (strstr(line, "err") != NULL || strstr(line, "exec") != NULL) {
			fprintf(stderr, "promtool: %s", line);
			a->failures++;
		}
	}
	free(line);
	fclose(f);
	if (seen == 0) {
		fprintf(stderr, "promtool saw no alert\n");
		a->failures++;
	}
}

static bool
is_steady(const struct alert *x, unsigned t, unsigned n, uint8_t bits, uint8_t wanted)
{
	for (unsigned i = t > 0 ? t - 1 : 0; i <= t + 1 && i < n; i++) {
		if ((x->said[i] & bits) != wanted)
			return false;
	}
	return true;
}

/* Where the two differ by more than a tick; the first few are shown. */
static void
compare(struct agree *a, struct alert *x)
{
	unsigned differs = 0, gone_since = 0, back_since = 0, first = 0;
	bool is_gone = false, was_gone = false;

	for (unsigned t = 0; t < a->n_ticks; t++) {
		bool prometheus = x->said[t] & SAID_PROMETHEUS, wrong;
		if (x->said[t] & SAID_GONE) {
			gone_since = is_gone ? gone_since : t;
			is_gone = was_gone = true;
			wrong = prometheus && t > gone_since + x->hold + 1;
		} else {
			back_since = is_gone ? t : back_since;
			is_gone = false;
			bool on = is_steady(x, t, a->n_ticks, SAID_ENGINE | SAID_GONE, SAID_ENGINE);
			bool off = is_steady(x, t, a->n_ticks, SAID_ENGINE | SAID_GONE, 0);
			wrong = (on && !prometheus) || (off && prometheus);
			/* What is back waits and holds anew. */
			if (was_gone && t <= back_since + x->slack + 1)
				wrong = false;
		}
		first = wrong && differs == 0 ? t : first;
		differs += wrong;
	}
	if (differs == 0)
		return;
	fprintf(stderr, "%s: differs in %u ticks, first at %g s:\n  ", x->key, differs, first * a->tick);
	for (unsigned t = first > 30 ? first - 30 : 0; t < first + 60 && t < a->n_ticks; t++)
		fputc("-EGgPB3?"[x->said[t] & 7], stderr);
	fputc('\n', stderr);
	a->failures++;
}

static void
append_fired(const struct agree *a, const char *path)
{
	FILE *f = fopen(path, "ae");

	if (f == NULL) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	for (unsigned i = 0; i < a->n_alerts; i++) {
		bool both = false;
		for (unsigned t = 0; t < a->n_ticks; t++)
			both = both ||
			    (a->alerts[i].said[t] & (SAID_ENGINE | SAID_PROMETHEUS)) == (SAID_ENGINE | SAID_PROMETHEUS);
		if (both)
			fprintf(f, "%.*s\n", (int)strcspn(a->alerts[i].key, "{") - 1, a->alerts[i].key);
	}
	fclose(f);
}

int
main(int argc, char **argv)
{
	static struct agree a;

	if (argc != 8) {
		fprintf(stderr, "usage: agree RULES SERIES TICK TICKS DIRECTORY PROMTOOL FIRED\n");
		return EXIT_FAILURE;
	}
	a.tick = strtod(argv[3], NULL);
	a.n_ticks = (unsigned)strtoul(argv[4], NULL, 10);
	a.directory = argv[5];
	a.promtool = argv[6];
	if (!series_load(argv[2], &a.file) || rule_set_load(argv[1], &a.rules, NULL) != HIWAT_OK || !(a.tick > 0) ||
	    a.n_ticks == 0 || a.n_ticks > SERIES_TICKS_MAX)
		return EXIT_FAILURE;
	make_values(&a);
	write_files(&a);
	for (unsigned host = 0; host < HOSTS; host++)
		run_engine(&a, host);
	run_promtool(&a);
	read_promtool(&a);
	for (unsigned i = 0; i < a.n_alerts; i++)
		compare(&a, &a.alerts[i]);
	append_fired(&a, argv[7]);
	printf("%u alerts on %u hosts over %g h, %u differ\n", a.n_alerts, HOSTS, a.n_ticks * a.tick / 3600, a.failures);
	buf_fini(&a.missing);
	rule_set_free(a.rules);
	return a.failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
