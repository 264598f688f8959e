/* The samplers of OpenBSD against a kernel made of its structures, whose variables have numbers for names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "kernel.h"
#include "openbsd.h"
#include "sampled.h"
#include "tree.h"
#include "unit.h"

#define BOOTTIME "1.21"
#define CLOCKRATE "1.12"
#define CPTIME "1.40"
#define CPTIME2(cpu) "1.71." cpu
#define DISKSTATS "6.9"
#define INTRCNT(what, i) "1.63." what "." i
#define MAXCLUSTERS "1.67"
#define MSGBUF "1.48"
#define NCPU "6.3"
#define PFSTATUS "1.86"
#define UVMEXP "2.4"

static struct sampler_config config = SAMPLER_DEFAULTS;

static void
expect_failure(const char *name, int err, const char *reason)
{
	struct sampled s;

	sampled_open(&s, name, &config);
	int got = sampled_take(&s, 5000);
	ck_assert_msg(got == err, "%s: %s, %s", name, err_text(got), s.why.text);
	ck_assert_msg(strstr(s.why.text, reason) != NULL, "%s: '%s'", name, s.why.text);
	sampled_close(&s);
}

static void
expect(const char *name, const char *lines)
{
	struct sampled s;

	sampled_open(&s, name, &config);
	sampled_expect(&s, 5000, lines);
	sampled_close(&s);
}

/* ---- mbuf */

static const char mbuf_new[] =
    "90 mbufs in use:\n\t50 mbufs allocated to data\n"
    "30/64 mbuf 2048 byte clusters in use (current/peak)\n300/400/524288 Kbytes allocated to network (current/peak/max)\n"
    "0 requests for memory denied\n";
static const char mbuf_unlimited[] = "90 mbufs in use:\n30/64 mbuf 2048 byte clusters in use (current/peak)\n"
				     "0 requests for memory denied\n";

START_TEST(test_mbuf)
{
	kernel_program("/usr/bin/netstat --libxo json -m", HIWAT_E_REJECTED, "unknown option -- -");
	kernel_program("/usr/bin/netstat -m", HIWAT_OK, mbuf_new);
	kernel_set_int(MAXCLUSTERS, 1000);
	/* What is printed comes first. */
	expect("mbuf", "hiwat_mbuf_pool_in_use{pool=\"mcl2k\"} 30\nhiwat_mbuf_bytes_limit 536870912\n");
	kernel_program("/usr/bin/netstat -m", HIWAT_OK, mbuf_unlimited);
	expect("mbuf", "hiwat_mbuf_pool_in_use{pool=\"mcl2k\"} 30\nhiwat_mbuf_bytes_limit 2048000\n");
}
END_TEST

/* ---- interrupts */

static void
set_source(const char *i, const char *name, int vector, uint64_t count)
{
	char what[32];

	snprintf(what, sizeof(what), INTRCNT("3", "%s"), i);
	kernel_set(what, name, strlen(name) + 1);
	snprintf(what, sizeof(what), INTRCNT("2", "%s"), i);
	kernel_set_u64(what, count);
	snprintf(what, sizeof(what), INTRCNT("4", "%s"), i);
	if (vector >= 0)
		kernel_set_int(what, vector);
}

static void
set_interrupts(void)
{
	const struct clockinfo clock = { .hz = 100, .tick = 10000, .stathz = 100, .profhz = 1000 };
	const long all[CPUSTATES] = { 100, 200, 300, 50, 400, 5000 };
	const uint64_t first[CPUSTATES] = { 100, 200, 300, 50, 700, 4000 };
	const uint64_t second[CPUSTATES] = { 100, 200, 300, 50, 100, 6000 };

	kernel_set(CLOCKRATE, &clock, sizeof(clock));
	kernel_set(CPTIME, all, sizeof(all));
	kernel_set_int(NCPU, 3);
	kernel_set(CPTIME2("0"), first, sizeof(first));
	kernel_fail(CPTIME2("1"), ENODEV, -1);
	kernel_set(CPTIME2("2"), second, sizeof(second));
	kernel_set_int("1.63.1", 5);
	set_source("0", "clock", 0, 900000);
	set_source("1", "ipi", 0, 500);
	set_source("2", "em0", 96, 7000);
	set_source("3", "softintr", -1, 11);
	/* The fifth went while they were asked. */
}

START_TEST(test_interrupts)
{
	set_interrupts();
	expect("interrupts",
	    "hiwat_interrupts_total{device=\"clock\",irq=\"0\"} 900000\n"
	    "hiwat_interrupts_total{device=\"ipi\",irq=\"0\"} 500\nhiwat_interrupts_total{device=\"em0\",irq=\"96\"} 7000\n"
	    "hiwat_interrupts_total{device=\"softintr\",irq=\"\"} 11\nhiwat_interrupts_all_total 907511\n"
	    "hiwat_cpu_seconds_total{mode=\"spin\"} 0.5\nhiwat_cpu_seconds_total{mode=\"interrupt\"} 4\n"
	    "hiwat_cpu_seconds_total{mode=\"idle\"} 50\nhiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"interrupt\"} 7\n"
	    "hiwat_cpu_core_seconds_total{cpu=\"2\",mode=\"idle\"} "
	    "60\n!hiwat_cpu_core_seconds_total{cpu=\"1\",mode=\"idle\"}\n"
	    "!hiwat_interrupt_storm_threshold\n");
}
END_TEST

/* Until 6.3 there were five states: interrupt and idle stood one place before. */
START_TEST(test_interrupts_five_states)
{
	const long all[5] = { 100, 200, 300, 400, 5000 };
	const uint64_t one[5] = { 100, 200, 300, 400, 5000 };
	const long seven[7] = { 0 };

	set_interrupts();
	kernel_set(CPTIME, all, sizeof(all));
	kernel_set(CPTIME2("0"), one, sizeof(one));
	expect("interrupts",
	    "hiwat_cpu_seconds_total{mode=\"interrupt\"} 4\nhiwat_cpu_seconds_total{mode=\"idle\"} 50\n"
	    "!hiwat_cpu_seconds_total{mode=\"spin\"}\nhiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"idle\"} 50\n");
	kernel_set(CPTIME, seven, sizeof(seven));
	expect_failure("interrupts", HIWAT_E_FORMAT, "kern.cp_time");
}
END_TEST

/* ---- the packet filter */

START_TEST(test_pf)
{
	struct pf_status st = { .since = 1000,
		.running = 1,
		.states = 17,
		.states_halfopen = 2,
		.src_nodes = 3,
		.fragments = 4 };

	st.counters[0] = 900;
	st.counters[5] = 31;
	st.counters[16] = 1;
	st.lcounters[3] = 8;
	st.fcounters[FCNT_STATE_SEARCH] = 1000;
	st.fcounters[FCNT_STATE_REMOVALS] = 483;
	st.scounters[FCNT_STATE_INSERT] = 6;
	kernel_set(PFSTATUS, &st, sizeof(st));
	expect("pf",
	    "hiwat_pf_enabled 1\nhiwat_pf_running_seconds 4000\nhiwat_pf_states 17\nhiwat_pf_half_open_states 2\n"
	    "hiwat_pf_source_nodes 3\nhiwat_pf_fragments 4\nhiwat_pf_state_searches_total 1000\n"
	    "hiwat_pf_state_removals_total 483\nhiwat_pf_source_node_inserts_total 6\n"
	    "hiwat_pf_counter_total{counter=\"match\"} 900\nhiwat_pf_counter_total{counter=\"memory\"} 31\n"
	    "hiwat_pf_counter_total{counter=\"no-route\"} 1\nhiwat_pf_limit_counter_total{counter=\"max-src-conn\"} 8\n");
	st.running = 0;
	kernel_set(PFSTATUS, &st, sizeof(st));
	expect("pf", "hiwat_pf_enabled 0\n!hiwat_pf_running_seconds\nhiwat_pf_states 17\n");
	kernel_set(PFSTATUS, &st, sizeof(st) - 8);
	expect_failure("pf", HIWAT_E_VERSION, "kern.pfstatus");
	kernel_fail(PFSTATUS, EOPNOTSUPP, -1);
	expect_failure("pf", HIWAT_E_MISSING, "kern.pfstatus");
}
END_TEST

/* States are known to everybody, their limit is not: the one sampler's refusal is not the other's. */
START_TEST(test_pf_limits)
{
	static const char words[] = "pfctl: /dev/pf: Permission denied";

	kernel_program("/sbin/pfctl -s memory", HIWAT_E_DENIED, words);
	expect_failure("pf_limits", HIWAT_E_DENIED, words);
	kernel_program("/usr/bin/doas -n /sbin/pfctl -s memory", HIWAT_OK, "states        hard limit   100000\n");
	kernel_program("/usr/bin/doas -n /sbin/pfctl -s timeouts", HIWAT_OK, "tcp.first                   120s\n");
	expect("pf_limits", "hiwat_pf_limit{pool=\"states\"} 100000\nhiwat_pf_timeout_seconds{timeout=\"tcp.first\"} 120\n");
}
END_TEST

/* ---- disks */

START_TEST(test_disk)
{
	struct diskstats disks[] = {
		{ .ds_name = "sd0",
		    .ds_busy = 3,
		    .ds_rxfer = 100,
		    .ds_wxfer = 50,
		    .ds_time = { .tv_sec = 9, .tv_usec = 250000 } },
		{ .ds_name = "cd0" },
		{ .ds_name = "rd0" },
		{ .ds_name = "wd1" },
	};

	kernel_set(DISKSTATS, disks, sizeof(disks));
	expect("disk",
	    "hiwat_disk_in_flight{device=\"sd0\"} 3\nhiwat_disk_completed_total{device=\"sd0\"} 150\n"
	    "hiwat_disk_busy_seconds_total{device=\"sd0\"} 9.25\nhiwat_disk_in_flight{device=\"wd1\"} 0\n"
	    "!hiwat_disk_in_flight{device=\"cd0\"}\n!hiwat_disk_in_flight{device=\"rd0\"}\n"
	    "!hiwat_disk_command_timeout_seconds{device=\"sd0\"}\n");
	kernel_set(DISKSTATS, disks, sizeof(disks) - 1);
	expect_failure("disk", HIWAT_E_VERSION, "hw.diskstats");
}
END_TEST

/* ---- the host */

static void
set_system(void)
{
	const struct vmtotal total = { .t_rq = 2 };
	const struct uvmexp u = { .pagesize = 4096, .swpages = 1000, .swpginuse = 10 };

	kernel_set("2.1", &total, sizeof(total));
	kernel_set(UVMEXP, &u, sizeof(u));
	kernel_set_int("1.56", 300);  /* nfiles */
	kernel_set_int("1.7", 7030);  /* maxfiles */
	kernel_set_int("1.58", 4000); /* numvnodes */
	kernel_set_int("1.5", 34000); /* maxvnodes */
	kernel_set_int("1.47", 90);   /* nprocs */
	kernel_set_int("1.6", 1310);  /* maxproc */
}

START_TEST(test_system)
{
	const struct uvmexp odd = { .pagesize = 4096, .swpages = -1 };

	set_system();
	expect("system",
	    "hiwat_files_open 300\nhiwat_files_limit 7030\nhiwat_vnodes 4000\n!hiwat_vnodes_free\n"
	    "hiwat_vnodes_limit 34000\nhiwat_processes 90\nhiwat_processes_limit 1310\nhiwat_run_queue 2\n"
	    "hiwat_swap_bytes_used 40960\nhiwat_swap_bytes_limit 4096000\n");
	kernel_set(UVMEXP, &odd, sizeof(odd));
	expect_failure("system", HIWAT_E_IMPLAUSIBLE, "vm.uvmexp");
	kernel_set(UVMEXP, &odd, sizeof(odd) - 4);
	expect_failure("system", HIWAT_E_VERSION, "vm.uvmexp");
}
END_TEST

START_TEST(test_settings)
{
	const struct timeval boot = { .tv_sec = 1700000000 };

	kernel_set(BOOTTIME, &boot, sizeof(boot));
	kernel_set_int(MAXCLUSTERS, 262144);
	kernel_set_int("4.2.0.1", 1);       /* ip.forwarding */
	kernel_set_int("4.2.0.30.2", 2048); /* ip.ifq.maxlen */
	kernel_set_int("6.25", 4);          /* ncpuonline */
	kernel_set_int(NCPU, 8);
	kernel_set_int("6.12", 2400); /* cpuspeed */
	kernel_set_u64("6.19", UINT64_C(8589934592));
	expect("settings",
	    "hiwat_sysctl{index=\"\",name=\"kern.maxclusters\"} 262144\n"
	    "hiwat_sysctl{index=\"\",name=\"net.inet.ip.forwarding\"} 1\n"
	    "hiwat_sysctl{index=\"\",name=\"net.inet.ip.ifq.maxlen\"} 2048\nhiwat_cpu_count 4\nhiwat_cpu_hertz 2400000000\n"
	    "hiwat_memory_bytes 8589934592\nhiwat_boot_time_seconds 1700000000\n"
	    "!hiwat_sysctl{index=\"\",name=\"kern.ipc.nmbclusters\"}\n");
}
END_TEST

/* ---- network */

START_TEST(test_net)
{
	static const struct kernel_netif netifs[] = {
		{ .name = "em0",
		    .is_up = true,
		    .has_medium = true,
		    .is_full_duplex = true,
		    .is_autoselect = true,
		    .speed_bits = 1000000000,
		    .packets = { 100, 200 },
		    .bytes = { 1000, 2000 },
		    .errors = { 1, 2 },
		    .drops = { 3, 4 },
		    .mtu = 1500 },
		{ .name = "em1", .is_up = true, .has_medium = true, .speed_bits = 100000000, .mtu = 1500 },
		{ .name = "trunk0", .is_up = true, .mtu = 1500, .ports = 3, .ports_active = 2 },
		{ .name = "aggr0", .is_up = true, .mtu = 1500, .ports = 2, .ports_active = 2 },
		/* em0 carries the traffic, em1 could, em2 has no link. */
		{ .name = "trunk1",
		    .is_up = true,
		    .mtu = 1500,
		    .ports = 3,
		    .ports_active = 1,
		    .is_failover = true,
		    .port_names = { "em0", "em1", "em2" } },
		{ .name = "em2", .has_medium = true, .mtu = 1500 },
	};

	kernel_netifs(netifs, ARRAY_LEN(netifs));
	kernel_set_int("4.2.0.30.3", 12); /* ip.ifq.drops */
	kernel_set_int("4.2.0.9", 49152); /* ip.porthifirst */
	kernel_set_int("4.2.0.10", 65535);
	expect("net",
	    "hiwat_netif_packets_total{direction=\"out\",interface=\"em0\"} 200\n"
	    "hiwat_netif_drops_total{direction=\"in\",interface=\"em0\"} 3\nhiwat_netif_speed_bits{interface=\"em0\"} "
	    "1000000000\n"
	    "hiwat_netif_full_duplex{interface=\"em0\"} 1\nhiwat_netif_full_duplex{interface=\"em1\"} 0\n"
	    "hiwat_netif_autoselect{interface=\"em0\"} 1\nhiwat_netif_autoselect{interface=\"em1\"} 0\n"
	    "hiwat_link_group_ports{interface=\"trunk0\"} 3\nhiwat_link_group_ports_active{interface=\"trunk0\"} 2\n"
	    "hiwat_link_group_ports{interface=\"trunk1\"} 3\nhiwat_link_group_ports_active{interface=\"trunk1\"} 2\n"
	    "hiwat_link_group_ports_active{interface=\"aggr0\"} 2\nhiwat_netisr_drops_total{queue=\"ip\"} 12\n"
	    "hiwat_ports_limit 16384\n!hiwat_sockets{protocol=\"all\",state=\"used\"}\n");
}
END_TEST

START_TEST(test_netstat)
{
	kernel_program("/usr/bin/netstat -s -p tcp", HIWAT_OK,
	    "tcp:\n\t1234 packets sent\n\t20 SYN cache entries added\n"
	    "\t7 entries in current SYN cache, limit is 10255\n");
	expect("netstat", "hiwat_syncache_entries 7\n");
}
END_TEST

START_TEST(test_filesystems)
{
	static const struct kernel_mount mounts[] = {
		{ .device = "/dev/sd0a",
		    .mount = "/",
		    .type = "ffs",
		    .is_local = true,
		    .blocks = 1000,
		    .blocks_free = 500,
		    .blocks_available = 450,
		    .inodes = 100,
		    .inodes_free = 90 },
		{ .device = "server:/home", .mount = "/home", .type = "nfs", .sys_errno = EIO },
	};

	kernel_mounts(mounts, ARRAY_LEN(mounts));
	expect("filesystems",
	    "hiwat_filesystem_bytes_used{mount=\"/\"} 256000\nhiwat_filesystem_bytes_limit{mount=\"/\"} 486400\n");
	expect_failure("filesystems_remote", HIWAT_E_SYS, "/home");
}
END_TEST

/* ---- the kernel log */

/* A ring of 64 KiB whose next byte goes to next, filled from there on with NULs and the text. */
static void
set_ring(const char *text, size_t next)
{
	static struct {
		long magic, bufx, bufr, bufs, bufd;
		char ring[65536];
	} buffer;
	size_t size = sizeof(buffer.ring), n = strlen(text);

	memset(&buffer, 0, sizeof(buffer));
	buffer.magic = MSG_MAGIC;
	buffer.bufx = (long)next;
	buffer.bufs = (long)size;
	for (size_t i = 0; i < n; i++)
		buffer.ring[(next + size - n + i) % size] = text[i];
	kernel_set(MSGBUF, &buffer, 40 + size);
}

#define FAILED "wd0a: device timeout writing fsbn 4096 of 4096-4103 (wd0 bn 4096; cn 4 tn 1 sn 1)\n"

START_TEST(test_kernel_log)
{
	struct sampler_config kept = config;
	struct sampled s;
	struct tree t;

	tree_make(&t);
	kept.state_dir = t.dir;
	set_ring("OpenBSD 7.8 (GENERIC.MP)\n", 25);
	sampled_open(&s, "kernel_log", &kept);
	sampled_expect(&s, 1000,
	    "hiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 0\n!hiwat_disk_failures_total{device=\"wd0\"}\n");
	/* The new line lies across the end of the ring. */
	set_ring("OpenBSD 7.8 (GENERIC.MP)\n" FAILED, 40);
	sampled_expect(&s, 2000, "hiwat_disk_failures_total{device=\"wd0\"} 1\n");
	sampled_expect(&s, 3000, "hiwat_disk_failures_total{device=\"wd0\"} 1\n");
	sampled_close(&s);
	tree_remove(&t);
}
END_TEST

START_TEST(test_kernel_log_failures)
{
	const long odd[6] = { MSG_MAGIC, 9, 0, 4 };
	const long other[6] = { 1 };

	kernel_fail(MSGBUF, ENXIO, -1);
	expect_failure("kernel_log", HIWAT_E_MISSING, "kern.msgbuf");
	kernel_fail(MSGBUF, 0, 0);
	kernel_set(MSGBUF, odd, sizeof(odd));
	expect_failure("kernel_log", HIWAT_E_VERSION, "kern.msgbuf");
	kernel_set(MSGBUF, other, sizeof(other));
	expect_failure("kernel_log", HIWAT_E_VERSION, "kern.msgbuf");
	kernel_set(MSGBUF, other, 8);
	expect_failure("kernel_log", HIWAT_E_TRUNCATED, "kern.msgbuf");
}
END_TEST

static Suite *
samplers_openbsd_suite(void)
{
	const TTest *const tests[] = { test_mbuf, test_interrupts, test_interrupts_five_states, test_pf, test_pf_limits,
		test_disk, test_system, test_settings, test_net, test_netstat, test_filesystems, test_kernel_log,
		test_kernel_log_failures };
	Suite *s = suite_create("samplers_openbsd");
	TCase *t = tcase_create("all");

	config.messages_path = NULL; /* not that of this system */
	tcase_add_checked_fixture(t, kernel_reset, kernel_reset);
	for (size_t i = 0; i < ARRAY_LEN(tests); i++)
		tcase_add_test(t, tests[i]);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(samplers_openbsd_suite)
