/* FreeBSD's confine_parser() against a cap_enter(2) that is told what to answer. */
#include <errno.h>

#include "../fake_bsd/confine.h"
#include "confine.h"
#include "err.h"
#include "unit.h"

static int entered, sys_errno;

int
cap_enter(void)
{
	entered++;
	errno = sys_errno;
	return sys_errno == 0 ? 0 : -1;
}

START_TEST(test_parser)
{
	entered = sys_errno = 0;
	ck_assert_int_eq(confine_parser(false), HIWAT_OK);
	ck_assert_int_eq(entered, 1);
	/* No path can be opened in there. */
	ck_assert_int_eq(confine_parser(true), HIWAT_OK);
	ck_assert_int_eq(entered, 1);
	sys_errno = ENOSYS;
	ck_assert_int_eq(confine_parser(false), HIWAT_OK);
	sys_errno = EPERM;
	ck_assert_int_eq(confine_parser(false), HIWAT_E_SYS);
}
END_TEST

/* The running agent opens paths all the time. */
START_TEST(test_agent)
{
	const struct confine_options options = { .state_dir = "/var/db/hiwat" };

	entered = 0;
	ck_assert_int_eq(confine(&options), HIWAT_OK);
	ck_assert_int_eq(entered, 0);
}
END_TEST

static Suite *
confine_freebsd_suite(void)
{
	Suite *s = suite_create("confine_freebsd");
	TCase *t = tcase_create("all");

	tcase_add_test(t, test_parser);
	tcase_add_test(t, test_agent);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(confine_freebsd_suite)
