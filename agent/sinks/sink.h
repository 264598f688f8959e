/*
 * A way to a collector. A sink carries one encoded batch at a time and says what became of it; it sees no samples, keeps
 * no queue and decides nothing: order, retries and fail-over are the sender's.
 */
#ifndef HIWAT_AGENT_SINK_H
#define HIWAT_AGENT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All borrowed for the life of the sink. */
struct sink_settings {
	const char *ca_file;              /* NULL: the system's authorities */
	const char *cert_file, *key_file; /* NULL: no certificate */
	const char *token_file;           /* NULL: no token */
	uint64_t timeout_ms;              /* of one delivery, connecting included */
	/* Asked while a delivery is under way: true gives it up. */
	bool (*is_over)(void *arg);
	void *arg;
};

struct sink_batch {
	const void *data;
	size_t len;
	bool is_zstd;
	uint64_t oldest; /* lowest sequence that the spool still has */
};

enum sink_fate {
	SINK_ACKNOWLEDGED, /* the numbers of the reply hold */
	SINK_REJECTED,     /* this batch will never be taken */
	SINK_REFUSED,      /* nothing will be taken before a person changes something; the batch is fine */
	SINK_FAILED        /* try again later */
};

struct sink_reply {
	enum sink_fate fate;
	uint64_t received, durable; /* as in message Ack */
	uint32_t backlog_interval_ms;
	uint64_t retry_after_ms; /* what the other side asked for; 0: nothing */
	char why[320];           /* for people, when it was not acknowledged */
};

struct sink {
	const char *const *schemes; /* "https://", ...; ended by NULL */
	/* Takes no resources of the network yet. HIWAT_E_NOMEM. */
	int (*open)(const struct sink_settings *settings, void **state);
	void (*send)(void *state, const char *url, const struct sink_batch *batch, struct sink_reply *reply);
	/*
	 * Asks that this host be not told of for a while, by the document of collector/maintenance.c. ACKNOWLEDGED when it is
	 * so, the answer in why. NULL: this way carries batches alone.
	 */
	void (*maintain)(void *state, const char *url, const char *json, struct sink_reply *reply);
	void (*close)(void *state);
};

/* All sinks, ended by NULL. */
extern const struct sink *const sinks[];

/* The sink for a URL; NULL when there is none. */
const struct sink *sink_find(const char *url);

#endif
