#include "unit.h"

#include <string.h>

#include "dns_message.h"
#include "proc_sockets.h"

static const struct {
	const char *name;
	size_t len;
} query_rows[] = {
	{ "localhost", 12 + 1 + 9 + 1 + 4 },
	{ "a.b", 12 + 2 + 2 + 1 + 4 },
	{ "", 0 },
	{ ".", 0 },
	{ "a..b", 0 },
	{ "a.", 0 },
	{ "0123456789012345678901234567890123456789012345678901234567890123", 0 }, /* 64 */
	{ "012345678901234567890123456789012345678901234567890123456789012", 12 + 64 + 5 },
};

START_TEST(queries)
{
	char out[DNS_QUERY_MAX];

	ck_assert_uint_eq(dns_query_write(out, 0x1234, query_rows[_i].name), query_rows[_i].len);
}
END_TEST

START_TEST(query_bytes)
{
	static const char expected[] = "\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\1b\0\0\1\0\1";
	char out[DNS_QUERY_MAX];

	size_t n = dns_query_write(out, 0x1234, "a.b");
	ck_assert_uint_eq(n, sizeof(expected) - 1);
	ck_assert_mem_eq(out, expected, n);
}
END_TEST

#define HEAD "\x12\x34\x81\x83\0\1\0\0\0\0\0\0"
#define QUESTION "\1a\1b\0\0\1\0\1"

#define BYTES(literal) \
	{ \
		literal, sizeof(literal) - 1 \
	}

static const struct {
	const char *what;
	struct text answer;
	bool ok;
} answer_rows[] = {
	{ "name error", BYTES(HEAD QUESTION), true },
	{ "with more behind", BYTES(HEAD QUESTION "more"), true },
	{ "header alone", BYTES("\x12\x34\x81\x83\0\0\0\0\0\0\0\0"), true },
	{ "the query itself", BYTES("\x12\x34\x01\x03\0\1\0\0\0\0\0\0" QUESTION), false },
	{ "another id", BYTES("\x12\x35\x81\x83\0\1\0\0\0\0\0\0" QUESTION), false },
	{ "another question", BYTES(HEAD "\1a\1c\0\0\1\0\1"), false },
	{ "cut", BYTES("\x12\x34\x81\x83\0\1\0\0\0\0\0\0\1a\1b\0\0\1\0"), false },
	{ "shorter than a header", BYTES("\x12\x34\x81"), false },
	{ "empty", BYTES(""), false },
};

START_TEST(answers)
{
	char query[DNS_QUERY_MAX];
	struct text request = { query, dns_query_write(query, 0x1234, "a.b") };
	unsigned rcode = 99;

	ck_assert_msg(dns_answer_read(answer_rows[_i].answer, request, &rcode) == answer_rows[_i].ok, "%s",
	    answer_rows[_i].what);
	ck_assert_uint_eq(rcode, answer_rows[_i].ok ? 3 : 99);
}
END_TEST

START_TEST(sockets)
{
	static const uint32_t loopback = 0x0100007f, words[4] = { 0, 0, 0, 0x01000000 };
	struct text rest = text_of("   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
				   "  100: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0\n"
				   "  101: 0100007F 00000000:0000 07\n"
				   "  102: 0100007F:00035 00000000:0000 07\n"
				   "  103: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 07\n"
				   "  104: 0100007G:0035 00000000:0000 07\n");
	struct local_socket s;

	ck_assert(proc_sockets_next(&rest, &s));
	ck_assert(!s.is_six && s.port == 53);
	ck_assert_mem_eq(s.address, &loopback, 4);
	ck_assert(proc_sockets_next(&rest, &s));
	ck_assert(!s.is_six && s.port == 53);
	ck_assert(proc_sockets_next(&rest, &s));
	ck_assert(s.is_six && s.port == 8080);
	ck_assert_mem_eq(s.address, words, 16);
	ck_assert(!proc_sockets_next(&rest, &s));
}
END_TEST

#define CHAOS_HEAD "\x12\x34\x85\x80\0\1\0\1\0\0\0\1"
#define CHAOS_QUESTION "\1a\1b\0\0\20\0\3"
#define CHAOS_RECORD "\xc0\x0c\0\20\0\3\0\0\0\0\0\7"

static const struct {
	const char *what;
	struct text answer;
	const char *first, *second; /* NULL: none */
} chaos_rows[] = {
	{ "two strings", BYTES(CHAOS_HEAD CHAOS_QUESTION CHAOS_RECORD "\2ab\3cde"), "ab", "cde" },
	{ "with a record behind", BYTES(CHAOS_HEAD CHAOS_QUESTION CHAOS_RECORD "\6abcdef\0\0\51\20\0\0\0\0\0\0\0"), "abcdef",
	    NULL },
	{ "a name in full", BYTES(CHAOS_HEAD CHAOS_QUESTION "\1a\1b\0\0\20\0\3\0\0\0\0\0\2\1x"), "x", NULL },
	{ "a string longer than its record", BYTES(CHAOS_HEAD CHAOS_QUESTION CHAOS_RECORD "\7abcdef"), NULL, NULL },
	{ "a record longer than the message", BYTES(CHAOS_HEAD CHAOS_QUESTION CHAOS_RECORD "\2ab\2cd"), NULL, NULL },
	{ "cut in the record's head", BYTES(CHAOS_HEAD CHAOS_QUESTION "\xc0\x0c\0\20\0\3\0\0"), NULL, NULL },
	{ "cut in the record's name", BYTES(CHAOS_HEAD CHAOS_QUESTION "\xc0"), NULL, NULL },
	{ "cut behind the question", BYTES(CHAOS_HEAD CHAOS_QUESTION), NULL, NULL },
	{ "another class", BYTES(CHAOS_HEAD CHAOS_QUESTION "\xc0\x0c\0\20\0\1\0\0\0\0\0\2\1x"), NULL, NULL },
	{ "another type", BYTES(CHAOS_HEAD CHAOS_QUESTION "\xc0\x0c\0\1\0\3\0\0\0\0\0\2\1x"), NULL, NULL },
	{ "no answers", BYTES("\x12\x34\x85\x80\0\1\0\0\0\0\0\0" CHAOS_QUESTION), NULL, NULL },
	{ "no question", BYTES("\x12\x34\x85\x80\0\0\0\1\0\0\0\0" CHAOS_RECORD "\2ab\3cde"), NULL, NULL },
	{ "refused", BYTES("\x12\x34\x85\x85\0\1\0\0\0\0\0\0" CHAOS_QUESTION), NULL, NULL },
};

static void
expect_string(struct text *strings, const char *expected)
{
	struct text string;
	bool has = dns_string_next(strings, &string);

	ck_assert_int_eq(has, expected != NULL);
	if (has)
		ck_assert(text_eq(string, expected));
}

START_TEST(chaos_texts)
{
	static const char expected[] = "\x12\x34\1\0\0\1\0\0\0\0\0\1" CHAOS_QUESTION "\0\0\51\20\0\0\0\0\0\0";
	char query[DNS_QUERY_MAX];
	struct text strings = TEXT("");
	size_t n = dns_query_write_chaos(query, 0x1234, "a.b");

	ck_assert_uint_eq(n, sizeof(expected));
	ck_assert_mem_eq(query, expected, n);
	ck_assert_uint_eq(dns_query_write_chaos(query, 1, "a..b"), 0);
	n = dns_query_write_chaos(query, 0x1234, "a.b");
	/* In memory of its own, so that a sanitizer sees what is read behind it. */
	char *bytes = malloc(chaos_rows[_i].answer.n);
	memcpy(bytes, chaos_rows[_i].answer.p, chaos_rows[_i].answer.n);
	struct text answer = { bytes, chaos_rows[_i].answer.n };
	bool has = dns_answer_chaos(answer, (struct text){ query, n }, &strings);
	ck_assert_msg(has || chaos_rows[_i].first == NULL, "%s", chaos_rows[_i].what);
	expect_string(&strings, chaos_rows[_i].first);
	expect_string(&strings, chaos_rows[_i].second);
	free(bytes);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("dns_message");
	TCase *tc = tcase_create("dns_message");

	tcase_add_loop_test(tc, queries, 0, ARRAY_LEN(query_rows));
	tcase_add_test(tc, query_bytes);
	tcase_add_loop_test(tc, chaos_texts, 0, ARRAY_LEN(chaos_rows));
	tcase_add_loop_test(tc, answers, 0, ARRAY_LEN(answer_rows));
	tcase_add_test(tc, sockets);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
