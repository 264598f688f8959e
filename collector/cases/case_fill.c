/* What a sampler delivers at a time of the case: the bytes' series first, then those that the case gives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "runner.h"
#include "scan.h"

#define STATUS_PREFIX "status." /* of the set that holds how a sampler fared, as in the host table */

static void
add_sampler(struct runner *u, const char *name)
{
	for (unsigned i = 0; i < u->n_samplers; i++) {
		if (strcmp(u->samplers[i], name) == 0)
			return;
	}
	if (u->n_samplers < RULE_HOST_SETS)
		u->samplers[u->n_samplers++] = name;
	else
		case_fail(u->r, u->c->node, "samplers", "at most 64", name);
}

void
runner_list_samplers(struct runner *u, struct arena *arena)
{
	for (unsigned i = 0; i < u->c->n_series; i++)
		add_sampler(u, u->c->series[i].sampler);
	for (unsigned i = 0; i < u->c->n_steps; i++) {
		const struct case_step *s = &u->c->steps[i];
		if (s->kind == CASE_TEXT)
			add_sampler(u, s->sampler);
		for (size_t k = 0; s->batch != NULL && k < s->batch->n_records; k++) {
			const char *name = s->batch->records[k]->status->sampler;
			size_t size = strlen(STATUS_PREFIX) + strlen(name) + 1;
			char *status = arena_alloc(arena, size);
			add_sampler(u, name);
			if (status == NULL)
				continue;
			snprintf(status, size, STATUS_PREFIX "%s", name);
			add_sampler(u, status);
		}
	}
}

void
runner_resolve(struct runner *u)
{
	unsigned bad_line;

	for (unsigned i = 0; i < u->c->n_series; i++) {
		if (!rule_host_series(&u->host, u->c->series[i].name, &u->series[i]))
			case_fail(u->r, u->c->series[i].node, "series", "METRIC{LABEL=\"VALUE\",...}", u->c->series[i].name);
	}
	for (unsigned i = 0; i < u->c->n_steps && u->texts != NULL; i++) {
		const char *text = u->c->steps[i].series;
		if (text != NULL && promtext_read(text_of(text), u->host.labels, &u->texts[i], &bad_line) != HIWAT_OK)
			case_fail(u->r, u->c->steps[i].node, "input", "series", "what is no Prometheus text");
	}
}

static void
put(struct runner *u, size_t set, const struct series_value *v, const struct yaml_node *node)
{
	if (!rule_host_put_value(&u->host, set, v))
		case_fail(u->r, node, "values", "room for them", "too many series");
}

struct put_batch {
	struct runner *u;
	size_t set;
	const struct yaml_node *node;
};

static bool
put_sample(void *arg, const struct sample *s)
{
	struct put_batch *p = arg;
	uint32_t labels = labels_intern(p->u->host.labels, s->labels, s->n_labels);
	struct series_value v = { .labels = labels, .metric = (uint16_t)s->metric, .value = s->value };

	put(p->u, p->set, &v, p->node);
	return true;
}

/* The record of this sampler in a batch, or NULL; *is_status: the set is the one of how it fared. */
static const Hiwat__Record *
find_record(const struct case_step *s, const char *sampler, bool *is_status)
{
	*is_status = strncmp(sampler, STATUS_PREFIX, strlen(STATUS_PREFIX)) == 0;
	const char *name = *is_status ? sampler + strlen(STATUS_PREFIX) : sampler;

	for (size_t i = 0; s->batch != NULL && i < s->batch->n_records; i++) {
		if (strcmp(s->batch->records[i]->status->sampler, name) == 0)
			return s->batch->records[i];
	}
	return NULL;
}

/* The newest step of a sampler's kind: a saved output stands until another of its kind takes its place. */
static bool
is_current(const struct runner *u, unsigned i, double at)
{
	const struct case_step *s = &u->c->steps[i];

	if (s->at > at + 0.001)
		return false;
	for (unsigned k = 0; k < u->c->n_steps; k++) {
		const struct case_step *o = &u->c->steps[k];
		if (k == i || o->kind != s->kind || o->at > at + 0.001 || o->at < s->at || (o->at <= s->at && k < i))
			continue;
		if (s->kind == CASE_BATCH ||
		    (strcmp(o->sampler, s->sampler) == 0 && (s->kind == CASE_VERDICT || strcmp(o->parser, s->parser) == 0)))
			return false;
	}
	return true;
}

bool
runner_speaks(const struct runner *u, const char *sampler, double at, enum verdict *verdict)
{
	bool any = false, is_status;

	for (unsigned i = 0; i < u->c->n_series; i++)
		any = any || strcmp(u->c->series[i].sampler, sampler) == 0;
	for (unsigned i = 0; i < u->c->n_steps; i++) {
		const struct case_step *s = &u->c->steps[i];
		if (!is_current(u, i, at))
			continue;
		const Hiwat__Record *record = s->kind == CASE_BATCH ? find_record(s, sampler, &is_status) : NULL;
		if (record != NULL && !is_status)
			*verdict = verdict_of(record->status->verdict->verdict);
		any = any || record != NULL || (s->kind == CASE_TEXT && strcmp(s->sampler, sampler) == 0);
	}
	for (unsigned i = 0; i < u->c->n_steps; i++) {
		const struct case_step *s = &u->c->steps[i];
		if (s->kind == CASE_VERDICT && strcmp(s->sampler, sampler) == 0 && is_current(u, i, at))
			*verdict = s->verdict;
	}
	return any;
}

void
runner_fill(struct runner *u, size_t set, const char *sampler, unsigned tick, double at)
{
	for (unsigned i = 0; i < u->c->n_steps; i++) {
		const struct case_step *s = &u->c->steps[i];
		bool is_status;
		if (s->kind == CASE_VERDICT || !is_current(u, i, at))
			continue;
		if (s->kind == CASE_TEXT) {
			for (uint32_t v = 0; v < u->texts[i].n_values && strcmp(s->sampler, sampler) == 0; v++)
				put(u, set, &u->texts[i].values[v], s->node);
			continue;
		}
		const Hiwat__Record *record = find_record(s, sampler, &is_status);
		if (record == NULL)
			continue;
		Hiwat__Record half = HIWAT__RECORD__INIT;
		if (is_status) {
			half.status = record->status;
		} else {
			half = *record;
			half.status = NULL;
		}
		struct put_batch p = { u, set, s->node };
		catalogue_walk(&half, put_sample, &p);
	}
	for (unsigned i = 0; i < u->c->n_series; i++) {
		const struct case_series *s = &u->c->series[i];
		struct series_value v = u->series[i];
		v.value = s->values[tick < s->n ? tick : s->n - 1];
		if (strcmp(s->sampler, sampler) == 0 && !isnan(v.value))
			put(u, set, &v, s->node);
	}
}
