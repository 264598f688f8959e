#include "sender.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "codec.h"
#include "config.h"
#include "err.h"
#include "keep.h"
#include "log.h"
#include "order.h"
#include "scan.h"
#include "sink.h"
#include "spool.h"

#define TOPIC "send"
#define BACKOFF_BASE_MS 1000
#define BACKOFF_MAX_MS 60000
#define BACKOFF_MIN_MS 100
#define RETURN_NS (300 * NSEC_PER_SEC) /* until the first collector is tried again after another one took over */
#define REWINDS_FREE 4                 /* restarts of a collector within a minute that are believed at once */
#define REWIND_MAX_NS (60 * NSEC_PER_SEC)
#define COMPRESS_WORTH 0.9 /* zstd is used when it makes a batch smaller than this */

struct endpoint {
	const char *url;
	const struct sink *sink;
	void *state;
	uint64_t not_before_ns;
	unsigned failures;
	bool has_worked;
	struct log_complaint complaint;
};

struct sender {
	const struct agent_config *config;
	struct spool *spool;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_woken;                /* under the lock */
	_Atomic(uint64_t) stop_at_ns; /* 0: not stopping */
	struct endpoint *endpoints;
	unsigned n_endpoints, current;
	unsigned owner;        /* the endpoint that order is about */
	uint64_t return_at_ns; /* when the first one is tried again; 0: it is in use */
	struct order order;
	struct buf batch, packed;
	uint64_t random;
	unsigned n_rewinds;  /* times that sending began again, in a row */
	uint64_t rewound_ns; /* the last time */
	unsigned n_rejected;
	struct log_complaint rejects;
};

static bool
is_over(void *arg)
{
	struct sender *s = arg;
	uint64_t stop = atomic_load(&s->stop_at_ns);

	return stop != 0 && clock_mono_ns() >= stop;
}

static bool
is_stopping(struct sender *s)
{
	return atomic_load(&s->stop_at_ns) != 0;
}

/* xorshift64: spreads retries, keeps no secret. */
static uint64_t
random_below(struct sender *s, uint64_t limit)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random % limit;
}

/* Until woken, told to stop, or the time has come; 0: no time. */
static void
wait_until(struct sender *s, uint64_t until_ns)
{
	struct timespec ts = { .tv_sec = (time_t)(until_ns / NSEC_PER_SEC), .tv_nsec = (long)(until_ns % NSEC_PER_SEC) };
	int err = 0;

	pthread_mutex_lock(&s->lock);
	while (!s->is_woken && !is_stopping(s) && err == 0)
		err =
		    until_ns == 0 ? pthread_cond_wait(&s->wake, &s->lock) : pthread_cond_timedwait(&s->wake, &s->lock, &ts);
	s->is_woken = false;
	pthread_mutex_unlock(&s->lock);
}

/* The endpoint to use now; NULL and *until when all have to be left alone for a while. */
static struct endpoint *
choose_endpoint(struct sender *s, uint64_t now_ns, uint64_t *until_ns)
{
	*until_ns = UINT64_MAX;
	if (s->return_at_ns != 0 && now_ns >= s->return_at_ns) {
		s->return_at_ns = now_ns + RETURN_NS;
		s->current = 0;
	}
	for (unsigned i = 0; i < s->n_endpoints; i++) {
		unsigned at = (s->current + i) % s->n_endpoints;
		struct endpoint *e = &s->endpoints[at];
		if (now_ns >= e->not_before_ns) {
			s->current = at;
			return e;
		}
		if (e->not_before_ns < *until_ns)
			*until_ns = e->not_before_ns;
	}
	return NULL;
}

static void
note_failure(struct sender *s, struct endpoint *e, const struct sink_reply *reply)
{
	uint64_t now = clock_mono_ns();
	uint64_t span = BACKOFF_BASE_MS << (e->failures < 6 ? e->failures : 6);

	if (is_over(s))
		return;
	if (span > BACKOFF_MAX_MS)
		span = BACKOFF_MAX_MS;
	uint64_t wait_ms = BACKOFF_MIN_MS + random_below(s, span);
	/* Not all hosts at once when the time is over that they were told. */
	if (reply->retry_after_ms > 0)
		wait_ms = reply->retry_after_ms + random_below(s, reply->retry_after_ms / 4 + 1);
	e->failures++;
	e->not_before_ns = now + wait_ms * NSEC_PER_MSEC;
	s->current = (unsigned)(e - s->endpoints + 1) % s->n_endpoints;
	if (e == s->endpoints && s->n_endpoints > 1 && s->return_at_ns == 0)
		s->return_at_ns = now + RETURN_NS;
	log_complain(&e->complaint, now, TOPIC, "%s: %s; %s, retry in %" PRIu64 ".%" PRIu64 "s", e->url, reply->why,
	    reply->fate == SINK_REFUSED ? "samples are kept until this is put right" : "samples are kept", wait_ms / 1000,
	    wait_ms % 1000 / 100);
}

static void
note_success(struct sender *s, struct endpoint *e)
{
	if (!e->has_worked && e->failures == 0)
		log_info(TOPIC, "%s: samples are delivered", e->url);
	e->has_worked = true;
	e->failures = 0;
	e->not_before_ns = 0;
	log_recovered(&e->complaint, TOPIC, "%s: samples are delivered", e->url);
	if (e == s->endpoints)
		s->return_at_ns = 0;
}

/* Kept for people to look at, in a ring of a few files. */
static void
set_aside(struct sender *s, const struct endpoint *e, uint64_t sequence, const struct sink_reply *reply)
{
	char dir[512], name[16];

	snprintf(dir, sizeof(dir), "%s/rejected", s->config->state_dir);
	(void)mkdir(dir, 0750);
	snprintf(name, sizeof(name), "%02u.batch", s->n_rejected++ % SENDER_REJECTED_FILES);
	(void)keep_write(dir, name, (struct text){ buf_str(&s->batch), s->batch.len });
	log_complain(&s->rejects, clock_mono_ns(), TOPIC, "%s: %s; batch %" PRIu64 " was rejected for good, see %s/%s",
	    e->url, reply->why, sequence, dir, name);
}

/*
 * Two collectors behind one address, or batches of an identity that this host had before, make acknowledgements fall short
 * again and again: without a pause everything would be sent over and over as fast as the network takes it.
 */
static bool
may_rewind(const struct sender *s)
{
	unsigned n = s->n_rewinds;
	uint64_t wait_ns = n < REWINDS_FREE ? 0 : NSEC_PER_SEC << (n < REWINDS_FREE + 6 ? n - REWINDS_FREE : 6);

	return clock_mono_ns() - s->rewound_ns >= (wait_ns < REWIND_MAX_NS ? wait_ns : REWIND_MAX_NS);
}

static void
note_rewind(struct sender *s)
{
	uint64_t now = clock_mono_ns();

	s->n_rewinds = now - s->rewound_ns > 2 * REWIND_MAX_NS ? 1 : s->n_rewinds + 1;
	s->rewound_ns = now;
}

static void
take_acknowledgement(struct sender *s, const struct endpoint *e, const struct sink_reply *reply, uint64_t oldest)
{
	struct spool_counts c;

	spool_count(s->spool, &c);
	if (reply->received > c.newest) {
		log_warn(TOPIC,
		    "%s: it knows sequence %" PRIu64 " of this stream, the spool ends at %" PRIu64
		    "; was the disk restored from a copy? Numbers go on behind",
		    e->url, reply->received, c.newest);
		spool_skip(s->spool, reply->received);
	}
	spool_acknowledge(s->spool, reply->durable < c.newest ? reply->durable : c.newest);
	if (may_rewind(s) && order_is_short(&s->order, reply->received) &&
	    order_acknowledged(&s->order, reply->received, spool_next(s->spool, reply->received), oldest)) {
		note_rewind(s);
		log_info(TOPIC, "%s: it was restarted; sending again from %" PRIu64, e->url, s->order.sent + 1);
	}
}

/* The batch in s->batch, packed if that pays. */
static struct sink_batch
make_batch(struct sender *s, uint64_t oldest)
{
	struct sink_batch b = { .data = s->batch.data, .len = s->batch.len, .oldest = oldest };

	if (!s->config->compress)
		return b;
	buf_reset(&s->packed);
	if (codec_compress((const uint8_t *)s->batch.data, s->batch.len, &s->packed) == 0 &&
	    (double)s->packed.len < COMPRESS_WORTH * (double)s->batch.len) {
		b.data = s->packed.data;
		b.len = s->packed.len;
		b.is_zstd = true;
	}
	return b;
}

/* Sends one batch; false when it failed. */
static bool
deliver(struct sender *s, struct endpoint *e, enum order_kind kind, uint64_t sequence, uint64_t oldest)
{
	struct sink_reply reply;
	struct sink_batch batch = make_batch(s, oldest);

	e->sink->send(e->state, e->url, &batch, &reply);
	uint64_t now = clock_mono_ns();
	switch (reply.fate) {
	case SINK_ACKNOWLEDGED:
		note_success(s, e);
		order_sent(&s->order, kind, sequence, reply.backlog_interval_ms * NSEC_PER_MSEC, now);
		take_acknowledgement(s, e, &reply, oldest);
		return true;
	case SINK_REJECTED:
		note_success(s, e);
		set_aside(s, e, sequence, &reply);
		spool_reject(s->spool, sequence);
		order_sent(&s->order, kind, sequence, 0, now);
		return true;
	default:
		order_failed(&s->order);
		note_failure(s, e, &reply);
		return false;
	}
}

/*
 * One step: sends a batch, or says until when there is nothing to do (0: until woken). False when sending failed or there
 * was nothing to send.
 */
static bool
step(struct sender *s, uint64_t *until_ns)
{
	struct spool_counts c;
	uint64_t now = clock_mono_ns(), above, sequence;

	struct endpoint *e = choose_endpoint(s, now, until_ns);
	if (e == NULL)
		return false;
	unsigned index = (unsigned)(e - s->endpoints);
	if (index != s->owner) {
		order_reset(&s->order);
		s->owner = index;
	}
	for (;;) {
		spool_count(s->spool, &c);
		enum order_kind kind = order_next(&s->order, c.oldest, c.newest, is_stopping(s) ? UINT64_MAX : now, &above);
		if (kind == ORDER_NOTHING || kind == ORDER_WAIT) {
			*until_ns = kind == ORDER_WAIT ? s->order.backlog_due_ns : 0;
			return false;
		}
		int err = spool_read(s->spool, above, &s->batch, &sequence);
		if (err == HIWAT_E_NODATA) {
			order_missing(&s->order, kind, c.newest);
		} else if (err != 0) {
			/* Memory is short: not now. */
			*until_ns = now + NSEC_PER_SEC;
			return false;
		} else if (order_accepts(&s->order, kind, sequence)) {
			*until_ns = now;
			return deliver(s, e, kind, sequence, c.oldest);
		}
	}
}

static void *
run(void *arg)
{
	struct sender *s = arg;
	uint64_t until_ns;

	for (;;) {
		bool has_sent = step(s, &until_ns);
		if (is_stopping(s) && (!has_sent || is_over(s)))
			break;
		if (!has_sent)
			wait_until(s, until_ns);
	}
	return NULL;
}

static void
close_endpoints(struct sender *s)
{
	for (unsigned i = 0; i < s->n_endpoints; i++) {
		if (s->endpoints[i].state != NULL)
			s->endpoints[i].sink->close(s->endpoints[i].state);
	}
	free(s->endpoints);
	s->endpoints = NULL;
	s->n_endpoints = 0;
}

static int
open_endpoints(struct sender *s)
{
	struct sink_settings settings = {
		.ca_file = s->config->ca_file,
		.cert_file = s->config->cert_file,
		.key_file = s->config->key_file,
		.token_file = s->config->token_file,
		.timeout_ms = s->config->timeout_ms,
		.is_over = is_over,
		.arg = s,
	};
	size_t n = s->config->collectors.n;

	s->endpoints = calloc(n, sizeof(*s->endpoints));
	if (s->endpoints == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		struct endpoint *e = &s->endpoints[s->n_endpoints];
		e->url = s->config->collectors.items[i];
		e->sink = sink_find(e->url);
		int err = e->sink != NULL ? e->sink->open(&settings, &e->state) : HIWAT_E_CONFIG;
		if (err != 0)
			return err;
		s->n_endpoints++;
	}
	return HIWAT_OK;
}

static int
start_thread(struct sender *s)
{
	pthread_condattr_t attr;

	if (pthread_mutex_init(&s->lock, NULL) != 0)
		return HIWAT_E_NOMEM;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	int err = pthread_cond_init(&s->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (err == 0 && s->n_endpoints > 0 && (err = pthread_create(&s->thread, NULL, run, s)) != 0)
		pthread_cond_destroy(&s->wake);
	if (err != 0)
		pthread_mutex_destroy(&s->lock);
	return err == 0 ? HIWAT_OK : HIWAT_E_SYS;
}

int
sender_new(const struct agent_config *config, struct spool *spool, uint64_t seed, struct sender **out)
{
	struct sender *s = calloc(1, sizeof(*s));
	int err = HIWAT_OK;

	if (s == NULL)
		return HIWAT_E_NOMEM;
	s->config = config;
	s->spool = spool;
	s->random = seed != 0 ? seed : 1;
	buf_init(&s->batch, SPOOL_BATCH_MAX);
	buf_init(&s->packed, SPOOL_BATCH_MAX);
	if (config->collectors.n > 0)
		err = open_endpoints(s);
	if (err == 0)
		err = start_thread(s);
	if (err != 0) {
		close_endpoints(s);
		free(s);
		return err;
	}
	*out = s;
	return HIWAT_OK;
}

void
sender_wake(struct sender *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_woken = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

void
sender_free(struct sender *s, uint64_t grace_ms)
{
	if (s == NULL)
		return;
	atomic_store(&s->stop_at_ns, clock_mono_ns() + grace_ms * NSEC_PER_MSEC + 1);
	sender_wake(s);
	if (s->n_endpoints > 0)
		pthread_join(s->thread, NULL);
	close_endpoints(s);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	buf_fini(&s->batch);
	buf_fini(&s->packed);
	free(s);
}
