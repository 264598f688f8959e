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

#define BYTES(literal) { literal, sizeof(literal) - 1 }

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
	struct text rest = text_of(
	    "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
	    "  100: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0\n"
	    "  101: 0100007F 00000000:0000 07\n"
	    "  102: 0100007F:00035 00000000:0000 07\n"
	    "  103: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 07\n"
	    "  104: 0100007G:0035 00000000:0000 07\n");
	struct proc_socket s;

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

static Suite *
suite(void)
{
	Suite *s = suite_create("dns_message");
	TCase *tc = tcase_create("dns_message");

	tcase_add_loop_test(tc, queries, 0, ARRAY_LEN(query_rows));
	tcase_add_test(tc, query_bytes);
	tcase_add_loop_test(tc, answers, 0, ARRAY_LEN(answer_rows));
	tcase_add_test(tc, sockets);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
