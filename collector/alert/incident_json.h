/* The incident's document: what receivers get (webhook, command), what the store keeps, what the API shows. */
#ifndef HIWAT_COLLECTOR_INCIDENT_JSON_H
#define HIWAT_COLLECTOR_INCIDENT_JSON_H

#include <jansson.h>

#include "incident.h"

/*
 * Times are RFC 3339 in UTC with milliseconds, and Unix seconds beside them under NAME_unix. What is not known is absent.
 *
 *   version           1
 *   event             trigger | escalate | update | acknowledge | repeat | resolve | was; only in notifications
 *   key, generation   key names the trouble for ever; of two documents of a key the higher generation is the newer.
 *                     Together they name the notification: the same pair again is the same notification
 *   status            open | resolved | was | gave_up
 *   level             critical | warning | advice: of the worst line now (of the last line, when resolved)
 *   worst_level       the worst since it opened
 *   host              { name, uuid, os, release, labels: { role, site, ... } }
 *   cause, object     what it is about; object is label="value",..., "" for the whole host
 *   labels            the object's labels
 *   summary           one sentence of the line that speaks
 *   opened, changed, resolved, blind_since
 *                     status was: critical from opened to resolved; no resolved: to the end of what the host had kept
 *   object_gone, flapping, acknowledged   booleans
 *   silenced_by       id of the silence that keeps it from being told
 *   by                who acknowledged or closed it
 *   reopened          how often it came back within the grace time
 *   attached_to       event was: key of the host-silent incident of that outage
 *   lines             the one that speaks first, each { rule, status: firing | unknown | ok, level, labels (as text),
 *                     since, cleared, gone, value, threshold, used, limit, seconds_to_limit, document,
 *                     threshold_source, reason, summary, description, remedy }. threshold_source: the document's figure or "ours"
 *   state             only in the store: what the collector itself needs after a restart. told_routes in it are the names,
 *                     with commas between, of the routes that were told of it and not of its end
 *
 * Without event and state. The caller's new reference; NULL when memory is out.
 */
json_t *incident_to_json(const struct incident *i);
/* With event as receivers get it, or with state as the store wants it when event is NULL. *json is owned. HIWAT_E_NOMEM. */
int incident_write(const struct incident *i, const char *event, char **json);
/* The stored form back; *i is overwritten. HIWAT_E_FORMAT when it is not one, HIWAT_E_NOMEM. */
int incident_read(const char *json, struct incident *i);

#endif
