/* What an incident says, stores and holds; what rules and people do to it; kill -9. */
#include "unit.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alert_fixture.h"
#include "err.h"
#include "incident_json.h"
#include "rule_host.h"

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
	ck_assert_int_eq(
	    json_unpack_ex(o, &error, 0,
		"{s:I, s:s, s:s, s:s, s:{s:s, s:s, s:{s:s, s:s}}, s:s, s:{s:s}, s:s, s:s, s:I, s:[{s:s}, {s:s, s:s, s:s,"
		" s:s, s:s, s:s, s:s, s:F, s:F, s:F, s:F}!]}",
		"version", &version, "status", &status, "level", &level, "worst_level", &worst, "host", "name", &host,
		"uuid", &uuid, "labels", "role", &role, "site", &site, "object", &object, "labels", "pool", &label,
		"summary", &summary, "opened", &opened, "opened_unix", &opened_unix, "lines", "rule", &rule0, "rule", &rule1,
		"document", &doc, "threshold_source", &source, "since", &since, "summary", &summary1, "remedy", &remedy,
		"labels", &line_labels, "value", &value, "threshold", &threshold, "used", &used, "limit", &limit),
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
	alerts = alerts_new(store, routes, 2, NULL, START, &unreadable);
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
	    (alerts = alerts_new(store, routes, ROUTES, NULL, START, &unreadable)) == NULL || unreadable != 0)
		_exit(1);
	for (uint64_t n = 1; n <= BATCHES; n++) {
		struct host_view v = view();
		struct alert_host host = { .uuid = { 1, 2, 3 },
			.view = &v,
			.stream = 77,
			.sequence = n,
			.wall_ns = START + n * 601 * NSEC_PER_SEC };
		struct rule_event e = { .rule = &rules[EXHAUSTED],
			.labels = pool,
			.object = pool,
			.status = n % 2 == 1 ? RULE_FIRING : RULE_OK,
			.level = n % 2 == 1 ? RULE_LEVEL_CRITICAL : RULE_LEVEL_NONE };

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
	for (unsigned r = 0; r < ROUTES; r++)
		for (unsigned n = 1; n <= BATCHES; n++)
			buf_printf(&expected, " %s:%s/critical", routes[r].name, n % 2 == 1 ? "trigger" : "resolve");
	ck_assert_str_eq(buf_str(&told), buf_str(&expected));
	buf_fini(&expected);
}
END_TEST

static Suite *
incident_suite(void)
{
	Suite *s = suite_create("incident");
	TCase *t = tcase_create("incident");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, alert_setup, alert_teardown);
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

UNIT_MAIN(incident_suite)
