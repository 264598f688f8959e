/* The samplers of TCP against sockets of the test's own. */
#include "unit.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "err.h"
#include "sampled.h"

static struct sampled sampled;

static double
value_of(const char *series)
{
	const char *found = strstr(buf_str(&sampled.lines), series);

	return found != NULL && found[strlen(series)] == ' ' ? strtod(found + strlen(series), NULL) : -1;
}

static int
listen_on_loopback(struct sockaddr_in *a, int backlog, int reuse)
{
	socklen_t len = sizeof(*a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &reuse, sizeof(reuse)), 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)a, sizeof(*a)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)a, &len), 0);
	ck_assert_int_eq(listen(fd, backlog), 0);
	return fd;
}

START_TEST(listen_queues)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sampler_config config = SAMPLER_DEFAULTS;
	char expected[256];
	int clients[3];

	int fd = listen_on_loopback(&a, 7, 1);
	unsigned port = ntohs(a.sin_port);
	for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
		clients[i] = socket(AF_INET, SOCK_STREAM, 0);
		ck_assert_int_eq(connect(clients[i], (struct sockaddr *)&a, sizeof(a)), 0);
	}
	sampled_open(&sampled, "listen", &config);
	int err = sampled_take(&sampled, 10);
	if (err == HIWAT_E_MISSING) { /* a kernel without tcp_diag */
		sampled_close(&sampled);
		return;
	}
	snprintf(expected, sizeof(expected),
	    "hiwat_listen_queue{address=\"127.0.0.1:%u\"} 3\nhiwat_listen_queue_limit{address=\"127.0.0.1:%u\"} 7\n", port,
	    port);
	sampled_expect(&sampled, 20, expected);
	int server = accept(fd, NULL, NULL);
	ck_assert_int_ge(server, 0);
	/* A second socket of the same address adds to the first. */
	int second = listen_on_loopback(&a, 5, 1);
	snprintf(expected, sizeof(expected),
	    "hiwat_listen_queue{address=\"127.0.0.1:%u\"} 2\nhiwat_listen_queue_limit{address=\"127.0.0.1:%u\"} 12\n", port,
	    port);
	sampled_expect(&sampled, 30, expected);
	sampled_close(&sampled);

	sampled_open(&sampled, "tcp", &config);
	ck_assert_msg(sampled_take(&sampled, 10) == HIWAT_OK, "%s", sampled.why.text);
	/* Both ends of each; others of this host may be there, too. */
	ck_assert_double_ge(value_of("hiwat_tcp_connections{state=\"established\"}"), 6);
	ck_assert_double_ge(value_of("hiwat_tcp_connections{state=\"syn_received\"}"), 0);
	/* strstr finds the first of the lines, which begin with HELP. */
	ck_assert_ptr_nonnull(strstr(buf_str(&sampled.lines), "\nhiwat_ports_in_use "));
	ck_assert_ptr_nonnull(strstr(buf_str(&sampled.lines), "\nhiwat_ports_limit "));
	sampled_close(&sampled);
	close(server);
	close(second);
	close(fd);
	for (size_t i = 0; i < ARRAY_LEN(clients); i++)
		close(clients[i]);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("tcp_linux");
	TCase *tc = tcase_create("tcp_linux");

	tcase_add_test(tc, listen_queues);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
