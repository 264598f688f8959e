/*
 * From the outbox to people. A sink is one file and one row in table.c; each route has its own thread, so that a sink that
 * hangs delays no other. Sinks know no rules and no SQL: they get an incident as JSON.
 *
 * A notification is tried until it is accepted, refused for good or expired, after pauses that double from retry_min_ms to
 * retry_max_ms, with jitter, or as long as the receiver asked for. While a route fails it tries one notification per pause,
 * each in its turn. Notifications of one incident go in order. A receiver may get one twice (its answer was lost), always
 * under the same key and generation.
 *
 * A sink with a refresh() is handed all that is open once a minute as well, from the store: its receiver forgets.
 */
#ifndef HIWAT_COLLECTOR_NOTIFY_H
#define HIWAT_COLLECTOR_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct store;

/* A configured way out. Strings borrowed from the configuration, "" when not given. */
struct route {
	const char *name;
	const char *sink; /* name of a row in sinks[] */
	const char *url;
	const char *secret_file; /* key for signatures or tokens */
	const char *ca_file;
	const char *const *command; /* program by absolute path and its arguments */
	size_t n_command;
	const char *min_level; /* "warning" (default) or "critical"; advice never goes out */
	bool updates;          /* tell "update" and "acknowledge" too */
	uint64_t timeout_ms, expire_ms, repeat_ms;
	const char *const *urls; /* of a sink with several receivers; url when there are none */
	size_t n_urls;
	const char *user, *from; /* of mail, with to and no_starttls; secret_file then holds the user's password */
	const char *const *to;
	size_t n_to;
	bool no_starttls;                    /* TLS is not required */
	uint64_t retry_min_ms, retry_max_ms; /* 0: a second, five minutes */
	const char *public_url;              /* of the collector's web side as people reach it, without a slash at its end */
	uint64_t refresh_ms;                 /* 0: REFRESH_MS */
};

#define REFRESH_MS 60000

/* What became of one delivery. */
enum delivery { DELIVERY_DONE, DELIVERY_RETRY, DELIVERY_REFUSED };

/* What is to be delivered. Key and generation name it: the same pair is the same notification, sent again. Borrowed. */
struct notice {
	const char *incident_key;
	unsigned generation;
	const char *event; /* "trigger", "escalate", "update", "acknowledge", "repeat", "resolve", "was" */
	const char *json;  /* the incident, as incident_json.h describes it */
};

/* Options of a route that not every sink has a use for. */
enum {
	SINK_URL = 1,
	SINK_SECRET_FILE = 2,
	SINK_CA_FILE = 4,
	SINK_COMMAND = 8,
	SINK_URLS = 16,
	SINK_MAIL = 32,
	SINK_USER = 64
};

struct sink {
	const char *name;
	const char *help;
	unsigned takes, needs; /* SINK_*; needs is part of takes. What takes SINK_URLS needs those or a url */
	/* Prepares what is kept between deliveries. HIWAT_E_CONFIG with a sentence in why when the route cannot work. */
	int (*open)(const struct route *route, void **state, struct buf *why);
	/*
	 * One try, within route->timeout_ms. RETRY and REFUSED say why, without secrets; *retry_after_ms is what the receiver
	 * asked for, 0 for none. why of DONE is the receipt.
	 */
	enum delivery (*send)(void *state, const struct route *route, const struct notice *notice, struct buf *why,
	    uint64_t *retry_after_ms);
	/*
	 * For receivers that forget what they are not told again, NULL for others: the documents, as stored, of n incidents
	 * that the route was told of and whose end it was not told. All of those are handed to it within each refresh_ms, piece
	 * by piece, beside what the outbox holds; what it is handed never comes after the end. Returns and why as send(); why
	 * of DONE says who of several receivers did not take it.
	 */
	enum delivery (
	    *refresh)(void *state, const struct route *route, const char *const *incidents, size_t n, struct buf *why);
	void (*close)(void *state);
	/*
	 * Appends what send() hands over for a notice, for sinks whose receiver documents limits; NULL, with validate, for others.
	 * state NULL: without open(), something as long stands for the secret. HIWAT_E_NOMEM, HIWAT_E_FORMAT when the notice
	 * is no incident.
	 */
	int (*render)(void *state, const struct route *route, const struct notice *notice, struct buf *out);
	/* Whether that is within the receiver's limits: HIWAT_E_CONFIG and a sentence in why when not. */
	int (*validate)(const char *rendered, struct buf *why);
};

extern const struct sink *const sinks[]; /* ended by NULL */
const struct sink *sink_find(const char *name);

struct notifier;

struct route_stats {
	uint64_t delivered, failed, expired; /* notifications, tries, notifications (expired or refused) */
	uint64_t last_success_ns;            /* Unix time */
	bool failing;
};

/*
 * Starts one thread per route; all borrowed. The store wakes them after each commit that added notifications.
 * HIWAT_E_CONFIG and a sentence in why for a route that cannot work.
 */
int notifier_start(const struct route *routes, unsigned n_routes, struct store *store, struct notifier **n, struct buf *why);
/* Tells the routes that the outbox grew; harmless when it did not. */
void notifier_wake(struct notifier *n);
void notifier_stats(struct notifier *n, unsigned route, struct route_stats *out);
/* Ends the deliveries under way at their deadline and joins the threads. What waits stays in the outbox. */
void notifier_stop(struct notifier *n);

#endif
