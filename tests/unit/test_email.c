/* The sink email against an SMTP server (tests/lib/mail_server.py), what it got parsed by Python's email package. */
#include "unit.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "incident_json.h"
#include "pki.h"
#include "sinks.h"

#define PASSWORD "p ss:w\u00f6rd"

static char dir[64], ca[96], cert[96], key[96], out[96], secret[96], url[64];
static const char *to[] = { "ops@example.org", "night@example.org" };
static struct pki *pki;
static pid_t server;

static void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void
start(const char *mode)
{
	char program[] = TEST_DATA "/lib/mail_server.py", python[] = "/usr/bin/python3", word[16];
	char *const argv[] = { python, program, word, cert, key, out, NULL };
	posix_spawn_file_actions_t actions;
	unsigned port = 0;
	int fds[2];

	snprintf(word, sizeof(word), "%s", mode);
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0); /* it warns of what is wanted here */
	ck_assert_int_eq(posix_spawn(&server, argv[0], &actions, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	FILE *f = fdopen(fds[0], "r");
	ck_assert_int_eq(fscanf(f, "%u", &port), 1);
	fclose(f);
	snprintf(url, sizeof(url), "%s://127.0.0.1:%u", strcmp(mode, "smtps") == 0 ? "smtps" : "smtp", port);
}

static void
setup(void)
{
	time_t now = time(NULL);

	snprintf(dir, sizeof(dir), "%s/hiwat-email-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(ca, sizeof(ca), "%s/ca.crt", dir);
	snprintf(cert, sizeof(cert), "%s/mail.crt", dir);
	snprintf(key, sizeof(key), "%s/mail.key", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	snprintf(secret, sizeof(secret), "%s/secret", dir);
	write_file(secret, PASSWORD "\n");
	write_file(out, "");
	pki = pki_new(dir);
	pki_issue(pki, "mail", now - 3600, now + 3600);
}

static void
teardown(void)
{
	if (server > 0) {
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
	}
	server = 0;
	pki_free(pki);
	unlink(out);
	unlink(secret);
	rmdir(dir);
}

static struct route
route_of(bool with_user)
{
	return (struct route){
		.name = "mail",
		.sink = "email",
		.url = url,
		.user = with_user ? "hiwat" : "",
		.secret_file = with_user ? secret : "",
		.ca_file = ca,
		.from = "hiwat@example.org",
		.to = to,
		.n_to = ARRAY_LEN(to),
		.public_url = "https://hiwat.example.org",
		.timeout_ms = 20000,
	};
}

#define EVIL "<b>x</b>&amp;\r\nBcc: victim@example.org\r\n.\r\nQUIT\r\n\u202e \u00e4\u20ac"

static struct incident
make_incident(const char *host, const char *summary)
{
	static const uint8_t uuid[16] = { 7 };
	struct incident i = { .status = INCIDENT_OPEN, .level = RULE_LEVEL_CRITICAL, .worst_level = RULE_LEVEL_CRITICAL };
	struct incident_line *line = NULL;
	uint8_t hash[16];

	ck_assert_int_eq(incident_hash(uuid, "mbuf", "", hash), 0);
	incident_key_text(hash, i.key);
	i.opened_ns = i.changed_ns = UINT64_C(1796122800) * NSEC_PER_SEC;
	i.generation = 1796122801;
	ck_assert_int_eq(incident_add_line(&i, "mbuf-denied", "", RULE_LEVEL_WARNING, &line), 0);
	ck_assert(incident_set(&line->summary, "the second line"));
	line->since_ns = i.opened_ns;
	line->status = RULE_FIRING;
	line->value = line->threshold = line->used = line->limit = line->seconds_to_limit = NAN;
	ck_assert_int_eq(incident_add_line(&i, "mbuf-full", "", RULE_LEVEL_CRITICAL, &line), 0);
	line->status = RULE_FIRING;
	line->since_ns = i.opened_ns;
	line->value = 0.75;
	line->threshold = 0.7;
	line->used = 36000;
	line->limit = 48000;
	line->seconds_to_limit = 7200;
	ck_assert(incident_set(&i.host_name, host) && incident_set(&i.host_os, "") && incident_set(&i.host_release, "") &&
	    incident_set(&i.host_labels_json, "{}") && incident_set(&i.labels_json, "{}") &&
	    incident_set(&i.cause, "mbuf") && incident_set(&i.object, "") && incident_set(&i.by, "") &&
	    incident_set(&i.told_routes, "") && incident_set(&line->summary, summary) &&
	    incident_set(&line->description, EVIL) && incident_set(&line->remedy, "sysctl kern.ipc.nmbclusters=96000") &&
	    incident_set(&line->reason, "why " EVIL) && incident_set(&line->doc, "tuning.md") &&
	    incident_set(&line->threshold_source, "ours"));
	incident_settle(&i);
	return i;
}

static enum delivery
send_by(const struct route *route, const struct incident *i, const char *event, struct buf *why)
{
	struct notice notice = { .incident_key = i->key, .generation = i->generation, .event = event };
	uint64_t retry_after = 0;
	char *json = NULL;
	void *state = NULL;

	ck_assert_int_eq(incident_write(i, event, &json), 0);
	notice.json = json;
	buf_reset(why);
	ck_assert_msg(sink_email.open(route, &state, why) == 0, "%s", buf_str(why));
	enum delivery result = sink_email.send(state, route, &notice, why, &retry_after);
	sink_email.close(state);
	free(json);
	return result;
}

/* The n-th message that arrived; owned. NULL when there is none. */
static json_t *
message(unsigned n)
{
	static char line[1 << 20];
	FILE *f = fopen(out, "r");
	bool there = true;

	for (unsigned i = 0; there && i <= n; i++)
		there = fgets(line, sizeof(line), f) != NULL;
	fclose(f);
	return there ? json_loads(line, 0, NULL) : NULL;
}

static const char *
text(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s != NULL ? s : "(none)";
}

static const struct {
	const char *mode;
	bool with_user, no_starttls, tls;
} ways[] = { { "starttls", true, false, true }, { "smtps", true, false, true }, { "plain", false, true, false } };

START_TEST(arrives)
{
	struct incident incident = make_incident("db1.example.org", "mbufs 75 % used");
	struct route route = route_of(ways[_i].with_user);
	struct buf why;

	start(ways[_i].mode);
	route.no_starttls = ways[_i].no_starttls;
	buf_init(&why, 1000);
	enum delivery result = send_by(&route, &incident, "trigger", &why);
	ck_assert_msg(result == DELIVERY_DONE, "%s", buf_str(&why));
	incident.generation++;
	incident.status = INCIDENT_RESOLVED;
	incident.resolved_ns = incident.opened_ns + 60 * NSEC_PER_SEC;
	ck_assert_int_eq(send_by(&route, &incident, "resolve", &why), DELIVERY_DONE);
	json_t *m = message(0), *end = message(1);
	const json_t *h = json_object_get(m, "headers"), *h_end = json_object_get(end, "headers");
	ck_assert_str_eq(text(m, "from"), "hiwat@example.org");
	ck_assert_uint_eq(json_array_size(json_object_get(m, "to")), 2);
	ck_assert_int_eq(json_is_true(json_object_get(m, "tls")), ways[_i].tls);
	ck_assert_str_eq(text(m, "user"), ways[_i].with_user ? "hiwat" : "");
	ck_assert_str_eq(text(m, "type"), "multipart/alternative");
	ck_assert_str_eq(text(h, "subject"), "[critical] db1.example.org: mbufs 75 % used");
	ck_assert_str_eq(text(h_end, "subject"), "[resolved] db1.example.org: mbufs 75 % used");
	ck_assert_str_eq(text(h, "from"), "hiwat <hiwat@example.org>");
	ck_assert_str_eq(text(h, "to"), "ops@example.org, night@example.org");
	ck_assert_str_eq(text(h, "auto-submitted"), "auto-generated");
	ck_assert_str_eq(text(h, "precedence"), "bulk");
	ck_assert_str_eq(text(h, "x-hiwat-key"), incident.key);
	ck_assert_str_eq(text(h, "x-hiwat-event"), "trigger");
	ck_assert_str_ne(text(h, "message-id"), text(h_end, "message-id"));
	ck_assert_str_ne(text(h, "references"), "(none)");
	ck_assert_str_eq(text(h, "references"), text(h_end, "references"));
	ck_assert_str_eq(text(h, "references"), text(h_end, "in-reply-to"));
	ck_assert_ptr_nonnull(strstr(text(h, "date"), " +0000"));
	static const char *const rows[] = {
		"critical on db1.example.org\n",
		"since: 2026-12-01T11:00:00.000Z\n",
		"what: mbufs 75 % used\n",
		"value: 36000 of 48000 (75.0 %), threshold 0.7 (ours)\n",
		"time left: full in 2h at the present trend\n",
		"to do: sysctl kern.ipc.nmbclusters=96000\n",
		"document: tuning.md\n",
		"also: mbuf-denied, warning since 2026-12-01T11:00:00.000Z: the second line\n",
		"incident: https://hiwat.example.org/api/v1/alerts/",
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		ck_assert_msg(strstr(text(m, "text"), rows[i]) != NULL, "no %s in %s", rows[i], text(m, "text"));
	json_decref(m);
	json_decref(end);
	buf_fini(&why);
	incident_fini(&incident);
}
END_TEST

/* What hosts and rules write stays text: no header, no element, no end of the message, nothing but ASCII on the wire. */
START_TEST(hostile_texts)
{
	struct incident incident = make_incident("h\r\nBcc: victim@example.org", EVIL EVIL EVIL EVIL EVIL);
	struct incident plain = make_incident("h", "s");
	struct route route = route_of(false);
	struct buf why;

	start("plain");
	route.no_starttls = true;
	buf_init(&why, 1000);
	ck_assert_int_eq(send_by(&route, &incident, "trigger", &why), DELIVERY_DONE);
	ck_assert_int_eq(send_by(&route, &plain, "trigger", &why), DELIVERY_DONE);
	json_t *m = message(0), *other = message(1);
	const json_t *h = json_object_get(m, "headers");
	ck_assert_ptr_null(json_object_get(h, "bcc"));
	ck_assert_int_eq(json_integer_value(json_object_get(m, "n_headers")),
	    json_integer_value(json_object_get(other, "n_headers")));
	ck_assert_uint_eq(json_array_size(json_object_get(m, "to")), 2);
	ck_assert_uint_eq(json_array_size(json_object_get(m, "defects")), 0);
	ck_assert(json_is_true(json_object_get(m, "ascii")));
	ck_assert_int_le(json_integer_value(json_object_get(m, "longest")), 98);
	static const char subject[] =
	    "[critical] h  Bcc: victim@example.org: <b>x</b>&amp;  Bcc: victim@example.org  .  QUIT  ? \u00e4\u20ac<b>";
	ck_assert_msg(strncmp(text(h, "subject"), subject, strlen(subject)) == 0, "%s", text(h, "subject"));
	ck_assert_ptr_nonnull(
	    strstr(text(m, "text"), "more: <b>x</b>&amp;  Bcc: victim@example.org  .  QUIT  ? \u00e4\u20ac\n"));
	ck_assert_ptr_nonnull(strstr(text(m, "html"), "<b>x</b>&amp;  Bcc: victim@example.org  .  QUIT  ? \u00e4\u20ac"));
	ck_assert(json_equal(json_object_get(m, "tags"), json_object_get(other, "tags")));
	json_decref(m);
	json_decref(other);
	buf_fini(&why);
	incident_fini(&incident);
	incident_fini(&plain);
}
END_TEST

static const struct {
	const char *mode, *to[2], *password;
	bool with_user, no_starttls, trusted;
	enum delivery result;
	const char *why;
} troubles[] = {
	{ "starttls", { "550@x.org", NULL }, PASSWORD, true, false, true, DELIVERY_REFUSED, "status 550" },
	{ "starttls", { "451@x.org", NULL }, PASSWORD, true, false, true, DELIVERY_RETRY, "status 451" },
	{ "starttls", { "550@x.org", "ops@x.org" }, PASSWORD, true, false, true, DELIVERY_DONE, "" },
	{ "starttls", { "data-554@x.org", NULL }, PASSWORD, true, false, true, DELIVERY_REFUSED, "status 554" },
	{ "starttls", { "data-452@x.org", NULL }, PASSWORD, true, false, true, DELIVERY_RETRY, "status 452" },
	{ "starttls", { "ops@x.org", NULL }, "other", true, false, true, DELIVERY_RETRY, "status 535" },
	{ "starttls", { "ops@x.org", NULL }, PASSWORD, true, false, false, DELIVERY_RETRY, "certificate" },
	{ "smtps", { "ops@x.org", NULL }, PASSWORD, true, false, false, DELIVERY_RETRY, "certificate" },
	{ "plain", { "ops@x.org", NULL }, PASSWORD, false, false, true, DELIVERY_RETRY, "STARTTLS" },
};

START_TEST(trouble)
{
	struct incident incident = make_incident("h", "s");
	struct route route = route_of(troubles[_i].with_user);
	struct buf why;

	start(troubles[_i].mode);
	write_file(secret, troubles[_i].password);
	route.to = (const char *const *)troubles[_i].to;
	route.n_to = troubles[_i].to[1] != NULL ? 2 : 1;
	route.no_starttls = troubles[_i].no_starttls;
	if (!troubles[_i].trusted)
		route.ca_file = "";
	buf_init(&why, 1000);
	enum delivery result = send_by(&route, &incident, "trigger", &why);
	ck_assert_msg(result == troubles[_i].result, "%d: %s", result, buf_str(&why));
	ck_assert_msg(strstr(buf_str(&why), troubles[_i].why) != NULL, "%s", buf_str(&why));
	ck_assert_ptr_null(strstr(buf_str(&why), PASSWORD));
	json_t *m = message(0);
	ck_assert_int_eq(m != NULL, troubles[_i].result == DELIVERY_DONE);
	json_decref(m);
	buf_fini(&why);
	incident_fini(&incident);
}
END_TEST

START_TEST(no_clear_text_elsewhere)
{
	struct route route = route_of(false);
	struct buf why;
	void *state = NULL;

	route.url = "smtp://192.0.2.1:25";
	route.no_starttls = true;
	buf_init(&why, 1000);
	ck_assert_int_ne(sink_email.open(&route, &state, &why), 0);
	ck_assert_str_eq(buf_str(&why), "starttls: false is for a server on a loopback address");
	buf_fini(&why);
}
END_TEST

static Suite *
email_suite(void)
{
	Suite *s = suite_create("email");
	TCase *t = tcase_create("email");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, arrives, 0, ARRAY_LEN(ways));
	tcase_add_test(t, hostile_texts);
	tcase_add_loop_test(t, trouble, 0, ARRAY_LEN(troubles));
	tcase_add_test(t, no_clear_text_elsewhere);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(email_suite)
