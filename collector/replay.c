#include "replay.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "err.h"
#include "intake.h"
#include "store.h"

#define PAGE_ROUTE "page"
#define TICK_NS NSEC_PER_SEC
#define AWAY_NS (86400 * NSEC_PER_SEC) /* a longer silence of a whole recording is a clock that was set, or a pause */
#define INTAKE_KEY 0x68697761747265ull /* nobody sends anything here */
#define SWEEP_TICKS 3600
#define WEEK_NS (7 * 86400 * NSEC_PER_SEC)

static size_t
slot_of(const struct replay_verdict *v, const char *key)
{
	uint64_t h = 14695981039346656037ull;

	for (unsigned i = 0; i < INCIDENT_KEY_LEN; i++)
		h = (h ^ (unsigned char)key[i]) * 1099511628211ull;
	size_t at = (size_t)h & (v->n_slots - 1);
	while (v->slots[at] != 0 && strcmp(v->incidents[v->slots[at] - 1].key, key) != 0)
		at = (at + 1) & (v->n_slots - 1);
	return at;
}

static bool
make_room(struct replay_verdict *v)
{
	if (v->n_incidents == REPLAY_INCIDENTS_MAX) {
		v->err = HIWAT_E_FULL;
		return false;
	}
	if (v->n_incidents < v->capacity)
		return true;
	size_t capacity = v->capacity == 0 ? 64 : v->capacity * 2;
	struct replay_incident *bigger = realloc(v->incidents, capacity * sizeof(*bigger));
	size_t *slots = calloc(capacity * 2, sizeof(*slots));
	if (bigger != NULL)
		v->incidents = bigger;
	if (bigger == NULL || slots == NULL) {
		free(slots);
		v->err = HIWAT_E_NOMEM;
		return false;
	}
	free(v->slots);
	v->slots = slots;
	v->n_slots = capacity * 2;
	v->capacity = capacity;
	/* The newest of a key comes last, and takes its slot. */
	for (size_t i = 0; i < v->n_incidents; i++)
		v->slots[slot_of(v, v->incidents[i].key)] = i + 1;
	return true;
}

/* The incident that this is the newest state of; a new one when it opened anew. NULL when there is no room. */
static struct replay_incident *
find(struct replay_verdict *v, const struct incident *i)
{
	if (!make_room(v))
		return NULL;
	size_t slot = slot_of(v, i->key);
	if (v->slots[slot] != 0) {
		struct replay_incident *known = &v->incidents[v->slots[slot] - 1];
		if (known->ended_ns == 0 || known->opened_ns == i->opened_ns)
			return known;
	}
	struct replay_incident *fresh = &v->incidents[v->n_incidents];
	*fresh = (struct replay_incident){
		.host = strdup(i->host_name),
		.cause = strdup(i->cause),
		.object = strdup(i->object),
		.rule = strdup(""),
	};
	memcpy(fresh->key, i->key, sizeof(fresh->key));
	v->n_incidents++; /* whose strings are freed in any case */
	v->slots[slot] = v->n_incidents;
	if (fresh->host == NULL || fresh->cause == NULL || fresh->object == NULL || fresh->rule == NULL)
		v->err = HIWAT_E_NOMEM;
	return v->err == HIWAT_OK ? fresh : NULL;
}

static void
note_page(struct replay_verdict *v, struct replay_incident *i, uint64_t wall_ns)
{
	if (v->n_pages == v->pages_capacity) {
		size_t capacity = v->pages_capacity == 0 ? 64 : v->pages_capacity * 2;
		struct replay_page *bigger = realloc(v->pages, capacity * sizeof(*bigger));
		if (bigger == NULL) {
			v->err = HIWAT_E_NOMEM;
			return;
		}
		v->pages = bigger;
		v->pages_capacity = capacity;
	}
	v->pages[v->n_pages++] = (struct replay_page){ wall_ns, (size_t)(i - v->incidents) };
	i->pages++;
}

static void
watch_incident(void *arg, const struct incident *i, const struct store_change *change)
{
	struct replay_verdict *v = arg;
	struct replay_incident *known = v->err == HIWAT_OK ? find(v, i) : NULL;

	if (known == NULL)
		return;
	if (i->n_lines > 0 && (known->rule[0] == '\0' || i->worst_level > known->worst)) {
		char *rule = strdup(i->lines[0].rule_id);
		if (rule == NULL) {
			v->err = HIWAT_E_NOMEM;
			return;
		}
		free(known->rule);
		known->rule = rule;
	}
	known->status = i->status;
	known->worst = i->worst_level;
	known->opened_ns = i->opened_ns;
	known->ended_ns = i->status == INCIDENT_OPEN ? 0 : i->resolved_ns != 0 ? i->resolved_ns : i->changed_ns;
	known->reopened = i->reopened;
	known->flapped = known->flapped || i->flapping;
	for (size_t k = 0; k < change->n_notifications; k++) {
		const struct outbox_row *row = &change->notifications[k];
		if (strcmp(row->incident_key, i->key) == 0 && strcmp(row->event, "trigger") == 0)
			note_page(v, known, change->wall_ns);
	}
}

int
replay_verdict_init(struct replay_verdict *v, const char *rules_name, const struct judge_config *config,
    struct rule_set *rules)
{
	size_t unreadable;

	*v = (struct replay_verdict){
		.rules_name = rules_name,
		.route = { .name = PAGE_ROUTE, .min_level = RULE_LEVEL_CRITICAL },
	};
	int err = judge_init(&v->judge, config, rules, NULL, &v->route, 1, 0, &unreadable);
	if (err == HIWAT_OK)
		alerts_watch(v->judge.alerts, watch_incident, v);
	return err;
}

void
replay_verdict_fini(struct replay_verdict *v)
{
	judge_fini(&v->judge);
	for (size_t i = 0; i < v->n_incidents; i++) {
		free(v->incidents[i].host);
		free(v->incidents[i].cause);
		free(v->incidents[i].object);
		free(v->incidents[i].rule);
	}
	free(v->incidents);
	free(v->pages);
	free(v->slots);
	*v = (struct replay_verdict){ 0 };
}

/* All that is being replayed, and the recording's clock. */
struct replay {
	struct replay_verdict *verdicts;
	size_t n;
	struct replay_stats *stats;
	struct intake intake;
	uint64_t now_ns;  /* never goes back */
	uint64_t tick_ns; /* of the last tick */
	unsigned ticks;
};

static void
tick(struct replay *r, uint64_t mono_ns, uint64_t wall_ns)
{
	r->tick_ns = mono_ns;
	r->ticks++;
	for (size_t i = 0; i < r->n; i++) {
		(void)judge_tick(&r->verdicts[i].judge, mono_ns, wall_ns); /* without a store nothing can be refused */
		if (r->ticks % SWEEP_TICKS == 0)
			judge_sweep_labels(&r->verdicts[i].judge);
	}
}

/* Timers run once a second even where no tick was recorded: an agent records none. */
static void
tick_until(struct replay *r, uint64_t until_ns, uint64_t slack_ns)
{
	while (r->tick_ns + TICK_NS + slack_ns <= until_ns)
		tick(r, r->tick_ns + TICK_NS, r->tick_ns + TICK_NS);
}

static void
take_batch(struct replay *r, const struct recording_entry *entry)
{
	struct intake_batch *batch = NULL;
	const char *why = NULL;

	r->stats->batches++;
	if (intake_decode(&r->intake, entry->data, entry->len, &batch, &why) != HIWAT_OK) {
		r->stats->undecodable++;
		return;
	}
	const struct arrival arrival = {
		.mono_ns = r->now_ns,
		.wall_ns = entry->wall_ns,
		.sent_wall_ns = entry->sent_wall_ns,
		.oldest = entry->oldest,
	};
	for (size_t i = 0; i < r->n; i++) {
		Hiwat__Ack ack = HIWAT__ACK__INIT;
		(void)judge_batch(&r->verdicts[i].judge, batch, &arrival, &ack, &why); /* counted as refused */
		(void)alerts_commit(r->verdicts[i].judge.alerts);
	}
}

static void
take(struct replay *r, const struct recording_entry *entry, bool gap)
{
	bool is_first = r->stats->first_ns == 0;

	if (is_first)
		r->stats->first_ns = entry->wall_ns;
	if (entry->wall_ns > r->now_ns)
		r->now_ns = entry->wall_ns;
	if (is_first || gap || entry->type == RECORDING_BEGIN || r->now_ns - r->tick_ns > AWAY_NS) {
		r->stats->gaps += !is_first;
		for (size_t i = 0; i < r->n; i++)
			judge_resume(&r->verdicts[i].judge, r->now_ns);
		r->tick_ns = r->now_ns;
	}
	/* Where ticks are recorded the next one is about to come. */
	tick_until(r, r->now_ns, TICK_NS);
	if (entry->type == RECORDING_TICK)
		tick(r, r->now_ns, entry->wall_ns);
	else if (entry->type == RECORDING_BATCH)
		take_batch(r, entry);
}

int
replay_run(struct replay_input *in, struct replay_verdict *verdicts, size_t n, struct replay_stats *stats)
{
	struct replay r = { .verdicts = verdicts, .n = n, .stats = stats };
	struct recording_entry entry;
	int err;
	bool gap;

	*stats = (struct replay_stats){ 0 };
	intake_init(&r.intake, INTAKE_KEY);
	while ((err = replay_input_next(in, &entry, &gap)) == HIWAT_OK) {
		take(&r, &entry, gap);
		for (size_t i = 0; err == HIWAT_OK && i < n; i++)
			err = verdicts[i].err;
		if (err != HIWAT_OK)
			break;
	}
	if (err == HIWAT_E_NODATA) {
		tick_until(&r, r.now_ns, 0);
		stats->last_ns = r.now_ns;
		err = HIWAT_OK;
	}
	intake_fini(&r.intake);
	return err;
}

size_t
replay_worst_week(const struct replay_verdict *v, uint64_t *from_ns)
{
	size_t worst = 0;

	*from_ns = 0;
	for (size_t first = 0, end = 0; first < v->n_pages; first++) {
		while (end < v->n_pages && v->pages[end].wall_ns < v->pages[first].wall_ns + WEEK_NS)
			end++;
		if (end - first > worst) {
			worst = end - first;
			*from_ns = v->pages[first].wall_ns;
		}
	}
	return worst;
}
