#include <string.h>

#include "message_overlap.h"
#include "unit.h"

static const struct {
	const char *name, *earlier, *later;
	size_t from;
} rows[] = {
	{ "the same", "a\nb\n", "a\nb\n", 4 },
	{ "more", "a\nb\n", "a\nb\nc\n", 4 },
	{ "first reading", "", "a\n", 0 },
	{ "emptied", "a\nb\n", "", 0 },
	{ "emptied and new", "a\nb\n", "c\n", 0 },
	{ "the oldest are gone", "a\nb\nc\n", "b\nc\nd\n", 4 },
	{ "cut within a line", "abc\ndef\n", "c\ndef\nghi\n", 6 },
	{ "all but the last line gone", "a\nb\nc\n", "c\nd\ne\n", 2 },
	{ "all gone", "a\nb\nc\n", "d\ne\nf\n", 0 },
	{ "repeated lines count once only", "x\nx\nx\n", "x\nx\nx\nx\n", 6 },
	{ "a repeated line pushed out", "a\nx\nx\n", "x\nx\nx\n", 4 },
	{ "looks alike, then differs", "x\nx\ny\nx\nx\n", "x\ny\nx\nx\nz\n", 8 },
	{ "an inner match is no end", "abab\ncd\n", "abab\nef\n", 0 },
	{ "emptied to its beginning", "a\nb\n", "a\n", 0 },
};

START_TEST(test_overlap)
{
	uint32_t links[64];
	struct text earlier = { rows[_i].earlier, strlen(rows[_i].earlier) };
	struct text later = { rows[_i].later, strlen(rows[_i].later) };

	size_t from = message_overlap(earlier, later, links);
	ck_assert_msg(from == rows[_i].from, "%s: %zu", rows[_i].name, from);
}
END_TEST

/* Every ring of up to 9 bytes over two letters: what comes back is the longest end that is a beginning. */
START_TEST(test_overlap_all)
{
	char earlier[8], later[8];
	uint32_t links[8];

	for (unsigned bits = 0; bits < 1u << 14; bits++) {
		size_t expected = 0;
		for (unsigned i = 0; i < 7; i++) {
			earlier[i] = bits >> i & 1 ? 'a' : 'b';
			later[i] = bits >> (7 + i) & 1 ? 'a' : 'b';
		}
		for (size_t n = 1; n <= 7; n++) {
			if (memcmp(earlier + 7 - n, later, n) == 0)
				expected = n;
		}
		ck_assert_uint_eq(message_overlap((struct text){ earlier, 7 }, (struct text){ later, 7 }, links), expected);
	}
}
END_TEST

START_TEST(test_resume)
{
	ck_assert_uint_eq(message_resume(TEXT("b\n"), TEXT("a\nb\nc\n")), 4);
	ck_assert_uint_eq(message_resume(TEXT("b\n"), TEXT("b\na\nb\nc\n")), 6);
	ck_assert_uint_eq(message_resume(TEXT("b\n"), TEXT("a\nc\n")), 0);
	ck_assert_uint_eq(message_resume(TEXT("b\n"), TEXT("b\n")), 2);
	ck_assert_uint_eq(message_resume(TEXT("abc\n"), TEXT("c\n")), 0);
	ck_assert_uint_eq(message_resume(TEXT(""), TEXT("c\n")), 0);
}
END_TEST

static Suite *
message_overlap_suite(void)
{
	Suite *s = suite_create("message_overlap");
	TCase *t = tcase_create("all");

	tcase_add_loop_test(t, test_overlap, 0, ARRAY_LEN(rows));
	tcase_add_test(t, test_overlap_all);
	tcase_add_test(t, test_resume);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(message_overlap_suite)
