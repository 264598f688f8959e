/* The sinks by themselves: what an answer means, TLS, programs. */
#include "unit.h"

#include <fcntl.h>
#include <glob.h>
#include <gnutls/x509.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bad_server.h"
#include "buf.h"
#include "http_post.h"
#include "sinks.h"

static char dir[64], secret_path[96], program[96], out_path[96];

static void
write_file(const char *path, const char *data, size_t len, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	close(fd);
}

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "%s/hiwat-sinks-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(secret_path, sizeof(secret_path), "%s/secret", dir);
	snprintf(program, sizeof(program), "%s/program", dir);
	snprintf(out_path, sizeof(out_path), "%s/out", dir);
	write_file(secret_path, BAD_SERVER_SECRET, sizeof(BAD_SERVER_SECRET) - 1, 0600);
	ck_assert(bad_server_start(NULL, NULL));
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
}

static struct route
webhook_route(const char *name)
{
	return (struct route){
		.name = name,
		.sink = "webhook",
		.url = server.url,
		.secret_file = secret_path,
		.ca_file = "",
		.timeout_ms = 10000,
	};
}

/* What a program does with a notification, and what becomes of it. */
static const struct {
	const char *script;
	enum delivery result;
	const char *why;
} programs[] = {
	{ "cat > \"$1\"; printf ' %s %s %s' \"$HIWAT_EVENT\" \"$HIWAT_KEY\" \"$HIWAT_GENERATION\" >> \"$1\"", DELIVERY_DONE,
	    "" },
	{ "exec <&-; exit 0", DELIVERY_DONE, "" },
	{ "cat > /dev/null; echo no such pager >&2; echo more >&2; exit 1", DELIVERY_RETRY, "exit status 1: no such pager" },
	{ "exit 65", DELIVERY_REFUSED, "exit status 65" },
	{ "kill -TERM $$", DELIVERY_RETRY, "killed by signal 15" },
	{ "sleep 600", DELIVERY_RETRY, "not done after 300 ms, killed" },
	{ "sleep 1 & exit 0", DELIVERY_DONE, "" },
};

START_TEST(command_sink)
{
	const struct sink *sink = sink_find("command");
	const char *command[] = { program, out_path };
	struct route route = { .name = "p", .command = command, .n_command = 2, .timeout_ms = 300 };
	size_t size = _i == 0 || _i == 1 ? 300000 : 10; /* more than a pipe holds */
	char *json = malloc(size + 1);
	struct notice notice = { "00000000000000000000000000000007", 3, "trigger", json };
	struct buf why, text;
	void *state = NULL;
	uint64_t retry_after = 0;
	sigset_t pipe_signal, before;

	/* As in the notifier's threads. */
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
	memset(json, 'j', size);
	json[size] = '\0';
	if (_i == 0)
		route.timeout_ms = 60000;
	buf_init(&why, 400);
	buf_init(&text, 1000);
	buf_printf(&text, "#!/bin/sh\n%s\n", programs[_i].script);
	write_file(program, text.data, text.len, 0700);
	ck_assert_int_eq(sink->open(&route, &state, &why), 0);
	ck_assert_int_eq(sink->send(state, &route, &notice, &why, &retry_after), programs[_i].result);
	ck_assert_str_eq(buf_str(&why), programs[_i].why);
	sink->close(state);
	if (_i == 0) {
		static const char rest[] = " trigger 00000000000000000000000000000007 3";
		char *got = malloc(size + 100);
		int fd = open(out_path, O_RDONLY);
		ssize_t n = read(fd, got, size + 100);

		close(fd);
		ck_assert_int_eq(n, (ssize_t)(size + sizeof(rest) - 1));
		ck_assert_int_eq(memcmp(got, json, size), 0);
		ck_assert_int_eq(memcmp(got + size, rest, sizeof(rest) - 1), 0);
		free(got);
	}
	const struct timespec no_time = { 0 };
	sigtimedwait(&pipe_signal, NULL, &no_time);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	buf_fini(&why);
	buf_fini(&text);
	free(json);
}
END_TEST

/* What one answer means. */
static const struct {
	enum behaviour what;
	enum delivery result;
	uint64_t retry_after_ms;
	const char *why;
} answers[] = {
	{ OK, DELIVERY_DONE, 0, "" },
	{ STATUS_500, DELIVERY_RETRY, 0, "HTTP status 500" },
	{ STATUS_429, DELIVERY_RETRY, 1000, "HTTP status 429" },
	{ STATUS_400, DELIVERY_REFUSED, 0, "HTTP status 400" },
	{ REDIRECT, DELIVERY_RETRY, 0, "HTTP status 302, redirects are not followed" },
	{ ENDLESS, DELIVERY_DONE, 0, "" },
};

static enum delivery
send_one(const struct route *route, struct buf *why, uint64_t *retry_after)
{
	static const char json[] = "{\"key\":\"00000000000000000000000000000007\",\"generation\":3}";
	struct notice notice = { "00000000000000000000000000000007", 3, "trigger", json };
	void *state = NULL;

	ck_assert_int_eq(sink_webhook.open(route, &state, why), 0);
	enum delivery result = sink_webhook.send(state, route, &notice, why, retry_after);
	sink_webhook.close(state);
	return result;
}

START_TEST(webhook_answers)
{
	struct route route = webhook_route("r");
	uint64_t retry_after = 0;
	struct buf why;

	server.script = &answers[_i].what;
	server.n_script = 1;
	buf_init(&why, 400);
	ck_assert_int_eq(send_one(&route, &why, &retry_after), answers[_i].result);
	ck_assert_str_eq(buf_str(&why), answers[_i].why);
	ck_assert_uint_eq(retry_after, answers[_i].retry_after_ms);
	buf_fini(&why);
}
END_TEST

/* What a receiver writes becomes one clean line, and does not tell what is secret. */
static const struct {
	const char *reason, *why;
} reasons[] = {
	{ "", "HTTP status 400" },
	{ "invalid_payload\nmore", "HTTP status 400: invalid_payload" },
	{ "key R0UT1NG and R0UT1NG, not R0UT1N", "HTTP status 400: key (secret) and (secret), not R0UT1N" },
	{ "\x1b[31m \xff \u00e4\r\nmore", "HTTP status 400: ?[31m ? \u00e4" },
};

START_TEST(http_post_reasons)
{
	static const enum behaviour refuses = STATUS_400;
	struct route route = webhook_route("r");
	struct http_post *post = NULL;
	uint64_t retry_after = 0;
	struct buf why;

	server.script = &refuses;
	server.n_script = 1;
	server.reason = reasons[_i].reason;
	buf_init(&why, 400);
	const struct http_post_setup setup = { .url = server.url, .hidden = "R0UT1NG" };
	ck_assert_int_eq(http_post_new(&route, &setup, &post, &why), 0);
	ck_assert_int_eq(http_post_send(post, NULL, "{}", 2, &why, &retry_after), DELIVERY_REFUSED);
	ck_assert_str_eq(buf_str(&why), reasons[_i].why);
	http_post_free(post);
	buf_fini(&why);
}
END_TEST

/* A status that a sink lists refuses, others are tried again. */
START_TEST(http_post_refusing)
{
	static const enum behaviour script[] = { STATUS_500, STATUS_400 };
	static const unsigned refusing[] = { 404, 500, 0 };
	static const enum delivery results[] = { DELIVERY_REFUSED, DELIVERY_RETRY };
	struct route route = webhook_route("r");
	struct http_post *post = NULL;
	uint64_t retry_after = 0;
	struct buf why;

	server.script = script;
	server.n_script = 2;
	buf_init(&why, 400);
	const struct http_post_setup setup = { .url = server.url, .refusing = refusing };
	ck_assert_int_eq(http_post_new(&route, &setup, &post, &why), 0);
	for (size_t i = 0; i < 2; i++)
		ck_assert_int_eq(http_post_send(post, NULL, "{}", 2, &why, &retry_after), results[i]);
	http_post_free(post);
	buf_fini(&why);
}
END_TEST

/* A certificate for 127.0.0.1, or another address, signed by itself; as PEM. */
static void
make_certificate(const char *address, char *cert, char *key, size_t size)
{
	gnutls_x509_crt_t crt;
	gnutls_x509_privkey_t private;
	uint8_t ip[4] = { 127, 0, 0, (uint8_t)strtoul(address, NULL, 10) };
	size_t n = size;

	gnutls_x509_crt_init(&crt);
	gnutls_x509_privkey_init(&private);
	gnutls_x509_privkey_generate(private, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	gnutls_x509_crt_set_version(crt, 3);
	gnutls_x509_crt_set_serial(crt, "\1", 1);
	gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, address, (unsigned)strlen(address));
	gnutls_x509_crt_set_activation_time(crt, time(NULL) - 3600);
	gnutls_x509_crt_set_expiration_time(crt, time(NULL) + 3600);
	gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, ip, sizeof(ip), GNUTLS_FSAN_SET);
	gnutls_x509_crt_set_basic_constraints(crt, 1, -1);
	gnutls_x509_crt_set_key(crt, private);
	ck_assert_int_eq(gnutls_x509_crt_sign2(crt, crt, private, GNUTLS_DIG_SHA256, 0), 0);
	ck_assert_int_eq(gnutls_x509_crt_export(crt, GNUTLS_X509_FMT_PEM, cert, &n), 0);
	n = size;
	ck_assert_int_eq(gnutls_x509_privkey_export(private, GNUTLS_X509_FMT_PEM, key, &n), 0);
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(private);
}

static const struct {
	const char *address; /* last byte of the one in the server's certificate */
	bool trusted;
	enum delivery result;
} tls_rows[] = { { "1", true, DELIVERY_DONE }, { "1", false, DELIVERY_RETRY }, { "2", true, DELIVERY_RETRY } };

START_TEST(webhook_verifies_tls)
{
	static char cert[4096], key[4096], other[4096], other_key[4096];
	struct route route = webhook_route("r");
	char ca[96];
	uint64_t retry_after = 0;
	struct buf why;

	make_certificate(tls_rows[_i].address, cert, key, sizeof(cert));
	make_certificate("1", other, other_key, sizeof(other));
	bad_server_stop();
	ck_assert(bad_server_start(cert, key));
	snprintf(ca, sizeof(ca), "%s/ca.pem", dir);
	const char *trusted = tls_rows[_i].trusted ? cert : other;
	write_file(ca, trusted, strlen(trusted), 0600);
	route.url = server.url;
	route.ca_file = ca;
	buf_init(&why, 400);
	enum delivery result = send_one(&route, &why, &retry_after);
	ck_assert_int_eq(result, tls_rows[_i].result);
	ck_assert_uint_eq(server.n_seen, result == DELIVERY_DONE);
	ck_assert_int_eq(buf_str(&why)[0] == '\0', result == DELIVERY_DONE);
	buf_fini(&why);
}
END_TEST

static Suite *
sinks_suite(void)
{
	Suite *s = suite_create("sinks");
	TCase *t = tcase_create("sinks");

	tcase_set_timeout(t, 100);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, webhook_answers, 0, ARRAY_LEN(answers));
	tcase_add_loop_test(t, http_post_reasons, 0, ARRAY_LEN(reasons));
	tcase_add_test(t, http_post_refusing);
	tcase_add_loop_test(t, webhook_verifies_tls, 0, ARRAY_LEN(tls_rows));
	tcase_add_loop_test(t, command_sink, 0, ARRAY_LEN(programs));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(sinks_suite)
