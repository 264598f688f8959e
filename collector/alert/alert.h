/*
 * From rule events to incidents. Per host, cause and object there is one incident: the worst level speaks, the other rules
 * are lines in it. Every change that matters is handed to the store as one transaction together with its notifications.
 * Knows rules; knows no HTTP and no SQL. Not thread-safe: the pipeline's lock guards it.
 */
#ifndef HIWAT_COLLECTOR_ALERT_H
#define HIWAT_COLLECTOR_ALERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rule.h"

struct alerts;
struct store;

#define INCIDENT_KEY_LEN 32 /* hexadecimal digits, without the NUL */
#define INCIDENT_LINES_MAX 16

enum incident_status { INCIDENT_OPEN, INCIDENT_RESOLVED, INCIDENT_WAS, INCIDENT_GAVE_UP };

/* One rule inside an incident. Strings are owned by the incident. */
struct incident_line {
	char *rule_id;
	enum rule_status status;
	enum rule_level level;
	double value, threshold, limit, seconds_to_limit;
	uint64_t since_ns; /* Unix time */
	char *summary, *description, *remedy, *doc;
};

struct incident {
	char key[INCIDENT_KEY_LEN + 1]; /* hash of host uuid, cause and object: the same on every collector, for ever */
	uint8_t host_uuid[16];
	char *host_name;
	char *cause;
	char *object; /* label="value",... of the object; "" for the whole host */
	char *labels_json; /* host labels and object labels, for routes and receivers */
	enum incident_status status;
	enum rule_level level, worst_level;
	uint64_t opened_ns, changed_ns, resolved_ns; /* Unix time; resolved 0 while open */
	uint64_t blind_since_ns;                     /* since when its sampler gives no value, 0: it sees */
	bool object_gone, acknowledged, flapping;
	char *acknowledged_by;
	unsigned generation; /* grows with each change that was notified: receivers can tell old from new */
	size_t n_lines;
	struct incident_line lines[INCIDENT_LINES_MAX];
};

/* Who the event is about. Borrowed for the call. */
struct alert_host {
	uint8_t uuid[16];
	const struct host_view *view;
	uint64_t stream, sequence; /* of the batch that the event comes from; 0, 0 for what the collector itself found */
	uint64_t wall_ns;          /* of the event, by the collector's clock */
	uint64_t boot_wall_ns;     /* wall time at which the host's boot-time clock was 0, by the collector's clock */
	bool late;                 /* from backlog: an incident opened here is told once, as "was, from ... to ..." */
};

/* store: borrowed; open incidents are read from it. NULL when memory is out or the store cannot be read. */
struct alerts *alerts_new(struct store *store);
void alerts_free(struct alerts *a);

/*
 * Takes one event. Events of a batch that the store already holds (same stream, sequence not above the one committed) are
 * ignored, so that a collector that is sent batches again after a crash neither pages nor resolves twice.
 */
int alerts_event(struct alerts *a, const struct alert_host *host, const struct rule_event *event);
/* Timers: resolve hold, flapping, given-up hosts, repeats. Call about once a second. */
void alerts_tick(struct alerts *a, uint64_t wall_ns);

/* A person takes it over: repeats stop. HIWAT_E_NODATA when no such incident is open. */
int alerts_acknowledge(struct alerts *a, const char *key, const char *by, uint64_t wall_ns);

/* All incidents that are open or were resolved within the last day; newest first. */
void alerts_each(const struct alerts *a, void (*fn)(void *arg, const struct incident *i), void *arg);
const struct incident *alerts_find(const struct alerts *a, const char *key);

#endif
