/* OpenBSD's confine() against an unveil(2) that keeps a list. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "confine.h"
#include "err.h"
#include "../fake_bsd/confine.h"
#include "unit.h"

static char calls[1024];
static const char *refused; /* a path that is refused; NULL: none */
static int sys_errno;

int
unveil(const char *path, const char *permissions)
{
	size_t len = strlen(calls);

	snprintf(calls + len, sizeof(calls) - len, "%s:%s ", path != NULL ? path : "end",
	    permissions != NULL ? permissions : "");
	if (refused != NULL && path != NULL && strcmp(path, refused) == 0) {
		errno = sys_errno;
		return -1;
	}
	return 0;
}

int
pledge(const char *promises, const char *execpromises)
{
	ck_assert_ptr_null(execpromises);
	snprintf(calls, sizeof(calls), "%s", promises);
	return 0;
}

static const char *const sockets[] = { "/var/unbound/db/unbound.sock" }, *const programs[] = { "/usr/bin/top" };
static const struct confine_options options = { .state_dir = "/var/db/hiwat",
	.sockets = sockets,
	.n_sockets = 1,
	.programs = programs,
	.n_programs = 1 };

START_TEST(test_all)
{
	calls[0] = '\0';
	refused = NULL;
	ck_assert_int_eq(confine(&options), HIWAT_OK);
	ck_assert_str_eq(calls,
	    "/:r /dev/null:rw /var/run/unbound.sock:rw /bin/ps:rx /sbin/pfctl:rx /usr/bin/doas:rx /usr/bin/netstat:rx "
	    "/usr/bin/vmstat:rx /usr/bin/top:rx /var/unbound/db/unbound.sock:rw /var/db/hiwat:rwc end: ");
}
END_TEST

/* What is absent needs no leave; what is refused must not end in a list that is never closed and taken for good. */
START_TEST(test_refused)
{
	calls[0] = '\0';
	refused = sockets[0];
	sys_errno = ENOENT;
	ck_assert_int_eq(confine(&options), HIWAT_OK);
	ck_assert_ptr_nonnull(strstr(calls, "end:"));
	calls[0] = '\0';
	sys_errno = E2BIG;
	ck_assert_int_eq(confine(&options), HIWAT_E_SYS);
	ck_assert_ptr_null(strstr(calls, "end:"));
}
END_TEST

START_TEST(test_parser)
{
	ck_assert_int_eq(confine_parser(false), HIWAT_OK);
	ck_assert_str_eq(calls, "stdio");
	ck_assert_int_eq(confine_parser(true), HIWAT_OK);
	ck_assert_str_eq(calls, "stdio rpath");
}
END_TEST

static Suite *
confine_openbsd_suite(void)
{
	Suite *s = suite_create("confine_openbsd");
	TCase *t = tcase_create("all");

	tcase_add_test(t, test_all);
	tcase_add_test(t, test_refused);
	tcase_add_test(t, test_parser);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(confine_openbsd_suite)
