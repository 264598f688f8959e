#include "record_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "log.h"

#define TOPIC "record"
#define QUEUE_BYTES (16u << 20)

struct record_queue {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	struct buf waiting; /* entries, each followed by its data */
	bool stopping;
	bool has_gap; /* entries were lost since the last one that was taken */
	struct recorder_counts counts;
	uint64_t lost; /* before they reached the recorder */
	/* Of the thread alone. */
	struct recorder *recorder;
	char *dir;
	struct buf taken;
	struct log_complaint complaint;
};

static void
write_entry(struct record_queue *q, const struct recording_entry *entry)
{
	int err = recorder_append(q->recorder, entry);

	if (err == HIWAT_OK)
		log_recovered(&q->complaint, TOPIC, "%s: batches are recorded again", q->dir);
	else
		log_complain(&q->complaint, clock_mono_ns(), TOPIC,
		    "%s: batches cannot be recorded: %s; they are judged all the same", q->dir, recorder_problem(err));
}

static void
write_taken(struct record_queue *q)
{
	struct recording_entry entry;

	for (size_t at = 0; at < q->taken.len; at += sizeof(entry) + entry.len) {
		memcpy(&entry, q->taken.data + at, sizeof(entry));
		entry.data = (const uint8_t *)q->taken.data + at + sizeof(entry);
		write_entry(q, &entry);
	}
	buf_reset(&q->taken);
}

static void *
loop(void *arg)
{
	struct record_queue *q = arg;

	pthread_mutex_lock(&q->lock);
	while (!q->stopping || q->waiting.len > 0) {
		if (q->waiting.len == 0) {
			pthread_cond_wait(&q->wake, &q->lock);
			continue;
		}
		struct buf empty = q->taken;
		q->taken = q->waiting;
		q->waiting = empty;
		pthread_mutex_unlock(&q->lock);
		write_taken(q);
		pthread_mutex_lock(&q->lock);
		recorder_count(q->recorder, &q->counts);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

static void
destroy(struct record_queue *q)
{
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->wake);
	recorder_free(q->recorder);
	buf_fini(&q->waiting);
	buf_fini(&q->taken);
	free(q->dir);
	free(q);
}

int
record_queue_new(const struct recording_options *options, struct record_queue **out)
{
	struct record_queue *q = calloc(1, sizeof(*q));

	if (q == NULL)
		return HIWAT_E_NOMEM;
	buf_init(&q->waiting, QUEUE_BYTES);
	buf_init(&q->taken, QUEUE_BYTES);
	q->recorder = recorder_new(options);
	q->dir = strdup(options->dir);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->wake, NULL);
	int err = q->recorder == NULL || q->dir == NULL ? HIWAT_E_NOMEM : HIWAT_OK;
	if (err == HIWAT_OK && pthread_create(&q->thread, NULL, loop, q) != 0)
		err = HIWAT_E_SYS;
	if (err != HIWAT_OK)
		destroy(q);
	else
		*out = q;
	return err;
}

void
record_queue_free(struct record_queue *q)
{
	if (q == NULL)
		return;
	pthread_mutex_lock(&q->lock);
	q->stopping = true;
	pthread_cond_signal(&q->wake);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	destroy(q);
}

void
record_queue_put(struct record_queue *q, const struct recording_entry *entry)
{
	const struct recording_entry begin = { .type = RECORDING_BEGIN, .wall_ns = entry->wall_ns };
	size_t need = 2 * sizeof(*entry) + entry->len;

	pthread_mutex_lock(&q->lock);
	if (q->waiting.limit - q->waiting.len < need || buf_reserve(&q->waiting, need) == NULL) {
		q->has_gap = true;
		q->lost += entry->type == RECORDING_BATCH;
		q->waiting.failed = false;
	} else {
		if (q->has_gap)
			buf_add(&q->waiting, &begin, sizeof(begin));
		q->has_gap = false;
		buf_add(&q->waiting, entry, sizeof(*entry));
		buf_add(&q->waiting, entry->data, entry->len);
		pthread_cond_signal(&q->wake);
	}
	pthread_mutex_unlock(&q->lock);
}

void
record_queue_count(struct record_queue *q, struct recorder_counts *out)
{
	pthread_mutex_lock(&q->lock);
	*out = q->counts;
	out->lost += q->lost;
	pthread_mutex_unlock(&q->lock);
}
