/* The kernel log's sampler over a pipe of packets, which gives one record a read as /dev/kmsg does. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "sampled.h"
#include "tree.h"

static struct tree proc, state;
static char kmsg[128];
static int writer;
static struct sampler_config config;
static struct sampled sampled;

static void
setup(void)
{
	tree_make(&proc);
	tree_make(&state);
	tree_write(&proc, "sys/kernel/random/boot_id", "11111111-1111-1111-1111-111111111111\n");
	snprintf(kmsg, sizeof(kmsg), "%s/kmsg", proc.dir);
	ck_assert_int_eq(mkfifo(kmsg, 0600), 0);
	writer = open(kmsg, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_ge(writer, 0);
	ck_assert_int_eq(fcntl(writer, F_SETFL, O_NONBLOCK | O_DIRECT), 0); /* packets */
	config =
	    (struct sampler_config){ .proc_dir = proc.dir, .sys_dir = proc.dir, .kmsg_path = kmsg, .state_dir = state.dir };
	sampled_open(&sampled, "kernel_log", &config);
}

static void
teardown(void)
{
	sampled_close(&sampled);
	close(writer);
	tree_remove(&proc);
	tree_remove(&state);
}

static void
reopen(void)
{
	sampled_close(&sampled);
	sampled_open(&sampled, "kernel_log", &config);
}

static void
put(const char *prefix, unsigned sequence, const char *message)
{
	char record[256];
	int n = snprintf(record, sizeof(record), "%s,%u,%u000000,-;%s\n", prefix, sequence, sequence, message);

	ck_assert_int_eq(write(writer, record, (size_t)n), n);
}

static const char full[] = "nf_conntrack: nf_conntrack: table full, dropping packet";

/* Records from..to, as a fresh descriptor of /dev/kmsg gives them again. */
static void
put_full(unsigned from, unsigned to)
{
	for (unsigned i = from; i <= to; i++)
		put("4", i, full);
}

START_TEST(history_is_a_baseline)
{
	put_full(10, 14);
	sampled_expect(&sampled, 100,
	    "!hiwat_limit_reports_total{resource=\"conntrack\"}\nhiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"}"
	    " 0\n");
	put_full(15, 16);
	put("12", 17, full); /* written by a program */
	put("6", 18, "usb 1-1: new high-speed USB device");
	sampled_expect(&sampled, 110, "hiwat_limit_reports_total{resource=\"conntrack\"} 2\n");
	sampled_expect(&sampled, 120, "hiwat_limit_reports_total{resource=\"conntrack\"} 2\n");
}
END_TEST

START_TEST(restarts_neither_lose_nor_repeat)
{
	put_full(10, 14);
	sampled_expect(&sampled, 100, "!hiwat_limit_reports_total{resource=\"conntrack\"}\n");
	put_full(15, 16);
	sampled_expect(&sampled, 110, "hiwat_limit_reports_total{resource=\"conntrack\"} 2\n");
	reopen();
	put_full(10, 17);
	sampled_expect(&sampled, 120,
	    "hiwat_limit_reports_total{resource=\"conntrack\"} "
	    "3\nhiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 0\n");
}
END_TEST

/* Without a chance to save at its end: what was counted since the last save is counted again, once. */
START_TEST(crashes_repeat_nothing)
{
	void *crashed;

	put_full(10, 14);
	sampled_expect(&sampled, 100, "!hiwat_limit_reports_total{resource=\"conntrack\"}\n");
	put_full(15, 16);
	sampled_expect(&sampled, 110, "hiwat_limit_reports_total{resource=\"conntrack\"} 2\n");
	crashed = sampled.state;
	ck_assert_int_eq(sampled.sampler->open(&config, &sampled.state), HIWAT_OK);
	put_full(10, 17);
	sampled_expect(&sampled, 120, "hiwat_limit_reports_total{resource=\"conntrack\"} 3\n");
	sampled.sampler->close(crashed);
}
END_TEST

START_TEST(gaps_are_counted)
{
	put_full(10, 14);
	sampled_expect(&sampled, 100, "hiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 0\n");
	put_full(25, 25);
	sampled_expect(&sampled, 110,
	    "hiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} "
	    "10\nhiwat_limit_reports_total{resource=\"conntrack\"} 1\n");
	/* The log was overwritten while the agent was down. */
	reopen();
	put_full(30, 30);
	sampled_expect(&sampled, 120,
	    "hiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} "
	    "14\nhiwat_limit_reports_total{resource=\"conntrack\"} 2\n");
}
END_TEST

START_TEST(a_new_boot_starts_at_zero)
{
	put_full(10, 14);
	sampled_expect(&sampled, 100, "hiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 0\n");
	put_full(15, 19);
	sampled_expect(&sampled, 110, "hiwat_limit_reports_total{resource=\"conntrack\"} 5\n");
	sampled_close(&sampled);
	tree_write(&proc, "sys/kernel/random/boot_id", "22222222-2222-2222-2222-222222222222\n");
	sampled_open(&sampled, "kernel_log", &config);
	/* What the log holds of the start of this boot is news, not history. */
	put_full(0, 2);
	sampled_expect(&sampled, 20,
	    "hiwat_limit_reports_total{resource=\"conntrack\"} "
	    "3\nhiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 0\n");
}
END_TEST

START_TEST(damaged_state_is_a_first_start)
{
	put_full(10, 14);
	sampled_expect(&sampled, 100, "hiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 0\n");
	sampled_close(&sampled);
	tree_write(&state, "kernel_log", "hiwat kernel_log 1 11111111-1111-1111-1111-111111111111 0\nrubbish");
	sampled_open(&sampled, "kernel_log", &config);
	put_full(10, 14);
	sampled_expect(&sampled, 110, "!hiwat_limit_reports_total{resource=\"conntrack\"}\n");
	put_full(15, 15);
	sampled_expect(&sampled, 120, "hiwat_limit_reports_total{resource=\"conntrack\"} 1\n");
}
END_TEST

START_TEST(without_state_all_of_the_log_counts)
{
	sampled_close(&sampled);
	config.state_dir = NULL;
	sampled_open(&sampled, "kernel_log", &config);
	put_full(10, 14);
	sampled_expect(&sampled, 100, "hiwat_limit_reports_total{resource=\"conntrack\"} 5\n");
}
END_TEST

START_TEST(missing_and_back)
{
	config.kmsg_path = "/nonexistent/kmsg";
	reopen();
	ck_assert_int_eq(sampled_take(&sampled, 100), HIWAT_E_MISSING);
	ck_assert_str_eq(sampled.why.text, "read /nonexistent/kmsg: No such file or directory");
}
END_TEST

/* A burst of records larger than the buffer of one call. */
START_TEST(bursts)
{
	char message[200];

	put_full(10, 10);
	sampled_expect(&sampled, 100, "hiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 0\n");
	memset(message, 'x', sizeof(message) - 1);
	message[sizeof(message) - 1] = '\0';
	ck_assert_int_gt(fcntl(writer, F_SETPIPE_SZ, 1 << 20), 0);
	unsigned sequence = 11;
	while (sequence < 200) {
		put("6", sequence++, message);
		put("4", sequence++, full);
	}
	sampled_expect(&sampled, 110,
	    "hiwat_limit_reports_total{resource=\"conntrack\"} "
	    "95\nhiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 0\n");
}
END_TEST

START_TEST(this_machine)
{
	struct sampler_config here = SAMPLER_DEFAULTS;
	struct sampled real;

	sampled_open(&real, "kernel_log", &here);
	int err = sampled_take(&real, 100);
	/* A container may have no log, a user no right to it. */
	ck_assert(err == HIWAT_OK || err == HIWAT_E_DENIED || err == HIWAT_E_MISSING);
	sampled_close(&real);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("kernel_log_sampler");
	TCase *tc = tcase_create("kernel_log_sampler");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, history_is_a_baseline);
	tcase_add_test(tc, restarts_neither_lose_nor_repeat);
	tcase_add_test(tc, crashes_repeat_nothing);
	tcase_add_test(tc, gaps_are_counted);
	tcase_add_test(tc, a_new_boot_starts_at_zero);
	tcase_add_test(tc, damaged_state_is_a_first_start);
	tcase_add_test(tc, without_state_all_of_the_log_counts);
	tcase_add_test(tc, missing_and_back);
	tcase_add_test(tc, bursts);
	tcase_add_test(tc, this_machine);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
