/* An incident and its identity. Its form as JSON: incident_json.h. */
#ifndef HIWAT_COLLECTOR_INCIDENT_H
#define HIWAT_COLLECTOR_INCIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rule.h"

#define INCIDENT_KEY_LEN 32 /* hexadecimal digits, without the NUL */
#define INCIDENT_LINES_MAX 16
#define INCIDENT_SUMMARY_MAX 1024 /* bytes: what the strictest receiver takes */
#define INCIDENT_TEXT_MAX 8192    /* bytes of a description and a remedy */
#define INCIDENT_LABELS_MAX 4096  /* bytes of an object as text */
#define INCIDENT_CHANGES 8        /* of the last hour that are remembered, to tell flapping */

/* WAS: found in backlog, over when it was found. GAVE_UP: its host was gone for too long, nobody knows how it ended. */
enum incident_status { INCIDENT_OPEN, INCIDENT_RESOLVED, INCIDENT_WAS, INCIDENT_GAVE_UP };

/* "open", "resolved", "was", "gave_up" */
const char *incident_status_word(enum incident_status status);

/* One rule on one series inside an incident. Strings are owned by the incident, never NULL. */
struct incident_line {
	char *rule_id;
	char *labels;            /* label="value",... of the series; object and this make a line its own */
	enum rule_status status; /* RULE_FIRING, RULE_UNKNOWN (fired when it went blind), or RULE_OK: cleared */
	enum rule_level level;
	double value, threshold, used, limit, seconds_to_limit; /* NaN: not known */
	uint64_t since_ns, cleared_ns;                          /* Unix time; cleared 0 while it holds */
	uint64_t blind_ns;                                      /* since when RULE_UNKNOWN, Unix time */
	bool gone;                                              /* the series is no longer there; the line holds on */
	char *summary, *description, *remedy, *doc, *threshold_source, *reason;
};

/* What receivers believe. Kept with the incident, so that a restart tells nothing twice. */
struct incident_told {
	bool open;
	enum rule_level level; /* the last that was told as trigger or escalation */
	uint64_t at_ns;        /* when, Unix time; 0: never */
	uint64_t repeat_ns;    /* repeats that fell due up to then are done */
};

struct incident {
	char key[INCIDENT_KEY_LEN + 1]; /* hash of host uuid, cause and object: the same on every collector, for ever */
	uint8_t host_uuid[16];
	char *host_name, *host_os, *host_release;
	char *host_labels_json; /* {"role":"mail",...}: from the agent's configuration */
	char *cause;
	char *object;      /* label="value",... of the object; "" for the whole host */
	char *labels_json; /* the object's labels: {"pool":"cluster"} */
	enum incident_status status;
	enum rule_level level, worst_level; /* now; since it opened. level is that of the last line while resolved */
	uint64_t opened_ns, changed_ns, resolved_ns; /* Unix time; resolved 0 while open */
	uint64_t blind_since_ns;                     /* since when its sampler gives no value, 0: it sees */
	uint64_t lower_since_ns;                     /* since when level is below the one told, 0: it is not */
	bool object_gone, acknowledged, flapping;
	char silence[17];                       /* id of the silence in force, as of the last tick; "": none. Not stored */
	char *by;                               /* who acknowledged or closed it, "" when nobody did */
	char attached_to[INCIDENT_KEY_LEN + 1]; /* WAS: the host-silent incident of the same outage, "" when none fired */
	unsigned reopened;                      /* times it came back within the grace time */
	unsigned generation; /* grows with each change that was notified: receivers can tell old from new */
	struct incident_told told;
	char *
	    told_routes; /* names of the routes that know of it, with commas between; as of the last change that was stored */
	uint64_t changes_ns[INCIDENT_CHANGES]; /* ring of the last openings, escalations and ends */
	unsigned n_changes;                    /* so far */
	size_t n_lines;
	struct incident_line lines[INCIDENT_LINES_MAX]; /* the one that speaks first: holding before cleared, worst first */
};

/* The first 16 bytes of SHA-256 over uuid, cause and object. HIWAT_E_SYS when the hash fails. */
int incident_hash(const uint8_t host_uuid[16], const char *cause, const char *object, uint8_t key[16]);
void incident_key_text(const uint8_t key[16], char text[INCIDENT_KEY_LEN + 1]);
bool incident_key_parse(const char *text, uint8_t key[16]);

/* Frees what the incident owns, not the struct. */
void incident_fini(struct incident *i);
void incident_line_fini(struct incident_line *line);
/* The line of a rule on a series, or NULL. */
struct incident_line *incident_find_line(struct incident *i, const char *rule_id, const char *labels);
/*
 * A new line with owned copies of rule_id and labels and "" for the rest. A full incident gives up its last line when that
 * is cleared or milder; else HIWAT_E_FULL. HIWAT_E_NOMEM.
 */
int incident_add_line(struct incident *i, const char *rule_id, const char *labels, enum rule_level level,
    struct incident_line **line);
/* Puts lines in order and works out level, blind_since, object_gone. Returns whether any line holds. */
bool incident_settle(struct incident *i);
/* A string of s, "" for NULL, in place of *out, which is freed. False when memory is out: *out is unchanged. */
bool incident_set(char **out, const char *s);

#endif
