#include "body_rules.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *
text(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s != NULL ? s : "";
}

/* Between 1 and max characters of a string. */
static bool
has(const json_t *o, const char *name, size_t max)
{
	size_t n = 0;

	for (const char *s = text(o, name); *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n >= 1 && n <= max;
}

static bool
is_one_of(const char *s, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcmp(s, *words) == 0)
			return true;
	return false;
}

static bool
only_has(const json_t *o, const char *const *names)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)o, name, value)
		if (!is_one_of(name, names))
			return false;
	return true;
}

/* Nobody's text may end a line, ring a bell or turn the direction of what stands around it. */
static bool
is_calm(const char *s)
{
	static const char *const turning[] = { "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad",
		"\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9", NULL };

	for (const char *const *t = turning; *t != NULL; t++)
		if (strstr(s, *t) != NULL)
			return false;
	for (; *s != '\0'; s++)
		if (((unsigned char)*s < 0x20 && *s != '\n') || *s == 0x7f)
			return false;
	return true;
}

static unsigned
generation_of(const char *s)
{
	const char *at = strstr(s, "generation ");

	return at != NULL ? (unsigned)strtoul(at + 11, NULL, 10) : 0;
}

static bool
payload_holds(const json_t *payload)
{
	static const char *const names[] = { "summary", "source", "severity", "timestamp", "component", "group", "class",
		"custom_details", NULL };
	static const char *const severities[] = { "critical", "error", "warning", "info", NULL };
	static const char *const optional[] = { "component", "group", "class", NULL };
	int year, month, day, hour, minute, second, end = 0;

	if (!only_has(payload, names) || !has(payload, "summary", 1024) || !has(payload, "source", 255) ||
	    !is_calm(text(payload, "summary")) || !is_calm(text(payload, "source")) ||
	    strchr(text(payload, "summary"), '\n') != NULL || !is_one_of(text(payload, "severity"), severities))
		return false;
	for (const char *const *name = optional; *name != NULL; name++)
		if (json_object_get(payload, *name) != NULL && !has(payload, *name, 255))
			return false;
	const json_t *details = json_object_get(payload, "custom_details"), *stamp = json_object_get(payload, "timestamp");
	return (details == NULL || json_is_object(details)) &&
	    (stamp == NULL ||
		(sscanf(text(payload, "timestamp"), "%4d-%2d-%2dT%2d:%2d:%2d.%*3dZ%n", &year, &month, &day, &hour, &minute,
		     &second, &end) == 6 &&
		    end == 24));
}

static bool
links_hold(const json_t *links)
{
	static const char *const names[] = { "href", "text", NULL };
	size_t i;
	json_t *link;

	json_array_foreach (links, i, link)
		if (!only_has(link, names) || strncmp(text(link, "href"), "http", 4) != 0)
			return false;
	return links == NULL || json_is_array(links);
}

bool
pagerduty_takes(const char *body, size_t len, struct seen *seen)
{
	static const char *const names[] = { "routing_key", "event_action", "dedup_key", "payload", "images", "links",
		"client", "client_url", NULL };
	static const char *const actions[] = { "trigger", "acknowledge", "resolve", NULL };
	json_t *event = json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL);
	const char *action = text(event, "event_action");
	const json_t *payload = json_object_get(event, "payload");
	bool triggers = strcmp(action, "trigger") == 0;
	bool taken = len <= 512000 && json_is_object(event) && only_has(event, names) &&
	    strcmp(text(event, "routing_key"), PAGERDUTY_KEY) == 0 && is_one_of(action, actions) &&
	    has(event, "dedup_key", 255) && links_hold(json_object_get(event, "links")) &&
	    (triggers ? payload_holds(payload) : payload == NULL);

	snprintf(seen->key, sizeof(seen->key), "%s", text(event, "dedup_key"));
	snprintf(seen->event, sizeof(seen->event), "%s", action);
	seen->generation = generation_of(text(payload, "summary"));
	json_decref(event);
	return taken;
}

/* Strangers' text marks nothing: asterisks stand around the names of rows alone, "<" begins a link alone. */
static bool
is_unmarked(const char *s)
{
	for (const char *p = s; *p != '\0'; p++) {
		if (*p == '*') {
			size_t n = strspn(p + 1, "abcdefghijklmnopqrstuvwxyz ");

			if ((p != s && p[-1] != '\n') || n == 0 || strncmp(p + 1 + n, "*  ", 3) != 0)
				return false;
			p += n + 1;
		} else if (*p == '`' || (*p == '>' && (p == s || strchr("0123456789abcdef", p[-1]) == NULL)) || *p == '~' ||
		    (*p == '<' && strncmp(p, "<https://hiwat.example.org/", 27) != 0) ||
		    (*p == '&' && strncmp(p, "&amp;", 5) != 0 && strncmp(p, "&lt;", 4) != 0 && strncmp(p, "&gt;", 4) != 0)) {
			return false;
		} else if (*p == '\n' && strncmp(p + 1, "&gt;", 4) == 0) {
			return false; /* a quotation */
		}
	}
	return is_calm(s);
}

static bool
mrkdwn_holds(const json_t *o)
{
	return strcmp(text(o, "type"), "mrkdwn") == 0 && json_is_true(json_object_get(o, "verbatim")) &&
	    has(o, "text", 3000) && is_unmarked(text(o, "text"));
}

static bool
block_holds(const json_t *block)
{
	const char *type = text(block, "type");
	const json_t *t = json_object_get(block, "text"), *elements = json_object_get(block, "elements");

	if (strcmp(type, "header") == 0)
		return strcmp(text(t, "type"), "plain_text") == 0 && has(t, "text", 150) && is_calm(text(t, "text")) &&
		    json_is_false(json_object_get(t, "emoji"));
	if (strcmp(type, "section") == 0)
		return mrkdwn_holds(t);
	for (size_t i = 0; i < json_array_size(elements); i++)
		if (!mrkdwn_holds(json_array_get(elements, i)))
			return false;
	return strcmp(type, "context") == 0 && json_array_size(elements) >= 1 && json_array_size(elements) <= 10;
}

bool
slack_takes(const char *body, size_t len, struct seen *seen)
{
	static const char *const names[] = { "text", "mrkdwn", "blocks", NULL };
	json_t *message = json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *blocks = json_object_get(message, "blocks");
	size_t n = json_array_size(blocks);
	bool taken = json_is_object(message) && only_has(message, names) && has(message, "text", 40000) && n >= 1 &&
	    n <= 50 && is_unmarked(text(message, "text"));

	for (size_t i = 0; taken && i < n; i++)
		taken = block_holds(json_array_get(blocks, i));
	const json_t *context = json_object_get(json_array_get(blocks, n - 1), "elements");
	const char *last = text(json_array_get(context, 0), "text");
	for (; *last != '\0' && strspn(last, "0123456789abcdef") != 32;)
		last++;
	snprintf(seen->key, sizeof(seen->key), "%.32s", last);
	snprintf(seen->event, sizeof(seen->event), "%.*s", (int)strcspn(text(message, "text"), " "), text(message, "text"));
	seen->generation = generation_of(text(message, "text"));
	json_decref(message);
	return taken;
}
