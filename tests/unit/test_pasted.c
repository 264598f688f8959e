#include "unit.h"

#include "arena.h"
#include "err.h"
#include "parse.h"

/* Texts and what parsers see of them. */
static const struct {
	const char *name, *text, *seen;
} rows[] = {
	{ "nothing to do", "a\r\n  b\n", "a\r\n  b\n" },
	{ "colours and erasures", "\033[1;32ma\033[0m\033[K\n\033[38;5;9mb\033[m\n", "a\nb\n" },
	{ "a title before the prompt", "\033]0;root@host: ~\a# vmstat -i\n\033]2;x\033\\b\n", "# vmstat -i\nb\n" },
	{ "a title without an end", "\033]0;root\nb\n", "\nb\n" },
	{ "character sets and modes", "\033(Ba\033=b\033[?2004h\n", "ab\n" },
	{ "a sequence that breaks off", "a\n\033[12", "a\n" },
	{ "half of one", "a\n\033", "a\n" },
	{ "what was typed wrongly", "# vmstst\b\b\bat -i\n\bb\n", "# vmsat -i\nb\n" },
	{ "script's newlines", "a\r\r\nb\r\n", "a\r\nb\r\n" },
	{ "newlines of an old Mac", "a\rb\r", "a\nb\n" },
	{ "no-break spaces", "a\xc2\xa0 b\n", "a  b\n" },
	{ "cat -n", "     1\ta\n     2\t\tb\n     3\tc\n", "a\n\tb\nc\n" },
	{ "nl leaves out blank lines; a prompt", "$ nl x\n     1\ta\n\n     2\tb\n     3\tc\n$ \n",
	    "$ nl x\na\n\nb\nc\n$ \n" },
	{ "an editor's, from the middle", " 98 a\n 99 b\n100 c\n", "a\nb\nc\n" },
	{ "grep -n", "7:a\n8:b\n9:c\n", "a\nb\nc\n" },
	{ "numbers that do not rise by one", "1 mbufs\n2 clusters\n4 requests\n", "1 mbufs\n2 clusters\n4 requests\n" },
	{ "too few to be sure", "1 mbufs\n2 clusters\n", "1 mbufs\n2 clusters\n" },
	{ "lines between", "1 a\nb\n2 c\nd\n3 e\nf\n", "1 a\nb\n2 c\nd\n3 e\nf\n" },
	{ "a forum's indentation", "    a\n\n      b\n    \tc\n", "a\n\n  b\n\tc\n" },
	{ "an output's own", "   a\n     b\n", "   a\n     b\n" },
	{ "numbers in a quoted mail", "> 1 a\n> 2 b\n> 3 c\n", "a\nb\nc\n" },
	{ "behind a byte order mark", "\xef\xbb\xbf\033[1ma\033[0m\n", "a\n" },
};

START_TEST(test_seen)
{
	struct arena arena;

	arena_init(&arena, 1 << 16);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct text t = text_of(rows[i].text);
		ck_assert_int_eq(parse_decode(&arena, &t), HIWAT_OK);
		ck_assert_msg(text_eq(t, rows[i].seen), "%s: \"%.*s\"", rows[i].name, (int)t.n, t.p);
		/* What has been seen once is plain. */
		ck_assert_int_eq(parse_decode(&arena, &t), HIWAT_OK);
		ck_assert_msg(text_eq(t, rows[i].seen), "%s, twice: \"%.*s\"", rows[i].name, (int)t.n, t.p);
	}
	arena_fini(&arena);
}
END_TEST

/* Without memory the text stays and the error is told. */
START_TEST(test_no_memory)
{
	struct arena arena;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct text t = text_of(rows[i].text);
		arena_init(&arena, 1);
		int err = parse_decode(&arena, &t);
		ck_assert(err == HIWAT_E_NOMEM || (err == HIWAT_OK && text_eq(t, rows[i].seen)));
		arena_fini(&arena);
	}
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *s = suite_create("pasted");
	TCase *t = tcase_create("pasted");

	tcase_add_test(t, test_seen);
	tcase_add_test(t, test_no_memory);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
