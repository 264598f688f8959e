/* Programs and their parsers: what the samplers of the BSDs do not read from the kernel themselves. */
#ifndef HIWAT_AGENT_RUN_PARSE_H
#define HIWAT_AGENT_RUN_PARSE_H

#include "fetch.h"
#include "parse.h"
#include "sampler.h"

/* One way to get at something; rows of a table are tried in their order. */
struct program {
	const char *const *argv; /* an absolute path first, a NULL last */
	parse_fn *parse;
};

/*
 * Runs the program and adds what its output says to *out. A parser's refusal is the sample's failure, with the program's
 * name in front of the reason.
 */
int program_sample(const struct program *p, struct fetch *f, unsigned deadline_ms, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why);

/*
 * The first of n programs that works, which *chosen then names for all later samples; -1: not yet chosen. What a program
 * that failed left in *out is dropped: out->mbuf and the like are those of the one that worked. When none works the reason
 * is that of the last one.
 */
int program_sample_first(const struct program *programs, int n, int *chosen, struct fetch *f, unsigned deadline_ms,
    struct arena *arena, Hiwat__Record *out, struct sampler_reason *why);

#endif
