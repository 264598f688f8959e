#include "silences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "buf.h"
#include "clock.h"
#include "doc.h"
#include "err.h"
#include "hours.h"
#include "incident.h"
#include "match.h"

#define SECONDS_MAX (INT64_MAX / (int64_t)NSEC_PER_SEC)

static int
reject(struct buf *why, const char *what)
{
	buf_puts(why, what);
	return HIWAT_E_REJECTED;
}

/* An array of strings, each of which check() lets through; an absent one is empty. *out is a new reference. */
static int
take_texts(const json_t *o, const char *name, size_t max, const char *(*check)(const char *text), json_t **out,
    struct buf *why)
{
	const json_t *list = json_object_get(o, name);
	json_t *copy = json_array();
	size_t n = json_array_size(list);

	if (copy == NULL)
		return HIWAT_E_NOMEM;
	if (list != NULL && !json_is_array(list)) {
		buf_printf(why, "%s: a list of texts", name);
		goto rejected;
	}
	if (n > max) {
		buf_printf(why, "%s: at most %zu", name, max);
		goto rejected;
	}
	for (size_t k = 0; k < n; k++) {
		const char *text = json_string_value(json_array_get(list, k));
		const char *what = text == NULL ? "a text" : check(text);

		if (what != NULL) {
			buf_printf(why, "%s, number %zu: %s", name, k + 1, what);
			goto rejected;
		}
		if (json_array_append_new(copy, json_string(text)) != 0) {
			json_decref(copy);
			return HIWAT_E_NOMEM;
		}
	}
	*out = copy;
	return 0;
rejected:
	json_decref(copy);
	return HIWAT_E_REJECTED;
}

/* Borrowed texts of an array, with room for max. */
static size_t
texts_of(const json_t *list, const char **texts)
{
	size_t n = json_array_size(list);

	for (size_t k = 0; k < n; k++)
		texts[k] = json_string_value(json_array_get(list, k));
	return n;
}

static int
compile(struct silence *s, const struct zone *zone)
{
	const char *texts[MATCH_TERMS_MAX > HOURS_MAX ? MATCH_TERMS_MAX : HOURS_MAX];
	size_t n = texts_of(s->match_texts, texts);
	int err = match_new(texts, n, &s->match);

	n = texts_of(s->hours_texts, texts);
	if (err == 0 && n > 0)
		err = hours_new(texts, n, zone, &s->hours);
	return err;
}

static int
take_text(const json_t *o, const char *name, char **out, struct buf *why)
{
	const json_t *value = json_object_get(o, name);
	const char *text = json_string_value(value);

	if (text == NULL || *text == '\0' || strlen(text) > SILENCE_TEXT_MAX || json_string_length(value) != strlen(text)) {
		buf_printf(why, "%s: a text of at most %d bytes is needed", name, SILENCE_TEXT_MAX);
		return HIWAT_E_REJECTED;
	}
	return incident_set(out, text) ? 0 : HIWAT_E_NOMEM;
}

/* NAME_unix, or NAME as RFC 3339. Absent: *ns is left alone. */
static int
take_time(const json_t *o, const char *name, uint64_t *ns, struct buf *why)
{
	char unix_name[40];
	const json_t *text = json_object_get(o, name);

	snprintf(unix_name, sizeof(unix_name), "%s_unix", name);
	const json_t *seconds = json_object_get(o, unix_name);
	if (json_is_integer(seconds) && json_integer_value(seconds) > 0 && json_integer_value(seconds) <= SECONDS_MAX)
		*ns = (uint64_t)json_integer_value(seconds) * NSEC_PER_SEC;
	else if (seconds != NULL ||
	    (text != NULL && (!json_is_string(text) || !doc_parse_time(json_string_value(text), ns)))) {
		buf_printf(why, "%s: a time as 2026-12-01T08:00:00Z, or seconds since 1970 in %s", name, unix_name);
		return HIWAT_E_REJECTED;
	}
	return 0;
}

static int
make_id(char id[SILENCE_ID_LEN + 1])
{
	uint8_t bytes[SILENCE_ID_LEN / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return HIWAT_E_SYS;
	for (size_t k = 0; k < sizeof(bytes); k++)
		snprintf(id + 2 * k, 3, "%02x", bytes[k]);
	return 0;
}

static int
take_host(const json_t *o, struct silence *s, struct buf *why)
{
	const json_t *uuid = json_object_get(o, "host_uuid");

	if (uuid == NULL)
		return 0;
	s->has_host = doc_parse_uuid(json_string_value(uuid), s->host_uuid);
	return s->has_host ? 0 : reject(why, "host_uuid: 32 hexadecimal digits");
}

static int
fill(struct silence *s, const json_t *o, const struct zone *zone, uint64_t now_ns, bool from_store, struct buf *why)
{
	const char *id = json_string_value(json_object_get(o, "id"));
	int err = take_texts(o, "match", MATCH_TERMS_MAX, match_check, &s->match_texts, why);

	if (err == 0)
		err = take_texts(o, "hours", HOURS_MAX, hours_check, &s->hours_texts, why);
	if (err == 0)
		err = take_host(o, s, why);
	if (err == 0)
		err = take_text(o, "by", &s->by, why);
	if (err == 0)
		err = take_text(o, "comment", &s->comment, why);
	s->created_ns = s->begins_ns = now_ns;
	if (err == 0)
		err = take_time(o, "begins", &s->begins_ns, why);
	if (err == 0)
		err = take_time(o, "ends", &s->ends_ns, why);
	if (err == 0 && from_store)
		err = take_time(o, "created", &s->created_ns, why);
	if (err != 0)
		return err;
	if (json_array_size(s->match_texts) == 0 && !s->has_host)
		return reject(why, "match: at least one condition; a silence for everything is none");
	if (s->ends_ns <= s->begins_ns || (!from_store && s->ends_ns <= now_ns))
		return reject(why, "ends: a time after begins, and not in the past");
	if (from_store && (id == NULL || strlen(id) != SILENCE_ID_LEN))
		return reject(why, "id: missing");
	if (from_store)
		memcpy(s->id, id, SILENCE_ID_LEN);
	else if (make_id(s->id) != 0)
		return HIWAT_E_NOMEM;
	return compile(s, zone);
}

int
silence_from_json(const json_t *o, const struct zone *zone, uint64_t now_ns, bool from_store, struct silence **silence,
    struct buf *why)
{
	if (!json_is_object(o))
		return reject(why, "a silence is an object with match, by, comment and ends");
	struct silence *s = calloc(1, sizeof(*s));
	if (s == NULL)
		return HIWAT_E_NOMEM;
	int err = fill(s, o, zone, now_ns, from_store, why);
	if (err != 0) {
		silence_free(s);
		return err;
	}
	*silence = s;
	return 0;
}

json_t *
silence_to_json(const struct silence *s, uint64_t now_ns)
{
	const char *status = now_ns >= s->ends_ns ? "ended" : silence_is_active(s, now_ns) ? "active" : "pending";
	json_t *o = json_object();
	int failed = doc_put_text(o, "id", s->id) | json_object_set(o, "match", s->match_texts) |
	    json_object_set(o, "hours", s->hours_texts) | doc_put_text(o, "by", s->by) |
	    doc_put_text(o, "comment", s->comment) | doc_put_time(o, "created", s->created_ns) |
	    doc_put_time(o, "begins", s->begins_ns) | doc_put_time(o, "ends", s->ends_ns) |
	    doc_put_text(o, "status", status);

	if (s->has_host)
		failed |= doc_put_uuid(o, "host_uuid", s->host_uuid);
	if (failed) {
		json_decref(o);
		return NULL;
	}
	return o;
}

void
silence_free(struct silence *s)
{
	if (s == NULL)
		return;
	free(s->by);
	free(s->comment);
	json_decref(s->match_texts);
	json_decref(s->hours_texts);
	match_free(s->match);
	hours_free(s->hours);
	free(s);
}

bool
silence_is_active(const struct silence *s, uint64_t wall_ns)
{
	return wall_ns >= s->begins_ns && wall_ns < s->ends_ns && hours_contain(s->hours, wall_ns);
}

bool
silence_fits(const struct silence *s, const struct incident *i)
{
	return (!s->has_host || memcmp(s->host_uuid, i->host_uuid, sizeof(s->host_uuid)) == 0) &&
	    match_incident(s->match, i);
}
