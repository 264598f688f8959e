/* Incidents: rows of steps under a fake clock, and what the routes are told. */
#include "unit.h"

#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alert.h"
#include "buf.h"
#include "clock.h"
#include "err.h"
#include "incident_json.h"
#include "rule_host.h"
#include "store.h"

#define START (1700000000ULL * NSEC_PER_SEC)
#define MINUTE 60
#define HOUR 3600
#define DAY 86400

static const struct rule rules[] = {
	{ .id = "filling", .cause = "mbuf", .doc = "X520", .threshold_source = "ours", .reason = "because",
	    .summary = "{{host}}: {{value}} of it", .description = "d", .remedy = "r", .builtin = "", .file = "" },
	{ .id = "exhausted", .cause = "mbuf", .doc = "TUNING7", .threshold_source = "TUNING7", .reason = "",
	    .summary = "full", .description = "", .remedy = "", .builtin = "", .file = "" },
	{ .id = "denied", .cause = "mbuf", .doc = "", .threshold_source = "", .reason = "", .summary = "denied",
	    .description = "", .remedy = "", .builtin = "", .file = "" },
	{ .id = "host-silent", .cause = "host", .doc = "", .threshold_source = "", .reason = "", .summary = "silent",
	    .description = "", .remedy = "", .builtin = "silent", .file = "" },
	{ .id = "pf-memory", .cause = "pf", .doc = "", .threshold_source = "", .reason = "", .summary = "pf",
	    .description = "", .remedy = "", .builtin = "", .file = "" },
};
enum { FILLING, EXHAUSTED, DENIED, SILENT, PF };

static const struct alert_route routes[] = {
	{ .name = "all", .min_level = RULE_LEVEL_WARNING, .updates = true, .repeat_ns = HOUR * NSEC_PER_SEC,
	    .expire_ns = DAY * NSEC_PER_SEC },
	{ .name = "page", .min_level = RULE_LEVEL_CRITICAL, .repeat_ns = 4ULL * HOUR * NSEC_PER_SEC,
	    .expire_ns = DAY * NSEC_PER_SEC },
};

static char dir[64], path[96];
static struct store *store;
static struct alerts *alerts;
static struct labels *labels;
static uint32_t pool;
static uint64_t now_s;
static unsigned last_generation[2];
static struct buf told;

static void
open_all(void)
{
	char *moved = NULL;
	size_t unreadable = 99;

	ck_assert_int_eq(store_open(path, &store, &moved), 0);
	ck_assert_ptr_null(moved);
	alerts = alerts_new(store, routes, ARRAY_LEN(routes), START + now_s * NSEC_PER_SEC, &unreadable);
	ck_assert_ptr_nonnull(alerts);
	ck_assert_uint_eq(unreadable, 0);
}

static void
close_all(void)
{
	alerts_free(alerts);
	store_close(store);
}

static void
setup(void)
{
	static const struct sample_label label[] = { { "pool", "cluster" } };

	snprintf(dir, sizeof(dir), "%s/hiwat-alert-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/state.db", dir);
	labels = labels_new(100);
	pool = labels_intern(labels, label, 1);
	now_s = 0;
	last_generation[0] = last_generation[1] = 0;
	buf_init(&told, 1 << 16);
	open_all();
}

static void
teardown(void)
{
	char pattern[96];
	glob_t found;

	close_all();
	labels_free(labels);
	buf_fini(&told);
	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	rmdir(dir);
}

static struct host_view
view(void)
{
	static const struct sample_label own[] = { { "role", "mail" }, { "site", "b\xff" } };

	return (struct host_view){ .labels = labels, .name = "mx1", .os = "FreeBSD", .release = "14.2", .host_labels = own,
		.n_host_labels = 2 };
}

static void
event(unsigned rule, enum rule_status status, enum rule_level level, bool gone, bool late, uint64_t sequence)
{
	struct host_view v = view();
	struct alert_host host = {
		.uuid = { 1, 2, 3 },
		.view = &v,
		.stream = sequence != 0 ? 77 : 0,
		.sequence = sequence,
		.wall_ns = START + now_s * NSEC_PER_SEC,
		.boot_wall_ns = START - DAY * NSEC_PER_SEC,
		.late = late,
	};
	struct rule_event e = {
		.rule = &rules[rule],
		.labels = rule == SILENT || rule == PF ? LABELS_EMPTY : pool,
		.object = rule == SILENT || rule == PF ? LABELS_EMPTY : pool,
		.status = status,
		.level = level,
		.value = 0.9,
		.threshold = 0.75,
		.used = 36000,
		.limit = 48000,
		.seconds_to_limit = NAN,
		.since_boot_ns = (DAY + now_s) * NSEC_PER_SEC,
		.gone = gone,
	};
	ck_assert_int_eq(alerts_event(alerts, &host, &e), 0);
}

/* Takes out of the outbox what is there: " route:event/level". Generations must grow per route. */
static void
collect(void)
{
	ck_assert_int_eq(store_flush(store), 0);
	for (size_t r = 0; r < ARRAY_LEN(routes); r++) {
		struct outbox_row *rows = NULL;
		size_t n = 1;

		while (n > 0) {
			ck_assert_int_eq(store_outbox_due(store, routes[r].name, START + (now_s + 1) * NSEC_PER_SEC, 9, &rows, &n), 0);
			for (size_t i = 0; i < n; i++) {
				json_t *o = json_loads(rows[i].payload, 0, NULL);
				const char *event_word = json_string_value(json_object_get(o, "event"));

				ck_assert_ptr_nonnull(o);
				ck_assert_str_eq(event_word, rows[i].event);
				ck_assert_int_eq(json_integer_value(json_object_get(o, "generation")), rows[i].generation);
				ck_assert_str_eq(json_string_value(json_object_get(o, "key")), rows[i].incident_key);
				ck_assert_ptr_null(json_object_get(o, "state"));
				ck_assert_uint_eq(rows[i].expires_ns, rows[i].created_ns + DAY * NSEC_PER_SEC);
				buf_printf(&told, " %s:%s/%s", routes[r].name, event_word,
				    json_string_value(json_object_get(o, "level")));
				if (strcmp(json_string_value(json_object_get(o, "cause")), "mbuf") == 0) {
					ck_assert_uint_gt(rows[i].generation, last_generation[r]);
					last_generation[r] = rows[i].generation;
				}
				json_decref(o);
				ck_assert_int_eq(store_outbox_done(store, rows[i].id, START, NULL), 0);
			}
			store_outbox_free(rows, n);
			ck_assert_int_eq(store_flush(store), 0);
		}
	}
}

struct found {
	const struct incident *mbuf, *other;
	size_t n;
};

static void
find(void *arg, const struct incident *i)
{
	struct found *f = arg;

	f->n++;
	if (strcmp(i->cause, "mbuf") == 0)
		f->mbuf = i;
	else
		f->other = i;
}

static struct found
incidents(void)
{
	struct found f = { 0 };

	ck_assert_int_eq(alerts_each(alerts, find, &f), 0);
	return f;
}

enum op { END, W, C, A, CLEAR, BLIND, GONE, TICK, ACK, CLOSE, RESTART, LATE_C, LATE_CLEAR, BACKLOG_DONE };

struct step {
	uint64_t at; /* seconds */
	enum op op;
	unsigned rule;
	uint64_t sequence; /* of the batch; steps of one batch follow each other; 0: none */
};

static void
do_step(const struct step *s)
{
	switch (s->op) {
	case W:
		event(s->rule, RULE_FIRING, RULE_LEVEL_WARNING, false, false, s->sequence);
		break;
	case C:
		event(s->rule, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, s->sequence);
		break;
	case A:
		event(s->rule, RULE_FIRING, RULE_LEVEL_ADVICE, false, false, s->sequence);
		break;
	case CLEAR:
		event(s->rule, RULE_OK, RULE_LEVEL_NONE, false, false, s->sequence);
		break;
	case BLIND:
		event(s->rule, RULE_UNKNOWN, RULE_LEVEL_WARNING, false, false, s->sequence);
		break;
	case GONE:
		event(s->rule, RULE_FIRING, RULE_LEVEL_WARNING, true, false, s->sequence);
		break;
	case TICK:
		ck_assert_int_eq(alerts_tick(alerts, START + now_s * NSEC_PER_SEC), 0);
		break;
	case ACK:
		ck_assert_int_eq(alerts_acknowledge(alerts, incidents().mbuf->key, "ann", START + now_s * NSEC_PER_SEC), 0);
		break;
	case CLOSE:
		ck_assert_int_eq(alerts_close(alerts, incidents().mbuf->key, "ann", START + now_s * NSEC_PER_SEC), 0);
		break;
	case RESTART:
		close_all();
		open_all();
		break;
	case LATE_C:
		event(s->rule, RULE_FIRING, RULE_LEVEL_CRITICAL, false, true, s->sequence);
		break;
	case LATE_CLEAR:
		event(s->rule, RULE_OK, RULE_LEVEL_NONE, false, true, s->sequence);
		break;
	case BACKLOG_DONE:
		alerts_backlog_done(alerts, (const uint8_t[16]){ 1, 2, 3 });
		break;
	case END:
		break;
	}
}

static const struct {
	const char *name;
	struct step steps[40];
	const char *told; /* all that the routes were told, in order */
} lives[] = {
	{ "opened and resolved", { { 0, W, FILLING, 1 }, { 300, CLEAR, FILLING, 2 } }, " all:trigger/warning all:resolve/warning" },
	{ "one page whatever fires",
	    { { 0, W, FILLING, 1 }, { 0, C, EXHAUSTED, 1 }, { 0, C, DENIED, 1 }, { 9, C, DENIED, 2 }, { 60, CLEAR, DENIED, 3 } },
	    " all:trigger/critical page:trigger/critical" },
	{ "one page when it fills step by step",
	    { { 0, W, FILLING, 1 }, { 30, C, EXHAUSTED, 2 }, { 40, C, DENIED, 3 }, { 50, CLEAR, EXHAUSTED, 4 },
		{ 700, CLEAR, DENIED, 5 }, { 800, CLEAR, FILLING, 6 } },
	    " all:trigger/warning all:escalate/critical page:trigger/critical all:update/warning all:resolve/warning"
	    " page:resolve/warning" },
	{ "advice is never told", { { 0, A, FILLING, 1 }, { 9000, TICK, 0, 0 }, { 9900, CLEAR, FILLING, 2 } }, "" },
	{ "fallen to advice is over", { { 0, A, EXHAUSTED, 1 }, { 9000, W, FILLING, 2 }, { 9900, CLEAR, FILLING, 3 } },
	    " all:trigger/warning all:resolve/advice" },
	{ "back within the grace time",
	    { { 0, C, FILLING, 1 }, { 60, CLEAR, FILLING, 2 }, { 359, C, FILLING, 3 } },
	    " all:trigger/critical page:trigger/critical all:resolve/critical page:resolve/critical all:trigger/critical"
	    " page:trigger/critical" },
	{ "rising again soon is an update only",
	    { { 0, C, FILLING, 1 }, { 60, W, FILLING, 2 }, { 100, TICK, 0, 0 }, { 200, C, FILLING, 3 } },
	    " all:trigger/critical page:trigger/critical all:update/warning" },
	{ "rising again late escalates",
	    { { 0, C, FILLING, 1 }, { 60, W, FILLING, 2 }, { 400, TICK, 0, 0 }, { 500, C, FILLING, 3 } },
	    " all:trigger/critical page:trigger/critical all:update/warning all:escalate/critical page:escalate/critical" },
	{ "blind keeps firing", { { 0, W, FILLING, 1 }, { 60, BLIND, FILLING, 2 }, { 90, BLIND, FILLING, 3 }, { 120, W, FILLING, 4 } },
	    " all:trigger/warning all:update/warning all:update/warning" },
	{ "gone keeps firing until it is well", { { 0, W, FILLING, 1 }, { 60, GONE, FILLING, 2 }, { 9000, CLEAR, FILLING, 4 } },
	    " all:trigger/warning all:update/warning all:resolve/warning" },
	{ "gone and closed by a person", { { 0, W, FILLING, 1 }, { 60, GONE, FILLING, 2 }, { 90, CLOSE, 0, 0 } },
	    " all:trigger/warning all:update/warning all:resolve/warning" },
	{ "repeats until acknowledged",
	    { { 0, C, FILLING, 1 }, { 3599, TICK, 0, 0 }, { 3600, TICK, 0, 0 }, { 3601, TICK, 0, 0 }, { 7300, TICK, 0, 0 }, { 14400, TICK, 0, 0 },
		{ 14500, ACK, 0, 0 }, { 40000, TICK, 0, 0 } },
	    " all:trigger/critical page:trigger/critical all:repeat/critical all:repeat/critical all:repeat/critical"
	    " page:repeat/critical all:acknowledge/critical" },
	{ "a restart repeats nothing and forgets nothing",
	    { { 0, C, FILLING, 1 }, { 3600, TICK, 0, 0 }, { 3601, RESTART, 0, 0 }, { 3602, TICK, 0, 0 }, { 7199, TICK, 0, 0 }, { 7200, RESTART, 0, 0 },
		{ 7201, TICK, 0, 0 }, { 7202, CLEAR, FILLING, 2 }, { 7203, RESTART, 0, 0 }, { 7204, C, FILLING, 3 } },
	    " all:trigger/critical page:trigger/critical all:repeat/critical all:repeat/critical all:resolve/critical"
	    " page:resolve/critical all:trigger/critical page:trigger/critical" },
	{ "escalation takes the acknowledgement back",
	    { { 0, W, FILLING, 1 }, { 10, ACK, 0, 0 }, { 3700, TICK, 0, 0 }, { 3800, C, FILLING, 2 }, { 7500, TICK, 0, 0 } },
	    " all:trigger/warning all:acknowledge/warning all:escalate/critical page:trigger/critical all:repeat/critical" },
	{ "batches that the store holds change nothing",
	    { { 0, C, FILLING, 5 }, { 60, CLEAR, FILLING, 6 }, { 61, RESTART, 0, 0 }, { 62, C, FILLING, 5 }, { 63, CLEAR, FILLING, 6 },
		{ 64, TICK, 0, 0 } },
	    " all:trigger/critical page:trigger/critical all:resolve/critical page:resolve/critical" },
	{ "told again what is known already",
	    { { 0, C, FILLING, 5 }, { 1, RESTART, 0, 0 }, { 2, C, FILLING, 6 }, { 3, C, FILLING, 7 }, { 4, TICK, 0, 0 } },
	    " all:trigger/critical page:trigger/critical" },
	{ "flapping is held back",
	    { { 0, W, FILLING, 1 }, { 60, CLEAR, FILLING, 2 }, { 120, W, FILLING, 3 }, { 180, CLEAR, FILLING, 4 },
		{ 240, W, FILLING, 5 }, { 300, CLEAR, FILLING, 6 }, { 360, W, FILLING, 7 }, { 420, CLEAR, FILLING, 8 },
		{ 480, W, FILLING, 9 }, { 540, CLEAR, FILLING, 10 }, { 600, W, FILLING, 11 }, { 700, TICK, 0, 0 },
		/* Half an hour after the last: how things stand. It counts as told then. */
		{ 2099, TICK, 0, 0 }, { 2100, TICK, 0, 0 }, { 2160, CLEAR, FILLING, 12 }, { 3899, TICK, 0, 0 }, { 3900, TICK, 0, 0 } },
	    " all:trigger/warning all:resolve/warning all:trigger/warning all:resolve/warning all:trigger/warning"
	    " all:resolve/warning all:trigger/warning all:resolve/warning" },
	{ "a silent host speaks of nothing else",
	    { { 0, W, FILLING, 1 }, { 60, C, SILENT, 0 }, { 70, C, EXHAUSTED, 0 }, { 80, C, PF, 0 }, { 3700, TICK, 0, 0 }, { 3800, CLEAR, PF, 0 },
		{ 3900, CLEAR, SILENT, 0 } },
	    " all:trigger/warning all:trigger/critical page:trigger/critical all:repeat/critical all:resolve/critical"
	    " all:escalate/critical page:resolve/critical page:trigger/critical" },
	{ "gives a host up after 30 days",
	    { { 0, W, FILLING, 1 }, { 60, C, SILENT, 0 }, { 60, TICK, 0, 0 }, { 61, RESTART, 0, 0 }, { 60 + 30 * DAY + 1, TICK, 0, 0 }, { 31 * DAY, TICK, 0, 0 } },
	    " all:trigger/warning all:trigger/critical page:trigger/critical all:resolve/critical all:resolve/warning"
	    " page:resolve/critical" },
	{ "an outage is told once",
	    { { 0, C, SILENT, 0 }, { 600, CLEAR, SILENT, 0 }, { 100, LATE_C, EXHAUSTED, 11 }, { 200, LATE_C, PF, 12 },
		{ 300, LATE_CLEAR, EXHAUSTED, 13 }, { 601, TICK, 0, 0 }, { 602, RESTART, 0, 0 }, { 300, LATE_CLEAR, EXHAUSTED, 13 },
		{ 320, LATE_C, EXHAUSTED, 14 }, { 340, LATE_CLEAR, EXHAUSTED, 15 }, { 610, TICK, 0, 0 }, { 1199, TICK, 0, 0 }, { 1203, TICK, 0, 0 },
		{ 1204, RESTART, 0, 0 }, { 1300, TICK, 0, 0 }, { 320, LATE_C, EXHAUSTED, 14 }, { 2000, TICK, 0, 0 } },
	    " all:trigger/critical page:trigger/critical all:resolve/critical page:resolve/critical all:was/critical"
	    " page:was/critical" },
	{ "an outage is told when its backlog is there",
	    { { 0, LATE_C, EXHAUSTED, 11 }, { 10, LATE_CLEAR, EXHAUSTED, 12 }, { 300, TICK, 0, 0 }, { 301, BACKLOG_DONE, 0, 0 },
		{ 302, TICK, 0, 0 }, { 1000, TICK, 0, 0 } },
	    " all:was/critical page:was/critical" },
	{ "backlog of what was told before is not news",
	    { { 0, C, EXHAUSTED, 20 }, { 30, LATE_C, EXHAUSTED, 10 }, { 40, LATE_CLEAR, EXHAUSTED, 11 }, { 600, TICK, 0, 0 } },
	    " all:trigger/critical page:trigger/critical" },
	{ "warnings of the backlog are history",
	    { { 0, TICK, 0, 0 }, { 10, LATE_CLEAR, PF, 10 }, { 600, TICK, 0, 0 } }, "" },
};

START_TEST(life)
{
	const struct step *s = lives[_i].steps;
	uint64_t latest = 0;

	for (; s->op != END; s++) {
		now_s = s->at;
		do_step(s);
		/* The end of a batch. */
		if (s[1].op == END || s[1].sequence != s->sequence || s->sequence == 0) {
			ck_assert_int_eq(alerts_commit(alerts), 0);
			latest = now_s > latest ? now_s : latest;
			now_s = latest;
			collect();
		}
	}
	ck_assert_msg(strcmp(buf_str(&told), lives[_i].told) == 0, "%s: told%s", lives[_i].name, buf_str(&told));
}
END_TEST

START_TEST(what_an_incident_says)
{
	struct found f;
	struct outbox_row *rows = NULL;
	size_t n = 0;

	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 1);
	now_s = 30;
	event(EXHAUSTED, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, 2);
	ck_assert_int_eq(alerts_commit(alerts), 0);
	f = incidents();
	ck_assert_uint_eq(f.n, 1);
	/* printf of the uuid's 16 bytes, "mbuf", NUL, the object | sha256sum */
	ck_assert_str_eq(f.mbuf->key, "2e07e765ee37c99adb66937dc73521b6");
	ck_assert_ptr_eq(alerts_find(alerts, f.mbuf->key), f.mbuf);
	ck_assert_ptr_null(alerts_find(alerts, "nonsense"));
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_int_eq(store_outbox_due(store, "page", START + DAY * NSEC_PER_SEC, 1, &rows, &n), 0);
	ck_assert_uint_eq(n, 1);
	json_error_t error;
	json_t *o = json_loads(rows[0].payload, 0, &error);
	ck_assert_ptr_nonnull(o);
	const char *status, *level, *worst, *host, *uuid, *role, *site, *object, *label, *summary, *opened;
	const char *rule0, *rule1, *doc, *source, *since, *summary1, *remedy, *line_labels;
	json_int_t version, opened_unix;
	double value, threshold, used, limit;
	ck_assert_int_eq(json_unpack_ex(o, &error, 0,
			     "{s:I, s:s, s:s, s:s, s:{s:s, s:s, s:{s:s, s:s}}, s:s, s:{s:s}, s:s, s:s, s:I, s:[{s:s}, {s:s, s:s, s:s,"
			     " s:s, s:s, s:s, s:s, s:F, s:F, s:F, s:F}!]}",
			     "version", &version, "status", &status, "level", &level, "worst_level", &worst, "host", "name", &host,
			     "uuid", &uuid, "labels", "role", &role, "site", &site, "object", &object, "labels", "pool", &label,
			     "summary", &summary, "opened", &opened, "opened_unix", &opened_unix, "lines", "rule", &rule0, "rule",
			     &rule1, "document", &doc, "threshold_source", &source, "since", &since, "summary", &summary1, "remedy",
			     &remedy, "labels", &line_labels, "value", &value, "threshold", &threshold, "used", &used, "limit", &limit),
	    0);
	ck_assert_int_eq(version, 1);
	ck_assert_str_eq(status, "open");
	ck_assert_str_eq(level, "critical");
	ck_assert_str_eq(worst, "critical");
	ck_assert_str_eq(host, "mx1");
	ck_assert_str_eq(uuid, "01020300-0000-0000-0000-000000000000");
	ck_assert_str_eq(role, "mail");
	ck_assert_str_eq(site, "?"); /* no UTF-8 */
	ck_assert_str_eq(object, "pool=\"cluster\"");
	ck_assert_str_eq(label, "cluster");
	ck_assert_str_eq(summary, "full"); /* the worst speaks */
	ck_assert_str_eq(opened, "2023-11-14T22:13:20.000Z");
	ck_assert_int_eq(opened_unix, 1700000000);
	ck_assert_str_eq(rule0, "exhausted");
	ck_assert_str_eq(rule1, "filling");
	ck_assert_str_eq(doc, "X520");
	ck_assert_str_eq(source, "ours");
	ck_assert_str_eq(since, "2023-11-14T22:13:20.000Z");
	ck_assert_str_eq(summary1, "mx1: 0.9 of it");
	ck_assert_str_eq(remedy, "r");
	ck_assert_str_eq(line_labels, "pool=\"cluster\"");
	ck_assert(value == 0.9 && threshold == 0.75 && used == 36000 && limit == 48000);
	ck_assert_ptr_null(json_object_get(json_array_get(json_object_get(o, "lines"), 0), "seconds_to_limit"));
	json_decref(o);
	store_outbox_free(rows, n);
}
END_TEST

START_TEST(stored_form_comes_back)
{
	struct found before, after;
	char *a = NULL, *b = NULL;

	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 1);
	event(EXHAUSTED, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, 1);
	now_s = 30;
	event(EXHAUSTED, RULE_OK, RULE_LEVEL_NONE, false, false, 2);
	event(FILLING, RULE_UNKNOWN, RULE_LEVEL_WARNING, false, false, 2);
	ck_assert_int_eq(alerts_commit(alerts), 0);
	ck_assert_int_eq(alerts_acknowledge(alerts, incidents().mbuf->key, "ann \"a\"", START), 0);
	before = incidents();
	ck_assert_uint_eq(before.mbuf->n_lines, 2);
	ck_assert_uint_eq(before.mbuf->blind_since_ns, START + 30 * NSEC_PER_SEC);
	ck_assert_int_eq(incident_write(before.mbuf, NULL, &a), 0);
	close_all();
	open_all();
	after = incidents();
	ck_assert_int_eq(incident_write(after.mbuf, NULL, &b), 0);
	ck_assert_str_eq(a, b);
	free(a);
	free(b);
}
END_TEST

static const char *const no_incidents[] = { "", "{}", "[]", "{\"key\":1}", "{\"key\":\"0123456789abcdef0123456789abcdef\"}",
	"{\"key\":\"0123456789abcdef0123456789abcdef\",\"state\":{},\"host\":{\"uuid\":\"01\"}}",
	("{\"key\":\"0123456789abcdef0123456789abcdef\",\"state\":{},"
	 "\"host\":{\"uuid\":\"01020300-0000-0000-0000-000000000000\"},\"lines\":[3]}") };

START_TEST(unreadable_incidents_are_counted)
{
	struct incident i;
	struct store_incident row = { .key = "0123456789abcdef0123456789abcdef", .json = no_incidents[_i] };
	struct store_change change = { .incidents = &row, .n_incidents = 1, .wall_ns = START };
	size_t unreadable = 0;

	ck_assert_int_eq(incident_read(no_incidents[_i], &i), HIWAT_E_FORMAT);
	ck_assert_int_eq(store_put(store, &change), 0);
	ck_assert_int_eq(store_flush(store), 0);
	alerts_free(alerts);
	alerts = alerts_new(store, routes, 2, START, &unreadable);
	ck_assert_ptr_nonnull(alerts);
	ck_assert_uint_eq(unreadable, 1);
}
END_TEST

/* More rules than an incident has lines: the worst stay. */
START_TEST(lines_are_bounded)
{
	struct incident i = { 0 };
	struct incident_line *line;
	char id[16];

	for (int k = 0; k < 40; k++) {
		snprintf(id, sizeof(id), "r%d", k);
		int err = incident_add_line(&i, id, "", k % 2 == 0 ? RULE_LEVEL_WARNING : RULE_LEVEL_CRITICAL, &line);
		if (err == 0) {
			line->status = RULE_FIRING;
			ck_assert(incident_settle(&i));
		} else {
			ck_assert_int_eq(err, HIWAT_E_FULL);
		}
	}
	ck_assert_uint_eq(i.n_lines, INCIDENT_LINES_MAX);
	for (size_t k = 0; k < i.n_lines; k++)
		ck_assert_int_eq(i.lines[k].level, RULE_LEVEL_CRITICAL);
	i.lines[15].status = RULE_OK;
	ck_assert_int_eq(incident_add_line(&i, "new", "", RULE_LEVEL_ADVICE, &line), 0);
	incident_fini(&i);
}
END_TEST

START_TEST(what_people_may_not_do)
{
	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 1);
	ck_assert_int_eq(alerts_commit(alerts), 0);
	ck_assert_int_eq(alerts_close(alerts, incidents().mbuf->key, "ann", START), HIWAT_E_REJECTED);
	ck_assert_int_eq(alerts_acknowledge(alerts, "0123456789abcdef0123456789abcdef", "ann", START), HIWAT_E_NODATA);
	ck_assert_int_eq(alerts_acknowledge(alerts, "x", "ann", START), HIWAT_E_NODATA);
	size_t open[RULE_LEVEL_CRITICAL + 1];
	alerts_count(alerts, open);
	ck_assert_uint_eq(open[RULE_LEVEL_WARNING], 1);
	ck_assert_uint_eq(open[RULE_LEVEL_CRITICAL], 0);
}
END_TEST

static const char rule_text[] = "rules:\n"
				"  - id: states\n"
				"    cause: pf\n"
				"    threshold_source: ours\n"
				"    reason: r\n"
				"    summary: s\n"
				"    critical: hiwat_pf_states > 100\n"
				"  - id: host-silent\n"
				"    cause: host\n"
				"    threshold_source: ours\n"
				"    reason: r\n"
				"    summary: s\n"
				"    builtin: silent\n"
				"    level: critical\n";

static struct alert_host
host_of(const struct rule_host *h)
{
	return (struct alert_host){ .uuid = { 1, 2, 3 }, .view = &h->view, .wall_ns = START + now_s * NSEC_PER_SEC };
}

static void
sample(struct rule_host *h, double states)
{
	struct alert_host host = host_of(h);
	size_t set = rule_host_begin(h, "pf");

	ck_assert(rule_host_put(h, set, "hiwat_pf_states", states));
	ck_assert_int_eq(rule_host_eval(h, set, (double)now_s + 1000, 10, VERDICT_OK), 0);
	for (unsigned k = 0; k < h->n_events; k++)
		ck_assert_int_eq(alerts_event(alerts, &host, &h->events[k]), 0);
	ck_assert_int_eq(alerts_commit(alerts), 0);
	collect();
}

/* What the rules hold true after a restart without their state, against incidents that were open before. */
START_TEST(reconciled_with_the_rules)
{
	static struct rule_host first, second;
	struct rule_set *set = NULL;
	struct buf errors;

	buf_init(&errors, 1000);
	ck_assert_msg(rule_set_parse("f", rule_text, sizeof(rule_text) - 1, &set, &errors) == 0, "%s", buf_str(&errors));
	buf_fini(&errors);
	rule_host_init(&first, set, "freebsd");
	sample(&first, 200);
	event(DENIED, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 0); /* of a rule that is gone */
	ck_assert_int_eq(alerts_commit(alerts), 0);
	collect();
	close_all();
	open_all();
	now_s = 60;
	struct alert_host host = host_of(&first);
	ck_assert_int_eq(alerts_reconcile(alerts, &host, set, first.state), 0);
	collect();
	ck_assert_str_eq(buf_str(&told),
	    " all:trigger/critical page:trigger/critical all:trigger/warning all:resolve/warning");
	/* Its incident lost, it comes back. */
	close_all();
	unlink(path);
	open_all();
	buf_reset(&told);
	ck_assert_int_eq(alerts_reconcile(alerts, &host, set, first.state), 0);
	collect();
	ck_assert_str_eq(buf_str(&told), " all:trigger/critical page:trigger/critical");
	rule_host_init(&second, set, "freebsd");
	sample(&second, 50);
	now_s = 70;
	event(SILENT, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, 0); /* true without the rules' doing */
	now_s = 80;
	host = host_of(&second);
	ck_assert_int_eq(alerts_reconcile(alerts, &host, set, second.state), 0);
	struct found f = incidents();
	ck_assert_uint_eq(f.n, 2);
	size_t open[RULE_LEVEL_CRITICAL + 1];
	alerts_count(alerts, open);
	ck_assert_uint_eq(open[RULE_LEVEL_CRITICAL], 1);
	rule_host_fini(&first);
	rule_host_fini(&second);
	rule_set_free(set);
}
END_TEST

#define BATCHES 60

/*
 * A child takes batches that open and end an incident in turn, and is killed. Its successor, which knows nothing but the
 * store, is sent all of them again. Both at random instants.
 */
static void
take_batches(int out)
{
	char *moved = NULL;
	size_t unreadable = 0;

	if (store_open(path, &store, &moved) != 0 || moved != NULL ||
	    (alerts = alerts_new(store, routes, ARRAY_LEN(routes), START, &unreadable)) == NULL || unreadable != 0)
		_exit(1);
	for (uint64_t n = 1; n <= BATCHES; n++) {
		struct host_view v = view();
		struct alert_host host = { .uuid = { 1, 2, 3 }, .view = &v, .stream = 77, .sequence = n,
			.wall_ns = START + n * 601 * NSEC_PER_SEC };
		struct rule_event e = { .rule = &rules[EXHAUSTED], .labels = pool, .object = pool,
			.status = n % 2 == 1 ? RULE_FIRING : RULE_OK, .level = n % 2 == 1 ? RULE_LEVEL_CRITICAL : RULE_LEVEL_NONE };

		if (alerts_event(alerts, &host, &e) != 0 || alerts_commit(alerts) != 0)
			_exit(1);
		if (n % 3 == 0 && store_flush(store) != 0)
			_exit(1);
		if (write(out, &n, sizeof(n)) != sizeof(n))
			_exit(1);
	}
	store_close(store);
	_exit(0);
}

START_TEST(killed_and_sent_again)
{
	unsigned seed = 4711, kills = 0;
	bool ended = false;

	close_all();
	while (!ended) {
		int fds[2], status;
		uint64_t n;

		ck_assert_int_eq(pipe(fds), 0);
		pid_t pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			close(fds[0]);
			take_batches(fds[1]);
		}
		close(fds[1]);
		seed = seed * 1103515245 + 12345;
		/* Batches that the store holds fly by; some of the new ones follow. */
		for (unsigned k = 1 + (seed >> 16) % (BATCHES + 15); k > 0; k--)
			if (read(fds[0], &n, sizeof(n)) != sizeof(n))
				break;
		nanosleep(&(struct timespec){ .tv_nsec = (long)(seed >> 8) % 1000000 }, NULL);
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		close(fds[0]);
		ended = WIFEXITED(status);
		ck_assert(!ended || WEXITSTATUS(status) == 0);
		kills += !ended;
	}
	ck_assert_uint_gt(kills, 0);
	open_all();
	now_s = BATCHES * 601;
	collect();
	struct buf expected;
	buf_init(&expected, 1 << 16);
	for (unsigned r = 0; r < ARRAY_LEN(routes); r++)
		for (unsigned n = 1; n <= BATCHES; n++)
			buf_printf(&expected, " %s:%s/critical", routes[r].name, n % 2 == 1 ? "trigger" : "resolve");
	ck_assert_str_eq(buf_str(&told), buf_str(&expected));
	buf_fini(&expected);
}
END_TEST

static Suite *
alert_suite(void)
{
	Suite *s = suite_create("alert");
	TCase *t = tcase_create("alert");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, life, 0, ARRAY_LEN(lives));
	tcase_add_test(t, what_an_incident_says);
	tcase_add_test(t, stored_form_comes_back);
	tcase_add_loop_test(t, unreadable_incidents_are_counted, 0, ARRAY_LEN(no_incidents));
	tcase_add_test(t, lines_are_bounded);
	tcase_add_test(t, what_people_may_not_do);
	tcase_add_test(t, reconciled_with_the_rules);
	tcase_add_test(t, killed_and_sent_again);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(alert_suite)
