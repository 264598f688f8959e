#include "unit.h"

#include "order.h"

/* Each row: what the order is asked, and what it must say. Sequences of the spool are oldest..newest, without gaps. */
START_TEST(short_backlog_in_turn)
{
	struct order o;
	uint64_t above;

	order_reset(&o);
	ck_assert_int_eq(order_next(&o, 1, 0, 0, &above), ORDER_NOTHING);
	for (uint64_t i = 1; i <= ORDER_BACKLOG_SHORT; i++) {
		ck_assert_int_eq(order_next(&o, 1, ORDER_BACKLOG_SHORT, 0, &above), ORDER_IN_TURN);
		ck_assert_uint_eq(above, i - 1);
		order_sent(&o, ORDER_IN_TURN, i, 0, 0);
	}
	ck_assert_int_eq(order_next(&o, 1, ORDER_BACKLOG_SHORT, 0, &above), ORDER_NOTHING);
	/* What was dropped or acknowledged meanwhile is not waited for. */
	ck_assert_int_eq(order_next(&o, 101, 105, 0, &above), ORDER_IN_TURN);
	ck_assert_uint_eq(above, 100);
}
END_TEST

START_TEST(long_backlog_behind_live)
{
	struct order o;
	uint64_t above;

	order_reset(&o);
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_LIVE);
	ck_assert_uint_eq(above, 99);
	order_sent(&o, ORDER_LIVE, 100, 0, 0);
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_BACKLOG);
	ck_assert_uint_eq(above, 0);
	order_sent(&o, ORDER_BACKLOG, 1, 50, 1000);
	ck_assert_int_eq(order_next(&o, 1, 100, 1049, &above), ORDER_WAIT);
	/* A new one does not wait. */
	ck_assert_int_eq(order_next(&o, 1, 101, 1049, &above), ORDER_LIVE);
	ck_assert_uint_eq(above, 100);
	order_sent(&o, ORDER_LIVE, 101, 0, 1049);
	ck_assert_int_eq(order_next(&o, 1, 101, 1050, &above), ORDER_BACKLOG);
	ck_assert_uint_eq(above, 1);
	for (uint64_t i = 2; i < 100; i++) {
		ck_assert_int_eq(order_next(&o, 1, 101, 2000, &above), ORDER_BACKLOG);
		ck_assert(order_accepts(&o, ORDER_BACKLOG, i));
		order_sent(&o, ORDER_BACKLOG, i, 0, 2000);
	}
	/* The backlog has reached what was sent as new: nothing is sent twice. */
	ck_assert_int_eq(order_next(&o, 1, 101, 2000, &above), ORDER_NOTHING);
	ck_assert_int_eq(order_next(&o, 1, 102, 2000, &above), ORDER_IN_TURN);
	ck_assert_uint_eq(above, 101);
}
END_TEST

/* The collector was restarted and has the new ones no longer, which shows when the backlog has reached them. */
START_TEST(live_ones_were_lost)
{
	struct order o;
	uint64_t above;

	order_reset(&o);
	ck_assert_int_eq(order_next(&o, 98, 200, 0, &above), ORDER_LIVE);
	order_sent(&o, ORDER_LIVE, 200, 0, 0);
	for (uint64_t i = 98; i < 200; i++) {
		ck_assert_int_eq(order_next(&o, 98, 200, 0, &above), ORDER_BACKLOG);
		ck_assert_uint_eq(above, i - 1);
		order_sent(&o, ORDER_BACKLOG, i, 0, 0);
		ck_assert(order_is_short(&o, i));
		ck_assert(!order_acknowledged(&o, i, i + 1, 98));
	}
	ck_assert_int_eq(order_next(&o, 98, 200, 0, &above), ORDER_IN_TURN);
	ck_assert_uint_eq(above, 199);
	order_sent(&o, ORDER_IN_TURN, 200, 0, 0);
	ck_assert(!order_acknowledged(&o, 200, 0, 98));
	ck_assert(!order_is_short(&o, 200));
	ck_assert_int_eq(order_next(&o, 98, 200, 0, &above), ORDER_NOTHING);
}
END_TEST

START_TEST(backlog_ends_in_a_gap)
{
	struct order o;
	uint64_t above;

	order_reset(&o);
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_LIVE);
	order_sent(&o, ORDER_LIVE, 100, 0, 0);
	/* 1..99 were all damaged: the next one that is found is the one already sent. */
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_BACKLOG);
	ck_assert(!order_accepts(&o, ORDER_BACKLOG, 100));
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_NOTHING);
}
END_TEST

START_TEST(failure_tries_the_other_end)
{
	struct order o;
	uint64_t above;

	order_reset(&o);
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_LIVE);
	order_failed(&o);
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_BACKLOG);
	order_failed(&o);
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_LIVE);
	order_failed(&o);
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_BACKLOG);
	order_sent(&o, ORDER_BACKLOG, 1, 0, 0);
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_LIVE);
	/* In turn there is but one end. */
	order_reset(&o);
	ck_assert_int_eq(order_next(&o, 1, 5, 0, &above), ORDER_IN_TURN);
	order_failed(&o);
	ck_assert_int_eq(order_next(&o, 1, 5, 0, &above), ORDER_IN_TURN);
	ck_assert_uint_eq(above, 0);
}
END_TEST

START_TEST(missing_is_passed_over)
{
	struct order o;
	uint64_t above;

	order_reset(&o);
	ck_assert_int_eq(order_next(&o, 1, 5, 0, &above), ORDER_IN_TURN);
	order_missing(&o, ORDER_IN_TURN, 5);
	ck_assert_int_eq(order_next(&o, 1, 5, 0, &above), ORDER_NOTHING);
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_LIVE);
	order_missing(&o, ORDER_LIVE, 100);
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_BACKLOG);
	order_missing(&o, ORDER_BACKLOG, 100);
	ck_assert_int_eq(order_next(&o, 1, 100, 0, &above), ORDER_NOTHING);
}
END_TEST

static const struct {
	const char *name;
	uint64_t sent_before, received, next, oldest;
	bool lost;
	uint64_t sent;
} lost_rows[] = {
	{ "all there", 10, 11, 12, 5, false, 11 },
	{ "the last one alone is not enough to tell", 10, 10, 11, 5, false, 11 },
	{ "forgotten since 5", 10, 5, 6, 3, true, 5 },
	{ "nothing is left in the spool", 10, 5, 0, 11, false, 11 },
	{ "a gap that the collector has not been told of", 10, 5, 7, 3, false, 11 },
	{ "a gap that it has been told of, and 7 is missing", 10, 5, 7, 7, true, 6 },
};

START_TEST(lost_batches_are_sent_again)
{
	struct order o = { .sent = 11, .sent_before = lost_rows[_i].sent_before };

	ck_assert(
	    order_acknowledged(&o, lost_rows[_i].received, lost_rows[_i].next, lost_rows[_i].oldest) == lost_rows[_i].lost);
	ck_assert_uint_eq(o.sent, lost_rows[_i].sent);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *s = suite_create("order");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, short_backlog_in_turn);
	tcase_add_test(tc, long_backlog_behind_live);
	tcase_add_test(tc, live_ones_were_lost);
	tcase_add_test(tc, backlog_ends_in_a_gap);
	tcase_add_test(tc, failure_tries_the_other_end);
	tcase_add_test(tc, missing_is_passed_over);
	tcase_add_loop_test(tc, lost_batches_are_sent_again, 0, ARRAY_LEN(lost_rows));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
