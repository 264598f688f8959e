/* What the files of this folder share. */
#ifndef HIWAT_COLLECTOR_ALERT_INTERNAL_H
#define HIWAT_COLLECTOR_ALERT_INTERNAL_H

#include "alert.h"
#include "hours.h"
#include "silences.h"

#define ALERT_GRACE_NS (300 * 1000000000ULL)
#define ALERT_KEEP_NS (86400 * 1000000000ULL) /* ended incidents stay in memory for so long */
#define ALERT_GIVE_UP_NS (30 * 86400 * 1000000000ULL)
#define ALERT_FLAP_WINDOW_NS (3600 * 1000000000ULL)
#define ALERT_FLAP_ABOVE 6 /* changes in the window */
#define ALERT_FLAP_BELOW 3
#define ALERT_FLAP_INTERVAL_NS (1800 * 1000000000ULL)
#define ALERT_OUTAGE_QUIET_NS (600 * 1000000000ULL) /* nothing critical from the backlog for so long: the outage is told */
#define ALERT_PER_HOST_MAX 1000                     /* incidents in memory; a host that has more is broken */
#define ALERT_PRUNE_NS (60 * 1000000000ULL)
#define ALERT_PROGRESS_MAX 16 /* streams that are remembered per host, the newest */

/* Anything found by 16 bytes: first member of what is in a map. */
struct map_node {
	struct map_node *next;
	uint8_t key[16];
};
struct map {
	struct map_node **buckets;
	size_t n_buckets, n; /* n_buckets is 0 or a power of two */
};
struct map_node *map_find(const struct map *m, const uint8_t key[16]);
/* node->key is set. False when memory is out. */
bool map_add(struct map *m, struct map_node *node);
void map_remove(struct map *m, struct map_node *node);
/* The node after this one in no particular order; NULL begins and ends. Adding in between is not allowed. */
struct map_node *map_next(const struct map *m, const struct map_node *node);
void map_fini(struct map *m);

/* Up to which batch of a stream the store holds what came of it. */
struct progress {
	uint64_t stream, sequence;
	bool late;
};

struct entry;

struct alert_host_state {
	struct map_node node; /* by uuid */
	struct entry *first;
	unsigned n_entries;
	struct entry *outage; /* what is being gathered from backlog, or NULL */
	bool silent;          /* host-silent holds */
	unsigned n_progress;
	struct progress progress[ALERT_PROGRESS_MAX]; /* the last one changed stands last */
};

enum tell {
	TELL_NONE,
	TELL_TRIGGER,
	TELL_ESCALATE,
	TELL_UPDATE,
	TELL_ACKNOWLEDGE,
	TELL_REPEAT,
	TELL_RESOLVE,
	TELL_WAS,
	TELL_LATE, /* nothing new, but a route that did not know of it is now reached */
	TELL_N
};

struct entry {
	struct map_node node; /* by key */
	struct alert_host_state *host;
	struct entry *next_of_host;
	struct incident i;
	bool dirty;                           /* differs from what the store holds */
	bool update, acknowledge;             /* something happened that routes with updates want to know */
	bool loud;                            /* open at warning or worse, when last looked at */
	unsigned matched;                     /* the conditions it was held against: of alerts, 0 none since it changed */
	uint64_t fits;                        /* routes, by position, whose conditions it meets */
	uint64_t silenced[SILENCES_MAX / 64]; /* likewise silences, whether in force or not */
	uint64_t knows;                       /* routes that were told and not yet of the end */
	uint64_t touched_ns;                  /* outage: last event, by the collector's clock */
	bool over;                            /* outage: its backlog is there whole */
};

struct alerts {
	struct store *store; /* NULL: none */
	alert_watcher *watcher;
	void *watcher_arg;
	const struct alert_route *routes;
	size_t n_routes;
	struct map incidents, hosts;
	struct silence *silences[SILENCES_MAX]; /* owned; the oldest first */
	size_t n_silences;
	struct zone zone;
	unsigned conditions; /* grows when routes or silences change */
	uint64_t now_ns;     /* the latest time that was handed in by live events and ticks */
	uint64_t prune_ns;   /* when the store is next asked to forget */
	/* The batch whose events are being taken. */
	struct alert_host_state *batch_host;
	uint64_t stream, sequence, batch_ns;
	bool late, in_batch;
};

/* To the store, where there is one. Errors are those of store_put(). */
int alerts_put(struct alerts *a, const struct store_change *change);
/* Finds or makes; NULL when memory is out. */
struct alert_host_state *alerts_host(struct alerts *a, const uint8_t uuid[16]);
struct entry *entry_new(struct alerts *a, struct alert_host_state *host, const uint8_t key[16]);
void entry_free(struct alerts *a, struct entry *e);
/* Takes the host's name and labels into the incident. */
bool entry_describe(struct entry *e, const struct alert_host *host);

/* After lines changed: status, level and what follows from them. */
void entry_settle(struct entry *e, uint64_t wall_ns);
/* Takes the event's values and texts into the line. False when memory is out. */
bool line_fill(struct incident_line *line, const struct alert_host *host, const struct rule_event *event, uint64_t since_ns);
uint64_t event_since(const struct alert_host *host, const struct rule_event *event);
/* label="value",... of a label set; owned, NULL when memory is out. */
char *labels_as_text(const struct labels *labels, uint32_t set);
/* name="value",... as a JSON object; owned, NULL when memory is out. */
char *labels_as_json(const struct sample_label *labels, unsigned n);
/* After lines changed: whether the host counts as silent. */
void host_relabel(struct alert_host_state *host);
/* Ends an incident whatever its lines say. */
void entry_end(struct entry *e, enum incident_status status, uint64_t wall_ns);
/* The store holds this batch of the host. */
void alerts_note_progress(struct alert_host_state *host, uint64_t stream, bool late, uint64_t sequence);
/* Whether a line of rule host-silent holds in it. */
bool entry_is_silence(const struct entry *e);

/* An event of a live batch, or of the collector itself. */
int alerts_live_event(struct alerts *a, const struct alert_host *who, const struct rule_event *event);
/* An event of the backlog; what is not critical is passed over. */
int
outage_event(struct alerts *a, struct alert_host_state *host, const struct alert_host *who, const struct rule_event *event);
/* Whether the backlog has come to rest and the outage can be told. */
bool outage_over(const struct entry *e, uint64_t wall_ns);

/* A place for the silence, if need be that of one that has ended. False when all are taken. */
bool silences_keep(struct alerts *a, struct silence *s, uint64_t wall_ns);
/* Those that ended so long ago leave memory; the store keeps them longer. */
void silences_forget(struct alerts *a, uint64_t wall_ns, uint64_t ended_ns);

/* What there is to tell of an incident now. */
enum tell entry_tell(const struct alerts *a, struct entry *e, uint64_t wall_ns);
/* The silence in force that is for it, or NULL. */
const struct silence *entry_silence(const struct alerts *a, struct entry *e, uint64_t wall_ns);
/* Whether a route, by position, takes the incident as it stands now. */
bool entry_reaches(const struct alerts *a, struct entry *e, size_t route, uint64_t wall_ns);
/* The names of the routes that know of it as text, and back. False when memory is out. */
bool entry_name_routes(const struct alerts *a, struct entry *e);
void entry_find_routes(const struct alerts *a, struct entry *e);
/* Whether a route with repeats is due one. */
bool route_repeats(const struct alert_route *route, const struct incident_told *told, uint64_t wall_ns);
/* Time's work on an incident: flapping that ended, a level that has been lower for long enough. */
void entry_age(struct entry *e, uint64_t wall_ns);
/* Notes an opening, a rise or an end, to tell flapping. */
void entry_note_change(struct entry *e, uint64_t wall_ns);
/*
 * Writes what is dirty or to be told of a host as one change. stream 0: no batch. On failure everything stays dirty and
 * nothing counts as told.
 */
int alerts_write(struct alerts *a, struct alert_host_state *host, uint64_t stream, bool late, uint64_t sequence,
    uint64_t wall_ns);

#endif
