/*
 * What must survive: incidents, the outbox of notifications, each host's last committed batch, silences, inventory. SQLite
 * in WAL mode with synchronous=FULL; one writer thread that groups what is waiting into one commit. Knows neither rules
 * nor HTTP: it stores rows.
 */
#ifndef HIWAT_COLLECTOR_STORE_H
#define HIWAT_COLLECTOR_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* One notification waiting for one route. Strings owned by whoever holds the struct. */
struct outbox_row {
	int64_t id; /* grows; 0 before it is stored */
	char incident_key[33];
	unsigned generation;
	char *route;
	char *event;   /* "trigger", "escalate", "resolve", "acknowledge", "repeat", "was" */
	char *payload; /* the incident as JSON, made when the change happened */
	uint64_t created_ns, next_try_ns, expires_ns; /* Unix time */
	unsigned tries;
	char *last_error;
};

/* One change: written whole or not at all. payloads are JSON. */
struct store_change {
	char incident_key[33];
	const char *incident_json; /* the incident's new state; NULL: unchanged */
	bool incident_closed;      /* no longer open */
	uint64_t wall_ns;
	uint8_t host_uuid[16];
	uint64_t stream, sequence; /* the batch that caused it; stream 0: none */
	const struct outbox_row *notifications;
	size_t n_notifications;
};

/*
 * path: the database file. A damaged file is moved aside with its name in *moved_aside (owned, NULL otherwise) and a new
 * one is begun. HIWAT_E_SYS when the directory cannot be used.
 */
int store_open(const char *path, struct store **store, char **moved_aside);
/* Commits what is waiting, then closes. */
void store_close(struct store *store);

/* Queues a change for the next commit (at most some milliseconds away). HIWAT_E_FULL when the queue is at its bound. */
int store_put(struct store *store, const struct store_change *change);
/* Waits until everything queued so far is on disk. HIWAT_E_SYS when the disk refuses; then nothing is acknowledged. */
int store_flush(struct store *store);
/* False while commits fail; *why is static or borrowed until the next call. */
bool store_healthy(const struct store *store, const char **why);

/* Called at start. fn returns false to stop. */
int store_each_incident(struct store *store, bool only_open, bool (*fn)(void *arg, const char *key, const char *json), void *arg);
int store_each_progress(struct store *store,
    bool (*fn)(void *arg, const uint8_t uuid[16], uint64_t stream, uint64_t sequence), void *arg);

/* Outbox, for the notifier: rows of a route that are due, oldest first; delivery results. */
int store_outbox_due(struct store *store, const char *route, uint64_t now_ns, size_t max, struct outbox_row **rows, size_t *n);
void store_outbox_free(struct outbox_row *rows, size_t n);
int store_outbox_done(struct store *store, int64_t id, uint64_t now_ns, const char *receipt);
int store_outbox_retry(struct store *store, int64_t id, uint64_t next_try_ns, const char *error);
int store_outbox_expire(struct store *store, int64_t id, const char *error);
/* Waiting rows and the age of the oldest, for metrics. */
int store_outbox_stats(struct store *store, uint64_t now_ns, size_t *waiting, uint64_t *oldest_ns);

#endif
