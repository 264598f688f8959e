/*
 * From the outbox to people. A sink is one file and one row in table.c; each route has its own thread, so that a sink that
 * hangs delays no other. Sinks know no rules and no SQL: they get an incident as JSON.
 */
#ifndef HIWAT_COLLECTOR_NOTIFY_H
#define HIWAT_COLLECTOR_NOTIFY_H

#include <stdbool.h>
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
	const char *min_level; /* "warning" (default), "critical", "advice" */
	uint64_t timeout_ms, expire_ms, repeat_ms;
};

/* What became of one delivery. */
enum delivery { DELIVERY_DONE, DELIVERY_RETRY, DELIVERY_REFUSED };

struct sink {
	const char *name;
	const char *help;
	/* Prepares what is kept between deliveries. HIWAT_E_CONFIG with a sentence in why when the route cannot work. */
	int (*open)(const struct route *route, void **state, struct buf *why);
	/*
	 * One try, within route->timeout_ms. event and incident_json are those of the outbox row. RETRY and REFUSED say why;
	 * *retry_after_ms is what the receiver asked for, 0 for none.
	 */
	enum delivery (*send)(void *state, const struct route *route, const char *event, const char *incident_json,
	    struct buf *why, uint64_t *retry_after_ms);
	void (*close)(void *state);
};

extern const struct sink *const sinks[]; /* ended by NULL */
const struct sink *sink_find(const char *name);

struct notifier;

struct route_stats {
	uint64_t delivered, failed, expired;
	uint64_t last_success_ns; /* Unix time */
	bool failing;
};

/* Starts one thread per route. All borrowed. HIWAT_E_CONFIG and a sentence in why for a route that cannot work. */
int notifier_start(const struct route *routes, unsigned n_routes, struct store *store, struct notifier **n, struct buf *why);
/* Tells the routes that the outbox grew. */
void notifier_wake(struct notifier *n);
void notifier_stats(const struct notifier *n, unsigned route, struct route_stats *out);
/* Ends the deliveries under way at their deadline and joins the threads. What waits stays in the outbox. */
void notifier_stop(struct notifier *n);

#endif
