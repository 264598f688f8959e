/* Inside of the export: conditions as PromQL in export_promql.c, templates in export_text.c, the file in export.c. */
#ifndef HIWAT_COLLECTOR_EXPORT_PROMQL_H
#define HIWAT_COLLECTOR_EXPORT_PROMQL_H

#include "set.h"

struct buf;

#define LABEL_NAMES_MAX 24

/* Names of labels that rows of an expression can have, beside those that tell the host; sorted. */
struct label_names {
	unsigned n;
	const char *names[LABEL_NAMES_MAX];
};

/* How tightly an expression binds, as PromQL has it. */
enum promql_binding { BINDS_OR, BINDS_AND, BINDS_COMPARISON, BINDS_SUM, BINDS_PRODUCT, BINDS_SIGN, BINDS_ALL };

struct promql {
	const struct rule_set *set;
	struct buf *out;
	/* The host whose overrides hold: host is its name, "" those without any of their own. */
	const char *host;
	const char *hosts; /* matcher that selects these hosts, "" all */
	/* In annotations: rows of the alert alone, by its labels; the labels' values go to args, for printf. */
	const struct label_names *row;
	struct buf *args;
	char why[256]; /* why there is no such PromQL, "" when there is */
};

void promql_put_duration(struct buf *out, uint64_t ns);
/* Appends n, in parentheses when it binds less than needed. */
void promql_put(struct promql *p, const struct node *n, enum promql_binding needed);
/* Notes the first reason why the expression cannot be written. */
void promql_fail(struct promql *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends text as PromQL's string, with the quotes. */
void promql_put_string(struct promql *p, const char *text);
/* Appends a series of the catalogue. */
void promql_put_series(struct promql *p, int metric, const struct matcher *matchers, unsigned n_matchers);
/* Value of a number without series, as the overrides of p's host have it. */
bool promql_is_number(const struct node *n);
double promql_number(const struct promql *p, const struct node *n);
void promql_put_selector(struct promql *p, const struct node *n);
/* Appends "word (name, name)". */
void promql_put_names(struct promql *p, const char *word, const struct label_names *l);

/* A function over time, in export_window.c. */
void promql_put_window(struct promql *p, const struct node *n, enum promql_binding needed);

/* Labels that rows of n can have, in export_labels.c. */
void label_names_of(const struct node *n, struct label_names *out);
bool label_names_have(const struct label_names *l, const char *name);
void label_names_add(struct label_names *l, const char *name);
void label_names_add_all(struct label_names *to, const struct label_names *from);
bool label_list_has(const struct label_list *l, const char *name);
/* Are the rows of the right side those of the result, because the left one is one value of the host? */
bool node_has_rows_of_right(const struct node *n);
/* Can rows of n differ in this label? */
bool node_is_free(const struct node *n, const char *label);

/*
 * A template of the rule as a template of Prometheus, for the alert of one level: queries stand for the figures of the
 * host. What cannot be asked is left out with its sentence. labels: those that the alert can have.
 */
void export_text(const struct rule_full *rule, const struct level *level, const struct label_names *labels, const char *text,
    struct buf *out);

#endif
