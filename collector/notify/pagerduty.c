/*
 * PagerDuty's Events API v2 (https://developer.pagerduty.com/docs/events-api-v2/overview/): one event per notification, to
 * the integration whose routing key stands in secret_file. trigger, escalate, repeat and update trigger; an alert that is
 * open already under the key is only added to. "was" triggers and resolves, so that it stands in the log and calls nobody
 * for longer than a moment.
 *
 * 202 accepts. 400 refuses this event for good; 429, 5xx and everything else are tried again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "card.h"
#include "err.h"
#include "http_post.h"
#include "sinks.h"

#define URL_DEFAULT "https://events.pagerduty.com/v2/enqueue"
#define ROUTING_KEY_LEN 32
#define EVENT_MAX 512000 /* bytes of an event: 512 KB */
#define SUMMARY_MAX 1024 /* characters */
#define SHORT_MAX 255    /* characters of source, class, ...: dedup_key's documented limit, ours for the others */

struct pagerduty {
	struct http_post *post;
	char *routing_key;
	size_t key_len;
};

static void
pagerduty_close(void *state)
{
	struct pagerduty *p = state;

	if (p == NULL)
		return;
	http_post_free(p->post);
	secret_free(p->routing_key, p->key_len);
	free(p);
}

static int
pagerduty_open(const struct route *route, void **state, struct buf *why)
{
	static const unsigned refusing[] = { 400, 0 };
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct pagerduty *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		buf_puts(why, "out of memory");
		return HIWAT_E_NOMEM;
	}
	int err = secret_read(route->secret_file, &p->routing_key, &p->key_len, why);
	if (err == 0 && (p->key_len != ROUTING_KEY_LEN || strspn(p->routing_key, digits) != ROUTING_KEY_LEN)) {
		buf_printf(why,
		    "secret_file %s: a routing key has %d letters and digits; it is the integration key of an Events API v2 "
		    "integration",
		    route->secret_file, ROUTING_KEY_LEN);
		err = HIWAT_E_CONFIG;
	}
	if (err == 0) {
		const struct http_post_setup setup = {
			.url = route->url[0] != '\0' ? route->url : URL_DEFAULT,
			.hidden = p->routing_key,
			.refusing = refusing,
		};
		err = http_post_new(route, &setup, &p->post, why);
	}
	if (err != 0) {
		pagerduty_close(p);
		return err;
	}
	*state = p;
	return 0;
}

/* All but json_t * return 0, or nonzero when memory is out, so that they can be joined by |. */
static int
put(json_t *o, const char *name, const char *s, size_t max)
{
	struct buf text;

	if (*s == '\0')
		return 0;
	buf_init(&text, 4 * max + 8);
	card_put(&text, s, max);
	int failed = buf_ok(&text) ? json_object_set_new(o, name, json_string(buf_str(&text))) : 1;
	buf_fini(&text);
	return failed;
}

static const char *
severity(const char *level)
{
	return strcmp(level, "critical") == 0 ? "critical" : strcmp(level, "warning") == 0 ? "warning" : "info";
}

/* What whoever is woken wants to know: the line that speaks, the others, the host. With at most n_lines of the others. */
static json_t *
details(const json_t *incident, size_t n_lines)
{
	const json_t *lines = json_object_get(incident, "lines");
	size_t n_others = json_array_size(lines) > 0 ? json_array_size(lines) - 1 : 0;
	json_t *o = json_array_size(lines) > 0 ? json_deep_copy(json_array_get(lines, 0)) : json_object();
	json_t *others = json_array();
	int failed = json_object_set_new(o, "host", json_deep_copy(json_object_get(incident, "host")));

	for (size_t i = 1; i <= n_others && i <= n_lines; i++)
		failed |= json_array_append_new(others, json_deep_copy(json_array_get(lines, i)));
	failed |= json_object_set_new(o, "other_lines", others);
	struct buf left;
	buf_init(&left, 128);
	card_put_time_left(&left, o);
	failed |= put(o, "time_left", buf_str(&left), SHORT_MAX);
	buf_fini(&left);
	if (n_others > n_lines)
		failed |= json_object_set_new(o, "lines_left_out", json_integer((json_int_t)(n_others - n_lines)));
	if (failed) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* What a trigger says beyond its key. */
static int
put_payload(json_t *event, const struct route *route, const json_t *incident, size_t n_lines, bool with_details)
{
	const json_t *host = json_object_get(incident, "host");
	const char *name = card_text(host, "name");
	json_t *payload = json_object();
	struct buf text;

	buf_init(&text, 8 * SUMMARY_MAX);
	card_put(&text, name, SHORT_MAX);
	buf_puts(&text, ": ");
	card_put(&text, card_text(incident, "summary"), SUMMARY_MAX);
	int failed = buf_ok(&text) ? put(payload, "summary", buf_str(&text), SUMMARY_MAX) : 1;
	failed |= put(payload, "source", name[0] != '\0' ? name : "unknown host", SHORT_MAX) |
	    put(payload, "severity", severity(card_text(incident, "level")), SHORT_MAX) |
	    put(payload, "timestamp", card_text(incident, "opened"), SHORT_MAX) |
	    put(payload, "component", card_text(incident, "object"), SHORT_MAX) |
	    put(payload, "group", card_text(json_object_get(host, "labels"), "role"), SHORT_MAX) |
	    put(payload, "class", card_text(incident, "cause"), SHORT_MAX);
	failed |= json_object_set_new(payload, "custom_details",
	    with_details ? details(incident, n_lines)
			 : json_pack("{s:i}", "lines_left_out", (int)json_array_size(json_object_get(incident, "lines"))));
	failed |=
	    json_object_set_new(event, "payload", payload) | json_object_set_new(event, "client", json_string("hiwat"));
	if (route->public_url[0] != '\0') {
		buf_reset(&text);
		card_put_link(&text, route, card_text(incident, "key"));
		failed |= json_object_set_new(event, "client_url", json_string(buf_str(&text))) |
		    json_object_set_new(event, "links",
			json_pack("[{s:s, s:s}]", "href", buf_str(&text), "text", "the incident in full"));
	}
	buf_fini(&text);
	return failed;
}

/* One event as text, owned; NULL when memory is out. */
static char *
event_text(const char *routing_key, const char *action, const struct route *route, const json_t *incident,
    const struct notice *notice, size_t n_lines, bool with_details)
{
	json_t *event = json_pack("{s:s, s:s, s:s}", "routing_key", routing_key, "event_action", action, "dedup_key",
	    notice->incident_key);
	int failed = event == NULL;

	if (!failed && strcmp(action, "trigger") == 0)
		failed = put_payload(event, route, incident, n_lines, with_details);
	char *text = failed ? NULL : json_dumps(event, JSON_COMPACT);
	json_decref(event);
	return text;
}

/* How many lines fit beside the one that speaks when an event with n of them has too many bytes. */
static size_t
lines_that_fit(const json_t *incident, size_t n, size_t bytes)
{
	const json_t *lines = json_object_get(incident, "lines");

	while (n > 0 && bytes > EVENT_MAX) {
		size_t line = json_dumpb(json_array_get(lines, n), NULL, 0, JSON_COMPACT) + 1;

		bytes -= line < bytes ? line : bytes;
		n--;
	}
	return n;
}

/* What does not fit gives way: the other lines, from the last; then all details but the count. Owned; NULL when memory is out. */
static char *
fitting_event(const char *routing_key, const char *action, const struct route *route, const json_t *incident,
    const struct notice *notice)
{
	size_t n = json_array_size(json_object_get(incident, "lines"));
	size_t n_others = n > 0 ? n - 1 : 0;
	char *text = event_text(routing_key, action, route, incident, notice, n_others, true);

	if (text != NULL && strlen(text) > EVENT_MAX) {
		/* Room for the count of those that are left out, too. */
		n_others = lines_that_fit(incident, n_others, strlen(text) + sizeof("\"lines_left_out\":65535,"));
		free(text);
		text = event_text(routing_key, action, route, incident, notice, n_others, true);
	}
	if (text != NULL && strlen(text) > EVENT_MAX) {
		free(text);
		text = event_text(routing_key, action, route, incident, notice, 0, false);
	}
	return text;
}

static const char *
action_of(const char *event)
{
	return strcmp(event, "acknowledge") == 0 ? "acknowledge" : strcmp(event, "resolve") == 0 ? "resolve" : "trigger";
}

static int
pagerduty_render(void *state, const struct route *route, const struct notice *notice, struct buf *out)
{
	const struct pagerduty *p = state;
	json_t *incident = json_loads(notice->json, 0, NULL);

	if (incident == NULL)
		return HIWAT_E_FORMAT;
	char *text = fitting_event(p != NULL ? p->routing_key : "0123456789abcdef0123456789abcdef", action_of(notice->event),
	    route, incident, notice);
	json_decref(incident);
	if (text == NULL)
		return HIWAT_E_NOMEM;
	buf_puts(out, text);
	free(text);
	return 0;
}

static const char *
broken_payload(const json_t *payload)
{
	static const char *const severities[] = { "critical", "error", "warning", "info", NULL };
	const char *s = card_text(payload, "severity");
	size_t n = card_characters(card_text(payload, "summary"));
	const char *const *known = severities;

	while (*known != NULL && strcmp(*known, s) != 0)
		known++;
	return n == 0 || n > SUMMARY_MAX              ? "payload.summary has 1 to 1024 characters"
	    : card_text(payload, "source")[0] == '\0' ? "payload.source is needed"
	    : *known == NULL                          ? "payload.severity is critical, error, warning or info"
						      : NULL;
}

static int
pagerduty_validate(const char *rendered, struct buf *why)
{
	json_t *event = json_loads(rendered, 0, NULL);
	const char *action = card_text(event, "event_action");
	bool triggers = strcmp(action, "trigger") == 0;
	const char *broken = NULL;

	if (event == NULL)
		broken = "it is no JSON";
	else if (strlen(rendered) > EVENT_MAX)
		broken = "an event has at most 512 KB";
	else if (strlen(card_text(event, "routing_key")) != ROUTING_KEY_LEN)
		broken = "routing_key has 32 characters";
	else if (!triggers && strcmp(action, "acknowledge") != 0 && strcmp(action, "resolve") != 0)
		broken = "event_action is trigger, acknowledge or resolve";
	else if (card_characters(card_text(event, "dedup_key")) > SHORT_MAX || (card_text(event, "dedup_key")[0] == '\0'))
		broken = "dedup_key has 1 to 255 characters";
	else if (triggers)
		broken = broken_payload(json_object_get(event, "payload"));
	json_decref(event);
	if (broken != NULL)
		buf_puts(why, broken);
	return broken != NULL ? HIWAT_E_CONFIG : 0;
}

/* The end of what was over when it was found. */
static enum delivery
resolve(struct pagerduty *p, const struct route *route, const struct notice *notice, struct buf *why,
    uint64_t *retry_after_ms)
{
	char *text = event_text(p->routing_key, "resolve", route, NULL, notice, 0, false);

	if (text == NULL) {
		buf_puts(why, "out of memory");
		return DELIVERY_RETRY;
	}
	enum delivery result = http_post_send(p->post, NULL, text, strlen(text), why, retry_after_ms);
	free(text);
	return result;
}

static enum delivery
pagerduty_send(void *state, const struct route *route, const struct notice *notice, struct buf *why,
    uint64_t *retry_after_ms)
{
	struct pagerduty *p = state;
	bool is_over = strcmp(notice->event, "was") == 0;
	enum delivery result = DELIVERY_RETRY;
	struct buf text;

	buf_init(&text, 2 * EVENT_MAX);
	int err = pagerduty_render(p, route, notice, &text);
	if (err != 0 || !buf_ok(&text)) {
		buf_puts(why, err_text(err != 0 ? err : HIWAT_E_NOMEM));
		result = err == HIWAT_E_FORMAT ? DELIVERY_REFUSED : DELIVERY_RETRY;
	} else {
		/* Of what was over already both events have to arrive within one try. */
		http_post_limit(p->post, is_over ? route->timeout_ms / 2 : route->timeout_ms);
		result = http_post_send(p->post, NULL, buf_str(&text), text.len, why, retry_after_ms);
		if (result == DELIVERY_DONE && is_over)
			result = resolve(p, route, notice, why, retry_after_ms);
	}
	buf_fini(&text);
	return result;
}

const struct sink sink_pagerduty = {
	.name = "pagerduty",
	.help = "events of PagerDuty's Events API v2",
	.takes = SINK_URL | SINK_SECRET_FILE | SINK_CA_FILE,
	.needs = SINK_SECRET_FILE,
	.open = pagerduty_open,
	.send = pagerduty_send,
	.close = pagerduty_close,
	.render = pagerduty_render,
	.validate = pagerduty_validate,
};
