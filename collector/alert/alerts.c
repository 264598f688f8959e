#include "alert.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "err.h"
#include "incident_json.h"
#include "internal.h"
#include "store.h"

struct loading {
	struct alerts *a;
	size_t unreadable;
	bool failed;
};

static bool
load_incident(void *arg, const char *key, const char *json)
{
	struct loading *l = arg;
	struct incident i = { 0 };
	uint8_t bytes[16];
	int err = incident_read(json, &i);

	if (err == 0 && (strcmp(key, i.key) != 0 || !incident_key_parse(key, bytes))) {
		incident_fini(&i);
		err = HIWAT_E_FORMAT;
	}
	if (err == HIWAT_E_NOMEM) {
		l->failed = true;
		return false;
	}
	if (err != 0) {
		l->unreadable++;
		return true;
	}
	struct alert_host_state *host = alerts_host(l->a, i.host_uuid);
	struct entry *e = host == NULL ? NULL : entry_new(l->a, host, bytes);
	if (e == NULL) {
		incident_fini(&i);
		l->failed = true;
		return false;
	}
	incident_fini(&e->i);
	e->i = i;
	entry_find_routes(l->a, e);
	e->loud = i.status == INCIDENT_OPEN && i.level >= RULE_LEVEL_WARNING;
	host->silent = host->silent || entry_is_silence(e);
	if (i.status == INCIDENT_WAS && i.told.at_ns == 0) {
		host->outage = e;
		e->touched_ns = l->a->now_ns; /* its backlog goes on arriving */
	}
	return true;
}

static bool
load_progress(void *arg, const uint8_t uuid[16], uint64_t stream, bool late, uint64_t sequence)
{
	struct loading *l = arg;
	struct alert_host_state *host = alerts_host(l->a, uuid);

	if (host == NULL) {
		l->failed = true;
		return false;
	}
	alerts_note_progress(host, stream, late, sequence);
	return true;
}

static bool
load_silence(void *arg, const char *json)
{
	struct loading *l = arg;
	struct silence *s = NULL;
	json_t *o = json_loads(json, 0, NULL);
	struct buf why;

	buf_init(&why, 256);
	int err = silence_from_json(o, &l->a->zone, l->a->now_ns, true, &s, &why);
	buf_fini(&why);
	json_decref(o);
	l->failed = err == HIWAT_E_NOMEM;
	l->unreadable += err == HIWAT_E_REJECTED;
	if (err == 0 && !silences_keep(l->a, s, l->a->now_ns))
		silence_free(s);
	return !l->failed;
}

static int
load(struct store *store, uint64_t since_ns, struct loading *l)
{
	int err = store_each_incident(store, since_ns, load_incident, l);

	if (err == 0 && !l->failed)
		err = store_each_progress(store, load_progress, l);
	if (err == 0 && !l->failed)
		err = store_each_silence(store, load_silence, l);
	return err;
}

int
alerts_put(struct alerts *a, const struct store_change *change)
{
	return a->store != NULL ? store_put(a->store, change) : 0;
}

struct alerts *
alerts_new(struct store *store, const struct alert_route *routes, size_t n_routes, const struct zone *zone, uint64_t wall_ns,
    size_t *unreadable)
{
	struct alerts *a = calloc(1, sizeof(*a));
	if (a == NULL)
		return NULL;
	*a = (struct alerts){
		.store = store,
		.routes = routes,
		.n_routes = n_routes,
		.now_ns = wall_ns,
		.conditions = 1,
	};
	if (zone != NULL)
		a->zone = *zone;
	struct loading l = { .a = a };
	uint64_t since_ns = wall_ns > ALERT_KEEP_NS ? wall_ns - ALERT_KEEP_NS : 0;
	int err = store != NULL ? load(store, since_ns, &l) : 0;
	if (err != 0 || l.failed) {
		alerts_free(a);
		return NULL;
	}
	*unreadable = l.unreadable;
	return a;
}

void
alerts_free(struct alerts *a)
{
	if (a == NULL)
		return;
	for (struct map_node *node = map_next(&a->hosts, NULL); node != NULL;) {
		struct alert_host_state *host = (struct alert_host_state *)node;

		node = map_next(&a->hosts, node);
		while (host->first != NULL)
			entry_free(a, host->first);
		free(host);
	}
	for (size_t k = 0; k < a->n_silences; k++)
		silence_free(a->silences[k]);
	map_fini(&a->incidents);
	map_fini(&a->hosts);
	free(a);
}

void
alerts_watch(struct alerts *a, alert_watcher *fn, void *arg)
{
	a->watcher = fn;
	a->watcher_arg = arg;
}

bool
alerts_is_silent(const struct alerts *a, const uint8_t uuid[16])
{
	const struct alert_host_state *host = (const struct alert_host_state *)map_find(&a->hosts, uuid);

	return host != NULL && host->silent;
}

void
alerts_set_routes(struct alerts *a, const struct alert_route *routes, size_t n_routes)
{
	a->routes = routes;
	a->n_routes = n_routes;
	a->conditions++;
	for (struct map_node *node = map_next(&a->incidents, NULL); node != NULL; node = map_next(&a->incidents, node))
		entry_find_routes(a, (struct entry *)node);
}

static bool
is_done(const struct alert_host_state *host, uint64_t stream, bool late, uint64_t sequence)
{
	for (unsigned k = 0; k < host->n_progress; k++)
		if (host->progress[k].stream == stream && host->progress[k].late == late)
			return sequence <= host->progress[k].sequence;
	return false;
}

void
host_relabel(struct alert_host_state *host)
{
	host->silent = false;
	for (const struct entry *e = host->first; e != NULL && !host->silent; e = e->next_of_host)
		host->silent = entry_is_silence(e);
}

/* Puts the event into the line. *changed: more than its values. */
static int
apply(struct incident_line *line, const struct alert_host *who, const struct rule_event *event, bool *changed)
{
	bool held = line->status != RULE_OK;

	if (event->gone) {
		*changed = held && !line->gone;
		line->gone = held;
		return 0;
	}
	if (event->status == RULE_FIRING) {
		*changed = line->status != RULE_FIRING || line->level != event->level || line->gone;
		line->status = RULE_FIRING;
		line->level = event->level;
		line->gone = false;
		line->cleared_ns = line->blind_ns = 0;
		return line_fill(line, who, event, event_since(who, event)) ? 0 : HIWAT_E_NOMEM;
	}
	if (event->status == RULE_UNKNOWN) {
		*changed = line->status != RULE_UNKNOWN;
		if (line->status != RULE_UNKNOWN)
			line->blind_ns = who->wall_ns;
		line->status = RULE_UNKNOWN;
		/* A line that begins blind: the store had lost it. The value that it fired with is not known any more. */
		return held || line_fill(line, who, event, event_since(who, event)) ? 0 : HIWAT_E_NOMEM;
	}
	*changed = held;
	if (held) {
		line->status = RULE_OK;
		line->gone = false;
		line->blind_ns = 0;
		line->cleared_ns = who->wall_ns;
		if (isfinite(event->value))
			line->value = event->value;
	}
	return 0;
}

/* The incident that the event belongs to; with make it is made when there is none. */
static int
find(struct alerts *a, const struct alert_host *who, const struct rule_event *event, bool make, struct entry **found)
{
	uint8_t key[16];
	unsigned n = 0;
	char *object = labels_as_text(who->view->labels, event->object), *labels = NULL;
	struct alert_host_state *host = NULL;
	int err = object == NULL ? HIWAT_E_NOMEM : incident_hash(who->uuid, event->rule->cause, object, key);
	if (err != 0)
		goto out;
	struct entry *e = (struct entry *)map_find(&a->incidents, key);
	if (e != NULL || !make) {
		*found = e;
		goto out;
	}
	err = HIWAT_E_NOMEM;
	const struct sample_label *l = labels_get(who->view->labels, event->object, &n);
	labels = labels_as_json(l, n);
	host = alerts_host(a, who->uuid);
	if (host != NULL && host->n_entries >= ALERT_PER_HOST_MAX) {
		err = HIWAT_E_FULL;
		goto out;
	}
	e = host == NULL || labels == NULL ? NULL : entry_new(a, host, key);
	if (e == NULL)
		goto out;
	if (!incident_set(&e->i.cause, event->rule->cause) || !incident_set(&e->i.object, object) ||
	    !incident_set(&e->i.labels_json, labels) || !entry_describe(e, who)) {
		entry_free(a, e);
		goto out;
	}
	*found = e;
	err = 0;
out:
	free(object);
	free(labels);
	return err;
}

int
alerts_live_event(struct alerts *a, const struct alert_host *who, const struct rule_event *event)
{
	bool holds = !event->gone &&
	    (event->status == RULE_FIRING || (event->status == RULE_UNKNOWN && event->level != RULE_LEVEL_NONE));
	bool changed = false;
	struct entry *e = NULL;
	int err = find(a, who, event, holds, &e);

	if (err != 0 || e == NULL)
		return err;
	char *labels = labels_as_text(who->view->labels, event->labels);
	if (labels == NULL)
		return HIWAT_E_NOMEM;
	struct incident_line *line = incident_find_line(&e->i, event->rule->id, labels);
	if (line == NULL && holds)
		err = incident_add_line(&e->i, event->rule->id, labels, event->level, &line);
	free(labels);
	if (err == HIWAT_E_FULL || (err == 0 && line == NULL))
		return 0;
	if (err == 0)
		err = apply(line, who, event, &changed);
	if (changed) {
		if (!entry_describe(e, who) && err == 0)
			err = HIWAT_E_NOMEM;
		entry_settle(e, who->wall_ns);
		host_relabel(e->host);
	}
	return err;
}

int
alerts_event(struct alerts *a, const struct alert_host *who, const struct rule_event *event)
{
	struct alert_host_state *host = (struct alert_host_state *)map_find(&a->hosts, who->uuid);

	if (host != NULL && who->stream != 0 && is_done(host, who->stream, who->late, who->sequence))
		return 0;
	if (a->in_batch &&
	    (a->batch_host != host || a->stream != who->stream || a->late != who->late || a->sequence != who->sequence))
		(void)alerts_commit(a); /* what the store refused is kept */
	host = alerts_host(a, who->uuid);
	if (host == NULL)
		return HIWAT_E_NOMEM;
	a->in_batch = true;
	a->batch_host = host;
	a->stream = who->stream;
	a->sequence = who->sequence;
	a->late = who->late;
	a->batch_ns = who->wall_ns;
	if (who->late)
		return outage_event(a, host, who, event);
	if (who->wall_ns > a->now_ns)
		a->now_ns = who->wall_ns;
	return alerts_live_event(a, who, event);
}

int
alerts_commit(struct alerts *a)
{
	if (!a->in_batch)
		return 0;
	a->in_batch = false;
	/* Backlog speaks of the past: what it changes, changes now. */
	return alerts_write(a, a->batch_host, a->stream, a->late, a->sequence, a->late ? a->now_ns : a->batch_ns);
}

/* Ended incidents leave memory after a day; the store keeps them longer. */
static void
forget(struct alerts *a, struct alert_host_state *host, uint64_t wall_ns)
{
	for (struct entry *e = host->first, *next; e != NULL; e = next) {
		next = e->next_of_host;
		if (!e->dirty && e->i.status != INCIDENT_OPEN && !e->i.told.open && e != host->outage &&
		    wall_ns > e->i.changed_ns + ALERT_KEEP_NS)
			entry_free(a, e);
	}
}

static void
note_silence(const struct alerts *a, struct entry *e, uint64_t wall_ns)
{
	const struct silence *s = e->i.status == INCIDENT_OPEN ? entry_silence(a, e, wall_ns) : NULL;

	snprintf(e->i.silence, sizeof(e->i.silence), "%s", s != NULL ? s->id : "");
}

int
alerts_tick(struct alerts *a, uint64_t wall_ns)
{
	int result = alerts_commit(a);

	if (wall_ns > a->now_ns)
		a->now_ns = wall_ns;
	silences_forget(a, wall_ns, ALERT_KEEP_NS);
	for (struct map_node *node = map_next(&a->hosts, NULL); node != NULL; node = map_next(&a->hosts, node)) {
		struct alert_host_state *host = (struct alert_host_state *)node;
		bool give_up = false;

		for (struct entry *e = host->first; e != NULL; e = e->next_of_host) {
			entry_age(e, wall_ns);
			note_silence(a, e, wall_ns);
			give_up = give_up || (wall_ns > e->i.opened_ns + ALERT_GIVE_UP_NS && entry_is_silence(e));
		}
		int err = give_up ? alerts_give_up(a, node->key, wall_ns) : alerts_write(a, host, 0, false, 0, wall_ns);
		if (err != 0)
			result = err;
		forget(a, host, wall_ns);
	}
	if (a->store != NULL && wall_ns >= a->prune_ns && store_prune(a->store, wall_ns) == 0)
		a->prune_ns = wall_ns + ALERT_PRUNE_NS;
	return result;
}

/* Ends an incident whatever its lines say. */
void
entry_end(struct entry *e, enum incident_status status, uint64_t wall_ns)
{
	for (size_t k = 0; k < e->i.n_lines; k++) {
		struct incident_line *line = &e->i.lines[k];

		if (line->status == RULE_OK)
			continue;
		line->status = RULE_OK;
		line->gone = false;
		line->blind_ns = 0;
		line->cleared_ns = wall_ns;
	}
	entry_settle(e, wall_ns);
	e->i.status = status;
}

int
alerts_give_up(struct alerts *a, const uint8_t uuid[16], uint64_t wall_ns)
{
	struct alert_host_state *host = (struct alert_host_state *)map_find(&a->hosts, uuid);

	if (host == NULL)
		return 0;
	for (struct entry *e = host->first; e != NULL; e = e->next_of_host)
		if (e->i.status == INCIDENT_OPEN)
			entry_end(e, INCIDENT_GAVE_UP, wall_ns);
	host->silent = false;
	return alerts_write(a, host, 0, false, 0, wall_ns);
}
