#include "unit.h"

#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "grant.h"
#include "tree.h"

static struct tree dir;
static char path[128];

static void
setup(void)
{
	tree_make(&dir);
	tree_write(&dir, "file", "");
	tree_write(&dir, "closed/file", "");
	snprintf(path, sizeof(path), "%s/file", dir.dir);
}

static void
teardown(void)
{
	tree_remove(&dir);
}

static void
expect(const char *of, const char *expected)
{
	struct buf out;

	buf_init(&out, 1024);
	grant_write(&out, of, "someone");
	ck_assert_str_eq(buf_str(&out), expected);
	buf_fini(&out);
}

START_TEST(calls)
{
	static const struct {
		const char *verb, *what, *expected; /* NULL: nothing to grant is known */
	} rows[] = {
		{ "run", "/sbin/pfctl -s memory",
		    "permit nopass someone as root cmd /sbin/pfctl args -s memory (a line of doas.conf)" },
		{ "run", "/usr/bin/netstat -m", NULL },
		{ "run", "/usr/bin/doas -n /sbin/pfctl -s memory", NULL },
		{ "sysctl", "kern.msgbuf", "sysctl security.bsd.unprivileged_read_msgbuf=1" },
		{ "sysctl", "hw.intrcnt", NULL },
		{ "getifaddrs", "all", NULL },
		{ "read", "/etc/passwd", "setfacl -m u:someone:r /etc/passwd" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out;
		buf_init(&out, 1024);
		bool known = grant_write_call(&out, rows[i].verb, rows[i].what, "someone");
		ck_assert_msg(known == (rows[i].expected != NULL), "%s", rows[i].what);
		ck_assert_str_eq(buf_str(&out), known ? rows[i].expected : "");
		buf_fini(&out);
	}
}
END_TEST

START_TEST(the_group_of_a_file)
{
	char expected[256];

	if (geteuid() != 0)
		return;
	const struct group *group = getgrgid(1);
	ck_assert_ptr_nonnull(group);
	ck_assert_int_eq(chown(path, 0, 1), 0);
	ck_assert_int_eq(chmod(path, 0640), 0);
	snprintf(expected, sizeof(expected), "usermod -a -G %s someone", group->gr_name);
	expect(path, expected);
	ck_assert_int_eq(chmod(path, 0600), 0);
	snprintf(expected, sizeof(expected), "setfacl -m u:someone:r %s", path);
	expect(path, expected);
}
END_TEST

START_TEST(a_socket_needs_writing)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char expected[256];

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/socket", dir.dir);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(chmod(a.sun_path, 0640), 0);
	snprintf(expected, sizeof(expected), "setfacl -m u:someone:rw %s", a.sun_path);
	expect(a.sun_path, expected);
	close(fd);
}
END_TEST

/* Root passes everywhere: a child without privileges asks. */
START_TEST(a_directory_on_the_way)
{
	char closed[128], inside[140], expected[256];
	int status;

	if (geteuid() != 0)
		return;
	snprintf(closed, sizeof(closed), "%s/closed", dir.dir);
	snprintf(inside, sizeof(inside), "%s/file", closed);
	ck_assert_int_eq(chmod(closed, 0700), 0);
	snprintf(expected, sizeof(expected), "setfacl -m u:someone:x %s", closed);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct buf out;
		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(90);
		buf_init(&out, 1024);
		grant_write(&out, inside, "someone");
		_exit(strcmp(buf_str(&out), expected) == 0 ? 0 : 91);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(capabilities)
{
	expect("/proc/version",
	    "AmbientCapabilities=CAP_DAC_READ_SEARCH in the agent's systemd unit, or setcap "
	    "cap_dac_read_search+ep on the program");
	if (access("/dev/kmsg", F_OK) == 0)
		expect("/dev/kmsg",
		    "AmbientCapabilities=CAP_SYSLOG in the agent's systemd unit, or setcap cap_syslog+ep on "
		    "the program");
	expect("/nonexistent", "setfacl -m u:someone:r /nonexistent");
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("grant");
	TCase *tc = tcase_create("grant");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, calls);
	tcase_add_test(tc, the_group_of_a_file);
	tcase_add_test(tc, a_socket_needs_writing);
	tcase_add_test(tc, a_directory_on_the_way);
	tcase_add_test(tc, capabilities);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
