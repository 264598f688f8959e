/*
 * From a batch to its consequences: the host table, the rules, the incidents. It reads no clock, so that what is recorded
 * can be judged again as it was: times are arguments. The pipeline drives it with what arrives now, replay with what arrived
 * once. Not thread-safe.
 */
#ifndef HIWAT_COLLECTOR_JUDGE_H
#define HIWAT_COLLECTOR_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "alert.h"
#include "hosts.h"
#include "log.h"
#include "rule.h"
#include "watch.h"

struct intake_batch;
struct store;
struct zone;

struct judge_config {
	unsigned hosts_max, series_max;
	uint64_t silent_min_ms;
	const struct zone *zone; /* of the hours of silences; copied; NULL: UTC */
};

/* How a batch arrived. */
struct arrival {
	const char *identity; /* name of the client's certificate, NULL without one */
	uint64_t mono_ns, wall_ns;
	uint64_t sent_wall_ns; /* by the host's clock, 0 unknown */
	uint64_t oldest;       /* lowest sequence that the sender still has, 0 unknown */
	const uint8_t *data;   /* the batch as protobuf, to be recorded; NULL: it is not */
	size_t len;
};

struct judge_stats {
	uint64_t batches, duplicates, late, refused, values;
	unsigned silent_hosts;
};

/* Its members are there to be read; what they point to is owned. */
struct judge {
	struct judge_config config;
	struct labels *labels;
	struct hosts *hosts;
	struct rule_set *rules;
	struct alerts *alerts;
	struct watch watch;
	struct judge_stats stats;
	uint64_t mono_ns, wall_ns; /* of what is being judged */
	struct log_complaint room_complaint;
};

/*
 * Takes over the rules, also on failure. store: see alerts_new(). *unreadable counts incidents in it that could not be
 * understood. HIWAT_E_NOMEM: also when the store cannot be read.
 */
int judge_init(struct judge *j, const struct judge_config *config, struct rule_set *rules, struct store *store,
    const struct alert_route *routes, size_t n_routes, uint64_t wall_ns, size_t *unreadable);
/* Also one that is zeroed, or whose init failed. */
void judge_fini(struct judge *j);

/*
 * Takes one decoded batch; alerts_commit() is to follow. HIWAT_OK: ack is filled, also for a duplicate. HIWAT_E_DENIED: the
 * identity may not speak for this host. HIWAT_E_FULL: no room for another host, or too many gaps; come back later.
 * HIWAT_E_NOMEM. *why is a static sentence.
 */
int
judge_batch(struct judge *j, struct intake_batch *batch, const struct arrival *arrival, Hiwat__Ack *ack, const char **why);
/* Timers: silent hosts, incidents; about once a second. Commits; errors are those of alerts_tick(). */
int judge_tick(struct judge *j, uint64_t mono_ns, uint64_t wall_ns);
/*
 * Nobody was listening until now: who was silent meanwhile is not known, all hosts get the full time again, and their
 * incidents are compared with their rules once all samplers were heard.
 */
void judge_resume(struct judge *j, uint64_t mono_ns);
/* Takes over a new rule set; the state of rules that did not change goes on. */
void judge_reload(struct judge *j, struct rule_set *rules);
/* Frees label sets that only vanished series used. */
void judge_sweep_labels(struct judge *j);
/* Drops all hosts. False when memory is out. */
bool judge_forget_hosts(struct judge *j);

#endif
