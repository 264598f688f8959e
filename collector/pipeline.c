#include "pipeline.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "err.h"
#include "log.h"
#include "record_queue.h"
#include "recording.h"
#include "snapshot.h"
#include "store.h"

#define TOPIC "pipeline"
#define SNAPSHOT_PIECE 64 /* hosts written while the lock is held once */

struct pipeline {
	pthread_mutex_t lock;
	struct pipeline_config config;
	struct judge judge;
	struct store *store;
	struct pipeline_stats stats;
	struct log_complaint store_complaint;
	struct log_complaint snapshot_complaint;
	pthread_mutex_t snapshot_lock; /* one snapshot at a time */
};

static int
load_snapshot(struct pipeline *p)
{
	struct judge *j = &p->judge;
	int err = snapshot_load(p->config.snapshot_path, j->hosts, j->rules, j->labels);

	if (err == HIWAT_OK) {
		log_info(TOPIC, "%u hosts from %s", hosts_count(j->hosts), p->config.snapshot_path);
	} else if (err == HIWAT_E_NODATA) {
		log_info(TOPIC, "no snapshot at %s: a first start", p->config.snapshot_path);
	} else {
		log_error(TOPIC, "snapshot %s: %s; starting without it, agents will send again", p->config.snapshot_path,
		    err == HIWAT_E_CORRUPT ? "damaged or of another build, moved to .damaged" : err_text(err));
		if (!judge_forget_hosts(j))
			return HIWAT_E_NOMEM;
	}
	judge_resume(j, clock_mono_ns());
	return HIWAT_OK;
}

struct pipeline *
pipeline_new(const struct pipeline_config *config, struct rule_set *rules, struct store *store,
    const struct alert_route *routes, size_t n_routes)
{
	struct pipeline *p = calloc(1, sizeof(*p));
	size_t unreadable = 0;

	if (p == NULL) {
		rule_set_free(rules);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_mutex_init(&p->snapshot_lock, NULL);
	p->config = *config;
	p->store = store;
	int err = judge_init(&p->judge, &config->judge, rules, store, routes, n_routes, clock_wall_ns(), &unreadable);
	if (unreadable > 0)
		log_error(TOPIC, "%zu incidents in the store could not be understood; they are left alone", unreadable);
	if (err == HIWAT_OK)
		err = load_snapshot(p);
	if (err != HIWAT_OK) {
		log_error(TOPIC, "cannot start: out of memory, or the store cannot be read");
		pipeline_free(p);
		return NULL;
	}
	return p;
}

void
pipeline_free(struct pipeline *p)
{
	if (p == NULL)
		return;
	judge_fini(&p->judge);
	pthread_mutex_destroy(&p->lock);
	pthread_mutex_destroy(&p->snapshot_lock);
	free(p);
}

/* Hands what the events did to the store. What it does not take now is tried again, and the snapshot waits for it. */
static void
commit_events(struct pipeline *p, int err)
{
	if (err == HIWAT_OK)
		log_recovered(&p->store_complaint, TOPIC, "incidents are stored again");
	else
		log_complain(&p->store_complaint, clock_mono_ns(), TOPIC, "incidents cannot be stored: %s; trying again",
		    err_text(err));
}

static void
record(struct pipeline *p, const struct recording_entry *entry)
{
	if (p->config.record != NULL)
		record_queue_put(p->config.record, entry);
}

int
pipeline_batch(struct pipeline *p, struct intake_batch *batch, const struct arrival *arrival, Hiwat__Ack *ack,
    const char **why)
{
	pthread_mutex_lock(&p->lock);
	uint64_t start = clock_thread_cpu_ns();
	int err = judge_batch(&p->judge, batch, arrival, ack, why);
	commit_events(p, alerts_commit(p->judge.alerts));
	/* In the order in which they were judged. */
	if (err == HIWAT_OK && arrival->data != NULL) {
		const struct recording_entry entry = {
			.type = RECORDING_BATCH,
			.wall_ns = arrival->wall_ns,
			.sent_wall_ns = arrival->sent_wall_ns,
			.oldest = arrival->oldest,
			.data = arrival->data,
			.len = arrival->len,
		};
		record(p, &entry);
	}
	p->stats.rules_ns += clock_thread_cpu_ns() - start;
	pthread_mutex_unlock(&p->lock);
	return err;
}

void
pipeline_tick(struct pipeline *p, uint64_t mono_ns, uint64_t wall_ns)
{
	pthread_mutex_lock(&p->lock);
	commit_events(p, judge_tick(&p->judge, mono_ns, wall_ns));
	const struct recording_entry entry = { .type = RECORDING_TICK, .wall_ns = wall_ns };
	record(p, &entry);
	pthread_mutex_unlock(&p->lock);
}

struct captured {
	uint64_t stream, contiguous;
};

static int
write_hosts(struct pipeline *p, struct snapshot_writer *w, struct captured **list, unsigned *n)
{
	int err = HIWAT_OK;
	unsigned i = 0, count = 1;

	for (*n = 0; err == HIWAT_OK && i < count; *n = i) {
		pthread_mutex_lock(&p->lock);
		count = hosts_count(p->judge.hosts);
		struct captured *bigger = realloc(*list, (count + 1) * sizeof(**list));
		if (bigger == NULL)
			err = HIWAT_E_NOMEM;
		else
			*list = bigger;
		for (unsigned end = i + SNAPSHOT_PIECE; err == HIWAT_OK && i < count && i < end; i++) {
			struct host *h = hosts_at(p->judge.hosts, i);
			(*list)[i] = (struct captured){ h->stream.id, h->stream.contiguous };
			err = snapshot_host(w, h, p->judge.rules, p->judge.labels);
		}
		pthread_mutex_unlock(&p->lock);
	}
	return err;
}

int
pipeline_snapshot(struct pipeline *p)
{
	struct snapshot_writer *w = NULL;
	struct captured *list = NULL;
	unsigned n = 0;

	pthread_mutex_lock(&p->snapshot_lock);
	int err = snapshot_begin(p->config.snapshot_path, &w);
	if (err == HIWAT_OK)
		err = write_hosts(p, w, &list, &n);
	/* What the hosts' events made must be on disk before the agents may forget the batches that caused them. */
	if (err == HIWAT_OK) {
		pthread_mutex_lock(&p->lock);
		err = alerts_commit(p->judge.alerts);
		pthread_mutex_unlock(&p->lock);
	}
	if (err == HIWAT_OK)
		err = store_flush(p->store);
	if (err == HIWAT_OK)
		err = snapshot_finish(w);
	else
		snapshot_abandon(w);
	int saved_errno = errno;
	pthread_mutex_lock(&p->lock);
	if (err == HIWAT_OK) {
		for (unsigned i = 0; i < n; i++) {
			struct host *h = hosts_at(p->judge.hosts, i);
			if (h->stream.id == list[i].stream)
				h->stream.durable = list[i].contiguous;
		}
		judge_sweep_labels(&p->judge);
		p->stats.snapshots++;
		p->stats.snapshot_wall_ns = clock_wall_ns();
		log_recovered(&p->snapshot_complaint, TOPIC, "snapshot %s: written again", p->config.snapshot_path);
	} else {
		p->stats.snapshot_failures++;
		log_complain(&p->snapshot_complaint, clock_mono_ns(), TOPIC,
		    "snapshot %s: %s (%s); agents keep their batches, the next try follows", p->config.snapshot_path,
		    err_text(err), strerror(saved_errno));
	}
	pthread_mutex_unlock(&p->lock);
	free(list);
	pthread_mutex_unlock(&p->snapshot_lock);
	return err;
}

void
pipeline_reload(struct pipeline *p, struct rule_set *rules)
{
	pthread_mutex_lock(&p->snapshot_lock);
	pthread_mutex_lock(&p->lock);
	judge_reload(&p->judge, rules);
	pthread_mutex_unlock(&p->lock);
	pthread_mutex_unlock(&p->snapshot_lock);
}

void
pipeline_stats(struct pipeline *p, struct pipeline_stats *out)
{
	pthread_mutex_lock(&p->lock);
	const struct judge_stats *j = &p->judge.stats;
	*out = p->stats;
	out->batches = j->batches;
	out->duplicates = j->duplicates;
	out->late = j->late;
	out->refused = j->refused;
	out->values = j->values;
	out->silent_hosts = j->silent_hosts;
	out->hosts = hosts_count(p->judge.hosts);
	out->label_sets = labels_count(p->judge.labels);
	out->rules = rule_set_count(p->judge.rules);
	for (unsigned i = 0; i < out->hosts; i++) {
		const struct track *t = &hosts_at(p->judge.hosts, i)->live;
		for (size_t s = 0; s < t->n_sets; s++)
			out->host_bytes += t->sets[s].n_values * sizeof(double) + sizeof(t->sets[0]);
		if (t->rules != NULL)
			out->host_bytes += rule_state_bytes(t->rules);
	}
	pthread_mutex_unlock(&p->lock);
}

void
pipeline_read(struct pipeline *p, void (*fn)(void *arg, struct pipeline *p), void *arg)
{
	pthread_mutex_lock(&p->lock);
	fn(arg, p);
	pthread_mutex_unlock(&p->lock);
}

struct hosts *
pipeline_hosts(struct pipeline *p)
{
	return p->judge.hosts;
}

struct labels *
pipeline_labels(struct pipeline *p)
{
	return p->judge.labels;
}

struct alerts *
pipeline_alerts(struct pipeline *p)
{
	return p->judge.alerts;
}

const struct rule_set *
pipeline_rules(struct pipeline *p)
{
	return p->judge.rules;
}
