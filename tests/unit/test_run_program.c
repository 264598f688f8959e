/* fetch_run() with real programs. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "err.h"
#include "fetch.h"
#include "unit.h"

#define SH "/bin/sh"

static const struct {
	const char *name;
	const char *argv[5];
	size_t limit;
	unsigned deadline_ms;
	int err;
	const char *out; /* of a run that worked */
	const char *why; /* occurs in the reason of one that failed */
} rows[] = {
	{ "output", { SH, "-c", "echo one; echo two" }, 4096, 5000, HIWAT_OK, "one\ntwo\n", NULL },
	{ "nothing", { SH, "-c", ":" }, 4096, 5000, HIWAT_OK, "", NULL },
	{ "warnings are no failure", { SH, "-c", "echo odd >&2; echo fine" }, 4096, 5000, HIWAT_OK, "fine\n", NULL },
	{ "exit status", { SH, "-c", "exit 3" }, 4096, 5000, HIWAT_E_REJECTED, NULL, "exit status 3" },
	{ "its last words", { SH, "-c", "echo first >&2; echo 'pfctl: no such thing' >&2; exit 1" }, 4096, 5000,
	    HIWAT_E_REJECTED, NULL, "/bin/sh: pfctl: no such thing" },
	{ "output before a failure does not count", { SH, "-c", "echo 0; exit 1" }, 4096, 5000, HIWAT_E_REJECTED, NULL,
	    "exit status 1" },
	{ "denied", { SH, "-c", "echo 'pfctl: /dev/pf: Permission denied' >&2; exit 1" }, 4096, 5000, HIWAT_E_DENIED, NULL,
	    "/dev/pf: Permission denied" },
	{ "not permitted", { SH, "-c", "echo 'doas: Operation not permitted' >&2; exit 1" }, 4096, 5000, HIWAT_E_DENIED,
	    NULL, "doas: Operation not permitted" },
	{ "killed", { SH, "-c", "kill -SEGV $$" }, 4096, 5000, HIWAT_E_REJECTED, NULL, "killed by signal 11" },
	{ "no such program", { "/nonexistent/program" }, 4096, 5000, HIWAT_E_MISSING, NULL, "/nonexistent/program" },
	{ "no program", { "/etc/passwd" }, 4096, 5000, HIWAT_E_DENIED, NULL, "/etc/passwd" },
	{ "too much", { SH, "-c", "while :; do echo 0123456789; done" }, 4096, 5000, HIWAT_E_TOOBIG, NULL, "" },
	{ "endless words", { SH, "-c", "i=0; while [ $i -lt 3000 ]; do echo 0123456789 >&2; i=$((i+1)); done; echo done" },
	    4096, 20000, HIWAT_OK, "done\n", NULL },
	{ "deadline", { SH, "-c", "echo early; sleep 60" }, 4096, 100, HIWAT_E_TIMEOUT, NULL, "" },
	{ "deadline of one that closed its output", { SH, "-c", "exec >/dev/null 2>&1; sleep 60" }, 4096, 100,
	    HIWAT_E_TIMEOUT, NULL, "" },
	{ "deadline of a grandchild with the pipe", { SH, "-c", "sleep 60 & exit 0" }, 4096, 100, HIWAT_E_TIMEOUT, NULL,
	    "" },
	{ "environment", { SH, "-c", "echo $LC_ALL $TZ $HOME $HIWAT_TEST" }, 4096, 5000, HIWAT_OK, "C UTC\n", NULL },
	{ "standard input is empty", { SH, "-c", "cat; echo end" }, 4096, 5000, HIWAT_OK, "end\n", NULL },
	{ "no shell in between", { "/bin/echo", "$HOME;", "`id`" }, 4096, 5000, HIWAT_OK, "$HOME; `id`\n", NULL },
};

START_TEST(test_run)
{
	struct fetch f;
	struct text out = { NULL, 0 };

	fetch_init(&f, NULL, rows[_i].limit);
	int err = fetch_run(&f, rows[_i].argv, rows[_i].deadline_ms, &out);
	ck_assert_msg(err == rows[_i].err, "%s: %s, %s", rows[_i].name, err_text(err), f.why.text);
	if (err == HIWAT_OK)
		ck_assert_msg(text_eq(out, rows[_i].out), "%s: got '%.*s'", rows[_i].name, (int)out.n, out.p);
	else
		ck_assert_msg(strstr(f.why.text, rows[_i].why) != NULL, "%s: '%s'", rows[_i].name, f.why.text);
	ck_assert_int_eq(f.stuck_pid, 0);
	fetch_fini(&f);
}
END_TEST

/* What was started by what is killed goes too. */
START_TEST(test_kills_the_group)
{
	static const char *const argv[] = { SH, "-c", "sleep 60 & echo $!; wait", NULL };
	struct fetch f;
	struct text out;
	uint64_t pid;

	fetch_init(&f, NULL, 4096);
	ck_assert_int_eq(fetch_run(&f, argv, 200, &out), HIWAT_E_TIMEOUT);
	/* The output up to the deadline is no result, but it is still in the buffer. */
	struct text got = { buf_str(&f.buf), f.buf.len };
	ck_assert_int_eq(text_u64(&got, &pid), HIWAT_OK);
	/* An orphan is reaped by another process, which may take its time: a zombie runs no more. */
	for (int i = 0; i < 500; i++) {
		char path[64], state[512];
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		FILE *stat = fopen(path, "r");
		size_t n = stat != NULL ? fread(state, 1, sizeof(state) - 1, stat) : 0;
		if (stat != NULL)
			fclose(stat);
		state[n] = '\0';
		if (n == 0 || strstr(state, ") Z") != NULL || strstr(state, ") X") != NULL)
			break;
		ck_assert_int_lt(i, 499);
		usleep(10000);
	}
	fetch_fini(&f);
}
END_TEST

/* Threads of the agent block all signals: programs must not inherit that. */
START_TEST(test_signals_are_fresh)
{
	static const char *const argv[] = { SH, "-c", "kill -TERM $$; echo survived", NULL };
	sigset_t all, before;
	struct fetch f;
	struct text out;

	fetch_init(&f, NULL, 4096);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	int err = fetch_run(&f, argv, 5000, &out);
	sigprocmask(SIG_SETMASK, &before, NULL);
	ck_assert_int_eq(err, HIWAT_E_REJECTED);
	ck_assert_ptr_nonnull(strstr(f.why.text, "killed by signal 15"));
	fetch_fini(&f);
}
END_TEST

/* A program that cannot be killed is not started a second time: here one that this test started and nobody killed. */
START_TEST(test_stuck)
{
	static const char *const argv[] = { "/bin/echo", "again", NULL };
	struct fetch f;
	struct text out;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		pause();
		_exit(0);
	}
	fetch_init(&f, NULL, 4096);
	f.stuck_pid = pid;
	ck_assert_int_eq(fetch_run(&f, argv, 5000, &out), HIWAT_E_AGAIN);
	kill(pid, SIGKILL);
	int err = HIWAT_E_AGAIN;
	for (int i = 0; i < 500 && err == HIWAT_E_AGAIN; i++) {
		err = fetch_run(&f, argv, 5000, &out);
		if (err == HIWAT_E_AGAIN)
			usleep(10000);
	}
	ck_assert_int_eq(err, HIWAT_OK);
	ck_assert(text_eq(out, "again\n"));
	ck_assert_int_eq(f.stuck_pid, 0);
	fetch_fini(&f);
}
END_TEST

static Suite *
run_program_suite(void)
{
	Suite *s = suite_create("run_program");
	TCase *t = tcase_create("all");

	setenv("HIWAT_TEST", "leaked", 1);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_run, 0, ARRAY_LEN(rows));
	tcase_add_test(t, test_kills_the_group);
	tcase_add_test(t, test_signals_are_fresh);
	tcase_add_test(t, test_stuck);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(run_program_suite)
