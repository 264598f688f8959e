#include "pipeline.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "codec.h"
#include "err.h"
#include "log.h"
#include "record.h"
#include "snapshot.h"
#include "store.h"
#include "watch.h"

#define TOPIC "pipeline"
#define SNAPSHOT_PIECE 64 /* hosts written while the lock is held once */

struct pipeline {
	pthread_mutex_t lock;
	struct pipeline_config config;
	struct labels *labels;
	struct hosts *hosts;
	struct rule_set *rules;
	struct alerts *alerts;
	struct watch watch;
	struct store *store;
	struct pipeline_stats stats;
	uint64_t started_mono_ns;
	uint64_t wall_ns; /* of the batch or tick at work */
	struct log_complaint store_complaint;
	struct log_complaint room_complaint;
	struct log_complaint snapshot_complaint;
	pthread_mutex_t snapshot_lock; /* one snapshot at a time */
};

/* From now on the host's incidents are to be compared with its rules, once every sampler has been heard. */
static void
expect_all_samplers(struct host *h, uint64_t mono_ns)
{
	h->last_mono_ns = mono_ns;
	h->reconcile = true;
	h->reconcile_boot_ns = h->live.boot_ns;
}

static void
load_snapshot(struct pipeline *p)
{
	int err = snapshot_load(p->config.snapshot_path, p->hosts, p->rules, p->labels);

	if (err == HIWAT_OK) {
		log_info(TOPIC, "%u hosts from %s", hosts_count(p->hosts), p->config.snapshot_path);
	} else if (err == HIWAT_E_NODATA) {
		log_info(TOPIC, "no snapshot at %s: a first start", p->config.snapshot_path);
	} else {
		log_error(TOPIC, "snapshot %s: %s; starting without it, agents will send again", p->config.snapshot_path,
		    err == HIWAT_E_CORRUPT ? "damaged or of another build, moved to .damaged" : err_text(err));
		hosts_free(p->hosts, rule_state_free);
		p->hosts = hosts_new(p->config.hosts_max);
	}
	/*
	 * A collector that was away cannot know who was silent meanwhile: everybody gets the full time again. Who is silent
	 * then is said once more, in case the store was lost; an incident that is open already takes no notice. Likewise it
	 * takes ten minutes to say that nobody speaks for two any more.
	 */
	for (unsigned i = 0; p->hosts != NULL && i < hosts_count(p->hosts); i++) {
		hosts_at(p->hosts, i)->silent = false;
		hosts_at(p->hosts, i)->duplicate = true;
		hosts_at(p->hosts, i)->duplicate_mono_ns = p->started_mono_ns;
		expect_all_samplers(hosts_at(p->hosts, i), p->started_mono_ns);
	}
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
	p->watch.silent_min_ms = config->silent_min_ms;
	p->rules = rules;
	p->store = store;
	p->started_mono_ns = clock_mono_ns();
	p->labels = labels_new(config->series_max);
	p->hosts = hosts_new(config->hosts_max);
	p->alerts = alerts_new(store, routes, n_routes, config->zone, clock_wall_ns(), &unreadable);
	if (unreadable > 0)
		log_error(TOPIC, "%zu incidents in the store could not be understood; they are left alone", unreadable);
	if (p->labels != NULL && p->hosts != NULL && p->alerts != NULL)
		load_snapshot(p);
	if (p->labels == NULL || p->hosts == NULL || p->alerts == NULL) {
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
	hosts_free(p->hosts, rule_state_free);
	alerts_free(p->alerts);
	labels_free(p->labels);
	rule_set_free(p->rules);
	pthread_mutex_destroy(&p->lock);
	pthread_mutex_destroy(&p->snapshot_lock);
	free(p);
}

/* What the rules' events need to become incidents. */
struct context {
	struct pipeline *p;
	struct alert_host host;
};

static void
take_event(void *arg, const struct rule_event *event)
{
	struct context *c = arg;
	int err = alerts_event(c->p->alerts, &c->host, event);

	if (err != HIWAT_OK)
		log_error(TOPIC, "host %s: event of rule %s lost: %s", c->host.view->name, event->rule->id, err_text(err));
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

/* An event of a rule whose truth the collector itself knows, of one host or of the fleet. */
static void
emit_builtin(void *arg, const struct watch_event *w)
{
	struct pipeline *p = arg;
	const struct rule *rule = rule_set_find(p->rules, w->rule);
	struct host_view view = { .labels = p->labels, .name = "fleet", .os = "", .release = "" };
	struct context c = { .p = p, .host = { .view = &view, .wall_ns = p->wall_ns } };

	if (rule == NULL)
		return; /* an operator took it out */
	if (w->host != NULL) {
		view = host_view_of(w->host, &w->host->live, p->labels);
		memcpy(c.host.uuid, w->host->uuid, 16);
	}
	c.host.boot_wall_ns = c.host.wall_ns;
	struct rule_event event = {
		.rule = rule,
		.labels = w->object,
		.object = w->object,
		.status = w->fires ? RULE_FIRING : RULE_OK,
		.old_status = w->fires ? RULE_OK : RULE_FIRING,
		.level = w->fires ? rule->worst : RULE_LEVEL_NONE,
		.old_level = w->fires ? RULE_LEVEL_NONE : rule->worst,
		.value = w->value,
		.threshold = NAN,
		.limit = NAN,
		.used = NAN,
		.seconds_to_limit = NAN,
	};
	take_event(&c, &event);
}

static struct host *
find_or_add_host(struct pipeline *p, const Hiwat__Host *m, const struct arrival *a, const char **why, int *err)
{
	struct host *h = hosts_find(p->hosts, m->uuid.data);
	bool is_new = h == NULL;

	*err = HIWAT_E_DENIED;
	if (a->identity != NULL && (m->name == NULL || strcmp(a->identity, m->name) != 0)) {
		*why = "the certificate (subjectAltName) does not name the host that the agent says it is";
		return NULL;
	}
	if (h != NULL && h->identity[0] != '\0' && (a->identity == NULL || strcmp(h->identity, a->identity) != 0)) {
		*why = "this host.uuid belongs to the certificate of another host";
		return NULL;
	}
	*err = HIWAT_E_FULL;
	if (is_new && (h = hosts_add(p->hosts, m->uuid.data)) == NULL) {
		*why = "no room for another host (hosts_max)";
		return NULL;
	}
	if (h->identity[0] == '\0' && a->identity != NULL) {
		char *identity = strdup(a->identity);
		if (identity == NULL) {
			*why = "out of memory";
			return NULL;
		}
		free(h->identity);
		h->identity = identity;
	}
	*err = host_describe(h, m);
	if (*err != HIWAT_OK) {
		*why = "out of memory";
		return NULL;
	}
	return h;
}

static uint64_t
newest_sequence(const struct stream *s)
{
	return s->n_ranges > 0 ? s->ranges[s->n_ranges - 1].last : s->contiguous;
}

/* Fills the track's values and runs the rules that they touch. */
static void
apply_record(struct pipeline *p, struct host *h, struct track *t, const Hiwat__Record *record, struct context *c,
    const struct rule_time *now)
{
	for (enum record_part part = RECORD_DATA; part <= RECORD_STATUS; part++) {
		size_t index = SIZE_MAX;
		int err = track_put(t, p->labels, record, part, now->boot_ns, now->wall_ns, &index);
		if (err != HIWAT_OK)
			log_complain(&p->room_complaint, clock_mono_ns(), TOPIC,
			    "host %s: no room for all series of %s (%s)", h->name, record->status->sampler,
			    err == HIWAT_E_FULL ? "it names too many samplers" : "series_max, or memory");
		if (index == SIZE_MAX)
			continue;
		struct host_view view = host_view_of(h, t, p->labels);
		c->host.view = &view;
		p->stats.values += view.sets[index].n_values;
		rules_eval(p->rules, t->rules, &view, p->labels, index, now, take_event, c);
	}
}

static void
note_boot(struct pipeline *p, struct host *h, struct track *t, const uint8_t boot_id[16])
{
	static const uint8_t none[16];

	if (memcmp(t->boot_id, boot_id, 16) == 0)
		return;
	if (t == &h->live && memcmp(t->boot_id, none, 16) != 0) {
		/* A, B and A again: two hosts under one uuid. */
		if (memcmp(h->previous_boot_id, boot_id, 16) == 0)
			watch_duplicate(h, h->last_mono_ns, emit_builtin, p);
		memcpy(h->previous_boot_id, t->boot_id, 16);
	}
	memcpy(t->boot_id, boot_id, 16);
	t->boot_ns = 0;
	rule_state_reboot(t->rules);
}

/* Since that time; one that speaks no more is not waited for longer than two hours. */
static bool
all_samplers_heard(const struct track *t, uint64_t boot_ns)
{
	for (size_t i = 0; i < t->n_sets; i++) {
		if (t->sets[i].boot_ns <= boot_ns && t->boot_ns < boot_ns + 7200 * NSEC_PER_SEC)
			return false;
	}
	return true;
}

static int
apply_batch(struct pipeline *p, struct host *h, const Hiwat__Batch *b, const struct arrival *a, bool late)
{
	struct track *t = late ? &h->late : &h->live;
	int64_t offset = 0;

	if (t->rules == NULL && (t->rules = rule_state_new()) == NULL)
		return HIWAT_E_NOMEM;
	note_boot(p, h, t, b->host->boot_id.data);
	host_clock_offset(h, a->wall_ns, &offset);
	uint64_t wall_ns = b->wall_ns + (uint64_t)offset;
	struct context c = {
		.p = p,
		.host = { .stream = h->stream.id,
		    .sequence = b->sequence,
		    .wall_ns = wall_ns,
		    .boot_wall_ns = wall_ns - b->boot_ns,
		    .late = late },
	};
	memcpy(c.host.uuid, h->uuid, 16);
	struct rule_time now = {
		.boot_ns = b->boot_ns,
		.wall_ns = wall_ns,
		.interval_ns = b->next_due_ms * NSEC_PER_MSEC,
	};
	for (size_t i = 0; i < b->n_records; i++)
		apply_record(p, h, t, b->records[i], &c, &now);
	if (!late && h->reconcile && all_samplers_heard(t, h->reconcile_boot_ns)) {
		h->reconcile = false;
		struct host_view view = host_view_of(h, t, p->labels);
		c.host.view = &view;
		alerts_reconcile(p->alerts, &c.host, p->rules, t->rules);
	}
	if (!late && resources_update(&h->resources, &h->live, p->labels, b->boot_ns) != HIWAT_OK)
		log_error(TOPIC, "host %s: out of memory, headroom is not worked out", h->name);
	t->boot_ns = b->boot_ns;
	return HIWAT_OK;
}

static void
note_arrival(struct pipeline *p, struct host *h, const Hiwat__Batch *b, const struct arrival *a)
{
	h->last_mono_ns = a->mono_ns;
	h->last_wall_ns = a->wall_ns;
	if (b->has_next_due_ms)
		h->next_due_ms = b->next_due_ms;
	if (a->sent_wall_ns != 0)
		host_note_clock(h, a->wall_ns, a->sent_wall_ns);
	/* The incident may have been opened after the last snapshot. */
	watch_heard(h, alerts_is_silent(p->alerts, h->uuid), emit_builtin, p);
}

static void
note_stream(struct host *h, const Hiwat__Batch *b, const struct arrival *a)
{
	if (h->stream.id != b->host->stream) {
		/* A new spool: the sequences begin anew, what went before cannot come any more. */
		h->stream = (struct stream){ .id = b->host->stream };
		if (a->oldest > 0)
			h->stream.contiguous = h->stream.durable = a->oldest - 1;
	} else if (a->oldest > 0) {
		h->lost += stream_forget_below(&h->stream, a->oldest);
	}
}

static int
batch_locked(struct pipeline *p, const Hiwat__Batch *b, const struct arrival *a, Hiwat__Ack *ack, const char **why)
{
	int err;
	struct host *h = find_or_add_host(p, b->host, a, why, &err);

	if (h == NULL)
		return err;
	note_stream(h, b, a);
	bool late = b->sequence < newest_sequence(&h->stream);
	uint64_t first = b->has_previous && b->previous < b->sequence ? b->previous + 1 : b->sequence;
	switch (stream_receive(&h->stream, first, b->sequence)) {
	case STREAM_TOO_MANY_GAPS:
		*why = "too many gaps in this stream; send the oldest batches first";
		return HIWAT_E_FULL;
	case STREAM_DUPLICATE:
		h->duplicates++;
		p->stats.duplicates++;
		if (!host_note_batch(h, b->sequence, b->wall_ns))
			watch_duplicate(h, a->mono_ns, emit_builtin, p);
		break;
	case STREAM_NEW:
		h->batches++;
		p->stats.batches++;
		p->stats.late += late;
		host_note_batch(h, b->sequence, b->wall_ns);
		note_arrival(p, h, b, a);
		err = apply_batch(p, h, b, a, late);
		if (err != HIWAT_OK)
			*why = "out of memory";
		break;
	}
	/* With the last gap filled the backlog is told; its line of time ends. */
	if (h->stream.n_ranges == 0 && h->late.rules != NULL) {
		rule_state_free(h->late.rules);
		track_clear(&h->late);
		h->late = (struct track){ 0 };
		alerts_backlog_done(p->alerts, h->uuid);
	}
	RECORD_SET(ack, received, h->stream.contiguous);
	RECORD_SET(ack, durable, h->stream.durable);
	RECORD_SET(ack, backlog_interval_ms, 20);
	return err;
}

int
pipeline_batch(struct pipeline *p, const Hiwat__Batch *batch, const struct arrival *arrival, Hiwat__Ack *ack,
    const char **why)
{
	pthread_mutex_lock(&p->lock);
	uint64_t start = clock_thread_cpu_ns();
	p->wall_ns = arrival->wall_ns;
	int err = batch_locked(p, batch, arrival, ack, why);
	if (err != HIWAT_OK)
		p->stats.refused++;
	commit_events(p, alerts_commit(p->alerts));
	p->stats.rules_ns += clock_thread_cpu_ns() - start;
	pthread_mutex_unlock(&p->lock);
	return err;
}

void
pipeline_tick(struct pipeline *p, uint64_t mono_ns, uint64_t wall_ns)
{
	pthread_mutex_lock(&p->lock);
	p->wall_ns = wall_ns;
	p->stats.silent_hosts = watch_tick(&p->watch, p->hosts, p->labels, mono_ns, wall_ns, emit_builtin, p);
	commit_events(p, alerts_tick(p->alerts, wall_ns));
	pthread_mutex_unlock(&p->lock);
}

/* Label sets that only vanished series used are freed after each snapshot. */
static void
sweep_labels(struct pipeline *p)
{
	labels_mark_begin(p->labels);
	watch_mark(&p->watch, p->labels);
	for (unsigned i = 0; i < hosts_count(p->hosts); i++) {
		struct host *h = hosts_at(p->hosts, i);
		track_mark(&h->live, p->labels);
		track_mark(&h->late, p->labels);
		if (h->live.rules != NULL)
			rule_state_mark(h->live.rules, p->labels);
		if (h->late.rules != NULL)
			rule_state_mark(h->late.rules, p->labels);
	}
	labels_sweep(p->labels);
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
		count = hosts_count(p->hosts);
		struct captured *bigger = realloc(*list, (count + 1) * sizeof(**list));
		if (bigger == NULL)
			err = HIWAT_E_NOMEM;
		else
			*list = bigger;
		for (unsigned end = i + SNAPSHOT_PIECE; err == HIWAT_OK && i < count && i < end; i++) {
			struct host *h = hosts_at(p->hosts, i);
			(*list)[i] = (struct captured){ h->stream.id, h->stream.contiguous };
			err = snapshot_host(w, h, p->rules, p->labels);
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
		err = alerts_commit(p->alerts);
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
			struct host *h = hosts_at(p->hosts, i);
			if (h->stream.id == list[i].stream)
				h->stream.durable = list[i].contiguous;
		}
		sweep_labels(p);
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
	for (unsigned i = 0; i < hosts_count(p->hosts); i++) {
		expect_all_samplers(hosts_at(p->hosts, i), hosts_at(p->hosts, i)->last_mono_ns);
		struct track *tracks[] = { &hosts_at(p->hosts, i)->live, &hosts_at(p->hosts, i)->late };
		for (size_t j = 0; j < 2; j++) {
			if (tracks[j]->rules != NULL && rule_state_migrate(p->rules, rules, tracks[j]->rules) != HIWAT_OK)
				log_error(TOPIC, "host %s: rule state lost at reload", hosts_at(p->hosts, i)->name);
		}
	}
	rule_set_free(p->rules);
	p->rules = rules;
	pthread_mutex_unlock(&p->lock);
	pthread_mutex_unlock(&p->snapshot_lock);
}

void
pipeline_stats(struct pipeline *p, struct pipeline_stats *out)
{
	pthread_mutex_lock(&p->lock);
	*out = p->stats;
	out->hosts = hosts_count(p->hosts);
	out->label_sets = labels_count(p->labels);
	out->rules = rule_set_count(p->rules);
	for (unsigned i = 0; i < out->hosts; i++) {
		const struct track *t = &hosts_at(p->hosts, i)->live;
		for (size_t s = 0; s < t->n_sets; s++)
			out->host_bytes += t->capacities[s] * sizeof(struct series_value) + sizeof(t->sets[0]);
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
	return p->hosts;
}

struct labels *
pipeline_labels(struct pipeline *p)
{
	return p->labels;
}

struct alerts *
pipeline_alerts(struct pipeline *p)
{
	return p->alerts;
}

const struct rule_set *
pipeline_rules(struct pipeline *p)
{
	return p->rules;
}
