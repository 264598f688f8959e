/* From what is to be told to rows of the outbox, in one change with the incidents they speak of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "err.h"
#include "incident_json.h"
#include "internal.h"
#include "store.h"

static const char *const words[TELL_N] = {
	[TELL_TRIGGER] = "trigger",
	[TELL_ESCALATE] = "escalate",
	[TELL_UPDATE] = "update",
	[TELL_ACKNOWLEDGE] = "acknowledge",
	[TELL_REPEAT] = "repeat",
	[TELL_RESOLVE] = "resolve",
	[TELL_WAS] = "was",
};

/* What one route, by position, is told; TELL_NONE for nothing. */
static enum tell
for_route(const struct alerts *a, struct entry *e, size_t k, enum tell tell, uint64_t wall_ns)
{
	const struct alert_route *route = &a->routes[k];
	bool knows = (e->knows >> k & 1) != 0;

	switch (tell) {
	case TELL_RESOLVE:
		return knows ? tell : TELL_NONE;
	case TELL_WAS:
		return entry_reaches(a, e, k, wall_ns) ? tell : TELL_NONE;
	case TELL_TRIGGER:
	case TELL_ESCALATE:
		if (!entry_reaches(a, e, k, wall_ns))
			return TELL_NONE;
		return knows ? tell : TELL_TRIGGER;
	case TELL_UPDATE:
	case TELL_ACKNOWLEDGE:
		if (knows)
			return route->updates ? tell : TELL_NONE;
		break;
	case TELL_REPEAT:
		if (knows)
			return entry_reaches(a, e, k, wall_ns) && route_repeats(route, &e->i.told, wall_ns) ? tell
													    : TELL_NONE;
		break;
	case TELL_LATE:
		if (knows)
			return TELL_NONE;
		break;
	case TELL_NONE:
	case TELL_N:
		return TELL_NONE;
	}
	/* Whoever does not know of it yet is not told what became of it, but what it is. */
	return !e->i.acknowledged && entry_reaches(a, e, k, wall_ns) ? TELL_TRIGGER : TELL_NONE;
}

/* Receivers now know this. */
static void
note_told(struct entry *e, enum tell tell, uint64_t wall_ns)
{
	struct incident *i = &e->i;
	struct incident_told *told = &i->told;

	switch (tell) {
	case TELL_TRIGGER:
		*told = (struct incident_told){ .open = true, .level = i->level, .at_ns = wall_ns };
		break;
	case TELL_ESCALATE:
		told->level = i->level;
		told->at_ns = wall_ns;
		break;
	case TELL_RESOLVE:
		told->open = false;
		told->at_ns = wall_ns;
		break;
	case TELL_WAS:
		told->at_ns = wall_ns;
		break;
	case TELL_REPEAT:
		told->repeat_ns = wall_ns;
		break;
	case TELL_ACKNOWLEDGE:
		e->acknowledge = false;
		break;
	case TELL_UPDATE:
	case TELL_LATE:
	case TELL_NONE:
	case TELL_N:
		break;
	}
	if (tell != TELL_NONE && tell != TELL_ACKNOWLEDGE)
		e->update = false;
}

/* What is being collected for one store_put(). */
struct draft {
	struct store_incident *incidents;
	struct outbox_row *rows; /* payloads owned by payloads */
	char **payloads;
	struct entry **entries;
	struct {
		struct incident_told told;
		uint64_t knows;
		unsigned generation;
		bool update, acknowledge;
	} * before; /* of each entry, for the case that the store refuses */
	size_t n, n_rows, n_payloads;
};

static bool
draft_init(struct draft *d, size_t entries, size_t routes)
{
	*d = (struct draft){
		.incidents = calloc(entries, sizeof(*d->incidents)),
		.rows = calloc(entries * routes + 1, sizeof(*d->rows)),
		.payloads = calloc(entries * 3, sizeof(*d->payloads)),
		.entries = calloc(entries, sizeof(struct entry *)),
		.before = calloc(entries, sizeof(*d->before)),
	};
	return d->incidents != NULL && d->rows != NULL && d->payloads != NULL && d->entries != NULL && d->before != NULL;
}

static void
draft_fini(struct draft *d)
{
	for (size_t k = 0; d->payloads != NULL && k < d->n_payloads; k++)
		free(d->payloads[k]);
	free(d->incidents);
	free(d->rows);
	free(d->payloads);
	free(d->entries);
	free(d->before);
}

/* The rows of one incident. what: for each route. */
static int
draft_rows(struct draft *d, const struct alerts *a, const struct incident *i, const enum tell *what, uint64_t wall_ns)
{
	char *payload[TELL_N] = { NULL };

	for (size_t k = 0; k < a->n_routes; k++) {
		const struct alert_route *route = &a->routes[k];

		if (what[k] == TELL_NONE)
			continue;
		if (payload[what[k]] == NULL) {
			int err = incident_write(i, words[what[k]], &payload[what[k]]);
			if (err != 0)
				return err;
			d->payloads[d->n_payloads++] = payload[what[k]];
		}
		struct outbox_row *row = &d->rows[d->n_rows++];
		*row = (struct outbox_row){
			.generation = i->generation,
			.route = (char *)(uintptr_t)route->name, /* the store reads it, no more */
			.event = (char *)(uintptr_t)words[what[k]],
			.payload = payload[what[k]],
			.created_ns = wall_ns,
			.next_try_ns = wall_ns,
			.expires_ns = wall_ns + route->expire_ns,
		};
		memcpy(row->incident_key, i->key, sizeof(row->incident_key));
	}
	return 0;
}

/* What each route is told, and that it then knows; whether any is told anything. */
static bool
choose(const struct alerts *a, struct entry *e, enum tell tell, uint64_t wall_ns, enum tell *what)
{
	uint64_t knows = e->knows;
	bool speaks = false;

	for (size_t k = 0; k < a->n_routes; k++) {
		what[k] = for_route(a, e, k, tell, wall_ns);
		if (what[k] == TELL_TRIGGER || what[k] == TELL_ESCALATE)
			knows |= UINT64_C(1) << k;
		speaks = speaks || what[k] != TELL_NONE;
	}
	e->knows = tell == TELL_RESOLVE ? 0 : knows;
	return speaks;
}

static int
draft_add(struct draft *d, const struct alerts *a, struct entry *e, uint64_t wall_ns)
{
	struct incident *i = &e->i;
	enum tell tell = entry_tell(a, e, wall_ns), what[ALERT_ROUTES_MAX];
	char *json = NULL;

	d->entries[d->n] = e;
	d->before[d->n].told = i->told;
	d->before[d->n].knows = e->knows;
	d->before[d->n].generation = i->generation;
	d->before[d->n].update = e->update;
	d->before[d->n].acknowledge = e->acknowledge;
	d->n++;
	bool speaks = choose(a, e, tell, wall_ns, what);
	note_told(e, tell, wall_ns);
	if (speaks) {
		/* Seconds, so that a store that was lost does not bring back a generation that receivers have seen. */
		unsigned now = (unsigned)(wall_ns / NSEC_PER_SEC);
		i->generation = now > i->generation ? now : i->generation + 1;
	}
	int err = speaks ? draft_rows(d, a, i, what, wall_ns) : 0;
	if (err == 0)
		err = entry_name_routes(a, e) ? incident_write(i, NULL, &json) : HIWAT_E_NOMEM;
	if (err != 0)
		return err;
	d->payloads[d->n_payloads++] = json;
	struct store_incident *row = &d->incidents[d->n - 1];
	*row = (struct store_incident){
		.json = json,
		.closed = i->status == INCIDENT_WAS ? i->told.at_ns != 0 : i->status != INCIDENT_OPEN && !i->told.open,
	};
	memcpy(row->key, i->key, sizeof(row->key));
	return 0;
}

void
alerts_note_progress(struct alert_host_state *host, uint64_t stream, bool late, uint64_t sequence)
{
	struct progress now = { .stream = stream, .sequence = sequence, .late = late };
	unsigned at = 0;

	while (at < host->n_progress && (host->progress[at].stream != stream || host->progress[at].late != late))
		at++;
	if (at == host->n_progress && at < ALERT_PROGRESS_MAX)
		host->n_progress++;
	else if (at == ALERT_PROGRESS_MAX)
		at = 0; /* the one that changed longest ago makes room */
	memmove(&host->progress[at], &host->progress[at + 1], (host->n_progress - at - 1) * sizeof(now));
	host->progress[host->n_progress - 1] = now;
}

int
alerts_write(struct alerts *a, struct alert_host_state *host, uint64_t stream, bool late, uint64_t sequence,
    uint64_t wall_ns)
{
	size_t n = 0;

	for (struct entry *e = host->first; e != NULL; e = e->next_of_host)
		n += e->dirty || entry_tell(a, e, wall_ns) != TELL_NONE;
	if (n == 0)
		return 0;
	struct draft d;
	int err = draft_init(&d, n, a->n_routes) ? 0 : HIWAT_E_NOMEM;
	for (struct entry *e = host->first; err == 0 && e != NULL; e = e->next_of_host)
		if (e->dirty || entry_tell(a, e, wall_ns) != TELL_NONE)
			err = draft_add(&d, a, e, wall_ns);
	if (err == 0) {
		struct store_change change = {
			.incidents = d.incidents,
			.n_incidents = d.n,
			.notifications = d.rows,
			.n_notifications = d.n_rows,
			.wall_ns = wall_ns,
			.stream = stream,
			.sequence = sequence,
			.late = late,
		};
		memcpy(change.host_uuid, host->node.key, sizeof(change.host_uuid));
		err = alerts_put(a, &change);
		for (size_t k = 0; err == 0 && a->watcher != NULL && k < d.n; k++)
			a->watcher(a->watcher_arg, &d.entries[k]->i, &change);
	}
	for (size_t k = 0; k < d.n; k++) {
		struct entry *e = d.entries[k];

		e->dirty = err != 0;
		if (err != 0) {
			e->i.told = d.before[k].told;
			e->knows = d.before[k].knows;
			e->i.generation = d.before[k].generation;
			e->update = d.before[k].update;
			e->acknowledge = d.before[k].acknowledge;
		} else if (host->outage == e && e->i.told.at_ns != 0) {
			host->outage = NULL;
		}
	}
	if (err == 0 && stream != 0)
		alerts_note_progress(host, stream, late, sequence);
	draft_fini(&d);
	return err;
}
