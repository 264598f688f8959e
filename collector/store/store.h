/*
 * What must survive: incidents, the outbox of notifications and each host's last committed batch. SQLite in WAL mode with
 * synchronous=FULL; one writer thread that groups what is waiting into one commit. Knows neither rules nor HTTP: it stores
 * rows. All functions may be called from any thread.
 */
#ifndef HIWAT_COLLECTOR_STORE_H
#define HIWAT_COLLECTOR_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

#define STORE_KEY_LEN 32 /* of an incident's key: hexadecimal digits, without the NUL */

/* One notification waiting for one route. In a row that the store hands out all strings are owned by the row. */
struct outbox_row {
	int64_t id; /* grows; 0 before it is stored */
	char incident_key[STORE_KEY_LEN + 1];
	unsigned generation;
	char *route;
	char *event;   /* "trigger", "escalate", "update", "acknowledge", "repeat", "resolve", "was" */
	char *payload; /* the incident as JSON, made when the change happened */
	uint64_t created_ns, next_try_ns, expires_ns; /* Unix time */
	unsigned tries;
	char *last_error; /* NULL: none */
};

/* An incident's new state; borrowed. */
struct store_incident {
	char key[STORE_KEY_LEN + 1];
	const char *json;
	bool closed; /* nothing more is expected of it: store_each_incident() may leave it out */
};

/* A silence as the collector's document; borrowed. */
struct store_silence {
	char id[17];
	const char *json;
	uint64_t ends_ns; /* Unix time */
};

/* One change, all that one batch did to one host: written whole or not at all. Everything is borrowed and copied. */
struct store_change {
	const struct store_incident *incidents;
	size_t n_incidents;
	const struct outbox_row *notifications; /* route, event and payload are read, never changed */
	size_t n_notifications;
	const struct store_silence *silence; /* NULL: none */
	uint64_t wall_ns;
	uint8_t host_uuid[16];
	uint64_t stream, sequence; /* the batch that caused it; stream 0: none */
	bool late;                 /* it came as backlog: live batches overtake those, so each has its own progress */
};

/*
 * path: the database file; path.lock beside it keeps a second process out. A damaged file is moved aside (its new name in
 * *moved_aside, owned; NULL otherwise) and a new one is begun.
 * HIWAT_E_AGAIN  another process has it        HIWAT_E_VERSION  a later release or another program wrote it
 * HIWAT_E_SYS    the directory cannot be used, see errno  HIWAT_E_NOMEM  memory is out
 */
int store_open(const char *path, struct store **store, char **moved_aside);
/* Commits what is waiting, if the disk takes it, then closes. */
void store_close(struct store *store);
/* Called by the writer thread after each commit that added notifications; it must not call the store. NULL: nobody. */
void store_on_outbox(struct store *store, void (*fn)(void *arg), void *arg);

/* Queues a change for the next commit (20 ms away at most). HIWAT_E_FULL, HIWAT_E_NOMEM: it was not taken. */
int store_put(struct store *store, const struct store_change *change);
/*
 * Waits until everything queued so far is on disk. HIWAT_E_SYS when the disk refuses: then nothing may be acknowledged.
 * What is queued stays there and is tried again every second.
 */
int store_flush(struct store *store);
/* False while commits fail; *why is borrowed until the next call and "" while all is well. */
bool store_healthy(struct store *store, const char **why);

/*
 * Called at start, on a connection of their own. fn returns false to stop. Incidents: those not closed, and of the closed
 * ones those changed at closed_since_ns or later. HIWAT_E_SYS when the file cannot be read.
 */
int store_each_incident(struct store *store, uint64_t closed_since_ns,
    bool (*fn)(void *arg, const char *key, const char *json), void *arg);
/*
 * At any time, as committed: at most max of the incidents that are not closed, of those behind the place after; 0 begins.
 * *last: where to go on, 0 when these were the last. fn must not call the store and returns false when memory is out.
 * HIWAT_E_NOMEM; HIWAT_E_SYS.
 */
int store_open_incidents(struct store *store, int64_t after, size_t max, bool (*fn)(void *arg, const char *json), void *arg,
    int64_t *last);
int store_each_silence(struct store *store, bool (*fn)(void *arg, const char *json), void *arg);
int store_each_progress(struct store *store,
    bool (*fn)(void *arg, const uint8_t uuid[16], uint64_t stream, bool late, uint64_t sequence), void *arg);
/*
 * Forgets a bounded piece of what is older than 30 days or more than 100,000 rows: finished notifications, closed
 * incidents, progress, silences that ended. Notifications that are a day past their time without a thread that gave them up (their route is gone)
 * are given up. Queued like a change; alerts_tick() calls it once a minute.
 */
int store_prune(struct store *store, uint64_t now_ns);

/*
 * Rows of a route that are due, oldest first. Of one incident only the first waiting row is due, so order is kept. Rows
 * whose result (below) is queued and not yet committed are left out. One thread per route.
 */
int
store_outbox_due(struct store *store, const char *route, uint64_t now_ns, size_t max, struct outbox_row **rows, size_t *n);
void store_outbox_free(struct outbox_row *rows, size_t n);
/* Delivered; receipt: what the receiver said, may be NULL. These three are queued like a change, past the queue's bound. */
int store_outbox_done(struct store *store, int64_t id, uint64_t now_ns, const char *receipt);
int store_outbox_retry(struct store *store, int64_t id, uint64_t next_try_ns, const char *error);
/* Given up: too late, or refused for good. */
int store_outbox_expire(struct store *store, int64_t id, uint64_t now_ns, const char *error);
/* Waiting rows, and how long the oldest has been waiting, for metrics. */
int store_outbox_stats(struct store *store, uint64_t now_ns, size_t *waiting, uint64_t *oldest_ns);

#endif
