/* One incident's life: opening, rising, ending, flapping, and what of it is to be told. No store, no allocation. */
#include <string.h>

#include "internal.h"
#include "match.h"

static bool
is_loud(const struct incident *i)
{
	return i->status == INCIDENT_OPEN && i->level >= RULE_LEVEL_WARNING;
}

static unsigned
changes_in_window(const struct incident *i, uint64_t wall_ns)
{
	unsigned n = 0, known = i->n_changes < INCIDENT_CHANGES ? i->n_changes : INCIDENT_CHANGES;

	for (unsigned k = 0; k < known; k++)
		n += i->changes_ns[k] + ALERT_FLAP_WINDOW_NS > wall_ns;
	return n;
}

void
entry_note_change(struct entry *e, uint64_t wall_ns)
{
	struct incident *i = &e->i;

	i->changes_ns[i->n_changes++ % INCIDENT_CHANGES] = wall_ns;
	if (changes_in_window(i, wall_ns) > ALERT_FLAP_ABOVE)
		i->flapping = true;
}

/* A new episode: what belongs to the last one goes. */
static void
begin(struct incident *i, uint64_t wall_ns)
{
	size_t kept = 0;

	for (size_t k = 0; k < i->n_lines; k++) {
		if (i->lines[k].status == RULE_OK)
			incident_line_fini(&i->lines[k]);
		else
			i->lines[kept++] = i->lines[k];
	}
	i->n_lines = kept;
	i->opened_ns = wall_ns;
	i->worst_level = i->level;
	i->reopened = 0;
	i->acknowledged = false;
	i->by[0] = '\0';
}

void
entry_settle(struct entry *e, uint64_t wall_ns)
{
	struct incident *i = &e->i;
	bool was_open = i->status == INCIDENT_OPEN, was_blind = i->blind_since_ns != 0, was_gone = i->object_gone;
	enum rule_level old_level = i->level;
	bool holds = incident_settle(i);

	if (holds && !was_open) {
		bool again =
		    i->status == INCIDENT_RESOLVED && i->resolved_ns != 0 && wall_ns < i->resolved_ns + ALERT_GRACE_NS;

		i->status = INCIDENT_OPEN;
		i->resolved_ns = 0;
		if (again)
			i->reopened++;
		else
			begin(i, wall_ns);
	} else if (!holds && was_open) {
		i->status = INCIDENT_RESOLVED;
		i->resolved_ns = wall_ns;
	}
	bool loud = is_loud(i);
	/* What was only advice so far opens when it begins to matter, unless it mattered a moment ago. */
	if (loud && !e->loud && was_open && wall_ns > i->told.at_ns + ALERT_GRACE_NS)
		begin(i, wall_ns);
	if (loud != e->loud || (loud && i->level > old_level))
		entry_note_change(e, wall_ns);
	if (loud && e->loud && (i->level < old_level || was_blind != (i->blind_since_ns != 0) || was_gone != i->object_gone))
		e->update = true;
	if (i->level > i->worst_level)
		i->worst_level = i->level;
	if (!loud || !i->told.open || i->level >= i->told.level)
		i->lower_since_ns = 0;
	else if (i->lower_since_ns == 0)
		i->lower_since_ns = wall_ns;
	if (loud && i->told.open && i->level > i->told.level) {
		i->acknowledged = false;
		i->by[0] = '\0';
	}
	e->loud = loud;
	e->matched = 0;
	i->changed_ns = wall_ns;
	e->dirty = true;
}

void
entry_age(struct entry *e, uint64_t wall_ns)
{
	struct incident *i = &e->i;

	if (i->flapping && changes_in_window(i, wall_ns) < ALERT_FLAP_BELOW) {
		i->flapping = false;
		e->dirty = true;
	}
	if (i->lower_since_ns != 0 && wall_ns >= i->lower_since_ns + ALERT_GRACE_NS) {
		i->told.level = i->level;
		i->lower_since_ns = 0;
		e->dirty = true;
	}
}

bool
entry_is_silence(const struct entry *e)
{
	for (size_t k = 0; e->i.status == INCIDENT_OPEN && k < e->i.n_lines; k++)
		if (e->i.lines[k].status != RULE_OK && strcmp(e->i.lines[k].rule_id, ALERT_HOST_SILENT) == 0)
			return true;
	return false;
}

bool
route_repeats(const struct alert_route *route, const struct incident_told *told, uint64_t wall_ns)
{
	uint64_t done = told->repeat_ns > told->at_ns ? told->repeat_ns : told->at_ns;

	if (route->repeat_ns == 0 || wall_ns <= done)
		return false;
	return (wall_ns - told->at_ns) / route->repeat_ns > (done - told->at_ns) / route->repeat_ns;
}

/* Conditions cost more than looking at a clock, and their result changes with the incident alone. */
static void
hold_against_conditions(const struct alerts *a, struct entry *e)
{
	if (e->matched == a->conditions)
		return;
	e->fits = 0;
	for (size_t k = 0; k < a->n_routes; k++)
		e->fits |= (uint64_t)match_incident(a->routes[k].match, &e->i) << k;
	memset(e->silenced, 0, sizeof(e->silenced));
	for (size_t k = 0; k < a->n_silences; k++)
		e->silenced[k / 64] |= (uint64_t)silence_fits(a->silences[k], &e->i) << k % 64;
	e->matched = a->conditions;
}

const struct silence *
entry_silence(const struct alerts *a, struct entry *e, uint64_t wall_ns)
{
	hold_against_conditions(a, e);
	for (size_t k = 0; k < a->n_silences; k++)
		if ((e->silenced[k / 64] >> k % 64 & 1) != 0 && silence_is_active(a->silences[k], wall_ns))
			return a->silences[k];
	return NULL;
}

bool
entry_reaches(const struct alerts *a, struct entry *e, size_t route, uint64_t wall_ns)
{
	const struct alert_route *r = &a->routes[route];

	if (e->i.level < r->min_level || !hours_contain(r->hours, wall_ns))
		return false;
	hold_against_conditions(a, e);
	return (e->fits >> route & 1) != 0;
}

static bool
repeats(const struct alerts *a, struct entry *e, uint64_t wall_ns)
{
	for (size_t k = 0; k < a->n_routes; k++)
		if ((e->knows >> k & 1) != 0 && route_repeats(&a->routes[k], &e->i.told, wall_ns) &&
		    entry_reaches(a, e, k, wall_ns))
			return true;
	return false;
}

static bool
reaches_another(const struct alerts *a, struct entry *e, uint64_t wall_ns)
{
	for (size_t k = 0; k < a->n_routes; k++)
		if ((e->knows >> k & 1) == 0 && entry_reaches(a, e, k, wall_ns))
			return true;
	return false;
}

enum tell
entry_tell(const struct alerts *a, struct entry *e, uint64_t wall_ns)
{
	const struct incident *i = &e->i;

	if (e->host->silent && !entry_is_silence(e))
		return TELL_NONE;
	if (i->status == INCIDENT_WAS && (i->told.at_ns != 0 || !outage_over(e, wall_ns)))
		return TELL_NONE;
	bool loud = is_loud(i);
	if (i->status != INCIDENT_WAS && !loud && !i->told.open)
		return TELL_NONE;
	if ((loud || i->status == INCIDENT_WAS) && entry_silence(a, e, wall_ns) != NULL)
		return TELL_NONE;
	if (i->status == INCIDENT_WAS)
		return TELL_WAS;
	if (loud && i->told.open && e->acknowledge)
		return TELL_ACKNOWLEDGE;
	if (i->flapping && i->told.at_ns != 0 && wall_ns < i->told.at_ns + ALERT_FLAP_INTERVAL_NS)
		return TELL_NONE;
	if (!loud)
		return TELL_RESOLVE;
	if (!i->told.open)
		return TELL_TRIGGER;
	if (i->level > i->told.level)
		return TELL_ESCALATE;
	if (e->update)
		return TELL_UPDATE;
	if (i->acknowledged)
		return TELL_NONE;
	return repeats(a, e, wall_ns) ? TELL_REPEAT : reaches_another(a, e, wall_ns) ? TELL_LATE : TELL_NONE;
}
