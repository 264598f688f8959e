/* A host that is written down: sample sets filled from series as text, and what the rules said last. */
#ifndef HIWAT_COLLECTOR_RULE_HOST_H
#define HIWAT_COLLECTOR_RULE_HOST_H

#include "rule.h"

#define RULE_HOST_SETS 64
#define RULE_HOST_VALUES 20000 /* of one set */
#define RULE_HOST_EVENTS 4096

struct rule_host {
	struct labels *labels;
	struct host_view view;
	struct sample_set sets[RULE_HOST_SETS];
	/* Of the record that was begun; owned, as are the values of sets. Evaluation shares the list. */
	struct series_list *begun[RULE_HOST_SETS];
	uint32_t capacities[RULE_HOST_SETS];
	struct series_list *before[RULE_HOST_SETS]; /* of the last record */
	double wall_offset;                         /* seconds that wall time is ahead of the boot-time clock */
	struct rule_state *state;
	struct rule_set *rules;                     /* borrowed */
	struct rule_event events[RULE_HOST_EVENTS]; /* of the last evaluation */
	unsigned n_events;
};

void rule_host_init(struct rule_host *h, struct rule_set *rules, const char *os);
void rule_host_fini(struct rule_host *h);
/* Index of a sampler, made when new; RULE_HOST_SETS at the ceiling. sampler is borrowed. */
size_t rule_host_set(struct rule_host *h, const char *sampler);
/* The same, and begins a record: the values of the last one are forgotten. */
size_t rule_host_begin(struct rule_host *h, const char *sampler);
/* A series such as hiwat_mbuf_pool_limit{pool="cluster"}. False when it is malformed or there is no room for its labels. */
bool rule_host_series(struct rule_host *h, const char *series, struct series_value *out);
/* Adds a number; one of the same series that is there already is replaced. False at the ceiling. */
bool rule_host_put_value(struct rule_host *h, size_t set, const struct series_value *value);
/* Both. */
bool rule_host_put(struct rule_host *h, size_t set, const char *series, double value);
/*
 * Ends the record and evaluates the rules. seconds: since boot; interval: usual distance of records. With a verdict other
 * than ok the record should be empty.
 */
int rule_host_eval(struct rule_host *h, size_t set, double seconds, double interval, enum verdict verdict);
/*
 * How a rule stands, all its rows, one a line: "warning {pool="cluster"}", "pending", "unknown", "unknown warning",
 * "gone critical {...}"; alphabetical; "" when all is ok. NULL: all rules, each line begins with the rule's id and ": ".
 * Borrowed until the next call.
 */
const char *rule_host_status(struct rule_host *h, const char *rule);
/* Last event of the rule with these labels in the last evaluation, or NULL. */
const struct rule_event *rule_host_event(const struct rule_host *h, const char *rule);

#endif
