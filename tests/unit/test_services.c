/* The sinks of PagerDuty and Slack against a receiver that holds what it gets against the documentation, and misbehaves. */
#include "unit.h"

#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "body_rules.h"
#include "buf.h"
#include "clock.h"
#include "err.h"
#include "log.h"
#include "preflight.h"
#include "routes.h"
#include "sinks.h"
#include "store.h"

#define KEY "00000000000000000000000000000007"
#define LONG_TEXT 65536

static char dir[64], db_path[96], pagerduty_key[96], slack_address[96];

static const struct {
	const char *sink;
	body_rules *rules;
	const char *secret_file;
} services[] = { { "pagerduty", pagerduty_takes, pagerduty_key }, { "slack", slack_takes, slack_address } };

static void
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void
quiet(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
}

static void
setup(void)
{
	log_set_hook(quiet);
	snprintf(dir, sizeof(dir), "%s/hiwat-posts-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(db_path, sizeof(db_path), "%s/state.db", dir);
	snprintf(pagerduty_key, sizeof(pagerduty_key), "%s/key", dir);
	snprintf(slack_address, sizeof(slack_address), "%s/address", dir);
	ck_assert(bad_server_start(NULL, NULL));
	write_file(pagerduty_key, PAGERDUTY_KEY "\n");
	write_file(slack_address, server.url);
}

static void
teardown(void)
{
	char pattern[96];
	glob_t found;

	bad_server_stop();
	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	rmdir(dir);
	log_set_hook(NULL);
}

static struct route
route_of(size_t service)
{
	return (struct route){
		.name = "r",
		.sink = services[service].sink,
		.url = strcmp(services[service].sink, "pagerduty") == 0 ? server.url : "",
		.secret_file = services[service].secret_file,
		.ca_file = "",
		.timeout_ms = 10000,
		.retry_min_ms = 2,
		.retry_max_ms = 20,
		.public_url = "https://hiwat.example.org/fleet",
	};
}

static json_t *
line(const char *text, int n)
{
	return json_pack("{s:s+, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:s, s:s, s:s, s:s, s:s, s:s}", "rule",
	    "full-", n == 0 ? "first" : "other", "status", "firing", "level", "critical", "labels", text, "since",
	    "2026-12-01T08:00:00.000Z", "value", 0.75, "threshold", 0.7, "used", 36000.0, "limit", 48000.0,
	    "seconds_to_limit", 5400.0, "document", text, "threshold_source", "ours", "reason", text, "summary", text,
	    "description", text, "remedy", text);
}

/* An incident with text wherever hosts have a say; owned. */
static char *
document(const char *text, int n_lines)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s, s:{s:s}}}", "key", KEY, "level",
	    "critical", "cause", text, "object", text, "summary", text, "by", text, "opened", "2026-12-01T08:00:00.000Z",
	    "host", "name", text, "os", text, "release", text, "labels", "role", text);
	json_t *lines = json_array();

	ck_assert_ptr_nonnull(o);
	for (int n = 0; n < n_lines; n++)
		ck_assert_int_eq(json_array_append_new(lines, line(text, n)), 0);
	json_object_set_new(o, "lines", lines);
	char *json = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return json;
}

/* The server's last body, parsed; owned. */
static json_t *
arrived(void)
{
	json_t *o = server.last != NULL ? json_loads(server.last, 0, NULL) : NULL;

	ck_assert_ptr_nonnull(o);
	return o;
}

static enum delivery
send_one(size_t service, const char *event, const char *json, struct buf *why, uint64_t *retry_after)
{
	struct route route = route_of(service);
	struct notice notice = { KEY, 3, event, json };
	const struct sink *sink = sink_find(services[service].sink);
	void *state = NULL;

	server.rules = services[service].rules;
	ck_assert_msg(sink->open(&route, &state, why) == 0, "%s", buf_str(why));
	enum delivery result = sink->send(state, &route, &notice, why, retry_after);
	sink->close(state);
	return result;
}

static const char *const events[] = { "trigger", "escalate", "update", "acknowledge", "repeat", "resolve", "was" };

/* What hosts may say. NULL: LONG_TEXT bytes of the row before it. */
static const char *const hostile[] = {
	"plain",
	NULL,
	"",
	"\"\\'{}[]\",\"event_action\":\"resolve\"",
	NULL,
	"\x01\x02\x1b[31m\b\r\n\t\x7f end\n> quoted",
	NULL,
	"\xf0\x9f\x94\xa5\xf0\x9f\x92\xa9",
	NULL,
	"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe2\x80\xae right to left \xe2\x81\xa7",
	NULL,
	"*bold* _italic_ ~struck~ `code` ```block``` <!channel> <@U024BE7LH> <https://evil.example|click> & > :skull:",
	NULL,
	"&<>&<>",
	NULL,
};

START_TEST(hostile_texts)
{
	size_t service = (size_t)_i / ARRAY_LEN(hostile), row = (size_t)_i % ARRAY_LEN(hostile);
	static char text[LONG_TEXT + 1];
	struct buf why;
	uint64_t retry_after = 0;

	text[0] = '\0';
	if (hostile[row] != NULL)
		snprintf(text, sizeof(text), "%s", hostile[row]);
	else
		for (size_t step = strlen(hostile[row - 1]), at = 0; at + step <= LONG_TEXT; at += step)
			memcpy(text + at, hostile[row - 1], step + 1);
	char *json = document(text, hostile[row] != NULL ? 16 : 2);
	buf_init(&why, 1024);
	for (size_t e = 0; e < ARRAY_LEN(events); e++) {
		enum delivery result = send_one(service, events[e], json, &why, &retry_after);
		ck_assert_msg(result == DELIVERY_DONE, "%s: %s: %.3000s", events[e], buf_str(&why), server.last);
	}
	ck_assert_uint_eq(server.bad, 0);
	/* "was" is two events of PagerDuty. */
	ck_assert_uint_eq(server.n_seen, ARRAY_LEN(events) + (service == 0));
	for (size_t k = 0; k < server.n_seen; k++)
		ck_assert_str_eq(server.seen[k].key, KEY);
	buf_fini(&why);
	free(json);
}
END_TEST

/* What each event is at PagerDuty. */
static const struct {
	const char *event, *actions;
} actions[] = {
	{ "trigger", "trigger " },
	{ "escalate", "trigger " },
	{ "repeat", "trigger " },
	{ "update", "trigger " },
	{ "acknowledge", "acknowledge " },
	{ "resolve", "resolve " },
	{ "was", "trigger resolve " },
};

START_TEST(pagerduty_actions)
{
	char *json = document("text", 2);
	struct buf why, got;
	uint64_t retry_after = 0;

	buf_init(&why, 1024);
	buf_init(&got, 1024);
	ck_assert_int_eq(send_one(0, actions[_i].event, json, &why, &retry_after), DELIVERY_DONE);
	for (size_t k = 0; k < server.n_seen; k++)
		buf_printf(&got, "%s ", server.seen[k].event);
	ck_assert_str_eq(buf_str(&got), actions[_i].actions);
	buf_fini(&why);
	buf_fini(&got);
	free(json);
}
END_TEST

static const char *
text_at(const json_t *o, const char *a, const char *b)
{
	const char *s = json_string_value(json_object_get(b != NULL ? json_object_get(o, a) : o, b != NULL ? b : a));

	return s != NULL ? s : "(absent)";
}

START_TEST(pagerduty_content)
{
	char *json = document("host-1", 3);
	struct buf why;
	uint64_t retry_after = 0;

	buf_init(&why, 1024);
	ck_assert_int_eq(send_one(0, "trigger", json, &why, &retry_after), DELIVERY_DONE);
	json_t *o = arrived();
	const json_t *payload = json_object_get(o, "payload"), *details = json_object_get(payload, "custom_details");
	ck_assert_str_eq(text_at(payload, "summary", NULL), "host-1: host-1");
	ck_assert_str_eq(text_at(payload, "source", NULL), "host-1");
	ck_assert_str_eq(text_at(payload, "severity", NULL), "critical");
	ck_assert_str_eq(text_at(payload, "timestamp", NULL), "2026-12-01T08:00:00.000Z");
	ck_assert_str_eq(text_at(payload, "component", NULL), "host-1");
	ck_assert_str_eq(text_at(payload, "group", NULL), "host-1");
	ck_assert_str_eq(text_at(payload, "class", NULL), "host-1");
	ck_assert_str_eq(text_at(o, "client_url", NULL), "https://hiwat.example.org/fleet/api/v1/alerts/" KEY);
	ck_assert_str_eq(text_at(json_array_get(json_object_get(o, "links"), 0), "href", NULL),
	    text_at(o, "client_url", NULL));
	ck_assert_double_eq(json_number_value(json_object_get(details, "value")), 0.75);
	ck_assert_double_eq(json_number_value(json_object_get(details, "limit")), 48000);
	ck_assert_double_eq(json_number_value(json_object_get(details, "threshold")), 0.7);
	ck_assert_str_eq(text_at(details, "threshold_source", NULL), "ours");
	ck_assert_str_eq(text_at(details, "since", NULL), "2026-12-01T08:00:00.000Z");
	ck_assert_str_eq(text_at(details, "time_left", NULL), "full in 1h30m at the present trend");
	ck_assert_str_eq(text_at(details, "remedy", NULL), "host-1");
	ck_assert_str_eq(text_at(details, "rule", NULL), "full-first");
	ck_assert_uint_eq(json_array_size(json_object_get(details, "other_lines")), 2);
	ck_assert_ptr_null(json_object_get(details, "lines_left_out"));
	json_decref(o);
	buf_fini(&why);
	free(json);
}
END_TEST

/* What is too large loses its last lines, and says how many; what is much too large all of them. */
static const struct {
	size_t text;
	size_t others; /* that arrive beside the one that speaks */
	int left_out;  /* of 16 */
} sizes[] = { { 4000, 15, 0 }, { 6000, 12, 3 }, { 30000, 1, 14 }, { 100000, 0, 16 } };

START_TEST(pagerduty_size)
{
	char *text = calloc(1, sizes[_i].text + 1);
	struct buf why;
	uint64_t retry_after = 0;

	memset(text, 'x', sizes[_i].text);
	char *json = document(text, 16);
	buf_init(&why, 1024);
	ck_assert_int_eq(send_one(0, "trigger", json, &why, &retry_after), DELIVERY_DONE);
	json_t *o = arrived();
	const json_t *details = json_object_get(json_object_get(o, "payload"), "custom_details");
	ck_assert_uint_eq(json_array_size(json_object_get(details, "other_lines")), sizes[_i].others);
	ck_assert_int_eq(json_integer_value(json_object_get(details, "lines_left_out")), sizes[_i].left_out);
	json_decref(o);
	buf_fini(&why);
	free(json);
	free(text);
}
END_TEST

/* How a message begins. */
static const struct {
	const char *event, *text;
	bool is_whole;
} titles[] = {
	{ "trigger", "CRITICAL h: h", true },
	{ "escalate", "NOW CRITICAL h: h", true },
	{ "update", "NOW CRITICAL h: h", true },
	{ "repeat", "STILL CRITICAL h: h", true },
	{ "was", "WAS CRITICAL h: h", true },
	{ "acknowledge", "TAKEN OVER by h h: h", false },
	{ "resolve", "RESOLVED h: h", false },
};

START_TEST(slack_content)
{
	char *json = document("h", 3);
	struct buf why;
	uint64_t retry_after = 0;

	buf_init(&why, 1024);
	ck_assert_int_eq(send_one(1, titles[_i].event, json, &why, &retry_after), DELIVERY_DONE);
	json_t *o = arrived();
	const json_t *blocks = json_object_get(o, "blocks");
	ck_assert_str_eq(text_at(o, "text", NULL), titles[_i].text);
	ck_assert_str_eq(text_at(json_array_get(blocks, 0), "text", "text"), titles[_i].text);
	/* Header, the line that speaks, two others, context; or the text and the context. */
	ck_assert_uint_eq(json_array_size(blocks), titles[_i].is_whole ? 5 : 2);
	if (titles[_i].is_whole) {
		ck_assert_str_eq(text_at(json_array_get(blocks, 1), "text", "text"),
		    "*what*  h\n*series*  h\n*value*  36000 of 48000 (75.0 %), threshold 0.7 (ours)\n"
		    "*time left*  full in 1h30m at the present trend\n*more*  h\n*why*  h\n*document*  h\n*to do*  h\n");
		ck_assert_str_eq(text_at(json_array_get(blocks, 2), "text", "text"),
		    "*also*  full-other, critical since 2026-12-01T08:00:00.000Z: h");
	}
	json_decref(o);
	buf_fini(&why);
	free(json);
}
END_TEST

/* What an answer means. */
static const struct {
	size_t service;
	enum behaviour what;
	const char *reason;
	enum delivery result;
	uint64_t retry_after_ms;
	const char *why;
} answers[] = {
	{ 0, OK, "", DELIVERY_DONE, 0, "" },
	{ 0, STATUS_400, "{\"status\":\"invalid event\",\"errors\":[\"" PAGERDUTY_KEY "\"]}", DELIVERY_REFUSED, 0,
	    "HTTP status 400: {\"status\":\"invalid event\",\"errors\":[\"(secret)\"]}" },
	{ 0, STATUS_403, "", DELIVERY_RETRY, 0, "HTTP status 403" },
	{ 0, STATUS_429, "", DELIVERY_RETRY, 1000, "HTTP status 429" },
	{ 0, STATUS_500, "", DELIVERY_RETRY, 0, "HTTP status 500" },
	{ 1, OK, "", DELIVERY_DONE, 0, "" },
	{ 1, STATUS_400, "invalid_payload", DELIVERY_REFUSED, 0, "HTTP status 400: invalid_payload" },
	{ 1, STATUS_403, "action_prohibited", DELIVERY_REFUSED, 0, "HTTP status 403: action_prohibited" },
	{ 1, STATUS_404, "no_service at /hook", DELIVERY_REFUSED, 0, "HTTP status 404: no_service at (secret)" },
	{ 1, STATUS_410, "channel_is_archived", DELIVERY_REFUSED, 0, "HTTP status 410: channel_is_archived" },
	{ 1, STATUS_429, "rate_limited", DELIVERY_RETRY, 1000, "HTTP status 429: rate_limited" },
	{ 1, STATUS_500, "rollup_error", DELIVERY_RETRY, 0, "HTTP status 500: rollup_error" },
};

START_TEST(answers_mean)
{
	char *json = document("text", 1);
	struct buf why;
	uint64_t retry_after = 0;

	server.script = &answers[_i].what;
	server.n_script = 1;
	server.reason = answers[_i].reason;
	buf_init(&why, 1024);
	ck_assert_int_eq(send_one(answers[_i].service, "trigger", json, &why, &retry_after), answers[_i].result);
	ck_assert_str_eq(buf_str(&why), answers[_i].why);
	ck_assert_uint_eq(retry_after, answers[_i].retry_after_ms);
	buf_fini(&why);
	free(json);
}
END_TEST

/* Of what is over, the end is told again when it did not arrive. */
START_TEST(pagerduty_was_until_both_arrive)
{
	static const enum behaviour script[] = { OK, STATUS_500, OK, OK };
	char *json = document("text", 1);
	struct buf why;
	uint64_t retry_after = 0;

	server.script = script;
	server.n_script = ARRAY_LEN(script);
	buf_init(&why, 1024);
	ck_assert_int_eq(send_one(0, "was", json, &why, &retry_after), DELIVERY_RETRY);
	ck_assert_int_eq(send_one(0, "was", json, &why, &retry_after), DELIVERY_DONE);
	ck_assert_uint_eq(server.n_seen, 3);
	ck_assert_str_eq(server.seen[1].event, "trigger");
	ck_assert_str_eq(server.seen[2].event, "resolve");
	buf_fini(&why);
	free(json);
}
END_TEST

/* Secrets that cannot be right are told at the start, not at night. */
static const struct {
	size_t service;
	const char *secret, *why;
} secrets[] = {
	{ 0, "0123456789abcdef", "a routing key has 32 letters and digits" },
	{ 0, "0123456789abcdef0123456789abcde\"", "a routing key has 32 letters and digits" },
	{ 0, "", "empty" },
	{ 1, "T0/B0/xxxx", "wanted the webhook's address" },
	{ 1, "https://hooks.slack.com", "wanted the webhook's address" },
	{ 1, "https://hooks.slack.com/services/xxxx ", "wanted the webhook's address" },
	{ 1, "ftp://hooks.slack.com/services/xxxx", "needs a url that begins with https:// or http://" },
};

START_TEST(secrets_that_cannot_be)
{
	struct route route = route_of(secrets[_i].service);
	struct buf why;
	void *state = NULL;

	buf_init(&why, 1024);
	write_file(route.secret_file, secrets[_i].secret);
	ck_assert_int_eq(sink_find(route.sink)->open(&route, &state, &why), HIWAT_E_CONFIG);
	ck_assert_msg(strstr(buf_str(&why), secrets[_i].why) != NULL, "%s", buf_str(&why));
	ck_assert_ptr_null(strstr(buf_str(&why), "xxxx"));
	buf_fini(&why);
}
END_TEST

#define EVENT_OF(rest) "{\"routing_key\":\"" PAGERDUTY_KEY "\",\"dedup_key\":\"k\"," rest "}"
#define MESSAGE_OF(block) "{\"text\":\"t\",\"blocks\":[" block "]}"

static const struct {
	size_t service;
	const char *body, *why; /* why NULL: it is fine */
} bodies[] = {
	{ 0, EVENT_OF("\"event_action\":\"resolve\""), NULL },
	{ 0, EVENT_OF("\"event_action\":\"trigger\",\"payload\":{\"summary\":\"s\",\"source\":\"s\",\"severity\":\"info\"}"),
	    NULL },
	{ 0, "{", "it is no JSON" },
	{ 0, "{\"routing_key\":\"short\"}", "routing_key has 32 characters" },
	{ 0, EVENT_OF("\"event_action\":\"close\""), "event_action is trigger, acknowledge or resolve" },
	{ 0, EVENT_OF("\"event_action\":\"trigger\""), "payload.summary has 1 to 1024 characters" },
	{ 0, EVENT_OF("\"event_action\":\"trigger\",\"payload\":{\"summary\":\"s\",\"severity\":\"info\"}"),
	    "payload.source is needed" },
	{ 0, EVENT_OF("\"event_action\":\"trigger\",\"payload\":{\"summary\":\"s\",\"source\":\"s\",\"severity\":\"bad\"}"),
	    "payload.severity is critical, error, warning or info" },
	{ 1, "{\"text\":\"t\"}", NULL },
	{ 1, "]", "it is no JSON" },
	{ 1, "{}", "the text has 1 to 40000 characters" },
	{ 1, MESSAGE_OF("{\"type\":\"header\",\"text\":{\"type\":\"mrkdwn\",\"text\":\"t\"}}"),
	    "a header is plain text of 1 to 150 characters" },
	{ 1, MESSAGE_OF("{\"type\":\"section\",\"text\":{\"type\":\"mrkdwn\",\"text\":\"\"}}"),
	    "a section has 1 to 3000 characters" },
	{ 1, MESSAGE_OF("{\"type\":\"context\",\"elements\":[]}"), "a context has 1 to 10 elements" },
	{ 1, MESSAGE_OF("{\"type\":\"context\",\"elements\":[{\"type\":\"mrkdwn\",\"text\":\"\"}]}"),
	    "a text of a context has 1 to 3000 characters" },
};

START_TEST(bodies_validated)
{
	struct buf why;

	buf_init(&why, 1024);
	int err = sink_find(services[bodies[_i].service].sink)->validate(bodies[_i].body, &why);
	ck_assert_int_eq(err, bodies[_i].why == NULL ? 0 : HIWAT_E_CONFIG);
	ck_assert_str_eq(buf_str(&why), bodies[_i].why == NULL ? "" : bodies[_i].why);
	buf_fini(&why);
}
END_TEST

START_TEST(largest_incident_fits)
{
	struct route out[] = { route_of(0), route_of(1) };
	struct routes routes = { .n = 2, .out = out };
	struct buf errors;

	buf_init(&errors, 4096);
	bool ok = preflight_routes(&routes, &errors);
	ck_assert_msg(ok, "%s", buf_str(&errors));
	buf_fini(&errors);
}
END_TEST

static const enum behaviour scripts[][16] = {
	{ STATUS_500, STATUS_500, OK, STATUS_500, OK, OK, STATUS_500 },
	{ STATUS_429, OK },
	{ CUT, OK, CUT, CUT, CUT, OK },
	{ DROP, DROP, OK, DROP, OK, OK, DROP, DROP, DROP },
	{ HANG, OK, STATUS_500, CUT, HANG, DROP, STATUS_500, OK, CUT, HANG, DROP },
};

static void
add_notification(struct store *store, unsigned incident, unsigned generation, const char *event)
{
	char summary[64];
	uint64_t now = clock_wall_ns();

	snprintf(summary, sizeof(summary), "generation %u", generation);
	json_t *o =
	    json_pack("{s:s, s:s, s:{s:s}, s:[]}", "summary", summary, "level", "warning", "host", "name", "h", "lines");
	char key[33];
	snprintf(key, sizeof(key), "%032x", incident);
	json_object_set_new(o, "key", json_string(key));
	char *json = json_dumps(o, JSON_COMPACT);
	struct outbox_row row = { .generation = generation,
		.route = (char *)(uintptr_t) "r",
		.event = (char *)(uintptr_t)event,
		.payload = json,
		.created_ns = now,
		.next_try_ns = now,
		.expires_ns = now + 3600 * NSEC_PER_SEC };
	struct store_change change = { .notifications = &row, .n_notifications = 1, .wall_ns = now };
	memcpy(row.incident_key, key, sizeof(key));
	ck_assert_int_eq(store_put(store, &change), 0);
	free(json);
	json_decref(o);
}

static size_t
waiting(struct store *store)
{
	size_t n = 0;
	uint64_t oldest;

	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_int_eq(store_outbox_stats(store, clock_wall_ns(), &n, &oldest), 0);
	return n;
}

/* Each incident: triggered twice with what changed, then its end, and nothing out of turn; judged by what arrived. */
static void
check_arrived(unsigned n_incidents, const char *end)
{
	ck_assert_uint_eq(server.bad, 0);
	for (unsigned i = 0; i < n_incidents; i++) {
		char key[33];
		unsigned last = 0, steps = 0;

		snprintf(key, sizeof(key), "%032x", i);
		for (size_t k = 0; k < server.n_seen; k++) {
			const struct seen *s = &server.seen[k];
			unsigned now = strcmp(s->event, end) == 0 ? 3 : s->generation;

			if (strcmp(s->key, key) != 0)
				continue;
			ck_assert_uint_ge(now, last);
			steps += now != last;
			last = now;
		}
		ck_assert_uint_eq(last, 3);
		ck_assert_uint_eq(steps, 3);
	}
}

START_TEST(never_lost)
{
	size_t service = (size_t)_i / ARRAY_LEN(scripts);
	struct route route = route_of(service);
	struct store *store = NULL;
	struct notifier *n = NULL;
	struct route_stats stats;
	char *moved = NULL;
	struct buf why;
	static const char *const in_turn[] = { "trigger", "escalate", "resolve" };

	ck_assert_int_eq(store_open(db_path, &store, &moved), 0);
	server.rules = services[service].rules;
	server.script = scripts[(size_t)_i % ARRAY_LEN(scripts)];
	server.n_script = ARRAY_LEN(scripts[0]);
	route.timeout_ms = 300; /* how long a request that hangs is waited for */
	buf_init(&why, 200);
	ck_assert_int_eq(notifier_start(&route, 1, store, &n, &why), 0);
	for (unsigned g = 1; g <= 3; g++)
		for (unsigned i = 0; i < 5; i++)
			add_notification(store, i, g, in_turn[g - 1]);
	while (waiting(store) > 0)
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	notifier_stats(n, 0, &stats);
	bad_server_release();
	notifier_stop(n);
	store_close(store);
	buf_fini(&why);
	ck_assert_uint_eq(stats.delivered, 15);
	ck_assert_uint_eq(stats.expired, 0);
	check_arrived(5, service == 0 ? "resolve" : "RESOLVED");
}
END_TEST

static Suite *
services_suite(void)
{
	Suite *s = suite_create("services");
	TCase *t = tcase_create("services");

	tcase_set_timeout(t, 100);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, hostile_texts, 0, 2 * ARRAY_LEN(hostile));
	tcase_add_loop_test(t, pagerduty_actions, 0, ARRAY_LEN(actions));
	tcase_add_test(t, pagerduty_content);
	tcase_add_loop_test(t, pagerduty_size, 0, ARRAY_LEN(sizes));
	tcase_add_loop_test(t, slack_content, 0, ARRAY_LEN(titles));
	tcase_add_loop_test(t, answers_mean, 0, ARRAY_LEN(answers));
	tcase_add_test(t, pagerduty_was_until_both_arrive);
	tcase_add_loop_test(t, secrets_that_cannot_be, 0, ARRAY_LEN(secrets));
	tcase_add_loop_test(t, bodies_validated, 0, ARRAY_LEN(bodies));
	tcase_add_test(t, largest_incident_fits);
	tcase_add_loop_test(t, never_lost, 0, 2 * ARRAY_LEN(scripts));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(services_suite)
