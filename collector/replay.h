/*
 * What was recorded, judged again: the same decoder, model, rules and incidents as in a collector, on the recording's clock,
 * without store and receivers. Several rule sets can be judged at once, each as if it were alone.
 */
#ifndef HIWAT_COLLECTOR_REPLAY_H
#define HIWAT_COLLECTOR_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge.h"
#include "replay_input.h"

#define REPLAY_INCIDENTS_MAX 1000000 /* of one rule set */

/* One incident from its opening to its end; all owned by the verdict. */
struct replay_incident {
	char key[INCIDENT_KEY_LEN + 1];
	char *host, *cause, *object;
	char *rule; /* the one that spoke first at the worst */
	enum incident_status status;
	enum rule_level worst;
	uint64_t opened_ns, ended_ns; /* Unix time by the recorder's clock; ended 0: open at the end */
	unsigned reopened;            /* times it came back within the grace time */
	unsigned pages;               /* times that it reached critical and somebody was told */
	bool flapped;                 /* changed so often that it was told every half hour only */
};

struct replay_page {
	uint64_t wall_ns;
	size_t incident;
};

/* What one rule set made of the recording. */
struct replay_verdict {
	const char *rules_name; /* borrowed */
	struct judge judge;
	struct alert_route route;
	struct replay_incident *incidents; /* in the order of their opening */
	size_t n_incidents, capacity;
	struct replay_page *pages; /* in their order */
	size_t n_pages, pages_capacity;
	size_t *slots; /* newest incident of a key: index + 1, 0 empty; open addressing */
	size_t n_slots;
	int err; /* memory, or REPLAY_INCIDENTS_MAX */
};

/* Takes over the rules, also on failure; rules_name is borrowed. HIWAT_E_NOMEM. */
int replay_verdict_init(struct replay_verdict *v, const char *rules_name, const struct judge_config *config,
    struct rule_set *rules);
void replay_verdict_fini(struct replay_verdict *v);

struct replay_stats {
	uint64_t batches, undecodable; /* read; of those: not understood by this release */
	uint64_t gaps; /* places where what came before is not known in full: the recorder was away, files are damaged */
	uint64_t first_ns, last_ns; /* the recording's span; 0, 0: nothing was in it */
};

/* Runs all that is in the input through all verdicts. HIWAT_E_NOMEM; HIWAT_E_FULL: REPLAY_OPEN_MAX, REPLAY_INCIDENTS_MAX. */
int replay_run(struct replay_input *in, struct replay_verdict *verdicts, size_t n, struct replay_stats *stats);

/* The seven days in a row with most pages: their number, and the first of those pages (0 when there is none). */
size_t replay_worst_week(const struct replay_verdict *v, uint64_t *from_ns);

#endif
