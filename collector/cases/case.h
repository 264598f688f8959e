/*
 * Cases: what a rule should say of given values, as data. hiwat-rules(5) describes the file; `hiwat-collector rules test`
 * runs it. load makes of a file structs, bytes runs the real parser or decoder on saved outputs, run evaluates the rules
 * at the times of the records, fleet does so for what the collector itself knows of its hosts, coverage counts.
 */
#ifndef HIWAT_COLLECTOR_CASE_H
#define HIWAT_COLLECTOR_CASE_H

#include <stdbool.h>

#include "arena.h"
#include "diag.h"
#include "rule.h"
#include "yaml_tree.h"

struct incident_count;

#define CASE_TICKS_MAX 20000
#define CASE_SERIES_MAX 64
#define CASE_LABELS_MAX 32
#define CASE_HOSTS_MAX 100
#define CASE_ARENA_MAX (256u << 20) /* of one file */

/* A series over time; the value of the last record repeats. NAN: not in that record. */
struct case_series {
	const struct yaml_node *node;
	const char *sampler, *name;
	double *values;
	unsigned n;
};

enum case_step_kind { CASE_TEXT, CASE_BATCH, CASE_VERDICT };

/* From this time on the sampler delivers this. */
struct case_step {
	const struct yaml_node *node;
	enum case_step_kind kind;
	double at;
	const char *sampler;       /* CASE_BATCH: NULL, the batch names its own */
	const char *parser, *os;   /* CASE_TEXT; os NULL: the text decides */
	const char *bytes;         /* of the saved output, edited, or of the batch */
	size_t len;                /* of bytes */
	enum verdict verdict;      /* CASE_VERDICT */
	const char *series;        /* CASE_TEXT: what the parser printed, set by case_bytes_read() */
	const Hiwat__Batch *batch; /* CASE_BATCH: likewise */
};

enum case_boundary { CASE_NO_BOUNDARY, CASE_BELOW, CASE_AT };

struct case_count {
	const char *cause;
	unsigned n;
};

struct case_expect {
	const struct yaml_node *node;
	double at;
	const char *status, *summary, *remedy; /* NULL: not asked */
	enum case_boundary boundary;
	bool has_incidents; /* opened so far, all together; or by cause, and no others */
	unsigned incidents, n_counts;
	struct case_count *counts;
	int pages; /* so far; -1: not asked */
};

/* Something that happens to hosts of a fleet; of what is not mentioned nothing changes. */
struct case_event {
	const struct yaml_node *node;
	double at;
	unsigned first, last; /* hosts, from 1 */
	int silent, twin;     /* -1: not mentioned */
	bool has_clock;
	double clock;           /* seconds that the host's clock is ahead */
	unsigned unknown_lines; /* so many more, 0: not mentioned */
};

struct rule_case {
	const struct yaml_node *node;
	const char *file, *name;
	const char *rule; /* NULL: all */
	const char *os, *release, *host;
	struct sample_label labels[CASE_LABELS_MAX];
	unsigned n_labels;
	double every, clock; /* seconds between records; Unix time of the first */
	const char *records;
	struct case_series series[CASE_SERIES_MAX];
	unsigned n_series;
	struct case_step *steps;
	unsigned n_steps;
	struct case_expect *expects;
	unsigned n_expects;
	unsigned n_ticks;
	unsigned n_hosts; /* 0: one host whose values are given */
	struct case_event *events;
	unsigned n_events;
};

struct case_file {
	struct arena arena;
	struct diag diag;
	struct rule_case *cases;
	unsigned n;
};

/*
 * Reads a file and the files that it names, which stand relative to it. HIWAT_E_CONFIG: f->diag has what was wrong, line by
 * line. case_file_fini() in any case.
 */
int case_file_load(const char *path, const struct rule_set *rules, struct case_file *f);
void case_file_fini(struct case_file *f);

/*
 * Runs the parser of the agent's program on the bytes of each step, or decodes them; results live in the arena.
 * HIWAT_E_FORMAT: the text of step *bad was refused, *why says by whom and why; HIWAT_E_CONFIG, HIWAT_E_SYS: the program
 * cannot be run, or not with what the step says.
 */
int
case_bytes_read(struct rule_case *c, const char *agent, struct arena *arena, const struct case_step **bad, struct buf *why);

/* What the expectations of a case showed that held. */
struct case_shown {
	bool firing, quiet, below, at, resolving, unknown;
};

/* Where a failure goes: one line for each. */
struct case_report {
	const struct rule_case *c;
	unsigned failures;
	struct case_shown shown;
};
void
case_fail(struct case_report *r, const struct yaml_node *node, const char *what, const char *expected, const char *seen);

/* One host. The rules are loaded anew from rules_path for each. */
void case_run(const struct rule_case *c, const char *rules_path, struct case_report *r);
/* Several, through the pipeline. */
void case_run_fleet(const struct rule_case *c, const char *rules_path, struct case_report *r);
/* Compares a status, notes what it shows. fired: a level was expected before in this case. applies: the rule has objects. */
void case_check_status(struct case_report *r, const struct case_expect *e, const char *seen, bool applies, bool *fired);

#endif
