/* The samplers over trees of files that stand in for /proc and /sys, and once over the real ones. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "err.h"
#include "sampled.h"
#include "tree.h"

static struct tree proc, sys;
static struct sampler_config config;
static struct sampled sampled;

static void
setup(void)
{
	tree_make(&proc);
	tree_make(&sys);
	config = (struct sampler_config){ .proc_dir = proc.dir, .sys_dir = sys.dir, .kmsg_path = "/nonexistent" };
}

static void
teardown(void)
{
	tree_remove(&proc);
	tree_remove(&sys);
}

/* ------------------------------------------------------------------------------------------------------ interrupts */

static const char stat_text[] = "cpu  100 0 200 5000 10 0 30 0 0 0\n"
				"cpu0 100 0 200 5000 10 0 30 0 0 0\n"
				"intr 1000 0 0\nctxt 1\nbtime 1700000000\nprocesses 5\nprocs_running 1\nprocs_blocked 0\n"
				"softirq 50 1 2 3 4 5 6 7 8 9 10\n";

START_TEST(interrupts_wrap_and_cpus_leave)
{
	tree_write(&proc, "stat", stat_text);
	tree_write(&proc, "interrupts",
	    "           CPU0       CPU1       \n"
	    "  0:         10 4294967290  IO-APIC   2-edge      timer\n"
	    "ERR:          3\n");
	sampled_open(&sampled, "interrupts", &config);
	sampled_expect(&sampled, 10,
	    "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 4294967300\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"ERR\"} 3\n"
	    "hiwat_interrupts_all_total 1000\n"
	    "hiwat_softirqs_total{vector=\"NET_RX\"} 4\n"
	    "hiwat_cpu_seconds_total{mode=\"softirq\"} 0.3\n"
	    "hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"idle\"} 50\n"
	    "hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"other\"} 3.1\n"
	    "!hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"user\"}\n"
	    "!hiwat_interrupts_total{device=\"others\",irq=\"\"}\n"
	    "!hiwat_run_queue\n!hiwat_boot_time_seconds\n");
	/* CPU 1 wraps. */
	tree_write(&proc, "interrupts",
	    "           CPU0       CPU1       \n"
	    "  0:         12         4  IO-APIC   2-edge      timer\n"
	    "ERR:          3\n");
	sampled_expect(&sampled, 20, "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 4294967312\n");
	/* CPU 1 leaves with its count. */
	tree_write(&proc, "interrupts",
	    "           CPU0       \n"
	    "  0:         13  IO-APIC   2-edge      timer\n"
	    "ERR:          4\n");
	sampled_expect(&sampled, 30,
	    "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 4294967313\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"ERR\"} 4\n");
	/* And comes back. */
	tree_write(&proc, "interrupts",
	    "           CPU0       CPU1       \n"
	    "  0:         13         5  IO-APIC   2-edge      timer\n"
	    "ERR:          4\n");
	sampled_expect(&sampled, 40, "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 4294967314\n");
	sampled_close(&sampled);
}
END_TEST

START_TEST(cpu_times_never_step_back)
{
	tree_write(&proc, "stat", stat_text);
	sampled_open(&sampled, "interrupts", &config);
	sampled_expect(&sampled, 10, "hiwat_cpu_seconds_total{mode=\"idle\"} 50\nhiwat_softirqs_total{vector=\"RCU\"} 10\n");
	tree_write(&proc, "stat",
	    "cpu  100 0 200 4990 10 0 30 0 0 0\n"
	    "intr 500 0 0\n"
	    "softirq 50 1 2 3 4 5 6 7 8 9 12\n");
	/* The total of interrupts began anew: it stands, and counts from there. */
	sampled_expect(&sampled, 20,
	    "hiwat_cpu_seconds_total{mode=\"idle\"} 50\n"
	    "hiwat_interrupts_all_total 1500\n"
	    "hiwat_softirqs_total{vector=\"RCU\"} 12\n"
	    "!hiwat_interrupts_total{device=\"timer\",irq=\"0\"}\n");
	sampled_close(&sampled);
}
END_TEST

/* 40 sources; the count of number i is of(i). */
static void
write_forty(uint64_t (*of)(unsigned))
{
	char text[8192];
	size_t at = (size_t)snprintf(text, sizeof(text), "           CPU0       \n");

	for (unsigned i = 0; i < 40; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%3u: %10llu  IO-APIC   %u-edge      dev%u\n", i,
		    (unsigned long long)of(i), i, i);
	tree_write(&proc, "interrupts", text);
}

static uint64_t
rising(unsigned i)
{
	return 1000 + i;
}

static uint64_t
first_is_busy(unsigned i)
{
	return 1000 + i + (i == 0 ? 100000 : 0);
}

static uint64_t
then_one_each(unsigned i)
{
	return first_is_busy(i) + 1;
}

START_TEST(few_sources_of_many)
{
	tree_write(&proc, "stat", stat_text);
	write_forty(rising);
	sampled_open(&sampled, "interrupts", &config);
	/* 8 to 39 are shown, 0 to 7 are the others. */
	sampled_expect(&sampled, 10,
	    "hiwat_interrupts_total{device=\"dev8\",irq=\"8\"} 1008\n"
	    "hiwat_interrupts_total{device=\"dev39\",irq=\"39\"} 1039\n"
	    "hiwat_interrupts_total{device=\"others\",irq=\"\"} 8028\n"
	    "!hiwat_interrupts_total{device=\"dev7\",irq=\"7\"}\n");
	/* 0 gets busy and takes the place of one that stands still; neither counter steps back. */
	write_forty(first_is_busy);
	sampled_expect(&sampled, 20,
	    "hiwat_interrupts_total{device=\"dev0\",irq=\"0\"} 100000\n"
	    "hiwat_interrupts_total{device=\"others\",irq=\"\"} 8028\n"
	    "!hiwat_interrupts_total{device=\"dev8\",irq=\"8\"}\n");
	write_forty(then_one_each);
	sampled_expect(&sampled, 30,
	    "hiwat_interrupts_total{device=\"dev0\",irq=\"0\"} 100001\n"
	    "hiwat_interrupts_total{device=\"dev9\",irq=\"9\"} 1010\n"
	    "hiwat_interrupts_total{device=\"others\",irq=\"\"} 8036\n");
	sampled_close(&sampled);
}
END_TEST

/* ------------------------------------------------------------------------------------------------------- conntrack */

START_TEST(conntrack)
{
	sampled_open(&sampled, "conntrack", &config);
	ck_assert_int_eq(sampled_take(&sampled, 10), HIWAT_E_MISSING);
	tree_write(&proc, "sys/net/netfilter/nf_conntrack_count", "70\n");
	tree_write(&proc, "sys/net/netfilter/nf_conntrack_max", "0\n");
	sampled_expect(&sampled, 20,
	    "hiwat_conntrack_entries 70\n!hiwat_conntrack_limit\n!hiwat_conntrack_buckets\n"
	    "!hiwat_conntrack_events_total{event=\"drop\"}\n");
	tree_write(&proc, "sys/net/netfilter/nf_conntrack_max", "262144\n");
	tree_write(&proc, "net/stat/nf_conntrack",
	    "entries  found insert_failed drop\n00000046  00000001 00000000 fffffff0\n00000046  00000001 00000000 "
	    "00000001\n");
	sampled_expect(&sampled, 30,
	    "hiwat_conntrack_entries 70\nhiwat_conntrack_limit 262144\n"
	    "hiwat_conntrack_events_total{event=\"drop\"} 4294967281\n");
	tree_write(&proc, "net/stat/nf_conntrack",
	    "entries  found insert_failed drop\n00000046  00000001 00000000 00000004\n00000046  00000001 00000000 "
	    "00000001\n");
	sampled_expect(&sampled, 40, "hiwat_conntrack_events_total{event=\"drop\"} 4294967301\n");
	/* A module that is unloaded takes its files with it; their descriptors fail or give nothing. */
	tree_write(&proc, "net/stat/nf_conntrack", "");
	ck_assert_int_eq(sampled_take(&sampled, 50), HIWAT_E_TRUNCATED);
	sampled_close(&sampled);
}
END_TEST

/* ------------------------------------------------------------------------------------------------------------ disk */

START_TEST(disks)
{
	tree_write(&proc, "diskstats",
	    "   7       0 loop0 1 0 0 0 0 0 0 0 0 0 0\n"
	    "   8       0 sda 100 0 0 0 50 0 0 0 2 4294967000 0\n"
	    "   8       1 sda1 100 0 0 0 50 0 0 0 0 1000 0\n"
	    " 104       0 cciss/c0d0 7 0 0 0 0 0 0 0 0 5000 0\n"
	    " 253       0 zram0 1 0 0 0 0 0 0 0 0 0 0\n"
	    " 254       0 vda 1 0 0 0 0 0 0 0 0 0 0\n"
	    " 259       0 nvme0n1 9 0 0 0 9 0 0 0 0 0 0\n");
	tree_write(&sys, "block/loop0/queue/rotational", "0\n");
	tree_write(&sys, "block/zram0/queue/rotational", "0\n");
	tree_write(&sys, "block/sda/queue/rotational", "1\n");
	tree_write(&sys, "block/cciss!c0d0/queue/rotational", "1\n");
	tree_write(&sys, "devices/pci0/host2/target2:0:0/2:0:0:0/timeout", "30\n");
	tree_link(&sys, "block/sda/device", "../../devices/pci0/host2/target2:0:0/2:0:0:0");
	tree_write(&sys, "class/scsi_host/host2/proc_name", "megaraid_sas\n");
	tree_write(&sys, "block/vda/queue/io_timeout", "30000\n");
	tree_write(&sys, "devices/virtio1/status", "0\n");
	tree_link(&sys, "block/vda/device", "../../devices/virtio1");
	tree_link(&sys, "devices/virtio1/driver", "../../bus/virtio/drivers/virtio_blk");
	tree_write(&sys, "block/nvme0n1/queue/rotational", "0\n");
	tree_write(&sys, "block/nvme0n1/queue/io_timeout", "30000\n");
	tree_write(&sys, "devices/nvme/nvme0/state", "live\n");
	tree_link(&sys, "block/nvme0n1/device", "../../devices/nvme/nvme0");
	tree_link(&sys, "devices/nvme/nvme0/device", "..");
	tree_link(&sys, "devices/nvme/driver", "../../bus/pci/drivers/nvme");
	sampled_open(&sampled, "disk", &config);
	sampled_expect(&sampled, 10,
	    "hiwat_disk_in_flight{device=\"sda\"} 2\n"
	    "hiwat_disk_completed_total{device=\"sda\"} 150\n"
	    "hiwat_disk_busy_seconds_total{device=\"sda\"} 4294967\n"
	    "hiwat_disk_rotational{device=\"sda\"} 1\n"
	    "hiwat_disk_command_timeout_seconds{device=\"sda\"} 30\n"
	    "hiwat_disk_driver{device=\"sda\",driver=\"megaraid_sas\"} 1\n"
	    "hiwat_disk_rotational{device=\"cciss/c0d0\"} 1\n"
	    "hiwat_disk_driver{device=\"vda\",driver=\"virtio_blk\"} 1\n"
	    "!hiwat_disk_command_timeout_seconds{device=\"vda\"}\n"
	    "!hiwat_disk_rotational{device=\"vda\"}\n"
	    "hiwat_disk_driver{device=\"nvme0n1\",driver=\"nvme\"} 1\n"
	    "hiwat_disk_command_timeout_seconds{device=\"nvme0n1\"} 30\n"
	    "!hiwat_disk_in_flight{device=\"sda1\"}\n"
	    "!hiwat_disk_in_flight{device=\"loop0\"}\n"
	    "!hiwat_disk_in_flight{device=\"zram0\"}\n");
	/* Busy time is 32 bits of milliseconds; sdb is new. */
	tree_write(&sys, "block/sdb/queue/rotational", "1\n");
	tree_write(&proc, "diskstats",
	    "   8       0 sda 100 0 0 0 50 0 0 0 2 704 0\n"
	    "   8      16 sdb 1 0 0 0 0 0 0 0 0 0 0\n");
	sampled_expect(&sampled, 20,
	    "hiwat_disk_busy_seconds_total{device=\"sda\"} 4294968\n"
	    "hiwat_disk_rotational{device=\"sdb\"} 1\n"
	    "!hiwat_disk_in_flight{device=\"vda\"}\n");
	/* A host without disks has no block devices to tell of. */
	tree_write(&proc, "diskstats", "");
	sampled_expect(&sampled, 30, "!hiwat_disk_in_flight{device=\"sda\"}\n");
	sampled_close(&sampled);
}
END_TEST

/* ------------------------------------------------------------------------------------------------------------- net */

static void
write_net(void)
{
	tree_write(&proc, "net/dev",
	    "Inter-|   Receive                                                |  Transmit\n"
	    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
	    "carrier compressed\n"
	    "    lo:     10       1    0    0    0     0          0         0       10       1    0    0    0     0       0 "
	    "         0\n"
	    "  eth0:   5000      50    1    2    0     0          0         0     6000      60    0    3    0     0       0 "
	    "         0\n"
	    " bond0:   5000      50    0    0    0     0          0         0     6000      60    0    0    0     0       0 "
	    "         0\n");
	tree_write(&proc, "net/netstat",
	    "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPMemoryPressures\nTcpExt: 4 5 6 7\n"
	    "IpExt: InOctets\nIpExt: 1\n");
	tree_write(&proc, "net/sockstat",
	    "sockets: used 12\nTCP: inuse 3 orphan 1 tw 2 alloc 5 mem 10\nUDP: inuse 1 mem 2\nFRAG: inuse 0 memory 0\n");
	tree_write(&proc, "net/softnet_stat",
	    "00000010 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000\n");
}

START_TEST(net)
{
	write_net();
	tree_write(&proc, "net/softnet_stat",
	    "fffffff0 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	    "00000000\n"
	    "00000020 00000003 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	    "00000001\n");
	tree_write(&proc, "sys/net/ipv4/tcp_mem", "100\t200\t300\n");
	tree_write(&proc, "sys/net/ipv4/udp_mem", "1\t2\t9223372036854775807\n");
	tree_write(&proc, "sys/net/ipv4/tcp_max_orphans", "131072\n");
	tree_write(&proc, "sys/net/ipv4/tcp_max_tw_buckets", "262144\n");
	tree_write(&sys, "class/net/eth0/mtu", "9000\n");
	tree_write(&sys, "class/net/eth0/speed", "10000\n");
	tree_write(&sys, "class/net/eth0/duplex", "full\n");
	tree_write(&sys, "class/net/eth0/carrier_changes", "2\n");
	tree_write(&sys, "class/net/lo/speed", "-1\n");
	tree_write(&sys, "class/net/lo/duplex", "unknown\n");
	tree_write(&sys, "class/net/bond0/bonding/slaves", "eth0 eth1\n");
	tree_write(&sys, "class/net/eth0/bonding_slave/mii_status", "up\n");
	tree_write(&sys, "class/net/eth1/bonding_slave/mii_status", "down\n");
	sampled_open(&sampled, "net", &config);
	sampled_expect(&sampled, 10,
	    "hiwat_netif_packets_total{direction=\"in\",interface=\"eth0\"} 50\n"
	    "hiwat_netif_drops_total{direction=\"out\",interface=\"eth0\"} 3\n"
	    "hiwat_netif_mtu_bytes{interface=\"eth0\"} 9000\n"
	    "hiwat_netif_speed_bits{interface=\"eth0\"} 10000000000\n"
	    "hiwat_netif_full_duplex{interface=\"eth0\"} 1\n"
	    "hiwat_netif_link_changes_total{interface=\"eth0\"} 2\n"
	    "!hiwat_netif_speed_bits{interface=\"lo\"}\n"
	    "!hiwat_netif_full_duplex{interface=\"lo\"}\n"
	    "hiwat_link_group_ports{interface=\"bond0\"} 2\n"
	    "hiwat_link_group_ports_active{interface=\"bond0\"} 1\n"
	    "hiwat_listen_overflows_total 5\n"
	    "hiwat_syn_cookies_sent_total 4\n"
	    "hiwat_tcp_events_total{event=\"TCPMemoryPressures\"} 7\n"
	    "hiwat_sockets{protocol=\"tcp\",state=\"orphan\"} 1\n"
	    "hiwat_sockets_limit{protocol=\"tcp\",state=\"orphan\"} 131072\n"
	    "hiwat_sockets_limit{protocol=\"tcp\",state=\"tw\"} 262144\n"
	    "!hiwat_sockets_limit{protocol=\"tcp\",state=\"inuse\"}\n"
	    "!hiwat_socket_memory_limit_bytes{protocol=\"udp\",threshold=\"high\"}\n"
	    "hiwat_softnet_processed_total 4294967312\n"
	    "hiwat_softnet_dropped_total 4\n");
	/* CPU 0 wraps, CPU 1 goes off line with what it counted. */
	tree_write(&proc, "net/softnet_stat",
	    "00000001 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	    "00000000\n");
	sampled_expect(&sampled, 20, "hiwat_softnet_processed_total 4294967329\nhiwat_softnet_dropped_total 4\n");
	sampled_close(&sampled);
}
END_TEST

static void
write_ports(const char *second_status, const char *aggregator, const char *second_aggregator)
{
	tree_write(&sys, "class/net/bond0/bonding/slaves", "eth0 eth1\n");
	tree_write(&sys, "class/net/bond0/bonding/ad_aggregator", aggregator);
	tree_write(&sys, "class/net/eth0/bonding_slave/mii_status", "up\n");
	tree_write(&sys, "class/net/eth0/bonding_slave/ad_aggregator_id", aggregator);
	tree_write(&sys, "class/net/eth1/bonding_slave/mii_status", second_status);
	tree_write(&sys, "class/net/eth1/bonding_slave/ad_aggregator_id", second_aggregator);
}

/* A spare port is none that is missing; one that LACP leaves out is. */
START_TEST(bonds)
{
	static const struct {
		const char *second_status, *aggregator, *second_aggregator, *active;
	} rows[] = {
		{ "up\n", "\n", "N/A\n", "2" }, /* active-backup: the kernel says nothing of aggregators */
		{ "down\n", "\n", "N/A\n", "1" },
		{ "up\n", "1\n", "1\n", "2" },
		{ "up\n", "1\n", "2\n", "1" },
		{ "down\n", "1\n", "1\n", "1" },
	};
	char expected[128];

	write_net();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		write_ports(rows[i].second_status, rows[i].aggregator, rows[i].second_aggregator);
		sampled_open(&sampled, "net", &config);
		snprintf(expected, sizeof(expected),
		    "hiwat_link_group_ports{interface=\"bond0\"} 2\nhiwat_link_group_ports_active{interface=\"bond0\"} %s\n",
		    rows[i].active);
		sampled_expect(&sampled, 10, expected);
		sampled_close(&sampled);
	}
}
END_TEST

START_TEST(interfaces_come_and_are_bounded)
{
	char dev[32768];
	size_t at;

	write_net();
	sampled_open(&sampled, "net", &config);
	sampled_expect(&sampled, 10, "!hiwat_netif_mtu_bytes{interface=\"v0\"}\n");
	at = (size_t)snprintf(dev, sizeof(dev), "Inter-|   Receive  |  Transmit\n face |bytes    packets|\n");
	for (unsigned i = 0; i < 200; i++) {
		char path[64];
		at += (size_t)snprintf(dev + at, sizeof(dev) - at, " %s%u: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
		    i < 199 ? "v" : "eth", i);
		snprintf(path, sizeof(path), "class/net/%s%u/mtu", i < 199 ? "v" : "eth", i);
		tree_write(&sys, path, "1500\n");
	}
	tree_write(&sys, "class/net/eth199/device/vendor", "0x8086\n");
	tree_write(&proc, "net/dev", dev);
	sampled_expect(&sampled, 20,
	    "hiwat_netif_mtu_bytes{interface=\"v0\"} 1500\n"
	    "hiwat_netif_mtu_bytes{interface=\"v126\"} 1500\n"
	    "!hiwat_netif_mtu_bytes{interface=\"v127\"}\n"
	    "hiwat_netif_mtu_bytes{interface=\"eth199\"} 1500\n");
	sampled_close(&sampled);
}
END_TEST

/* ---------------------------------------------------------------------------------------- system, settings, mounts */

static void
write_system(void)
{
	tree_write(&proc, "sys/fs/file-nr", "1000\t0\t65536\n");
	tree_write(&proc, "sys/fs/inode-state", "5000\t400\t0\t0\t0\t0\t0\n");
	tree_write(&proc, "meminfo", "MemTotal:       16000000 kB\nSwapTotal:      2000 kB\nSwapFree:       500 kB\n");
	tree_write(&proc, "loadavg", "0.65 0.17 0.06 3/150 8133\n");
	tree_write(&proc, "sys/kernel/threads-max", "100000\n");
	tree_write(&proc, "sys/kernel/pid_max", "32768\n");
}

START_TEST(system_limits)
{
	write_system();
	sampled_open(&sampled, "system", &config);
	sampled_expect(&sampled, 10,
	    "hiwat_files_open 1000\nhiwat_files_limit 65536\nhiwat_vnodes 5000\nhiwat_vnodes_free 400\n!hiwat_vnodes_limit\n"
	    "hiwat_swap_bytes_used 1536000\nhiwat_swap_bytes_limit 2048000\nhiwat_processes 150\n"
	    "hiwat_processes_limit 32768\nhiwat_run_queue 3\n!hiwat_memory_bytes\n");
	tree_write(&proc, "sys/kernel/threads-max", "900\n");
	sampled_expect(&sampled, 20, "hiwat_processes_limit 900\n");
	sampled_close(&sampled);
}
END_TEST

START_TEST(settings)
{
	write_system();
	tree_write(&proc, "stat", stat_text);
	tree_write(&proc, "cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2600.5\nprocessor\t: 1\ncpu MHz\t\t: 1000\n");
	tree_write(&proc, "sys/net/ipv4/tcp_mem", "98304\t131072\t196608\n");
	tree_write(&proc, "sys/net/core/somaxconn", "4096\n");
	tree_write(&proc, "sys/vm/swappiness", "high\n");
	sampled_open(&sampled, "settings", &config);
	sampled_expect(&sampled, 10,
	    "hiwat_sysctl{index=\"\",name=\"net.core.somaxconn\"} 4096\n"
	    "hiwat_sysctl{index=\"2\",name=\"net.ipv4.tcp_mem\"} 196608\n"
	    "!hiwat_sysctl{index=\"\",name=\"vm.swappiness\"}\n"
	    "!hiwat_sysctl{index=\"\",name=\"net.core.rmem_max\"}\n"
	    "hiwat_memory_bytes 16384000000\nhiwat_cpu_count 1\nhiwat_cpu_hertz 2600500000\n"
	    "hiwat_boot_time_seconds 1700000000\n!hiwat_swap_bytes_limit\n!hiwat_interrupts_all_total\n");
	tree_write(&sys, "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3000000\n");
	sampled_expect(&sampled, 20, "hiwat_cpu_hertz 3000000000\n");
	sampled_close(&sampled);
}
END_TEST

START_TEST(filesystems)
{
	char mounts[1024], expected[512];

	snprintf(mounts, sizeof(mounts),
	    "proc /proc proc rw 0 0\n"
	    "/dev/a %s ext4 rw,relatime 0 0\n"
	    "/dev/a /again ext4 rw 0 0\n"
	    "/dev/b /tmp squashfs ro 0 0\n"
	    "/dev/c / ext4 ro,relatime 0 0\n"
	    "tmpfs /nonexistent\\040dir tmpfs rw 0 0\n"
	    "overlay /tmp overlay rw 0 0\n"
	    "server:/export /var nfs4 rw 0 0\n"
	    "/dev/d %s/m\377 ext4 rw 0 0\n"
	    "/dev/e %s/m\376 ext4 rw 0 0\n",
	    proc.dir, proc.dir, proc.dir);
	tree_write(&proc, "self/mounts", mounts);
	tree_write(&proc, "m\377/file", "");
	tree_write(&proc, "m\376/file", "");
	sampled_open(&sampled, "filesystems", &config);
	ck_assert_int_eq(sampled_take(&sampled, 10), HIWAT_OK);
	snprintf(expected, sizeof(expected), "hiwat_filesystem_bytes_used{mount=\"%s\"}", proc.dir);
	ck_assert_ptr_nonnull(strstr(buf_str(&sampled.lines), expected));
	snprintf(expected, sizeof(expected), "hiwat_filesystem_bytes_limit{mount=\"%s\"}", proc.dir);
	ck_assert_ptr_nonnull(strstr(buf_str(&sampled.lines), expected));
	/* Two that are one as labels: no series is there twice. */
	snprintf(expected, sizeof(expected), "hiwat_filesystem_bytes_used{mount=\"%s/m?\"}", proc.dir);
	ck_assert_ptr_nonnull(strstr(buf_str(&sampled.lines), expected));
	ck_assert_ptr_null(strstr(buf_str(&sampled.lines), "mount=\"/again\""));
	ck_assert_ptr_null(strstr(buf_str(&sampled.lines), "mount=\"/\""));
	ck_assert_ptr_null(strstr(buf_str(&sampled.lines), "mount=\"/tmp\""));
	ck_assert_ptr_null(strstr(buf_str(&sampled.lines), "mount=\"/var\""));
	sampled_close(&sampled);
	sampled_open(&sampled, "filesystems_remote", &config);
	ck_assert_int_eq(sampled_take(&sampled, 10), HIWAT_OK);
	ck_assert_ptr_nonnull(strstr(buf_str(&sampled.lines), "hiwat_filesystem_bytes_used{mount=\"/var\"}"));
	sampled_close(&sampled);
	tree_write(&proc, "self/mounts", "proc /proc proc rw 0 0\n");
	sampled_open(&sampled, "filesystems_remote", &config);
	ck_assert_int_eq(sampled_take(&sampled, 10), HIWAT_E_MISSING);
	sampled_close(&sampled);
}
END_TEST

/* ---------------------------------------------------------------------------------------------------- this machine */

START_TEST(this_machine)
{
	struct sampler_config here = SAMPLER_DEFAULTS;
	static const struct {
		const char *sampler, *series;
	} rows[] = {
		{ "interrupts", "hiwat_cpu_seconds_total{mode=\"idle\"} " },
		{ "interrupts", "hiwat_cpu_core_seconds_total{cpu=\"" },
		{ "net", "hiwat_netif_packets_total{direction=\"in\",interface=\"lo\"} " },
		{ "net", "hiwat_listen_overflows_total " },
		{ "net", "hiwat_sockets{protocol=\"all\",state=\"used\"} " },
		{ "system", "hiwat_files_open " },
		{ "system", "hiwat_processes_limit " },
		{ "settings", "hiwat_memory_bytes " },
		{ "settings", "hiwat_boot_time_seconds " },
		{ "settings", "hiwat_sysctl{index=\"2\",name=\"net.ipv4.tcp_rmem\"} " },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		sampled_open(&sampled, rows[i].sampler, &here);
		int err = sampled_take(&sampled, 10);
		ck_assert_msg(err == HIWAT_OK, "%s: %s", rows[i].sampler, sampled.why.text);
		const char *found = strstr(buf_str(&sampled.lines), rows[i].series);
		ck_assert_msg(found != NULL, "no %s", rows[i].series);
		ck_assert_msg(strtod(found + strlen(rows[i].series), NULL) >= 0, "%s", rows[i].series);
		sampled_close(&sampled);
	}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("samplers_linux");
	TCase *tc = tcase_create("samplers_linux");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, interrupts_wrap_and_cpus_leave);
	tcase_add_test(tc, cpu_times_never_step_back);
	tcase_add_test(tc, few_sources_of_many);
	tcase_add_test(tc, conntrack);
	tcase_add_test(tc, disks);
	tcase_add_test(tc, net);
	tcase_add_test(tc, bonds);
	tcase_add_test(tc, interfaces_come_and_are_bounded);
	tcase_add_test(tc, system_limits);
	tcase_add_test(tc, settings);
	tcase_add_test(tc, filesystems);
	tcase_add_test(tc, this_machine);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
