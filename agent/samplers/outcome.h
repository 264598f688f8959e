/* What became of one sample, and the status that a record says it with. */
#ifndef HIWAT_AGENT_OUTCOME_H
#define HIWAT_AGENT_OUTCOME_H

#include "hiwat.pb-c.h"
#include "sampler.h"

struct arena;

struct outcome {
	int err;
	uint64_t duration_ns;
	Hiwat__Record *record; /* in the arena of the sample, without status; NULL when err is set */
	struct sampler_reason why;
};

/* Takes one sample and times it. A sample that took longer than the sampler's deadline comes out as HIWAT_E_TIMEOUT. */
void outcome_take(const struct sampler *sampler, void *state, const struct sampler_now *now, struct arena *arena,
    struct outcome *out);

/* The word of an error in hiwat_sampler_verdict. */
const char *outcome_verdict(int err);

/*
 * The record to send: the sample's own with its status, or the status alone. last_success_wall_ns 0: never.
 * NULL when the arena is at its ceiling.
 */
Hiwat__Record *
outcome_record(const struct outcome *o, const struct sampler *sampler, uint64_t last_success_wall_ns, struct arena *arena);

#endif
