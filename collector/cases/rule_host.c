#include "rule_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "err.h"
#include "scan.h"

#define SETS_MAX 10000
#define LINES_MAX 1024

void
rule_host_init(struct rule_host *h, struct rule_set *rules, const char *os)
{
	memset(h, 0, sizeof(*h));
	h->labels = labels_new(SETS_MAX);
	h->state = rule_state_new();
	h->rules = rules;
	h->wall_offset = 1e9;
	h->view = (struct host_view){ .labels = h->labels, .name = "host1", .os = os, .release = "", .sets = h->sets };
}

void
rule_host_fini(struct rule_host *h)
{
	rule_state_free(h->state);
	labels_free(h->labels);
	for (size_t i = 0; i < RULE_HOST_SETS; i++) {
		free(h->begun[i]);
		free(h->sets[i].values);
		series_release(h->before[i]);
	}
}

size_t
rule_host_set(struct rule_host *h, const char *sampler)
{
	size_t i = 0;

	while (i < h->view.n_sets && strcmp(h->sets[i].sampler, sampler) != 0)
		i++;
	if (i == RULE_HOST_SETS)
		return i;
	if (i == h->view.n_sets) {
		h->view.n_sets++;
		h->sets[i] = (struct sample_set){ .sampler = sampler, .reason = "" };
	}
	return i;
}

size_t
rule_host_begin(struct rule_host *h, const char *sampler)
{
	size_t i = rule_host_set(h, sampler);

	if (i < RULE_HOST_SETS)
		h->sets[i].n_values = 0;
	return i;
}

bool
rule_host_series(struct rule_host *h, const char *series, struct series_value *out)
{
	struct sample_label labels[CATALOGUE_LABELS_MAX];
	char copy[512];
	unsigned n = 0;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", series) >= sizeof(copy))
		return false;
	char *open = strchr(copy, '{'), *p = open;
	size_t name_len = open != NULL ? (size_t)(open - copy) : strlen(copy);
	int metric = catalogue_find(copy, name_len);
	if (metric < 0)
		return false;
	while (p != NULL && *p != '}') {
		char *name = p + 1, *equals = strchr(name, '='), *end = NULL;
		if (equals == NULL || n == CATALOGUE_LABELS_MAX || equals[1] != '"' ||
		    (end = strchr(equals + 2, '"')) == NULL)
			return false;
		*equals = *end = '\0';
		/* In the order of their names, as records have them. */
		unsigned i = n++;
		for (; i > 0 && strcmp(labels[i - 1].name, name) > 0; i--)
			labels[i] = labels[i - 1];
		labels[i] = (struct sample_label){ name, equals + 2 };
		p = end + 1;
		if (*p != ',' && *p != '}')
			return false;
	}
	uint32_t set = labels_intern(h->labels, labels, n);
	if (set == LABELS_FULL)
		return false;
	*out = (struct series_value){ .labels = set, .metric = (uint16_t)metric };
	return true;
}

static bool
make_room(struct rule_host *h, size_t set)
{
	struct sample_set *s = &h->sets[set];
	uint32_t capacity = s->n_values == 0 ? 16 : s->n_values * 2;

	if (s->n_values < h->capacities[set])
		return true;
	if (capacity > RULE_HOST_VALUES)
		capacity = RULE_HOST_VALUES;
	if (capacity <= s->n_values)
		return false;
	double *values = realloc(s->values, capacity * sizeof(*values));
	if (values == NULL)
		return false;
	s->values = values;
	struct series_list *begun = realloc(h->begun[set], sizeof(*begun) + capacity * sizeof(begun->series[0]));
	if (begun == NULL)
		return false;
	if (h->begun[set] == NULL)
		*begun = (struct series_list){ .users = 1 };
	h->begun[set] = begun;
	h->capacities[set] = capacity;
	return true;
}

bool
rule_host_put_value(struct rule_host *h, size_t set, const struct series_value *value)
{
	struct sample_set *s = &h->sets[set];

	for (uint32_t i = 0; i < s->n_values; i++) {
		const struct series_key *key = &h->begun[set]->series[i];
		if (key->metric == value->metric && key->labels == value->labels) {
			s->values[i] = value->value;
			return true;
		}
	}
	if (!make_room(h, set))
		return false;
	h->begun[set]->series[s->n_values] = (struct series_key){ value->labels, value->metric };
	s->values[s->n_values++] = value->value;
	s->series = h->begun[set];
	s->series->n = s->n_values;
	return true;
}

bool
rule_host_put(struct rule_host *h, size_t set, const char *series, double value)
{
	struct series_value v;

	if (!rule_host_series(h, series, &v))
		return false;
	v.value = value;
	return rule_host_put_value(h, set, &v);
}

static void
keep_event(void *arg, const struct rule_event *event)
{
	struct rule_host *h = arg;

	if (h->n_events < RULE_HOST_EVENTS)
		h->events[h->n_events++] = *event;
}

int
rule_host_eval(struct rule_host *h, size_t set, double seconds, double interval, enum verdict verdict)
{
	struct sample_set *s = &h->sets[set];
	struct rule_time now = { .boot_ns = (uint64_t)(seconds * 1e9),
		.wall_ns = (uint64_t)((seconds + h->wall_offset) * 1e9),
		.interval_ns = (uint64_t)(interval * 1e9) };

	s->verdict = verdict;
	s->boot_ns = now.boot_ns;
	s->wall_ns = now.wall_ns;
	if (verdict == VERDICT_OK) {
		s->good_boot_ns = now.boot_ns;
		s->series = series_share(h->labels, s->n_values > 0 ? s->series->series : NULL, s->n_values);
		if (s->series == NULL)
			return HIWAT_E_NOMEM;
		s->shape += s->series != h->before[set];
		series_release(h->before[set]);
		h->before[set] = s->series;
	}
	h->n_events = 0;
	return rules_eval(h->rules, h->state, &h->view, h->labels, set, &now, keep_event, h);
}

struct lines {
	struct rule_host *h;
	const char *rule;
	char *lines[LINES_MAX];
	unsigned n;
};

static void
add_line(void *arg, const struct rule_event *e)
{
	struct lines *l = arg;
	struct buf b;
	unsigned n;
	const struct sample_label *labels = labels_get(l->h->labels, e->labels, &n);

	if ((l->rule != NULL && strcmp(e->rule->id, l->rule) != 0) || l->n == LINES_MAX)
		return;
	buf_init(&b, 1000);
	if (l->rule == NULL)
		buf_printf(&b, "%s: ", e->rule->id);
	if (e->gone)
		buf_puts(&b, "gone ");
	if (e->status != RULE_FIRING)
		buf_puts(&b, rule_status_word(e->status));
	if (e->status == RULE_UNKNOWN && e->level != RULE_LEVEL_NONE)
		buf_putc(&b, ' ');
	buf_puts(&b, rule_level_word(e->level));
	if (n > 0)
		series_write(&b, " ", labels, n);
	l->lines[l->n++] = strdup(buf_str(&b));
	buf_fini(&b);
}

static int
compare_lines(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

const char *
rule_host_status(struct rule_host *h, const char *rule)
{
	static char text[16384];
	struct lines l = { .h = h, .rule = rule };
	size_t n = 0;

	rules_each(h->rules, h->state, add_line, &l);
	qsort(l.lines, l.n, sizeof(l.lines[0]), compare_lines);
	text[0] = '\0';
	for (unsigned i = 0; i < l.n; i++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i > 0 ? "\n" : "", l.lines[i]);
		n = n < sizeof(text) ? n : sizeof(text) - 1;
		free(l.lines[i]);
	}
	return text;
}

const struct rule_event *
rule_host_event(const struct rule_host *h, const char *rule)
{
	const struct rule_event *found = NULL;

	for (unsigned i = 0; i < h->n_events; i++) {
		if (strcmp(h->events[i].rule->id, rule) == 0)
			found = &h->events[i];
	}
	return found;
}
