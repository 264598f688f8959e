/* The command `rules test`. */
#ifndef HIWAT_COLLECTOR_RULES_TEST_H
#define HIWAT_COLLECTOR_RULES_TEST_H

#include <stdbool.h>

/*
 * Runs the cases of all files against the rules under rules_path. agent: the agent's program, NULL: the one beside this
 * program, else by the search path. Returns the exit status: 0; 1 when a case failed or, with coverage, a rule lacks one;
 * 2 when a file or the rules have mistakes.
 */
int rules_test(const char *rules_path, const char *agent, bool coverage, int n_files, char **files);

#endif
