#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "record.h"
#include "runner.h"

/* A source under the test's control: what it answers, and a pipe that a sample waits for first. */
struct fake {
	int err;
	int pipe[2]; /* -1: no waiting */
	int samples;
	bool closed;
};
static struct fake plain, blocking;

static int
open_plain(const struct sampler_config *config, void **state)
{
	(void)config;
	*state = &plain;
	return HIWAT_OK;
}

static int
open_blocking(const struct sampler_config *config, void **state)
{
	(void)config;
	*state = &blocking;
	return HIWAT_OK;
}

static int
sample_fake(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct fake *f = state;
	char byte;

	(void)now;
	__atomic_add_fetch(&f->samples, 1, __ATOMIC_SEQ_CST);
	if (f->pipe[0] >= 0)
		ck_assert_int_eq(read(f->pipe[0], &byte, 1), 1);
	if (f->err != HIWAT_OK) {
		snprintf(why->text, sizeof(why->text), "fake source says no");
		return f->err;
	}
	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);
	ck_assert_ptr_nonnull(net);
	return HIWAT_OK;
}

static void
close_fake(void *state)
{
	__atomic_store_n(&((struct fake *)state)->closed, true, __ATOMIC_SEQ_CST);
}

static const struct sampler fake_plain = { .name = "plain",
	.help = "",
	.interval_ms = 10000,
	.deadline_ms = 3000,
	.open = open_plain,
	.sample = sample_fake,
	.close = close_fake };
static const struct sampler fake_blocking = { .name = "blocking",
	.help = "",
	.interval_ms = 10000,
	.deadline_ms = 1000,
	.may_block = true,
	.open = open_blocking,
	.sample = sample_fake,
	.close = close_fake };
static bool
is_configured(const struct sampler_config *c)
{
	return c->rndc != NULL;
}

static const struct sampler fake_paced = { .name = "paced",
	.help = "",
	.interval_ms = 10000,
	.deadline_ms = 60000,
	.may_block = true,
	.is_paced = true,
	.only_configured = true,
	.open = open_blocking,
	.sample = sample_fake,
	.close = close_fake,
	.is_configured = is_configured };
static const struct sampler *const paced[] = { &fake_paced, NULL };
static const struct sampler *const both[] = { &fake_blocking, &fake_plain, NULL };

static char dir[] = "/tmp/hiwat-runner-XXXXXX";
static struct sampler_config config;
static struct runner *under_test;
static struct arena arena;
static Hiwat__Batch batch;

static void
make_runner(void)
{
	ck_assert_int_eq(runner_new(&config, both, 42, &under_test), HIWAT_OK);
}

static void
setup(void)
{
	plain = blocking = (struct fake){ .pipe = { -1, -1 } };
	snprintf(dir, sizeof(dir), "/tmp/hiwat-runner-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	config = (struct sampler_config){ .state_dir = dir };
	arena_init(&arena, 1 << 20);
	hiwat__batch__init(&batch);
	make_runner();
}

static void
teardown(void)
{
	char path[64];

	runner_free(under_test);
	arena_fini(&arena);
	snprintf(path, sizeof(path), "%s/samplers", dir);
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
}

static void
wait_for_thread(void)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	fd_set fds;

	for (int i = 0; i < 10000; i++) {
		FD_ZERO(&fds);
		FD_SET(runner_fd(under_test), &fds);
		if (select(runner_fd(under_test) + 1, &fds, NULL, NULL, &(struct timeval){ 0 }) == 1)
			return;
		nanosleep(&pause, NULL);
	}
	ck_abort_msg("the thread did not finish");
}

/* On a busy machine a thread may need longer than the grace: then its record comes with a second call. */
static void
tick_at(uint64_t seconds)
{
	struct sampler_now now = { .wall_ns = (1000 + seconds) * NSEC_PER_SEC, .boot_ns = seconds * NSEC_PER_SEC };

	arena_reset(&arena);
	hiwat__batch__init(&batch);
	ck_assert_int_eq(runner_tick(under_test, &now, &arena, &batch), HIWAT_OK);
	if (blocking.pipe[0] < 0 && runner_due(under_test) < runner_next_sample(under_test)) {
		wait_for_thread();
		ck_assert_int_eq(runner_tick(under_test, &now, &arena, &batch), HIWAT_OK);
	}
}

/* The verdict of a sampler in the last batch, "" when it has no record there. */
static const char *
verdict_of(const char *name)
{
	const char *found = "";

	for (size_t i = 0; i < batch.n_records; i++) {
		const Hiwat__Sampler *status = batch.records[i]->status;
		if (strcmp(status->sampler, name) != 0)
			continue;
		ck_assert_str_eq(found, "");
		found = status->verdict->verdict;
		ck_assert_int_eq(status->up, strcmp(found, "ok") == 0);
		ck_assert_int_eq(status->has_reason, strcmp(found, "ok") != 0);
		ck_assert_int_eq(batch.records[i]->net != NULL, strcmp(found, "ok") == 0);
	}
	return found;
}

START_TEST(first_tick_samples_all_then_by_interval)
{
	tick_at(100);
	ck_assert_str_eq(verdict_of("plain"), "ok");
	ck_assert_str_eq(verdict_of("blocking"), "ok");
	uint64_t due = runner_due(under_test);
	ck_assert(due > 100 * NSEC_PER_SEC && due <= 110 * NSEC_PER_SEC);
	ck_assert(runner_next_sample(under_test) == due);
	tick_at(100);
	ck_assert_uint_eq(batch.n_records, 0);
	tick_at(110);
	ck_assert_uint_eq(batch.n_records, 2);
	/* Ticks that were slept through are not made up for. */
	tick_at(500);
	ck_assert_uint_eq(batch.n_records, 2);
	ck_assert(runner_due(under_test) > 500 * NSEC_PER_SEC);
	ck_assert_int_eq(plain.samples, 3);
	ck_assert_int_eq(blocking.samples, 3);
}
END_TEST

START_TEST(phases_differ_between_hosts)
{
	struct runner *other;

	tick_at(100);
	uint64_t due = runner_due(under_test);
	ck_assert_int_eq(runner_new(&config, both, 43, &other), HIWAT_OK);
	struct sampler_now now = { .wall_ns = 1, .boot_ns = 100 * NSEC_PER_SEC };
	ck_assert_int_eq(runner_tick(other, &now, &arena, &batch), HIWAT_OK);
	ck_assert(runner_due(other) != due);
	runner_free(other);
}
END_TEST

START_TEST(intervals_are_set_by_name)
{
	ck_assert_int_eq(runner_set_interval(under_test, "blocking", 0), HIWAT_OK);
	ck_assert_int_eq(runner_set_interval(under_test, "plain", 1000), HIWAT_OK);
	ck_assert_int_eq(runner_set_interval(under_test, "plan", 1000), HIWAT_E_MISSING);
	tick_at(100);
	ck_assert_str_eq(verdict_of("blocking"), "");
	tick_at(101);
	ck_assert_str_eq(verdict_of("plain"), "ok");
	ck_assert_int_eq(blocking.samples, 0);
}
END_TEST

static const struct {
	int err;
	const char *verdict;
} verdict_rows[] = {
	{ HIWAT_OK, "ok" },
	{ HIWAT_E_DENIED, "denied" },
	{ HIWAT_E_MISSING, "" },
	{ HIWAT_E_TIMEOUT, "timeout" },
	{ HIWAT_E_TRUNCATED, "truncated" },
	{ HIWAT_E_IMPLAUSIBLE, "implausible" },
	{ HIWAT_E_FORMAT, "unknown_format" },
	{ HIWAT_E_NODATA, "unknown_format" },
	{ HIWAT_E_SYS, "failed" },
	{ HIWAT_E_NOMEM, "failed" },
};

START_TEST(errors_become_verdicts)
{
	plain.err = blocking.err = verdict_rows[_i].err;
	tick_at(100);
	ck_assert_str_eq(verdict_of("plain"), verdict_rows[_i].verdict);
	ck_assert_str_eq(verdict_of("blocking"), verdict_rows[_i].verdict);
}
END_TEST

START_TEST(missing_counts_once_it_has_worked)
{
	tick_at(100);
	plain.err = HIWAT_E_MISSING;
	tick_at(110);
	ck_assert_str_eq(verdict_of("plain"), "missing");
	for (size_t i = 0; i < batch.n_records; i++)
		ck_assert(batch.records[i]->status->last_success_time_seconds ==
		    (strcmp(batch.records[i]->status->sampler, "plain") == 0 ? 1100 : 1110));
	/* The installation remembers. */
	runner_free(under_test);
	make_runner();
	tick_at(120);
	ck_assert_str_eq(verdict_of("plain"), "missing");
}
END_TEST

START_TEST(hung_source_costs_one_deadline)
{
	ck_assert_int_eq(pipe(blocking.pipe), 0);
	tick_at(100);
	ck_assert_str_eq(verdict_of("plain"), "ok");
	ck_assert_str_eq(verdict_of("blocking"), "");
	ck_assert(runner_due(under_test) == 101 * NSEC_PER_SEC);
	tick_at(101);
	ck_assert_str_eq(verdict_of("blocking"), "timeout");
	ck_assert(runner_due(under_test) > 101 * NSEC_PER_SEC);
	/* Not asked again while it hangs, but told at every interval. */
	tick_at(110);
	ck_assert_str_eq(verdict_of("plain"), "ok");
	ck_assert_str_eq(verdict_of("blocking"), "timeout");
	ck_assert_int_eq(__atomic_load_n(&blocking.samples, __ATOMIC_SEQ_CST), 1);
	/* What comes too late is dropped; then it is asked again. */
	ck_assert_int_eq(write(blocking.pipe[1], "xx", 2), 2);
	wait_for_thread();
	tick_at(112);
	ck_assert_uint_eq(batch.n_records, 0);
	tick_at(120);
	ck_assert_str_eq(verdict_of("blocking"), "ok");
	ck_assert_int_eq(blocking.samples, 2);
	close(blocking.pipe[0]);
	close(blocking.pipe[1]);
}
END_TEST

START_TEST(slow_source_comes_with_a_later_tick)
{
	ck_assert_int_eq(pipe(blocking.pipe), 0);
	tick_at(100);
	ck_assert_str_eq(verdict_of("blocking"), "");
	ck_assert_int_eq(write(blocking.pipe[1], "x", 1), 1);
	wait_for_thread();
	tick_at(100);
	ck_assert_uint_eq(batch.n_records, 1);
	/* Its real duration decides between ok and timeout: the test does not. */
	ck_assert_str_ne(verdict_of("blocking"), "");
	close(blocking.pipe[0]);
	close(blocking.pipe[1]);
}
END_TEST

START_TEST(a_hung_thread_is_left_behind)
{
	ck_assert_int_eq(pipe(blocking.pipe), 0);
	tick_at(100);
	runner_free(under_test);
	ck_assert(plain.closed);
	ck_assert(!__atomic_load_n(&blocking.closed, __ATOMIC_SEQ_CST));
	/* Let it go, so that the sanitizers see that it frees what it owns. */
	ck_assert_int_eq(write(blocking.pipe[1], "x", 1), 1);
	for (int i = 0; i < 10000 && !__atomic_load_n(&blocking.closed, __ATOMIC_SEQ_CST); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	ck_assert(__atomic_load_n(&blocking.closed, __ATOMIC_SEQ_CST));
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	close(blocking.pipe[0]);
	close(blocking.pipe[1]);
	blocking = (struct fake){ .pipe = { -1, -1 } };
	make_runner();
}
END_TEST

/* A sample that takes at least this long, by the monotonic clock. */
static void
take_slowly(uint64_t seconds, long ms)
{
	struct timespec pause = { .tv_nsec = ms * 1000000 };
	struct sampler_now now = { .wall_ns = seconds * NSEC_PER_SEC, .boot_ns = seconds * NSEC_PER_SEC };

	ck_assert_int_eq(pipe(blocking.pipe), 0);
	arena_reset(&arena);
	hiwat__batch__init(&batch);
	ck_assert_int_eq(runner_tick(under_test, &now, &arena, &batch), HIWAT_OK);
	nanosleep(&pause, NULL);
	ck_assert_int_eq(write(blocking.pipe[1], "x", 1), 1);
	wait_for_thread();
	ck_assert_int_eq(runner_tick(under_test, &now, &arena, &batch), HIWAT_OK);
	close(blocking.pipe[0]);
	close(blocking.pipe[1]);
	blocking.pipe[0] = -1;
	ck_assert_uint_eq(batch.n_records, 1);
}

START_TEST(a_slow_source_is_asked_less_often)
{
	runner_free(under_test);
	config.rndc = "/rndc";
	ck_assert_int_eq(runner_new(&config, paced, 42, &under_test), HIWAT_OK);
	tick_at(100);
	ck_assert_uint_eq(batch.n_records, 1);
	ck_assert(runner_next_sample(under_test) <= 110 * NSEC_PER_SEC);
	/* 300 ms of 1 % are 30 s, on the grid of its interval; whatever it takes, five minutes are the most. */
	take_slowly(110, 300);
	uint64_t due_ns = runner_next_sample(under_test);
	ck_assert(due_ns >= 140 * NSEC_PER_SEC && due_ns <= 420 * NSEC_PER_SEC);
	tick_at(110 + 20);
	ck_assert_uint_eq(batch.n_records, 0);
	tick_at(due_ns / NSEC_PER_SEC + 1);
	ck_assert_uint_eq(batch.n_records, 1);
	runner_free(under_test);
	config.dns_budget_percent = 100;
	ck_assert_int_eq(runner_new(&config, paced, 42, &under_test), HIWAT_OK);
	take_slowly(1000, 300);
	ck_assert(runner_next_sample(under_test) <= 1010 * NSEC_PER_SEC);
}
END_TEST

START_TEST(what_is_not_configured_never_runs)
{
	runner_free(under_test);
	ck_assert_int_eq(runner_new(&config, paced, 42, &under_test), HIWAT_OK);
	ck_assert_int_eq(runner_set_interval(under_test, "paced", 1000), HIWAT_OK);
	ck_assert(runner_next_sample(under_test) == UINT64_MAX);
	tick_at(100);
	ck_assert_uint_eq(batch.n_records, 0);
	ck_assert_int_eq(blocking.samples, 0);
}
END_TEST

START_TEST(once_waits_for_threads)
{
	struct sampler_now now = { .wall_ns = 1, .boot_ns = 1 };

	ck_assert_int_eq(pipe(blocking.pipe), 0);
	ck_assert_int_eq(runner_once(under_test, &now, &arena, &batch), HIWAT_OK);
	ck_assert_str_eq(verdict_of("plain"), "ok");
	ck_assert_str_eq(verdict_of("blocking"), "timeout");
	ck_assert_int_eq(write(blocking.pipe[1], "x", 1), 1);
	wait_for_thread();
	tick_at(2);
	close(blocking.pipe[0]);
	close(blocking.pipe[1]);
}
END_TEST

START_TEST(full_arena_is_an_error)
{
	struct sampler_now now = { .wall_ns = 1, .boot_ns = 100 * NSEC_PER_SEC };
	struct arena tiny;

	arena_init(&tiny, 64);
	hiwat__batch__init(&batch);
	ck_assert_int_eq(runner_tick(under_test, &now, &tiny, &batch), HIWAT_E_NOMEM);
	arena_fini(&tiny);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("runner");
	TCase *tc = tcase_create("runner");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, first_tick_samples_all_then_by_interval);
	tcase_add_test(tc, phases_differ_between_hosts);
	tcase_add_test(tc, intervals_are_set_by_name);
	tcase_add_loop_test(tc, errors_become_verdicts, 0, ARRAY_LEN(verdict_rows));
	tcase_add_test(tc, missing_counts_once_it_has_worked);
	tcase_add_test(tc, hung_source_costs_one_deadline);
	tcase_add_test(tc, slow_source_comes_with_a_later_tick);
	tcase_add_test(tc, a_hung_thread_is_left_behind);
	tcase_add_test(tc, a_slow_source_is_asked_less_often);
	tcase_add_test(tc, what_is_not_configured_never_runs);
	tcase_add_test(tc, once_waits_for_threads);
	tcase_add_test(tc, full_arena_is_an_error);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
