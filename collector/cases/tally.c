#include "tally.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "store.h"

#define ROUTE "page"
#define ROWS 64

const struct alert_route tally_route = {
	.name = ROUTE,
	.min_level = RULE_LEVEL_CRITICAL,
	.expire_ns = 86400 * NSEC_PER_SEC,
};

bool
tally_open_store(struct tally *t)
{
	const char *tmp = getenv("TMPDIR");
	char *moved = NULL;

	memset(t, 0, sizeof(*t));
	snprintf(t->dir, sizeof(t->dir), "%.40s/hiwat-case-XXXXXX", tmp != NULL && strlen(tmp) <= 40 ? tmp : "/tmp");
	if (mkdtemp(t->dir) == NULL)
		return false;
	snprintf(t->path, sizeof(t->path), "%s/incidents.db", t->dir);
	if (store_open(t->path, &t->store, &moved) == HIWAT_OK)
		return true;
	rmdir(t->dir);
	return false;
}

bool
tally_open(struct tally *t, uint64_t wall_ns)
{
	size_t unreadable;

	if (!tally_open_store(t))
		return false;
	t->alerts = alerts_new(t->store, &tally_route, 1, NULL, wall_ns, &unreadable);
	if (t->alerts == NULL)
		tally_close(t);
	return t->alerts != NULL;
}

void
tally_close(struct tally *t)
{
	DIR *d;
	char file[400];

	alerts_free(t->alerts);
	store_close(t->store);
	d = opendir(t->dir);
	for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		snprintf(file, sizeof(file), "%s/%s", t->dir, e->d_name);
		unlink(file);
	}
	if (d != NULL)
		closedir(d);
	rmdir(t->dir);
}

void
tally_collect(struct tally *t, uint64_t wall_ns)
{
	size_t n = 1;

	store_flush(t->store);
	while (n > 0) {
		struct outbox_row *rows = NULL;
		n = 0;
		/* Of one incident only the first row is due: until none is left. */
		if (store_outbox_due(t->store, ROUTE, wall_ns + NSEC_PER_SEC, ROWS, &rows, &n) != HIWAT_OK)
			return;
		for (size_t i = 0; i < n; i++) {
			t->pages += strcmp(rows[i].event, "trigger") == 0 || strcmp(rows[i].event, "escalate") == 0;
			store_outbox_done(t->store, rows[i].id, wall_ns, NULL);
		}
		store_outbox_free(rows, n);
		store_flush(t->store);
	}
}

void
tally_tick(struct tally *t, uint64_t wall_ns)
{
	alerts_commit(t->alerts);
	alerts_tick(t->alerts, wall_ns);
}

struct causes {
	const char *cause; /* NULL: all */
	unsigned n;
	struct buf *list;
};

static void
count_incident(void *arg, const struct incident *i)
{
	struct causes *c = arg;

	if (i->worst_level < RULE_LEVEL_WARNING || (c->cause != NULL && strcmp(i->cause, c->cause) != 0))
		return;
	c->n++;
	if (c->list != NULL)
		buf_printf(c->list, "%s%s{%s} %s", c->n > 1 ? "; " : "", i->cause, i->object,
		    rule_level_word(i->worst_level));
}

void
tally_check(struct tally *t, struct alerts *alerts, struct case_report *r, const struct case_expect *e)
{
	struct buf list;
	struct causes all = { .list = &list };
	char expected[40], seen[40], what[80];

	buf_init(&list, 4096);
	alerts_each(alerts, count_incident, &all);
	bool differs = all.n != e->incidents;
	for (unsigned i = 0; e->has_incidents && i < e->n_counts; i++) {
		struct causes one = { .cause = e->counts[i].cause };
		alerts_each(alerts, count_incident, &one);
		differs = differs || one.n != e->counts[i].n;
	}
	if (e->has_incidents && differs) {
		snprintf(what, sizeof(what), "incidents at %gs", e->at);
		snprintf(expected, sizeof(expected), "%u, by cause as given", e->incidents);
		case_fail(r, e->node, what, expected, buf_str(&list));
	}
	buf_fini(&list);
	if (e->pages >= 0 && (unsigned)e->pages != t->pages) {
		snprintf(what, sizeof(what), "pages at %gs", e->at);
		snprintf(expected, sizeof(expected), "%d", e->pages);
		snprintf(seen, sizeof(seen), "%u", t->pages);
		case_fail(r, e->node, what, expected, seen);
	}
}
