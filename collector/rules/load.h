/* Between load.c, which finds and reads files, and load_rule.c, which understands one rule. */
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
	bool is_out_of_memory;
};

/* Adds the rule of a mapping to the set; mistakes go to diag and the rule is left out. */
void load_rule(struct loading *ld, const struct yaml_node *node);
/* Where the content of a scalar begins in the file. */
struct expr_place load_place(const struct loading *ld, const struct yaml_node *node);

#endif
