/* The sampler of unbound over TLS, against a real unbound on loopback with keys made by unbound-control-setup(8). */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "err.h"
#include "resolver.h"
#include "sampled.h"
#include "tls.h"
#include "tree.h"

static struct tree dir, others;
static struct resolver unbound;
static char address[32];
static struct sampler_config config = SAMPLER_DEFAULTS;
static struct sampled sampled;

/* Keys take a second or two: made once for all tests. Those of a stranger look the same. */
static void
make_keys(void)
{
	char key[128], server[128], control[128];
	const char *const setup_argv[] = { "unbound-control-setup", "-d", dir.dir, NULL };
	const char *const argv[] = { "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
		"-nodes", "-subj", "/CN=unbound", "-days", "2", "-keyout", key, "-out", server, NULL };

	tree_make(&dir);
	tree_make(&others);
	resolver_run(&dir, setup_argv);
	snprintf(key, sizeof(key), "%s/unbound_control.key", others.dir);
	snprintf(server, sizeof(server), "%s/unbound_server.pem", others.dir);
	snprintf(control, sizeof(control), "%s/unbound_control.pem", others.dir);
	resolver_run(&others, argv);
	ck_assert_int_eq(link(server, control), 0);
}

static void
remove_keys(void)
{
	tree_remove(&dir);
	tree_remove(&others);
}

static void
setup(void)
{
	resolver_start_unbound_tls(&unbound, &dir);
	snprintf(address, sizeof(address), "127.0.0.1#%u", unbound.control_port);
	config.unbound_control_address = address;
	config.unbound_control_keys = dir.dir;
}

static void
teardown(void)
{
	resolver_stop(&unbound);
}

START_TEST(statistics_and_limits)
{
	sampled_open(&sampled, "dns", &config);
	ck_assert_msg(sampled_take(&sampled, 10) == HIWAT_OK, "%s", sampled.why.text);
	double queries = sampled_value(&sampled, "hiwat_dns_queries_total{server=\"unbound\"}");
	ck_assert_double_ge(queries, 1);
	ck_assert_double_gt(sampled_value(&sampled, "hiwat_dns_cache_limit_bytes{cache=\"message\",server=\"unbound\"}"), 0);
	resolver_ask_all(&unbound, "a.up.test", 5, 0);
	ck_assert_msg(sampled_take(&sampled, 20) == HIWAT_OK, "%s", sampled.why.text);
	ck_assert_double_eq(sampled_value(&sampled, "hiwat_dns_queries_total{server=\"unbound\"}"), queries + 5);
	resolver_stop(&unbound);
	ck_assert_int_eq(sampled_take(&sampled, 30), HIWAT_E_MISSING);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, address));
	sampled_close(&sampled);
}
END_TEST

/* The keys of another installation: neither side is believed. */
START_TEST(strangers_are_refused)
{
	char path[128], own[128];

	config.unbound_control_keys = others.dir;
	sampled_open(&sampled, "dns", &config);
	ck_assert_int_eq(sampled_take(&sampled, 10), HIWAT_E_REJECTED);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, address));
	sampled_close(&sampled);
	/* Who believes unbound is not yet believed by it. */
	snprintf(path, sizeof(path), "%s/unbound_server.pem", others.dir);
	snprintf(own, sizeof(own), "%s/unbound_server.pem", dir.dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(link(own, path), 0);
	sampled_open(&sampled, "dns", &config);
	int err = sampled_take(&sampled, 20);
	ck_assert_msg(err == HIWAT_E_REJECTED || err == HIWAT_E_TRUNCATED, "%s: %s", err_text(err), sampled.why.text);
	sampled_close(&sampled);
}
END_TEST

/* What holds the control key but not the server's has a certificate of the same authority: only its name tells. */
START_TEST(a_client_is_no_server)
{
	char ca[128], cert[128], key[128];
	struct fetch fetch;
	struct text out;

	snprintf(ca, sizeof(ca), "%s/unbound_server.pem", dir.dir);
	snprintf(cert, sizeof(cert), "%s/unbound_control.pem", dir.dir);
	snprintf(key, sizeof(key), "%s/unbound_control.key", dir.dir);
	struct tls_peer peer = { .address = "127.0.0.1",
		.port = unbound.control_port,
		.name = "unbound-control",
		.ca_file = ca,
		.cert_file = cert,
		.key_file = key };
	fetch_init(&fetch, NULL, 1 << 20);
	ck_assert_int_eq(fetch_tls(&fetch, &peer, TEXT("UBCT1 status\n"), 5000, &out), HIWAT_E_REJECTED);
	peer.name = "unbound";
	ck_assert_int_eq(fetch_tls(&fetch, &peer, TEXT("UBCT1 status\n"), 5000, &out), HIWAT_OK);
	ck_assert(text_starts(out, "version: "));
	fetch_fini(&fetch);
	/* An answer larger than believed. */
	fetch_init(&fetch, NULL, 16);
	ck_assert_int_eq(fetch_tls(&fetch, &peer, TEXT("UBCT1 status\n"), 5000, &out), HIWAT_E_TOOBIG);
	fetch_fini(&fetch);
}
END_TEST

static void
take_denied(void)
{
	sampled_open(&sampled, "dns", &config);
	int err = sampled_take(&sampled, 10);
	if (err != HIWAT_E_DENIED || strstr(sampled.why.text, "unbound_control.key: Permission denied") == NULL)
		fprintf(stderr, "%s: %s\n", err_text(err), sampled.why.text);
	bool is_named = strstr(sampled.why.text, "unbound_control.key: Permission denied") != NULL;
	/* Where nobody listens there is nothing to be denied. */
	config.unbound_control_address = "127.0.0.1#1";
	struct sampled other;
	sampled_open(&other, "dns", &config);
	_exit(err == HIWAT_E_DENIED && is_named && sampled_take(&other, 10) == HIWAT_E_MISSING ? 0 : 1);
}

/* The key is for root and unbound alone; in a process of an ordinary user, since root may read everything. */
START_TEST(a_key_that_may_not_be_read_is_denied)
{
	char path[128];
	int status = 0;

	snprintf(path, sizeof(path), "%s/unbound_control.pem", dir.dir);
	ck_assert_int_eq(chmod(path, 0644), 0);
	snprintf(path, sizeof(path), "%s/unbound_server.pem", dir.dir);
	ck_assert_int_eq(chmod(path, 0644), 0);
	snprintf(path, sizeof(path), "%s/unbound_control.key", dir.dir);
	ck_assert_int_eq(chmod(path, geteuid() == 0 ? 0600 : 0), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(2);
		take_denied();
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(status, 0);
}
END_TEST

static Suite *
suite(void)
{
	static const char *const programs[] = { "unbound", "unbound-control-setup", "openssl", NULL };
	Suite *s = suite_create("dns_tls");
	TCase *tc = tcase_create("dns_tls");

	resolver_need(programs);
	tcase_set_timeout(tc, 60);
	tcase_add_unchecked_fixture(tc, make_keys, remove_keys);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, statistics_and_limits);
	tcase_add_test(tc, strangers_are_refused);
	tcase_add_test(tc, a_client_is_no_server);
	tcase_add_test(tc, a_key_that_may_not_be_read_is_denied);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
