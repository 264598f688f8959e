#include "unit.h"

#include <string.h>

#include "dnsmasq_log.h"
#include "err.h"
#include "parsed.h"

#define DNS(metric) "hiwat_dns_" metric "{server=\"dnsmasq\"} "

static const struct {
	const char *name, *text, *expected; /* NULL: refused */
} rows[] = {
	{ "2.80 in syslog",
	    "Mar  3 02:11:40 gw dnsmasq[712]: time 1772500300\n"
	    "Mar  3 02:11:40 gw dnsmasq[712]: cache size 150, 3/2041 cache insertions re-used unexpired cache entries.\n"
	    "Mar  3 02:11:40 gw dnsmasq[712]: queries forwarded 812, queries answered locally 4711\n"
	    "Mar  3 02:11:40 gw dnsmasq-dhcp[712]: cache size 1, 1/1 cache insertions re-used unexpired cache entries.\n"
	    "Mar  3 02:11:40 gw dnsmasq[712]: queries for authoritative zones 0\n"
	    "Mar  3 02:11:40 gw dnsmasq[712]: server 192.0.2.1#53: queries sent 700, retried or failed 2\n"
	    "Mar  3 02:11:40 gw dnsmasq[712]: server 2001:db8::1#53: queries sent 112, retried or failed 0\n",
	    DNS("cache_insertions_total") "2041\n" DNS("cache_evictions_total") "3\n" DNS("cache_hits_total") "4711\n" DNS(
		"cache_misses_total") "812\n"
				      "hiwat_dns_cache_limit_entries{cache=\"rrset\",server=\"dnsmasq\"} 150\n"
				      "hiwat_dns_upstream_queries_total{server=\"dnsmasq\",upstream=\"192.0.2.1#53\"} 700\n"
				      "hiwat_dns_upstream_failures_total{server=\"dnsmasq\",upstream=\"192.0.2.1#53\"} 2\n"
				      "hiwat_dns_upstream_failures_total{server=\"dnsmasq\",upstream=\"2001:db8::1#53\"} "
				      "0\n" },
	{ "2.90 on standard error, one server twice",
	    "dnsmasq: time 1772500300\n"
	    "dnsmasq: cache size 0, 0/0 cache insertions re-used unexpired cache entries.\n"
	    "dnsmasq: queries forwarded 1, queries answered locally 2\n"
	    "dnsmasq: pool memory in use 0, max 0, allocated 0\n"
	    "dnsmasq: child processes for TCP requests: in use 0, highest since last SIGUSR1 0, max allowed 20.\n"
	    "dnsmasq: server 192.0.2.1#53: queries sent 10, retried 1, failed 2, nxdomain replies 9, avg. latency 12ms\n"
	    "dnsmasq: server 192.0.2.1#53: queries sent 5, retried 0, failed 1, nxdomain replies 0, avg. latency 1ms\n",
	    DNS("cache_insertions_total") "0\n"
					  "!hiwat_dns_cache_limit_entries{cache=\"rrset\",server=\"dnsmasq\"}\n"
					  "hiwat_dns_upstream_queries_total{server=\"dnsmasq\",upstream=\"192.0.2.1#53\"} "
					  "15\n"
					  "hiwat_dns_upstream_failures_total{server=\"dnsmasq\",upstream=\"192.0.2.1#53\"} "
					  "3\n" },
	{ "counters past 2^31",
	    "dnsmasq[1]: cache size 150, -2/-2147483648 cache insertions re-used unexpired cache entries.\n",
	    DNS("cache_evictions_total") "4294967294\n" DNS("cache_insertions_total") "2147483648\n" },
	{ "the last complete dump",
	    "dnsmasq[1]: time 1\n"
	    "dnsmasq[1]: cache size 150, 1/2 cache insertions re-used unexpired cache entries.\n"
	    "dnsmasq[1]: queries forwarded 3, queries answered locally 4\n"
	    "dnsmasq[1]: time 2\n"
	    "dnsmasq[1]: cache size 150, 5/6 cache insertions re-used unexpired cache entries.\n"
	    "dnsmasq[1]: queries forwarded 7, queries ans",
	    DNS("cache_evictions_total") "1\n" DNS("cache_misses_total") "3\n" },
	{ "the last dump",
	    "dnsmasq[1]: time 1\n"
	    "dnsmasq[1]: cache size 150, 1/2 cache insertions re-used unexpired cache entries.\n"
	    "dnsmasq[1]: server 192.0.2.1#53: queries sent 700, retried or failed 2\n"
	    "dnsmasq[1]: time 2\n"
	    "dnsmasq[1]: cache size 150, 5/6 cache insertions re-used unexpired cache entries.\n"
	    "dnsmasq[1]: queries forwarded 7, queries answered locally 8\n",
	    DNS("cache_evictions_total") "5\n" DNS(
		"cache_misses_total") "7\n"
				      "!hiwat_dns_upstream_queries_total{server=\"dnsmasq\",upstream=\"192.0.2.1#53\"}\n" },
	{ "a host of the same name, RFC 5424, and only the messages",
	    "Mar  3 02:11:40 dnsmasq dnsmasq[712]: cache size 150, 3/2041 cache insertions re-used unexpired cache "
	    "entries.\n"
	    "<30>1 2026-03-03T02:11:40.123456Z dnsmasq dnsmasq 712 - - queries forwarded 812, queries answered locally "
	    "4711\n"
	    "server 192.0.2.1#53: queries sent 700, retried or failed 2\n",
	    DNS("cache_insertions_total") "2041\n" DNS(
		"cache_misses_total") "812\n"
				      "hiwat_dns_upstream_queries_total{server=\"dnsmasq\",upstream=\"192.0.2.1#53\"} "
				      "700\n" },
	{ "in another language, with queries logged between",
	    "Mar  3 02:11:40 gw dnsmasq[712]: Zeit 1772500300\n"
	    "Mar  3 02:11:40 gw dnsmasq[712]: 17 192.0.2.7/53211 query[A] x.example from 192.0.2.7\n"
	    "Mar  3 02:11:40 gw dnsmasq[712]: Cachegröße 150, 3/2041 Einträge vor ihrem Ablauf ersetzt.\n"
	    "Mar  3 02:11:40 gw dnsmasq[712]: 812 weitergeleitete Anfragen, 4711 lokal beantwortete Anfragen\n"
	    "Mar  3 02:11:40 gw dnsmasq[712]: Server 192.0.2.1#53: 700 Anfragen gesendet, 2 wiederholt oder gescheitert\n"
	    "Mar  3 02:11:40 gw dnsmasq[712]: Server 192.0.2.2#53: 10 gesendet, 1 wiederholt, 3 gescheitert, 4 NXDOMAIN, "
	    "12ms\n",
	    DNS("cache_insertions_total") "2041\n" DNS("cache_evictions_total") "3\n" DNS("cache_hits_total") "4711\n" DNS(
		"cache_misses_total") "812\n"
				      "hiwat_dns_cache_limit_entries{cache=\"rrset\",server=\"dnsmasq\"} 150\n"
				      "hiwat_dns_upstream_failures_total{server=\"dnsmasq\",upstream=\"192.0.2.1#53\"} 2\n"
				      "hiwat_dns_upstream_queries_total{server=\"dnsmasq\",upstream=\"192.0.2.2#53\"} 10\n"
				      "hiwat_dns_upstream_failures_total{server=\"dnsmasq\",upstream=\"192.0.2.2#53\"} "
				      "3\n" },
	{ "no dump", "Mar  3 02:11:40 gw dnsmasq[712]: started, version 2.90 cachesize 150\n", NULL },
	{ "another program's words", "gw monit[1]: cache size 150, 1/2 cache insertions re-used unexpired cache entries.\n",
	    NULL },
	{ "empty", "", NULL },
};

START_TEST(row)
{
	struct text text = text_of(rows[_i].text);
	struct buf out;

	buf_init(&out, 1 << 16);
	int err = parsed_by(dnsmasq_log_parse, text, &out);
	if (rows[_i].expected == NULL) {
		ck_assert_int_eq(err, HIWAT_E_NODATA);
		ck_assert_int_eq(dnsmasq_log_recognise(text), 0);
	} else {
		ck_assert_int_eq(err, 0);
		const char *wrong = parsed_mismatch(&out, rows[_i].expected);
		ck_assert_msg(wrong == NULL, "%s: %s", rows[_i].name, wrong);
		ck_assert_int_gt(dnsmasq_log_recognise(text), 0);
		parsed_properties(dnsmasq_log_parse, text, 1);
	}
	buf_fini(&out);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("dnsmasq_log");
	TCase *tc = tcase_create("rows");

	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
