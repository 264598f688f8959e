/* Names from outside as labels: cut, made UTF-8, and two that become one are one row. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "dns.h"
#include "dnsmasq_log.h"
#include "err.h"
#include "kernel_log.h"
#include "netstat.h"
#include "parsed.h"
#include "pfctl.h"
#include "proc.h"
#include "record_row.h"
#include "registry.h"
#include "vmstat.h"
#include "zpool.h"

#define N16 "nnnnnnnnnnnnnnnn"
#define N64 N16 N16 N16 N16
#define N252 N64 N64 N64 N16 N16 N16 "nnnnnnnnnnnn"

/* ---------------------------------------------------------------------------------------------------------- labels */

static const struct {
	const char *name, *label;
} labels[] = {
	{ "", "" },
	{ " \t", "" },
	{ "\tda0  ", "da0" },
	{ "a\x01\x7f", "a??" },
	{ "a\xff\xc3", "a??" },
	{ "\xc3\xa9", "\xc3\xa9" },
	{ N252 "abc", N252 "abc" },
	{ N252 "abcd", N252 "abc" },
	/* What does not fit is left out whole, and no blank stays at the end. */
	{ N252 "a\xc3\xa9", N252 "a\xc3\xa9" },
	{ N252 "ab\xc3\xa9", N252 "ab" },
	{ N252 "ab\xe2\x82\xac", N252 "ab" },
	{ N252 "\xe2\x82\xac", N252 "\xe2\x82\xac" },
	{ N252 "ab\xf0\x9f\x98\x80", N252 "ab" },
	{ N252 "abc\xf0\x9f\x98\x80", N252 "abc" },
	{ N252 "ab c", N252 "ab" },
	/* Half a sequence is none, wherever the text ends. */
	{ N252 "ab\xe2\x82", N252 "ab?" },
	{ N252 "\xe2\x82", N252 "??" },
};

START_TEST(test_label)
{
	struct arena arena;
	char room[CODEC_LABEL_MAX + 1];

	arena_init(&arena, 1 << 16);
	ck_assert_uint_eq(sizeof(N252) - 1, 252);
	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		struct text name = text_of(labels[i].name);
		ck_assert_str_eq(record_label(&arena, name), labels[i].label);
		ck_assert_uint_eq(record_label_write(room, name), strlen(labels[i].label));
		ck_assert_str_eq(room, labels[i].label);
		/* A label is its own label. */
		ck_assert_str_eq(record_label(&arena, text_of(room)), room);
	}
	arena_fini(&arena);
}
END_TEST

/* ------------------------------------------------------------------------------------------------------------ rows */

START_TEST(test_rows)
{
	Hiwat__Interrupt m = HIWAT__INTERRUPT__INIT;
	struct arena arena;

	arena_init(&arena, 1 << 16);
	ck_assert_ptr_null(RECORD_FIND(&m, sources, interrupts_by_source, TEXT("1"), TEXT("a")));
	void *first = RECORD_ROW(&arena, &m, sources, interrupts_by_source, TEXT("1"), TEXT("a"));
	void *second = RECORD_ROW(&arena, &m, sources, interrupts_by_source, TEXT("1"), TEXT("b"));
	void *third = RECORD_ROW(&arena, &m, sources, interrupts_by_source, TEXT("1a"));
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_nonnull(third);
	ck_assert_ptr_ne(first, second);
	ck_assert_uint_eq(m.n_sources, 3);
	ck_assert_str_eq(m.sources[1]->irq, "1");
	ck_assert_str_eq(m.sources[1]->device, "b");
	ck_assert_str_eq(m.sources[2]->device, "");
	ck_assert_ptr_eq(RECORD_ROW(&arena, &m, sources, interrupts_by_source, TEXT(" 1"), TEXT("a ")), first);
	ck_assert_ptr_eq(RECORD_FIND(&m, sources, interrupts_by_source, TEXT("1"), TEXT("b")), second);
	ck_assert_ptr_eq(RECORD_FIND(&m, sources, interrupts_by_source, TEXT("1a"), TEXT("")), third);
	arena_fini(&arena);
}
END_TEST

/* An index finds what is there before it, and all that comes. */
START_TEST(test_index)
{
	enum { ROWS = 5000 };
	Hiwat__Net net = HIWAT__NET__INIT;
	struct record_index index;
	struct arena arena;
	char name[32];

	arena_init(&arena, 16 << 20);
	ck_assert_ptr_nonnull(RECORD_ROW(&arena, &net, zones, zone, TEXT("zone 0")));
	record_index_init(&index, &arena);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < ROWS; i++) {
			snprintf(name, sizeof(name), "zone %u", i);
			Hiwat__Zone *zone = RECORD_INDEX_ROW(&index, &net, zones, zone, text_of(name));
			ck_assert_ptr_nonnull(zone);
			ck_assert_ptr_eq(zone, net.zones[i]);
			ck_assert_str_eq(zone->zone, name);
		}
	}
	ck_assert_uint_eq(net.n_zones, ROWS);
	arena_fini(&arena);
}
END_TEST

/* Whatever allocation fails, the field is as it was or has the new row with its labels. */
START_TEST(test_no_memory)
{
	for (size_t limit = 1; limit < 4096; limit += 8) {
		Hiwat__Net net = HIWAT__NET__INIT;
		struct record_index index;
		struct arena arena;
		arena_init(&arena, limit);
		record_index_init(&index, &arena);
		for (unsigned i = 0; i < 8; i++) {
			char name[8];
			snprintf(name, sizeof(name), "%u", i);
			RECORD_INDEX_ROW(&index, &net, zones, zone, text_of(name));
			RECORD_ROW(&arena, &net, interfaces, netif, text_of(name));
		}
		for (size_t i = 0; i < net.n_zones; i++)
			ck_assert_ptr_nonnull(net.zones[i]->zone);
		for (size_t i = 0; i < net.n_interfaces; i++)
			ck_assert_ptr_nonnull(net.interfaces[i]->interface);
		arena_fini(&arena);
	}
}
END_TEST

/* --------------------------------------------------------------------------------------------------------- parsers */

/* Two names that become one label. Some printers' names are of a few characters only, and JSON has its own way to write. */
enum form { ANY, WORD, JSON };

static const struct pair {
	const char *first, *second, *label;
	enum form form;
} pairs[] = {
	{ "n\xff", "n\xfe", "n?", ANY },
	{ "n\xc3", "n\x01", "n?", ANY },
	{ "n\\u0001", "n\\u007f", "n?", JSON },
	{ N252 "abc1", N252 "abc2", N252 "abc", WORD },
	{ N252 "abc1", N252 "abc2", N252 "abc", JSON },
	{ N252 "ab\xc3\xa9", N252 "ab\xc3\xa8", N252 "ab", ANY },
	{ N252 "ab\xc3\xa9", N252 "ab\xe2\x82\xac", N252 "ab", JSON },
	{ N252 "a\xe2\x82\xac", N252 "a\xe2\x82\xad", N252 "a", ANY },
};

/* Texts with %1 and %2 where the names stand, and what must come out with %L where the label does. */
static const struct kind {
	const char *name;
	parse_fn *parse;
	enum form form; /* of the names it takes: WORD takes these alone, ANY these and others */
	const char *text, *expected;
} kinds[] = {
	{ "netstat-m", netstat_m_parse, ANY,
	    "9/12/300 mbufs in use (current/peak/max):\n\t4 mbufs allocated to %1\n\t5 mbufs allocated to %2\n",
	    "hiwat_mbuf_type_in_use{type=\"%L\"} 9\n" },
	{ "vmstat-i", vmstat_i_parse, ANY,
	    "interrupt                          total       rate\nirq1: %1  4  1\nirq1: %2  5  1\nTotal  9  2\n",
	    "hiwat_interrupts_total{device=\"%L\",irq=\"1\"} 9\n" },
	{ "vmstat-i-json", vmstat_i_json_parse, JSON,
	    "{\"interrupt-statistics\": {\"interrupt\": [{\"name\":\"irq1: %1\",\"total\":4,\"rate\":1},"
	    "{\"name\":\"irq1: %2\",\"total\":5,\"rate\":1}], \"total-interrupts\": 9, \"total-rate\": 2}}\n",
	    "hiwat_interrupts_total{device=\"%L\",irq=\"1\"} 9\n" },
	{ "vmstat-z", vmstat_z_parse, ANY,
	    "ITEM                   SIZE  LIMIT     USED     FREE      REQ FAIL SLEEP\n\n"
	    "%1:  256,  100,  4,  1,  9,  1,  0\n%2:  256,  100,  5,  1,  9,  2,  0\n",
	    "hiwat_zone_used{zone=\"%L\"} 9\nhiwat_zone_limit{zone=\"%L\"} 200\nhiwat_zone_failures_total{zone=\"%L\"} "
	    "3\n" },
	{ "netstat-i", netstat_i_parse, ANY,
	    "Name  Mtu Network   Address            Ipkts Ierrs Opkts Oerrs  Coll\n"
	    "%1  1500 <Link#1>  00:00:5e:00:53:01  4  0  1  0  0\n%2  1500 <Link#2>  00:00:5e:00:53:02  5  0  2  0  0\n",
	    "hiwat_netif_packets_total{direction=\"in\",interface=\"%L\"} 9\n"
	    "hiwat_netif_packets_total{direction=\"out\",interface=\"%L\"} 3\n" },
	{ "netstat-L, unix sockets", netstat_listen_parse, ANY,
	    "Current listen queue sizes (qlen/incqlen/maxqlen)\nProto Listen         Local Address\n"
	    "unix  1/0/128        %1\nunix  5/0/128        %2\n",
	    "hiwat_listen_queue{address=\"%L\"} 5\nhiwat_listen_queue_limit{address=\"%L\"} 128\n" },
	{ "proc-interrupts, devices", proc_interrupts_parse, ANY,
	    "           CPU0       CPU1\n  1:  2  2   IO-APIC   1-edge      %1\n  1:  3  2   IO-APIC   1-edge      %2\n",
	    "hiwat_interrupts_total{device=\"%L\",irq=\"1\"} 9\n" },
	{ "proc-interrupts, names", proc_interrupts_parse, ANY,
	    "           CPU0       CPU1\n%1:  2  2   some interrupts\n%2:  3  2   some interrupts\n",
	    "hiwat_interrupts_total{device=\"some interrupts\",irq=\"%L\"} 9\n" },
	{ "proc-softirqs", proc_softirqs_parse, ANY, "           CPU0       CPU1\n      HI:  1  1\n%1:  2  2\n%2:  3  2\n",
	    "hiwat_softirqs_total{vector=\"%L\"} 9\n" },
	{ "nf-conntrack-stat", proc_nf_conntrack_stat_parse, ANY,
	    "entries  insert_failed %1 %2\n00000009  00000000 00000004 00000005\n",
	    "hiwat_conntrack_events_total{event=\"%L\"} 4\n" },
	{ "net/dev", proc_net_dev_parse, ANY,
	    "Inter-|   Receive  |  Transmit\n face |bytes packets |bytes packets\n"
	    "%1: 4 1 0 0 0 0 0 0 40 1 0 0 0 0 0 0\n%2: 5 1 0 0 0 0 0 0 50 1 0 0 0 0 0 0\n",
	    "hiwat_netif_bytes_total{direction=\"in\",interface=\"%L\"} 9\n"
	    "hiwat_netif_bytes_total{direction=\"out\",interface=\"%L\"} 90\n" },
	{ "diskstats", proc_diskstats_parse, ANY, "8 0 %1 1 0 0 0 3 0 0 0 2 1000 0\n8 16 %2 2 0 0 0 3 0 0 0 1 500 0\n",
	    "hiwat_disk_completed_total{device=\"%L\"} 9\nhiwat_disk_in_flight{device=\"%L\"} 3\n"
	    "hiwat_disk_busy_seconds_total{device=\"%L\"} 1.5\n" },
	{ "pfctl-info", pfctl_info_parse, WORD,
	    "Status: Enabled for 1 days 02:03:04              Debug: err\n\n"
	    "State Table                          Total             Rate\n"
	    "  current entries                       12               \n"
	    "Counters\n  %1  4  0.1/s\n  %2  5  0.1/s\nLimit Counters\n  %1  6  0.1/s\n  %2  7  0.1/s\n",
	    "hiwat_pf_counter_total{counter=\"%L\"} 4\nhiwat_pf_limit_counter_total{counter=\"%L\"} 6\n" },
	{ "pfctl-memory", pfctl_memory_parse, WORD, "%1  hard limit    40000000\n%2  hard limit    50000000\n",
	    "hiwat_pf_limit{pool=\"%L\"} 50000000\n" },
	{ "pfctl-timeouts", pfctl_timeouts_parse, WORD, "t.%1  40s\nt.%2  50s\n", "" },
	{ "pfctl-tables", pfctl_tables_parse, ANY,
	    "-pa-r--\t%1\n\tAddresses:   4\n\tCleared:     Sun Mar  1 00:00:00 2026\n-pa-r--\t%2\n\tAddresses:   5\n",
	    "hiwat_pf_table_entries{table=\"%L\"} 5\n" },
	{ "pfctl-rules", pfctl_rules_parse, ANY,
	    "pass in proto tcp to port 22 keep state (max-src-conn 9, overload <%1> flush)\n"
	    "pass in proto tcp to port 80 keep state (max-src-conn 9, overload <%2> flush)\n",
	    "hiwat_pf_overload_table{table=\"%L\"} 1\n" },
	{ "registry", registry_parse, ANY,
	    "Windows Registry Editor Version 5.00\n\n"
	    "[HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters]\n"
	    "\"%1\"=dword:00000004\n\"%2\"=dword:00000005\n",
	    "hiwat_sysctl{index=\"\",name=\"%L\"} 5\n" },
	{ "zpool-status, pools", zpool_status_parse, ANY,
	    "  pool: %1\n state: ONLINE\nerrors: No known data errors\n\n"
	    "  pool: %2\n state: DEGRADED\nerrors: No known data errors\n",
	    "hiwat_zpool_online{pool=\"%L\",state=\"DEGRADED\"} 0\n" },
	{ "zpool-status, devices", zpool_status_parse, ANY,
	    "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n"
	    "\ttank        ONLINE       0     0     0\n\t  %1  ONLINE  4  0  0\n\t  %2  ONLINE  5  0  0\n\n"
	    "errors: No known data errors\n",
	    "hiwat_zpool_vdev_errors_total{kind=\"read\",pool=\"tank\",vdev=\"%L\"} 9\n" },
	{ "zpool-status-json", zpool_status_json_parse, JSON,
	    "{\"pools\":{\"%1\":{\"name\":\"%1\",\"state\":\"ONLINE\"},\"%2\":{\"name\":\"%2\",\"state\":\"ONLINE\"},"
	    "\"tank\":{\"name\":\"tank\",\"state\":\"ONLINE\",\"vdevs\":{\"%1\":{\"name\":\"%1\",\"state\":\"ONLINE\","
	    "\"read_errors\":4,\"write_errors\":0,\"checksum_errors\":0},\"%2\":{\"name\":\"%2\",\"state\":\"ONLINE\","
	    "\"read_errors\":5,\"write_errors\":0,\"checksum_errors\":0}}}}}\n",
	    "hiwat_zpool_online{pool=\"%L\",state=\"ONLINE\"} 1\n"
	    "hiwat_zpool_vdev_errors_total{kind=\"read\",pool=\"tank\",vdev=\"%L\"} 9\n" },
	{ "bind-json", bind_json_parse, JSON,
	    "{\"json-stats-version\":\"1.7\",\"version\":\"9.18.1\",\"rcodes\":{\"%1\":4,\"%2\":5},\"nsstats\":{},"
	    "\"views\":{\"_default\":{\"resolver\":{\"stats\":{},\"cache\":{},\"cachestats\":{}}}}}\n",
	    "" },
	{ "unbound-stats", unbound_stats_parse, ANY,
	    "total.num.queries=9\ntotal.num.cachehits=1\nnum.answer.rcode.%1=4\nnum.answer.rcode.%2=5\n"
	    "mem.cache.%1=4\nmem.cache.%2=5\n",
	    "hiwat_dns_cache_bytes{cache=\"%L\",server=\"unbound\"} 5\n" },
	{ "dnsmasq-log", dnsmasq_log_parse, ANY,
	    "dnsmasq[1]: time 1700000000\ndnsmasq[1]: cache size 150, 0/3 cache insertions re-used unexpired cache "
	    "entries.\n"
	    "dnsmasq[1]: queries forwarded 9, queries answered locally 1\n"
	    "dnsmasq[1]: server %1: queries sent 4, retried or failed 1\n"
	    "dnsmasq[1]: server %2: queries sent 5, retried or failed 1\n",
	    "hiwat_dns_upstream_queries_total{server=\"dnsmasq\",upstream=\"%L\"} 9\n" },
	{ "named-conf", named_conf_parse, ANY, "options {\n\t%1 4;\n\t%2 5;\n\trecursive-clients 7;\n};\n",
	    "hiwat_dns_setting{name=\"%L\",server=\"bind\"} 5\n" },
	{ "kernel-log", kernel_log_parse, ANY,
	    "(%1:ahcich0:0:0:0): CAM status: Command timeout\nLimiting %1 response from 300 to 200 packets/sec\n"
	    "Limiting %2 response from 300 to 200 packets/sec\ninterrupt storm detected on \"%1\"; throttling interrupt "
	    "source\n"
	    "interrupt storm detected on \"%2\"; throttling interrupt source\n"
	    "INFO: task a:1 blocked for more than 120 seconds.\n",
	    "" },
};

static void
fill_in(struct buf *out, const char *template, const struct pair *pair, const char *label)
{
	for (const char *p = template; *p != '\0'; p++) {
		if (*p != '%')
			buf_putc(out, *p);
		else
			buf_puts(out, *++p == '1' ? pair->first : *p == '2' ? pair->second : label);
	}
}

START_TEST(test_kinds)
{
	const struct kind *kind = &kinds[_i];
	struct buf text, expected, lines;
	unsigned n = 0;

	buf_init(&text, 1 << 16);
	buf_init(&expected, 1 << 16);
	buf_init(&lines, 1 << 20);
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		const struct pair *pair = &pairs[i];
		if (pair->form != kind->form && (pair->form != WORD || kind->form == JSON))
			continue;
		buf_reset(&text);
		buf_reset(&expected);
		fill_in(&text, kind->text, pair, "");
		fill_in(&expected, kind->expected, pair, pair->label);
		int err = parsed_by(kind->parse, (struct text){ buf_str(&text), text.len }, &lines);
		ck_assert_msg(err == HIWAT_OK, "%s, pair %zu: %s", kind->name, i, err_text(err));
		const char *mismatch = parsed_mismatch(&lines, buf_str(&expected));
		ck_assert_msg(mismatch == NULL, "%s, pair %zu: %s in\n%s", kind->name, i, mismatch, buf_str(&lines));
		n++;
	}
	ck_assert_uint_ge(n, 1);
	buf_fini(&lines);
	buf_fini(&expected);
	buf_fini(&text);
}
END_TEST

/* Numbers of CPUs and interrupts with more zeros before them than a label holds. */
START_TEST(test_zeros)
{
	struct buf lines;
	char text[2048];
	int zeros = CODEC_LABEL_MAX;

	buf_init(&lines, 1 << 20);
	snprintf(text, sizeof(text), "cpu  9 0 0 0\ncpu%0*d 4 0 0 0\ncpu%0*d 5 0 0 0\n", zeros + 1, 1, zeros + 1, 2);
	ck_assert_int_eq(parsed_by(proc_stat_parse, text_of(text), &lines), HIWAT_OK);
	snprintf(text, sizeof(text), "  CPU0\n%0*d: 4\n%0*d: 5\n", zeros + 1, 1, zeros + 1, 2);
	ck_assert_int_eq(parsed_by(proc_interrupts_parse, text_of(text), &lines), HIWAT_OK);
	buf_fini(&lines);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *s = suite_create("labels");
	TCase *t = tcase_create("labels");

	tcase_add_test(t, test_label);
	tcase_add_test(t, test_rows);
	tcase_add_test(t, test_index);
	tcase_add_test(t, test_no_memory);
	tcase_add_loop_test(t, test_kinds, 0, ARRAY_LEN(kinds));
	tcase_add_test(t, test_zeros);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
