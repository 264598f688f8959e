/* What check found, collected and then written for people or programs. */
#ifndef HIWAT_COLLECTOR_CHECK_REPORT_H
#define HIWAT_COLLECTOR_CHECK_REPORT_H

#include <stdio.h>

#include "audit.h"

struct check_report;

/* view is borrowed until the report is freed. NULL when memory is out. */
struct check_report *check_report_new(const struct host_view *view);
void check_report_free(struct check_report *r);
/* The callbacks of struct rule_check; arg is the report. */
void check_report_found(void *arg, const struct rule_event *event, bool is_since_boot);
void check_report_left(void *arg, const struct rule_gap *gap);
/* The callback of audit_run(), and how many settings it compared. */
void check_report_setting(void *arg, const struct audit_finding *finding);
void check_report_compared(struct check_report *r, unsigned n);
/* Rules of which nothing could be judged. */
unsigned check_report_open(const struct check_report *r);
/*
 * judged, level: as rules_check gave them; with judged 0 and no setting compared the verdict is
 * unknown. is_verbose: reasons of findings, and all
 * rules that could not be judged; without it those that counted something, all where nothing else could be judged.
 * HIWAT_E_NOMEM, also when something did not fit before.
 */
int
check_report_write(struct check_report *r, unsigned judged, enum rule_level level, bool is_verbose, bool is_json, FILE *out);

#endif
