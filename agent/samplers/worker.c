#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "arena.h"
#include "err.h"

#define WORKER_ARENA_MAX ((size_t)2 << 20)
#define WORKER_STACK ((size_t)256 << 10)

enum phase { PHASE_IDLE, PHASE_ASKED, PHASE_BUSY, PHASE_DONE };

struct worker {
	const struct sampler *sampler;
	void *state;
	int wake_fd;
	pthread_t thread;
	bool has_thread;
	struct arena arena; /* of the sample under way or last taken */
	struct sampler_now now;
	struct outcome outcome;

	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t wake;
	enum phase phase;
	bool quit;      /* no further sample; the thread returns */
	bool abandoned; /* the owner is gone: the thread frees the worker */
};

static void
destroy(struct worker *w)
{
	w->sampler->close(w->state);
	arena_fini(&w->arena);
	close(w->wake_fd);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static void *
run(void *arg)
{
	struct worker *w = arg;
	const char one = 1;

	pthread_mutex_lock(&w->lock);
	while (!w->quit) {
		if (w->phase != PHASE_ASKED) {
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		w->phase = PHASE_BUSY;
		pthread_mutex_unlock(&w->lock);
		arena_reset(&w->arena);
		outcome_take(w->sampler, w->state, &w->now, &w->arena, &w->outcome);
		pthread_mutex_lock(&w->lock);
		w->phase = PHASE_DONE;
		/* Fails only when the pipe is full, and then the reader wakes up anyway. */
		(void)!write(w->wake_fd, &one, sizeof(one));
	}
	bool abandoned = w->abandoned;
	pthread_mutex_unlock(&w->lock);
	if (abandoned)
		destroy(w);
	return NULL;
}

/* Signals are for the main thread. */
static int
start_thread(struct worker *w)
{
	sigset_t all, before;
	pthread_attr_t attr;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int e = pthread_attr_init(&attr);
	if (e == 0) {
		size_t least = (size_t)PTHREAD_STACK_MIN;
		e = pthread_attr_setstacksize(&attr, WORKER_STACK > least ? WORKER_STACK : least);
		if (e == 0)
			e = pthread_create(&w->thread, &attr, run, w);
		pthread_attr_destroy(&attr);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = e;
	w->has_thread = e == 0;
	return e == 0 ? HIWAT_OK : HIWAT_E_SYS;
}

int
worker_new(const struct sampler *sampler, void *state, int wake_fd, struct worker **out)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return HIWAT_E_NOMEM;
	w->wake_fd = fcntl(wake_fd, F_DUPFD_CLOEXEC, 3);
	if (w->wake_fd < 0) {
		free(w);
		return HIWAT_E_SYS;
	}
	w->sampler = sampler;
	w->state = state;
	arena_init(&w->arena, WORKER_ARENA_MAX);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	*out = w;
	return HIWAT_OK;
}

void
worker_free(struct worker *w)
{
	bool hangs = false;

	if (w == NULL)
		return;
	if (w->has_thread) {
		pthread_mutex_lock(&w->lock);
		w->quit = true;
		hangs = w->abandoned = w->phase == PHASE_BUSY;
		pthread_cond_signal(&w->wake);
		pthread_mutex_unlock(&w->lock);
		if (hangs)
			pthread_detach(w->thread);
		else
			pthread_join(w->thread, NULL);
	}
	if (!hangs)
		destroy(w);
}

int
worker_start(struct worker *w, const struct sampler_now *now)
{
	int err = w->has_thread ? HIWAT_OK : start_thread(w);

	if (err != HIWAT_OK)
		return err;
	pthread_mutex_lock(&w->lock);
	w->now = *now;
	w->phase = PHASE_ASKED;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	return HIWAT_OK;
}

bool
worker_collect(struct worker *w, struct outcome *out)
{
	pthread_mutex_lock(&w->lock);
	bool done = w->phase == PHASE_DONE;
	if (done) {
		w->phase = PHASE_IDLE;
		*out = w->outcome;
	}
	pthread_mutex_unlock(&w->lock);
	return done;
}
