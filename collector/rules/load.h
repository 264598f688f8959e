/* Between load.c, which finds and reads files, load_rule.c, which understands one rule, and load_level.c. */
#ifndef HIWAT_COLLECTOR_LOAD_H
#define HIWAT_COLLECTOR_LOAD_H

#include "set.h"

struct diag;
struct yaml_node;

struct loading {
	struct rule_set *set;
	struct diag *diag;
	const char *text; /* of the file */
	size_t len;
	const char **lines; /* where each begins */
	unsigned n_lines;
	bool is_out_of_memory;
	bool is_full; /* EXPR_NODES_MAX is reached, and was complained of */
};

/* A rule while it is read. */
struct draft {
	struct loading *ld;
	const struct yaml_node *node;
	struct rule_full rule;
	struct node *expr; /* what thresholds are compared with */
	enum node_op compare;
	const struct yaml_node *given[RULE_LEVELS]; /* keys advice, warning, critical */
	const struct yaml_node *for_node, *hold_node, *clear_node;
	bool since_boot;
	enum rule_level builtin_level;
};

extern const char *const level_keys[RULE_LEVELS];

/* Adds the rule of a mapping to the set; mistakes go to diag and the rule is left out. */
void load_rule(struct loading *ld, const struct yaml_node *node);
/* Add an entry of "settings:", "delivers:" or "profiles:", in load_settings.c. */
void load_setting(struct loading *ld, const struct yaml_node *node);
void load_delivered(struct loading *ld, const struct yaml_node *node);
void load_profile(struct loading *ld, const struct yaml_node *node);
/* A copy that the set owns; "" when memory is out. */
const char *load_copy(struct loading *ld, const char *s, size_t len);
/* Adds a param of the rule or row with this id to the set; name: of static storage or the set's. */
bool load_param(struct loading *ld, const char *id, const char *name, double value);
/* Where the content of a scalar begins in the file. */
struct expr_place load_place(const struct loading *ld, const struct yaml_node *node);

/* Reads the level under level_keys[index], in load_level.c; the rule's texts, params and expr are there. */
void load_level(struct draft *d, unsigned index);
/* NULL after a complaint. */
struct node *load_expr(struct draft *d, const struct yaml_node *n);
/* Leaves *ns alone when n is NULL, or after a complaint. */
void load_duration(struct draft *d, const struct yaml_node *n, uint64_t *ns);
/* name: of static storage or the set's. */
void add_param(struct draft *d, const char *name, double value);

#endif
