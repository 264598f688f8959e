/*
 * From rule events to incidents. Per host, cause and object there is one incident: the worst level speaks, the other rules
 * are lines in it. Every change that matters is handed to the store as one transaction together with its notifications.
 * Knows rules; knows no HTTP and no SQL. Not thread-safe: the pipeline's lock guards it.
 *
 * What is told, and when:
 *   trigger      an incident of level warning or worse opened, or came back after its end was told
 *   escalate     its level rose above the one told last; the acknowledgement is taken back
 *   update       its level fell, its sampler went blind or sees again, its object is gone or back: routes with updates only
 *   acknowledge  somebody took it over: routes with updates only
 *   repeat       every repeat_ns of the route while it is open and not acknowledged
 *   resolve      over, fallen to advice, closed by a person, or given up (see its status)
 *   was          once per host and outage: what was critical while the host could not be heard
 * A route is told of what reaches its min_level, fits its conditions and happens in its hours, and of the end of what it was
 * told, at any hour. What reaches a route only later, when its hours begin or a further rule fires, is told then as trigger,
 * unless somebody has taken it over. Advice is shown, never told. An
 * incident that comes back within 5 minutes is the same one. A level counts as fallen after 5 minutes below: rising again
 * then escalates anew, before it is an update. More than 6 openings, rises and ends in an hour are flapping: then it is told
 * how things stand every 30 minutes at most, until there are fewer than 3 in an hour. While a rule named host-silent holds
 * on a host, nothing else of that host is told; what still holds afterwards is told then. So it is with silences, but that
 * the end of what was told before is told (silences.h).
 */
#ifndef HIWAT_COLLECTOR_ALERT_H
#define HIWAT_COLLECTOR_ALERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "incident.h"
#include "rule.h"

struct alerts;
struct hours;
struct match;
struct silence;
struct store;
struct store_change;
struct zone;

#define ALERT_ROUTES_MAX 64

/* The rule that silences all others of its host, and after 30 days gives the host up. */
#define ALERT_HOST_SILENT "host-silent"

/* What a route wants to be told. Everything borrowed. */
struct alert_route {
	const char *name;
	enum rule_level min_level; /* RULE_LEVEL_WARNING or RULE_LEVEL_CRITICAL */
	const struct match *match; /* which incidents; NULL: all */
	const struct hours *hours; /* when; NULL: always */
	bool updates;              /* tell "update" and "acknowledge" too */
	uint64_t repeat_ns;        /* 0: never repeat */
	uint64_t expire_ns;        /* how long a notification is worth delivering */
};

/* Who the event is about. Borrowed for the call. */
struct alert_host {
	uint8_t uuid[16];
	const struct host_view *view;
	uint64_t stream, sequence; /* of the batch that the event comes from; 0, 0 for what the collector itself found */
	uint64_t wall_ns;          /* of the event, by the collector's clock */
	uint64_t boot_wall_ns;     /* wall time at which the host's boot-time clock was 0, by the collector's clock */
	bool late;                 /* from backlog: what was critical there is told once, as "was, from ... to ..." */
};

/* Who wants to know of each change once it counts: the incident as it is now, and all that is told with it. Borrowed. */
typedef void alert_watcher(void *arg, const struct incident *i, const struct store_change *change);

/*
 * store and routes, at most ALERT_ROUTES_MAX: borrowed. zone, of the hours of silences, is copied; NULL: UTC. store
 * NULL: what changes is kept in memory and nothing is delivered, as replay wants it. Incidents that
 * are open or ended within the last day and silences are read from the store; *unreadable counts those that could not be
 * understood. NULL when memory is out or the store cannot be read.
 */
struct alerts *alerts_new(struct store *store, const struct alert_route *routes, size_t n_routes, const struct zone *zone,
    uint64_t wall_ns, size_t *unreadable);
void alerts_free(struct alerts *a);
/* NULL: nobody. */
void alerts_watch(struct alerts *a, alert_watcher *fn, void *arg);
/* Other routes, after a reload. */
void alerts_set_routes(struct alerts *a, const struct alert_route *routes, size_t n_routes);

/*
 * Takes one event of a batch. Events of a batch that the store already holds (same stream, sequence not above the one
 * committed) are ignored, so that a collector that is sent batches again after a crash neither pages nor resolves twice.
 * HIWAT_E_NOMEM: the event is lost; the next one of that rule, which comes while it fires, makes up for it.
 * HIWAT_E_FULL: the host has 1,000 incidents already.
 */
int alerts_event(struct alerts *a, const struct alert_host *host, const struct rule_event *event);
/* The backlog of the host is there whole: its outage is told at the next tick. Without this, after 10 quiet minutes. */
void alerts_backlog_done(struct alerts *a, const uint8_t uuid[16]);
/*
 * After the last event of a batch: hands all that the batch did to the store, as one change. Call it before store_flush();
 * it does nothing when nothing changed. An event of another batch and alerts_tick() commit too. HIWAT_E_FULL, HIWAT_E_NOMEM:
 * the store did not take it; it is kept and tried at the next commit and tick, and the batch must not be called durable.
 */
int alerts_commit(struct alerts *a);
/*
 * Timers: flapping, repeats, outages that are over, given-up hosts, and what the store may forget. Call about once a second.
 * Errors as above.
 */
int alerts_tick(struct alerts *a, uint64_t wall_ns);

/*
 * Whether host-silent holds on the host. Who hears from it must say so with an event, also after a restart: until then
 * nothing else of the host is told.
 */
bool alerts_is_silent(const struct alerts *a, const uint8_t uuid[16]);
/*
 * After a restart or a reload, once the host's samplers have all been evaluated again: lines whose rule is neither pending,
 * firing nor unknown on that object are cleared; so are those of rules that are gone. What fires and has no line gets one.
 * Rules with a builtin are left alone.
 */
int alerts_reconcile(struct alerts *a, const struct alert_host *host, const struct rule_set *set,
    const struct rule_state *state);
/* The host is gone for good: its incidents end as "gave up". alerts_tick() does so after 30 days of host-silent. */
int alerts_give_up(struct alerts *a, const uint8_t uuid[16], uint64_t wall_ns);

/* A person takes it over: repeats stop. HIWAT_E_NODATA when no such incident is open. */
int alerts_acknowledge(struct alerts *a, const char *key, const char *by, uint64_t wall_ns);
/* Who took it over gives it back: repeats go on. HIWAT_E_NODATA as above. */
int alerts_give_back(struct alerts *a, const char *key, uint64_t wall_ns);
/* A person closes what nobody can see any more. HIWAT_E_REJECTED unless object_gone or blind; HIWAT_E_NODATA as above. */
int alerts_close(struct alerts *a, const char *key, const char *by, uint64_t wall_ns);

/*
 * A silence is in force from now on, or from its beginning. Takes it over, also on failure. HIWAT_E_FULL: there are
 * SILENCES_MAX, or the store has no room; HIWAT_E_NOMEM.
 */
int alerts_add_silence(struct alerts *a, struct silence *silence, uint64_t wall_ns);
/* It ends now; what ended more than a day ago is not known any more: HIWAT_E_NODATA. *silence is borrowed. */
int alerts_end_silence(struct alerts *a, const char *id, uint64_t wall_ns, const struct silence **silence);
/* Those that have not ended, or ended within the last day; the newest first. */
void alerts_each_silence(const struct alerts *a, void (*fn)(void *arg, const struct silence *s), void *arg);
/* The zone for the hours of silences. */
const struct zone *alerts_zone(const struct alerts *a);

/* All incidents that are open or ended within the last day; newest change first. HIWAT_E_NOMEM. */
int alerts_each(const struct alerts *a, void (*fn)(void *arg, const struct incident *i), void *arg);
const struct incident *alerts_find(const struct alerts *a, const char *key);
/* Open incidents by level; for metrics. */
void alerts_count(const struct alerts *a, size_t open[RULE_LEVEL_CRITICAL + 1]);

#endif
