/* What people and programs read: health, metrics and the JSON API. Every answer is made under the pipeline's lock, whole. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit_json.h"
#include "buf.h"
#include "clock.h"
#include "err.h"
#include "incident_json.h"
#include "pipeline.h"
#include "silences.h"
#include "store.h"
#include "web.h"

struct call {
	struct web *web;
	const struct http_request *request;
	const char *rest; /* of the path, behind the row's */
	json_t *result;
};

static json_t *
json_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *
labels_to_json(const struct sample_label *labels, unsigned n)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < n; i++)
		json_object_set_new(o, labels[i].name, json_string(labels[i].value));
	return o;
}

static json_t *
resources_to_json(const struct host *h, const struct labels *labels)
{
	json_t *list = json_array();

	for (size_t i = 0; i < h->resources.n; i++) {
		const struct resource *r = &h->resources.rows[i];
		unsigned n;
		const struct sample_label *own = labels_get(labels, r->labels, &n);
		json_t *row = json_object();
		json_object_set_new(row, "resource", json_string(r->name));
		json_object_set_new(row, "labels", labels_to_json(own, n));
		json_object_set_new(row, "use", json_number(r->use));
		json_object_set_new(row, "limit", json_number(r->limit));
		json_object_set_new(row, "headroom", json_number(resource_headroom(r)));
		json_object_set_new(row, "exhaustion_seconds", json_number(resource_exhaustion(r)));
		json_array_append_new(list, row);
	}
	return list;
}

static json_t *
samplers_to_json(const struct track *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n_sets; i++) {
		const struct sample_set *s = &t->sets[i];
		if (strncmp(s->sampler, "status.", 7) == 0)
			continue;
		json_t *row = json_object();
		json_object_set_new(row, "sampler", json_string(s->sampler));
		json_object_set_new(row, "verdict", json_string(verdict_word(s->verdict)));
		if (s->reason[0] != '\0')
			json_object_set_new(row, "reason", json_string(s->reason));
		json_object_set_new(row, "values", json_integer(s->n_values));
		json_object_set_new(row, "time", json_number((double)s->wall_ns / 1e9));
		json_array_append_new(list, row);
	}
	return list;
}

static double
lowest_headroom(const struct host *h, const char **resource)
{
	double lowest = NAN;

	for (size_t i = 0; i < h->resources.n; i++) {
		double headroom = resource_headroom(&h->resources.rows[i]);
		if (!isnan(headroom) && !(headroom >= lowest)) {
			lowest = headroom;
			*resource = h->resources.rows[i].name;
		}
	}
	return lowest;
}

static json_t *
host_to_json(const struct host *h)
{
	const char *resource = NULL;
	json_t *o = json_object();
	int64_t offset_ns;

	json_object_set_new(o, "id", json_string(h->id));
	json_object_set_new(o, "name", json_string(h->name));
	json_object_set_new(o, "labels", labels_to_json(h->labels, h->n_labels));
	json_object_set_new(o, "os", json_string(h->os));
	json_object_set_new(o, "release", json_string(h->release));
	json_object_set_new(o, "agent_version", json_string(h->agent_version));
	json_object_set_new(o, "boot_time", json_integer((json_int_t)h->boot_time));
	json_object_set_new(o, "last_seen", json_number((double)h->last_wall_ns / 1e9));
	json_object_set_new(o, "silent", json_boolean(h->silent));
	json_object_set_new(o, "clock_offset_seconds",
	    host_clock_offset(h, h->last_wall_ns, &offset_ns) ? json_number((double)offset_ns / 1e9) : json_null());
	json_object_set_new(o, "lowest_headroom", json_number(lowest_headroom(h, &resource)));
	json_object_set_new(o, "lowest_resource", resource != NULL ? json_string(resource) : json_null());
	return o;
}

static json_t *
ledger_to_json(const struct host *h)
{
	json_t *o = json_object();

	json_object_set_new(o, "id", json_string(h->id));
	json_object_set_new(o, "name", json_string(h->name));
	json_object_set_new(o, "stream", json_sprintf("%016llx", (unsigned long long)h->stream.id));
	json_object_set_new(o, "received", json_integer((json_int_t)h->stream.contiguous));
	json_object_set_new(o, "durable", json_integer((json_int_t)h->stream.durable));
	json_object_set_new(o, "gaps", json_integer(h->stream.n_ranges));
	json_object_set_new(o, "batches", json_integer((json_int_t)h->batches));
	json_object_set_new(o, "duplicates", json_integer((json_int_t)h->duplicates));
	json_object_set_new(o, "lost", json_integer((json_int_t)h->lost));
	return o;
}

/* GET /api/v1/hosts */
static void
get_hosts(void *arg, struct pipeline *p)
{
	struct call *c = arg;
	struct hosts *hosts = pipeline_hosts(p);
	json_t *list = json_array();

	for (unsigned i = 0; i < hosts_count(hosts); i++)
		json_array_append_new(list, host_to_json(hosts_at(hosts, i)));
	c->result = json_pack("{s:o}", "hosts", list);
}

struct advice {
	const struct host_view *view;
	json_t *rules, *settings;
};

static void
add_rule_advice(void *arg, const struct rule_event *event)
{
	struct advice *a = arg;
	struct buf summary, remedy;
	unsigned n;

	if (event->status != RULE_FIRING || event->level != RULE_LEVEL_ADVICE)
		return;
	buf_init(&summary, 4096);
	buf_init(&remedy, 16384);
	rule_render(event->rule->summary, event, a->view, &summary);
	rule_render(event->rule->remedy, event, a->view, &remedy);
	const struct sample_label *labels = labels_get(a->view->labels, event->labels, &n);
	json_array_append_new(a->rules,
	    json_pack("{s:s, s:o, s:s, s:s, s:s}", "rule", event->rule->id, "labels", labels_to_json(labels, n), "summary",
		buf_str(&summary), "remedy", buf_str(&remedy), "doc", event->rule->doc));
	buf_fini(&summary);
	buf_fini(&remedy);
}

static void
add_setting_advice(void *arg, const struct audit_finding *f)
{
	struct advice *a = arg;

	json_array_append_new(a->settings, audit_finding_to_json(f));
}

/* GET /api/v1/hosts/ID-OR-NAME/advice */
static void
get_advice(struct call *c, const struct host *h, struct pipeline *p)
{
	struct host_view view = host_view_of(h, &h->live, pipeline_labels(p));
	struct advice a = { &view, json_array(), json_array() };

	if (h->live.rules != NULL)
		rules_each(pipeline_rules(p), h->live.rules, add_rule_advice, &a);
	unsigned compared = audit_run(pipeline_rules(p), &view, "", add_setting_advice, &a);
	c->result = json_pack("{s:s, s:s, s:o, s:i, s:o}", "id", h->id, "name", h->name, "rules", a.rules,
	    "settings_compared", (int)compared, "settings", a.settings);
}

/* GET /api/v1/hosts/ID-OR-NAME, with or without /advice */
static void
get_host(void *arg, struct pipeline *p)
{
	struct call *c = arg;
	static const char advice[] = "/advice";
	size_t n = strlen(c->rest), tail = sizeof(advice) - 1;
	bool is_advice = n > tail && strcmp(c->rest + n - tail, advice) == 0;
	char *id = strndup(c->rest, is_advice ? n - tail : n);
	const struct host *h = id != NULL ? hosts_find_text(pipeline_hosts(p), id) : NULL;

	free(id);
	if (h == NULL)
		return;
	if (is_advice) {
		get_advice(c, h, p);
		return;
	}
	c->result = host_to_json(h);
	json_object_set_new(c->result, "resources", resources_to_json(h, pipeline_labels(p)));
	json_object_set_new(c->result, "samplers", samplers_to_json(&h->live));
	json_object_set_new(c->result, "ledger", ledger_to_json(h));
}

/* GET /api/v1/ledger */
static void
get_ledger(void *arg, struct pipeline *p)
{
	struct call *c = arg;
	json_t *list = json_array();

	for (unsigned i = 0; i < hosts_count(pipeline_hosts(p)); i++)
		json_array_append_new(list, ledger_to_json(hosts_at(pipeline_hosts(p), i)));
	c->result = json_pack("{s:o}", "hosts", list);
}

static void
add_incident(void *arg, const struct incident *i)
{
	json_array_append_new(arg, incident_to_json(i));
}

/* GET /api/v1/alerts */
static void
get_alerts(void *arg, struct pipeline *p)
{
	struct call *c = arg;
	json_t *list = json_array();

	alerts_each(pipeline_alerts(p), add_incident, list);
	c->result = json_pack("{s:o}", "alerts", list);
}

/* GET /api/v1/alerts/KEY */
static void
get_alert(void *arg, struct pipeline *p)
{
	struct call *c = arg;
	const struct incident *i = alerts_find(pipeline_alerts(p), c->rest);

	if (i != NULL)
		c->result = incident_to_json(i);
}

struct silence_list {
	json_t *list;
	uint64_t now_ns;
};

static void
add_silence(void *arg, const struct silence *s)
{
	struct silence_list *l = arg;

	json_array_append_new(l->list, silence_to_json(s, l->now_ns));
}

/* GET /api/v1/silences */
static void
get_silences(void *arg, struct pipeline *p)
{
	struct call *c = arg;
	struct silence_list l = { json_array(), clock_wall_ns() };

	alerts_each_silence(pipeline_alerts(p), add_silence, &l);
	c->result = json_pack("{s:o}", "silences", l.list);
}

/* GET /api/v1/rules */
static void
get_rules(void *arg, struct pipeline *p)
{
	struct call *c = arg;
	json_t *list = json_array();

	for (size_t i = 0; i < rule_set_count(pipeline_rules(p)); i++) {
		const struct rule *r = rule_set_get(pipeline_rules(p), i);
		json_array_append_new(list,
		    json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i}", "id", r->id, "cause", r->cause, "doc", r->doc,
			"threshold_source", r->threshold_source, "reason", r->reason, "file", r->file, "line",
			(int)r->line));
	}
	c->result = json_pack("{s:o}", "rules", list);
}

static const struct {
	const char *path;
	bool has_rest;
	void (*get)(void *arg, struct pipeline *p);
} calls[] = {
	{ "/api/v1/hosts", false, get_hosts },
	{ "/api/v1/hosts/", true, get_host },
	{ "/api/v1/alerts", false, get_alerts },
	{ "/api/v1/alerts/", true, get_alert },
	{ "/api/v1/silences", false, get_silences },
	{ "/api/v1/rules", false, get_rules },
	{ "/api/v1/ledger", false, get_ledger },
};

static void
answer_json(struct call *c, void (*get)(void *arg, struct pipeline *p), struct http_response *response)
{
	pipeline_read(c->web->pipeline, get, c);
	if (c->result == NULL) {
		http_fail(response, 404, "there is no such thing: %s", c->request->path);
		return;
	}
	char *text = json_dumps(c->result, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(c->result);
	if (text == NULL) {
		http_fail(response, 500, "out of memory");
		return;
	}
	response->content_type = "application/json";
	buf_puts(&response->body, text);
	buf_putc(&response->body, '\n');
	free(text);
}

static void
answer_health(struct web *w, struct http_response *response)
{
	const char *why = "";

	if (store_healthy(w->store, &why))
		buf_puts(&response->body, "ok\n");
	else
		http_fail(response, 503, "incidents cannot be stored: %s", why);
}

void
api_handle(void *arg, const struct http_request *request, struct http_response *response)
{
	struct web *w = arg;
	struct call c = { .web = w, .request = request };

	/* HEAD is answered like GET; the server library leaves the body out. */
	if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
		if (!api_write_handle(w, request, response) && !api_pagerduty_handle(w, request, response))
			http_fail(response, 405,
			    "what can be changed here: POST /api/v1/alerts/KEY/acknowledge, POST /api/v1/alerts/KEY/close, "
			    "POST /api/v1/silences, DELETE /api/v1/silences/ID");
		return;
	}
	if (strcmp(request->path, "/-/healthy") == 0) {
		buf_puts(&response->body, "ok\n");
		return;
	}
	if (strcmp(request->path, "/-/ready") == 0) {
		answer_health(w, response);
		return;
	}
	if (strcmp(request->path, "/metrics") == 0 || strcmp(request->path, "/metrics/hosts") == 0) {
		response->content_type = "text/plain; version=0.0.4; charset=utf-8";
		if (request->path[8] == '\0')
			metrics_write(w, &response->body);
		else
			metrics_write_hosts(w, &response->body);
		return;
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		size_t n = strlen(calls[i].path);
		if (calls[i].has_rest ? strncmp(request->path, calls[i].path, n) == 0 && request->path[n] != '\0'
				      : strcmp(request->path, calls[i].path) == 0) {
			c.rest = request->path + n;
			answer_json(&c, calls[i].get, response);
			return;
		}
	}
	http_fail(response, 404,
	    "known here: /metrics /metrics/hosts /-/healthy /-/ready /api/v1/hosts[/ID[/advice]] "
	    "/api/v1/alerts[/KEY] /api/v1/silences /api/v1/rules /api/v1/ledger");
}
