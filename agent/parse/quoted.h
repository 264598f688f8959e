/* Outputs as a mail quotes them. */
#ifndef HIWAT_AGENT_QUOTED_H
#define HIWAT_AGENT_QUOTED_H

#include "scan.h"

struct arena;

/*
 * Takes "> " off the lines when half of those that hold something have it, as often as they have it; what stands before them,
 * as the sentence that introduces them, stays. The text is borrowed as it is, or a copy in the arena. HIWAT_E_NOMEM.
 */
int quoted_strip(struct arena *arena, struct text *text);

#endif
