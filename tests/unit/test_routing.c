/* Which routes an incident takes, and when. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "alert_fixture.h"
#include "err.h"
#include "hours.h"
#include "match.h"
#include "silences.h"

static const struct {
	const char *terms[3];
	bool holds;
} match_rows[] = {
	{ { NULL }, true }, { { "rule=pf-memory" }, true }, { { "rule=pf" }, false }, { { "rule=~pf-.*" }, true },
	{ { "rule=~pf" }, false }, /* the whole text */
	{ { "rule=~a|pf-memory|b" }, true }, { { "rule!~pf-.*" }, false }, { { "rule!=pf-memory" }, false },
	{ { "cause=pf", "level=critical" }, true }, { { "cause=pf", "level=warning" }, false },
	{ { "host=mx1", "os=FreeBSD", "release=~14.*" }, true }, { { "role=mail" }, true }, { { "role!=mail" }, false },
	{ { "role=~mail|file" }, true }, { { "rack=" }, true },                      /* not there */
	{ { "rack!=r1" }, true }, { { "rack=~.+" }, false }, { { "site=?" }, true }, /* what is no UTF-8 */
};

static const char *
count_terms(const char *const *terms, size_t *n)
{
	const char *why = NULL;

	for (*n = 0; *n < 3 && terms[*n] != NULL; (*n)++)
		why = why != NULL ? why : match_check(terms[*n]);
	return why;
}

START_TEST(conditions)
{
	struct match *match = NULL;
	size_t n;

	event(PF, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, 0);
	ck_assert_ptr_null(count_terms(match_rows[_i].terms, &n));
	ck_assert_int_eq(match_new(match_rows[_i].terms, n, &match), 0);
	ck_assert_int_eq(match_incident(match, incidents().other), match_rows[_i].holds);
	match_free(match);
	ck_assert(match_incident(NULL, incidents().other));
}
END_TEST

/* A cleared line counts only when no line holds. */
START_TEST(conditions_on_rules_that_hold)
{
	static const char *const term[] = { "rule=filling" };
	struct match *match = NULL;

	ck_assert_int_eq(match_new(term, 1, &match), 0);
	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 0);
	event(DENIED, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, 0);
	ck_assert(match_incident(match, incidents().mbuf));
	event(FILLING, RULE_OK, RULE_LEVEL_NONE, false, false, 0);
	ck_assert(!match_incident(match, incidents().mbuf));
	event(DENIED, RULE_OK, RULE_LEVEL_NONE, false, false, 0);
	ck_assert(match_incident(match, incidents().mbuf));
	match_free(match);
}
END_TEST

static const char *const bad_terms[] = { "", "role", "=x", "a b=c", "{a}=b", "role=~(", "role!~[", "a!b", "a~b", "\"a\"=b" };

START_TEST(bad_conditions)
{
	struct match *match = NULL;

	ck_assert_ptr_nonnull(match_check(bad_terms[_i]));
	ck_assert_int_eq(match_new(&bad_terms[_i], 1, &match), HIWAT_E_CONFIG);
	ck_assert_ptr_null(match);
}
END_TEST

/* 2026-03-29 01:00 UTC summer begins in Berlin, 2026-10-25 01:00 UTC it ends. */
static const struct {
	const char *when, *zone, *utc;
	bool open;
} hours_rows[] = {
	{ "08:00-18:00", "UTC", "2026-12-01T07:59:59Z", false }, { "08:00-18:00", "UTC", "2026-12-01T08:00:00Z", true },
	{ "08:00-18:00", "UTC", "2026-12-01T17:59:59Z", true }, { "08:00-18:00", "UTC", "2026-12-01T18:00:00Z", false },
	{ "08:00-18:00", "Europe/Berlin", "2026-12-01T06:59:59Z", false },
	{ "08:00-18:00", "Europe/Berlin", "2026-12-01T07:00:00Z", true },
	{ "08:00-18:00", "Europe/Berlin", "2026-07-01T05:59:59Z", false },
	{ "08:00-18:00", "Europe/Berlin", "2026-07-01T06:00:00Z", true },
	{ "02:00-03:00", "Europe/Berlin", "2026-03-29T01:00:00Z", false }, /* does not exist that day */
	{ "02:00-03:00", "Europe/Berlin", "2026-10-25T00:30:00Z", true },  /* exists twice */
	{ "02:00-03:00", "Europe/Berlin", "2026-10-25T01:30:00Z", true },
	{ "mon-fri", "UTC", "2026-12-04T23:59:59Z", true }, /* a Friday */
	{ "mon-fri", "UTC", "2026-12-05T00:00:00Z", false }, { "mon-fri", "Asia/Tokyo", "2026-12-04T15:00:00Z", false },
	{ "sat,sun", "UTC", "2026-12-06T12:00:00Z", true }, { "fri-mon 10:00-24:00", "UTC", "2026-12-06T23:59:59Z", true },
	{ "fri-mon 10:00-24:00", "UTC", "2026-12-08T11:00:00Z", false },
	{ "fri 22:00-06:00", "UTC", "2026-12-04T22:00:00Z", true },
	{ "fri 22:00-06:00", "UTC", "2026-12-05T05:59:59Z", true },
	{ "fri 22:00-06:00", "UTC", "2026-12-05T06:00:00Z", false },
	{ "fri 22:00-06:00", "UTC", "2026-12-04T05:00:00Z", false },         /* of Thursday's night */
	{ "08:00-18:00", "America/New_York", "2040-07-01T12:00:00Z", true }, /* years ahead */
};

static uint64_t
utc_ns(const char *text)
{
	struct tm tm = { 0 };

	ck_assert_ptr_nonnull(strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm));
	return (uint64_t)timegm(&tm) * NSEC_PER_SEC;
}

START_TEST(hours_of_the_week)
{
	struct hours *hours = NULL;
	struct zone zone;

	ck_assert_ptr_null(hours_check(hours_rows[_i].when));
	ck_assert_ptr_null(zone_check(hours_rows[_i].zone));
	ck_assert_int_eq(zone_load(&zone, hours_rows[_i].zone, utc_ns("2026-12-01T00:00:00Z")), 0);
	ck_assert_int_eq(hours_new(&hours_rows[_i].when, 1, &zone, &hours), 0);
	ck_assert_msg(hours_contain(hours, utc_ns(hours_rows[_i].utc)) == hours_rows[_i].open, "%s %s", hours_rows[_i].when,
	    hours_rows[_i].utc);
	hours_free(hours);
	ck_assert(hours_contain(NULL, 0));
}
END_TEST

static const char *const bad_hours[] = { "", "monday", "mon-", "08:00", "8-18", "24:00-24:00", "08:00-25:00", "08:00-08:00",
	"08:60-09:00", "mon08:00-09:00", "mon 08:00-09:00 x", "08:00-09:00,10:00-11:00" };

START_TEST(bad_hours_are_refused)
{
	struct hours *hours = NULL;

	ck_assert_ptr_nonnull(hours_check(bad_hours[_i]));
	ck_assert_int_eq(hours_new(&bad_hours[_i], 1, &(struct zone){ 0 }, &hours), HIWAT_E_CONFIG);
}
END_TEST

START_TEST(zones_are_known)
{
	static const char *const bad[] = { "", "/etc/passwd", "../passwd", "Europe/Nowhere" };

	for (size_t k = 0; k < ARRAY_LEN(bad); k++)
		ck_assert_ptr_nonnull(zone_check(bad[k]));
	ck_assert_ptr_null(zone_check("UTC"));
}
END_TEST

/* Names of what the routes were told since the last call. */
static const char *
news(const struct alert_route *list, size_t n)
{
	static char text[512];
	size_t len = 0;

	ck_assert_int_eq(alerts_tick(alerts, START + now_s * NSEC_PER_SEC), 0);
	ck_assert_int_eq(store_flush(store), 0);
	text[0] = '\0';
	for (size_t r = 0; r < n; r++) {
		struct outbox_row *rows = NULL;
		size_t n_rows = 0;

		do {
			ck_assert_int_eq(store_outbox_due(store, list[r].name, START + (now_s + 1) * NSEC_PER_SEC, 9, &rows,
					     &n_rows),
			    0);
			for (size_t i = 0; i < n_rows; i++) {
				len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s:%s", len > 0 ? " " : "",
				    list[r].name, rows[i].event);
				ck_assert_int_eq(store_outbox_done(store, rows[i].id, START, NULL), 0);
			}
			store_outbox_free(rows, n_rows);
			ck_assert_int_eq(store_flush(store), 0);
		} while (n_rows > 0);
	}
	return text;
}

#define EIGHT (35200) /* START is 22:13:20 UTC: seconds to eight in the morning */

static struct match *matches[3];
static struct hours *day;

static void
make_routes(struct alert_route list[3])
{
	static const char *const mail[] = { "role=mail" }, *const pf[] = { "rule=~pf-.*" },
				 *const office[] = { "08:00-18:00" };

	ck_assert_int_eq(hours_new(office, 1, &(struct zone){ 0 }, &day), 0); /* without offsets: UTC */
	ck_assert_int_eq(match_new(mail, 1, &matches[1]), 0);
	ck_assert_int_eq(match_new(pf, 1, &matches[2]), 0);
	list[0] = (struct alert_route){ .name = "day",
		.min_level = RULE_LEVEL_WARNING,
		.hours = day,
		.expire_ns = DAY * NSEC_PER_SEC };
	list[1] = (struct alert_route){ .name = "mail",
		.min_level = RULE_LEVEL_WARNING,
		.match = matches[1],
		.expire_ns = DAY * NSEC_PER_SEC };
	list[2] = (struct alert_route){ .name = "pf",
		.min_level = RULE_LEVEL_WARNING,
		.match = matches[2],
		.expire_ns = DAY * NSEC_PER_SEC };
	alerts_set_routes(alerts, list, 3);
}

static void
drop_routes(void)
{
	alerts_set_routes(alerts, routes, ROUTES);
	match_free(matches[1]);
	match_free(matches[2]);
	hours_free(day);
}

START_TEST(each_by_its_own_routes)
{
	struct alert_route list[3];

	make_routes(list);
	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 0);
	ck_assert_str_eq(news(list, 3), "mail:trigger");
	event(PF, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, 0);
	ck_assert_str_eq(news(list, 3), "mail:trigger pf:trigger");
	now_s = 600;
	event(PF, RULE_OK, RULE_LEVEL_NONE, false, false, 0);
	ck_assert_str_eq(news(list, 3), "mail:resolve pf:resolve");
	/* The office opens: what still holds is told there, and only there; its end at any hour. */
	now_s = EIGHT - 1;
	ck_assert_str_eq(news(list, 3), "");
	now_s = EIGHT;
	ck_assert_str_eq(news(list, 3), "day:trigger");
	now_s = EIGHT + 1;
	ck_assert_str_eq(news(list, 3), "");
	now_s = EIGHT + 11 * HOUR;
	event(FILLING, RULE_OK, RULE_LEVEL_NONE, false, false, 0);
	ck_assert_str_eq(news(list, 3), "day:resolve mail:resolve");
	drop_routes();
}
END_TEST

START_TEST(taken_over_is_no_news_in_the_morning)
{
	struct alert_route list[3];

	make_routes(list);
	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 0);
	ck_assert_str_eq(news(list, 3), "mail:trigger");
	ck_assert_int_eq(alerts_acknowledge(alerts, incidents().mbuf->key, "somebody", START + NSEC_PER_SEC), 0);
	now_s = EIGHT;
	ck_assert_str_eq(news(list, 3), "");
	/* It becomes worse: then it is. */
	event(EXHAUSTED, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, 0);
	ck_assert_str_eq(news(list, 3), "day:trigger mail:escalate");
	drop_routes();
}
END_TEST

/* Who was told is known after a restart, whatever the order of the routes then. */
START_TEST(who_knows_is_stored)
{
	struct alert_route list[3], other[2];

	make_routes(list);
	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 0);
	ck_assert_str_eq(news(list, 3), "mail:trigger");
	close_all();
	open_all();
	other[0] = (struct alert_route){ .name = "new", .min_level = RULE_LEVEL_CRITICAL, .expire_ns = DAY * NSEC_PER_SEC };
	other[1] = list[1];
	alerts_set_routes(alerts, other, 2);
	now_s = 60;
	ck_assert_str_eq(news(other, 2), "");
	event(FILLING, RULE_OK, RULE_LEVEL_NONE, false, false, 0);
	ck_assert_str_eq(news(other, 2), "mail:resolve");
	drop_routes();
}
END_TEST

/* NULL, or why the silence was refused. */
static const char *
add_silence(const char *json, char id[SILENCE_ID_LEN + 1])
{
	static char text[256];
	struct silence *s = NULL;
	struct buf why;
	uint64_t now_ns = START + now_s * NSEC_PER_SEC;
	json_t *o = json_loads(json, 0, NULL);

	buf_init(&why, sizeof(text));
	int err = silence_from_json(o, alerts_zone(alerts), now_ns, false, &s, &why);
	json_decref(o);
	snprintf(text, sizeof(text), "%s", buf_str(&why));
	buf_fini(&why);
	if (err != 0)
		return text;
	if (id != NULL)
		memcpy(id, s->id, sizeof(s->id));
	ck_assert_int_eq(alerts_add_silence(alerts, s, now_ns), 0);
	return NULL;
}

/* START + 3600 is 1700003600. */
#define HOUR_LONG "\"by\": \"me\", \"comment\": \"work\", \"ends_unix\": 1700003600"

START_TEST(what_is_silenced_is_told_afterwards)
{
	ck_assert_ptr_null(add_silence("{\"match\": [\"rule=filling\"], " HOUR_LONG "}", NULL));
	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 0);
	event(PF, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, 0);
	ck_assert_str_eq(news(routes, ROUTES), "all:trigger page:trigger");
	ck_assert_uint_eq(strlen(incidents().mbuf->silence), SILENCE_ID_LEN);
	ck_assert_uint_eq(strlen(incidents().other->silence), 0);
	/* Also a restart changes nothing. */
	now_s = 3599;
	close_all();
	open_all();
	ck_assert_str_eq(news(routes, ROUTES), "");
	now_s = 3600;
	ck_assert_str_eq(news(routes, ROUTES), "all:trigger all:repeat");
}
END_TEST

START_TEST(the_end_of_what_was_told_is_told)
{
	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 0);
	ck_assert_str_eq(news(routes, ROUTES), "all:trigger");
	ck_assert_ptr_null(add_silence("{\"match\": [\"host=mx1\"], " HOUR_LONG "}", NULL));
	now_s = 60;
	event(EXHAUSTED, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, 0);
	ck_assert_str_eq(news(routes, ROUTES), "");
	now_s = 120;
	event(EXHAUSTED, RULE_OK, RULE_LEVEL_NONE, false, false, 0);
	event(FILLING, RULE_OK, RULE_LEVEL_NONE, false, false, 0);
	ck_assert_str_eq(news(routes, ROUTES), "all:resolve");
	/* What came and went while it was silenced is never told. */
	event(PF, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, 0);
	now_s = 600;
	event(PF, RULE_OK, RULE_LEVEL_NONE, false, false, 0);
	now_s = 7200;
	ck_assert_str_eq(news(routes, ROUTES), "");
}
END_TEST

START_TEST(a_silence_can_end_at_once)
{
	char id[SILENCE_ID_LEN + 1];
	const struct silence *s = NULL;

	ck_assert_ptr_null(add_silence("{\"match\": [\"role=mail\"], " HOUR_LONG "}", id));
	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 0);
	ck_assert_str_eq(news(routes, ROUTES), "");
	now_s = 60;
	ck_assert_int_eq(alerts_end_silence(alerts, "0123456789abcdef", START, &s), HIWAT_E_NODATA);
	ck_assert_int_eq(alerts_end_silence(alerts, id, START + now_s * NSEC_PER_SEC, &s), 0);
	ck_assert_str_eq(s->id, id);
	ck_assert_str_eq(news(routes, ROUTES), "all:trigger");
	/* One that has not begun can end too. */
	ck_assert_ptr_null(add_silence("{\"match\": [\"role=mail\"], \"begins_unix\": 1700003000, " HOUR_LONG "}", id));
	ck_assert_int_eq(alerts_end_silence(alerts, id, START + now_s * NSEC_PER_SEC, &s), 0);
	close_all();
	open_all();
	now_s = 3100; /* it would be in force */
	event(FILLING, RULE_OK, RULE_LEVEL_NONE, false, false, 0);
	ck_assert_str_eq(news(routes, ROUTES), "all:resolve");
	event(PF, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, 0);
	ck_assert_str_eq(news(routes, ROUTES), "all:trigger page:trigger");
}
END_TEST

START_TEST(windows_come_every_week)
{
	/* 22:13:20 on a Tuesday now. */
	ck_assert_ptr_null(add_silence("{\"match\": [\"host=mx1\"], \"hours\": [\"wed 02:00-04:00\"], \"by\": \"me\","
				       " \"comment\": \"backup\", \"ends_unix\": 1800000000}",
	    NULL));
	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 0);
	ck_assert_str_eq(news(routes, ROUTES), "all:trigger");
	now_s = 600;
	event(FILLING, RULE_OK, RULE_LEVEL_NONE, false, false, 0);
	ck_assert_str_eq(news(routes, ROUTES), "all:resolve");
	for (unsigned week = 0; week < 2; week++) {
		now_s = 13601 + week * 7 * DAY; /* 02:00:01 */
		event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 0);
		ck_assert_str_eq(news(routes, ROUTES), "");
		now_s += 7198;
		ck_assert_str_eq(news(routes, ROUTES), "");
		now_s += 1; /* 04:00 */
		ck_assert_str_eq(news(routes, ROUTES), "all:trigger");
		now_s += 600;
		event(FILLING, RULE_OK, RULE_LEVEL_NONE, false, false, 0);
		ck_assert_str_eq(news(routes, ROUTES), "all:resolve");
	}
}
END_TEST

/* For one host, whatever it is called, and no other. */
START_TEST(silence_of_a_host)
{
	ck_assert_ptr_null(add_silence("{\"host_uuid\": \"01020300-0000-0000-0000-000000000000\", " HOUR_LONG "}", NULL));
	event(FILLING, RULE_FIRING, RULE_LEVEL_WARNING, false, false, 0);
	ck_assert_str_eq(news(routes, ROUTES), "");
}
END_TEST

START_TEST(silences_are_bounded)
{
	struct silence *s = NULL;
	struct buf why;
	json_t *o = json_loads("{\"match\": [\"a=b\"], " HOUR_LONG "}", 0, NULL);

	buf_init(&why, 100);
	for (unsigned k = 0; k < SILENCES_MAX; k++)
		ck_assert_ptr_null(add_silence("{\"match\": [\"a=b\"], " HOUR_LONG "}", NULL));
	ck_assert_int_eq(silence_from_json(o, alerts_zone(alerts), START, false, &s, &why), 0);
	ck_assert_int_eq(alerts_add_silence(alerts, s, START), HIWAT_E_FULL);
	/* Those that have ended make room. */
	now_s = 3600;
	ck_assert_ptr_null(add_silence("{\"match\": [\"a=b\"], \"by\": \"me\", \"comment\": \"c\","
				       " \"ends_unix\": 1700007200}",
	    NULL));
	json_decref(o);
	buf_fini(&why);
}
END_TEST

static const struct {
	const char *json, *why;
} bad_silences[] = {
	{ "[]", "an object" },
	{ "{" HOUR_LONG "}", "match: at least one" },
	{ "{\"match\": \"a=b\", " HOUR_LONG "}", "match: a list" },
	{ "{\"match\": [\"a\"], " HOUR_LONG "}", "match, number 1: " },
	{ "{\"match\": [\"a=b\", 1], " HOUR_LONG "}", "match, number 2: a text" },
	{ "{\"match\": [\"a=b\"], \"hours\": [\"lunch\"], " HOUR_LONG "}", "hours, number 1: " },
	{ "{\"match\": [\"a=b\"], \"comment\": \"c\", \"ends_unix\": 1700003600}", "by: " },
	{ "{\"match\": [\"a=b\"], \"by\": \"me\", \"comment\": \"\", \"ends_unix\": 1700003600}", "comment: " },
	{ "{\"match\": [\"a=b\"], \"by\": \"me\", \"comment\": \"c\"}", "ends: " },
	{ "{\"match\": [\"a=b\"], \"by\": \"me\", \"comment\": \"c\", \"ends\": \"tomorrow\"}", "ends: a time" },
	{ "{\"match\": [\"a=b\"], \"by\": \"me\", \"comment\": \"c\", \"ends_unix\": 99999999999999999}", "ends: a time" },
	{ "{\"match\": [\"a=b\"], \"by\": \"me\", \"comment\": \"c\", \"ends_unix\": 1600000000}", "ends: a time after" },
	{ "{\"match\": [\"a=b\"], \"begins_unix\": 1700003600, " HOUR_LONG "}", "ends: a time after" },
	{ "{\"host_uuid\": \"x\", " HOUR_LONG "}", "host_uuid: " },
};

START_TEST(bad_silences_are_refused)
{
	const char *why = add_silence(bad_silences[_i].json, NULL);

	ck_assert_ptr_nonnull(why);
	ck_assert_msg(strstr(why, bad_silences[_i].why) != NULL, "%s", why);
}
END_TEST

static Suite *
routing_suite(void)
{
	Suite *s = suite_create("routing");
	TCase *t = tcase_create("incidents"), *plain = tcase_create("plain");

	tcase_add_checked_fixture(t, alert_setup, alert_teardown);
	tcase_add_loop_test(t, conditions, 0, ARRAY_LEN(match_rows));
	tcase_add_test(t, conditions_on_rules_that_hold);
	tcase_add_test(t, each_by_its_own_routes);
	tcase_add_test(t, taken_over_is_no_news_in_the_morning);
	tcase_add_test(t, who_knows_is_stored);
	tcase_add_test(t, what_is_silenced_is_told_afterwards);
	tcase_add_test(t, the_end_of_what_was_told_is_told);
	tcase_add_test(t, a_silence_can_end_at_once);
	tcase_add_test(t, windows_come_every_week);
	tcase_add_test(t, silence_of_a_host);
	tcase_add_test(t, silences_are_bounded);
	tcase_add_loop_test(t, bad_silences_are_refused, 0, ARRAY_LEN(bad_silences));
	suite_add_tcase(s, t);
	tcase_add_loop_test(plain, bad_conditions, 0, ARRAY_LEN(bad_terms));
	tcase_add_loop_test(plain, hours_of_the_week, 0, ARRAY_LEN(hours_rows));
	tcase_add_loop_test(plain, bad_hours_are_refused, 0, ARRAY_LEN(bad_hours));
	tcase_add_test(plain, zones_are_known);
	suite_add_tcase(s, plain);
	return s;
}

UNIT_MAIN(routing_suite)
