/* Which rules the samplers of a system can feed. */
#ifndef HIWAT_COLLECTOR_DELIVERED_H
#define HIWAT_COLLECTOR_DELIVERED_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct rule;
struct rule_set;

#define DELIVERED_MAX 64 /* systems */

/* An entry of "delivers:": the series that samplers of a system deliver. Strings are owned by the rule set. */
struct delivered {
	const char *os;
	const char **series; /* a metric, or a metric and the label that tells its series apart */
	uint32_t n_series;
};

/* NULL when the rule set has no list for this system. */
const struct delivered *delivered_find(const struct rule_set *set, const char *os);
/*
 * Can any level of the rule be judged there? If not, the series that it lacks are appended to *missing, with commas. Rules
 * that the collector judges itself always can; resolvers are the same everywhere.
 */
bool delivered_feeds(const struct rule_set *set, const struct delivered *d, const struct rule *rule, struct buf *missing);

#endif
