/* A host for tests of the rules: sample sets filled from series written as text, and what the rules said last. */
#ifndef HIWAT_TESTS_RULE_HOST_H
#define HIWAT_TESTS_RULE_HOST_H

#include "rule.h"

#define RULE_HOST_SETS 8
#define RULE_HOST_VALUES 512
#define RULE_HOST_EVENTS 512

struct rule_host {
	struct labels *labels;
	struct host_view view;
	struct sample_set sets[RULE_HOST_SETS];
	struct series_value values[RULE_HOST_SETS][RULE_HOST_VALUES];
	uint64_t before[RULE_HOST_SETS]; /* hash of the series of the last record */
	struct rule_state *state;
	struct rule_set *rules;                     /* borrowed */
	struct rule_event events[RULE_HOST_EVENTS]; /* of the last evaluation */
	unsigned n_events;
};

void rule_host_init(struct rule_host *h, struct rule_set *rules, const char *os);
void rule_host_fini(struct rule_host *h);
/* Begins a record of a sampler, made when new; its index. */
size_t rule_host_begin(struct rule_host *h, const char *sampler);
/* Adds a series such as: hiwat_mbuf_pool_limit{pool="cluster"}. False when it is malformed. */
bool rule_host_put(struct rule_host *h, size_t set, const char *series, double value);
/* Ends the record and evaluates the rules. */
int rule_host_eval(struct rule_host *h, size_t set, double seconds, double interval, enum verdict verdict);
/*
 * How a rule stands, all its rows, one a line: "warning {pool="cluster"}", "pending", "unknown", "unknown warning",
 * "gone critical {...}"; alphabetical; "" when all is ok. Borrowed until the next call.
 */
const char *rule_host_status(struct rule_host *h, const char *rule);
/* Last event of the rule with these labels in the last evaluation, or NULL. */
const struct rule_event *rule_host_event(const struct rule_host *h, const char *rule);

#endif
