/* The incident's document, both ways. */
#include "incident_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc.h"
#include "err.h"

/* Adds what is known; all return 0, or nonzero when memory is out. */
static int
put_number(json_t *o, const char *name, double value)
{
	return isfinite(value) ? json_object_set_new(o, name, json_real(value)) : 0;
}

static int
put_ns(json_t *o, const char *name, uint64_t ns)
{
	return json_object_set_new(o, name, json_integer((json_int_t)ns));
}

/* An object kept as text; "" is the empty one. */
static int
put_object(json_t *o, const char *name, const char *json)
{
	json_t *value = json_loads(json == NULL || *json == '\0' ? "{}" : json, 0, NULL);

	return json_object_set_new(o, name, value != NULL ? value : json_object());
}

static json_t *
line_to_json(const struct incident_line *line, bool for_store)
{
	json_t *o = json_object();
	int failed = doc_put_text(o, "rule", line->rule_id) | doc_put_text(o, "status", rule_status_word(line->status)) |
	    doc_put_text(o, "level", rule_level_word(line->level)) | doc_put_text(o, "labels", line->labels) |
	    doc_put_time(o, "since", line->since_ns) | doc_put_time(o, "cleared", line->cleared_ns) |
	    json_object_set_new(o, "gone", json_boolean(line->gone)) | put_number(o, "value", line->value) |
	    put_number(o, "threshold", line->threshold) | put_number(o, "used", line->used) |
	    put_number(o, "limit", line->limit) | put_number(o, "seconds_to_limit", line->seconds_to_limit) |
	    doc_put_text(o, "document", line->doc) | doc_put_text(o, "threshold_source", line->threshold_source) |
	    doc_put_text(o, "reason", line->reason) | doc_put_text(o, "summary", line->summary) |
	    doc_put_text(o, "description", line->description) | doc_put_text(o, "remedy", line->remedy);

	if (for_store)
		failed |= put_ns(o, "since_ns", line->since_ns) | put_ns(o, "cleared_ns", line->cleared_ns) |
		    put_ns(o, "blind_ns", line->blind_ns) | json_object_set_new(o, "status_n", json_integer(line->status)) |
		    json_object_set_new(o, "level_n", json_integer(line->level));
	if (failed) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *
host_to_json(const struct incident *i)
{
	json_t *o = json_object();

	if (doc_put_text(o, "name", i->host_name) | doc_put_uuid(o, "uuid", i->host_uuid) |
	    doc_put_text(o, "os", i->host_os) | doc_put_text(o, "release", i->host_release) |
	    put_object(o, "labels", i->host_labels_json)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *
state_to_json(const struct incident *i)
{
	json_t *o = json_object(), *changes = json_array();
	int failed = 0;

	for (unsigned k = 0; k < INCIDENT_CHANGES; k++)
		failed |= json_array_append_new(changes, json_integer((json_int_t)i->changes_ns[k]));
	failed |= json_object_set_new(o, "status", json_integer(i->status)) |
	    json_object_set_new(o, "level", json_integer(i->level)) |
	    json_object_set_new(o, "worst_level", json_integer(i->worst_level)) | put_ns(o, "opened_ns", i->opened_ns) |
	    put_ns(o, "changed_ns", i->changed_ns) | put_ns(o, "resolved_ns", i->resolved_ns) |
	    put_ns(o, "lower_since_ns", i->lower_since_ns) |
	    json_object_set_new(o, "told_open", json_boolean(i->told.open)) |
	    json_object_set_new(o, "told_level", json_integer(i->told.level)) | put_ns(o, "told_ns", i->told.at_ns) |
	    doc_put_text(o, "told_routes", i->told_routes) | put_ns(o, "repeat_ns", i->told.repeat_ns) |
	    json_object_set_new(o, "n_changes", json_integer(i->n_changes)) | json_object_set_new(o, "changes_ns", changes);
	if (failed) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* event NULL: none. for_store adds the state. */
static json_t *
document(const struct incident *i, const char *event, bool for_store)
{
	json_t *o = json_object(), *lines = json_array();
	int failed = json_object_set_new(o, "version", json_integer(1));

	if (event != NULL)
		failed |= doc_put_text(o, "event", event);
	failed |= doc_put_text(o, "key", i->key) | json_object_set_new(o, "generation", json_integer(i->generation)) |
	    doc_put_text(o, "status", incident_status_word(i->status)) |
	    doc_put_text(o, "level", rule_level_word(i->level)) |
	    doc_put_text(o, "worst_level", rule_level_word(i->worst_level)) |
	    json_object_set_new(o, "host", host_to_json(i)) | doc_put_text(o, "cause", i->cause) |
	    doc_put_text(o, "object", i->object) | put_object(o, "labels", i->labels_json) |
	    doc_put_text(o, "summary", i->n_lines > 0 ? i->lines[0].summary : "") | doc_put_time(o, "opened", i->opened_ns) |
	    doc_put_time(o, "changed", i->changed_ns) | doc_put_time(o, "resolved", i->resolved_ns) |
	    doc_put_time(o, "blind_since", i->blind_since_ns) |
	    json_object_set_new(o, "object_gone", json_boolean(i->object_gone)) |
	    json_object_set_new(o, "flapping", json_boolean(i->flapping)) |
	    json_object_set_new(o, "acknowledged", json_boolean(i->acknowledged)) |
	    json_object_set_new(o, "reopened", json_integer(i->reopened));
	if (i->silence[0] != '\0' && !for_store)
		failed |= doc_put_text(o, "silenced_by", i->silence);
	if (i->by[0] != '\0')
		failed |= doc_put_text(o, "by", i->by);
	if (i->attached_to[0] != '\0')
		failed |= doc_put_text(o, "attached_to", i->attached_to);
	for (size_t k = 0; k < i->n_lines; k++)
		failed |= json_array_append_new(lines, line_to_json(&i->lines[k], for_store));
	failed |= json_object_set_new(o, "lines", lines);
	if (for_store)
		failed |= json_object_set_new(o, "state", state_to_json(i));
	if (failed) {
		json_decref(o);
		return NULL;
	}
	return o;
}

json_t *
incident_to_json(const struct incident *i)
{
	return document(i, NULL, false);
}

int
incident_write(const struct incident *i, const char *event, char **json)
{
	json_t *o = document(i, event, event == NULL);
	char *text_form = o == NULL ? NULL : json_dumps(o, JSON_COMPACT);

	json_decref(o);
	if (text_form == NULL)
		return HIWAT_E_NOMEM;
	*json = text_form;
	return 0;
}

static bool
get_text(const json_t *o, const char *name, char **out)
{
	return incident_set(out, json_string_value(json_object_get(o, name)));
}

static bool
get_object(const json_t *o, const char *name, char **out)
{
	json_t *value = json_object_get(o, name);

	*out = json_is_object(value) ? json_dumps(value, JSON_COMPACT) : strdup("{}");
	return *out != NULL;
}

static uint64_t
get_ns(const json_t *o, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(o, name));
}

/* 0 for anything outside 0..max. */
static int
get_small(const json_t *o, const char *name, int max)
{
	json_int_t value = json_integer_value(json_object_get(o, name));

	return value >= 0 && value <= max ? (int)value : 0;
}

static double
get_number(const json_t *o, const char *name)
{
	json_t *value = json_object_get(o, name);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static int
line_from_json(const json_t *o, struct incident *i)
{
	const char *rule = json_string_value(json_object_get(o, "rule"));
	const char *labels = json_string_value(json_object_get(o, "labels"));
	struct incident_line *line = NULL;

	if (rule == NULL || labels == NULL)
		return HIWAT_E_FORMAT;
	int err = incident_add_line(i, rule, labels, (enum rule_level)get_small(o, "level_n", RULE_LEVEL_CRITICAL), &line);
	if (err != 0)
		return err;
	line->status = (enum rule_status)get_small(o, "status_n", RULE_UNKNOWN);
	line->value = get_number(o, "value");
	line->threshold = get_number(o, "threshold");
	line->used = get_number(o, "used");
	line->limit = get_number(o, "limit");
	line->seconds_to_limit = get_number(o, "seconds_to_limit");
	line->since_ns = get_ns(o, "since_ns");
	line->cleared_ns = get_ns(o, "cleared_ns");
	line->blind_ns = get_ns(o, "blind_ns");
	line->gone = json_is_true(json_object_get(o, "gone"));
	return get_text(o, "summary", &line->summary) && get_text(o, "description", &line->description) &&
		get_text(o, "remedy", &line->remedy) && get_text(o, "document", &line->doc) &&
		get_text(o, "threshold_source", &line->threshold_source) && get_text(o, "reason", &line->reason)
	    ? 0
	    : HIWAT_E_NOMEM;
}

static void
state_from_json(const json_t *o, struct incident *i)
{
	i->status = (enum incident_status)get_small(o, "status", INCIDENT_GAVE_UP);
	i->level = (enum rule_level)get_small(o, "level", RULE_LEVEL_CRITICAL);
	i->worst_level = (enum rule_level)get_small(o, "worst_level", RULE_LEVEL_CRITICAL);
	i->opened_ns = get_ns(o, "opened_ns");
	i->changed_ns = get_ns(o, "changed_ns");
	i->resolved_ns = get_ns(o, "resolved_ns");
	i->lower_since_ns = get_ns(o, "lower_since_ns");
	i->told = (struct incident_told){
		.open = json_is_true(json_object_get(o, "told_open")),
		.level = (enum rule_level)get_small(o, "told_level", RULE_LEVEL_CRITICAL),
		.at_ns = get_ns(o, "told_ns"),
		.repeat_ns = get_ns(o, "repeat_ns"),
	};
	i->n_changes = (unsigned)json_integer_value(json_object_get(o, "n_changes"));
	for (unsigned k = 0; k < INCIDENT_CHANGES; k++)
		i->changes_ns[k] = (uint64_t)json_integer_value(json_array_get(json_object_get(o, "changes_ns"), k));
}

int
incident_read(const char *json, struct incident *out)
{
	struct incident i = { 0 };
	json_t *o = json_loads(json, 0, NULL);
	const json_t *host = json_object_get(o, "host"), *state = json_object_get(o, "state");
	const char *key = json_string_value(json_object_get(o, "key"));
	const char *attached = json_string_value(json_object_get(o, "attached_to"));
	uint8_t bytes[16];
	int err = HIWAT_E_FORMAT;

	if (key == NULL || !incident_key_parse(key, bytes) || !json_is_object(state) ||
	    !doc_parse_uuid(json_string_value(json_object_get(host, "uuid")), i.host_uuid))
		goto out;
	snprintf(i.key, sizeof(i.key), "%s", key);
	if (attached != NULL && incident_key_parse(attached, bytes))
		snprintf(i.attached_to, sizeof(i.attached_to), "%s", attached);
	i.generation = (unsigned)json_integer_value(json_object_get(o, "generation"));
	i.reopened = (unsigned)json_integer_value(json_object_get(o, "reopened"));
	i.acknowledged = json_is_true(json_object_get(o, "acknowledged"));
	i.flapping = json_is_true(json_object_get(o, "flapping"));
	state_from_json(state, &i);
	err = HIWAT_E_NOMEM;
	if (!get_text(host, "name", &i.host_name) || !get_text(host, "os", &i.host_os) ||
	    !get_text(host, "release", &i.host_release) || !get_object(host, "labels", &i.host_labels_json) ||
	    !get_text(o, "cause", &i.cause) || !get_text(o, "object", &i.object) ||
	    !get_object(o, "labels", &i.labels_json) || !get_text(o, "by", &i.by) ||
	    !get_text(state, "told_routes", &i.told_routes))
		goto out;
	const json_t *lines = json_object_get(o, "lines");
	for (size_t k = 0; k < json_array_size(lines); k++) {
		err = line_from_json(json_array_get(lines, k), &i);
		if (err != 0)
			goto out;
	}
	incident_settle(&i);
	err = 0;
out:
	json_decref(o);
	if (err != 0)
		incident_fini(&i);
	else
		*out = i;
	return err;
}
