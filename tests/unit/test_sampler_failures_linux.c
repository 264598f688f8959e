/* Samplers whose sources are absent, denied, cut, of another kind or no files at all. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "err.h"
#include "sampled.h"
#include "tree.h"

static struct tree proc;
static struct sampler_config config;
static struct sampled sampled;

static void
setup(void)
{
	tree_make(&proc);
	config = (struct sampler_config){ .proc_dir = proc.dir, .sys_dir = proc.dir, .kmsg_path = "/nonexistent" };
	tree_write(&proc, "net/dev",
	    "Inter-|   Receive  |  Transmit\n face |bytes    packets|\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
	tree_write(&proc, "net/netstat", "TcpExt: SyncookiesSent ListenOverflows\nTcpExt: 4 5\n");
	tree_write(&proc, "net/sockstat", "sockets: used 12\nTCP: inuse 3 orphan 1 tw 2 alloc 5 mem 10\n");
	tree_write(&proc, "sys/fs/file-nr", "1000\t0\t65536\n");
	tree_write(&proc, "meminfo", "MemTotal:       16000000 kB\n");
	tree_write(&proc, "loadavg", "0.65 0.17 0.06 3/150 8133\n");
}

static void
teardown(void)
{
	tree_remove(&proc);
}

static const struct {
	const char *sampler, *path, *text;
	int err;
} bad_rows[] = {
	{ "net", "net/sockstat", "", HIWAT_E_TRUNCATED },
	{ "net", "net/sockstat", "sockets: used 12\nTCP: inuse 3 orph", HIWAT_E_TRUNCATED },
	{ "net", "net/sockstat", "something else\n", HIWAT_E_NODATA },
	{ "net", "net/netstat", "TcpExt: A B\n", HIWAT_E_NODATA },
	{ "net", "sys/net/ipv4/tcp_mem", "1 2\n", HIWAT_E_FORMAT },
	{ "net", "sys/net/ipv4/tcp_max_orphans", "many\n", HIWAT_E_FORMAT },
	{ "system", "sys/fs/inode-state", "1\n", HIWAT_E_FORMAT },
	{ "system", "sys/kernel/pid_max", "\n", HIWAT_E_FORMAT },
	{ "system", "meminfo", "", HIWAT_E_TRUNCATED },
};

START_TEST(bad_files_are_told_by_name)
{
	sampled_open(&sampled, bad_rows[_i].sampler, &config);
	int err = sampled_take(&sampled, 10);
	ck_assert_msg(err == HIWAT_OK, "%s", sampled.why.text);
	tree_write(&proc, bad_rows[_i].path, bad_rows[_i].text);
	ck_assert_int_eq(sampled_take(&sampled, 20), bad_rows[_i].err);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, bad_rows[_i].path));
	sampled_close(&sampled);
}
END_TEST

START_TEST(missing_files)
{
	tree_unlink(&proc, "net/dev");
	sampled_open(&sampled, "net", &config);
	ck_assert_int_eq(sampled_take(&sampled, 10), HIWAT_E_MISSING);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, "net/dev: No such file or directory"));
	sampled_close(&sampled);
}
END_TEST

/* As root everything is readable: a child without privileges looks. */
START_TEST(denied_files)
{
	char path[128];
	int status;

	if (geteuid() != 0)
		return;
	snprintf(path, sizeof(path), "%s/meminfo", proc.dir);
	ck_assert_int_eq(chmod(path, 0600), 0);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(90);
		sampled_open(&sampled, "system", &config);
		int err = sampled_take(&sampled, 10);
		_exit(err == HIWAT_E_DENIED && strstr(sampled.why.text, "meminfo: Permission denied") != NULL ? 0 : 91);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* A file that is not a file cannot hold up a sampler. */
START_TEST(a_fifo_does_not_hang)
{
	char path[128];

	tree_unlink(&proc, "loadavg");
	snprintf(path, sizeof(path), "%s/loadavg", proc.dir);
	ck_assert_int_eq(mkfifo(path, 0644), 0);
	sampled_open(&sampled, "system", &config);
	ck_assert_int_ne(sampled_take(&sampled, 10), HIWAT_OK);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, "loadavg"));
	sampled_close(&sampled);
}
END_TEST

/* A descriptor whose file was replaced goes on with the old content; one that fails is opened anew. */
START_TEST(files_are_kept_open)
{
	sampled_open(&sampled, "system", &config);
	sampled_expect(&sampled, 10, "hiwat_run_queue 3\n");
	tree_unlink(&proc, "loadavg");
	sampled_expect(&sampled, 20, "hiwat_run_queue 3\n");
	sampled_close(&sampled);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("sampler_failures_linux");
	TCase *tc = tcase_create("sampler_failures_linux");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, bad_files_are_told_by_name, 0, ARRAY_LEN(bad_rows));
	tcase_add_test(tc, missing_files);
	tcase_add_test(tc, denied_files);
	tcase_add_test(tc, a_fifo_does_not_hang);
	tcase_add_test(tc, files_are_kept_open);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
