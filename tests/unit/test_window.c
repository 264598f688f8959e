/* Functions over time, each on its own: what they say of a line of samples. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "window.h"

#define S 1000000000ULL

static const struct {
	const char *name;
	enum window_kind kind;
	unsigned seconds; /* of the window */
	bool from_zero;   /* the series is new: it was 0 at the time from */
	double from;
	double every;       /* seconds between samples, the first at 1000 */
	double samples[40]; /* NAN ends, HUGE_VAL: no sample */
	double want;        /* NAN: unknown, -INFINITY: false */
	double slack;       /* how far the result may be off */
} rows[] = {
	{ "rate of one sample", WINDOW_RATE_LAST, 0, false, 0, 10, { 5, NAN }, NAN, 0 },
	{ "rate of two", WINDOW_RATE_LAST, 0, false, 0, 10, { 5, 25, NAN }, 2, 0 },
	{ "rate over a gap", WINDOW_RATE_LAST, 0, false, 0, 10, { 5, HUGE_VAL, HUGE_VAL, 35, NAN }, 1, 0 },
	{ "rate of a reset", WINDOW_RATE_LAST, 0, false, 0, 10, { 50, 5, NAN }, 0, 0 },
	{ "rate of a new series", WINDOW_RATE_LAST, 0, true, 990, 10, { 50, NAN }, 5, 0 },
	{ "grows not", WINDOW_GROWS, 0, false, 0, 10, { 5, 5, 5, NAN }, -INFINITY, 0 },
	{ "grows", WINDOW_GROWS, 0, false, 0, 10, { 5, 6, 8, 8, NAN }, 3, 0 },
	{ "grows after a reset", WINDOW_GROWS, 0, false, 0, 10, { 5, 0, 1, NAN }, 1, 0 },
	{ "grew 290 s ago", WINDOW_GROWS, 0, false, 0, 290, { 5, 6, 6, NAN }, 1, 0 },
	{ "grew 300 s ago", WINDOW_GROWS, 0, false, 0, 300, { 5, 6, 6, NAN }, -INFINITY, 0 },
	{ "grows again within ten minutes", WINDOW_GROWS, 0, false, 0, 290, { 5, 6, 6, 7, NAN }, 2, 0 },
	{ "grows again after ten minutes", WINDOW_GROWS, 0, false, 0, 300, { 5, 6, 6, 7, NAN }, 1, 0 },
	{ "a new series grew", WINDOW_GROWS, 0, true, 990, 10, { 7, NAN }, 7, 0 },
	{ "increase", WINDOW_INCREASE, 60, false, 0, 10, { 0, 1, 2, 3, NAN }, 3, 1e-6 },
	{ "increase leaves the window", WINDOW_INCREASE, 60, false, 0, 10, { 0, 60, 60, 60, 60, 60, 60, 60, 60, NAN }, 0,
	    1e-6 },
	{ "increase of a steady rate", WINDOW_INCREASE, 60, false, 0, 10, { 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, NAN }, 60,
	    1e-3 },
	{ "increase of a reset", WINDOW_INCREASE, 60, false, 0, 10, { 90, 100, 5, 6, NAN }, 11, 1e-6 },
	{ "increase over a long gap", WINDOW_INCREASE, 60, false, 0, 600, { 0, 600, NAN }, 60, 1e-3 },
	{ "rate over a window", WINDOW_RATE, 60, false, 0, 10, { 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, NAN }, 1, 1e-4 },
	{ "rate over half a window", WINDOW_RATE, 60, false, 0, 10, { 0, 20, 40, NAN }, 2, 1e-6 },
	{ "rate over a window, one sample", WINDOW_RATE, 60, false, 0, 10, { 9, NAN }, NAN, 0 },
	{ "active in no minute", WINDOW_ACTIVE, 600, false, 0, 60, { 5, 5, 5, NAN }, 0, 0 },
	{ "active in two", WINDOW_ACTIVE, 600, false, 0, 60, { 5, 6, 6, 9, 9, NAN }, 2, 0 },
	{ "active twice within one", WINDOW_ACTIVE, 600, false, 0, 5, { 5, 6, 7, NAN }, 1, 0 },
	{ "active long ago", WINDOW_ACTIVE, 600, false, 0, 300, { 5, 6, 6, 6, NAN }, 0, 0 },
	{ "delta is not known yet", WINDOW_DELTA, 60, false, 0, 10, { 1, 2, 3, NAN }, NAN, 0 },
	{ "delta", WINDOW_DELTA, 60, false, 0, 10, { 1, 2, 3, 4, 5, 6, NAN }, 5, 1e-6 },
	{ "delta down", WINDOW_DELTA, 60, false, 0, 10, { 6, 5, 4, 3, 2, 1, 0, -1, -2, NAN }, -6, 1 },
	{ "average", WINDOW_AVG, 60, false, 0, 10, { 1, 2, 3, NAN }, 2, 1e-6 },
	{ "average within a bucket", WINDOW_AVG, 600, false, 0, 10, { 1, 3, NAN }, 2, 1e-6 },
	{ "maximum", WINDOW_MAX, 60, false, 0, 10, { 1, 9, 3, NAN }, 9, 1e-6 },
	{ "maximum leaves the window", WINDOW_MAX, 60, false, 0, 10, { 9, 1, 1, 1, 1, 1, 1, 1, 1, NAN }, 1, 1e-6 },
	{ "minimum", WINDOW_MIN, 60, false, 0, 10, { 4, -9, 3, NAN }, -9, 1e-6 },
	{ "changes", WINDOW_CHANGES, 60, false, 0, 10, { 4, 4, 3, 3, 5, NAN }, 2, 0 },
	{ "trend is not known yet", WINDOW_TREND, 100, false, 0, 10, { 1, 2, 3, 4, 5, NAN }, NAN, 0 },
	{ "trend up", WINDOW_TREND, 100, false, 0, 10, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, NAN }, 0.1, 1e-6 },
	{ "trend down", WINDOW_TREND, 100, false, 0, 10, { 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, NAN }, -0.1, 1e-6 },
	{ "trend of one jump", WINDOW_TREND, 100, false, 0, 10, { 1, 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9, NAN }, 0, 1e-6 },
	{ "trend of one spike", WINDOW_TREND, 100, false, 0, 10, { 1, 1, 1, 1, 1, 1, 1, 9, 1, 1, 1, 1, NAN }, 0, 1e-6 },
	{ "trend through an outlier", WINDOW_TREND, 100, false, 0, 10, { 1, 2, 3, 90, 5, 6, 7, 8, 9, 10, 11, 12, NAN }, 0.1,
	    0.02 },
	{ "trend with a hole", WINDOW_TREND, 100, false, 0, 10, { 1, 2, HUGE_VAL, 4, 5, 6, 7, 8, 9, 10, 11, 12, NAN }, 0.1,
	    1e-6 },
};

/* Room that looks used, so that what init forgets shows. */
static union {
	struct window w;
	char bytes[2048];
} room;

START_TEST(windows)
{
	struct window_shape shape = window_shape_of(rows[_i].kind, rows[_i].seconds * S);
	struct window_start start = { rows[_i].from_zero, rows[_i].from };
	double now = 1000, got = NAN;

	ck_assert_uint_le(shape.size, sizeof(room));
	memset(&room, 0xa5, sizeof(room));
	window_init(&room.w, &shape);
	ck_assert(isnan(window_read(&room.w, &shape, now)));
	for (unsigned i = 0; !isnan(rows[_i].samples[i]); i++, now += rows[_i].every) {
		if (rows[_i].samples[i] == HUGE_VAL)
			continue;
		window_push(&room.w, &shape, rows[_i].samples[i], now, &start);
		got = window_read(&room.w, &shape, now);
		ck_assert(window_is_sane(&room.w, &shape));
	}
	for (unsigned i = shape.size; i < sizeof(room); i++)
		ck_assert_msg(room.bytes[i] == (char)0xa5, "%s wrote behind its window", rows[_i].name);
	if (isinf(rows[_i].want))
		ck_assert_msg(value_is_false(got), "%s: wanted false, got %g", rows[_i].name, got);
	else if (isnan(rows[_i].want))
		ck_assert_msg(isnan(got) && !value_is_false(got), "%s: wanted unknown, got %g", rows[_i].name, got);
	else
		ck_assert_msg(fabs(got - rows[_i].want) <= rows[_i].slack, "%s: wanted %g, got %g", rows[_i].name,
		    rows[_i].want, got);
}
END_TEST

START_TEST(read_without_a_sample_moves_on)
{
	struct window_shape shape = window_shape_of(WINDOW_INCREASE, 60 * S);
	struct window_start start = { false, 0 };

	window_init(&room.w, &shape);
	window_push(&room.w, &shape, 0, 1000, &start);
	window_push(&room.w, &shape, 60, 1010, &start);
	ck_assert(fabs(window_read(&room.w, &shape, 1040) - 60) < 1e-3);
	ck_assert(window_read(&room.w, &shape, 1075) < 31);
	ck_assert(window_read(&room.w, &shape, 1090) == 0);
	ck_assert(window_read(&room.w, &shape, 1e7) == 0);
}
END_TEST

START_TEST(a_boot_starts_counters_at_zero)
{
	struct window_shape shape = window_shape_of(WINDOW_RATE_LAST, 0);
	struct window_start start = { false, 0 };

	window_init(&room.w, &shape);
	window_push(&room.w, &shape, 500, 1000, &start);
	window_reboot(&room.w, &shape);
	window_push(&room.w, &shape, 40, 20, &start);
	ck_assert(window_read(&room.w, &shape, 20) == 2);
	/* What is kept over a boot goes on, over two as well. */
	window_init(&room.w, &shape);
	window_push(&room.w, &shape, 500, 1000, &start);
	window_reboot(&room.w, &shape);
	window_reboot(&room.w, &shape);
	window_push(&room.w, &shape, 540, 20, &start);
	ck_assert(window_read(&room.w, &shape, 20) == 2);
	window_push(&room.w, &shape, 540, 30, &start);
	ck_assert(window_read(&room.w, &shape, 30) == 0);
	/* A window that had no sample still has none. */
	window_init(&room.w, &shape);
	window_reboot(&room.w, &shape);
	window_push(&room.w, &shape, 40, 20, &start);
	ck_assert(isnan(window_read(&room.w, &shape, 20)));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("window");
	TCase *tc = tcase_create("window");

	tcase_add_loop_test(tc, windows, 0, ARRAY_LEN(rows));
	tcase_add_test(tc, read_without_a_sample_moves_on);
	tcase_add_test(tc, a_boot_starts_counters_at_zero);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
