/* Inside of a rule set: what load.c makes and the evaluation uses. */
#ifndef HIWAT_COLLECTOR_SET_H
#define HIWAT_COLLECTOR_SET_H

#include "arena.h"
#include "audit.h"
#include "delivered.h"
#include "expr.h"
#include "rule.h"
#include "settings.h"

#define RULES_MAX 1000
#define PLAN_BUCKETS 4096
#define RULE_LEVELS 3 /* advice, warning, critical */

struct plan;

struct level {
	enum rule_level level;
	struct node *fire; /* NULL: the rule has no such level */
	struct node *stay; /* once it fires: what keeps it from clearing */
	/* For a single sample: what of fire it can judge, and what would take time to tell. NULL: nothing. */
	struct node *check, *wait;
	bool is_peak; /* check takes the sample for a peak: it tells only that the level holds, not that it does not */
	struct node *value, *threshold; /* threshold NULL: none */
	uint64_t for_ns, hold_ns;
};

struct rule_full {
	struct rule pub;
	struct level levels[RULE_LEVELS]; /* those that the rule has, worst last */
	unsigned n_levels;
	struct node *used, *limit, *eta; /* NULL when the rule names none */
	bool has_by;
	struct label_list by;
	uint32_t first_param, n_params;
	const struct rule_set *set;
	uint64_t meaning; /* hash of all that decides when it fires */
};

struct override {
	uint32_t rule;  /* its index; UINT32_MAX: a row of a profile, which row names */
	uint32_t param; /* UINT32_MAX: the rule, or the row, is off */
	const struct profile_row *row;
	double value;
	const char *label, *text; /* as in struct rule_override */
};

/* The profiles that hosts of a role use. */
struct role_profiles {
	const char *role, *profiles; /* role "*": every host */
};

struct rule_set {
	bool uses_fact[FACT_LABEL + 1];
	struct arena arena;
	struct node_table nodes;
	struct param_list params;
	struct rule_full *rules;
	uint32_t n_rules;
	struct override *overrides;
	uint32_t n_overrides;
	struct setting *settings;
	uint32_t n_settings;
	struct profile *profiles;
	uint32_t n_profiles;
	struct delivered *delivered;
	uint32_t n_delivered;
	struct role_profiles *roles;
	uint32_t n_roles;
	/* Plans in use, by hosts of equal shape; and room to run the largest of them. */
	struct plan *plans[PLAN_BUCKETS];
	struct {
		const struct plan *plan; /* whose constants are in numbers */
		double *numbers;         /* what plans work on */
		double *increases;       /* of the counters of one record */
		uint64_t *due;           /* a bit for each row */
		uint32_t n_numbers, n_increases, n_due;
	} room;
};

static inline const struct rule_full *
rule_full_of(const struct rule *rule)
{
	return (const struct rule_full *)(const void *)rule; /* pub comes first */
}

/* Value of a param on this host. */
double override_value(const struct rule_set *set, const struct host_view *view, uint32_t param, double value);
bool override_is_off(const struct rule_set *set, const struct host_view *view, uint32_t rule);
bool override_is_row_off(const struct rule_set *set, const struct host_view *view, const struct profile_row *row);

/*
 * Is this template well formed, and does it name only what the rule can have? HIWAT_OK, or HIWAT_E_CONFIG with the place
 * of the mistake and what was expected.
 */
int template_check(const struct rule_full *rule, const char *text, size_t *at, char *why, size_t why_size);

#endif
