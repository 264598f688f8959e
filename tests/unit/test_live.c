#include "unit.h"

#include <stdio.h>

#include "live.h"

#define W32 (UINT64_C(1) << 32)

static const struct {
	const char *name;
	uint64_t before, now, growth;
} growth_rows[] = {
	{ "grows", 10, 15, 5 },
	{ "stands", 10, 10, 0 },
	{ "wraps at 32 bits", W32 - 10, 5, 15 },
	{ "a part of a 64-bit sum wraps", 3 * W32 + 100, 2 * W32 + 150, 50 },
	{ "began anew", 1000, 7, 7 },
	{ "began anew, large", W32 / 2, 7, 7 },
	{ "from zero", 0, W32 - 1, W32 - 1 },
	{ "64 bits step back", UINT64_MAX, 3, 3 },
};

START_TEST(growth)
{
	ck_assert_msg(live_growth(growth_rows[_i].before, growth_rows[_i].now) == growth_rows[_i].growth, "%s",
	    growth_rows[_i].name);
}
END_TEST

static struct live *live;

static void
setup(void)
{
	live = live_new();
	ck_assert_ptr_nonnull(live);
}

static void
teardown(void)
{
	live_free(live);
}

/* One reading of one row; n numbers of CPUs 0, 1, ... but for those that are UINT64_MAX: off line. */
static uint64_t
read_row(const char *name, const uint64_t *numbers, size_t n)
{
	uint32_t cpus[8];
	uint64_t raw[8];
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (numbers[i] == UINT64_MAX)
			continue;
		cpus[count] = (uint32_t)i;
		raw[count++] = numbers[i];
	}
	struct live_row *row = live_add(live, text_of(name), cpus, raw, count);
	ck_assert_ptr_nonnull(row);
	return row->total;
}

#define OFF UINT64_MAX

START_TEST(cpus_wrap_and_go_off_line)
{
	static const struct {
		uint64_t raw[3], total;
	} readings[] = {
		{ { 100, W32 - 50, OFF }, W32 + 50 }, { { 110, 10, OFF }, W32 + 50 + 10 + 60 },
		{ { 120, OFF, OFF }, W32 + 50 + 20 + 60 }, { { 120, 30, OFF }, W32 + 50 + 20 + 80 },
		{ { 120, 30, 5000 }, W32 + 50 + 20 + 80 }, /* counts from here on */
		{ { OFF, OFF, 5001 }, W32 + 50 + 20 + 80 + 1 }, { { 121, 31, 5001 }, W32 + 50 + 20 + 80 + 3 },
		{ { 5, 31, 5001 }, W32 + 50 + 20 + 80 + 8 }, /* the driver was loaded anew */
	};

	for (size_t i = 0; i < ARRAY_LEN(readings); i++) {
		live_begin(live);
		ck_assert_msg(read_row("24", readings[i].raw, 3) == readings[i].total, "reading %zu", i);
	}
}
END_TEST

START_TEST(rows_in_any_order)
{
	uint64_t one = 1, two = 2, ten = 10;

	live_begin(live);
	read_row("a", &one, 1);
	read_row("b", &two, 1);
	live_begin(live);
	ck_assert(read_row("b", &ten, 1) == 10);
	ck_assert(read_row("a", &ten, 1) == 10);
	live_begin(live);
	ck_assert(read_row("c", &ten, 1) == 10);
	ck_assert(read_row("b", &ten, 1) == 10);
	/* The same name again is another row. */
	ck_assert(read_row("b", &two, 1) == 2);
	live_begin(live);
	ck_assert(read_row("b", &ten, 1) == 10);
	ck_assert(read_row("b", &two, 1) == 2);
	ck_assert_ptr_null(live_find(live, TEXT("a")));
	ck_assert_ptr_nonnull(live_find(live, TEXT("b")));
}
END_TEST

START_TEST(late_rows_began_at_zero)
{
	uint64_t five = 5;

	live_begin(live);
	ck_assert(live_add_one(live, TEXT("a"), 7)->grown == 0);
	live_begin(live);
	read_row("b", &five, 1);
	ck_assert(live_find(live, TEXT("b"))->grown == 5);
}
END_TEST

START_TEST(wavering_numbers)
{
	static const uint64_t raw[] = { 1000, 1100, 1095, 1105, 20, 50 };
	static const uint64_t total[] = { 1000, 1100, 1100, 1105, 1105, 1135 };

	for (size_t i = 0; i < ARRAY_LEN(raw); i++) {
		live_begin(live);
		ck_assert(live_add_wavering(live, TEXT("idle"), raw[i], 100)->total == total[i]);
	}
}
END_TEST

START_TEST(rows_of_devices_that_are_gone_are_forgotten)
{
	char name[16];

	for (unsigned i = 0; i < 3 * LIVE_ROWS_MAX; i++) {
		live_begin(live);
		snprintf(name, sizeof(name), "%u", i);
		ck_assert_ptr_nonnull(live_add_one(live, text_of(name), i));
		ck_assert_ptr_nonnull(live_add_one(live, TEXT("kept"), i));
	}
	ck_assert(live_find(live, TEXT("kept"))->total == 3 * LIVE_ROWS_MAX - 1);
}
END_TEST

START_TEST(rows_have_a_ceiling)
{
	char name[16];
	unsigned n = 0;

	live_begin(live);
	for (; n < 2 * LIVE_ROWS_MAX; n++) {
		snprintf(name, sizeof(name), "%u", n);
		if (live_add_one(live, text_of(name), 1) == NULL)
			break;
	}
	ck_assert_uint_eq(n, LIVE_ROWS_MAX);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("live");
	TCase *tc = tcase_create("live");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, growth, 0, ARRAY_LEN(growth_rows));
	tcase_add_test(tc, cpus_wrap_and_go_off_line);
	tcase_add_test(tc, rows_in_any_order);
	tcase_add_test(tc, late_rows_began_at_zero);
	tcase_add_test(tc, wavering_numbers);
	tcase_add_test(tc, rows_of_devices_that_are_gone_are_forgotten);
	tcase_add_test(tc, rows_have_a_ceiling);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
