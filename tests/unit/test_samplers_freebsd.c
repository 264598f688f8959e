/* The samplers of FreeBSD against a kernel made of its structures. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "freebsd.h"
#include "kernel.h"
#include "sampled.h"
#include "tree.h"
#include "unit.h"

static struct sampler_config config = SAMPLER_DEFAULTS;

/* One sample of a sampler, which must fail so. */
static void
expect_failure(const char *name, int err, const char *reason)
{
	struct sampled s;

	sampled_open(&s, name, &config);
	int got = sampled_take(&s, 100);
	ck_assert_msg(got == err, "%s: %s, %s", name, err_text(got), s.why.text);
	ck_assert_msg(strstr(s.why.text, reason) != NULL, "%s: '%s'", name, s.why.text);
	sampled_close(&s);
}

static void
expect(const char *name, const char *lines)
{
	struct sampled s;

	sampled_open(&s, name, &config);
	sampled_expect(&s, 100, lines);
	sampled_close(&s);
}

/* ---- mbuf */

#define JSON "/usr/bin/netstat --libxo json -m"
#define PLAIN "/usr/bin/netstat -m"

static const char mbuf_json[] = "{\"mbuf-statistics\": {\"mbuf-current\":100,\"mbuf-cache\":20,\"mbuf-total\":120,"
				"\"cluster-current\":40,\"cluster-cache\":60,\"cluster-total\":100,\"cluster-max\":9000}}\n";
static const char mbuf_text[] = "100/20/120 mbufs in use (current/cache/total)\n"
				"40/60/100/9000 mbuf clusters in use (current/cache/total/max)\n";

START_TEST(test_mbuf_json)
{
	kernel_program(JSON, HIWAT_OK, mbuf_json);
	kernel_set_int("kern.ipc.nmbufs", 6000000);
	expect("mbuf",
	    "hiwat_mbuf_pool_in_use{pool=\"cluster\"} 40\nhiwat_mbuf_pool_limit{pool=\"cluster\"} 9000\n"
	    "hiwat_mbuf_pool_limit{pool=\"mbuf\"} 6000000\n!hiwat_mbuf_bytes_limit\n");
	ck_assert_uint_eq(kernel_runs(PLAIN), 0);
}
END_TEST

/* The way that worked first is the way of every later sample. */
START_TEST(test_mbuf_text)
{
	struct sampled s;

	kernel_program(JSON, HIWAT_E_REJECTED, "illegal option -- -");
	kernel_program(PLAIN, HIWAT_OK, mbuf_text);
	sampled_open(&s, "mbuf", &config);
	sampled_expect(&s, 10, "hiwat_mbuf_pool_allocated{pool=\"mbuf\"} 120\n!hiwat_mbuf_pool_limit{pool=\"mbuf\"}\n");
	kernel_program(JSON, HIWAT_OK, mbuf_json);
	sampled_expect(&s, 20, "hiwat_mbuf_pool_allocated{pool=\"cluster\"} 100\n");
	ck_assert_uint_eq(kernel_runs(JSON), 1);
	ck_assert_uint_eq(kernel_runs(PLAIN), 2);
	/* And when it fails, it fails. */
	kernel_program(PLAIN, HIWAT_E_TIMEOUT, "deadline passed");
	ck_assert_int_eq(sampled_take(&s, 30), HIWAT_E_TIMEOUT);
	sampled_close(&s);
}
END_TEST

START_TEST(test_mbuf_failures)
{
	expect_failure("mbuf", HIWAT_E_MISSING, "netstat");
	kernel_program(JSON, HIWAT_OK, "nonsense\n");
	kernel_program(PLAIN, HIWAT_OK, "nonsense\n");
	expect_failure("mbuf", HIWAT_E_NODATA, "/usr/bin/netstat");
	kernel_program(PLAIN, HIWAT_OK, "40/60/100/9000 mbuf clusters in use (current/cache/total/max)\n40/6");
	expect_failure("mbuf", HIWAT_E_TRUNCATED, "ends within a line");
}
END_TEST

/* ---- interrupts */

static void
set_interrupts(unsigned long irq16, unsigned long timer)
{
	const unsigned long counts[] = { 7, irq16, 0, timer, 9 };
	static const char names[] = "irq1: atkbd0       \0irq16: mps0 ehci0+ \0irq17: unused      \0cpu0:timer         \0";

	kernel_set("hw.intrcnt", counts, sizeof(counts));
	kernel_set("hw.intrnames", names, sizeof(names) - 1);
}

static void
set_cpus(long idle)
{
	const struct clockinfo clock = { .hz = 1000, .tick = 1000, .stathz = 127, .profhz = 8126 };
	const long all[CPUSTATES] = { 127, 254, 381, 508, idle };
	const long each[3 * CPUSTATES] = { 127, 0, 0, 254, 635, 0, 0, 0, 0, 0, 0, 254, 381, 254, idle };

	kernel_set("kern.clockrate", &clock, sizeof(clock));
	kernel_set("kern.cp_time", all, sizeof(all));
	kernel_set("kern.cp_times", each, sizeof(each));
}

START_TEST(test_interrupts)
{
	set_interrupts(5000, 60000);
	set_cpus(1270);
	kernel_set_int("hw.intr_storm_threshold", 1000);
	/* The last of the counters has no name, and the second of the CPUs is absent. */
	expect("interrupts",
	    "hiwat_interrupts_total{device=\"atkbd0\",irq=\"1\"} 7\n"
	    "hiwat_interrupts_total{device=\"mps0 ehci0+\",irq=\"16\"} 5000\n"
	    "hiwat_interrupts_total{device=\"cpu0:timer\",irq=\"\"} "
	    "60000\n!hiwat_interrupts_total{device=\"unused\",irq=\"17\"}\n"
	    "hiwat_interrupts_all_total 65007\n"
	    "hiwat_cpu_seconds_total{mode=\"user\"} 1\nhiwat_cpu_seconds_total{mode=\"interrupt\"} 4\n"
	    "hiwat_cpu_seconds_total{mode=\"idle\"} 10\n!hiwat_cpu_seconds_total{mode=\"spin\"}\n"
	    "hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"interrupt\"} 2\n"
	    "hiwat_cpu_core_seconds_total{cpu=\"2\",mode=\"idle\"} 10\n"
	    "hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"other\"} 1\n"
	    "!hiwat_cpu_core_seconds_total{cpu=\"1\",mode=\"idle\"}\n!hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"user\"}"
	    "\n"
	    "hiwat_interrupt_storm_threshold 1000\n");
	kernel_set_int("hw.intr_storm_threshold", 0);
	expect("interrupts", "hiwat_interrupts_all_total 65007\n!hiwat_interrupt_storm_threshold\n");
}
END_TEST

START_TEST(test_interrupts_steady)
{
	struct sampled s;

	set_interrupts(5000, 60000);
	set_cpus(1270);
	sampled_open(&s, "interrupts", &config);
	sampled_expect(&s, 10, "hiwat_cpu_seconds_total{mode=\"idle\"} 10\n");
	set_interrupts(5100, 60000);
	set_cpus(1143);
	sampled_expect(&s, 20, "hiwat_interrupts_all_total 65107\nhiwat_cpu_seconds_total{mode=\"idle\"} 10\n");
	set_cpus(1397);
	sampled_expect(&s, 30, "hiwat_cpu_seconds_total{mode=\"idle\"} 11\n");
	sampled_close(&s);
}
END_TEST

START_TEST(test_interrupts_failures)
{
	const struct clockinfo none = { 0 };
	const long six[6] = { 1, 2, 3, 4, 5, 6 };

	set_cpus(100);
	expect("interrupts", "hiwat_cpu_seconds_total{mode=\"user\"} 1\n!hiwat_interrupts_all_total\n");
	set_interrupts(1, 2);
	kernel_set("hw.intrnames", "irq1: atkbd0", 12);
	expect_failure("interrupts", HIWAT_E_TRUNCATED, "hw.intrnames");
	set_interrupts(1, 2);
	kernel_set("kern.cp_time", six, sizeof(six));
	expect_failure("interrupts", HIWAT_E_FORMAT, "kern.cp_time");
	kernel_set("kern.clockrate", &none, sizeof(none));
	expect_failure("interrupts", HIWAT_E_IMPLAUSIBLE, "kern.clockrate");
	kernel_fail("hw.intrcnt", EPERM, -1);
	expect_failure("interrupts", HIWAT_E_DENIED, "sysctl hw.intrcnt: Operation not permitted");
}
END_TEST

/* ---- the packet filter */

#define INFO "/sbin/pfctl -v -s info"

static const char pf_enabled[] = "Status: Enabled for 1 days 00:00:01           Debug: Urgent\n\n"
				 "State Table                          Total             Rate\n  current entries            "
				 "           17               \n"
				 "  searches                            1000            0.1/s\n  inserts                    "
				 "          500            0.0/s\n"
				 "  removals                             483            0.0/s\nCounters\n"
				 "  match                                900            0.1/s\n  memory                     "
				 "            3            0.0/s\n";
static const char pf_blank[] = "Status: Disabled                              Debug: Urgent\n\n"
			       "State Table                          Total             Rate\n  current entries              "
			       "          0               \n"
			       "  searches                               0            0.0/s\n  inserts                      "
			       "          0            0.0/s\n"
			       "  removals                               0            0.0/s\nCounters\n"
			       "  match                                  0            0.0/s\n";
static const char pf_bare[] = "Status: Disabled\n";

START_TEST(test_pf)
{
	kernel_program(INFO, HIWAT_OK, pf_enabled);
	expect("pf",
	    "hiwat_pf_enabled 1\nhiwat_pf_states 17\nhiwat_pf_counter_total{counter=\"memory\"} 3\n"
	    "hiwat_pf_running_seconds 86401\n");
}
END_TEST

/* "Disabled" without numbers is worth something from root only: to others pfctl 15.1 says so whatever holds. */
START_TEST(test_pf_plausible)
{
	kernel_program(INFO, HIWAT_OK, pf_blank);
	expect_failure("pf", HIWAT_E_DENIED, "whom it refuses");
	kernel_program(INFO, HIWAT_OK, pf_bare);
	expect_failure("pf", HIWAT_E_DENIED, "whom it refuses");
	kernel_set_root(true);
	expect("pf", "hiwat_pf_enabled 0\n");
	kernel_program(INFO, HIWAT_OK, pf_blank);
	expect("pf", "hiwat_pf_enabled 0\nhiwat_pf_states 0\n");
}
END_TEST

#define DENIED_WORDS "pfctl: /dev/pf: Permission denied"
#define DOAS "/usr/local/bin/doas -n "

START_TEST(test_pf_doas)
{
	struct sampled s;

	kernel_program(INFO, HIWAT_E_DENIED, DENIED_WORDS);
	kernel_program(DOAS INFO, HIWAT_OK, pf_blank);
	sampled_open(&s, "pf", &config);
	/* By doas it is root who was told that it is disabled. */
	sampled_expect(&s, 10, "hiwat_pf_enabled 0\n");
	sampled_expect(&s, 20, "hiwat_pf_enabled 0\n");
	ck_assert_uint_eq(kernel_runs(INFO), 1);
	sampled_close(&s);
}
END_TEST

/* The same by way of a blank answer. */
START_TEST(test_pf_blank_doas)
{
	struct sampled s;

	kernel_program(INFO, HIWAT_OK, pf_blank);
	kernel_program(DOAS INFO, HIWAT_OK, pf_enabled);
	sampled_open(&s, "pf", &config);
	sampled_expect(&s, 10, "hiwat_pf_enabled 1\nhiwat_pf_states 17\n");
	sampled_expect(&s, 20, "hiwat_pf_states 17\n");
	ck_assert_uint_eq(kernel_runs(INFO), 1);
	sampled_close(&s);
	kernel_program("/sbin/pfctl -s memory", HIWAT_OK, "states        hard limit        0\n");
	expect_failure("pf_limits", HIWAT_E_DENIED, "whom it refuses");
	kernel_program("/sbin/pfctl -s memory", HIWAT_OK, "");
	expect_failure("pf_limits", HIWAT_E_DENIED, "whom it refuses");
	kernel_set_root(true);
	expect_failure("pf_limits", HIWAT_E_NODATA, "pfctl");
}
END_TEST

START_TEST(test_pf_denied)
{
	struct sampled s;

	kernel_program(INFO, HIWAT_E_DENIED, DENIED_WORDS);
	expect_failure("pf", HIWAT_E_DENIED, DENIED_WORDS);
	kernel_program(DOAS INFO, HIWAT_E_DENIED, "doas: Operation not permitted");
	sampled_open(&s, "pf", &config);
	for (uint64_t t = 10; t <= 30; t += 10) {
		ck_assert_int_eq(sampled_take(&s, t), HIWAT_E_DENIED);
		ck_assert_ptr_nonnull(strstr(s.why.text, DENIED_WORDS));
	}
	/* doas writes each refusal to the log. */
	ck_assert_uint_eq(kernel_runs(DOAS INFO), 1);
	sampled_close(&s);
}
END_TEST

START_TEST(test_pf_limits)
{
	expect_failure("pf_limits", HIWAT_E_MISSING, "pfctl");
	kernel_program("/sbin/pfctl -s memory", HIWAT_OK,
	    "states        hard limit   100000\nsrc-nodes     hard limit    10000\n");
	kernel_program("/sbin/pfctl -s timeouts", HIWAT_OK,
	    "tcp.first                   120s\n"
	    "adaptive.start            60000 states\nadaptive.end             120000 states\n");
	expect("pf_limits",
	    "hiwat_pf_limit{pool=\"states\"} 100000\nhiwat_pf_timeout_seconds{timeout=\"tcp.first\"} 120\n"
	    "hiwat_pf_adaptive_start_states 60000\n!hiwat_pf_states\n");
}
END_TEST

/* ---- disks */

static struct devstat
device(const char *name, int unit, int type)
{
	struct devstat d = { .allocated = 1, .unit_number = unit, .device_type = type };

	memcpy(d.device_name, name, strlen(name));
	return d;
}

/* Three disks, and what is none. */
static void
set_devices(size_t cut)
{
	struct {
		long generation;
		struct devstat devices[6];
	} all = { .generation = 7,
		.devices = { device("ada", 0, DEVSTAT_TYPE_DIRECT), device("mfid", 1, DEVSTAT_TYPE_STORARRAY),
		    device("nda", 0, DEVSTAT_TYPE_DIRECT), device("cd", 0, DEVSTAT_TYPE_CDROM),
		    device("md", 0, DEVSTAT_TYPE_DIRECT), device("pass", 0, DEVSTAT_TYPE_DIRECT | DEVSTAT_TYPE_PASS) } };

	all.devices[0].start_count = 2; /* both have wrapped, one of them since */
	all.devices[0].end_count = 0xfffffffe;
	all.devices[0].operations[1] = 1000;
	all.devices[0].operations[2] = UINT64_C(5000000000);
	all.devices[0].busy_time = (struct bintime){ .sec = 100, .frac = UINT64_C(1) << 63 };
	kernel_set("kern.devstat.all", &all, sizeof(all) - cut);
}

START_TEST(test_disk)
{
	set_devices(0);
	kernel_set_int("kern.cam.ada.default_timeout", 30);
	kernel_set_int("kern.cam.ada.0.rotating", 1);
	expect("disk",
	    "hiwat_disk_in_flight{device=\"ada0\"} 4\nhiwat_disk_completed_total{device=\"ada0\"} 5000001000\n"
	    "hiwat_disk_busy_seconds_total{device=\"ada0\"} 100.5\nhiwat_disk_command_timeout_seconds{device=\"ada0\"} 30\n"
	    "hiwat_disk_rotational{device=\"ada0\"} 1\n!hiwat_disk_command_timeout_seconds{device=\"mfid1\"}\n"
	    "hiwat_disk_driver{device=\"mfid1\",driver=\"mfi\"} 1\nhiwat_disk_driver{device=\"nda0\",driver=\"nvme\"} 1\n"
	    "!hiwat_disk_driver{device=\"ada0\",driver=\"ata\"}\n!hiwat_disk_in_flight{device=\"cd0\"}\n"
	    "!hiwat_disk_in_flight{device=\"md0\"}\n!hiwat_disk_in_flight{device=\"pass0\"}\n");
}
END_TEST

/* The list changes while it is copied: EBUSY, and it is asked for again. */
START_TEST(test_disk_failures)
{
	expect_failure("disk", HIWAT_E_MISSING, "kern.devstat.all");
	set_devices(0);
	kernel_fail("kern.devstat.all", EBUSY, 2);
	expect("disk", "hiwat_disk_in_flight{device=\"ada0\"} 4\n");
	kernel_fail("kern.devstat.all", EBUSY, -1);
	expect_failure("disk", HIWAT_E_AGAIN, "kern.devstat.all");
	kernel_fail("kern.devstat.all", 0, 0);
	set_devices(8);
	expect_failure("disk", HIWAT_E_VERSION, "kern.devstat.all");
}
END_TEST

static const char zpool_status[] = "  pool: tank\n state: DEGRADED\n  scan: none requested\nconfig:\n\n"
				   "\tNAME        STATE     READ WRITE CKSUM\n\ttank        DEGRADED     0     0     0\n\t  "
				   "ada0      ONLINE       0     0     5\n\n"
				   "errors: No known data errors\n";

START_TEST(test_zpool)
{
	struct sampler_config here = config;
	struct sampled s;
	struct tree t;
	char path[128];

	tree_make(&t);
	snprintf(path, sizeof(path), "%s/zfs", t.dir);
	here.zfs_path = path;
	kernel_program("/sbin/zpool status", HIWAT_OK, zpool_status);
	sampled_open(&s, "zpool", &here);
	ck_assert_int_eq(sampled_take(&s, 10), HIWAT_E_MISSING);
	ck_assert_uint_eq(kernel_runs("/sbin/zpool status"), 0);
	tree_write(&t, "zfs", "");
	/* A zpool without -p. */
	kernel_program("/sbin/zpool status -p", HIWAT_E_REJECTED, "invalid option 'p'");
	sampled_expect(&s, 20,
	    "hiwat_zpool_online{pool=\"tank\",state=\"DEGRADED\"} 0\n"
	    "hiwat_zpool_vdev_errors_total{kind=\"checksum\",pool=\"tank\",vdev=\"ada0\"} 5\n");
	kernel_program("/sbin/zpool status", HIWAT_OK, "no pools available\n");
	ck_assert_int_eq(sampled_take(&s, 30), HIWAT_E_MISSING);
	ck_assert_uint_eq(kernel_runs("/sbin/zpool status -p"), 1);
	sampled_close(&s);
	tree_remove(&t);
}
END_TEST

/* ---- the host */

static void
set_system(void)
{
	const struct vmtotal total = { .t_rq = 3 };
	const struct xswdev swap = { .xsw_version = XSWDEV_VERSION, .xsw_nblks = 1000, .xsw_used = 10 };
	static char processes[50 * 1088];

	memcpy(processes, &(int){ 1088 }, sizeof(int));
	kernel_set_int("kern.openfiles", 900);
	kernel_set_int("kern.maxfiles", 1000);
	kernel_set_u64("vfs.numvnodes", 5000);
	kernel_set_u64("vfs.freevnodes", 200);
	kernel_set_int("kern.maxvnodes", 6000);
	kernel_set("vm.vmtotal", &total, sizeof(total));
	kernel_set("vm.swap_info.0", &swap, sizeof(swap));
	kernel_set("vm.swap_info.1", &swap, sizeof(swap));
	kernel_set_int("security.bsd.see_other_uids", 1);
	kernel_set_int("kern.maxproc", 7000);
	kernel_set("1.14.8", processes, sizeof(processes));
}

START_TEST(test_system)
{
	set_system();
	expect("system",
	    "hiwat_files_open 900\nhiwat_files_limit 1000\nhiwat_vnodes 5000\nhiwat_vnodes_free 200\n"
	    "hiwat_vnodes_limit 6000\nhiwat_processes 50\nhiwat_processes_limit 7000\nhiwat_run_queue 3\n"
	    "hiwat_swap_bytes_used 81920\nhiwat_swap_bytes_limit 8192000\n");
	/* The list is larger than the first buffer: it was asked for until it fitted. */
	ck_assert_uint_eq(kernel_reads("1.14.8"), 5);
}
END_TEST

/* Others' processes cannot be seen: their number is not known, the rest is. */
START_TEST(test_system_own_processes_only)
{
	set_system();
	kernel_set_int("security.bsd.see_other_uids", 0);
	expect("system", "hiwat_files_open 900\n!hiwat_processes\nhiwat_processes_limit 7000\n");
	kernel_set_root(true);
	expect("system", "hiwat_processes 50\n");
}
END_TEST

START_TEST(test_system_failures)
{
	const struct xswdev other = { .xsw_version = XSWDEV_VERSION + 1 };

	set_system();
	kernel_set("vm.swap_info.1", &other, sizeof(other));
	expect_failure("system", HIWAT_E_VERSION, "vm.swap_info");
	kernel_set("vm.vmtotal", &other, 5);
	expect_failure("system", HIWAT_E_VERSION, "vm.vmtotal");
	kernel_set("1.14.8", &other, sizeof(other));
	expect_failure("system", HIWAT_E_VERSION, "kern.proc");
}
END_TEST

START_TEST(test_system_no_swap)
{
	set_system();
	kernel_unset("vm.swap_info.0");
	kernel_unset("vm.swap_info.1");
	expect("system", "hiwat_files_open 900\n!hiwat_swap_bytes_limit\n!hiwat_swap_bytes_used\n");
}
END_TEST

START_TEST(test_settings)
{
	const struct timeval boot = { .tv_sec = 1700000000, .tv_usec = 500000 };

	kernel_set("kern.boottime", &boot, sizeof(boot));
	kernel_set_int("kern.ipc.nmbclusters", 262144);
	kernel_set_int("hw.ncpu", 8);
	kernel_set_u64("machdep.tsc_freq", 2400000000);
	kernel_set_u64("hw.physmem", UINT64_C(17179869184));
	kernel_set_int("net.inet.tcp.msl", -1);
	kernel_set_text("kern.coredump", "a word");
	expect("settings",
	    "hiwat_sysctl{index=\"\",name=\"kern.ipc.nmbclusters\"} 262144\nhiwat_cpu_count 8\n"
	    "hiwat_cpu_hertz 2400000000\nhiwat_memory_bytes 17179869184\nhiwat_boot_time_seconds 1700000000.5\n"
	    "!hiwat_sysctl{index=\"\",name=\"net.inet.tcp.msl\"}\n!hiwat_sysctl{index=\"\",name=\"kern.coredump\"}\n"
	    "!hiwat_sysctl{index=\"\",name=\"kern.maxfiles\"}\n");
	kernel_fail("kern.maxfiles", EPERM, -1);
	expect_failure("settings", HIWAT_E_DENIED, "kern.maxfiles");
}
END_TEST

/* ---- network */

static const struct kernel_netif netifs[] = {
	{ .name = "ix0",
	    .is_up = true,
	    .has_medium = true,
	    .is_full_duplex = true,
	    .is_autoselect = true,
	    .speed_bits = UINT64_C(10000000000),
	    .packets = { 100, 200 },
	    .bytes = { 1000, 2000 },
	    .errors = { 1, 2 },
	    .drops = { 3, 4 },
	    .mtu = 9000 },
	{ .name = "ix1", .has_medium = true, .speed_bits = UINT64_C(10000000000), .mtu = 1500 },
	{ .name = "lo0", .is_up = true, .packets = { 5, 5 }, .mtu = 16384 },
	{ .name = "lagg0", .is_up = true, .speed_bits = UINT64_C(20000000000), .mtu = 9000, .ports = 2, .ports_active = 1 },
};

#define GROUP_OF(name, ports, active) \
	"hiwat_link_group_ports{interface=\"" name "\"} " ports "\nhiwat_link_group_ports_active{interface=\"" name \
	"\"} " active "\n"

/* Only one port of a fail-over group is called active; what counts is whether the others could take over. */
START_TEST(test_net_failover)
{
	static struct kernel_netif group[] = {
		{ .name = "em0", .is_up = true, .has_medium = true, .mtu = 1500 },
		{ .name = "em1", .is_up = true, .has_medium = true, .mtu = 1500 },
		{ .name = "lagg0",
		    .is_up = true,
		    .mtu = 1500,
		    .ports = 2,
		    .ports_active = 1,
		    .is_failover = true,
		    .port_names = { "em0", "em1" } },
	};

	kernel_netifs(group, ARRAY_LEN(group));
	expect("net", GROUP_OF("lagg0", "2", "2"));
	group[1].is_up = false; /* no carrier */
	expect("net", GROUP_OF("lagg0", "2", "1"));
	group[1].is_up = true;
	group[1].is_off = true;
	expect("net", GROUP_OF("lagg0", "2", "1"));
	group[1].is_off = false;
	group[2].port_names[1] = "em9"; /* just pulled */
	expect("net", GROUP_OF("lagg0", "2", "1"));
	/* LACP leaves a port out that has a carrier. */
	group[2].port_names[1] = "em1";
	group[2].is_failover = false;
	expect("net", GROUP_OF("lagg0", "2", "1"));
}
END_TEST

START_TEST(test_net)
{
	const uint64_t states[11] = { [1] = 12, [3] = 7, [4] = 90, [10] = (uint64_t)-1 };

	kernel_netifs(netifs, ARRAY_LEN(netifs));
	kernel_set("net.inet.tcp.states", states, sizeof(states));
	kernel_set_int("net.inet.ip.intr_queue_drops", 6);
	kernel_set_int("kern.ipc.numopensockets", 500);
	kernel_set_int("kern.ipc.maxsockets", 16424);
	kernel_set_int("net.inet.ip.portrange.first", 10000);
	kernel_set_int("net.inet.ip.portrange.last", 65535);
	kernel_set_int("net.inet.tcp.syncache.count", 4);
	expect("net",
	    "hiwat_netif_packets_total{direction=\"in\",interface=\"ix0\"} 100\n"
	    "hiwat_netif_bytes_total{direction=\"out\",interface=\"ix0\"} 2000\n"
	    "hiwat_netif_errors_total{direction=\"in\",interface=\"ix0\"} 1\n"
	    "hiwat_netif_drops_total{direction=\"out\",interface=\"ix0\"} 4\nhiwat_netif_mtu_bytes{interface=\"ix0\"} 9000\n"
	    "hiwat_netif_speed_bits{interface=\"ix0\"} 10000000000\nhiwat_netif_full_duplex{interface=\"ix0\"} 1\n"
	    "hiwat_netif_autoselect{interface=\"ix0\"} 1\nhiwat_netif_autoselect{interface=\"ix1\"} 0\n"
	    "!hiwat_netif_speed_bits{interface=\"ix1\"}\n!hiwat_netif_full_duplex{interface=\"ix1\"}\n"
	    "!hiwat_netif_autoselect{interface=\"lo0\"}\n!hiwat_netif_speed_bits{interface=\"lo0\"}\n"
	    "hiwat_link_group_ports{interface=\"lagg0\"} 2\nhiwat_link_group_ports_active{interface=\"lagg0\"} 1\n"
	    "!hiwat_link_group_ports{interface=\"ix0\"}\nhiwat_netisr_drops_total{queue=\"ip\"} 6\n"
	    "hiwat_tcp_connections{state=\"established\"} 90\nhiwat_tcp_connections{state=\"syn_received\"} 7\n"
	    "hiwat_tcp_connections{state=\"time_wait\"} 0\nhiwat_sockets{protocol=\"all\",state=\"used\"} 500\n"
	    "hiwat_sockets_limit{protocol=\"all\",state=\"used\"} 16424\nhiwat_ports_limit 55536\n!hiwat_ports_in_use\n"
	    "hiwat_syncache_entries 4\n");
}
END_TEST

/* What a release does not have is absent and no failure. */
START_TEST(test_net_old)
{
	kernel_netifs(netifs, 1);
	expect("net",
	    "hiwat_netif_packets_total{direction=\"in\",interface=\"ix0\"} 100\n!hiwat_syncache_entries\n"
	    "!hiwat_sockets{protocol=\"all\",state=\"used\"}\n!hiwat_tcp_connections{state=\"established\"}\n!hiwat_ports_"
	    "limit\n");
}
END_TEST

static const char netstat_s[] = "tcp:\n\t1234 packets sent\n\t9 listen queue overflows\n\t20 syncache entries added\n"
				"\t6 cookies sent\nTCP connection count by state:\n\t40 connections in ESTABLISHED state\n";

/* What the kernel counts itself is not taken from the text as well. */
START_TEST(test_netstat)
{
	const uint64_t states[11] = { 0 };

	kernel_program("/usr/bin/netstat -s -p tcp", HIWAT_OK, netstat_s);
	expect("netstat",
	    "hiwat_listen_overflows_total 9\nhiwat_syn_cookies_sent_total 6\n"
	    "hiwat_tcp_connections{state=\"established\"} 40\n");
	kernel_set("net.inet.tcp.states", states, sizeof(states));
	expect("netstat", "hiwat_listen_overflows_total 9\n!hiwat_tcp_connections{state=\"established\"}\n");
}
END_TEST

START_TEST(test_programs)
{
	kernel_program("/usr/bin/netstat -L -a -n", HIWAT_OK,
	    "Current listen queue sizes (qlen/incqlen/maxqlen)\n"
	    "Proto Listen           Local Address\ntcp4  3/0/128          *.22\n");
	kernel_program("/usr/bin/vmstat -z", HIWAT_OK,
	    "ITEM                   SIZE  LIMIT     USED     FREE      REQ FAIL SLEEP\n\n"
	    "mbuf_cluster:          2048, 1000,       7,       1,     8,   3,   0\n");
	expect("listen_queues", "hiwat_listen_queue{address=\"*.22\"} 3\nhiwat_listen_queue_limit{address=\"*.22\"} 128\n");
	expect("zones", "hiwat_zone_used{zone=\"mbuf_cluster\"} 7\nhiwat_zone_failures_total{zone=\"mbuf_cluster\"} 3\n");
	kernel_program("/usr/bin/vmstat -z", HIWAT_E_TIMEOUT, "deadline passed");
	expect_failure("zones", HIWAT_E_TIMEOUT, "/usr/bin/vmstat");
}
END_TEST

static const struct kernel_mount mounts[] = {
	{ .device = "/dev/ada0p2",
	    .mount = "/",
	    .type = "ufs",
	    .is_local = true,
	    .blocks = 1000,
	    .blocks_free = 500,
	    .blocks_available = 420,
	    .inodes = 100,
	    .inodes_free = 40 },
	{ .device = "devfs", .mount = "/dev", .type = "devfs", .is_local = true, .blocks = 1 },
	{ .device = "/dev/ada0p4",
	    .mount = "/full",
	    .type = "ufs",
	    .is_local = true,
	    .blocks = 1000,
	    .blocks_free = 10,
	    .blocks_available = (uint64_t)-70,
	    .inodes = 0 },
	{ .device = "tank/iso", .mount = "/iso", .type = "zfs", .is_local = true, .is_read_only = true, .blocks = 10 },
	{ .device = "server:/home",
	    .mount = "/home",
	    .type = "nfs",
	    .blocks = 200,
	    .blocks_free = 100,
	    .blocks_available = 100 },
	{ .device = "/dev/da1", .mount = "/\377", .type = "ufs", .is_local = true, .blocks = 200, .blocks_free = 100 },
	{ .device = "/dev/da2", .mount = "/\376", .type = "ufs", .is_local = true, .blocks = 200, .blocks_free = 50 },
	{ .device = "/dev/ada0p5", .mount = "/secret", .type = "ufs", .is_local = true, .sys_errno = EACCES },
};

START_TEST(test_filesystems)
{
	kernel_mounts(mounts, ARRAY_LEN(mounts));
	expect("filesystems",
	    "hiwat_filesystem_bytes_used{mount=\"/\"} 256000\n"
	    "hiwat_filesystem_bytes_limit{mount=\"/\"} 471040\nhiwat_filesystem_inodes_used{mount=\"/\"} 60\n"
	    "hiwat_filesystem_bytes_used{mount=\"/?\"} 51200\n"
	    "hiwat_filesystem_bytes_limit{mount=\"/full\"} 506880\n!hiwat_filesystem_inodes_limit{mount=\"/full\"}\n"
	    "!hiwat_filesystem_bytes_used{mount=\"/dev\"}\n!hiwat_filesystem_bytes_used{mount=\"/iso\"}\n"
	    "!hiwat_filesystem_bytes_used{mount=\"/home\"}\n!hiwat_filesystem_bytes_used{mount=\"/secret\"}\n");
	expect("filesystems_remote",
	    "hiwat_filesystem_bytes_used{mount=\"/home\"} 51200\n"
	    "!hiwat_filesystem_bytes_used{mount=\"/\"}\n");
	kernel_mounts(mounts, 2);
	expect_failure("filesystems_remote", HIWAT_E_MISSING, "no such file system");
}
END_TEST

/* ---- the kernel log */

#define TIMED_OUT(n) "<6>mfi0: COMMAND 0x000000000" n " TIMEOUT AFTER 30 SECONDS\n"
#define TIMEOUTS "hiwat_disk_timeouts_total{device=\"mfi0\",operation=\"\"} "

START_TEST(test_kernel_log)
{
	struct sampler_config kept = config;
	struct sampled s;
	struct tree t;

	tree_make(&t);
	kept.state_dir = t.dir;
	/* The first reading is a baseline. */
	kernel_set_text("kern.msgbuf", "Copyright (c) 1992-2025 The FreeBSD Project.\n" TIMED_OUT("1"));
	sampled_open(&s, "kernel_log", &kept);
	sampled_expect(&s, 1000,
	    "!hiwat_disk_timeouts_total{device=\"mfi0\",operation=\"\"}\nhiwat_parse_unknown_lines_total{source=\"kernel-"
	    "log-lost\"} 0\n");
	/* A line counts once it is whole. */
	kernel_set_text("kern.msgbuf",
	    "Copyright (c) 1992-2025 The FreeBSD Project.\n" TIMED_OUT("1") "<6>mfi0: COMMAND 0x0000");
	sampled_expect(&s, 2000, "!hiwat_disk_timeouts_total{device=\"mfi0\",operation=\"\"}\n");
	kernel_set_text("kern.msgbuf", "Copyright (c) 1992-2025 The FreeBSD Project.\n" TIMED_OUT("1") TIMED_OUT("2"));
	sampled_expect(&s, 3000, TIMEOUTS "1\n");
	sampled_expect(&s, 4000, TIMEOUTS "1\n");
	/* The ring is full: its beginning goes. */
	kernel_set_text("kern.msgbuf", "991-2025 The FreeBSD Project.\n" TIMED_OUT("1") TIMED_OUT("2") TIMED_OUT("3"));
	kernel_set_text("kern.msgbuf", "2025 The FreeBSD Project.\n" TIMED_OUT("1") TIMED_OUT("2") TIMED_OUT("3"));
	sampled_expect(&s, 5000, TIMEOUTS "2\nhiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 0\n");
	sampled_close(&s);

	/* After a restart it goes on where it was. */
	kernel_set_text("kern.msgbuf", TIMED_OUT("2") TIMED_OUT("3") TIMED_OUT("4"));
	sampled_open(&s, "kernel_log", &kept);
	sampled_expect(&s, 6000, TIMEOUTS "3\nhiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 0\n");
	/* More came than the ring holds: a gap. */
	kernel_set_text("kern.msgbuf", TIMED_OUT("6") TIMED_OUT("7") TIMED_OUT("8"));
	sampled_expect(&s, 7000, TIMEOUTS "6\nhiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 1\n");
	/* Emptied by somebody: no gap. */
	kernel_set_text("kern.msgbuf", TIMED_OUT("9"));
	sampled_expect(&s, 8000, TIMEOUTS "7\nhiwat_parse_unknown_lines_total{source=\"kernel-log-lost\"} 1\n");
	sampled_close(&s);
	tree_remove(&t);
}
END_TEST

START_TEST(test_kernel_log_once)
{
	expect_failure("kernel_log", HIWAT_E_MISSING, "kern.msgbuf");
	kernel_set("kern.msgbuf", "\0\0\0" TIMED_OUT("1") "\0", sizeof("\0\0\0" TIMED_OUT("1") "\0"));
	expect("kernel_log", TIMEOUTS "1\n");
	kernel_fail("kern.msgbuf", EPERM, -1);
	expect_failure("kernel_log", HIWAT_E_DENIED, "kern.msgbuf");
}
END_TEST

static Suite *
samplers_freebsd_suite(void)
{
	const TTest *const tests[] = { test_mbuf_json, test_mbuf_text, test_mbuf_failures, test_interrupts,
		test_interrupts_steady, test_interrupts_failures, test_pf, test_pf_plausible, test_pf_doas,
		test_pf_blank_doas, test_pf_denied, test_pf_limits, test_disk, test_disk_failures, test_zpool, test_system,
		test_system_own_processes_only, test_system_failures, test_system_no_swap, test_settings, test_net,
		test_net_failover, test_net_old, test_netstat, test_programs, test_filesystems, test_kernel_log,
		test_kernel_log_once };
	Suite *s = suite_create("samplers_freebsd");
	TCase *t = tcase_create("all");

	config.messages_path = NULL; /* not that of this system */
	tcase_add_checked_fixture(t, kernel_reset, kernel_reset);
	for (size_t i = 0; i < ARRAY_LEN(tests); i++)
		tcase_add_test(t, tests[i]);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(samplers_freebsd_suite)
