/* The main() of every unit test: UNIT_MAIN(suite_function). No forks, so that sanitizers and debuggers see everything. */
#ifndef HIWAT_TESTS_UNIT_H
#define HIWAT_TESTS_UNIT_H

#include <check.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define UNIT_MAIN(make_suite) \
	int main(void) \
	{ \
		SRunner *runner = srunner_create(make_suite()); \
		srunner_set_fork_status(runner, CK_NOFORK); \
		srunner_run_all(runner, CK_ENV); \
		int failed = srunner_ntests_failed(runner); \
		srunner_free(runner); \
		return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE; \
	}

#endif
