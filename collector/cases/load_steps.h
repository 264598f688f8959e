/* Between case_load.c, which reads a file of cases, and load_steps.c, which reads saved outputs and events of a fleet. */
#ifndef HIWAT_COLLECTOR_LOAD_STEPS_H
#define HIWAT_COLLECTOR_LOAD_STEPS_H

#include "case.h"

#define CASE_SAMPLER "test" /* where none is named */

struct loading_case {
	struct case_file *file;
	struct diag *diag;
	const char *path;
	struct rule_case *c;
};

/* All complain by themselves. False: no mapping. */
bool load_keys(struct loading_case *ld, const struct yaml_node *map, const char *allowed);
const char *load_text(struct loading_case *ld, const struct yaml_node *map, const char *key, const char *otherwise);
double load_seconds(struct loading_case *ld, const struct yaml_node *map, const char *key, const char *otherwise);
bool load_number(struct loading_case *ld, const struct yaml_node *n, unsigned max, unsigned *value);
const struct yaml_node *load_list(struct loading_case *ld, const struct yaml_node *map, const char *key, unsigned *count);
void *load_alloc(struct loading_case *ld, size_t n, size_t size);

/* The lists `input`, and `hosts` with `fleet`, of a case. */
void load_steps(struct loading_case *ld, const struct yaml_node *map);
void load_fleet(struct loading_case *ld, const struct yaml_node *map);

#endif
