#include "unit.h"

#include "dns.h"
#include "err.h"
#include "parsed.h"

#define DUMP(epoch, body) "+++ Statistics Dump +++ (" epoch ")\n" body "--- Statistics Dump --- (" epoch ")\n"

static const struct parsed_row rows[] = {
	/* --------------------------------------------------------------------------------------------------- unbound */
	{ "1.4: no extended statistics", unbound_stats_parse,
	    "thread0.num.queries=7\nthread0.num.cachehits=3\ntotal.num.queries=7\ntotal.num.cachehits=3\ntotal.num."
	    "cachemiss=4\n"
	    "total.requestlist.avg=1.5e+02\ntotal.requestlist.overwritten=2\ntotal.requestlist.exceeded=1\n"
	    "total.requestlist.current.all=9\ntotal.requestlist.current.user=5\ntotal.recursion.time.avg=0.001000\n"
	    "total.recursion.time.median=1.5e-05\ntime.now=1.0\n",
	    0,
	    "hiwat_dns_queries_total{server=\"unbound\"} 7\nhiwat_dns_cache_hits_total{server=\"unbound\"} 3\n"
	    "hiwat_dns_cache_misses_total{server=\"unbound\"} 4\nhiwat_dns_requestlist_current{server=\"unbound\"} 9\n"
	    "hiwat_dns_requestlist_exceeded_total{server=\"unbound\"} 1\n"
	    "hiwat_dns_requestlist_overwritten_total{server=\"unbound\"} 2\n"
	    "hiwat_dns_recursion_average_seconds{server=\"unbound\"} 0.001\n"
	    "hiwat_dns_recursion_median_seconds{server=\"unbound\"} 1.5e-05\n"
	    "!hiwat_parse_unknown_lines_total{source=\"unbound-stats\"}\n" },
	{ "hits below zero", unbound_stats_parse, "total.num.queries=7\ntotal.num.cachehits=18446744073709551615\n", 0,
	    "hiwat_dns_cache_hits_total{server=\"unbound\"} 0\n" },
	{ "hits below zero in 32 bits", unbound_stats_parse, "total.num.queries=7\ntotal.num.cachehits=4294967295\n", 0,
	    "hiwat_dns_cache_hits_total{server=\"unbound\"} 0\n" },
	{ "nan is no time", unbound_stats_parse, "total.num.queries=0\ntotal.recursion.time.median=-nan\n", 0,
	    "hiwat_dns_queries_total{server=\"unbound\"} 0\n!hiwat_dns_recursion_median_seconds{server=\"unbound\"}\n" },
	{ "extended, CRLF, a prompt", unbound_stats_parse,
	    "# unbound-control stats_noreset\r\ntotal.num.queries=7\r\nmem.cache.rrset=100\r\nmem.cache.message=200\r\n"
	    "msg.cache.count=3\r\nrrset.cache.count=4\r\ninfra.cache.count=5\r\nkey.cache.count=6\r\nmsg.cache.max_"
	    "collisions=1\r\n"
	    "num.answer.rcode.NOERROR=5\r\nnum.answer.rcode.nodata=2\r\nnum.query.type.TYPE65=1\r\nunwanted.queries=0\r\n",
	    0,
	    "hiwat_dns_cache_bytes{cache=\"rrset\",server=\"unbound\"} 100\n"
	    "hiwat_dns_cache_bytes{cache=\"message\",server=\"unbound\"} 200\n"
	    "hiwat_dns_cache_entries{cache=\"message\",server=\"unbound\"} 3\n"
	    "hiwat_dns_cache_entries{cache=\"rrset\",server=\"unbound\"} 4\n"
	    "hiwat_dns_cache_entries{cache=\"infra\",server=\"unbound\"} 5\n"
	    "hiwat_dns_cache_entries{cache=\"key\",server=\"unbound\"} 6\n"
	    "hiwat_dns_responses_total{rcode=\"NOERROR\",server=\"unbound\"} 5\n"
	    "!hiwat_dns_responses_total{rcode=\"NODATA\",server=\"unbound\"}\n"
	    "!hiwat_parse_unknown_lines_total{source=\"unbound-stats\"}\n" },
	{ "two dumps: the last", unbound_stats_parse,
	    "thread0.num.queries=1\ntotal.num.queries=1\ntime.up=5\nthread0.num.queries=2\ntotal.num.queries=2\ntime.up=6\n",
	    0, "hiwat_dns_queries_total{server=\"unbound\"} 2\n" },
	{ "two dumps, the last breaks off", unbound_stats_parse,
	    "thread0.num.queries=1\ntotal.num.queries=1\ntime.up=5\nthread0.num.queries=2\ntotal.num.que", 0,
	    "hiwat_dns_queries_total{server=\"unbound\"} 1\n" },
	{ "names that are one after cleaning", unbound_stats_parse,
	    "total.num.queries=1\nmem.cache.\001=1\nmem.cache.\002=2\n", 0,
	    "hiwat_dns_cache_bytes{cache=\"?\",server=\"unbound\"} 2\n" },
	{ "an error instead", unbound_stats_parse, "error: connect: Connection refused for 127.0.0.1 port 8953\n",
	    HIWAT_E_NODATA, "" },
	/* ------------------------------------------------------------------------------------------------- named.stats */
	{ "9.3: no sections, zones behind", bind_stats_parse,
	    DUMP("1",
		"success 100\nreferral 1\nnxrrset 20\nnxdomain 30\nrecursion 50\nfailure 4\nsuccess 9 example.com "
		"[default]\n"),
	    0,
	    "hiwat_dns_queries_total{server=\"bind\"} 155\nhiwat_dns_responses_total{rcode=\"NXDOMAIN\",server=\"bind\"} "
	    "30\n"
	    "hiwat_dns_responses_total{rcode=\"NOERROR\",server=\"bind\"} 121\n"
	    "!hiwat_parse_unknown_lines_total{source=\"bind-stats\"}\n" },
	{ "the last dump with its closing line", bind_stats_parse,
	    DUMP("1", "++ Incoming Requests ++\n                   1 QUERY\n") DUMP("2",
		"++ Incoming Requests ++\n                   2 QUERY\n") "+++ Statistics Dump +++ (3)\n++ Incoming Requests "
									 "++\n                   3 QUERY\n",
	    0, "hiwat_dns_queries_total{server=\"bind\"} 2\n" },
	{ "zeros are left out of what is printed", bind_stats_parse,
	    DUMP("1",
		"++ Incoming Requests ++\n++ Incoming Queries ++\n++ Outgoing Rcodes ++\n                   5 REFUSED\n"
		"++ Name Server Statistics ++\n                   5 IPv4 requests received\n"),
	    0,
	    "hiwat_dns_queries_total{server=\"bind\"} 0\nhiwat_dns_responses_total{rcode=\"SERVFAIL\",server=\"bind\"} 0\n"
	    "hiwat_dns_responses_total{rcode=\"REFUSED\",server=\"bind\"} 5\nhiwat_dns_recursive_clients{server=\"bind\"} "
	    "0\n"
	    "!hiwat_dns_cache_hits_total{server=\"bind\"}\n" },
	{ "views are summed, a shared cache has a header only", bind_stats_parse,
	    DUMP("1",
		"++ Name Server Statistics ++\n                   7 recursing clients\n                  11 queries "
		"resulted in SERVFAIL\n"
		"++ Cache Statistics ++\n[View: a (Cache: a)]\n                  90 cache hits\n                  80 cache "
		"misses\n"
		"                  10 cache hits (from query)\n                   5 cache misses (from query)\n"
		"                   3 cache records deleted due to memory exhaustion\n"
		"                4096 cache tree memory in use\n[View: c (Cache: a)]\n"
		"[View: b (Cache: b)]\n                   1 cache hits (from query)\n                   2 cache misses "
		"(from query)\n"
		"                   4 cache records deleted due to memory exhaustion\n                1000 cache tree "
		"memory in use\n"
		"++ Cache DB RRsets ++\n[View: a (Cache: a)]\n                  10 A\n                   2 !AAAA\n          "
		"         1 NXDOMAIN\n"
		"++ Socket I/O Statistics ++\n                   9 cache hits\n"),
	    0,
	    "hiwat_dns_recursive_clients{server=\"bind\"} 7\nhiwat_dns_cache_hits_total{server=\"bind\"} 11\n"
	    "hiwat_dns_cache_misses_total{server=\"bind\"} 7\nhiwat_dns_cache_evictions_total{server=\"bind\"} 7\n"
	    "hiwat_dns_cache_bytes{cache=\"tree\",server=\"bind\"} "
	    "5096\nhiwat_dns_cache_entries{cache=\"rrset\",server=\"bind\"} 13\n"
	    "hiwat_dns_responses_total{rcode=\"SERVFAIL\",server=\"bind\"} 11\n"
	    "!hiwat_dns_responses_total{rcode=\"NOERROR\",server=\"bind\"}\n!hiwat_dns_queries_total{server=\"bind\"}\n" },
	{ "breaks off inside a text", bind_stats_parse,
	    "+++ Statistics Dump +++ (1)\n++ Incoming Requests ++\n                   4 QUERY\n++ Cache Statistics ++\n     "
	    "          12 cache hi",
	    0, "hiwat_dns_queries_total{server=\"bind\"} 4\n!hiwat_dns_cache_hits_total{server=\"bind\"}\n" },
	{ "a section that breaks off leaves nothing out", bind_stats_parse,
	    "+++ Statistics Dump +++ (1)\n++ Incoming Requests ++\n                   4 QUE", 0,
	    "!hiwat_dns_queries_total{server=\"bind\"}\n" },
	{ "the last section breaks off", bind_stats_parse,
	    "+++ Statistics Dump +++ (1)\n++ Incoming Requests ++\n                   4 QUERY\n++ Outgoing Rcodes ++\n      "
	    "             4 NOERROR\n",
	    0,
	    "hiwat_dns_responses_total{rcode=\"NOERROR\",server=\"bind\"} 4\n"
	    "!hiwat_dns_responses_total{rcode=\"SERVFAIL\",server=\"bind\"}\n" },
	{ "no statistics", bind_stats_parse, "rndc: 'stats' failed\n", HIWAT_E_NODATA, "" },
	/* ---------------------------------------------------------------------------------------------------- bind-json */
	{ "caches of all views", bind_json_parse,
	    "$ curl -s "
	    "localhost:8053/json/v1/"
	    "server\n{\"json-stats-version\":\"1.8\",\"version\":\"9.20.1\",\"opcodes\":{\"QUERY\":5,\"IQUERY\":0},"
	    "\"rcodes\":{\"NOERROR\":4,\"SERVFAIL\":0},\"views\":{"
	    "\"a\":{\"resolver\":{\"cachestats\":{\"CacheHits\":9,\"CacheMisses\":8,\"QueryHits\":3,\"QueryMisses\":2,"
	    "\"DeleteLRU\":1,"
	    "\"TreeMemInUse\":100},\"cache\":{\"A\":4,\"!AAAA\":1}}},"
	    "\"b\":{\"resolver\":{\"cachestats\":{\"QueryHits\":1,\"QueryMisses\":1,\"DeleteLRU\":0,\"TreeMemInUse\":10}}}}}"
	    "\n$ ",
	    0,
	    "hiwat_dns_queries_total{server=\"bind\"} 5\nhiwat_dns_responses_total{rcode=\"SERVFAIL\",server=\"bind\"} 0\n"
	    "hiwat_dns_recursive_clients{server=\"bind\"} 0\nhiwat_dns_cache_hits_total{server=\"bind\"} 4\n"
	    "hiwat_dns_cache_misses_total{server=\"bind\"} 3\nhiwat_dns_cache_evictions_total{server=\"bind\"} 1\n"
	    "hiwat_dns_cache_bytes{cache=\"tree\",server=\"bind\"} "
	    "110\nhiwat_dns_cache_entries{cache=\"rrset\",server=\"bind\"} 5\n" },
	{ "releases that moved the gauge", bind_json_parse,
	    "{\"json-stats-version\":\"1.8\",\"version\":\"9.21.3\",\"opcodes\":{\"QUERY\":5},\"nsstats\":{}}", 0,
	    "!hiwat_dns_recursive_clients{server=\"bind\"}\n" },
	{ "9.10: no rcodes, zeros left out", bind_json_parse,
	    "{\"json-stats-version\":\"1.0\",\"opcodes\":{\"QUERY\":247816},\"nsstats\":{\"QrySERVFAIL\":262}}", 0,
	    "hiwat_dns_responses_total{rcode=\"SERVFAIL\",server=\"bind\"} 262\n"
	    "hiwat_dns_responses_total{rcode=\"NXDOMAIN\",server=\"bind\"} 0\n"
	    "hiwat_dns_recursive_clients{server=\"bind\"} "
	    "0\n!hiwat_dns_responses_total{rcode=\"NOERROR\",server=\"bind\"}\n" },
	{ "two objects: the last", bind_json_parse, "{\"opcodes\":{\"QUERY\":5}}\n{\"opcodes\":{\"QUERY\":6}}\n", 0,
	    "hiwat_dns_queries_total{server=\"bind\"} 6\n" },
	{ "breaks off", bind_json_parse, "{\"opcodes\":{\"QUERY\":5}, \"rcodes\":{", HIWAT_E_FORMAT, "" },
	{ "another program's object", bind_json_parse, "{\"mbuf-statistics\":{}}", HIWAT_E_NODATA, "" },
	{ "empty", bind_json_parse, "", HIWAT_E_NODATA, "" },
	/* -------------------------------------------------------------------------------------------------- rndc status */
	{ "9.3: two numbers", rndc_status_parse,
	    "number of zones: 5\nrecursive clients: 17/1000\nserver is up and running\n", 0,
	    "hiwat_dns_recursive_clients{server=\"bind\"} 17\nhiwat_dns_recursive_clients_limit{server=\"bind\"} 1000\n"
	    "!hiwat_dns_recursive_clients_soft_limit{server=\"bind\"}\n" },
	{ "9.20: high-water marks are not the clients", rndc_status_parse,
	    "recursive clients: 17/9900/10000\r\nrecursive high-water: 99\r\ntcp clients: 1/150\r\nTCP high-water: 3\r\n", 0,
	    "hiwat_dns_recursive_clients{server=\"bind\"} 17\nhiwat_dns_recursive_clients_soft_limit{server=\"bind\"} 9900\n"
	    "hiwat_dns_recursive_clients_limit{server=\"bind\"} 10000\n"
	    "!hiwat_parse_unknown_lines_total{source=\"rndc-status\"}\n" },
	{ "breaks off between the numbers", rndc_status_parse, "number of zones: 5\nrecursive clients: 17/90",
	    HIWAT_E_NODATA, "" },
	{ "breaks off inside the hard limit", rndc_status_parse, "recursive clients: 17/900/10", 0,
	    "hiwat_dns_recursive_clients{server=\"bind\"} 17\nhiwat_dns_recursive_clients_soft_limit{server=\"bind\"} 900\n"
	    "!hiwat_dns_recursive_clients_limit{server=\"bind\"}\n" },
	{ "two outputs, the last breaks off", rndc_status_parse,
	    "recursive clients: 17/900/1000\nserver is up and running\nrecursive clients: 18/2900/300", 0,
	    "hiwat_dns_recursive_clients{server=\"bind\"} 17\nhiwat_dns_recursive_clients_limit{server=\"bind\"} 1000\n" },
	{ "connection refused", rndc_status_parse, "rndc: connect failed: 127.0.0.1#953: connection refused\n",
	    HIWAT_E_NODATA, "" },
	{ "key unreadable", rndc_status_parse, "rndc: error: none:0: open: /etc/bind/rndc.key: permission denied\n",
	    HIWAT_E_DENIED, "" },
	/* ----------------------------------------------------------------------------------------------------- resolved */
	{ "255: failures", resolved_statistics_parse,
	    "Transactions\n                              Current Transactions: 1\n                                Total "
	    "Transactions: 12\n\n"
	    "Cache\n                                Current Cache Size: 5\n                                        Cache "
	    "Hits: 7\n"
	    "                                      Cache Misses: 9\n\nFailure Transactions\n"
	    "                                    Total Timeouts: 3\n          Total Failure Responses (Stale Data Served): "
	    "0\n",
	    0,
	    "hiwat_dns_cache_hits_total{server=\"resolved\"} 7\nhiwat_dns_cache_misses_total{server=\"resolved\"} 9\n"
	    "hiwat_dns_cache_entries{cache=\"rrset\",server=\"resolved\"} 5\n"
	    "!hiwat_parse_unknown_lines_total{source=\"resolved-statistics\"}\n" },
	{ "JSON", resolved_statistics_parse,
	    "{\"transactions\":{\"currentTransactions\":0,\"totalTransactions\":3},\"cache\":{\"size\":5,\"hits\":7,"
	    "\"misses\":9}}",
	    0,
	    "hiwat_dns_cache_hits_total{server=\"resolved\"} "
	    "7\nhiwat_dns_cache_entries{cache=\"rrset\",server=\"resolved\"} 5\n" },
	{ "two dumps, the last breaks off", resolved_statistics_parse,
	    "Transactions\nCurrent Transactions: 0\nCache\nCurrent Cache Size: 1\nCache Hits: 2\nCache Misses: 3\n"
	    "DNSSEC Verdicts\nIndeterminate: 0\n\nTransactions\nCurrent Transactions: 0\nCache\nCurrent Cache Size: 9\n"
	    "Cache Hits: 9\nCache Mi",
	    0,
	    "hiwat_dns_cache_hits_total{server=\"resolved\"} 2\nhiwat_dns_cache_misses_total{server=\"resolved\"} 3\n"
	    "hiwat_dns_cache_entries{cache=\"rrset\",server=\"resolved\"} 1\n" },
	{ "JSON by varlink", resolved_statistics_parse, "{\"parameters\":{\"cache\":{\"size\":5,\"hits\":7,\"misses\":9}}}",
	    0, "hiwat_dns_cache_misses_total{server=\"resolved\"} 9\n" },
	{ "resolvectl status is another output", resolved_statistics_parse, "Global\n       Protocols: -LLMNR -mDNS\n",
	    HIWAT_E_NODATA, "" },
	/* --------------------------------------------------------------------------------------------------- named.conf */
	{ "options", named_conf_parse,
	    "options {\n\tdirectory \"/var/cache/bind; \\\" {\";\n\trecursive-clients 1000000;\n\tmax-cache-size "
	    "100K;\n\tmax-cache-ttl 60;\n"
	    "\tmax-ncache-ttl PT1H;\n\tlame-ttl 15m;\n\tcleaning-interval 1;\n\tversion \"none\";\n\tallow-query "
	    "{\n\t\t10.0.0.0/8;\n\t};\n"
	    "\tmax-zone-ttl unlimited;\n};\nzone \".\" {\n\ttype hint;\n\tmax-refresh-time 5;\n};\n",
	    0,
	    "hiwat_dns_setting{name=\"recursive-clients\",server=\"bind\"} 1000000\n"
	    "hiwat_dns_setting{name=\"max-cache-size\",server=\"bind\"} 102400\n"
	    "hiwat_dns_setting{name=\"max-cache-ttl\",server=\"bind\"} 60\n"
	    "hiwat_dns_setting{name=\"max-ncache-ttl\",server=\"bind\"} 3600\n"
	    "hiwat_dns_setting{name=\"lame-ttl\",server=\"bind\"} 900\n"
	    "hiwat_dns_setting{name=\"cleaning-interval\",server=\"bind\"} 1\n"
	    "hiwat_setting_text{name=\"version\",value=\"none\"} "
	    "1\n!hiwat_dns_setting{name=\"version\",server=\"bind\"}\n!hiwat_dns_setting{name=\"max-refresh-time\",server="
	    "\"bind\"}\n"
	    "!hiwat_dns_setting{name=\"max-zone-ttl\",server=\"bind\"}\n" },
	{ "views where options are silent and they agree", named_conf_parse,
	    "view \"a\" {\n max-cache-ttl 5;\n lame-ttl 1;\n max-ncache-ttl 7;\n};\noptions {\n max-cache-ttl 9;\n};\n"
	    "view \"b\" {\n max-cache-ttl 5;\n lame-ttl 2;\n max-ncache-ttl 7;\n};\n",
	    0,
	    "hiwat_dns_setting{name=\"max-cache-ttl\",server=\"bind\"} "
	    "9\nhiwat_dns_setting{name=\"max-ncache-ttl\",server=\"bind\"} 7\n"
	    "!hiwat_dns_setting{name=\"lame-ttl\",server=\"bind\"}\n" },
	{ "comments, percent, words", named_conf_parse,
	    "// options { a 1; };\n# x\n/* options {\n b 2; */\noptions {\n c 3; // d 4;\n max-cache-size 90%;\n recursion "
	    "yes;\n};\n",
	    0,
	    "hiwat_dns_setting{name=\"c\",server=\"bind\"} 3\n!hiwat_dns_setting{name=\"d\",server=\"bind\"}\n"
	    "!hiwat_dns_setting{name=\"max-cache-size\",server=\"bind\"}\n" },
	{ "breaks off", named_conf_parse, "options {\n\trecursive-clients 10", 0,
	    "!hiwat_dns_setting{name=\"recursive-clients\",server=\"bind\"}\n" },
	{ "no configuration", named_conf_parse, "named-checkconf: open: permission\n", HIWAT_E_NODATA, "" },
};

START_TEST(row)
{
	parsed_row_check(&rows[_i]);
}
END_TEST

static const char *const kinds[] = { "unbound-stats", "bind-stats", "rndc-status", "resolved-statistics" };

START_TEST(any_cut_and_any_unknown_line)
{
	parsed_corpus_properties(kinds[_i]);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("dns");
	TCase *tc = tcase_create("dns");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_loop_test(tc, any_cut_and_any_unknown_line, 0, ARRAY_LEN(kinds));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
