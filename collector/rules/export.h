/*
 * The rules as a Prometheus rule file: one alert per rule and level, over the series that the collector serves at
 * /metrics/hosts. What has no equal in PromQL is not approximated: it is left out and said with its reason.
 */
#ifndef HIWAT_COLLECTOR_EXPORT_H
#define HIWAT_COLLECTOR_EXPORT_H

struct buf;
struct rule_set;

struct export_count {
	unsigned rules;   /* with at least one alert */
	unsigned alerts;  /* one per level */
	unsigned missing; /* rules without any */
};

/*
 * Appends the rule file to *out, figures as the set's overrides have them, and to *missing a line "ID LEVEL: reason" for
 * each level that is not exported ("ID: reason" when the whole rule is not). HIWAT_E_NOMEM when a ceiling is reached.
 */
int rules_export_prometheus(const struct rule_set *set, struct buf *out, struct buf *missing, struct export_count *count);

#endif
