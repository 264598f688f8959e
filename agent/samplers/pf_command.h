/* pfctl(8), directly or, where the agent's user may not open /dev/pf, by doas(1). */
#ifndef HIWAT_AGENT_PF_COMMAND_H
#define HIWAT_AGENT_PF_COMMAND_H

#include <stdbool.h>

#include "fetch.h"
#include "parse.h"
#include "sampler.h"

struct pf_command {
	bool is_chosen, by_doas; /* which way worked: kept until the agent starts again */
	bool doas_refused;       /* not asked a second time: it logs each refusal */
};

/*
 * Runs pfctl with these arguments, NULL last, and adds what it says to *out. HIWAT_E_MISSING: this system or kernel has no
 * packet filter. HIWAT_E_DENIED: neither way is open. Others as of fetch_run() and the parser.
 */
int pf_command_sample(struct pf_command *c, const char *const *args, parse_fn *parse, struct fetch *f, unsigned deadline_ms,
    struct arena *arena, Hiwat__Record *out, struct sampler_reason *why);

#endif
