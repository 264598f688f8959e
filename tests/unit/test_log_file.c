/* A log that syslogd(8) writes and newsyslog(8) rotates, followed; and the sampler of the BSDs' kernel log that does so. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "kernel.h"
#include "log_file.h"
#include "sampled.h"
#include "tree.h"

static struct tree dir, state;
static char path[128], rotated[128];
static struct fetch fetch;
static struct log_file file;
static struct sampler_config config = SAMPLER_DEFAULTS;
static struct sampled sampled;

static void
append(const char *to, const char *text)
{
	FILE *f = fopen(to, "a");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void
setup(void)
{
	tree_make(&dir);
	tree_make(&state);
	snprintf(path, sizeof(path), "%s/messages", dir.dir);
	snprintf(rotated, sizeof(rotated), "%s/messages.0", dir.dir);
	fetch_init(&fetch, NULL, 1 << 20);
	log_file_init(&file, path, &(const struct log_file_at){ 0 });
	kernel_reset();
	kernel_fail("kern.msgbuf", EPERM, -1);
	config.messages_path = path;
	config.state_dir = state.dir;
}

static void
teardown(void)
{
	log_file_fini(&file);
	fetch_fini(&fetch);
	kernel_reset();
	tree_remove(&dir);
	tree_remove(&state);
}

/* All that there is now, and whether there was a gap. */
static void
expect_lines(const char *lines, bool gap)
{
	bool more = true, has_gap, any_gap = false;
	struct text chunk;
	struct buf all;

	buf_init(&all, 4 << 20);
	for (int i = 0; more && i < 100; i++) {
		ck_assert_int_eq(log_file_read(&file, &fetch, &chunk, &more, &has_gap), HIWAT_OK);
		buf_add(&all, chunk.p, chunk.n);
		any_gap |= has_gap;
	}
	ck_assert(!more);
	ck_assert_str_eq(buf_str(&all), lines);
	ck_assert_int_eq(any_gap, gap);
	buf_fini(&all);
}

static void
restart(void)
{
	const struct log_file_at at = file.at;

	log_file_fini(&file);
	log_file_init(&file, path, &at);
}

START_TEST(whole_lines_once)
{
	append(path, "one\ntwo\nthr");
	expect_lines("one\ntwo\n", false);
	expect_lines("", false);
	append(path, "ee\n");
	expect_lines("three\n", false);
	append(path, "four\n");
	restart();
	expect_lines("four\n", false);
}
END_TEST

/* syslogd writes to the renamed file until it is told: nothing of either is lost, and the order is that of time. */
START_TEST(rotation_while_reading)
{
	append(path, "one\n");
	expect_lines("one\n", false);
	append(path, "two\n");
	ck_assert_int_eq(rename(path, rotated), 0);
	expect_lines("two\n", false);
	append(path, "turned over\n");
	append(rotated, "three\n");
	expect_lines("three\n", false);
	append(rotated, "four\n");
	append(path, "five\n");
	expect_lines("four\nturned over\nfive\n", false);
	append(path, "six\n");
	restart();
	expect_lines("six\n", false);
}
END_TEST

START_TEST(rotation_while_away)
{
	append(path, "one\n");
	expect_lines("one\n", false);
	append(path, "two\n");
	ck_assert_int_eq(rename(path, rotated), 0);
	append(path, "three\n");
	restart();
	expect_lines("two\n", false);
	expect_lines("three\n", false);
	/* Once compressed what came last is gone. */
	append(path, "four\n");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rename(rotated, path), 0); /* another file, whatever its number */
	restart();
	expect_lines("one\ntwo\n", true);
	expect_lines("", false);
}
END_TEST

/* A new file on a file system that gives freed numbers out again at once: only its content tells. */
START_TEST(emptied)
{
	append(path, "Dec  1 00:00:01 host kernel: one\nDec  1 00:00:02 host kernel: two\n");
	expect_lines("Dec  1 00:00:01 host kernel: one\nDec  1 00:00:02 host kernel: two\n", false);
	ck_assert_int_eq(truncate(path, 0), 0);
	expect_lines("", true);
	append(path, "three\n");
	expect_lines("three\n", false);
	/* Emptied and grown beyond where we were. */
	ck_assert_int_eq(truncate(path, 0), 0);
	append(path, "a longer line than before\n");
	expect_lines("a longer line than before\n", true);
	ck_assert_int_eq(truncate(path, 0), 0);
	append(path, "a longer line then before\n"); /* of the same length */
	restart();
	expect_lines("a longer line then before\n", true);
}
END_TEST

START_TEST(many_and_long_lines)
{
	static char lines[300000], line[80];

	for (size_t i = 0, n = 0; n + sizeof(line) < sizeof(lines); i++)
		n += (size_t)snprintf(lines + n, sizeof(lines) - n, "%zu: a line of which there are many\n", i);
	append(path, lines);
	expect_lines(lines, false);
	/* Longer than what is read at once: skipped, and nothing behind it is. */
	memset(lines, 'x', 200000);
	memcpy(lines + 200000, "\nshort\n", 8);
	append(path, lines);
	bool more = true, has_gap;
	struct text chunk = { "", 0 };
	size_t n = 0;
	while (more) {
		ck_assert_int_eq(log_file_read(&file, &fetch, &chunk, &more, &has_gap), HIWAT_OK);
		n += chunk.n;
	}
	ck_assert_uint_le(n, 70000);
	ck_assert_uint_ge(chunk.n, 6);
	ck_assert_mem_eq(chunk.p + chunk.n - 6, "short\n", 6);
}
END_TEST

START_TEST(failures)
{
	bool more, has_gap;
	struct text chunk;

	ck_assert_int_eq(log_file_read(&file, &fetch, &chunk, &more, &has_gap), HIWAT_E_MISSING);
	ck_assert_ptr_nonnull(strstr(fetch.why.text, path));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(log_file_read(&file, &fetch, &chunk, &more, &has_gap), HIWAT_E_FORMAT);
	ck_assert_int_eq(unlink(path), 0);
	append(path, "one\n");
	expect_lines("one\n", false);
	/* Between the rename and the new file there is none. */
	ck_assert_int_eq(rename(path, rotated), 0);
	append(rotated, "two\n");
	expect_lines("two\n", false);
}
END_TEST

/* ---- the sampler */

#define FREEBSD "Dec  1 12:00:00 db1 kernel: "
#define TIMED_OUT(n) FREEBSD "mfi0: COMMAND 0x000000000" n " TIMEOUT AFTER 30 SECONDS\n"
#define TIMEOUTS "hiwat_disk_timeouts_total{device=\"mfi0\",operation=\"\"} "
#define LOST "hiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} "

START_TEST(sampler_follows_the_file)
{
	append(path, TIMED_OUT("1"));
	sampled_open(&sampled, "kernel_log", &config);
	sampled_expect(&sampled, 1000,
	    "!"
	    "hiwat_disk_timeouts_total{device=\"mfi0\",operation=\"\"}\n" LOST "0\n");
	ck_assert(sampled.why.is_note);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, "kern.msgbuf: Operation not permitted, so that "));
	ck_assert_ptr_nonnull(strstr(sampled.why.text, path));
	/* What others say, a line half written, the line of newsyslog(8). */
	append(path,
	    "Dec  1 12:00:00 db1 sshd[71]: mfi0: COMMAND 0x0000000009 TIMEOUT AFTER 30 SECONDS\n" TIMED_OUT("2") FREEBSD
	    "mfi0: COMMAND 0x00");
	sampled_expect(&sampled, 1010, TIMEOUTS "1\n");
	append(path, "00000003 TIMEOUT AFTER 30 SECONDS\n");
	sampled_expect(&sampled, 1020, TIMEOUTS "2\n");
	ck_assert_int_eq(rename(path, rotated), 0);
	append(rotated, TIMED_OUT("4"));
	append(path, "Dec  1 12:00:01 db1 newsyslog[9]: logfile turned over due to size>1000K\n" TIMED_OUT("5"));
	sampled_expect(&sampled, 1030, TIMEOUTS "3\n");
	sampled_expect(&sampled, 1040, TIMEOUTS "4\n");
	sampled_close(&sampled);

	append(path, TIMED_OUT("6"));
	sampled_open(&sampled, "kernel_log", &config);
	sampled_expect(&sampled, 1050, TIMEOUTS "5\n" LOST "0\n");
	/* Emptied: a gap, and what is there now is new. */
	ck_assert_int_eq(truncate(path, 0), 0);
	append(path, TIMED_OUT("7"));
	sampled_expect(&sampled, 1060, TIMEOUTS "6\n" LOST "1\n");
	sampled_close(&sampled);
}
END_TEST

/* What reaches the collector: the verdict is ok, and its reason names the source. */
START_TEST(sampler_says_what_it_follows)
{
	append(path, TIMED_OUT("1"));
	sampled_open(&sampled, "kernel_log", &config);
	sampled_expect(&sampled, 1000, LOST "0\n");
	const struct outcome noted = { .err = HIWAT_OK, .why = sampled.why };
	Hiwat__Sampler *status = outcome_record(&noted, sampled.sampler, 0, &sampled.arena)->status;
	ck_assert(status->up && status->has_reason);
	ck_assert_str_eq(status->verdict->verdict, "ok");
	ck_assert_uint_eq(status->reason.len, strlen(sampled.why.text));
	ck_assert_mem_eq(status->reason.data, sampled.why.text, status->reason.len);
	/* What is left of an attempt that another one made good is no note. */
	const struct outcome plain = { .err = HIWAT_OK, .why = { .text = "tried in vain" } };
	ck_assert(!outcome_record(&plain, sampled.sampler, 0, &sampled.arena)->status->has_reason);
	sampled_close(&sampled);
}
END_TEST

/* OpenBSD's syslogd(8) signs for the kernel with /bsd. */
START_TEST(sampler_knows_the_kernel_of_openbsd)
{
	append(path, "Dec  1 12:00:00 fw newsyslog[9]: logfile turned over\n");
	sampled_open(&sampled, "kernel_log", &config);
	sampled_expect(&sampled, 1000, LOST "0\n");
	append(path,
	    "Dec  1 12:00:02 fw /bsd: wd0a: device timeout writing fsbn 4096 of 4096-4103 (wd0 bn 4096; cn 4 tn 1 sn 1)\n");
	sampled_expect(&sampled, 1010, "hiwat_disk_failures_total{device=\"wd0\"} 1\n");
	sampled_close(&sampled);
}
END_TEST

/* The same lines are in both: whatever takes over begins behind them, keeps the counts and tells of a gap. */
START_TEST(sampler_changes_its_source_at_a_start)
{
	kernel_fail("kern.msgbuf", 0, 0);
	kernel_set_text("kern.msgbuf", "<6>mfi0: COMMAND 0x0000000001 TIMEOUT AFTER 30 SECONDS\n");
	append(path, TIMED_OUT("1"));
	sampled_open(&sampled, "kernel_log", &config);
	sampled_expect(&sampled, 1000, LOST "0\n");
	ck_assert(!sampled.why.is_note);
	kernel_set_text("kern.msgbuf",
	    "<6>mfi0: COMMAND 0x0000000001 TIMEOUT AFTER 30 SECONDS\n<6>mfi0: COMMAND 0x0000000002 TIMEOUT AFTER 30 "
	    "SECONDS\n");
	append(path, TIMED_OUT("2"));
	sampled_expect(&sampled, 1010, TIMEOUTS "1\n" LOST "0\n");
	/* Fixed until a restart. */
	kernel_fail("kern.msgbuf", EPERM, -1);
	ck_assert_int_eq(sampled_take(&sampled, 1020), HIWAT_E_DENIED);
	sampled_close(&sampled);

	sampled_open(&sampled, "kernel_log", &config);
	sampled_expect(&sampled, 1030, TIMEOUTS "1\n" LOST "1\n");
	append(path, TIMED_OUT("3"));
	sampled_expect(&sampled, 1040, TIMEOUTS "2\n" LOST "1\n");
	kernel_fail("kern.msgbuf", 0, 0);
	sampled_expect(&sampled, 1050, TIMEOUTS "2\n" LOST "1\n");
	sampled_close(&sampled);

	sampled_open(&sampled, "kernel_log", &config);
	sampled_expect(&sampled, 1060, TIMEOUTS "2\n" LOST "2\n");
	ck_assert(!sampled.why.is_note);
	sampled_close(&sampled);
}
END_TEST

START_TEST(sampler_names_both_when_neither_works)
{
	sampled_open(&sampled, "kernel_log", &config);
	ck_assert_int_eq(sampled_take(&sampled, 1000), HIWAT_E_DENIED);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, "kern.msgbuf: Operation not permitted; read "));
	ck_assert_ptr_nonnull(strstr(sampled.why.text, "messages: No such file or directory"));
	ck_assert(!sampled.why.is_note);
	/* The file appears. */
	append(path, TIMED_OUT("1"));
	sampled_expect(&sampled, 1010, LOST "0\n");
	ck_assert_int_eq(unlink(path), 0);
	sampled_expect(&sampled, 1020, LOST "0\n");
	sampled_close(&sampled);
	/* A failure that passes is none of the source: it does not change. */
	append(path, TIMED_OUT("1"));
	kernel_fail("kern.msgbuf", EIO, -1);
	sampled_open(&sampled, "kernel_log", &config);
	ck_assert_int_eq(sampled_take(&sampled, 1030), HIWAT_E_SYS);
	sampled_close(&sampled);
}
END_TEST

/* What was kept is checked before it is believed. */
START_TEST(sampler_begins_anew_with_damaged_state)
{
	static const char *const kept[] = { "", "hiwat kernel_log_bsd 1 5 0 0\n", "hiwat kernel_log_bsd 2 5 0 disk 0 0 0\n",
		"hiwat kernel_log_bsd 2 5 0 file 1 2\n", "hiwat kernel_log_bsd 2 5 0 file 1 2 4294967296\n",
		"hiwat kernel_log_bsd 2 5 0 buffer 3000 0 0\n", "hiwat kernel_log_bsd 2 5 0 buffer 9 0 0\nabc",
		"hiwat kernel_log_bsd 2 5 0 file 1 2 3\nabc", "hiwat kernel_log_bsd 2 5 0 file 1 2 3 4\n" };

	append(path, TIMED_OUT("1"));
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		tree_write(&state, "kernel_log", kept[i]);
		sampled_open(&sampled, "kernel_log", &config);
		sampled_expect(&sampled, 1000, LOST "0\n!hiwat_disk_timeouts_total{device=\"mfi0\",operation=\"\"}\n");
		sampled_close(&sampled);
	}
}
END_TEST

static Suite *
log_file_suite(void)
{
	const TTest *const tests[] = { whole_lines_once, rotation_while_reading, rotation_while_away, emptied,
		many_and_long_lines, failures, sampler_follows_the_file, sampler_says_what_it_follows,
		sampler_knows_the_kernel_of_openbsd, sampler_changes_its_source_at_a_start,
		sampler_names_both_when_neither_works, sampler_begins_anew_with_damaged_state };
	Suite *s = suite_create("log_file");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	for (size_t i = 0; i < ARRAY_LEN(tests); i++)
		tcase_add_test(t, tests[i]);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(log_file_suite)
