/* What confine() takes away here, in a process that ends with the test. */
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "err.h"
#include "unit.h"

START_TEST(test_no_new_privileges)
{
	const struct confine_options options = { .state_dir = "/tmp" };
	int status = 0;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		bool before = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
		bool after = confine(&options) == HIWAT_OK && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
		/* A second time does no harm. */
		_exit(!before && after && confine(&options) == HIWAT_OK ? 0 : before ? 2 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	/* 2: whoever runs the tests has given it up already. */
	ck_assert(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
}
END_TEST

static Suite *
confine_suite(void)
{
	Suite *s = suite_create("confine");
	TCase *t = tcase_create("all");

	tcase_add_test(t, test_no_new_privileges);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(confine_suite)
