/*
 * Alerts of Alertmanager's API v2 (POST /api/v2/alerts), to every member of a cluster: members share silences and what was
 * told, not alerts. An incident is one alert. Its labels are what Alertmanager knows it by: alertname (the rule that speaks),
 * severity, host, cause, the labels of the object, then those of the host; a name that is taken is not overwritten.
 *
 * An alert lives for LIFE times the refresh after it was told last: what a member missed comes with the next refresh, and an
 * alert whose rule or severity changed, or whose end a member missed, ends by itself. So a notification is delivered when
 * one member has it, and refused when no member takes it and none might later. What was over when it was found lives as
 * long, that somebody be told.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "card.h"
#include "clock.h"
#include "err.h"
#include "http_post.h"
#include "sinks.h"

#define PATH "/api/v2/alerts"
#define LIFE 4
#define REST 4 /* for this part of a refresh a member that failed is left out of it, that it delays nothing else */
#define STAMP_SIZE 32
#define LINK_MAX 1024

struct member {
	const char *name; /* borrowed from the route */
	struct http_post *post;
	uint64_t rest_ns; /* monotonic */
};

struct alertmanager {
	size_t n;
	struct member members[];
};

static void
alertmanager_close(void *state)
{
	struct alertmanager *a = state;

	for (size_t i = 0; a != NULL && i < a->n; i++)
		http_post_free(a->members[i].post);
	free(a);
}

static int
open_member(struct member *m, const struct route *route, const char *url, struct buf *why)
{
	size_t len = strlen(url);
	struct buf whole;

	while (len > 0 && url[len - 1] == '/')
		len--;
	m->name = url;
	buf_init(&whole, len + sizeof(PATH));
	buf_add(&whole, url, len);
	buf_puts(&whole, PATH);
	int err = buf_ok(&whole) ? http_post_new(route, &(struct http_post_setup){ .url = buf_str(&whole) }, &m->post, why)
				 : HIWAT_E_NOMEM;
	buf_fini(&whole);
	return err;
}

static int
alertmanager_open(const struct route *route, void **state, struct buf *why)
{
	const char *const *urls = route->n_urls > 0 ? route->urls : &route->url;
	size_t n = route->n_urls > 0 ? route->n_urls : 1;
	struct alertmanager *a = calloc(1, sizeof(*a) + n * sizeof(a->members[0]));
	struct route share = *route; /* one try is a try of each member */
	int err = 0;

	if (a == NULL) {
		buf_puts(why, "out of memory");
		return HIWAT_E_NOMEM;
	}
	share.timeout_ms = route->timeout_ms / n + 1;
	for (; err == 0 && a->n < n; a->n++)
		err = open_member(&a->members[a->n], &share, urls[a->n], why);
	if (err != 0) {
		alertmanager_close(a);
		return err;
	}
	*state = a;
	return 0;
}

/* Functions below return 0, or nonzero when memory is out, so that they can be joined by |. */

/* A label name has letters, digits and '_', and no digit in front; the first of a name wins, an empty one is none. */
static int
put_label(json_t *o, const char *name, const char *value)
{
	struct buf clean;

	buf_init(&clean, strlen(name) + 1);
	if (*name >= '0' && *name <= '9')
		buf_putc(&clean, '_');
	for (; *name != '\0'; name++) {
		char c = *name;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		buf_putc(&clean, plain ? c : '_');
	}
	int failed = !buf_ok(&clean);
	if (!failed && clean.len > 0 && *value != '\0' && json_object_get(o, buf_str(&clean)) == NULL)
		failed = json_object_set_new(o, buf_str(&clean), json_string(value));
	buf_fini(&clean);
	return failed;
}

static int
put_labels(json_t *o, const json_t *from)
{
	const char *name;
	const json_t *value;
	int failed = 0;

	json_object_foreach ((json_t *)(uintptr_t)from, name, value)
		failed |= put_label(o, name, json_is_string(value) ? json_string_value(value) : "");
	return failed;
}

static int
put_text(json_t *o, const char *name, const char *s)
{
	return *s != '\0' ? json_object_set_new(o, name, json_string(s)) : 0;
}

static json_t *
annotations(const json_t *incident, const json_t *line)
{
	json_t *o = json_object();
	bool was = strcmp(card_text(incident, "status"), "was") == 0;
	int failed = put_text(o, "summary", card_text(line, "summary")) |
	    put_text(o, "description", card_text(line, "description")) | put_text(o, "remedy", card_text(line, "remedy")) |
	    put_text(o, "document", card_text(line, "document")) | put_text(o, "incident", card_text(incident, "key"));

	if (json_is_true(json_object_get(incident, "acknowledged")))
		failed |= put_text(o, "acknowledged_by", card_text(incident, "by"));
	if (was)
		failed |= put_text(o, "was_until", card_text(incident, "resolved"));
	if (!failed)
		return o;
	json_decref(o);
	return NULL;
}

/* Our own names first: the first of a name wins. */
static json_t *
labels(const json_t *incident, const json_t *line, const char *severity)
{
	const json_t *host = json_object_get(incident, "host");
	json_t *o = json_object();
	int failed = put_label(o, "alertname", card_text(line, "rule"));

	failed |= put_label(o, "severity", severity);
	failed |= put_label(o, "host", card_text(host, "name"));
	failed |= put_label(o, "cause", card_text(incident, "cause"));
	failed |= put_labels(o, json_object_get(incident, "labels"));
	failed |= put_labels(o, json_object_get(host, "labels"));
	if (!failed)
		return o;
	json_decref(o);
	return NULL;
}

/* One alert, told by a line of the incident; NULL when memory is out. */
static json_t *
alert(const struct route *route, const json_t *incident, const json_t *line, const char *severity, const char *ends)
{
	json_t *o = json_object();
	struct buf link;

	buf_init(&link, LINK_MAX);
	card_put_link(&link, route, card_text(incident, "key"));
	int failed = (buf_ok(&link) ? 0 : 1) | put_text(o, "generatorURL", buf_str(&link)) |
	    json_object_set_new(o, "labels", labels(incident, line, severity)) |
	    json_object_set_new(o, "annotations", annotations(incident, line)) |
	    put_text(o, "startsAt", card_text(incident, "opened")) | put_text(o, "endsAt", ends);
	buf_fini(&link);
	if (!failed)
		return o;
	json_decref(o);
	return NULL;
}

static int
add_alert(json_t *alerts, const struct route *route, const json_t *incident, const json_t *line, const char *severity,
    const char *ends)
{
	if (strcmp(severity, "critical") != 0 && strcmp(severity, "warning") != 0)
		return 0; /* advice is never told */
	return json_array_append_new(alerts, alert(route, incident, line, severity, ends));
}

static uint64_t
refresh_ms(const struct route *route)
{
	return route->refresh_ms != 0 ? route->refresh_ms : REFRESH_MS;
}

/* What holds, until it has to be told again. */
static int
add_open(json_t *alerts, const struct route *route, const json_t *incident)
{
	time_t until = (time_t)((clock_wall_ns() / NSEC_PER_MSEC + LIFE * refresh_ms(route)) / 1000);
	char ends[STAMP_SIZE];
	struct tm tm;

	if (gmtime_r(&until, &tm) == NULL || strftime(ends, sizeof(ends), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		return 1;
	return add_alert(alerts, route, incident, json_array_get(json_object_get(incident, "lines"), 0),
	    card_text(incident, "level"), ends);
}

/* The end of all that it may have been told as lately: by each of its rules, at its level and at the worst. */
static int
add_ended(json_t *alerts, const struct route *route, const json_t *incident)
{
	const char *resolved = card_text(incident, "resolved"), *worst = card_text(incident, "worst_level");
	const char *ends = *resolved != '\0' ? resolved : card_text(incident, "changed");
	const json_t *line;
	size_t i;
	int failed = 0;

	json_array_foreach (json_object_get(incident, "lines"), i, line) {
		failed |= add_alert(alerts, route, incident, line, worst, ends);
		if (strcmp(card_text(line, "level"), worst) != 0)
			failed |= add_alert(alerts, route, incident, line, card_text(line, "level"), ends);
	}
	return failed;
}

/* To every member, but those that rest. */
static enum delivery
post_alerts(struct alertmanager *a, const struct route *route, const json_t *alerts, bool may_rest, struct buf *why,
    uint64_t *retry_after_ms)
{
	char *body = json_dumps(alerts, JSON_COMPACT);
	size_t n_done = 0, n_refused = 0;

	if (body == NULL) {
		buf_puts(why, "out of memory");
		return DELIVERY_RETRY;
	}
	for (size_t i = 0; i < a->n; i++) {
		struct member *m = &a->members[i];
		size_t before = why->len;
		uint64_t asked_ms = 0;

		if (a->n > 1)
			buf_printf(why, "%s%s: ", before > 0 ? "; " : "", m->name);
		if (may_rest && clock_mono_ns() < m->rest_ns) {
			buf_puts(why, "left out, it failed a moment ago");
			continue;
		}
		enum delivery result = http_post_send(m->post, NULL, body, strlen(body), why, &asked_ms);
		m->rest_ns = result == DELIVERY_RETRY ? clock_mono_ns() + refresh_ms(route) * NSEC_PER_MSEC / REST : 0;
		n_done += result == DELIVERY_DONE;
		n_refused += result == DELIVERY_REFUSED;
		if (result == DELIVERY_DONE && why->len > before) {
			why->len = before; /* nothing to say of it */
			why->data[before] = '\0';
		}
		if (asked_ms > *retry_after_ms)
			*retry_after_ms = asked_ms;
	}
	free(body);
	return n_done > 0 ? DELIVERY_DONE : n_refused == a->n ? DELIVERY_REFUSED : DELIVERY_RETRY;
}

static enum delivery
alertmanager_send(void *state, const struct route *route, const struct notice *notice, struct buf *why,
    uint64_t *retry_after_ms)
{
	json_t *incident = json_loads(notice->json, 0, NULL), *alerts = json_array();
	enum delivery result = DELIVERY_RETRY;

	if (incident == NULL) {
		buf_puts(why, "the incident cannot be read");
		result = DELIVERY_REFUSED;
	} else if (strcmp(notice->event, "resolve") == 0 ? add_ended(alerts, route, incident)
							 : add_open(alerts, route, incident)) {
		buf_puts(why, "out of memory");
	} else {
		result = post_alerts(state, route, alerts, false, why, retry_after_ms);
	}
	json_decref(incident);
	json_decref(alerts);
	return result;
}

static enum delivery
alertmanager_refresh(void *state, const struct route *route, const char *const *incidents, size_t n, struct buf *why)
{
	json_t *alerts = json_array();
	enum delivery result = DELIVERY_RETRY;
	uint64_t retry_after_ms = 0;
	int failed = 0;

	for (size_t i = 0; i < n; i++) {
		json_t *incident = json_loads(incidents[i], 0, NULL);

		failed |= add_open(alerts, route, incident);
		json_decref(incident);
	}
	if (failed)
		buf_puts(why, "out of memory");
	else
		result = post_alerts(state, route, alerts, true, why, &retry_after_ms);
	json_decref(alerts);
	return result;
}

const struct sink sink_alertmanager = {
	.name = "alertmanager",
	.help = "alerts of Alertmanager's API v2, told again while they last",
	.takes = SINK_URL | SINK_URLS | SINK_CA_FILE,
	.open = alertmanager_open,
	.send = alertmanager_send,
	.refresh = alertmanager_refresh,
	.close = alertmanager_close,
};
