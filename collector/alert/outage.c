/*
 * What the backlog tells. Per host and outage there is one incident of cause "outage": its lines are the critical rules
 * that were true there, from ... to .... It is told once, when the backlog is there or has come to rest, and never opens.
 * What an ordinary incident has told already is left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "err.h"
#include "internal.h"

#define OUTAGE_CAUSE "outage"
#define ATTACH_NS (86400 * 1000000000ULL) /* a host-silent that ended longer ago belongs to another outage */

bool
outage_over(const struct entry *e, uint64_t wall_ns)
{
	return e->over || wall_ns >= e->touched_ns + ALERT_OUTAGE_QUIET_NS;
}

void
alerts_backlog_done(struct alerts *a, const uint8_t uuid[16])
{
	struct alert_host_state *host = (struct alert_host_state *)map_find(&a->hosts, uuid);

	if (host != NULL && host->outage != NULL)
		host->outage->over = true;
}

/* Whether the incident of the event's cause and object was open, and so was told, at that time. */
static bool
is_known(const struct alerts *a, const struct alert_host *who, const struct rule_event *event, const char *object,
    uint64_t at_ns)
{
	uint8_t key[16];

	if (incident_hash(who->uuid, event->rule->cause, object, key) != 0)
		return false;
	const struct entry *e = (const struct entry *)map_find(&a->incidents, key);
	if (e == NULL || e->i.worst_level < RULE_LEVEL_CRITICAL || at_ns + ALERT_GRACE_NS < e->i.opened_ns)
		return false;
	return e->i.status == INCIDENT_OPEN || at_ns < e->i.resolved_ns + ALERT_GRACE_NS;
}

/* The host-silent incident of this outage, if one fired. */
static const struct entry *
silence_of(const struct alert_host_state *host, uint64_t now_ns)
{
	for (const struct entry *e = host->first; e != NULL; e = e->next_of_host) {
		if (e->i.status != INCIDENT_OPEN &&
		    (e->i.status != INCIDENT_RESOLVED || now_ns > e->i.resolved_ns + ATTACH_NS))
			continue;
		for (size_t k = 0; k < e->i.n_lines; k++)
			if (strcmp(e->i.lines[k].rule_id, ALERT_HOST_SILENT) == 0)
				return e;
	}
	return NULL;
}

static struct entry *
outage_of(struct alerts *a, struct alert_host_state *host, const struct alert_host *who, uint64_t since_ns)
{
	/* Its beginning makes the key of each outage its own. */
	char object[32];
	uint8_t key[16];

	if (host->outage != NULL)
		return host->outage;
	snprintf(object, sizeof(object), "%" PRIu64, (uint64_t)(since_ns / NSEC_PER_SEC));
	if (incident_hash(who->uuid, OUTAGE_CAUSE, object, key) != 0)
		return NULL;
	struct entry *e = (struct entry *)map_find(&a->incidents, key);
	if (e == NULL)
		e = entry_new(a, host, key);
	if (e == NULL)
		return NULL;
	if (!incident_set(&e->i.cause, OUTAGE_CAUSE) || !entry_describe(e, who)) {
		entry_free(a, e);
		return NULL;
	}
	e->i.status = INCIDENT_WAS;
	e->i.opened_ns = since_ns;
	host->outage = e;
	return e;
}

int
outage_event(struct alerts *a, struct alert_host_state *host, const struct alert_host *who, const struct rule_event *event)
{
	bool fires = event->status == RULE_FIRING && event->level == RULE_LEVEL_CRITICAL && !event->gone;
	uint64_t at_ns = event_since(who, event);
	struct incident_line *line = NULL;
	int err = HIWAT_E_NOMEM;

	if (!fires && (host->outage == NULL || event->status == RULE_UNKNOWN || event->status == RULE_PENDING))
		return 0;
	char *object = labels_as_text(who->view->labels, event->object);
	char *labels = labels_as_text(who->view->labels, event->labels);
	struct entry *e = host->outage;
	if (object == NULL || labels == NULL)
		goto out;
	if (e != NULL)
		line = incident_find_line(&e->i, event->rule->id, labels);
	err = 0;
	if (!fires && line != NULL && line->cleared_ns == 0) {
		line->cleared_ns = at_ns;
	} else if (fires && (line == NULL || line->cleared_ns != 0)) {
		if (is_known(a, who, event, object, at_ns))
			goto out;
		e = outage_of(a, host, who, at_ns);
		err = e == NULL ? HIWAT_E_NOMEM : 0;
		/* True again within one outage: from the first time to the last. */
		uint64_t since_ns = line != NULL ? line->since_ns : at_ns;
		if (err == 0 && line == NULL)
			err = incident_add_line(&e->i, event->rule->id, labels, event->level, &line);
		if (err == HIWAT_E_FULL) {
			err = 0; /* sixteen say enough */
			goto out;
		}
		if (err == 0 && !line_fill(line, who, event, since_ns))
			err = HIWAT_E_NOMEM;
		if (err != 0)
			goto out;
		line->status = RULE_FIRING;
		line->cleared_ns = 0;
	} else {
		goto out;
	}
	e->touched_ns = a->now_ns;
	e->dirty = true;
	struct incident *i = &e->i;
	const struct entry *silence = silence_of(host, a->now_ns);
	if (silence != NULL)
		memcpy(i->attached_to, silence->i.key, sizeof(i->attached_to));
	i->level = i->worst_level = RULE_LEVEL_CRITICAL;
	i->changed_ns = who->wall_ns;
	i->resolved_ns = 0;
	for (size_t k = 0; k < i->n_lines; k++) {
		if (i->lines[k].since_ns < i->opened_ns)
			i->opened_ns = i->lines[k].since_ns;
		if (i->lines[k].cleared_ns > i->resolved_ns)
			i->resolved_ns = i->lines[k].cleared_ns;
	}
out:
	free(object);
	free(labels);
	return err;
}
