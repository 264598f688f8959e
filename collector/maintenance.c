/*
 * POST /v1/maintenance, from an agent: its own host is not told of for a while.
 *
 *   { "uuid": the host's, "seconds": 1 to 8 hours, 0 ends it, "reason": text }   ->   { "until_unix": seconds }
 *
 * Who may speak for the host by its records may silence it. A new one takes the place of the one before.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "doc.h"
#include "err.h"
#include "log.h"
#include "pipeline.h"
#include "silences.h"
#include "store.h"
#include "web.h"

#define TOPIC "maintenance"
#define SECONDS_MAX (8 * 3600)
#define BY "the host itself"

struct call {
	const char *identity;
	uint8_t uuid[16];
	json_int_t seconds;
	const char *reason;
	uint64_t now_ns;
	unsigned status;
	char host[256];
	const char *id; /* of one that is in force */
	struct buf why;
};

static void
find_former(void *arg, const struct silence *s)
{
	struct call *c = arg;

	if (s->has_host && memcmp(s->host_uuid, c->uuid, sizeof(c->uuid)) == 0 && strcmp(s->by, BY) == 0 &&
	    s->ends_ns > c->now_ns)
		c->id = s->id;
}

static int
end_former(struct call *c, struct alerts *alerts)
{
	const struct silence *s;
	int err = 0;

	do {
		c->id = NULL;
		alerts_each_silence(alerts, find_former, c);
		if (c->id != NULL)
			err = alerts_end_silence(alerts, c->id, c->now_ns, &s);
	} while (err == 0 && c->id != NULL);
	return err;
}

static int
begin(struct call *c, struct alerts *alerts)
{
	struct silence *s = NULL;
	json_t *o = json_pack("{s:s, s:s, s:I}", "by", BY, "comment", c->reason, "ends_unix",
	    (json_int_t)(c->now_ns / NSEC_PER_SEC) + c->seconds);

	if (o == NULL || doc_put_uuid(o, "host_uuid", c->uuid) != 0) {
		json_decref(o);
		return HIWAT_E_NOMEM;
	}
	int err = silence_from_json(o, alerts_zone(alerts), c->now_ns, false, &s, &c->why);
	json_decref(o);
	return err == 0 ? alerts_add_silence(alerts, s, c->now_ns) : err;
}

static void
change(void *arg, struct pipeline *p)
{
	struct call *c = arg;
	struct alerts *alerts = pipeline_alerts(p);
	const struct host *h = hosts_find(pipeline_hosts(p), c->uuid);

	if (h == NULL) {
		c->status = 404;
		buf_puts(&c->why, "this host has delivered nothing yet");
		return;
	}
	if (h->identity[0] != '\0' && (c->identity == NULL || strcmp(h->identity, c->identity) != 0)) {
		c->status = 403;
		buf_puts(&c->why, "the certificate does not name this host");
		return;
	}
	snprintf(c->host, sizeof(c->host), "%s", h->name);
	int err = end_former(c, alerts);
	if (err == 0 && c->seconds > 0)
		err = begin(c, alerts);
	if (err == HIWAT_E_REJECTED)
		c->status = 422;
	else if (err != 0)
		c->status = 503;
	if (err == HIWAT_E_FULL)
		buf_puts(&c->why, "there are too many silences");
}

/* NULL, or what is wrong with the body. */
static const char *
read_body(const json_t *body, struct call *c)
{
	const json_t *seconds = json_object_get(body, "seconds");
	const char *uuid = json_string_value(json_object_get(body, "uuid"));

	c->reason = json_string_value(json_object_get(body, "reason"));
	c->seconds = json_integer_value(seconds);
	if (uuid == NULL || !doc_parse_uuid(uuid, c->uuid))
		return "uuid: the host's identity is missing";
	if (!json_is_integer(seconds) || c->seconds < 0 || c->seconds > SECONDS_MAX)
		return "seconds: a host may silence itself for at most 8 hours (28800)";
	return c->seconds > 0 && (c->reason == NULL || *c->reason == '\0') ? "reason: a text is needed" : NULL;
}

void
maintenance_handle(struct web *w, const struct http_request *request, struct http_response *response)
{
	struct call c = { .identity = request->identity, .now_ns = clock_wall_ns() };
	json_t *body = json_loadb((const char *)request->body, request->body_len, 0, NULL);
	const char *wrong = json_is_object(body) ? read_body(body, &c) : "the body is no JSON object";

	buf_init(&c.why, 1024);
	if (wrong != NULL) {
		http_fail(response, 400, "%s", wrong);
		goto out;
	}
	pipeline_read(w->pipeline, change, &c);
	if (c.status == 0 && store_flush(w->store) != 0) {
		c.status = 503;
		buf_puts(&c.why, "not on disk yet: the store fails");
	}
	if (c.status != 0) {
		http_fail(response, c.status, "%s", c.why.len > 0 ? buf_str(&c.why) : "out of memory");
		goto out;
	}
	if (c.seconds > 0)
		log_info(TOPIC, "%s is not told of for %lld s: %s", c.host, (long long)c.seconds, c.reason);
	else
		log_info(TOPIC, "%s is told of again", c.host);
	response->content_type = "application/json";
	buf_printf(&response->body, "{\"until_unix\":%lld}\n", (long long)(c.now_ns / NSEC_PER_SEC) + (long long)c.seconds);
out:
	json_decref(body);
	buf_fini(&c.why);
}
