/*
 * A thread that takes one sampler's samples. At any time either the thread or its owner has the sample: between
 * worker_start() and a worker_collect() that says true it is the thread, which alone touches the sampler's state.
 */
#ifndef HIWAT_AGENT_WORKER_H
#define HIWAT_AGENT_WORKER_H

#include <stdbool.h>

#include "outcome.h"

struct worker;

/*
 * The thread starts with the first sample. state is taken: the worker closes it. Whenever a sample is finished a byte is
 * written to wake_fd, the non-blocking end of a pipe of which the worker keeps a descriptor of its own.
 */
int worker_new(const struct sampler *sampler, void *state, int wake_fd, struct worker **out);
/* Ends the thread; one that hangs in a sample is left alone and frees everything when it returns. */
void worker_free(struct worker *w);
/* Asks for a sample; only when none is under way. */
int worker_start(struct worker *w, const struct sampler_now *now);
/* True once for each sample when it is finished; *out and its record are valid until the next start. */
bool worker_collect(struct worker *w, struct outcome *out);

#endif
