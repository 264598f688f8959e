/* pfctl(8), directly or, where the agent's user may not open /dev/pf, by doas(1). */
#ifndef HIWAT_AGENT_PF_COMMAND_H
#define HIWAT_AGENT_PF_COMMAND_H

#include <stdbool.h>

#include "fetch.h"
#include "hiwat.pb-c.h"
#include "parse.h"
#include "sampler.h"

/* Whether an answer holds nothing but what pfctl 15.1 of FreeBSD also tells a user whom it refuses. */
typedef bool pf_blank(const Hiwat__Pf *answer);

struct pf_command {
	bool is_chosen, by_doas; /* which way worked: kept until the agent starts again */
	bool doas_refused;       /* not asked a second time: it logs each refusal */
};

/* What pfctl is asked for: its arguments, NULL last, and how its answer is read into out->pf. */
struct pf_question {
	const char *const *args;
	parse_fn *parse;
	pf_blank *is_blank;
};

/*
 * Asks and puts the answer into out->pf. HIWAT_E_MISSING: this system or kernel has no packet filter. HIWAT_E_DENIED: neither
 * way is open; a blank answer to an ordinary user is none. Others as of fetch_run() and the parser.
 */
int pf_command_sample(struct pf_command *c, const struct pf_question *q, struct fetch *f, unsigned deadline_ms,
    struct arena *arena, Hiwat__Record *out, struct sampler_reason *why);

#endif
