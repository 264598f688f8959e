/* One sampler of the table, sampled again and again, its record as lines "series number". */
#ifndef HIWAT_TESTS_SAMPLED_H
#define HIWAT_TESTS_SAMPLED_H

#include "arena.h"
#include "buf.h"
#include "outcome.h"

struct sampled {
	const struct sampler *sampler;
	void *state;
	struct arena arena;
	struct buf lines;
	struct sampler_reason why;
};

/* The sampler of this name; everything here aborts the test on failure. */
void sampled_open(struct sampled *s, const char *name, const struct sampler_config *config);
void sampled_close(struct sampled *s);
/* One sample at this boot time; its error, and s->lines, empty on failure, or s->why. */
int sampled_take(struct sampled *s, uint64_t boot_seconds);
/* The number of a series in the last sample; -1 when it is absent. */
double sampled_value(const struct sampled *s, const char *series);
/*
 * Takes a sample that must work and compares with expected lines: "series number" must be there, "!series" must not. Says
 * on standard error what it found instead.
 */
void sampled_expect(struct sampled *s, uint64_t boot_seconds, const char *expected);

#endif
