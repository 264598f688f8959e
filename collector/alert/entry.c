/* Hosts and incidents in memory, and what an event writes into an incident. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "internal.h"
#include "scan.h"

struct alert_host_state *
alerts_host(struct alerts *a, const uint8_t uuid[16])
{
	struct map_node *found = map_find(&a->hosts, uuid);
	if (found != NULL)
		return (struct alert_host_state *)found;
	struct alert_host_state *host = calloc(1, sizeof(*host));
	if (host == NULL)
		return NULL;
	memcpy(host->node.key, uuid, 16);
	if (!map_add(&a->hosts, &host->node)) {
		free(host);
		return NULL;
	}
	return host;
}

struct entry *
entry_new(struct alerts *a, struct alert_host_state *host, const uint8_t key[16])
{
	struct entry *e = calloc(1, sizeof(*e));
	if (e == NULL)
		return NULL;
	memcpy(e->node.key, key, 16);
	incident_key_text(key, e->i.key);
	memcpy(e->i.host_uuid, host->node.key, 16);
	e->i.status = INCIDENT_RESOLVED; /* until a line holds */
	struct incident *i = &e->i;
	if (!incident_set(&i->host_name, "") || !incident_set(&i->host_os, "") || !incident_set(&i->host_release, "") ||
	    !incident_set(&i->host_labels_json, "{}") || !incident_set(&i->cause, "") || !incident_set(&i->object, "") ||
	    !incident_set(&i->labels_json, "{}") || !incident_set(&i->by, "") || !incident_set(&i->told_routes, "") ||
	    !map_add(&a->incidents, &e->node)) {
		incident_fini(i);
		free(e);
		return NULL;
	}
	e->host = host;
	e->next_of_host = host->first;
	host->first = e;
	host->n_entries++;
	return e;
}

void
entry_free(struct alerts *a, struct entry *e)
{
	struct entry **at = &e->host->first;

	while (*at != e)
		at = &(*at)->next_of_host;
	*at = e->next_of_host;
	e->host->n_entries--;
	if (e->host->outage == e)
		e->host->outage = NULL;
	map_remove(&a->incidents, &e->node);
	incident_fini(&e->i);
	free(e);
}

bool
entry_name_routes(const struct alerts *a, struct entry *e)
{
	struct buf names;

	buf_init(&names, 65536);
	for (size_t k = 0; k < a->n_routes; k++)
		if ((e->knows >> k & 1) != 0)
			buf_printf(&names, "%s%s", names.len > 0 ? "," : "", a->routes[k].name);
	bool ok = buf_ok(&names) && incident_set(&e->i.told_routes, buf_str(&names));
	buf_fini(&names);
	return ok;
}

void
entry_find_routes(const struct alerts *a, struct entry *e)
{
	struct text rest = text_of(e->i.told_routes);

	e->knows = 0;
	while (rest.n > 0) {
		struct text name;

		if (!text_until(&rest, ',', &name)) {
			name = rest;
			rest.n = 0;
		}
		for (size_t k = 0; k < a->n_routes; k++)
			e->knows |= (uint64_t)text_eq(name, a->routes[k].name) << k;
	}
}

char *
labels_as_text(const struct labels *labels, uint32_t set)
{
	struct buf text;
	unsigned n = 0;
	const struct sample_label *l = labels_get(labels, set, &n);

	buf_init(&text, INCIDENT_LABELS_MAX);
	series_write(&text, "", l, n);
	const char *s = buf_str(&text);
	size_t len = strlen(s);
	/* Without the braces. A text at its ceiling lacks the closing one: then it is a name that was cut. */
	char *copy = len == 0 ? strdup("") : strndup(s + 1, len - (s[len - 1] == '}' ? 2 : 1));
	buf_fini(&text);
	return copy;
}

char *
labels_as_json(const struct sample_label *labels, unsigned n)
{
	json_t *o = json_object();
	bool failed = o == NULL;

	for (unsigned k = 0; k < n; k++) {
		json_t *value = json_string(labels[k].value);

		/* A value that is no UTF-8 cannot be said in JSON. */
		failed = json_object_set_new(o, labels[k].name, value != NULL ? value : json_string("?")) != 0 || failed;
	}
	char *text = failed ? NULL : json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}

bool
entry_describe(struct entry *e, const struct alert_host *host)
{
	struct incident *i = &e->i;
	char *labels = labels_as_json(host->view->host_labels, host->view->n_host_labels);

	if (labels == NULL)
		return false;
	free(i->host_labels_json);
	i->host_labels_json = labels;
	e->matched = 0;
	return incident_set(&i->host_name, host->view->name) && incident_set(&i->host_os, host->view->os) &&
	    incident_set(&i->host_release, host->view->release);
}

uint64_t
event_since(const struct alert_host *host, const struct rule_event *event)
{
	uint64_t since = host->boot_wall_ns + event->since_boot_ns;

	/* The host's clock and ours differ a little: nothing began after we saw it. */
	return event->since_boot_ns == 0 || since > host->wall_ns ? host->wall_ns : since;
}

/* One template's text in place of *out; a text at its ceiling ends in an ellipsis. */
static bool
render(char **out, const char *template, size_t limit, const struct alert_host *host, const struct rule_event *event)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	struct buf text;

	buf_init(&text, limit);
	if (template != NULL && *template != '\0')
		(void)rule_render(template, event, host->view, &text);
	if (!buf_ok(&text) && text.len > sizeof(ellipsis)) {
		size_t end = text.len - (sizeof(ellipsis) - 1);

		while (end > 0 && ((unsigned char)text.data[end] & 0xc0) == 0x80)
			end--; /* not within a character */
		memcpy(text.data + end, ellipsis, sizeof(ellipsis));
	}
	bool ok = incident_set(out, buf_str(&text));
	buf_fini(&text);
	return ok;
}

bool
line_fill(struct incident_line *line, const struct alert_host *host, const struct rule_event *event, uint64_t since_ns)
{
	const struct rule *rule = event->rule;

	line->value = event->value;
	line->threshold = event->threshold;
	line->used = event->used;
	line->limit = event->limit;
	line->seconds_to_limit = event->seconds_to_limit;
	line->since_ns = since_ns;
	return render(&line->summary, rule->summary, INCIDENT_SUMMARY_MAX, host, event) &&
	    render(&line->description, rule->description, INCIDENT_TEXT_MAX, host, event) &&
	    render(&line->remedy, rule->remedy, INCIDENT_TEXT_MAX, host, event) && incident_set(&line->doc, rule->doc) &&
	    incident_set(&line->threshold_source, rule->threshold_source) && incident_set(&line->reason, rule->reason);
}
