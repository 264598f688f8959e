/* One thread per route: takes what is due from the outbox, delivers, says what became of it. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "log.h"
#include "notify.h"
#include "refresh.h"
#include "store.h"

#define TOPIC "notify"
#define DUE_MAX 32           /* rows taken from the outbox at once */
#define IDLE_NS NSEC_PER_SEC /* looks for rows whose time has come, and after the store's troubles */
#define RETRY_MIN_MS 1000
#define RETRY_MAX_MS 300000
#define WHY_MAX 400

struct worker {
	struct notifier *n;
	const struct route *route;
	const struct sink *sink;
	void *state;
	pthread_t thread;
	bool started;
	unsigned failures; /* tries in a row */
	uint64_t pause_ns; /* monotonic: nothing is tried before */
	uint64_t next_ns;  /* monotonic: when the first of the rows that failed is due again, 0: none */
	uint64_t random;
	struct log_complaint complaint;
	struct refresh refresh;
	struct route_stats stats; /* guarded by the notifier's lock */
	bool woken;               /* likewise */
};

struct notifier {
	struct store *store;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stopping;
	unsigned n_workers;
	struct worker workers[];
};

/* xorshift64*: jitter needs no more. */
static double
random_fraction(struct worker *w)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (double)((w->random * 0x2545f4914f6cdd1dULL) >> 11) / 9007199254740992.0; /* 2^53 */
}

/* Doubles with each failure from the least to the most; the upper half of it is left to chance. */
static uint64_t
back_off_ns(struct worker *w, unsigned failures)
{
	uint64_t least = w->route->retry_min_ms != 0 ? w->route->retry_min_ms : RETRY_MIN_MS;
	uint64_t most = w->route->retry_max_ms != 0 ? w->route->retry_max_ms : RETRY_MAX_MS;
	uint64_t ms = least;

	for (unsigned i = 1; i < failures && ms < most; i++)
		ms *= 2;
	if (ms > most)
		ms = most;
	return (uint64_t)((double)(ms * NSEC_PER_MSEC) * (0.5 + 0.5 * random_fraction(w)));
}

static bool
is_stopping(struct notifier *n)
{
	pthread_mutex_lock(&n->lock);
	bool stopping = n->stopping;
	pthread_mutex_unlock(&n->lock);
	return stopping;
}

/* Sleeps until the monotonic time, a wake-up (unless the route is pausing) or the end. */
static void
sleep_until(struct worker *w, uint64_t mono_ns, bool wakeable)
{
	struct notifier *n = w->n;
	struct timespec until = { .tv_sec = (time_t)(mono_ns / NSEC_PER_SEC), .tv_nsec = (long)(mono_ns % NSEC_PER_SEC) };

	pthread_mutex_lock(&n->lock);
	while (!n->stopping && !(wakeable && w->woken))
		if (pthread_cond_timedwait(&n->wake, &n->lock, &until) != 0)
			break;
	if (wakeable)
		w->woken = false;
	pthread_mutex_unlock(&n->lock);
}

static void
note_success(struct worker *w)
{
	log_recovered(&w->complaint, TOPIC, "route %s: delivers again", w->route->name);
	w->failures = 0;
	pthread_mutex_lock(&w->n->lock);
	w->stats.delivered++;
	w->stats.last_success_ns = clock_wall_ns();
	w->stats.failing = w->refresh.failures > 0;
	pthread_mutex_unlock(&w->n->lock);
}

static void
note_end(struct worker *w, const struct outbox_row *row, const char *why)
{
	log_error(TOPIC, "route %s: %s of incident %s (generation %u) given up: %s", w->route->name, row->event,
	    row->incident_key, row->generation, why);
	pthread_mutex_lock(&w->n->lock);
	w->stats.expired++;
	pthread_mutex_unlock(&w->n->lock);
}

/* Nothing of this route is tried during the pause; this row not before its own. */
static int
note_failure(struct worker *w, const struct outbox_row *row, const char *why, uint64_t retry_after_ms)
{
	uint64_t asked_ns = retry_after_ms * NSEC_PER_MSEC;
	uint64_t pause_ns = back_off_ns(w, ++w->failures), row_ns = back_off_ns(w, row->tries + 1);

	if (pause_ns < asked_ns)
		pause_ns = asked_ns;
	if (row_ns < pause_ns)
		row_ns = pause_ns;
	uint64_t now_ns = clock_mono_ns();
	w->pause_ns = now_ns + pause_ns;
	if (w->next_ns == 0 || w->next_ns > now_ns + row_ns)
		w->next_ns = now_ns + row_ns;
	log_complain(&w->complaint, now_ns, TOPIC, "route %s: %s; next try in %llu ms", w->route->name, why,
	    (unsigned long long)(pause_ns / NSEC_PER_MSEC));
	pthread_mutex_lock(&w->n->lock);
	w->stats.failed++;
	w->stats.failing = true;
	pthread_mutex_unlock(&w->n->lock);
	return store_outbox_retry(w->n->store, row->id, clock_wall_ns() + row_ns, why);
}

/* One try of one row. False when the result could not be noted. */
static bool
deliver(struct worker *w, const struct outbox_row *row)
{
	struct notice notice = {
		.incident_key = row->incident_key,
		.generation = row->generation,
		.event = row->event,
		.json = row->payload,
	};
	struct buf why;
	uint64_t retry_after_ms = 0;
	int err = 0;

	buf_init(&why, WHY_MAX);
	if (clock_wall_ns() >= row->expires_ns) {
		buf_printf(&why, "not delivered in time, after %u tries: %s", row->tries,
		    row->last_error != NULL ? row->last_error : "none was possible");
		note_end(w, row, buf_str(&why));
		err = store_outbox_expire(w->n->store, row->id, clock_wall_ns(), buf_str(&why));
		buf_fini(&why);
		return err == 0;
	}
	switch (w->sink->send(w->state, w->route, &notice, &why, &retry_after_ms)) {
	case DELIVERY_DONE:
		note_success(w);
		log_info(TOPIC, "route %s: %s of incident %s (generation %u) delivered%s%s", w->route->name, row->event,
		    row->incident_key, row->generation, why.len > 0 ? ": " : "", buf_str(&why));
		err = store_outbox_done(w->n->store, row->id, clock_wall_ns(), buf_str(&why));
		break;
	case DELIVERY_REFUSED:
		/* The receiver answers: this one is lost, the route is well. */
		w->failures = 0;
		note_end(w, row, buf_str(&why));
		err = store_outbox_expire(w->n->store, row->id, clock_wall_ns(), buf_str(&why));
		break;
	case DELIVERY_RETRY:
		err = note_failure(w, row, buf_str(&why), retry_after_ms);
		break;
	}
	buf_fini(&why);
	return err == 0;
}

/* When to look again if nothing is due. */
static uint64_t
idle_until(struct worker *w)
{
	uint64_t now_ns = clock_mono_ns(), until = now_ns + IDLE_NS;

	if (w->next_ns != 0 && w->next_ns < until)
		until = w->next_ns + NSEC_PER_MSEC; /* surely due then */
	if (w->next_ns <= now_ns)
		w->next_ns = 0;
	return until;
}

/* Delivers what is due. Returns until when to sleep (monotonic), 0 to go on at once. */
static uint64_t
round_of(struct worker *w)
{
	struct outbox_row *rows = NULL;
	size_t n = 0;
	bool noted = true, committed = true;
	/* While the route fails, one row is enough to find out whether it is well again. */
	int err = store_outbox_due(w->n->store, w->route->name, clock_wall_ns(), w->failures > 0 ? 1 : DUE_MAX, &rows, &n);

	if (err != 0)
		return clock_mono_ns() + IDLE_NS;
	for (size_t i = 0; i < n && noted && !is_stopping(w->n); i++) {
		noted = deliver(w, &rows[i]);
		/* At once, so that a crash repeats one delivery at most, and what stands behind it becomes due. */
		committed = noted && store_flush(w->n->store) == 0;
		if (w->failures > 0)
			break;
	}
	store_outbox_free(rows, n);
	if (n == 0)
		return idle_until(w);
	if (!committed)
		return clock_mono_ns() + IDLE_NS;
	return w->failures > 0 ? w->pause_ns : 0;
}

/* Returns until when to sleep. A refresh knows no pause: what fails for the one row may be well for the others. */
static uint64_t
refresh(struct worker *w)
{
	unsigned before = w->refresh.failures;
	uint64_t until = refresh_step(&w->refresh, w->sink, w->state, w->route, w->n->store);
	unsigned failures = w->refresh.failures;

	pthread_mutex_lock(&w->n->lock);
	w->stats.failed += failures > before;
	w->stats.failing = w->failures > 0 || failures > 0;
	pthread_mutex_unlock(&w->n->lock);
	return until;
}

static void *
work(void *arg)
{
	struct worker *w = arg;

	while (!is_stopping(w->n)) {
		bool pausing = w->failures > 0 && clock_mono_ns() < w->pause_ns;
		uint64_t until = pausing ? w->pause_ns : round_of(w);
		uint64_t pause = w->failures > 0 ? w->pause_ns : 0;
		uint64_t refresh_ns = refresh(w);

		if (until < pause)
			until = pause;
		if (until > refresh_ns)
			until = refresh_ns;
		if (until != 0)
			sleep_until(w, until, clock_mono_ns() >= pause);
	}
	return NULL;
}

void
notifier_wake(struct notifier *n)
{
	pthread_mutex_lock(&n->lock);
	for (unsigned i = 0; i < n->n_workers; i++)
		n->workers[i].woken = true;
	pthread_cond_broadcast(&n->wake);
	pthread_mutex_unlock(&n->lock);
}

static void
wake(void *arg)
{
	notifier_wake(arg);
}

static int
open_sinks(struct notifier *n, const struct route *routes, unsigned n_routes, struct buf *why)
{
	for (unsigned i = 0; i < n_routes; i++) {
		struct worker *w = &n->workers[i];
		struct buf reason;

		*w = (struct worker){ .n = n, .route = &routes[i], .sink = sink_find(routes[i].sink) };
		w->random = clock_mono_ns() * (2 * i + 1) | 1;
		if (w->sink == NULL) {
			buf_printf(why, "route %s: no such sink: %s", routes[i].name, routes[i].sink);
			return HIWAT_E_CONFIG;
		}
		buf_init(&reason, WHY_MAX);
		int err = w->sink->open(w->route, &w->state, &reason);
		if (err != 0)
			buf_printf(why, "route %s: %s", routes[i].name, buf_str(&reason));
		buf_fini(&reason);
		if (err != 0)
			return err;
		n->n_workers++;
	}
	return 0;
}

/* Signals are the main thread's; SIGPIPE of a sink's socket or pipe shows as an error of its write. */
static int
start_threads(struct notifier *n)
{
	sigset_t all, before;
	int failed = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned i = 0; i < n->n_workers && failed == 0; i++) {
		failed = pthread_create(&n->workers[i].thread, NULL, work, &n->workers[i]);
		n->workers[i].started = failed == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed == 0 ? 0 : HIWAT_E_NOMEM;
}

int
notifier_start(const struct route *routes, unsigned n_routes, struct store *store, struct notifier **out, struct buf *why)
{
	struct notifier *n = calloc(1, sizeof(*n) + n_routes * sizeof(n->workers[0]));
	pthread_condattr_t monotonic;
	int err = 0;

	if (n == NULL || pthread_condattr_init(&monotonic) != 0) {
		free(n);
		buf_puts(why, "out of memory");
		return HIWAT_E_NOMEM;
	}
	n->store = store;
	if (pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) != 0 || pthread_mutex_init(&n->lock, NULL) != 0 ||
	    pthread_cond_init(&n->wake, &monotonic) != 0)
		err = HIWAT_E_NOMEM;
	pthread_condattr_destroy(&monotonic);
	if (err != 0) {
		free(n);
		buf_puts(why, "out of memory");
		return err;
	}
	err = open_sinks(n, routes, n_routes, why);
	if (err == 0) {
		err = start_threads(n);
		if (err != 0)
			buf_puts(why, "cannot start a thread");
	}
	if (err != 0) {
		notifier_stop(n);
		return err;
	}
	store_on_outbox(store, wake, n);
	*out = n;
	return 0;
}

void
notifier_stats(struct notifier *n, unsigned route, struct route_stats *out)
{
	pthread_mutex_lock(&n->lock);
	*out = n->workers[route].stats;
	pthread_mutex_unlock(&n->lock);
}

void
notifier_stop(struct notifier *n)
{
	if (n == NULL)
		return;
	store_on_outbox(n->store, NULL, NULL);
	pthread_mutex_lock(&n->lock);
	n->stopping = true;
	pthread_cond_broadcast(&n->wake);
	pthread_mutex_unlock(&n->lock);
	for (unsigned i = 0; i < n->n_workers; i++) {
		struct worker *w = &n->workers[i];

		if (w->started)
			pthread_join(w->thread, NULL);
		if (w->state != NULL)
			w->sink->close(w->state);
	}
	pthread_cond_destroy(&n->wake);
	pthread_mutex_destroy(&n->lock);
	free(n);
}
