/* Between case_run.c, which goes through the times of a case, and case_fill.c, which makes the records. */
#ifndef HIWAT_COLLECTOR_RUNNER_H
#define HIWAT_COLLECTOR_RUNNER_H

#include "case.h"
#include "promtext.h"
#include "rule_host.h"
#include "tally.h"

/* A row that is not ok, as events told it. */
struct told {
	const char *rule;
	uint32_t labels;
	enum rule_status status;
	enum rule_level level;
	bool gone;
};

struct runner {
	const struct rule_case *c;
	struct case_report *r;
	const char *rules_path;
	struct rule_set *rules;
	struct rule_host host;
	struct series_value series[CASE_SERIES_MAX];
	struct promtext *texts; /* one for each step */
	const char *samplers[RULE_HOST_SETS];
	unsigned n_samplers;
	double boot_at; /* time of the case at which boot time was 0 */
	struct told told[RULE_HOST_EVENTS];
	unsigned n_told;
	struct tally tally;
	bool has_tally, fired;
};

/* Notes all samplers of the case in its order; settings come first, since others are judged by them. */
void runner_list_samplers(struct runner *u, struct arena *arena);
/* Series to numbers, once. */
void runner_resolve(struct runner *u);
/* Does anything speak for the sampler at that time, and how does it fare? *verdict is left alone when nobody says. */
bool runner_speaks(const struct runner *u, const char *sampler, double at, enum verdict *verdict);
/* Fills the record: what the bytes say first, then the series, which have the last word. */
void runner_fill(struct runner *u, size_t set, const char *sampler, unsigned tick, double at);

#endif
