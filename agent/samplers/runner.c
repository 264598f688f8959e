#include "runner.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "err.h"
#include "keep.h"
#include "outcome.h"
#include "scan.h"
#include "worker.h"

#define KEEP_NAME "samplers"
#define KEEP_HEAD "hiwat samplers 1"
#define KEEP_MAX ((size_t)16 << 10)
#define KEEP_INTERVAL_NS (3600 * NSEC_PER_SEC) /* last successes are written this often */
#define PACE_MAX_NS (300 * NSEC_PER_SEC)       /* whatever a sample took, the next comes after this */
#define PHASE_NS (10 * NSEC_PER_SEC)           /* ticks of hosts are spread over this long */

struct slot {
	const struct sampler *sampler;
	void *state;           /* owned, NULL when the worker has it */
	struct worker *worker; /* owned; for samplers that may block */
	unsigned interval_ms;
	uint64_t due_ns;          /* boot time */
	uint64_t last_success_ns; /* wall time, 0: it never worked in this installation */
	bool is_off;              /* its source is not configured */
	bool is_running;          /* in its thread */
	bool is_late;             /* its timeout was reported */
	uint64_t started_ns;      /* boot time */
	uint64_t started_mono_ns;
};

struct runner {
	const struct sampler_config *config;
	uint64_t phase_ns;
	int wake[2];        /* a pipe: worker threads write a byte when they finish */
	bool keep_is_stale; /* a sampler worked for the first time */
	uint64_t kept_ns;   /* boot time of the last write */
	size_t n_slots;
	struct slot slots[];
};

/* One tick under way. */
struct tick {
	struct runner *r;
	const struct sampler_now *now;
	struct arena *arena;
	Hiwat__Batch *batch;
};

static void
keep_load(struct runner *r)
{
	struct buf b;
	struct text rest, line, name;
	uint64_t ns;

	buf_init(&b, KEEP_MAX);
	if (keep_read(r->config->state_dir, KEEP_NAME, &b) != HIWAT_OK)
		goto out;
	rest = (struct text){ buf_str(&b), b.len };
	if (!text_line(&rest, &line, NULL) || !text_eq(line, KEEP_HEAD))
		goto out;
	while (text_line(&rest, &line, NULL)) {
		if (!text_word(&line, &name) || !text_is_u64(line, &ns))
			continue;
		for (size_t i = 0; i < r->n_slots; i++) {
			if (text_eq(name, r->slots[i].sampler->name))
				r->slots[i].last_success_ns = ns;
		}
	}
out:
	buf_fini(&b);
}

/* A failed write is tried again an hour later: it costs a wrong word in a verdict after the next restart. */
static void
keep_save(struct runner *r)
{
	struct buf b;

	buf_init(&b, KEEP_MAX);
	buf_puts(&b, KEEP_HEAD "\n");
	for (size_t i = 0; i < r->n_slots; i++) {
		if (r->slots[i].last_success_ns != 0)
			buf_printf(&b, "%s %" PRIu64 "\n", r->slots[i].sampler->name, r->slots[i].last_success_ns);
	}
	if (buf_ok(&b))
		(void)keep_write(r->config->state_dir, KEEP_NAME, (struct text){ buf_str(&b), b.len });
	buf_fini(&b);
	r->keep_is_stale = false;
}

/* Spreads any seed evenly (the finaliser of splitmix64). */
static uint64_t
mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

int
runner_new(const struct sampler_config *config, const struct sampler *const *list, uint64_t seed, struct runner **out)
{
	int err = HIWAT_OK;
	size_t n = 0;

	while (list[n] != NULL)
		n++;
	struct runner *r = calloc(1, sizeof(*r) + n * sizeof(r->slots[0]));
	if (r == NULL)
		return HIWAT_E_NOMEM;
	r->config = config;
	r->phase_ns = mix(seed + 0x9e3779b97f4a7c15u) % PHASE_NS;
	r->wake[0] = r->wake[1] = -1;
	if (pipe2(r->wake, O_CLOEXEC | O_NONBLOCK) != 0)
		err = HIWAT_E_SYS;
	while (err == HIWAT_OK && r->n_slots < n) {
		struct slot *s = &r->slots[r->n_slots];
		s->sampler = list[r->n_slots];
		s->interval_ms = s->sampler->interval_ms;
		s->is_off = s->sampler->only_configured && !s->sampler->is_configured(config);
		err = s->sampler->open(config, &s->state);
		if (err != HIWAT_OK)
			break;
		r->n_slots++;
		if (!s->sampler->may_block)
			continue;
		err = worker_new(s->sampler, s->state, r->wake[1], &s->worker);
		if (err == HIWAT_OK)
			s->state = NULL;
	}
	if (err != HIWAT_OK) {
		runner_free(r);
		return err;
	}
	keep_load(r);
	*out = r;
	return HIWAT_OK;
}

void
runner_free(struct runner *r)
{
	if (r == NULL)
		return;
	if (r->kept_ns != 0)
		keep_save(r);
	for (size_t i = 0; i < r->n_slots; i++) {
		struct slot *s = &r->slots[i];
		worker_free(s->worker);
		if (s->state != NULL)
			s->sampler->close(s->state);
	}
	for (int i = 0; i < 2; i++) {
		if (r->wake[i] >= 0)
			close(r->wake[i]);
	}
	free(r);
}

int
runner_set_interval(struct runner *r, const char *name, unsigned interval_ms)
{
	for (size_t i = 0; i < r->n_slots; i++) {
		if (strcmp(r->slots[i].sampler->name, name) == 0) {
			r->slots[i].interval_ms = interval_ms;
			r->slots[i].due_ns = 0;
			return HIWAT_OK;
		}
	}
	return HIWAT_E_MISSING;
}

int
runner_fd(const struct runner *r)
{
	return r->wake[0];
}

static uint64_t
deadline_of(const struct slot *s)
{
	return s->started_ns + s->sampler->deadline_ms * NSEC_PER_MSEC;
}

static bool
is_used(const struct slot *s)
{
	return s->interval_ms != 0 && !s->is_off;
}

uint64_t
runner_next_sample(const struct runner *r)
{
	uint64_t next_ns = UINT64_MAX;

	for (size_t i = 0; i < r->n_slots; i++) {
		if (is_used(&r->slots[i]) && r->slots[i].due_ns < next_ns)
			next_ns = r->slots[i].due_ns;
	}
	return next_ns;
}

uint64_t
runner_due(const struct runner *r)
{
	uint64_t due_ns = runner_next_sample(r);

	for (size_t i = 0; i < r->n_slots; i++) {
		const struct slot *s = &r->slots[i];
		if (s->is_running && !s->is_late && deadline_of(s) < due_ns)
			due_ns = deadline_of(s);
	}
	return due_ns;
}

/* The first k * interval + phase after now. */
static uint64_t
next_due(const struct runner *r, const struct slot *s, uint64_t now_ns)
{
	uint64_t interval_ns = s->interval_ms * NSEC_PER_MSEC;
	uint64_t phase_ns = r->phase_ns % interval_ns;

	if (now_ns < phase_ns)
		return phase_ns;
	return phase_ns + ((now_ns - phase_ns) / interval_ns + 1) * interval_ns;
}

/* Puts off the next sample until the last one's time is no more than its share of the time between them. */
static void
pace(const struct runner *r, struct slot *s, uint64_t duration_ns)
{
	unsigned percent = r->config->dns_budget_percent != 0 ? r->config->dns_budget_percent : 1;
	uint64_t gap_ns = duration_ns < PACE_MAX_NS / 100 * percent ? duration_ns * 100 / percent : PACE_MAX_NS;

	if (s->sampler->is_paced && s->started_ns + gap_ns > s->due_ns)
		s->due_ns = next_due(r, s, s->started_ns + gap_ns - 1);
}

static int
append(struct tick *t, struct slot *s, const struct outcome *o)
{
	if (o->err == HIWAT_OK) {
		t->r->keep_is_stale |= s->last_success_ns == 0;
		s->last_success_ns = t->now->wall_ns;
	}
	if (o->err == HIWAT_E_MISSING && s->last_success_ns == 0 &&
	    (s->sampler->is_configured == NULL || !s->sampler->is_configured(t->r->config)))
		return HIWAT_OK;
	Hiwat__Record *record = outcome_record(o, s->sampler, s->last_success_ns, t->arena);
	void *rows = t->batch->records;
	void *slot = record != NULL ? arena_grow(t->arena, &rows, t->batch->n_records, sizeof(void *)) : NULL;
	if (slot == NULL)
		return HIWAT_E_NOMEM;
	t->batch->records = rows;
	t->batch->records[t->batch->n_records++] = record;
	return HIWAT_OK;
}

static int
append_timeout(struct tick *t, struct slot *s)
{
	struct outcome late = { .err = HIWAT_E_TIMEOUT, .duration_ns = clock_mono_ns() - s->started_mono_ns };

	snprintf(late.why.text, sizeof(late.why.text), "no answer for %llu ms, allowed are %u",
	    (unsigned long long)(late.duration_ns / NSEC_PER_MSEC), s->sampler->deadline_ms);
	s->is_late = true;
	return append(t, s, &late);
}

/* Takes what threads have finished. What comes after its timeout was reported is dropped. */
static int
collect(struct tick *t)
{
	char bytes[64];
	int err = HIWAT_OK;

	/* Emptied before looking, so that what finishes meanwhile wakes the caller again. */
	while (read(t->r->wake[0], bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes))
		;
	for (size_t i = 0; i < t->r->n_slots && err == HIWAT_OK; i++) {
		struct slot *s = &t->r->slots[i];
		struct outcome o;
		if (!s->is_running || !worker_collect(s->worker, &o))
			continue;
		s->is_running = false;
		pace(t->r, s, o.duration_ns);
		if (!s->is_late)
			err = append(t, s, &o);
	}
	return err;
}

static int
start(struct tick *t, struct slot *s)
{
	int err = worker_start(s->worker, t->now);

	if (err != HIWAT_OK) {
		struct outcome failed = { .err = err };
		snprintf(failed.why.text, sizeof(failed.why.text), "cannot start a thread: %s", err_text(err));
		return append(t, s, &failed);
	}
	s->is_running = true;
	s->is_late = false;
	s->started_ns = t->now->boot_ns;
	s->started_mono_ns = clock_mono_ns();
	return HIWAT_OK;
}

/* Samples taken here and now. */
static int
take(struct tick *t, struct slot *s)
{
	struct outcome o;

	outcome_take(s->sampler, s->state, t->now, t->arena, &o);
	return append(t, s, &o);
}

/* Waits until every sample started at this tick is finished, at most wait_ms or, with own_deadlines, until its deadline. */
static int
wait_and_collect(struct tick *t, bool own_deadlines)
{
	for (;;) {
		int err = collect(t);
		if (err != HIWAT_OK)
			return err;
		uint64_t until_ns = 0, now_ns = clock_mono_ns();
		for (size_t i = 0; i < t->r->n_slots; i++) {
			const struct slot *s = &t->r->slots[i];
			if (!s->is_running || s->started_ns != t->now->boot_ns)
				continue;
			uint64_t wait_ms = own_deadlines ? s->sampler->deadline_ms : RUNNER_GRACE_MS;
			uint64_t end_ns = s->started_mono_ns + wait_ms * NSEC_PER_MSEC;
			if (end_ns > until_ns)
				until_ns = end_ns;
		}
		if (until_ns <= now_ns)
			return HIWAT_OK;
		struct pollfd p = { .fd = t->r->wake[0], .events = POLLIN };
		poll(&p, 1, (int)((until_ns - now_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC));
	}
}

/* Threads first, so that they work while this one does. */
static int
run_due(struct tick *t, bool all)
{
	int err = HIWAT_OK;

	for (int blocking = 1; blocking >= 0; blocking--) {
		for (size_t i = 0; i < t->r->n_slots && err == HIWAT_OK; i++) {
			struct slot *s = &t->r->slots[i];
			if (s->sampler->may_block != (bool)blocking || !is_used(s) || (!all && s->due_ns > t->now->boot_ns))
				continue;
			s->due_ns = next_due(t->r, s, t->now->boot_ns);
			if (!blocking)
				err = take(t, s);
			else if (!s->is_running)
				err = start(t, s);
			else if (t->now->boot_ns >= deadline_of(s))
				err = append_timeout(t, s);
		}
	}
	return err;
}

static int
report_late(struct tick *t, bool own_deadlines)
{
	int err = HIWAT_OK;

	for (size_t i = 0; i < t->r->n_slots && err == HIWAT_OK; i++) {
		struct slot *s = &t->r->slots[i];
		if (s->is_running && !s->is_late && (own_deadlines || t->now->boot_ns >= deadline_of(s)))
			err = append_timeout(t, s);
	}
	return err;
}

static int
tick(struct tick *t, bool once)
{
	int err = collect(t);

	if (err == HIWAT_OK)
		err = run_due(t, once);
	if (err == HIWAT_OK)
		err = wait_and_collect(t, once);
	if (err == HIWAT_OK)
		err = report_late(t, once);
	if (t->r->keep_is_stale || t->now->boot_ns - t->r->kept_ns >= KEEP_INTERVAL_NS) {
		keep_save(t->r);
		t->r->kept_ns = t->now->boot_ns;
	}
	return err;
}

int
runner_tick(struct runner *r, const struct sampler_now *now, struct arena *arena, Hiwat__Batch *batch)
{
	struct tick t = { .r = r, .now = now, .arena = arena, .batch = batch };

	return tick(&t, false);
}

int
runner_once(struct runner *r, const struct sampler_now *now, struct arena *arena, Hiwat__Batch *batch)
{
	struct tick t = { .r = r, .now = now, .arena = arena, .batch = batch };

	return tick(&t, true);
}
