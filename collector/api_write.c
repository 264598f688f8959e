/* What people may change through the web side: acknowledgements, closing, silences. Answered once it is on disk. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "auth.h"
#include "clock.h"
#include "err.h"
#include "incident_json.h"
#include "log.h"
#include "pipeline.h"
#include "silences.h"
#include "store.h"
#include "web.h"

#define TOPIC "api"
#define KEY_MAX 64

struct action;

struct call {
	struct web *web;
	const struct action *action;
	char key[KEY_MAX + 1]; /* what stands in the path's middle */
	const char *by;
	const json_t *body; /* NULL: none */
	int err;
	struct buf why;
	json_t *result;
};

struct action {
	const char *method, *before, *after; /* the path: before KEY after; no KEY when after is NULL */
	enum auth_role role;
	const char *what; /* for the log */
	void (*act)(void *call, struct pipeline *p);
};

static void
show_incident(struct call *c, struct pipeline *p)
{
	const struct incident *i = c->err == 0 ? alerts_find(pipeline_alerts(p), c->key) : NULL;

	c->result = i != NULL ? incident_to_json(i) : NULL;
}

/* POST /api/v1/alerts/KEY/acknowledge */
static void
acknowledge(void *arg, struct pipeline *p)
{
	struct call *c = arg;

	c->err = alerts_acknowledge(pipeline_alerts(p), c->key, c->by, clock_wall_ns());
	if (c->err == HIWAT_E_NODATA)
		buf_puts(&c->why, "no incident of this key is open");
	show_incident(c, p);
}

/* POST /api/v1/alerts/KEY/close */
static void
close_incident(void *arg, struct pipeline *p)
{
	struct call *c = arg;

	c->err = alerts_close(pipeline_alerts(p), c->key, c->by, clock_wall_ns());
	if (c->err == HIWAT_E_NODATA)
		buf_puts(&c->why, "no incident of this key is open");
	else if (c->err == HIWAT_E_REJECTED)
		buf_puts(&c->why, "it ends by itself; closed by people is only what cannot be seen any more");
	show_incident(c, p);
}

/* POST /api/v1/silences */
static void
add_silence(void *arg, struct pipeline *p)
{
	struct call *c = arg;
	struct alerts *alerts = pipeline_alerts(p);
	uint64_t now_ns = clock_wall_ns();
	json_t *o = c->body != NULL ? json_deep_copy(c->body) : NULL;
	struct silence *s = NULL;

	if (json_is_object(o))
		json_object_set_new(o, "by", json_string(c->by));
	c->err = silence_from_json(o, alerts_zone(alerts), now_ns, false, &s, &c->why);
	json_decref(o);
	if (c->err != 0)
		return;
	json_t *result = silence_to_json(s, now_ns);
	c->err = alerts_add_silence(alerts, s, now_ns);
	if (c->err == 0)
		c->result = json_incref(result);
	else if (c->err == HIWAT_E_FULL)
		buf_printf(&c->why, "there are %d silences already, or the store has no room", SILENCES_MAX);
	json_decref(result);
}

/* DELETE /api/v1/silences/ID: it ends now. */
static void
end_silence(void *arg, struct pipeline *p)
{
	struct call *c = arg;
	uint64_t now_ns = clock_wall_ns();
	const struct silence *s = NULL;

	c->err = alerts_end_silence(pipeline_alerts(p), c->key, now_ns, &s);
	if (c->err == 0)
		c->result = silence_to_json(s, now_ns);
	else if (c->err == HIWAT_E_NODATA)
		buf_puts(&c->why, "there is no such silence");
}

static const struct action actions[] = {
	{ "POST", "/api/v1/alerts/", "/acknowledge", AUTH_SILENCE, "acknowledged", acknowledge },
	{ "POST", "/api/v1/alerts/", "/close", AUTH_SILENCE, "closed", close_incident },
	{ "POST", "/api/v1/silences", NULL, AUTH_SILENCE, "silence added", add_silence },
	{ "DELETE", "/api/v1/silences/", "", AUTH_SILENCE, "silence ended", end_silence },
};

static bool
fits(const struct action *a, const struct http_request *request, char key[KEY_MAX + 1])
{
	size_t before = strlen(a->before), n = strlen(request->path);

	if (strcmp(a->method, request->method) != 0)
		return false;
	if (a->after == NULL)
		return strcmp(a->before, request->path) == 0;
	size_t after = strlen(a->after);
	if (strncmp(request->path, a->before, before) != 0 || n <= before + after || n - before - after > KEY_MAX ||
	    strcmp(request->path + n - after, a->after) != 0)
		return false;
	memcpy(key, request->path + before, n - before - after);
	key[n - before - after] = '\0';
	return strchr(key, '/') == NULL;
}

/* Who it was: the token's name, and whom its user says to be. Owned. */
static char *
who(const char *token, const json_t *body)
{
	const char *by = json_string_value(json_object_get(body, "by"));
	struct buf text;

	buf_init(&text, SILENCE_TEXT_MAX + 1);
	if (by != NULL && *by != '\0')
		buf_printf(&text, "%s (%s)", by, token);
	else
		buf_puts(&text, token);
	char *owned = buf_ok(&text) ? strdup(buf_str(&text)) : strdup(token);
	buf_fini(&text);
	return owned;
}

static unsigned
status_of(int err)
{
	switch (err) {
	case HIWAT_E_NODATA:
		return 404;
	case HIWAT_E_REJECTED:
		return 422;
	default:
		return 503;
	}
}

static void
act(struct call *c, struct http_response *response)
{
	pipeline_read(c->web->pipeline, c->action->act, c);
	if (c->err == 0 && store_flush(c->web->store) != 0) {
		c->err = HIWAT_E_SYS;
		buf_puts(&c->why, "done, but not on disk yet: the store fails");
	}
	char *text = c->err == 0 && c->result != NULL ? json_dumps(c->result, JSON_COMPACT) : NULL;
	if (text == NULL) {
		http_fail(response, status_of(c->err), "%s", c->why.len > 0 ? buf_str(&c->why) : "out of memory");
		return;
	}
	log_info(TOPIC, "%s%s%s by %s", c->action->what, c->key[0] != '\0' ? ": " : "", c->key, c->by);
	response->content_type = "application/json";
	buf_printf(&response->body, "%s\n", text);
	free(text);
}

bool
api_write_handle(struct web *w, const struct http_request *request, struct http_response *response)
{
	struct call c = { .web = w };
	const char *token = NULL;
	json_error_t where;

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]) && c.action == NULL; i++)
		if (fits(&actions[i], request, c.key))
			c.action = &actions[i];
	if (c.action == NULL)
		return false;
	if (auth_role(w->auth, http_header(request, "Authorization"), &token) < c.action->role) {
		http_fail(response, 401,
		    "this needs a token: Authorization: Bearer TOKEN, see web.tokens_file in hiwat.yaml(5)");
		return true;
	}
	json_t *body = request->body_len > 0 ? json_loadb((const char *)request->body, request->body_len, 0, &where) : NULL;
	if (request->body_len > 0 && !json_is_object(body)) {
		http_fail(response, 400, "the body is no JSON object%s%s", body == NULL ? ": " : "",
		    body == NULL ? where.text : "");
		json_decref(body);
		return true;
	}
	char *by = who(token, body);
	buf_init(&c.why, 1024);
	c.by = by;
	c.body = body;
	if (by != NULL)
		act(&c, response);
	else
		http_fail(response, 503, "out of memory");
	json_decref(c.result);
	json_decref(body);
	buf_fini(&c.why);
	free(by);
	return true;
}
