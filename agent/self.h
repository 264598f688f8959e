/* The agent about itself: its version and what became of its batches. */
#ifndef HIWAT_AGENT_SELF_H
#define HIWAT_AGENT_SELF_H

#include "hiwat.pb-c.h"

struct arena;
struct identity;
struct recorder_counts;
struct spool_counts;

/*
 * Appends the record to the batch; identity is borrowed as long as the batch. recording NULL: nothing is recorded.
 * HIWAT_E_NOMEM: the arena is at its ceiling.
 */
int self_record(const struct identity *identity, const struct spool_counts *counts, const struct recorder_counts *recording,
    uint64_t wall_ns, struct arena *arena, Hiwat__Batch *batch);

#endif
