/*
 * The kernel's message buffer of a BSD (message_buffer() in kernel_bsd.h), followed: a ring of text without positions, read
 * whole and compared with the reading before.
 */
#ifndef HIWAT_AGENT_MESSAGE_RING_H
#define HIWAT_AGENT_MESSAGE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "fetch.h"

struct message_ring {
	struct buf before; /* owned: the reading before, up to its last newline; after a restart its end only */
	bool is_end_only, has_before;
	uint32_t *links; /* owned; room for n_links */
	size_t n_links;
};

/* limit: bytes of the largest buffer that is believed. */
void message_ring_init(struct message_ring *r, size_t limit);
void message_ring_fini(struct message_ring *r);

/* Goes on behind these bytes, which message_ring_end() gave before a restart. HIWAT_E_NOMEM. */
int message_ring_resume(struct message_ring *r, struct text end);
/* The last bytes of what was read, max at most; borrowed until the next reading. */
struct text message_ring_end(const struct message_ring *r, size_t max);

/*
 * What is new, in whole lines, in f->buf until the next fetch. *has_gap: lines were overwritten before they were read; how
 * many nobody knows. HIWAT_E_NOMEM, and errors as of message_buffer().
 */
int message_ring_read(struct message_ring *r, struct fetch *f, struct text *out, bool *has_gap);

#endif
