/* Two readings of a ring of text: what is new in the later one. */
#ifndef HIWAT_AGENT_MESSAGE_OVERLAP_H
#define HIWAT_AGENT_MESSAGE_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "scan.h"

/*
 * Where what was not in the earlier reading begins in the later one: behind the longest end of the earlier one that the
 * later one begins with, since a ring loses its oldest bytes first. 0: they have nothing in common. links: room for later.n
 * numbers. Takes time in proportion to both lengths.
 */
size_t message_overlap(struct text earlier, struct text later, uint32_t *links);

/* The same when only the end of the earlier reading is known: behind its last occurrence, 0 when it does not occur. */
size_t message_resume(struct text end, struct text later);

#endif
