/* The probe of the resolver as on the BSDs: what netstat(1) and ps(1) tell, and a real unbound that answers. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "err.h"
#include "kernel.h"
#include "netstat_sockets.h"
#include "resolver.h"
#include "sampled.h"
#include "tree.h"

#define NETSTAT "/usr/bin/netstat -an -p udp"
#define PS "/bin/ps -ax -o comm="
#define HEAD "Active Internet connections (including servers)\nProto Recv-Q Send-Q Local Address Foreign Address (state)\n"

static const struct row {
	const char *label, *line, *address; /* NULL: no socket that waits for anybody */
	bool is_six;
	uint16_t port;
} rows[] = {
	{ "FreeBSD", "udp4       0      0 127.0.0.1.53           *.*                    \n", "7f000001", false, 53 },
	{ "FreeBSD, all addresses", "udp4       0      0 *.514                  *.*\n", "00000000", false, 514 },
	{ "FreeBSD, both families", "udp46      0      0 *.53                   *.*\n", "00000000", false, 53 },
	{ "FreeBSD, IPv6", "udp6       0      0 ::1.53                 *.*\n", "00000000000000000000000000000001", true,
	    53 },
	{ "OpenBSD", "udp          0      0  192.0.2.1.53           *.*                   \n", "c0000201", false, 53 },
	{ "OpenBSD, IPv6", "udp6         0      0  *.53                   *.*\n", "00000000000000000000000000000000", true,
	    53 },
	{ "connected", "udp4       0      0 192.0.2.1.53           192.0.2.9.4711\n", NULL, false, 0 },
	{ "of an interface", "udp6       0      0 fe80::1%lo0.123        *.*\n", NULL, false, 0 },
	{ "cut by netstat", "udp6       0      0 2001:db8:1:2:3:4:5.53  *.*\n", NULL, false, 0 },
	{ "no port", "udp4       0      0 *.*                    *.*\n", NULL, false, 0 },
	{ "a name for a port", "udp4       0      0 *.domain               *.*\n", NULL, false, 0 },
	{ "port too large", "udp4       0      0 *.65536                *.*\n", NULL, false, 0 },
	{ "TCP", "tcp4       0      0 127.0.0.1.53           *.*                    LISTEN\n", NULL, false, 0 },
	{ "cut off", "udp4       0      0 127.0.0.1.53", NULL, false, 0 },
	{ "words", HEAD "netstat: kvm not available\n\n", NULL, false, 0 },
};

START_TEST(lines)
{
	const struct row *row = &rows[_i];
	struct local_socket s;
	char hex[33] = "";
	struct text rest = text_of(row->line);

	bool found = netstat_sockets_next(&rest, &s);
	ck_assert_msg(found == (row->address != NULL), "%s", row->label);
	if (!found)
		return;
	for (size_t i = 0; i < (s.is_six ? 16 : 4); i++)
		snprintf(hex + 2 * i, 3, "%02x", s.address[i]);
	ck_assert_str_eq(hex, row->address);
	ck_assert_msg(s.port == row->port && s.is_six == row->is_six, "%s", row->label);
	ck_assert(!netstat_sockets_next(&rest, &s));
}
END_TEST

static struct tree dir;
static struct resolver unbound;
static struct sampler_config config = SAMPLER_DEFAULTS;
static struct sampled sampled;

static void
setup(void)
{
	kernel_reset();
	tree_make(&dir);
	resolver_start_unbound(&unbound, &dir, "");
	config.state_dir = dir.dir;
	config.dns_port = unbound.port;
}

static void
teardown(void)
{
	resolver_stop(&unbound);
	tree_remove(&dir);
	kernel_reset();
}

static void
set_sockets(const char *local)
{
	char text[512];

	snprintf(text, sizeof(text), HEAD "udp4 0 0 *.514 *.*\nudp4 0 0 %s.%u *.*\n", local, unbound.port);
	kernel_program(NETSTAT, HIWAT_OK, text);
}

START_TEST(finds_asks_and_remembers)
{
	set_sockets("*");
	kernel_program(PS, HIWAT_OK, "init\nsyslogd\ndnsmasq\nunbound\nsh\n");
	sampled_open(&sampled, "dns_probe", &config);
	sampled_expect(&sampled, 10, "hiwat_dns_probe_success{server=\"unbound\"} 1\n");
	ck_assert_double_gt(sampled_value(&sampled, "hiwat_dns_probe_seconds{server=\"unbound\"}"), 0);
	sampled_expect(&sampled, 20, "hiwat_dns_probe_success{server=\"unbound\"} 1\n");
	/* Programs run to look for a resolver, not to ask it. */
	ck_assert_uint_eq(kernel_runs(NETSTAT), 1);
	ck_assert_uint_eq(kernel_runs(PS), 1);
	resolver_stop(&unbound);
	kernel_program(NETSTAT, HIWAT_OK, HEAD);
	sampled_expect(&sampled, 30,
	    "hiwat_dns_probe_success{server=\"unbound\"} 0\n!hiwat_dns_probe_seconds{server=\"unbound\"}\n");
	sampled_close(&sampled);
	sampled_open(&sampled, "dns_probe", &config);
	sampled_expect(&sampled, 40, "hiwat_dns_probe_success{server=\"unbound\"} 0\n");
	sampled_close(&sampled);
}
END_TEST

/* A user who sees its own processes alone, and a host without a resolver. */
START_TEST(unknown_and_missing)
{
	set_sockets("127.0.0.1");
	sampled_open(&sampled, "dns_probe", &config);
	sampled_expect(&sampled, 10, "hiwat_dns_probe_success{server=\"unknown\"} 1\n");
	sampled_close(&sampled);
	/* The resolver of FreeBSD's base system goes by a name of its own. */
	config.state_dir = NULL;
	kernel_program(PS, HIWAT_OK, "init\nlocal-unbound\n");
	sampled_open(&sampled, "dns_probe", &config);
	sampled_expect(&sampled, 15, "hiwat_dns_probe_success{server=\"unbound\"} 1\n");
	sampled_close(&sampled);
	kernel_program(NETSTAT, HIWAT_OK, HEAD "udp4 0 0 *.514 *.*\n");
	sampled_open(&sampled, "dns_probe", &config);
	ck_assert_int_eq(sampled_take(&sampled, 20), HIWAT_E_MISSING);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, "nobody listens on UDP port"));
	kernel_program(NETSTAT, HIWAT_E_TIMEOUT, "no answer");
	ck_assert_int_eq(sampled_take(&sampled, 100), HIWAT_E_TIMEOUT);
	sampled_close(&sampled);
}
END_TEST

static Suite *
suite(void)
{
	static const char *const programs[] = { "unbound", NULL };
	Suite *s = suite_create("dns_probe_bsd");
	TCase *all = tcase_create("lines"), *live = tcase_create("live");

	resolver_need(programs);
	tcase_add_loop_test(all, lines, 0, ARRAY_LEN(rows));
	suite_add_tcase(s, all);
	tcase_set_timeout(live, 60);
	tcase_add_checked_fixture(live, setup, teardown);
	tcase_add_test(live, finds_asks_and_remembers);
	tcase_add_test(live, unknown_and_missing);
	suite_add_tcase(s, live);
	return s;
}

UNIT_MAIN(suite)
