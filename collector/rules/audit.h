/*
 * The settings audit: what documents say about settings, held against those of a host. A profile is what one document says
 * of one system; which hosts a profile is for follows from their label role and from the speed of their links.
 */
#ifndef HIWAT_COLLECTOR_AUDIT_H
#define HIWAT_COLLECTOR_AUDIT_H

#include "rule.h"
#include "settings.h"

#define PROFILES_MAX 100

enum profile_need { NEED_FLOOR, NEED_CEILING, NEED_EQUAL };

/* What a document says about one setting. */
struct profile_row {
	const char *id; /* "nas/kern.coredump": how overrides and explain name it */
	const char *name, *why;
	const char *doc;        /* the profile's, unless the row has one of its own */
	const char *beside;     /* only on hosts that have this setting too, "" all */
	enum profile_need need; /* a capacity, a time-out, a switch */
	uint32_t first_param;   /* its numbers among the rule set's params */
	uint32_t n_params;      /* 0: nothing is compared */
	double per_connection;  /* the floor is at least this for each established connection, up to a power of two */
	double cpus_max;        /* only on hosts with at most as many, 0 all */
	bool is_given;          /* it must be configured, to whatever */
	bool is_report;         /* told, never advised */
	bool zero_is_none;      /* 0 switches the limit off */
	bool is_ours;           /* the figure is ours, not the document's */
};

struct profile {
	const char *id, *doc;
	const char *os;   /* that its settings belong to; "bind" and "windows" are no systems with an agent of their own */
	double link_bits; /* only for hosts with a link at least as fast, 0 all */
	struct profile_row *rows;
	uint32_t n_rows;
	const char *file;
	unsigned line;
};

enum audit_verdict {
	AUDIT_DEVIATES, /* command sets it */
	AUDIT_GONE,     /* this release no longer has it, or sets it by itself; why says what came instead */
	AUDIT_REPORTED, /* told only; why says why */
};

struct audit_finding {
	enum audit_verdict verdict;
	const struct profile *profile; /* the strictest */
	const struct profile_row *row;
	const char *wanted, *found; /* "at least 262144"; "131072", "" nothing */
	const char *command;        /* "" none */
	const char *why;            /* "" nothing to say */
};

const char *audit_verdict_word(enum audit_verdict verdict); /* "deviates", "no longer exists", "reported" */

/*
 * Which profiles hosts of a role use, words with blanks between; role "*" is every host. HIWAT_E_MISSING: no such profile
 * (*unknown points at its name), HIWAT_E_NOMEM. Before the first audit.
 */
int rule_set_profiles(struct rule_set *set, const char *role, const char *profiles, const char **unknown);

size_t profile_count(const struct rule_set *set);
const struct profile *profile_get(const struct rule_set *set, size_t index);
/* A row by its id, and its profile; NULL when there is none. More than one system may have it: nth counts from 0. */
const struct profile_row *
profile_row_find(const struct rule_set *set, const char *id, unsigned nth, const struct profile **profile);
/* The i-th number of a row as it holds for the host; view NULL: as it stands in the file. */
double profile_number(const struct rule_set *set, const struct profile_row *row, unsigned i, const struct host_view *view);

/*
 * Every setting of the host's profiles that is not as their documents say: one finding each, that of the strictest
 * profile. profiles: words, taken in addition to those of its role, "" none. Findings and their texts are borrowed during
 * the call. Returns how many settings were compared. Advice: nothing here is an alert.
 */
unsigned audit_run(const struct rule_set *set, const struct host_view *view, const char *profiles,
    void (*emit)(void *arg, const struct audit_finding *finding), void *arg);

/* Appends one line: "kern.ipc.somaxconn is 128, DOS says at least 32768: sysctl ...". No newline. */
void audit_put(const struct audit_finding *finding, struct buf *out);

#endif
