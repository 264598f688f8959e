/*
 * The queue and the thread that empties it. A group is written when its first job is 20 ms old, when 100 jobs wait or when
 * somebody waits for the disk. A group that the disk refuses stays at the head of the queue and is tried every second.
 */
#include <stdio.h>
#include <time.h>

#include "clock.h"
#include "err.h"
#include "internal.h"

#define GROUP_NS (20 * NSEC_PER_MSEC)
#define GROUP_JOBS 100
#define RETRY_NS NSEC_PER_SEC
#define QUEUE_JOBS_MAX 20000
#define QUEUE_BYTES_MAX (64u << 20)
/* Deliveries go on while the disk refuses, one result at a time: they have room of their own. */
#define QUEUE_JOBS_EXTRA 20000

int
store_queue(struct store *store, struct job *job, bool bounded)
{
	if (job == NULL)
		return HIWAT_E_NOMEM;
	pthread_mutex_lock(&store->lock);
	bool full = bounded ? store->n_jobs >= QUEUE_JOBS_MAX || store->n_bytes + job->bytes > QUEUE_BYTES_MAX
			    : store->n_jobs >= QUEUE_JOBS_MAX + QUEUE_JOBS_EXTRA;
	if (full) {
		pthread_mutex_unlock(&store->lock);
		job_free(job);
		return HIWAT_E_FULL;
	}
	if (store->tail != NULL)
		store->tail->next = job;
	else
		store->head = job;
	store->tail = job;
	store->n_jobs++;
	store->n_bytes += job->bytes;
	store->queued++;
	if (store->n_jobs == 1 || store->n_jobs == GROUP_JOBS)
		pthread_cond_signal(&store->work);
	pthread_mutex_unlock(&store->lock);
	return 0;
}

/* Waits with the lock held until urgent, stopping, full or the time has come. */
static void
wait_until(struct store *store, uint64_t mono_ns, size_t full)
{
	struct timespec until = { .tv_sec = (time_t)(mono_ns / NSEC_PER_SEC), .tv_nsec = (long)(mono_ns % NSEC_PER_SEC) };

	while (!store->urgent && !store->stopping && store->n_jobs < full)
		if (pthread_cond_timedwait(&store->work, &store->lock, &until) != 0)
			break;
}

/* Takes the first n jobs out of the queue. */
static struct job *
take(struct store *store, size_t n)
{
	struct job *first = store->head, *last = NULL;

	for (struct job *job = first; n > 0; n--, job = job->next) {
		store->n_jobs--;
		store->n_bytes -= job->bytes;
		store->committed++;
		last = job;
	}
	store->head = last->next;
	if (store->head == NULL)
		store->tail = NULL;
	last->next = NULL;
	return first;
}

void *
store_write_loop(void *arg)
{
	struct store *store = arg;

	pthread_mutex_lock(&store->lock);
	for (;;) {
		while (store->head == NULL && !store->stopping) {
			store->urgent = false;
			pthread_cond_wait(&store->work, &store->lock);
		}
		if (store->head == NULL)
			break;
		wait_until(store, clock_mono_ns() + GROUP_NS, GROUP_JOBS);
		const struct job *head = store->head;
		size_t n = store->n_jobs < GROUP_JOBS ? store->n_jobs : GROUP_JOBS;
		uint64_t attempt = ++store->attempt;
		pthread_mutex_unlock(&store->lock);

		char why[sizeof(store->why)] = "";
		bool new_rows = false;
		int err = writer_db_commit(store->writer, head, n, &new_rows, why, sizeof(why));

		pthread_mutex_lock(&store->lock);
		if (err == 0) {
			struct job *job = take(store, n);

			store->healthy = true;
			store->why[0] = '\0';
			if (new_rows && store->on_outbox != NULL)
				store->on_outbox(store->on_outbox_arg);
			pthread_cond_broadcast(&store->done);
			pthread_mutex_unlock(&store->lock);
			while (job != NULL) {
				struct job *next = job->next;
				job_free(job);
				job = next;
			}
			pthread_mutex_lock(&store->lock);
			continue;
		}
		store->healthy = false;
		store->failed_attempt = attempt;
		snprintf(store->why, sizeof(store->why), "%s", why);
		store->urgent = false;
		pthread_cond_broadcast(&store->done);
		if (store->stopping)
			break;
		wait_until(store, clock_mono_ns() + RETRY_NS, SIZE_MAX);
	}
	pthread_mutex_unlock(&store->lock);
	return NULL;
}

int
store_flush(struct store *store)
{
	int err = 0;

	pthread_mutex_lock(&store->lock);
	uint64_t target = store->queued;
	uint64_t attempt = store->attempt + 1; /* the first that begins after this call */
	while (err == 0 && store->committed < target) {
		/* While the disk refuses, the writer alone asks it again: callers would make it a storm. */
		if (!store->healthy || store->failed_attempt >= attempt) {
			err = HIWAT_E_SYS;
			break;
		}
		store->urgent = true;
		pthread_cond_signal(&store->work);
		pthread_cond_wait(&store->done, &store->lock);
	}
	pthread_mutex_unlock(&store->lock);
	return err;
}

bool
store_healthy(struct store *store, const char **why)
{
	pthread_mutex_lock(&store->lock);
	bool healthy = store->healthy;
	snprintf(store->why_out, sizeof(store->why_out), "%s", store->why);
	pthread_mutex_unlock(&store->lock);
	*why = store->why_out;
	return healthy;
}
