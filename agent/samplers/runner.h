/*
 * Takes the samples that are due and turns every outcome into a record. Samplers that may block each have a thread of their
 * own, so that a source that hangs costs its own deadline and delays nothing else; it is not asked again while it hangs.
 *
 * Due times are k * interval + phase on the boot-time clock: samplers of equal interval fall into the same tick, hosts into
 * different ones. The first tick samples everything. A paced sampler whose sample took long leaves due times out until that
 * was config->dns_budget_percent of the time, yet never more than five minutes of them.
 *
 * Which samplers have worked before in this installation, and when last, is kept in state_dir/samplers: a source that was
 * never found here is not applicable and gives no record, one that was found before and is gone fails as missing.
 */
#ifndef HIWAT_AGENT_RUNNER_H
#define HIWAT_AGENT_RUNNER_H

#include <stddef.h>
#include <stdint.h>

#include "hiwat.pb-c.h"
#include "sampler.h"

struct arena;
struct runner;

/*
 * Opens the samplers of list (ended by NULL). config and list are borrowed for the life of the runner; seed, any number
 * that is constant on this host and differs between hosts, gives the phase. HIWAT_E_NOMEM, HIWAT_E_SYS. *out is owned by
 * the caller.
 */
int runner_new(const struct sampler_config *config, const struct sampler *const *list, uint64_t seed, struct runner **out);
/*
 * Saves what it knows and closes the samplers. A thread whose source still hangs is left behind: it frees its own when it
 * returns, and until then needs what config points to.
 */
void runner_free(struct runner *r);

/* Another interval for a sampler, 0: it never runs. HIWAT_E_MISSING: no sampler has this name. */
int runner_set_interval(struct runner *r, const char *name, unsigned interval_ms);

/* Readable when a thread has finished after its tick: time for another runner_tick. Never closed before runner_free. */
int runner_fd(const struct runner *r);

/* Boot time in nanoseconds at which runner_tick next has something to do; not later than the next due sample. */
uint64_t runner_due(const struct runner *r);

/* Boot time of the next due sample, what batches announce as next_due_ms. */
uint64_t runner_next_sample(const struct runner *r);

/*
 * Starts what is due now and appends the records of all that has finished to batch->records; the others come with a later
 * tick. Waits at most RUNNER_GRACE_MS for threads, so that one batch carries what a healthy host gives. The records are
 * valid until the arena is reset or runner_tick is called again, whichever comes first. HIWAT_E_NOMEM: the arena is at its
 * ceiling; records already appended are whole.
 */
#define RUNNER_GRACE_MS 50
#define RUNNER_ARENA_MAX ((size_t)8 << 20) /* room for a tick of the largest hosts */
int runner_tick(struct runner *r, const struct sampler_now *now, struct arena *arena, Hiwat__Batch *batch);

/* One sample of everything, waiting for each thread until its deadline. */
int runner_once(struct runner *r, const struct sampler_now *now, struct arena *arena, Hiwat__Batch *batch);

#endif
