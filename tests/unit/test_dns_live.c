/* The DNS samplers against a real unbound on loopback. */
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dns_message.h"
#include "err.h"
#include "fetch.h"
#include "sampled.h"
#include "tree.h"

static struct tree dir;
static pid_t unbound;
static uint16_t port;
static char control[128];
static struct fetch fetch;
static struct sampled sampled;

/* A port that is free now, for UDP and TCP: unbound wants both. */
static uint16_t
free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);

	for (int i = 0; i < 100; i++) {
		int udp = socket(AF_INET, SOCK_DGRAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);
		a.sin_port = 0;
		ck_assert_int_eq(bind(udp, (struct sockaddr *)&a, sizeof(a)), 0);
		ck_assert_int_eq(getsockname(udp, (struct sockaddr *)&a, &len), 0);
		bool is_free = bind(tcp, (struct sockaddr *)&a, sizeof(a)) == 0;
		close(udp);
		close(tcp);
		if (is_free)
			return ntohs(a.sin_port);
	}
	ck_abort_msg("no free port");
}

static bool
is_answered(const char *name, unsigned *rcode)
{
	static uint16_t id;
	char query[DNS_QUERY_MAX];
	struct text answer, request = { query, dns_query_write(query, ++id, name) };

	ck_assert_uint_gt(request.n, 0);
	return fetch_datagram(&fetch, "127.0.0.1", port, request, 2000, &answer) == HIWAT_OK &&
	    dns_answer_read(answer, request, rcode);
}

static void
stop_unbound(void)
{
	if (unbound <= 0)
		return;
	kill(unbound, SIGTERM);
	waitpid(unbound, NULL, 0);
	unbound = 0;
}

static void
run_unbound(void)
{
	char conf[1024], path[128];

	port = free_port();
	snprintf(control, sizeof(control), "%s/control", dir.dir);
	snprintf(conf, sizeof(conf),
	    "server:\n\tinterface: 127.0.0.1@%u\n\tdo-daemonize: no\n\tchroot: \"\"\n\tusername: \"\"\n\tdirectory: \"%s\"\n"
	    "\tpidfile: \"\"\n\tuse-syslog: no\n\tlogfile: \"%s/log\"\n\tnum-threads: 2\n\textended-statistics: yes\n"
	    "\tmsg-cache-size: 1m\n\tmodule-config: \"iterator\"\n"
	    "\tlocal-zone: \"test.\" static\n\tlocal-data: \"a.test. A 192.0.2.1\"\n"
	    "remote-control:\n\tcontrol-enable: yes\n\tcontrol-use-cert: no\n\tcontrol-interface: \"%s\"\n",
	    port, dir.dir, dir.dir, control);
	tree_write(&dir, "unbound.conf", conf);
	snprintf(path, sizeof(path), "%s/unbound.conf", dir.dir);
	unbound = fork();
	ck_assert_int_ge(unbound, 0);
	if (unbound == 0) {
		int null = open("/dev/null", O_RDWR);
		dup2(null, 1);
		dup2(null, 2);
		execl(HIWAT_UNBOUND, "unbound", "-d", "-c", path, (char *)NULL);
		_exit(127);
	}
}

/* Until it answers; somebody else may take the port in between, then with another one. */
static void
start_unbound(void)
{
	unsigned rcode;

	for (int tries = 0; tries < 5; tries++) {
		run_unbound();
		for (int i = 0; i < 3000 && waitpid(unbound, NULL, WNOHANG) == 0; i++) {
			if (access(control, F_OK) == 0 && is_answered("ready.test", &rcode))
				return;
			poll(NULL, 0, 10);
		}
		stop_unbound();
	}
	ck_abort_msg("unbound does not answer");
}

static void
setup(void)
{
	tree_make(&dir);
	fetch_init(&fetch, NULL, 1 << 20);
	start_unbound();
}

static void
teardown(void)
{
	stop_unbound();
	fetch_fini(&fetch);
	tree_remove(&dir);
}

/* The number of a series in the last sample; -1 when it is absent. */
static double
value_of(const char *series)
{
	const char *found = strstr(buf_str(&sampled.lines), series);

	return found != NULL && found[strlen(series)] == ' ' ? strtod(found + strlen(series), NULL) : -1;
}

START_TEST(counts_are_what_was_sent)
{
	struct sampler_config config = SAMPLER_DEFAULTS;
	unsigned rcode;

	config.unbound_control_socket = control;
	sampled_open(&sampled, "dns", &config);
	ck_assert_msg(sampled_take(&sampled, 10) == HIWAT_OK, "%s", sampled.why.text);
	double queries = value_of("hiwat_dns_queries_total{server=\"unbound\"}");
	double noerror = value_of("hiwat_dns_responses_total{rcode=\"NOERROR\",server=\"unbound\"}");
	double nxdomain = value_of("hiwat_dns_responses_total{rcode=\"NXDOMAIN\",server=\"unbound\"}");
	for (int i = 0; i < 20; i++) {
		ck_assert(is_answered("a.test", &rcode));
		ck_assert_uint_eq(rcode, 0);
	}
	for (int i = 0; i < 7; i++) {
		ck_assert(is_answered("x.test", &rcode));
		ck_assert_uint_eq(rcode, 3);
	}
	ck_assert_int_eq(sampled_take(&sampled, 20), HIWAT_OK);
	ck_assert_double_eq(value_of("hiwat_dns_queries_total{server=\"unbound\"}"), queries + 27);
	ck_assert_double_eq(value_of("hiwat_dns_responses_total{rcode=\"NOERROR\",server=\"unbound\"}"), noerror + 20);
	ck_assert_double_eq(value_of("hiwat_dns_responses_total{rcode=\"NXDOMAIN\",server=\"unbound\"}"), nxdomain + 7);
	/* Another sample shows that sampling resets nothing. */
	ck_assert_int_eq(sampled_take(&sampled, 30), HIWAT_OK);
	ck_assert_double_eq(value_of("hiwat_dns_queries_total{server=\"unbound\"}"), queries + 27);
	ck_assert_double_eq(value_of("hiwat_dns_cache_limit_bytes{cache=\"message\",server=\"unbound\"}"), 1 << 20);
	ck_assert_double_ge(value_of("hiwat_dns_cache_bytes{cache=\"message\",server=\"unbound\"}"), 0);
	ck_assert_double_ge(value_of("hiwat_dns_cache_limit_entries{cache=\"infra\",server=\"unbound\"}"), 1);
	ck_assert_double_ge(value_of("hiwat_dns_setting{name=\"cache-max-ttl\",server=\"unbound\"}"), 1);
	stop_unbound();
	ck_assert_int_eq(sampled_take(&sampled, 40), HIWAT_E_MISSING);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, control));
	sampled_close(&sampled);
}
END_TEST

START_TEST(probe_finds_and_remembers)
{
	struct sampler_config config = SAMPLER_DEFAULTS;

	config.state_dir = dir.dir;
	config.dns_port = port;
	sampled_open(&sampled, "dns_probe", &config);
	sampled_expect(&sampled, 10, "hiwat_dns_probe_success{server=\"unbound\"} 1\n");
	ck_assert_double_gt(value_of("hiwat_dns_probe_seconds{server=\"unbound\"}"), 0);
	stop_unbound();
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

static Suite *
suite(void)
{
	Suite *s = suite_create("dns_live");
	TCase *tc = tcase_create("dns_live");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, counts_are_what_was_sent);
	tcase_add_test(tc, probe_finds_and_remembers);
	tcase_add_test(tc, a_silent_control_socket_times_out);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
