#include "coverage.h"

#include <stdio.h>
#include <stdlib.h>

enum kind { FIRING, QUIET, BOUNDARY, RESOLVING, UNKNOWN, BYTES, N_KINDS };

static const char *const headings[N_KINDS] = { "firing", "quiet", "boundary", "resolving", "unknown", "bytes" };

struct coverage {
	const struct rule_set *rules;
	struct {
		unsigned n[N_KINDS];
		bool below, at;
	} rows[];
};

struct coverage *
coverage_new(const struct rule_set *rules)
{
	struct coverage *c = calloc(1, sizeof(*c) + rule_set_count(rules) * sizeof(c->rows[0]));

	if (c != NULL)
		c->rules = rules;
	return c;
}

void
coverage_free(struct coverage *c)
{
	free(c);
}

/* The values come from a saved output or a batch; batches of several hosts go through the codec too. */
static bool
is_from_bytes(const struct rule_case *rc)
{
	for (unsigned i = 0; i < rc->n_steps; i++) {
		if (rc->steps[i].kind != CASE_VERDICT)
			return true;
	}
	return rc->n_hosts > 0;
}

void
coverage_add(struct coverage *c, const struct rule_case *rc, const struct case_shown *shown)
{
	if (rc->rule == NULL)
		return;
	unsigned i = rule_set_find(c->rules, rc->rule)->index;
	c->rows[i].n[FIRING] += shown->firing;
	c->rows[i].n[QUIET] += shown->quiet;
	c->rows[i].n[RESOLVING] += shown->resolving;
	c->rows[i].n[UNKNOWN] += shown->unknown;
	c->rows[i].n[BYTES] += shown->firing && is_from_bytes(rc);
	/* Both sides of a threshold, in one case or in two. */
	c->rows[i].below |= shown->below;
	c->rows[i].at |= shown->at;
	c->rows[i].n[BOUNDARY] += (shown->below || shown->at) && c->rows[i].below && c->rows[i].at;
}

unsigned
coverage_print(const struct coverage *c)
{
	unsigned lacking = 0;

	printf("%-28s", "RULE");
	for (unsigned k = 0; k < N_KINDS; k++)
		printf(" %9s", headings[k]);
	putchar('\n');
	for (size_t i = 0; i < rule_set_count(c->rules); i++) {
		const struct rule *rule = rule_set_get(c->rules, i);
		bool lacks = false;
		printf("%-28s", rule->id);
		for (unsigned k = 0; k < N_KINDS; k++) {
			/* What the collector knows by itself no sampler can hide. */
			if (k == UNKNOWN && rule->builtin[0] != '\0') {
				printf(" %9s", "n/a");
				continue;
			}
			lacks = lacks || c->rows[i].n[k] == 0;
			if (c->rows[i].n[k] == 0)
				printf(" %9s", "MISSING");
			else
				printf(" %9u", c->rows[i].n[k]);
		}
		putchar('\n');
		lacking += lacks;
	}
	printf("%zu rules, %u lack a case\n", rule_set_count(c->rules), lacking);
	return lacking;
}
