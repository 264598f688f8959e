/*
 * The thread that takes batches from the spool to the collectors, so that a collector that hangs never delays a sample.
 * The first collector that works is used; on failure the next one in order is tried at once, and after a round without
 * success with exponential back-off and full jitter. A few minutes after leaving the first one it is tried again.
 */
#ifndef HIWAT_AGENT_SENDER_H
#define HIWAT_AGENT_SENDER_H

#include <stdint.h>

struct agent_config;
struct sender;
struct spool;

#define SENDER_REJECTED_FILES 16 /* rejected batches that are kept in state_dir/rejected */

/*
 * Starts the thread. config and spool are borrowed until sender_free. Without collectors it does nothing. seed: any
 * number that differs between hosts. HIWAT_E_NOMEM, HIWAT_E_SYS.
 */
int sender_new(const struct agent_config *config, struct spool *spool, uint64_t seed, struct sender **out);
/* Something was added to the spool. */
void sender_wake(struct sender *s);
/* Sends what it can for at most that long, while deliveries succeed, and ends the thread. NULL is fine. */
void sender_free(struct sender *s, uint64_t grace_ms);

#endif
