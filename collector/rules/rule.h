/*
 * Rules: YAML in, compiled form, evaluated per host. Pure: a rule, a host's values and a time make a status; no HTTP, no
 * SQL, no clock, no log. hiwat-rules(5) describes the language.
 */
#ifndef HIWAT_COLLECTOR_RULE_H
#define HIWAT_COLLECTOR_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view.h"

struct buf;
struct rule_set;
struct rule_state;

enum rule_level { RULE_LEVEL_NONE, RULE_LEVEL_ADVICE, RULE_LEVEL_WARNING, RULE_LEVEL_CRITICAL };
enum rule_status { RULE_OK, RULE_PENDING, RULE_FIRING, RULE_UNKNOWN, RULE_NOT_APPLICABLE };

const char *rule_level_word(enum rule_level level); /* "advice", "warning", "critical", "" */
const char *rule_status_word(enum rule_status status);

/* The parts of a rule that people read. All strings are owned by the rule set, "" when not given. */
struct rule {
	const char *id;
	const char *cause; /* rules of one cause on one object make one incident */
	const char *doc, *threshold_source, *reason;
	const char *summary, *description, *remedy; /* templates */
	const char *builtin;   /* set for rules whose truth the collector itself knows (host-silent, ...), else "" */
	enum rule_level worst; /* that the rule can reach */
	const char *file;
	unsigned line;
	unsigned index; /* position in the set */
};

/*
 * Loads all *.yaml of a directory, or one file. On failure *errors has one line "FILE:LINE:COL: message" per mistake, all
 * of them, and HIWAT_E_CONFIG is returned; HIWAT_E_SYS when nothing could be read (the line says what).
 */
int rule_set_load(const char *path, struct rule_set **set, struct buf *errors);
/* The same for one file's text; file: its name for complaints. */
int rule_set_parse(const char *file, const char *text, size_t len, struct rule_set **set, struct buf *errors);
/* After all states made with it were freed or migrated. */
void rule_set_free(struct rule_set *set);
size_t rule_set_count(const struct rule_set *set);
const struct rule *rule_set_get(const struct rule_set *set, size_t index);
const struct rule *rule_set_find(const struct rule_set *set, const char *id);

/* A figure of a rule that an operator sets otherwise. */
struct rule_override {
	const char *rule;  /* its id */
	const char *param; /* one of its params or the level whose threshold it is; NULL: the rule is off */
	double value;
	const char *label, *text; /* hosts with this label; label "": the host of this name; NULL: all hosts */
};

/*
 * Before the first evaluation. What is nearer to a host wins: its name, then a label, then all hosts; of equally near ones
 * the later. Strings are copied. HIWAT_E_MISSING: no such rule or param.
 */
int rule_set_override(struct rule_set *set, const struct rule_override *o);

/* The figures of a rule that can be set otherwise: the i-th one's name and its value in the file; NULL when there are no more. */
const char *rule_figure(const struct rule *rule, size_t i, double *value);

/* Its value on this host, overrides applied. */
double rule_figure_on(const struct rule *rule, size_t i, const struct host_view *view);
/* Is the rule switched off there? */
bool rule_is_off(const struct rule *rule, const struct host_view *view);

/* A change of one rule on one object of one host. */
struct rule_event {
	const struct rule *rule;
	uint32_t labels; /* all labels of the series that spoke */
	uint32_t object; /* those of them that make the incident's key (by:) */
	enum rule_status status, old_status;
	enum rule_level level, old_level; /* of FIRING and UNKNOWN; NONE otherwise */
	double value;                     /* left side of the comparison */
	double threshold;                 /* of the level that speaks */
	double used;                      /* what of the limit is in use, where the rule names it, else NaN */
	double limit;                     /* the resource's limit where the rule names it, else NaN */
	double seconds_to_limit;          /* at the present trend, else NaN */
	uint64_t since_boot_ns;           /* when the condition became true, or false again */
	bool gone;                        /* the series is no longer there */
};

/* When a record was taken, by the host's clocks. interval_ns: the sampler's usual distance between records, 0 unknown. */
struct rule_time {
	uint64_t boot_ns, wall_ns, interval_ns;
};

/* Everything the rules remember of one host: windows, pending timers, what fires. NULL when memory is out. */
struct rule_state *rule_state_new(void);
void rule_state_free(struct rule_state *state);
/* Bytes held, for the budget. */
size_t rule_state_bytes(const struct rule_state *state);
/* The host booted: counters start at 0, windows are empty, what fires keeps firing until it is evaluated. */
void rule_state_reboot(struct rule_state *state);

/*
 * Evaluates the rules that a new record of the sampler view->sets[updated] can affect. emit is called for each change of
 * status or level, and for what fires also when only the value changed since the last call (old_status == status).
 * labels: where label sets that an expression makes are interned. Allocates only when series appear. The set keeps what
 * hosts share and its working memory: one thread at a time.
 * HIWAT_E_NOMEM when memory is out: what could not be tracked is unknown.
 */
int rules_eval(struct rule_set *set, struct rule_state *state, const struct host_view *view, struct labels *labels,
    size_t updated, const struct rule_time *now, void (*emit)(void *arg, const struct rule_event *event), void *arg);

/* All that is not ok, for the API: called for each object that is pending, firing or unknown. */
void rules_each(const struct rule_set *set, const struct rule_state *state,
    void (*fn)(void *arg, const struct rule_event *event), void *arg);

/* How many objects of the host the rule judged with the last record, ok or not. */
unsigned rule_objects(const struct rule_state *state, const struct rule *rule);

/* Marks the label sets that the state uses (labels_mark). */
void rule_state_mark(const struct rule_state *state, struct labels *labels);

/*
 * The state as bytes for the snapshot file, and back. Rules are matched by id and a hash of their meaning: the state of a
 * rule that changed or is gone is dropped, what it had firing comes back by evaluation. HIWAT_E_CORRUPT leaves state empty.
 */
int
rule_state_save(const struct rule_set *set, const struct rule_state *state, const struct labels *labels, struct buf *out);
int
rule_state_load(const struct rule_set *set, struct rule_state *state, struct labels *labels, const void *data, size_t len);
/* After a reload: keeps what belongs to rules of the same id and meaning, drops the rest. */
int rule_state_migrate(const struct rule_set *from, struct rule_set *to, struct rule_state *state);

/* Expands a template of the rule ({{value}}, {{limit}}, {{ratio}}, {{host}}, {{label "pool"}}, {{setting "x"}}, ...). */
int rule_render(const char *template, const struct rule_event *event, const struct host_view *view, struct buf *out);

/* Why a check says nothing of a rule. */
enum rule_gap_reason {
	RULE_GAP_HISTORY,  /* it compares samples */
	RULE_GAP_CLOCK,    /* it counts from a time, and nobody said what time the sample is of */
	RULE_GAP_DURATION, /* it must hold for longer than a sample lasts */
	RULE_GAP_SERIES,   /* it also reads what is not there */
};

#define RULE_GAP_MISSING 3

/* One series; label and value tell it from others of its metric, NULL: none does. */
struct rule_series {
	const char *metric, *label, *value;
};

struct rule_gap {
	enum rule_gap_reason why;
	/* Which rule, on what; value: what a counter counted, or what would have to last; NaN when there is nothing yet. */
	struct rule_event event;
	uint64_t for_ns;     /* of RULE_GAP_DURATION */
	bool is_judged_else; /* other conditions or objects of the rule were judged */
	bool takes_history;  /* of RULE_GAP_SERIES: it also compares samples */
	unsigned n_missing;  /* of RULE_GAP_SERIES */
	struct rule_series missing[RULE_GAP_MISSING];
};

struct rule_check {
	/* is_since_boot: counted since boot, so that it may be long over. */
	void (*found)(void *arg, const struct rule_event *event, bool is_since_boot);
	void (*left)(void *arg, const struct rule_gap *gap);
	void *arg;
};

/*
 * Judges one set of values without history or `for`: what `check` does with a saved output. wall_ns of the sets, where it
 * is not 0, is the time that ages are counted to. Returns the worst level found; *judged counts rules that could be judged.
 */
enum rule_level rules_check(struct rule_set *set, const struct host_view *view, struct labels *labels,
    const struct rule_check *out, unsigned *judged);

#endif
