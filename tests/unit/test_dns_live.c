/* The DNS samplers against a real unbound on loopback. */
#include "unit.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "err.h"
#include "fetch.h"
#include "resolver.h"
#include "sampled.h"
#include "tree.h"

static struct tree dir;
static struct resolver unbound;
static char control[128];
static struct fetch fetch;
static struct sampled sampled;

static void
setup(void)
{
	tree_make(&dir);
	fetch_init(&fetch, NULL, 1 << 20);
	resolver_start_unbound(&unbound, &dir, "\tmsg-cache-size: 1m\n" RESOLVER_DEAD_ZONE);
	snprintf(control, sizeof(control), "%s/control", dir.dir);
}

static void
teardown(void)
{
	resolver_stop(&unbound);
	fetch_fini(&fetch);
	tree_remove(&dir);
}

START_TEST(counts_are_what_was_sent)
{
	struct sampler_config config = SAMPLER_DEFAULTS;

	config.unbound_control_socket = control;
	sampled_open(&sampled, "dns", &config);
	ck_assert_msg(sampled_take(&sampled, 10) == HIWAT_OK, "%s", sampled.why.text);
	double queries = sampled_value(&sampled, "hiwat_dns_queries_total{server=\"unbound\"}");
	double noerror = sampled_value(&sampled, "hiwat_dns_responses_total{rcode=\"NOERROR\",server=\"unbound\"}");
	double servfail = sampled_value(&sampled, "hiwat_dns_responses_total{rcode=\"SERVFAIL\",server=\"unbound\"}");
	double nxdomain = sampled_value(&sampled, "hiwat_dns_responses_total{rcode=\"NXDOMAIN\",server=\"unbound\"}");
	resolver_ask_all(&unbound, "a.up.test", 20, 0);
	resolver_ask_all(&unbound, "x%u.no.test", 7, 3);
	resolver_ask_all(&unbound, "d%u.dead.example", 3, 2);
	ck_assert_int_eq(sampled_take(&sampled, 20), HIWAT_OK);
	ck_assert_double_eq(sampled_value(&sampled, "hiwat_dns_queries_total{server=\"unbound\"}"), queries + 30);
	ck_assert_double_eq(sampled_value(&sampled, "hiwat_dns_responses_total{rcode=\"NOERROR\",server=\"unbound\"}"),
	    noerror + 20);
	ck_assert_double_eq(sampled_value(&sampled, "hiwat_dns_responses_total{rcode=\"NXDOMAIN\",server=\"unbound\"}"),
	    nxdomain + 7);
	ck_assert_double_eq(sampled_value(&sampled, "hiwat_dns_responses_total{rcode=\"SERVFAIL\",server=\"unbound\"}"),
	    servfail + 3);
	/* Another sample shows that sampling resets nothing. */
	ck_assert_int_eq(sampled_take(&sampled, 30), HIWAT_OK);
	ck_assert_double_eq(sampled_value(&sampled, "hiwat_dns_queries_total{server=\"unbound\"}"), queries + 30);
	ck_assert_double_eq(sampled_value(&sampled, "hiwat_dns_cache_limit_bytes{cache=\"message\",server=\"unbound\"}"),
	    1 << 20);
	ck_assert_double_ge(sampled_value(&sampled, "hiwat_dns_cache_bytes{cache=\"message\",server=\"unbound\"}"), 0);
	ck_assert_double_ge(sampled_value(&sampled, "hiwat_dns_cache_limit_entries{cache=\"infra\",server=\"unbound\"}"), 1);
	ck_assert_double_ge(sampled_value(&sampled, "hiwat_dns_setting{name=\"cache-max-ttl\",server=\"unbound\"}"), 1);
	resolver_stop(&unbound);
	ck_assert_int_eq(sampled_take(&sampled, 40), HIWAT_E_MISSING);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, control));
	sampled_close(&sampled);
}
END_TEST

START_TEST(probe_finds_and_remembers)
{
	struct sampler_config config = SAMPLER_DEFAULTS;

	config.state_dir = dir.dir;
	config.dns_port = unbound.port;
	sampled_open(&sampled, "dns_probe", &config);
	sampled_expect(&sampled, 10, "hiwat_dns_probe_success{server=\"unbound\"} 1\n");
	ck_assert_double_gt(sampled_value(&sampled, "hiwat_dns_probe_seconds{server=\"unbound\"}"), 0);
	resolver_stop(&unbound);
	sampled_expect(&sampled, 20,
	    "hiwat_dns_probe_success{server=\"unbound\"} 0\n!hiwat_dns_probe_seconds{server=\"unbound\"}\n");
	sampled_close(&sampled);
	/* Down when the agent starts: known to be down. */
	sampled_open(&sampled, "dns_probe", &config);
	sampled_expect(&sampled, 30, "hiwat_dns_probe_success{server=\"unbound\"} 0\n");
	sampled_close(&sampled);
	/* Without that memory this host has no resolver. */
	config.state_dir = NULL;
	sampled_open(&sampled, "dns_probe", &config);
	ck_assert_int_eq(sampled_take(&sampled, 40), HIWAT_E_MISSING);
	sampled_close(&sampled);
}
END_TEST

/* Accepts nobody, so that the connection stands and nothing comes. */
START_TEST(a_silent_control_socket_times_out)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct sampler_config config = SAMPLER_DEFAULTS;
	char path[100];
	struct text out = TEXT("untouched");

	snprintf(path, sizeof(path), "%s/silent", dir.dir);
	memcpy(a.sun_path, path, strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(fetch_unix(&fetch, path, TEXT("x\n"), 20, &out), HIWAT_E_TIMEOUT);
	ck_assert(text_eq(out, "untouched"));
	config.unbound_control_socket = path;
	sampled_open(&sampled, "dns", &config);
	ck_assert_int_eq(sampled_take(&sampled, 10), HIWAT_E_TIMEOUT);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, path));
	sampled_close(&sampled);
	close(fd);
}
END_TEST

/* A server that answers and is configured twice, one that is down and one that is there and silent. */
START_TEST(forwarders)
{
	struct sampler_config config = SAMPLER_DEFAULTS;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	char up[32], silent[32], down[] = "127.0.0.1#1", expected[1024];
	char *const addresses[] = { up, down, up, silent };

	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	snprintf(up, sizeof(up), "127.0.0.1#%u", unbound.port);
	snprintf(silent, sizeof(silent), "127.0.0.1#%u", ntohs(a.sin_port));
	config.state_dir = dir.dir;
	config.unbound_control_socket = control;
	config.dns_forwarders = addresses;
	config.n_dns_forwarders = 3;
	sampled_open(&sampled, "dns_forwarders", &config);
	for (unsigned i = 1; i <= 3; i++) {
		ck_assert_msg(sampled_take(&sampled, 30 * i) == HIWAT_OK, "%s", sampled.why.text);
		snprintf(expected, sizeof(expected), "hiwat_dns_upstream_queries_total{server=\"unbound\",upstream=\"%s\"}",
		    up);
		ck_assert_double_eq(sampled_value(&sampled, expected), i);
	}
	sampled_close(&sampled);
	/* The counts outlive the agent; a server that is new begins at 0. */
	config.n_dns_forwarders = 4;
	sampled_open(&sampled, "dns_forwarders", &config);
#define SERIES(metric) "hiwat_dns_upstream_" metric "_total{server=\"unbound\",upstream=\"%s\"} "
	snprintf(expected, sizeof(expected),
	    SERIES("queries") "4\n" SERIES("failures") "0\n" SERIES("queries") "4\n" SERIES("failures") "4\n" SERIES(
		"queries") "1\n" SERIES("failures") "1\n",
	    up, up, down, down, silent, silent);
#undef SERIES
	sampled_expect(&sampled, 10, expected);
	sampled_close(&sampled);
	close(fd);
}
END_TEST

static Suite *
suite(void)
{
	static const char *const programs[] = { "unbound", NULL };
	Suite *s = suite_create("dns_live");
	TCase *tc = tcase_create("dns_live");

	resolver_need(programs);
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, counts_are_what_was_sent);
	tcase_add_test(tc, probe_finds_and_remembers);
	tcase_add_test(tc, forwarders);
	tcase_add_test(tc, a_silent_control_socket_times_out);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
