/* Which rules of a set have which kinds of cases. */
#ifndef HIWAT_COLLECTOR_COVERAGE_H
#define HIWAT_COLLECTOR_COVERAGE_H

#include "case.h"

struct coverage;

/* NULL when memory is out. rules: borrowed. */
struct coverage *coverage_new(const struct rule_set *rules);
void coverage_free(struct coverage *c);
/* Counts a case that held. */
void coverage_add(struct coverage *c, const struct rule_case *rc, const struct case_shown *shown);
/* Prints a row for each rule and a summary; the number of rules that lack a kind of case. */
unsigned coverage_print(const struct coverage *c);

#endif
