/* What was expected against what was seen. */
#include "case.h"

#include <stdio.h>
#include <string.h>

#include "buf.h"

void
case_fail(struct case_report *r, const struct yaml_node *node, const char *what, const char *expected, const char *seen)
{
	fprintf(stderr, "%s:%u: %s: %s: expected \"%s\", seen \"%s\"\n", r->c->file, node->line, r->c->name, what, expected,
	    seen);
	r->failures++;
}

/* Does any row of the status fire, one that is unknown or gone included? */
static bool
has_level(const char *status)
{
	return strstr(status, "warning") != NULL || strstr(status, "critical") != NULL || strstr(status, "advice") != NULL;
}

void
case_check_status(struct case_report *r, const struct case_expect *e, const char *seen, bool applies, bool *fired)
{
	char what[80];
	bool fires = has_level(e->status);

	if (strcmp(seen, e->status) != 0) {
		snprintf(what, sizeof(what), "status at %gs", e->at);
		case_fail(r, e->node, what, e->status, seen);
		return;
	}
	if (e->boundary == CASE_BELOW && fires)
		case_fail(r, e->node, "boundary", "below: a status that does not fire", seen);
	if (e->boundary == CASE_AT && !fires)
		case_fail(r, e->node, "boundary", "at: a status that fires", seen);
	r->shown.firing |= fires;
	r->shown.unknown |= strstr(seen, "unknown") != NULL;
	r->shown.below |= e->boundary == CASE_BELOW && applies;
	r->shown.at |= e->boundary == CASE_AT;
	if (seen[0] == '\0' && *fired)
		r->shown.resolving = true;
	else if (seen[0] == '\0' && applies)
		r->shown.quiet = true;
	*fired |= fires;
}
