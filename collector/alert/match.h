/*
 * Conditions on incidents: which a route takes, which a silence is for. Each is NAME=TEXT, NAME!=TEXT, NAME=~PATTERN or
 * NAME!~PATTERN, and all of a list must hold. PATTERN is an extended regular expression that must match the whole text.
 *
 * NAME is rule, cause, level, host, os, release, or a label, of the object first, then of the host; a label that is not
 * there is "". An incident has a rule when a line of it that holds is of that rule; when none holds, when any line is.
 */
#ifndef HIWAT_COLLECTOR_MATCH_H
#define HIWAT_COLLECTOR_MATCH_H

#include <stdbool.h>
#include <stddef.h>

struct incident;
struct match;

#define MATCH_TERMS_MAX 32

/* What is wrong with the text of one condition, a static sentence; NULL: nothing. */
const char *match_check(const char *text);
/*
 * Compiles n conditions; none of them hold for every incident. *match is owned: match_free(). HIWAT_E_CONFIG when one is
 * wrong or there are too many, HIWAT_E_NOMEM.
 */
int match_new(const char *const *texts, size_t n, struct match **match);
void match_free(struct match *match);
/* NULL matches every incident. */
bool match_incident(const struct match *match, const struct incident *i);

/* A made-up incident for trying conditions: the value of a name, NULL when it has none. */
typedef const char *match_lookup(const void *arg, const char *name);
bool match_names(const struct match *match, match_lookup *lookup, const void *arg);

#endif
