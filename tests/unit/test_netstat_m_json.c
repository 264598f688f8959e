#include "unit.h"

#include <string.h>

#include "err.h"
#include "json_scan.h"
#include "netstat.h"
#include "parsed.h"

#define DUMP(mbufs) \
	"{\"__version\": \"1\", \"mbuf-statistics\": {\"mbuf-current\":" mbufs ",\"mbuf-cache\":-3,\"mbuf-total\":9," \
	"\"cluster-current\":18446744073709551611,\"cluster-max\":100,\"packet-count\":5,\"packet-free\":6," \
	"\"jumbo-count\":1,\"jumbo-max\":0,\"jumbo-page-size\":4,\"jumbo9-count\":2,\"jumbo16-count\":3,\"jumbo16-limit\":" \
	"77," \
	"\"bytes-in-use\":2,\"bytes-in-cache\":3,\"bytes-total\":5,\"mbuf-failures\":11,\"packet-sleeps\":12," \
	"\"jumbop-failures\":13,\"jumbop-sleeps\":14,\"nsfbufs-current\":1,\"nsfbufs-peak\":2,\"nsfbufs\":3," \
	"\"sendfile-io-count\":4,\"sendfile-pages-sent\":99,\"sfbufs-alloc-failed\":5,\"sfbufs-alloc-wait\":6"
#define POOL(column, pool, value) "hiwat_mbuf_pool_" column "{pool=\"" pool "\"} " value "\n"

static const struct {
	const char *name, *text;
	int err;
	const char *expected;
} rows[] = {
	{ "whole", DUMP("7") "}}\n", 0,
	    POOL("in_use", "mbuf", "7") POOL("cached", "mbuf", "0") POOL("allocated", "mbuf", "9")
		POOL("in_use", "cluster", "0") POOL("limit", "cluster", "100") POOL("in_use", "packet", "5") POOL("cached",
		    "packet", "6") "!hiwat_mbuf_pool_limit{pool=\"jumbo_page\"}\n" POOL("item_bytes", "jumbo_page", "4096")
		    POOL("item_bytes", "jumbo_9k", "9216") POOL("limit", "jumbo_16k",
			"77") "hiwat_mbuf_bytes_in_use 2048\nhiwat_mbuf_bytes_cached 3072\nhiwat_mbuf_bytes_allocated 5120\n"
			      "hiwat_mbuf_requests_denied_total{pool=\"mbuf\"} "
			      "11\nhiwat_mbuf_requests_delayed_total{pool=\"packet\"} 12\n"
			      "hiwat_mbuf_requests_denied_total{pool=\"jumbo_page\"} "
			      "13\nhiwat_mbuf_requests_delayed_total{pool=\"jumbo_page\"} 14\n"
			      "hiwat_mbuf_sfbufs_in_use 1\nhiwat_mbuf_sfbufs_peak 2\nhiwat_mbuf_sfbufs_limit "
			      "3\nhiwat_mbuf_sendfile_io_total 4\n"
			      "hiwat_mbuf_sfbuf_requests_denied_total 5\nhiwat_mbuf_sfbuf_requests_delayed_total 6\n" },
	{ "closing braces missing", DUMP("7") "\n", 0,
	    POOL("in_use", "mbuf", "7") "hiwat_mbuf_sfbuf_requests_delayed_total 6\n" },
	{ "closing brace too many", "}" DUMP("7") "}}}", 0, POOL("in_use", "mbuf", "7") },
	{ "container never opened", "netstat: kern.ipc.sfstat: No such \"file\n{\"mbuf-current\":7,\"mbuf-cache\":1}}\n", 0,
	    POOL("in_use", "mbuf", "7") },
	{ "numbers in quotes", "{\"mbuf-statistics\":{\"mbuf-current\":\"7\",\"mbuf-cache\" : \"x\"}}", 0,
	    POOL("in_use", "mbuf", "7") "!hiwat_mbuf_pool_cached{pool=\"mbuf\"}\n" },
	{ "inside another container", "{\"statistics\":{\"mbuf-statistics\":{\"new-member\":[1,2],\"mbuf-current\":7}}}", 0,
	    POOL("in_use", "mbuf", "7") },
	{ "cut inside a number", "{\"mbuf-statistics\":{\"mbuf-current\":7,\"mbuf-cache\":12", 0,
	    POOL("in_use", "mbuf", "7") "!hiwat_mbuf_pool_cached{pool=\"mbuf\"}\n" },
	{ "two documents: the last", DUMP("7") "}}\n" DUMP("8") "}}\n", 0, POOL("in_use", "mbuf", "8") },
	{ "two documents, the last cut: the one before",
	    DUMP("7") "}}\n{\"mbuf-statistics\":{\"mbuf-current\":8,\"mbuf-cache\":1", 0, POOL("in_use", "mbuf", "7") },
	{ "with the command and CRLF",
	    "$ netstat --libxo json -m\r\n{\r\n  \"mbuf-statistics\": {\r\n    \"mbuf-current\": 7\r\n  }\r\n}\r\n", 0,
	    POOL("in_use", "mbuf", "7") },
	{ "broken by a terminal: in keys, in a number",
	    "{\"mbuf-statistics\":{\"mbuf-\n"
	    "current\":7,\"mbuf-cache\":12\r\n"
	    "3456789,\"mbuf-total\":8,\"cl\n"
	    "uster-current\":5}}\r\n",
	    0,
	    POOL("in_use", "mbuf", "7") POOL("cached", "mbuf", "123456789") POOL("allocated", "mbuf", "8")
		POOL("in_use", "cluster", "5") },
	{ "a stray quote is no broken string", "netstat: no \"such\n{\"mbuf-current\":7,\n\"mbuf-cache\":8}\n", 0,
	    POOL("in_use", "mbuf", "7") POOL("cached", "mbuf", "8") },
	{ "pages in bytes", "{\"jumbo-page-size\":4096}", 0, POOL("item_bytes", "jumbo_page", "4096") },
	{ "no number", "{\"mbuf-current\":null,\"mbuf-cache\":{},\"mbuf-total\":1.5}", HIWAT_E_NODATA, "" },
	{ "empty", "", HIWAT_E_NODATA, "" },
	{ "another document", "{\"interrupt-statistics\":{\"interrupt\":[]}}", HIWAT_E_NODATA, "" },
	{ "text, behind the end of a container", "}\n257/1018/1275 mbufs in use (current/cache/total)\n", 0,
	    POOL("in_use", "mbuf", "257") POOL("cached", "mbuf", "1018") },
};

START_TEST(row)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	int err = parsed_by(netstat_m_json_parse, text_of(rows[_i].text), &out);
	ck_assert_msg(err == rows[_i].err, "%s: %s", rows[_i].name, err_text(err));
	const char *mismatch = parsed_mismatch(&out, rows[_i].expected);
	ck_assert_msg(mismatch == NULL, "%s: %s in\n%s", rows[_i].name, mismatch, buf_str(&out));
	buf_fini(&out);
}
END_TEST

START_TEST(any_cut_and_any_unknown_line)
{
	parsed_corpus_properties("netstat-m-json");
	parsed_corpus_prefixes_agree("netstat-m-json");
}
END_TEST

static const struct {
	const char *escaped, *plain;
} escapes[] = {
	{ "irq1: atkbd0", "irq1: atkbd0" },
	{ "a\\\"b\\\\c\\/d\\te\\n", "a\"b\\c/d\te\n" },
	{ "\\u0041\\u00e9\\u20ac", "A\xc3\xa9\xe2\x82\xac" },
	{ "\\ud83d", "?" },
	{ "\\u12", "u12" },
	{ "\\", "\\" },
};

START_TEST(unescape)
{
	char out[64];
	struct text t = text_of(escapes[_i].escaped);

	size_t n = json_unescape(t, out);
	ck_assert_str_eq(out, escapes[_i].plain);
	ck_assert_uint_eq(n, strlen(escapes[_i].plain));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("netstat_m_json");
	TCase *tc = tcase_create("netstat_m_json");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_test(tc, any_cut_and_any_unknown_line);
	tcase_add_loop_test(tc, unescape, 0, ARRAY_LEN(escapes));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
