/*
 * The judge behind a lock, with what makes its work last: the store, the snapshot, the recording. Decoding happens before the
 * lock is taken, disks and pagers are behind queues. The only file that knows all the parts.
 */
#ifndef HIWAT_COLLECTOR_PIPELINE_H
#define HIWAT_COLLECTOR_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "judge.h"

struct pipeline;
struct record_queue;
struct store;

struct pipeline_config {
	const char *snapshot_path;
	struct judge_config judge;
	struct record_queue *record; /* borrowed; NULL: nothing is recorded */
};

/*
 * Takes over the rules, also on failure. store and routes are borrowed. Reads the snapshot and the incidents; what was
 * there, or was damaged, is logged. NULL after logging why.
 */
struct pipeline *pipeline_new(const struct pipeline_config *config, struct rule_set *rules, struct store *store,
    const struct alert_route *routes, size_t n_routes);
void pipeline_free(struct pipeline *p);

/*
 * Takes one decoded batch. HIWAT_OK: ack is filled, also for a duplicate. HIWAT_E_DENIED: the identity may not speak for
 * this host. HIWAT_E_FULL: no room for another host, or too many gaps; come back later. *why is a static sentence.
 */
int pipeline_batch(struct pipeline *p, struct intake_batch *batch, const struct arrival *arrival, Hiwat__Ack *ack,
    const char **why);

/* Timers: silent hosts, incidents. About once a second. */
void pipeline_tick(struct pipeline *p, uint64_t mono_ns, uint64_t wall_ns);
/* Writes the snapshot and lets agents forget what it holds. HIWAT_E_SYS when the disk or the store refuses. */
int pipeline_snapshot(struct pipeline *p);
/* Takes over a new rule set; the state of rules that did not change goes on. */
void pipeline_reload(struct pipeline *p, struct rule_set *rules);

struct pipeline_stats {
	uint64_t batches, duplicates, late, refused, values;
	uint64_t rules_ns; /* CPU time in the pipeline's lock */
	uint64_t snapshots, snapshot_failures, snapshot_wall_ns;
	unsigned hosts, silent_hosts, label_sets;
	size_t rules;
	size_t host_bytes; /* values and rule state of all hosts; worked out for the call */
};
void pipeline_stats(struct pipeline *p, struct pipeline_stats *out);

/* Access for readers, under the lock; short. */
void pipeline_read(struct pipeline *p, void (*fn)(void *arg, struct pipeline *p), void *arg);
struct hosts *pipeline_hosts(struct pipeline *p);
struct labels *pipeline_labels(struct pipeline *p);
struct alerts *pipeline_alerts(struct pipeline *p);
const struct rule_set *pipeline_rules(struct pipeline *p);

#endif
