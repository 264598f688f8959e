/* Incidents of a replay added up, and those of two rule sets held against each other. */
#ifndef HIWAT_COLLECTOR_REPLAY_GROUP_H
#define HIWAT_COLLECTOR_REPLAY_GROUP_H

#include "replay.h"

struct replay_group {
	const char *name; /* of the rule or host */
	char day[16];     /* YYYY-MM-DD */
	unsigned opened, resolved, open, critical, pages, flaps;
};

enum replay_by { REPLAY_BY_RULE, REPLAY_BY_HOST };

/* All incidents. flaps: times that one came back within the grace time. resolved: also those given up. */
struct replay_group replay_total(const struct replay_verdict *v);
/* Most pages first, then most incidents, then by name. *groups is the caller's to free, its names are borrowed. HIWAT_E_NOMEM. */
int replay_group(const struct replay_verdict *v, enum replay_by by, struct replay_group **groups, size_t *n);
/* Days in UTC with pages, most pages first. As above. */
int replay_days(const struct replay_verdict *v, struct replay_group **days, size_t *n);

/* The same trouble in both rule sets (host, cause, object, times that overlap), or in one of them. */
struct replay_pair {
	const struct replay_incident *a, *b; /* NULL: not there */
};
/* In the order of their opening. *pairs is the caller's to free. HIWAT_E_NOMEM. */
int replay_compare(const struct replay_verdict *a, const struct replay_verdict *b, struct replay_pair **pairs, size_t *n);
/* Both times and the worst level are the same. */
bool replay_pair_is_same(const struct replay_pair *p);

#endif
