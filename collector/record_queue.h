/* The recorder behind a queue and a thread, so that its disk holds nobody up. What it cannot take is lost and counted. */
#ifndef HIWAT_COLLECTOR_RECORD_QUEUE_H
#define HIWAT_COLLECTOR_RECORD_QUEUE_H

#include "recording.h"

struct record_queue;

/* Copies the options. HIWAT_E_NOMEM, HIWAT_E_SYS: no thread. What the disk refuses is logged by the thread. */
int record_queue_new(const struct recording_options *options, struct record_queue **out);
/* Writes what is waiting, then ends. NULL is fine. */
void record_queue_free(struct record_queue *q);
/* Copies the entry into the queue; lost when that is full. Any thread; waits for no disk. */
void record_queue_put(struct record_queue *q, const struct recording_entry *entry);
/* As in recorder_count(), with what was lost before it reached the recorder. */
void record_queue_count(struct record_queue *q, struct recorder_counts *out);

#endif
