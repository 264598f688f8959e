/* What a replay found, for people and as JSON. */
#ifndef HIWAT_COLLECTOR_REPLAY_REPORT_H
#define HIWAT_COLLECTOR_REPLAY_REPORT_H

#include <jansson.h>

#include "replay.h"

struct buf;

struct replay_report {
	const struct replay_input *input;
	const struct replay_stats *stats;
	const struct replay_verdict *verdicts;
	size_t n; /* 1, or 2 to be compared */
	bool has_budget;
	uint64_t budget; /* pages a week */
	bool verbose;    /* text: incidents too */
};

/* Whether some file, or part of one, could not be read, or some batch not be understood. An end that is torn is no damage. */
bool replay_report_is_damaged(const struct replay_report *r);
/* Whether a rule set pages more often than the budget allows. */
bool replay_report_is_noisy(const struct replay_report *r);

/* HIWAT_E_NOMEM. */
int replay_report_text(const struct replay_report *r, struct buf *out);
/* The caller's new reference; NULL when memory is out. */
json_t *replay_report_json(const struct replay_report *r);

#endif
