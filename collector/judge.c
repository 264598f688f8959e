#include "judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "err.h"
#include "intake.h"
#include "record.h"

#define TOPIC "judge"

int
judge_init(struct judge *j, const struct judge_config *config, struct rule_set *rules, struct store *store,
    const struct alert_route *routes, size_t n_routes, uint64_t wall_ns, size_t *unreadable)
{
	*j = (struct judge){
		.config = *config,
		.labels = labels_new(config->series_max),
		.hosts = hosts_new(config->hosts_max),
		.rules = rules,
		.alerts = alerts_new(store, routes, n_routes, config->zone, wall_ns, unreadable),
		.watch = { .silent_min_ms = config->silent_min_ms },
	};
	if (j->labels != NULL && j->hosts != NULL && j->alerts != NULL)
		return HIWAT_OK;
	judge_fini(j);
	return HIWAT_E_NOMEM;
}

void
judge_fini(struct judge *j)
{
	hosts_free(j->hosts, rule_state_free);
	alerts_free(j->alerts);
	labels_free(j->labels);
	rule_set_free(j->rules);
	*j = (struct judge){ 0 };
}

/* From now on the host's incidents are to be compared with its rules, once every sampler has been heard. */
static void
expect_all_samplers(struct host *h, uint64_t mono_ns)
{
	h->last_mono_ns = mono_ns;
	h->reconcile = true;
	h->reconcile_boot_ns = h->live.boot_ns;
}

void
judge_resume(struct judge *j, uint64_t mono_ns)
{
	/*
	 * Who is silent then is said once more, in case the store was lost; an incident that is open already takes no notice.
	 * Likewise it takes ten minutes to say that nobody speaks for two any more.
	 */
	for (unsigned i = 0; i < hosts_count(j->hosts); i++) {
		struct host *h = hosts_at(j->hosts, i);
		h->silent = false;
		h->duplicate = true;
		h->duplicate_mono_ns = mono_ns;
		expect_all_samplers(h, mono_ns);
	}
}

bool
judge_forget_hosts(struct judge *j)
{
	hosts_free(j->hosts, rule_state_free);
	j->hosts = hosts_new(j->config.hosts_max);
	return j->hosts != NULL;
}

/* What the rules' events need to become incidents. */
struct context {
	struct judge *j;
	struct alert_host host;
};

static void
take_event(void *arg, const struct rule_event *event)
{
	struct context *c = arg;
	int err = alerts_event(c->j->alerts, &c->host, event);

	if (err != HIWAT_OK)
		log_error(TOPIC, "host %s: event of rule %s lost: %s", c->host.view->name, event->rule->id, err_text(err));
}

/* An event of a rule whose truth the collector itself knows, of one host or of the fleet. */
static void
emit_builtin(void *arg, const struct watch_event *w)
{
	struct judge *j = arg;
	const struct rule *rule = rule_set_find(j->rules, w->rule);
	struct host_view view = { .labels = j->labels, .name = "fleet", .os = "", .release = "" };
	struct context c = { .j = j, .host = { .view = &view, .wall_ns = j->wall_ns } };

	if (rule == NULL)
		return; /* an operator took it out */
	if (w->host != NULL) {
		view = host_view_of(w->host, &w->host->live, j->labels);
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
find_or_add_host(struct judge *j, const Hiwat__Host *m, const struct arrival *a, const char **why, int *err)
{
	struct host *h = hosts_find(j->hosts, m->uuid.data);
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
	if (is_new && (h = hosts_add(j->hosts, m->uuid.data)) == NULL) {
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

/* Runs the rules that the set touches. */
static void
judge_set(struct judge *j, struct host *h, struct track *t, size_t index, struct context *c, const struct rule_time *now)
{
	struct host_view view = host_view_of(h, t, j->labels);

	c->host.view = &view;
	j->stats.values += view.sets[index].n_values;
	rules_eval(j->rules, t->rules, &view, j->labels, index, now, take_event, c);
}

/* The series may be others than last time. */
static int
apply_unpacked(struct judge *j, struct host *h, struct track *t, const Hiwat__Record *record, uint64_t skeleton,
    struct context *c, const struct rule_time *now)
{
	size_t index[2] = { SIZE_MAX, SIZE_MAX };
	int result = HIWAT_OK;

	if (record == NULL)
		return HIWAT_E_NOMEM;
	for (enum record_part part = RECORD_DATA; part <= RECORD_STATUS; part++) {
		int err = track_put(t, j->labels, record, part, now->boot_ns, now->wall_ns, &index[part]);
		if (err != HIWAT_OK) {
			result = err;
			log_complain(&j->room_complaint, j->mono_ns, TOPIC, "host %s: no room for all series of %s (%s)",
			    h->name, record->status->sampler,
			    err == HIWAT_E_FULL ? "it names too many samplers" : "series_max, or memory");
		}
		if (index[part] != SIZE_MAX)
			judge_set(j, h, t, index[part], c, now);
	}
	track_note_shape(t, index, result == HIWAT_OK ? skeleton : 0);
	return HIWAT_OK;
}

/* Fills the track's values and runs the rules that they touch. */
static int
apply_record(struct judge *j, struct host *h, struct track *t, struct intake_batch *b, size_t i, struct context *c,
    const struct rule_time *now)
{
	const struct intake_record *record = &b->records[i];
	const struct track_shape *shape = track_find_shape(t, record);

	if (shape == NULL)
		return apply_unpacked(j, h, t, intake_unpack(b, i), record->skeleton, c, now);
	for (enum record_part part = RECORD_DATA; part <= RECORD_STATUS; part++) {
		track_put_values(t, shape, record, part, now->boot_ns, now->wall_ns);
		judge_set(j, h, t, shape->sets[part], c, now);
	}
	return HIWAT_OK;
}

static void
note_boot(struct judge *j, struct host *h, struct track *t, const uint8_t boot_id[16])
{
	static const uint8_t none[16];

	if (memcmp(t->boot_id, boot_id, 16) == 0)
		return;
	if (t == &h->live && memcmp(t->boot_id, none, 16) != 0) {
		/* A, B and A again: two hosts under one uuid. */
		if (memcmp(h->previous_boot_id, boot_id, 16) == 0)
			watch_duplicate(h, h->last_mono_ns, emit_builtin, j);
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
apply_batch(struct judge *j, struct host *h, struct intake_batch *batch, const struct arrival *a, bool late)
{
	const Hiwat__Batch *b = batch->envelope;
	struct track *t = late ? &h->late : &h->live;
	int64_t offset = 0;

	if (t->rules == NULL && (t->rules = rule_state_new()) == NULL)
		return HIWAT_E_NOMEM;
	note_boot(j, h, t, b->host->boot_id.data);
	host_clock_offset(h, a->wall_ns, &offset);
	uint64_t wall_ns = b->wall_ns + (uint64_t)offset;
	struct context c = {
		.j = j,
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
	for (size_t i = 0; i < batch->n_records; i++) {
		if (apply_record(j, h, t, batch, i, &c, &now) != HIWAT_OK)
			return HIWAT_E_NOMEM;
	}
	if (!late && h->reconcile && all_samplers_heard(t, h->reconcile_boot_ns)) {
		h->reconcile = false;
		struct host_view view = host_view_of(h, t, j->labels);
		c.host.view = &view;
		alerts_reconcile(j->alerts, &c.host, j->rules, t->rules);
	}
	if (!late && resources_update(&h->resources, &h->live, j->labels, b->boot_ns) != HIWAT_OK)
		log_error(TOPIC, "host %s: out of memory, headroom is not worked out", h->name);
	t->boot_ns = b->boot_ns;
	return HIWAT_OK;
}

static void
note_arrival(struct judge *j, struct host *h, const Hiwat__Batch *b, const struct arrival *a)
{
	h->last_mono_ns = a->mono_ns;
	h->last_wall_ns = a->wall_ns;
	if (b->has_next_due_ms)
		h->next_due_ms = b->next_due_ms;
	if (a->sent_wall_ns != 0)
		host_note_clock(h, a->wall_ns, a->sent_wall_ns);
	/* The incident may have been opened after the last snapshot. */
	watch_heard(h, alerts_is_silent(j->alerts, h->uuid), emit_builtin, j);
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
take_batch(struct judge *j, struct intake_batch *batch, const struct arrival *a, Hiwat__Ack *ack, const char **why)
{
	const Hiwat__Batch *b = batch->envelope;
	int err;
	struct host *h = find_or_add_host(j, b->host, a, why, &err);

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
		j->stats.duplicates++;
		if (!host_note_batch(h, b->sequence, b->wall_ns))
			watch_duplicate(h, a->mono_ns, emit_builtin, j);
		break;
	case STREAM_NEW:
		h->batches++;
		j->stats.batches++;
		j->stats.late += late;
		host_note_batch(h, b->sequence, b->wall_ns);
		note_arrival(j, h, b, a);
		err = apply_batch(j, h, batch, a, late);
		if (err != HIWAT_OK)
			*why = "out of memory";
		break;
	}
	/* With the last gap filled the backlog is told; its line of time ends. */
	if (h->stream.n_ranges == 0 && h->late.rules != NULL) {
		rule_state_free(h->late.rules);
		track_clear(&h->late);
		h->late = (struct track){ 0 };
		alerts_backlog_done(j->alerts, h->uuid);
	}
	RECORD_SET(ack, received, h->stream.contiguous);
	RECORD_SET(ack, durable, h->stream.durable);
	RECORD_SET(ack, backlog_interval_ms, 20);
	return err;
}

int
judge_batch(struct judge *j, struct intake_batch *batch, const struct arrival *arrival, Hiwat__Ack *ack, const char **why)
{
	j->mono_ns = arrival->mono_ns;
	j->wall_ns = arrival->wall_ns;
	int err = take_batch(j, batch, arrival, ack, why);
	j->stats.refused += err != HIWAT_OK;
	return err;
}

int
judge_tick(struct judge *j, uint64_t mono_ns, uint64_t wall_ns)
{
	j->mono_ns = mono_ns;
	j->wall_ns = wall_ns;
	j->stats.silent_hosts = watch_tick(&j->watch, j->hosts, j->labels, mono_ns, wall_ns, emit_builtin, j);
	return alerts_tick(j->alerts, wall_ns);
}

void
judge_reload(struct judge *j, struct rule_set *rules)
{
	for (unsigned i = 0; i < hosts_count(j->hosts); i++) {
		struct host *h = hosts_at(j->hosts, i);
		struct track *tracks[] = { &h->live, &h->late };

		expect_all_samplers(h, h->last_mono_ns);
		for (size_t k = 0; k < 2; k++) {
			if (tracks[k]->rules != NULL && rule_state_migrate(j->rules, rules, tracks[k]->rules) != HIWAT_OK)
				log_error(TOPIC, "host %s: rule state lost at reload", h->name);
		}
	}
	rule_set_free(j->rules);
	j->rules = rules;
}

/* Label sets that only vanished series used are freed after each snapshot. */
void
judge_sweep_labels(struct judge *j)
{
	labels_mark_begin(j->labels);
	watch_mark(&j->watch, j->labels);
	for (unsigned i = 0; i < hosts_count(j->hosts); i++) {
		struct host *h = hosts_at(j->hosts, i);
		track_mark(&h->live, j->labels);
		track_mark(&h->late, j->labels);
		if (h->live.rules != NULL)
			rule_state_mark(h->live.rules, j->labels);
		if (h->late.rules != NULL)
			rule_state_mark(h->late.rules, j->labels);
	}
	labels_sweep(j->labels);
}
