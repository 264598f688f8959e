#include "replay_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "err.h"

static void
add(struct replay_group *g, const struct replay_incident *i)
{
	g->opened++;
	g->open += i->ended_ns == 0;
	g->resolved += i->ended_ns != 0;
	g->critical += i->worst == RULE_LEVEL_CRITICAL;
	g->pages += i->pages;
	g->flaps += i->reopened;
}

struct replay_group
replay_total(const struct replay_verdict *v)
{
	struct replay_group g = { 0 };

	for (size_t i = 0; i < v->n_incidents; i++)
		add(&g, &v->incidents[i]);
	return g;
}

static int
compare_groups(const void *a, const void *b)
{
	const struct replay_group *x = a, *y = b;

	if (x->pages != y->pages)
		return x->pages > y->pages ? -1 : 1;
	if (x->opened != y->opened)
		return x->opened > y->opened ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int
compare_days(const void *a, const void *b)
{
	const struct replay_group *x = a, *y = b;

	if (x->pages != y->pages)
		return x->pages > y->pages ? -1 : 1;
	return strcmp(x->day, y->day);
}

static int
compare_rules(const void *a, const void *b)
{
	const struct replay_incident *const *x = a, *const *y = b;

	return strcmp((*x)->rule, (*y)->rule);
}

static int
compare_hosts(const void *a, const void *b)
{
	const struct replay_incident *const *x = a, *const *y = b;

	return strcmp((*x)->host, (*y)->host);
}

int
replay_group(const struct replay_verdict *v, enum replay_by by, struct replay_group **groups, size_t *n)
{
	const struct replay_incident **sorted = calloc(v->n_incidents + 1, sizeof(const struct replay_incident *));
	struct replay_group *g = calloc(v->n_incidents + 1, sizeof(*g));

	if (sorted == NULL || g == NULL) {
		free(sorted);
		free(g);
		return HIWAT_E_NOMEM;
	}
	for (size_t i = 0; i < v->n_incidents; i++)
		sorted[i] = &v->incidents[i];
	qsort(sorted, v->n_incidents, sizeof(const struct replay_incident *),
	    by == REPLAY_BY_RULE ? compare_rules : compare_hosts);
	*n = 0;
	for (size_t i = 0; i < v->n_incidents; i++) {
		const char *name = by == REPLAY_BY_RULE ? sorted[i]->rule : sorted[i]->host;
		if (*n == 0 || strcmp(g[*n - 1].name, name) != 0)
			g[(*n)++].name = name;
		add(&g[*n - 1], sorted[i]);
	}
	free(sorted);
	qsort(g, *n, sizeof(*g), compare_groups);
	*groups = g;
	return HIWAT_OK;
}

int
replay_days(const struct replay_verdict *v, struct replay_group **days, size_t *n)
{
	struct replay_group *g = calloc(v->n_pages + 1, sizeof(*g));

	if (g == NULL)
		return HIWAT_E_NOMEM;
	*n = 0;
	for (size_t i = 0; i < v->n_pages; i++) {
		time_t seconds = (time_t)(v->pages[i].wall_ns / NSEC_PER_SEC);
		struct tm tm = { 0 };
		char day[16] = "";

		gmtime_r(&seconds, &tm);
		strftime(day, sizeof(day), "%Y-%m-%d", &tm);
		if (*n == 0 || strcmp(g[*n - 1].day, day) != 0)
			memcpy(g[(*n)++].day, day, sizeof(day));
		g[*n - 1].pages++;
	}
	qsort(g, *n, sizeof(*g), compare_days);
	*days = g;
	return HIWAT_OK;
}

static int
compare_keys(const void *a, const void *b)
{
	const struct replay_incident *const *x = a, *const *y = b;
	int order = strcmp((*x)->key, (*y)->key);

	if (order == 0 && (*x)->opened_ns != (*y)->opened_ns)
		order = (*x)->opened_ns < (*y)->opened_ns ? -1 : 1;
	return order;
}

static const struct replay_incident **
by_key(const struct replay_verdict *v)
{
	const struct replay_incident **list = calloc(v->n_incidents + 1, sizeof(const struct replay_incident *));

	for (size_t i = 0; list != NULL && i < v->n_incidents; i++)
		list[i] = &v->incidents[i];
	if (list != NULL)
		qsort(list, v->n_incidents, sizeof(const struct replay_incident *), compare_keys);
	return list;
}

static bool
is_before(const struct replay_incident *x, const struct replay_incident *y)
{
	return x->ended_ns != 0 && x->ended_ns < y->opened_ns;
}

static uint64_t
pair_begin(const struct replay_pair *p)
{
	if (p->a == NULL || p->b == NULL)
		return p->a != NULL ? p->a->opened_ns : p->b->opened_ns;
	return p->a->opened_ns < p->b->opened_ns ? p->a->opened_ns : p->b->opened_ns;
}

static int
compare_pairs(const void *a, const void *b)
{
	const struct replay_pair *x = a, *y = b;
	uint64_t s = pair_begin(x), t = pair_begin(y);

	if (s != t)
		return s < t ? -1 : 1;
	int order = strcmp(x->a != NULL ? x->a->key : x->b->key, y->a != NULL ? y->a->key : y->b->key);
	return order != 0 ? order : (x->a == NULL) - (y->a == NULL);
}

int
replay_compare(const struct replay_verdict *a, const struct replay_verdict *b, struct replay_pair **pairs, size_t *n)
{
	const struct replay_incident **as = by_key(a), **bs = by_key(b);
	struct replay_pair *p = calloc(a->n_incidents + b->n_incidents + 1, sizeof(*p));
	size_t i = 0, k = 0;

	if (as == NULL || bs == NULL || p == NULL) {
		free(as);
		free(bs);
		free(p);
		return HIWAT_E_NOMEM;
	}
	*n = 0;
	while (i < a->n_incidents || k < b->n_incidents) {
		int order;
		if (i == a->n_incidents || k == b->n_incidents)
			order = i == a->n_incidents ? 1 : -1;
		else if ((order = strcmp(as[i]->key, bs[k]->key)) == 0)
			order = is_before(as[i], bs[k]) ? -1 : is_before(bs[k], as[i]) ? 1 : 0;
		p[(*n)++] = (struct replay_pair){ order <= 0 ? as[i++] : NULL, order >= 0 ? bs[k++] : NULL };
	}
	free(as);
	free(bs);
	qsort(p, *n, sizeof(*p), compare_pairs);
	*pairs = p;
	return HIWAT_OK;
}

bool
replay_pair_is_same(const struct replay_pair *p)
{
	return p->a != NULL && p->b != NULL && p->a->opened_ns == p->b->opened_ns && p->a->ended_ns == p->b->ended_ns &&
	    p->a->worst == p->b->worst;
}
