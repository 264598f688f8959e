#include "unit.h"

#include <string.h>

#include "err.h"
#include "parsed.h"
#include "sysctl.h"
#include "sysctl_names.h"
#include "sysctl_time.h"

#define SETTING(name, value) "hiwat_sysctl{index=\"\",name=\"" name "\"} " value "\n"
#define PLACE(name, index, value) "hiwat_sysctl{index=\"" index "\",name=\"" name "\"} " value "\n"
#define CPU(mode, value) "hiwat_cpu_seconds_total{mode=\"" mode "\"} " value "\n"
#define CORE(cpu, mode, value) "hiwat_cpu_core_seconds_total{cpu=\"" cpu "\",mode=\"" mode "\"} " value "\n"

static const struct {
	const char *name, *text;
	int err;
	const char *expected;
} rows[] = {
	{ "FreeBSD",
	    "kern.ostype: FreeBSD\nkern.version: FreeBSD 13.2\n    kern.fake: 5\nkern.maxvnodes: 100000\nkern.maxproc: "
	    "4000\nkern.maxfiles: 65536\n"
	    "kern.clockrate: { hz = 1000, tick = 1000, profhz = 8126, stathz = 127 }\n"
	    "kern.boottime: { sec = 1700000000, usec = 500000 } Tue Nov 14 22:13:20 2023\n"
	    "kern.cp_times: 127 0 254 0 1270 0 0 0 0 0 1270 127 0 127 0\nkern.cp_time: 1397 127 254 127 1270\n"
	    "kern.openfiles: 300\nkern.ipc.nmbclusters: 25600\nkern.ipc.maxsockets: 25600\nkern.ipc.numopensockets: 77\n"
	    "kern.ipc.somaxconn: 128\nvfs.numvnodes: 5000\nvfs.freevnodes: 1000\nvm.swap_total: 4294967296\n"
	    "hw.physmem: 8589934592\nhw.ncpu: 2\nhw.clockrate: 2400\nmachdep.tsc_freq: 2399999999\nhw.intr_storm_threshold: "
	    "0\n"
	    "net.inet.ip.intr_queue_drops: 9\nnet.inet.tcp.syncache.count: 3\nnet.inet.ip.portrange.first: 10000\n"
	    "net.inet.ip.portrange.last: 65535\nnet.inet.tcp.states: 1 2 3 4 5 6 7 8 9 10 11\nhw.ata.to: 15\nhw.model: "
	    "Intel 5: x\n",
	    0,
	    "hiwat_setting_text{name=\"kern.ostype\",value=\"FreeBSD\"} "
	    "1\n!hiwat_setting_text{name=\"kern.version\",value=\"FreeBSD 13.2\"}\n" SETTING("kern.maxfiles",
		"65536") SETTING("kern.ipc.nmbclusters", "25600") SETTING("kern.ipc.somaxconn", "128") SETTING("hw.ata.to",
		"15") SETTING("hw.intr_storm_threshold",
		"0") "!hiwat_sysctl{index=\"\",name=\"kern.openfiles\"}\n"
		     "hiwat_files_open 300\nhiwat_files_limit 65536\nhiwat_vnodes 5000\nhiwat_vnodes_free "
		     "1000\nhiwat_vnodes_limit 100000\n"
		     "hiwat_processes_limit 4000\nhiwat_swap_bytes_limit 4294967296\nhiwat_memory_bytes "
		     "8589934592\nhiwat_cpu_count 2\n"
		     "hiwat_cpu_hertz 2400000000\nhiwat_boot_time_seconds 1700000000.5\nhiwat_interrupt_storm_threshold 0\n"
		     "hiwat_sockets{protocol=\"all\",state=\"used\"} "
		     "77\nhiwat_sockets_limit{protocol=\"all\",state=\"used\"} 25600\n"
		     "hiwat_netisr_drops_total{queue=\"ip\"} 9\nhiwat_syncache_entries 3\nhiwat_ports_limit 55536\n"
		     "hiwat_tcp_connections{state=\"syn_received\"} 4\nhiwat_tcp_connections{state=\"time_wait\"} 11\n" CPU(
			 "user", "11") CPU("nice", "1") CPU("system", "2") CPU("interrupt", "1") CPU("idle", "10")
			 CORE("0", "user", "1") CORE("2", "user", "10")
			     CORE("2", "interrupt", "1") "!hiwat_cpu_core_seconds_total{cpu=\"1\",mode=\"user\"}\n" },
	{ "OpenBSD",
	    "kern.ostype=OpenBSD\nkern.maxclusters=262144\nkern.somaxconn=128\nkern.nfiles=100\nkern.maxfiles=7030\nkern."
	    "numvnodes=900\n"
	    "kern.nprocs=70\nkern.maxproc=1310\nkern.cp_time=1,2,3,4,5,6\nkern.boottime=Tue Nov 14 22:13:20 2023\n"
	    "kern.clockrate=tick = 10000, hz = 100, profhz = 1000, stathz = "
	    "100\nhw.physmem=4278190080\nhw.ncpu=8\nhw.ncpuonline=4\n"
	    "hw.cpuspeed=2000\nnet.inet.ip.ifq.drops=12\nnet.inet.ip.forwarding=1\n",
	    0,
	    SETTING("kern.maxclusters", "262144") SETTING("net.inet.ip.forwarding",
		"1") "hiwat_files_open 100\nhiwat_vnodes 900\n"
		     "hiwat_processes 70\nhiwat_processes_limit 1310\nhiwat_cpu_count 4\nhiwat_cpu_hertz 2000000000\n"
		     "hiwat_boot_time_seconds 1700000000\nhiwat_netisr_drops_total{queue=\"ip\"} 12\n" CPU("spin", "0.04")
			 CPU("interrupt", "0.05") CPU("idle", "0.06") },
	{ "NetBSD",
	    "kern.cp_time: user = 100, nice = 0, sys = 200, intr = 300, idle = 400\nkern.mbuf.nmbclusters = "
	    "65536\nhw.physmem = 2147483647\n"
	    "hw.physmem64 = 8589934592\n",
	    0,
	    SETTING("kern.mbuf.nmbclusters", "65536") "hiwat_memory_bytes 8589934592\n" CPU("interrupt", "3")
		CPU("idle", "4") },
	{ "Linux",
	    "fs.file-max = 100000\nfs.file-nr = 5000\t1000\t9223372036854775807\nnet.ipv4.tcp_mem = 98304\t131072\t196608\n"
	    "net.ipv4.ip_local_port_range = 32768\t60999\nnet.ipv4.tcp_max_orphans = 65536\nnet.netfilter.nf_conntrack_max "
	    "= 0\n"
	    "net.netfilter.nf_conntrack_count = 44\nnet.netfilter.nf_conntrack_buckets = 65536\nnet.core.somaxconn = 4096\n",
	    0,
	    PLACE("net.ipv4.tcp_mem", "0", "98304") PLACE("net.ipv4.tcp_mem", "2", "196608") SETTING("net.core.somaxconn",
		"4096") "hiwat_files_open 4000\n!hiwat_files_limit\nhiwat_ports_limit 28232\nhiwat_conntrack_entries "
			"44\n!hiwat_conntrack_limit\n"
			"hiwat_conntrack_buckets 65536\nhiwat_sockets_limit{protocol=\"tcp\",state=\"orphan\"} 65536\n"
			"hiwat_socket_memory_limit_bytes{protocol=\"tcp\",threshold=\"low\"} 402653184\n" },
	{ "CRLF, a name twice, last line cut",
	    "$ sysctl -a\r\nkern.maxfiles: 1\r\nkern.maxfiles: 2\r\nkern.ipc.somaxconn: 12", 0,
	    SETTING("kern.maxfiles", "2") "!hiwat_sysctl{index=\"\",name=\"kern.ipc.somaxconn\"}\n" },
	{ "values of another kind",
	    "kern.maxfiles: many\nkern.ipc.somaxconn:\nkern.boottime: never\nkern.cp_time: 1 2 3\nhw.ncpu: -1\n"
	    "kern.somaxconn: 99999999999999999999999\nkern.coredump: 1\n",
	    0,
	    SETTING("kern.coredump", "1") "!hiwat_files_limit\n!hiwat_boot_time_seconds\n!hiwat_cpu_count\n"
					  "!" CPU("user", "0") },
	{ "words, of which the last counts",
	    "kern.osrelease: 11.0-RELEASE\nkern.osrelease: 12.1-RELEASE-p3\nkern.ostype:\nkern.maxfiles: 1\n", 0,
	    SETTING("kern.maxfiles", "1") "hiwat_setting_text{name=\"kern.osrelease\",value=\"12.1-RELEASE-p3\"} 1\n"
					  "!hiwat_setting_text{name=\"kern.osrelease\",value=\"11.0-RELEASE\"}\n" },
	{ "negative", "kern.maxusers: -1\n", 0, SETTING("kern.maxusers", "-1") },
	{ "nothing known", "kern.ostype: FreeBSD\n", HIWAT_E_NODATA, "" },
	{ "empty", "", HIWAT_E_NODATA, "" },
	{ "another kind", "tcp:\n\t1234 packets sent\n", HIWAT_E_NODATA, "" },
};

START_TEST(row)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	int err = parsed_by(sysctl_parse, text_of(rows[_i].text), &out);
	ck_assert_msg(err == rows[_i].err, "%s: %s", rows[_i].name, err_text(err));
	const char *mismatch = parsed_mismatch(&out, rows[_i].expected);
	ck_assert_msg(mismatch == NULL, "%s: %s in\n%s", rows[_i].name, mismatch, buf_str(&out));
	buf_fini(&out);
}
END_TEST

START_TEST(properties)
{
	if (rows[_i].err == HIWAT_OK)
		parsed_properties(sysctl_parse, text_of(rows[_i].text), 1);
}
END_TEST

/* A name that sorts wrongly would never be found. */
START_TEST(names)
{
	static const char *const known[] = { "dev.cpu.0.freq", "fs.file-nr", "kern.ipc.nmbjumbo9", "kern.ipc.nmbjumbop",
		"kern.mbuf.nmbclusters", "net.inet.tcp.inflight_enable", "net.inet.tcp.inflight.enable",
		"net.inet6.ip6.forwarding", "vm.zone_warnings" };

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		ck_assert_msg(sysctl_name_find(text_of(known[i])) != NULL, "%s", known[i]);
	ck_assert_ptr_null(sysctl_name_find(text_of("kern.ipc.nmbjumbo")));
	ck_assert_ptr_null(sysctl_name_find(text_of("kern.ipc.nmbjumbo99")));
	ck_assert_ptr_null(sysctl_name_find(text_of("")));
}
END_TEST

static const struct {
	const char *value;
	int tz_seconds;
	bool ok;
	double seconds;
} times[] = {
	{ "{ sec = 1700000000, usec = 0 } Tue Nov 14 22:13:20 2023", 3600, true, 1700000000 },
	{ "1700000000", 3600, true, 1700000000 },
	{ "Tue Nov 14 22:13:20 2023", 0, true, 1700000000 },
	{ "Tue Nov 14 23:13:20 2023", 3600, true, 1700000000 },
	{ "Thu Feb 29 00:00:00 2024", 0, true, 1709164800 },
	{ "Thu Jan  1 00:00:00 1970", 0, true, 0 },
	{ "Thu Foo  1 00:00:00 1970", 0, false, 0 },
	{ "Thu Jan  1 25:00:00 1970", 0, false, 0 },
	{ "{ sec = 0, usec = 0 }", 0, false, 0 },
	{ "{ usec = 5 }", 0, false, 0 },
	{ "", 0, false, 0 },
};

START_TEST(boot_time)
{
	double seconds = -1;

	ck_assert_int_eq(sysctl_boot_time(text_of(times[_i].value), times[_i].tz_seconds, &seconds), times[_i].ok);
	if (times[_i].ok)
		ck_assert(seconds >= times[_i].seconds && seconds <= times[_i].seconds);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("sysctl");
	TCase *tc = tcase_create("sysctl");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_loop_test(tc, properties, 0, ARRAY_LEN(rows));
	tcase_add_test(tc, names);
	tcase_add_loop_test(tc, boot_time, 0, ARRAY_LEN(times));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
