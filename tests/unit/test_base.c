#include "unit.h"

#include <math.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "log.h"
#include "scan.h"
#include "utf8.h"

static const struct {
	const char *text;
	int err;
	uint64_t value;
	size_t left;
} u64_rows[] = {
	{ "0", 0, 0, 0 },
	{ "18446744073709551615", 0, UINT64_MAX, 0 },
	{ "18446744073709551616", HIWAT_E_RANGE, 7, 20 },
	{ "99999999999999999999999", HIWAT_E_RANGE, 7, 23 },
	{ "12K", 0, 12, 1 },
	{ "", HIWAT_E_FORMAT, 7, 0 },
	{ "-1", HIWAT_E_FORMAT, 7, 2 },
	{ " 1", HIWAT_E_FORMAT, 7, 2 },
};

START_TEST(scan_u64)
{
	struct text t = text_of(u64_rows[_i].text);
	uint64_t value = 7;

	ck_assert_int_eq(text_u64(&t, &value), u64_rows[_i].err);
	ck_assert_uint_eq(value, u64_rows[_i].value);
	ck_assert_uint_eq(t.n, u64_rows[_i].left);
}
END_TEST

static const struct {
	const char *text;
	int err;
	double value;
} double_rows[] = {
	{ "1.5", 0, 1.5 },
	{ "-0.25", 0, -0.25 },
	{ "1.5e+02", 0, 150 },
	{ "1e-3x", 0, 0.001 },
	{ ".5", 0, 0.5 },
	{ "5.", 0, 5 },
	{ "12345678901234567890", 0, 12345678901234567890.0 },
	{ "0.000001", 0, 0.000001 },
	{ "2e", 0, 2 },
	{ "1e9999", HIWAT_E_RANGE, 7 },
	{ "1e400", HIWAT_E_RANGE, 7 },
	{ ".", HIWAT_E_FORMAT, 7 },
	{ "nan", HIWAT_E_FORMAT, 7 },
	{ "", HIWAT_E_FORMAT, 7 },
};

START_TEST(scan_double)
{
	struct text t = text_of(double_rows[_i].text);
	double value = 7;

	ck_assert_int_eq(text_double(&t, &value), double_rows[_i].err);
	ck_assert(fabs(value - double_rows[_i].value) <= 1e-12 * fabs(double_rows[_i].value));
}
END_TEST

START_TEST(scan_lines_and_words)
{
	struct text rest = text_of("one two\r\n\nlast"), line, word;
	bool cut;

	ck_assert(text_line(&rest, &line, &cut));
	ck_assert(text_eq(line, "one two"));
	ck_assert(!cut);
	ck_assert(text_word(&line, &word) && text_eq(word, "one"));
	ck_assert(text_last_word(&line, &word) && text_eq(word, "two"));
	ck_assert(!text_word(&line, &word));
	ck_assert(text_line(&rest, &line, &cut) && line.n == 0);
	ck_assert(text_line(&rest, &line, &cut) && text_eq(line, "last") && cut);
	ck_assert(!text_line(&rest, &line, &cut));
	rest = text_of("a=b");
	ck_assert(text_until(&rest, '=', &word) && text_eq(word, "a") && text_eq(rest, "b"));
	ck_assert(!text_until(&rest, '=', &word));
	ck_assert_int_eq(text_find(text_of("xx yy"), "yy"), 3);
	ck_assert_int_eq(text_find(text_of("xyx"), "xx"), -1);
	ck_assert_int_eq(text_find(text_of(""), "x"), -1);
}
END_TEST

START_TEST(scan_hex_and_signed)
{
	struct text t = text_of("0xffffffffffffffff!");
	uint64_t u = 0;
	int64_t i = 0;

	ck_assert_int_eq(text_hex(&t, &u), 0);
	ck_assert(u == UINT64_MAX && t.n == 1);
	t = text_of("10000000000000000");
	ck_assert_int_eq(text_hex(&t, &u), HIWAT_E_RANGE);
	t = text_of("-9223372036854775808");
	ck_assert_int_eq(text_i64(&t, &i), 0);
	ck_assert(i == INT64_MIN);
	t = text_of("9223372036854775808");
	ck_assert_int_eq(text_i64(&t, &i), HIWAT_E_RANGE);
}
END_TEST

START_TEST(arena_has_a_ceiling)
{
	struct arena a;
	void *array = NULL;

	arena_init(&a, 1000);
	ck_assert_ptr_nonnull(arena_alloc(&a, 100));
	ck_assert_ptr_null(arena_alloc(&a, 1000));
	ck_assert(a.failed);
	ck_assert_ptr_null(arena_calloc(&a, SIZE_MAX / 2, 4));
	arena_reset(&a);
	ck_assert(!a.failed);
	char *p = arena_alloc(&a, 900);
	ck_assert_ptr_nonnull(p);
	for (int i = 0; i < 900; i++)
		ck_assert_int_eq(p[i], 0);
	memset(p, 1, 900);
	arena_reset(&a);
	for (size_t i = 0; i < 20; i++) {
		int *slot = arena_grow(&a, &array, i, sizeof(int));
		ck_assert_ptr_nonnull(slot);
		*slot = (int)i;
	}
	for (size_t i = 0; i < 20; i++)
		ck_assert_int_eq(((int *)array)[i], (int)i);
	arena_fini(&a);
}
END_TEST

START_TEST(arena_keeps_its_chunks)
{
	struct arena a;

	arena_init(&a, 1 << 20);
	for (int round = 0; round < 3; round++) {
		struct arena_chunk *first = a.first;
		for (int i = 0; i < 500; i++)
			ck_assert_ptr_nonnull(arena_alloc(&a, 1000));
		if (round > 0)
			ck_assert_ptr_eq(a.first, first);
		arena_reset(&a);
	}
	arena_fini(&a);
}
END_TEST

START_TEST(buf_has_a_ceiling)
{
	struct buf b;

	buf_init(&b, 10);
	ck_assert_str_eq(buf_str(&b), "");
	buf_printf(&b, "%s-%d", "abc", 42);
	ck_assert_str_eq(buf_str(&b), "abc-42");
	buf_puts(&b, "12345");
	ck_assert(!buf_ok(&b));
	ck_assert_str_eq(buf_str(&b), "abc-42");
	buf_reset(&b);
	ck_assert(buf_ok(&b));
	buf_puts(&b, "0123456789");
	ck_assert(buf_ok(&b));
	buf_fini(&b);
}
END_TEST

/* Content of some length against a ceiling: what fits exactly is taken. */
static const struct {
	size_t len, limit;
	int err;
} read_rows[] = {
	{ 0, 10, HIWAT_OK },
	{ 9, 10, HIWAT_OK },
	{ 10, 10, HIWAT_OK },
	{ 11, 10, HIWAT_E_TOOBIG },
	{ 65536, 65536, HIWAT_OK },
	{ 65537, 65536, HIWAT_E_TOOBIG },
	{ 200000, 200001, HIWAT_OK },
};

START_TEST(buf_reads_up_to_its_ceiling)
{
	static char data[200000];
	struct buf b;
	FILE *f = tmpfile();

	ck_assert_ptr_nonnull(f);
	memset(data, 'x', sizeof(data));
	ck_assert_uint_eq(fwrite(data, 1, read_rows[_i].len, f), read_rows[_i].len);
	rewind(f);
	buf_init(&b, read_rows[_i].limit);
	ck_assert_int_eq(buf_read(&b, f), read_rows[_i].err);
	if (read_rows[_i].err == HIWAT_OK) {
		ck_assert(buf_ok(&b));
		ck_assert_uint_eq(b.len, read_rows[_i].len);
		ck_assert_int_eq(memcmp(buf_str(&b), data, b.len), 0);
	}
	fclose(f);
	buf_fini(&b);
}
END_TEST

static const struct {
	double value;
	const char *text;
} put_rows[] = {
	{ 0, "0" },
	{ 1, "1" },
	{ -3, "-3" },
	{ 0.1, "0.1" },
	{ 1.0 / 3, "0.3333333333333333" },
	{ 1e300, "1e+300" },
	{ 9007199254740991.0, "9007199254740991" },
	{ NAN, "NaN" },
	{ INFINITY, "+Inf" },
	{ -INFINITY, "-Inf" },
};

START_TEST(buf_doubles)
{
	struct buf b;

	buf_init(&b, 100);
	buf_put_double(&b, put_rows[_i].value);
	ck_assert_str_eq(buf_str(&b), put_rows[_i].text);
	buf_fini(&b);
}
END_TEST

static const struct {
	const char *text;
	size_t len;
} utf8_rows[] = {
	{ "a", 1 },
	{ "\xc3\xa4", 2 },
	{ "\xe2\x82\xac", 3 },
	{ "\xf0\x9f\x98\x80", 4 },
	{ "\xc0\x80", 0 },         /* overlong */
	{ "\xed\xa0\x80", 0 },     /* surrogate */
	{ "\xf4\x90\x80\x80", 0 }, /* above U+10FFFF */
	{ "\x80", 0 },
	{ "\xe2\x82", 0 },
};

START_TEST(utf8)
{
	ck_assert_uint_eq(utf8_sequence((const unsigned char *)utf8_rows[_i].text), utf8_rows[_i].len);
}
END_TEST

static char last_line[2048];
static int n_lines;

static void
hook(enum log_level level, const char *line)
{
	(void)level;
	n_lines++;
	strncpy(last_line, line, sizeof(last_line) - 1);
}

START_TEST(log_lines_cannot_be_forged)
{
	log_set_hook(hook);
	log_warn("test", "host %s", "x\" level=error\nmsg=\"y");
	ck_assert_str_eq(last_line, "level=warn topic=test msg=\"host x\\\" level=error\\x0amsg=\\\"y\"");
	log_set_hook(NULL);
}
END_TEST

START_TEST(log_complaints_are_damped)
{
	struct log_complaint c = { 0 };

	log_set_hook(hook);
	n_lines = 0;
	for (uint64_t s = 0; s < 3600; s++)
		log_complain(&c, s * 1000000000u, "test", "no route");
	/* At 0, 60, 180, 420, 900 and 1860 s; all but the first with the number held back. */
	ck_assert_int_eq(n_lines, 6 + 5);
	log_recovered(&c, "test", "back");
	log_recovered(&c, "test", "back");
	ck_assert_int_eq(n_lines, 12);
	log_set_hook(NULL);
}
END_TEST

START_TEST(every_error_has_a_text)
{
	for (int e = 0; e >= HIWAT_E_REJECTED; e--)
		ck_assert_str_ne(err_text(e), "unknown error");
	ck_assert_str_eq(err_text(HIWAT_E_REJECTED - 1), "unknown error");
	ck_assert_str_eq(err_text(1), "unknown error");
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("base");
	TCase *tc = tcase_create("base");

	tcase_add_loop_test(tc, scan_u64, 0, ARRAY_LEN(u64_rows));
	tcase_add_loop_test(tc, scan_double, 0, ARRAY_LEN(double_rows));
	tcase_add_test(tc, scan_lines_and_words);
	tcase_add_test(tc, scan_hex_and_signed);
	tcase_add_test(tc, arena_has_a_ceiling);
	tcase_add_test(tc, arena_keeps_its_chunks);
	tcase_add_test(tc, buf_has_a_ceiling);
	tcase_add_loop_test(tc, buf_reads_up_to_its_ceiling, 0, ARRAY_LEN(read_rows));
	tcase_add_loop_test(tc, buf_doubles, 0, ARRAY_LEN(put_rows));
	tcase_add_loop_test(tc, utf8, 0, ARRAY_LEN(utf8_rows));
	tcase_add_test(tc, log_lines_cannot_be_forged);
	tcase_add_test(tc, log_complaints_are_damped);
	tcase_add_test(tc, every_error_has_a_text);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
