/* A file of cases to structs. Every mistake is told with its place and what was expected. */
#include "case.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "doc.h"
#include "err.h"
#include "load_steps.h"
#include "scan.h"
#include "units.h"

#define CASE_KEYS \
	"name, rule, os, release, host, labels, settings, clock, every, series, records, input, hosts, fleet, expect"
#define EXPECT_KEYS "at, status, summary, remedy, boundary, incidents, pages"
#define VALUE_FORM "values such as 5, 5x3, 5+10x6, 5-10x6, _ (none), _x3 were expected"
#define DEFAULT_CLOCK 1000001000.0

bool
load_keys(struct loading_case *ld, const struct yaml_node *map, const char *allowed)
{
	if (map->kind != YAML_MAPPING) {
		yaml_complain(ld->diag, map, "a mapping was expected, not %s", yaml_kind_text(map));
		return false;
	}
	for (const struct yaml_node *n = map->first; n != NULL; n = n->next) {
		struct text list = text_of(allowed), word;
		bool found = false;
		while (!found && text_word(&list, &word)) {
			if (text_ends(word, ","))
				word.n--;
			found = text_eq(word, n->key);
		}
		if (!found)
			yaml_complain_key(ld->diag, n, "unknown key '%s'; allowed: %s", n->key, allowed);
	}
	return true;
}

const char *
load_text(struct loading_case *ld, const struct yaml_node *map, const char *key, const char *otherwise)
{
	const struct yaml_node *n = yaml_get(map, key);

	if (n == NULL)
		return otherwise;
	if (n->kind == YAML_SCALAR)
		return n->text;
	yaml_complain(ld->diag, n, "a text was expected, not %s", yaml_kind_text(n));
	return otherwise;
}

double
load_seconds(struct loading_case *ld, const struct yaml_node *map, const char *key, const char *otherwise)
{
	const struct yaml_node *n = yaml_get(map, key);
	const char *text = load_text(ld, map, key, otherwise);
	uint64_t ms;

	if (text != NULL && units_parse_duration(text_of(text), &ms) == HIWAT_OK && ms <= UINT32_MAX * 1000ull)
		return (double)ms / 1000;
	yaml_complain(ld->diag, n != NULL ? n : map, "'%s' must be " UNITS_DURATION_FORM, key);
	return 0;
}

bool
load_number(struct loading_case *ld, const struct yaml_node *n, unsigned max, unsigned *value)
{
	uint64_t v;

	if (n->kind == YAML_SCALAR && text_is_u64(text_of(n->text), &v) && v <= max) {
		*value = (unsigned)v;
		return true;
	}
	yaml_complain(ld->diag, n, "a number from 0 to %u was expected", max);
	return false;
}

const struct yaml_node *
load_list(struct loading_case *ld, const struct yaml_node *map, const char *key, unsigned *count)
{
	const struct yaml_node *n = yaml_get(map, key);

	*count = 0;
	if (n == NULL)
		return NULL;
	if (n->kind != YAML_SEQUENCE) {
		yaml_complain(ld->diag, n, "a list was expected, not %s", yaml_kind_text(n));
		return NULL;
	}
	*count = n->count;
	return n->first;
}

void *
load_alloc(struct loading_case *ld, size_t n, size_t size)
{
	void *p = arena_calloc(&ld->file->arena, n > 0 ? n : 1, size);

	if (p == NULL)
		diag_add(ld->diag, ld->path, 0, 0, "%s", err_text(HIWAT_E_NOMEM));
	return p;
}

/* "5+10x6" and its kin. */
static bool
add_values(double *values, unsigned *n_values, struct text word)
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
	if (word.n > 0 || n > CASE_TICKS_MAX - *n_values)
		return false;
	for (; n > 0; n--) {
		values[(*n_values)++] = v;
		v += up ? step : -step;
	}
	return true;
}

static struct case_series *
new_series(struct loading_case *ld, const struct yaml_node *node)
{
	struct rule_case *c = ld->c;

	if (c->n_series == CASE_SERIES_MAX) {
		yaml_complain(ld->diag, node, "more than %d series", CASE_SERIES_MAX);
		return NULL;
	}
	struct case_series *s = &c->series[c->n_series];
	s->node = node;
	s->n = 0;
	return s;
}

/* 'sampler/hiwat_x{a="b"}: VALUES'; the sampler may be left out. */
static void
load_series(struct loading_case *ld, const struct yaml_node *node)
{
	static double values[CASE_TICKS_MAX];
	struct case_series *s = new_series(ld, node);

	if (s == NULL)
		return;
	const char *colon = node->kind == YAML_SCALAR ? strstr(node->text, ": ") : NULL;
	if (colon == NULL) {
		yaml_complain(ld->diag, node, "'METRIC{LABEL=\"VALUE\"}: VALUES' was expected");
		return;
	}
	const char *name = strstr(node->text, "hiwat_");
	if (name == NULL || name > colon || (name > node->text && name[-1] != '/'))
		name = node->text; /* unknown, told below */
	s->sampler =
	    name > node->text ? arena_strndup(&ld->file->arena, node->text, (size_t)(name - 1 - node->text)) : CASE_SAMPLER;
	s->name = arena_strndup(&ld->file->arena, name, (size_t)(colon - name));
	size_t len = strcspn(name, "{:");
	if (catalogue_find(name, len) < 0)
		yaml_complain(ld->diag, node, "no metric '%.*s'; hiwat-records(5) has all names", (int)len, name);
	struct text rest = text_of(colon + 2), word;
	while (text_word(&rest, &word)) {
		if (!add_values(values, &s->n, word)) {
			yaml_complain(ld->diag, node, "'%.*s': " VALUE_FORM ", at most %d", (int)word.n, word.p,
			    CASE_TICKS_MAX);
			return;
		}
	}
	if (s->n == 0)
		yaml_complain(ld->diag, node, VALUE_FORM);
	s->values = load_alloc(ld, s->n, sizeof(*values));
	if (s->sampler == NULL || s->name == NULL || s->values == NULL)
		return;
	memcpy(s->values, values, s->n * sizeof(*values));
	if (s->n > ld->c->n_ticks)
		ld->c->n_ticks = s->n;
	ld->c->n_series++;
}

static void
load_setting(struct loading_case *ld, const struct yaml_node *node, const char *name, const char *index)
{
	struct case_series *s = new_series(ld, node);
	struct buf b;
	double value;

	if (s == NULL)
		return;
	if (node->kind != YAML_SCALAR) {
		yaml_complain(ld->diag, node, "a value or a list of numbers was expected, not %s", yaml_kind_text(node));
		return;
	}
	buf_init(&b, 4096);
	if (text_is_double(text_of(node->text), &value)) {
		buf_printf(&b, "hiwat_sysctl{index=\"%s\",name=\"%s\"}", index, name);
	} else {
		buf_printf(&b, "hiwat_setting_text{name=\"%s\",value=\"%s\"}", name, node->text);
		value = 1;
	}
	s->sampler = "settings";
	s->name = arena_strndup(&ld->file->arena, buf_str(&b), b.len);
	s->values = load_alloc(ld, 1, sizeof(double));
	buf_fini(&b);
	if (s->name == NULL || s->values == NULL)
		return;
	s->values[0] = value;
	s->n = 1;
	ld->c->n_series++;
}

static void
load_settings(struct loading_case *ld, const struct yaml_node *map)
{
	for (const struct yaml_node *n = map->first; n != NULL; n = n->next) {
		unsigned i = 0;
		if (n->kind != YAML_SEQUENCE)
			load_setting(ld, n, n->key, "");
		for (const struct yaml_node *v = n->kind == YAML_SEQUENCE ? n->first : NULL; v != NULL; v = v->next) {
			char index[12];
			snprintf(index, sizeof(index), "%u", i++);
			load_setting(ld, v, n->key, index);
		}
	}
}

static void
load_labels(struct loading_case *ld, const struct yaml_node *map)
{
	for (const struct yaml_node *n = map->first; n != NULL; n = n->next) {
		if (n->kind != YAML_SCALAR || ld->c->n_labels == CASE_LABELS_MAX)
			yaml_complain(ld->diag, n, "a text was expected, and at most %d labels", CASE_LABELS_MAX);
		else
			ld->c->labels[ld->c->n_labels++] = (struct sample_label){ n->key, n->text };
	}
}

static double
load_clock(struct loading_case *ld, const struct yaml_node *map)
{
	const char *text = load_text(ld, map, "clock", NULL);
	uint64_t ns;

	if (text == NULL)
		return DEFAULT_CLOCK;
	if (doc_parse_time(text, &ns) && ns >= 86400 * NSEC_PER_SEC)
		return (double)(ns / NSEC_PER_SEC);
	yaml_complain(ld->diag, yaml_get(map, "clock"), "a time such as 2026-01-31T12:00:00Z was expected");
	return DEFAULT_CLOCK;
}

static const char *
load_records(struct loading_case *ld, const struct yaml_node *map)
{
	const char *text = load_text(ld, map, "records", "+");

	if (text[strspn(text, "+?.!SRx0123456789 ")] != '\0')
		yaml_complain(ld->diag, yaml_get(map, "records"),
		    "'%s': + (good), ? (failed), . (none), each with xN, and !, S, R were expected", text);
	return text;
}

static void
load_counts(struct loading_case *ld, const struct yaml_node *n, struct case_expect *e)
{
	e->has_incidents = true;
	if (n->kind != YAML_MAPPING) {
		load_number(ld, n, 10000, &e->incidents);
		return;
	}
	e->counts = load_alloc(ld, n->count, sizeof(*e->counts));
	for (const struct yaml_node *k = n->first; k != NULL && e->counts != NULL; k = k->next) {
		e->counts[e->n_counts].cause = k->key;
		load_number(ld, k, 10000, &e->counts[e->n_counts].n);
		e->incidents += e->counts[e->n_counts++].n;
	}
}

static void
load_expect(struct loading_case *ld, const struct yaml_node *node, struct case_expect *e)
{
	struct rule_case *c = ld->c;
	const struct yaml_node *n;

	*e = (struct case_expect){ .node = node, .pages = -1 };
	if (!load_keys(ld, node, EXPECT_KEYS))
		return;
	e->at = load_seconds(ld, node, "at", NULL);
	if (e->at > (CASE_TICKS_MAX - 1) * c->every || fabs(remainder(e->at, c->every)) > 0.001)
		yaml_complain(ld->diag, node, "no record at that time; records come every %gs, at most %d", c->every,
		    CASE_TICKS_MAX);
	else if (e->at / c->every + 1 > c->n_ticks)
		c->n_ticks = (unsigned)(e->at / c->every + 1.5);
	e->status = load_text(ld, node, "status", NULL);
	e->summary = load_text(ld, node, "summary", NULL);
	e->remedy = load_text(ld, node, "remedy", NULL);
	const char *boundary = load_text(ld, node, "boundary", NULL);
	if (boundary != NULL) {
		e->boundary = strcmp(boundary, "at") == 0 ? CASE_AT : CASE_BELOW;
		if (strcmp(boundary, "at") != 0 && strcmp(boundary, "below") != 0)
			yaml_complain(ld->diag, yaml_get(node, "boundary"), "'%s': below or at was expected", boundary);
	}
	if ((n = yaml_get(node, "incidents")) != NULL)
		load_counts(ld, n, e);
	unsigned pages;
	if ((n = yaml_get(node, "pages")) != NULL && load_number(ld, n, 10000, &pages))
		e->pages = (int)pages;
	if (e->status == NULL && !e->has_incidents && e->pages < 0)
		yaml_complain(ld->diag, node, "status, incidents or pages was expected");
	if ((e->summary != NULL || e->remedy != NULL || boundary != NULL) && (c->rule == NULL || e->status == NULL))
		yaml_complain(ld->diag, node, "summary, remedy and boundary need a rule and a status");
}

static void
load_case(struct loading_case *ld, const struct yaml_node *node, const struct rule_set *rules)
{
	struct rule_case *c = ld->c;
	const struct yaml_node *n;

	*c = (struct rule_case){ .node = node, .file = ld->path, .name = "?" };
	if (!load_keys(ld, node, CASE_KEYS))
		return;
	c->name = load_text(ld, node, "name", NULL);
	if (c->name == NULL) {
		yaml_complain(ld->diag, node, "a case needs a name");
		c->name = "?";
	}
	c->rule = load_text(ld, node, "rule", NULL);
	if (c->rule != NULL && rule_set_find(rules, c->rule) == NULL)
		yaml_complain(ld->diag, yaml_get(node, "rule"), "no rule '%s'; rules list prints all", c->rule);
	c->os = load_text(ld, node, "os", "freebsd");
	c->release = load_text(ld, node, "release", "");
	c->host = load_text(ld, node, "host", "host1");
	c->clock = load_clock(ld, node);
	c->every = load_seconds(ld, node, "every", "10s");
	if (c->every <= 0) {
		yaml_complain(ld->diag, node, "'every' must be more than nothing");
		c->every = 10;
	}
	c->records = load_records(ld, node);
	if ((n = yaml_get(node, "labels")) != NULL)
		load_labels(ld, n);
	if ((n = yaml_get(node, "settings")) != NULL)
		load_settings(ld, n);
	unsigned count;
	for (n = load_list(ld, node, "series", &count); n != NULL; n = n->next)
		load_series(ld, n);
	load_steps(ld, node);
	load_fleet(ld, node);
	n = load_list(ld, node, "expect", &count);
	if (n == NULL)
		yaml_complain(ld->diag, node, "a case needs a list 'expect'");
	c->expects = load_alloc(ld, count, sizeof(*c->expects));
	for (; n != NULL && c->expects != NULL; n = n->next)
		load_expect(ld, n, &c->expects[c->n_expects++]);
	if (c->n_hosts == 0 && c->n_series == 0 && c->n_steps == 0)
		yaml_complain(ld->diag, node, "a case needs series, input or hosts");
}

int
case_file_load(const char *path, const struct rule_set *rules, struct case_file *f)
{
	struct yaml_node *root;
	struct loading_case ld = { .file = f, .diag = &f->diag, .path = path };
	unsigned count;

	memset(f, 0, sizeof(*f));
	arena_init(&f->arena, CASE_ARENA_MAX);
	diag_init(&f->diag);
	int err = yaml_tree_load(path, &f->arena, &f->diag, &root);
	if (err != HIWAT_OK)
		return HIWAT_E_CONFIG;
	load_keys(&ld, root, "tests");
	const struct yaml_node *n = load_list(&ld, root, "tests", &count);
	if (n == NULL)
		diag_add(&f->diag, path, 0, 0, "a list 'tests' of cases was expected");
	f->cases = load_alloc(&ld, count, sizeof(*f->cases));
	for (; n != NULL && f->cases != NULL; n = n->next) {
		ld.c = &f->cases[f->n++];
		load_case(&ld, n, rules);
	}
	return f->diag.n > 0 ? HIWAT_E_CONFIG : HIWAT_OK;
}

void
case_file_fini(struct case_file *f)
{
	diag_fini(&f->diag);
	arena_fini(&f->arena);
}
