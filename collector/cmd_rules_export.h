#ifndef HIWAT_COLLECTOR_CMD_RULES_EXPORT_H
#define HIWAT_COLLECTOR_CMD_RULES_EXPORT_H

#include <stdbool.h>

struct rule_set;

/* Prints the rules for Prometheus, or what of them is missing there. Exit status. */
int cmd_rules_export(const struct rule_set *rules, bool list_missing);

#endif
