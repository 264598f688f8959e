#include "unit.h"

#include <string.h>

#include "err.h"
#include "netstat.h"
#include "parsed.h"
#include "vmstat.h"

#define GROUP(name, ports, active) \
	"hiwat_link_group_ports{interface=\"" name "\"} " ports "\nhiwat_link_group_ports_active{interface=\"" name \
	"\"} " active "\n"
#define NETIF(metric, interface, value) "hiwat_netif_" metric "{interface=\"" interface "\"} " value "\n"
#define COUNT(metric, interface, direction, value) \
	"hiwat_netif_" metric "{direction=\"" direction "\",interface=\"" interface "\"} " value "\n"
#define QUEUE(address, length, limit) \
	"hiwat_listen_queue{address=\"" address "\"} " length "\nhiwat_listen_queue_limit{address=\"" address "\"} " limit \
	"\n"
#define ZONE(metric, zone, value) "hiwat_zone_" metric "{zone=\"" zone "\"} " value "\n"
#define STATE(state, value) "hiwat_tcp_connections{state=\"" state "\"} " value "\n"

static const char freebsd_s[] =
    "tcp:\n\t1234 packets sent\n\t\t1000 data packets (99999 bytes)\n\t9 listen queue overflows\n\t20 syncache entries "
    "added\n"
    "\t\t3 bucket overflow\n\t6 cookies sent\n\t5 cookies received\n\t11 hostcache entries added\n\t\t12 bucket overflow\n"
    "TCP connection count by state:\n\t2 connections in CLOSED state\n\t3 connections in LISTEN state\n"
    "\t1 connection in SYN_RCVD state\n\t40 connections in ESTABLISHED state\n"
    "udp:\n\t5 datagrams received\n\t77 listen queue overflows\nip:\n\t88 cookies sent\n";

static const char freebsd_i[] =
    "Name    Mtu Network       Address              Ipkts Ierrs Idrop     Ibytes    Opkts Oerrs     Obytes  Coll  Drop\n"
    "igb0   1500 <Link#1>      00:25:90:aa:bb:cc 12345678     9     3 9876543210  2345678     1  123456789     0     7\n"
    "igb0      - 192.0.2.0/24  gw.example.net    12000000     -     -  900000000  2300000     -  120000000     -     -\n"
    "igb1*  9000 <Link#2>      00:25:90:aa:bb:cd        0     0     0          0        0     0          0     0     0\n"
    "lo0   16384 <Link#3>                            5511     0     0     440880     5511     0     440880     0     0\n"
    "lo0       - localhost     localhost             5511     -     -     440880     5511     -     440880     -     -\n";

static const struct {
	const char *name;
	parse_fn *parse;
	const char *text;
	int err;
	const char *expected;
} rows[] = {
	/* ---------------------------------------------------------------------------------------------- netstat -s */
	{ "FreeBSD: only TCP's own lines", netstat_s_parse, freebsd_s, 0,
	    "hiwat_listen_overflows_total 9\nhiwat_syn_cookies_sent_total 6\n!hiwat_syncache_entries\n" STATE("listen", "3")
		STATE("syn_received", "1") STATE("established", "40") "!hiwat_tcp_connections{state=\"time_wait\"}\n" },
	{ "singular, -p tcp", netstat_s_parse, "tcp:\n\t1 packet sent\n\t1 listen queue overflow\n\t1 cookie sent\n", 0,
	    "hiwat_listen_overflows_total 1\nhiwat_syn_cookies_sent_total 1\n" },
	{ "OpenBSD 7", netstat_s_parse,
	    "ip:\n\t55 total packets received\ntcp:\n\t1234 packets sent\n\t4 bad connection attempts\n"
	    "\t8 SYN packets dropped due to queue or memory full\n\t33 SYN cache entries added\n\t\t2 hash collisions\n"
	    "\t5 entries in current SYN cache, limit is 10255\n\t1 longest bucket length in current SYN cache, limit is "
	    "105\n"
	    "\t-3 uses of current SYN cache left\nudp:\n",
	    0, "hiwat_listen_overflows_total 8\nhiwat_syncache_entries 5\n!hiwat_syn_cookies_sent_total\n" },
	{ "Linux", netstat_s_parse,
	    "Tcp:\n    12 active connection openings\nTcpExt:\n    6 SYN cookies sent\n    2 times the listen queue of a "
	    "socket overflowed\n",
	    0, "hiwat_listen_overflows_total 2\nhiwat_syn_cookies_sent_total 6\n" },
	{ "two dumps: the last", netstat_s_parse,
	    "tcp:\n\t5 listen queue overflows\n\t1 cookies sent\nudp:\ntcp:\n\t6 listen queue overflows\n"
	    "\t2 cookies sent\n",
	    0, "hiwat_listen_overflows_total 6\nhiwat_syn_cookies_sent_total 2\n" },
	{ "two dumps, the last cut: the one before", netstat_s_parse,
	    "tcp:\n\t5 listen queue overflows\n\t1 cookies sent\nudp:\ntcp:\n\t6 listen queue overflows\n\t2 coo", 0,
	    "hiwat_listen_overflows_total 5\nhiwat_syn_cookies_sent_total 1\n" },
	{ "lines picked from it", netstat_s_parse, "\t5 listen queue overflows\n\t7 cookies sent\n\t9 cookies received\n", 0,
	    "hiwat_listen_overflows_total 5\nhiwat_syn_cookies_sent_total 7\n" },
	{ "no counter of use", netstat_s_parse, "tcp:\n\t1 packet sent\n", HIWAT_E_NODATA, "" },
	{ "only other protocols", netstat_s_parse, "udp:\n\t5 listen queue overflows\n", HIWAT_E_NODATA, "" },
	{ "empty", netstat_s_parse, "", HIWAT_E_NODATA, "" },

	/* ---------------------------------------------------------------------------------------------- netstat -L */
	{ "FreeBSD", netstat_listen_parse,
	    "Current listen queue sizes (qlen/incqlen/maxqlen)\nProto Listen                           Local Address        "
	    " \n"
	    "tcp4  192/0/128                        *.80                   \ntcp6  1/0/128                          *.22\n"
	    "tcp4  0/0/10                           127.0.0.1.25\ntcp4  0/0/64                           *.22\n"
	    "Some tcp sockets may have been created.\nunix  0/0/5                            /var/run/a b.sock\nunix  0/0/4 "
	    "     \n",
	    0,
	    QUEUE("*.80", "192", "128") QUEUE("127.0.0.1.25", "0", "10") QUEUE("*.22", "1", "128")
		QUEUE("/var/run/a b.sock", "0", "5") },
	{ "macOS", netstat_listen_parse,
	    "Current listen queue sizes (qlen/incqlen/maxqlen)\nListen         Local Address\n0/0/128        *.88\n", 0,
	    QUEUE("*.88", "0", "128") },
	{ "without its title", netstat_listen_parse, "tcp4  5/0/128        *.22\nunix  0/0/4          /tmp/a b\n", 0,
	    "hiwat_listen_queue{address=\"*.22\"} 5\nhiwat_listen_queue_limit{address=\"/tmp/a b\"} 4\n" },
	{ "a cut address", netstat_listen_parse,
	    "Current listen queue sizes (qlen/incqlen/maxqlen)\ntcp4  0/0/128 *.22\ntcp4  0/0/128 *.8", 0,
	    QUEUE("*.22", "0", "128") "!hiwat_listen_queue{address=\"*.8\"}\n" },
	{ "another table", netstat_listen_parse, "Active Internet connections\ntcp4 0 0 *.22 *.* LISTEN\n", HIWAT_E_NODATA,
	    "" },

	/* ---------------------------------------------------------------------------------------------- netstat -i */
	{ "FreeBSD, bytes and drops", netstat_i_parse, freebsd_i, 0,
	    COUNT("packets_total", "igb0", "in", "12345678") COUNT("errors_total", "igb0", "in", "9")
		COUNT("drops_total", "igb0", "in", "3") COUNT("bytes_total", "igb0", "in", "9876543210")
		    COUNT("packets_total", "igb0", "out", "2345678") COUNT("errors_total", "igb0", "out", "1")
			COUNT("bytes_total", "igb0", "out", "123456789") COUNT("drops_total", "igb0", "out", "7")
			    NETIF("mtu_bytes", "igb0", "1500") NETIF("mtu_bytes", "igb1", "9000")
				COUNT("packets_total", "lo0", "in", "5511") NETIF("mtu_bytes", "lo0", "16384")
				    COUNT("packets_total", "lo0", "out", "5511") },
	{ "FreeBSD 7: no input drops", netstat_i_parse,
	    "Name    Mtu Network       Address              Ipkts Ierrs    Opkts Oerrs  Coll\n"
	    "em0    1500 <Link#1>      00:0d:b9:00:11:22     1000     2     3000     4     5\n",
	    0,
	    COUNT("packets_total", "em0", "in", "1000")
		COUNT("errors_total", "em0", "out", "4") "!hiwat_netif_drops_total{direction=\"in\",interface=\"em0\"}\n!"
							 "hiwat_netif_bytes_total{direction=\"in\",interface=\"em0\"}\n" },
	{ "OpenBSD 7, names cut alike add up", netstat_i_parse,
	    "Name    Mtu   Network     Address              Ipkts Ifail    Opkts Ofail Colls\n"
	    "vlan10* 1500  <Link>      00:0d:b9:00:11:22     1000     2     3000     4     0\n"
	    "vlan10  1500  <Link>      00:0d:b9:00:11:22        1     1        1     1     0\n"
	    "vlan10  1500  192.0.2/24  192.0.2.1             1000     2     3000     4     0\n",
	    0, COUNT("packets_total", "vlan10", "in", "1001") COUNT("errors_total", "vlan10", "out", "5") },
	{ "Linux", netstat_i_parse,
	    "Kernel Interface table\nIface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\n"
	    "eth0      1500   972633     17     20 120       628711    217      1      0 BMRU\n",
	    0,
	    COUNT("packets_total", "eth0", "in", "972633") COUNT("drops_total", "eth0", "in", "20")
		COUNT("errors_total", "eth0", "out", "217") NETIF("mtu_bytes", "eth0", "1500") },
	{ "broken before its last numbers", netstat_i_parse,
	    "Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll\n"
	    "em0    1500 <Link#1>      00:0d:b9:00:11:22     1000     2     0     3000\n     4     5\n",
	    0, COUNT("errors_total", "em0", "out", "4") },
	{ "cut in its last number", netstat_i_parse,
	    "Name    Mtu Network       Address              Ipkts Ierrs Idrop     Opkts Oerrs  Coll Drop\n"
	    "em0    1500 <Link#1>      00:0d:b9:00:11:22     1000     2     0     3000     4     5    1",
	    0, COUNT("errors_total", "em0", "out", "4") "!hiwat_netif_drops_total{direction=\"out\",interface=\"em0\"}\n" },
	{ "cut before", netstat_i_parse,
	    "Name    Mtu Network       Address              Ipkts Ierrs Idrop     Opkts Oerrs  Coll\n"
	    "lo0   16384 <Link#3>                            5511     0     0",
	    HIWAT_E_NODATA, "" },
	{ "humanized numbers", netstat_i_parse,
	    "Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll\n"
	    "em0    1500 <Link#1>      00:0d:b9:00:11:22     1.2K     2     0     3000     4     5\n",
	    HIWAT_E_NODATA, "" },

	{ "broken by a mailer, the heading, too", netstat_i_parse,
	    "Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs\nColl\n"
	    "em0    1500 <Link#1>      00:0d:b9:00:11:22 12345678     2     3 23456789     4\n5\n"
	    "lo0   16384 <Link#2>      lo0                 99     1     2      88     3     0\n",
	    0,
	    COUNT("packets_total", "em0", "in", "12345678") COUNT("errors_total", "em0", "out", "4")
		COUNT("drops_total", "lo0", "in", "2") COUNT("errors_total", "lo0", "out", "3") },

	/* ------------------------------------------------------------------------------------------------ vmstat -z */
	{ "FreeBSD 7", vmstat_z_parse,
	    "ITEM                     SIZE     LIMIT      USED      FREE  REQUESTS  FAILURES\n\n"
	    "UMA Kegs:                 208,        0,       63,       11,       63,        0\n"
	    "mbuf_cluster:            2048,    25600,     2831,      511,  3053398,        4\n"
	    "16 Bucket:                152,        0,        5,        0,        5,        0\n",
	    0,
	    ZONE("used", "UMA Kegs", "63") "!hiwat_zone_limit{zone=\"UMA Kegs\"}\n" ZONE("limit", "mbuf_cluster", "25600")
		ZONE("failures_total", "mbuf_cluster", "4") ZONE("used", "16 Bucket", "5") },
	{ "FreeBSD 4: no failures", vmstat_z_parse,
	    "ITEM            SIZE     LIMIT    USED    FREE  REQUESTS\n\nPIPE:            160,        0,      6,     96,    "
	    "12345\n",
	    0, ZONE("used", "PIPE", "6") "!hiwat_zone_failures_total{zone=\"PIPE\"}\n" },
	{ "FreeBSD 14, wide numbers, a name twice and one with a colon", vmstat_z_parse,
	    "ITEM                   SIZE  LIMIT     USED     FREE      REQ     FAILSLEEP XDOMAIN\n"
	    "pf states:              296, 100000,     12,     65,   43764,   1,   0,   0\n"
	    "pf states:              296, 100000,     30,     65,   43764,   2,   0,   0\n"
	    "tcp: a:                   8,      0,4372990387,     65,   43764,   0,   0,   0\n",
	    0,
	    ZONE("used", "pf states", "42") ZONE("limit", "pf states", "200000") ZONE("failures_total", "pf states", "3")
		ZONE("used", "tcp: a", "4372990387") },
	{ "cut", vmstat_z_parse, "ITEM SIZE LIMIT USED FREE REQ FAIL SLEEP\na: 8, 100, 1, 2, 3, 4, 0\nb: 8, 100, 5, 2, 3, 6",
	    0, ZONE("failures_total", "a", "4") ZONE("used", "b", "5") "!hiwat_zone_failures_total{zone=\"b\"}\n" },
	{ "cut in used", vmstat_z_parse, "ITEM SIZE LIMIT USED FREE REQ FAIL SLEEP\nb: 8, 100, 5", 0,
	    ZONE("limit", "b", "100") "!hiwat_zone_used{zone=\"b\"}\n" },
	{ "unknown lines", vmstat_z_parse,
	    "ITEM SIZE LIMIT USED FREE REQ FAIL SLEEP\nhello\na: 8, 100, 1, 2, 3, 4, 0\nb: x, 1\n", 0,
	    ZONE("used", "a", "1") "hiwat_parse_unknown_lines_total{source=\"vmstat-z\"} 2\n" },
	{ "vmstat -m", vmstat_z_parse, "         Type InUse MemUse HighUse Requests  Size(s)\n", HIWAT_E_NODATA, "" },

	/* ------------------------------------------------------------------------------------------------- ifconfig */
	{ "cut in a group's ports", ifconfig_parse,
	    "lagg0: flags=8843<UP> metric 0 mtu 1500\n\tlaggproto lacp lagghash l2,l3,l4\n\tlaggport: em0 fl", 0,
	    "hiwat_netif_mtu_bytes{interface=\"lagg0\"} 1500\n!hiwat_link_group_ports{interface=\"lagg0\"}\n" },
	{ "FreeBSD", ifconfig_parse,
	    "$ ifconfig -m\nigb0: flags=8943<UP,BROADCAST,RUNNING,PROMISC,SIMPLEX,MULTICAST> metric 0 mtu 9000\n"
	    "\toptions=503bb<RXCSUM,TXCSUM>\n\tether 00:25:90:aa:bb:cc\n\tmedia: Ethernet autoselect (1000baseT "
	    "<full-duplex>)\n"
	    "\tstatus: active\n\tsupported media:\n\t\tmedia autoselect\n\t\tmedia 1000baseT\n\t\tmedia 100baseTX mediaopt "
	    "full-duplex\n"
	    "ix0: flags=8843<UP> metric 0 mtu 1500\n\tmedia: Ethernet 10Gbase-LR <full-duplex,rxpause>\n\tstatus: active\n"
	    "re0: flags=8843<UP> metric 0 mtu 1500\n\tmedia: Ethernet autoselect (10baseT/UTP <half-duplex>)\n\tstatus: no "
	    "carrier\n"
	    "lo0: flags=8049<UP,LOOPBACK> metric 0 mtu 16384\n\tinet 127.0.0.1 netmask 0xff000000\n",
	    0,
	    NETIF("mtu_bytes", "igb0", "9000") NETIF("speed_bits", "igb0", "1000000000")
		NETIF("max_speed_bits", "igb0", "1000000000") NETIF("full_duplex", "igb0", "1")
		    NETIF("autoselect", "igb0", "1") NETIF("speed_bits", "ix0", "10000000000")
			NETIF("autoselect", "ix0", "0") NETIF("full_duplex", "ix0", "1") NETIF("autoselect", "re0",
			    "1") "!hiwat_netif_speed_bits{interface=\"re0\"}\n!hiwat_netif_full_duplex{interface=\"re0\"}"
				 "\n" NETIF("mtu_bytes", "lo0", "16384") "!hiwat_netif_autoselect{interface=\"lo0\"}\n" },
	{ "FreeBSD lagg", ifconfig_parse,
	    "lagg0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tmedia: Ethernet "
	    "autoselect\n\tstatus: active\n"
	    "\tlaggproto lacp lagghash l2,l3,l4\n\tlaggport: igb0 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING>\n"
	    "\tlaggport: igb1 flags=0<> state=7d<ACTIVITY,AGGREGATION,SYNC>\n",
	    0,
	    "hiwat_link_group_ports{interface=\"lagg0\"} 2\nhiwat_link_group_ports_active{interface=\"lagg0\"} 1\n" NETIF(
		"autoselect", "lagg0", "1") "!hiwat_netif_speed_bits{interface=\"lagg0\"}\n" },
	{ "FreeBSD fail-over, a spare port", ifconfig_parse,
	    "em0: flags=8843<UP,BROADCAST> metric 0 mtu 1500\n\tstatus: active\n"
	    "lagg0: flags=8843<UP,BROADCAST> metric 0 mtu 1500\n\tlaggproto failover lagghash l2,l3,l4\n"
	    "\tlaggport: em0 flags=5<MASTER,ACTIVE>\n\tlaggport: em1 flags=0<>\n\tstatus: active\n"
	    "em1: flags=8843<UP,BROADCAST> metric 0 mtu 1500\n\tstatus: active\n",
	    0, GROUP("lagg0", "2", "2") },
	{ "FreeBSD fail-over, ports without carrier, set down, unknown", ifconfig_parse,
	    "em0: flags=8843<UP> metric 0 mtu 1500\n\tstatus: no carrier\nem1: flags=8802<BROADCAST> metric 0 mtu 1500\n"
	    "\tstatus: active\nem2: flags=8843<UP> metric 0 mtu 1500\n\tstatus: active\n"
	    "lagg0: flags=8843<UP> metric 0 mtu 1500\n\tlaggproto failover\n\tlaggport: em0 flags=1<MASTER>\n"
	    "\tlaggport: em1 flags=0<>\n\tlaggport: em2 flags=4<ACTIVE>\n"
	    "lagg1: flags=8843<UP> metric 0 mtu 1500\n\tlaggproto failover\n\tlaggport: em3 flags=5<MASTER,ACTIVE>\n"
	    "\tlaggport: em4 flags=0<>\nem4: flags=8843<UP> metric 0 mtu 1500\n",
	    0,
	    GROUP("lagg0", "3", "1") "hiwat_link_group_ports{interface=\"lagg1\"} 2\n"
				     "!hiwat_link_group_ports_active{interface=\"lagg1\"}\n" },
	/* A port that is up and that LACP leaves out carries nothing. */
	{ "FreeBSD lacp, a port up and left out", ifconfig_parse,
	    "em0: flags=8843<UP> metric 0 mtu 1500\n\tstatus: active\nem1: flags=8843<UP> metric 0 mtu 1500\n\tstatus: "
	    "active\nlagg0: flags=8843<UP> metric 0 mtu 1500\n\tlaggproto lacp\n"
	    "\tlaggport: em0 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING>\n\tlaggport: em1 flags=0<>\n",
	    0, GROUP("lagg0", "2", "1") },
	{ "fail-over, twice: the last", ifconfig_parse,
	    "em0: flags=8843<UP> mtu 1500\n\tstatus: active\nem1: flags=8843<UP> mtu 1500\n\tstatus: no carrier\n"
	    "trunk0: flags=8843<UP> mtu 1500\n\ttrunk: trunkproto failover\n\t\ttrunkport em1\n\t\ttrunkport em0 "
	    "master,active\n"
	    "em0: flags=8843<UP> mtu 1500\n\tstatus: active\nem1: flags=8843<UP> mtu 1500\n\tstatus: active\n"
	    "trunk0: flags=8843<UP> mtu 1500\n\ttrunk: trunkproto failover\n\t\ttrunkport em1\n\t\ttrunkport em0 "
	    "master,active\n",
	    0, GROUP("trunk0", "2", "2") },
	{ "OpenBSD trunk", ifconfig_parse,
	    "em0: flags=8b43<UP,BROADCAST> mtu 1500\n\tlladdr 00:0d:b9:00:11:22\n\tindex 1 priority 0 llprio 3\n"
	    "\tmedia: Ethernet autoselect (1000baseT full-duplex,master)\n\tstatus: active\n"
	    "trunk0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> mtu 1500\n\ttrunk: trunkproto "
	    "failover\n\t\ttrunkport em1 \n"
	    "\t\ttrunkport em0 master,active\n\tmedia: Ethernet autoselect\n\tstatus: active\n"
	    "trunk1: flags=8843<UP> mtu 1500\n\ttrunk: trunkproto roundrobin\n\t\ttrunkport: em2 flags=5<MASTER,ACTIVE>\n",
	    0,
	    NETIF("speed_bits", "em0", "1000000000")
		NETIF("full_duplex", "em0", "1") "hiwat_link_group_ports{interface=\"trunk0\"} "
						 "2\n!hiwat_link_group_ports_active{interface=\"trunk0\"}\n"
						 "hiwat_link_group_ports{interface=\"trunk1\"} "
						 "1\nhiwat_link_group_ports_active{interface=\"trunk1\"} 1\n" },
	{ "macOS, wireless, 2.5 and 40 gigabits", ifconfig_parse,
	    "en0: flags=8863<UP> mtu 1500\n\tmedia: autoselect (2500Base-T <full-duplex,flow-control>)\n\tstatus: active\n"
	    "wlan0: flags=8843<UP> metric 0 mtu 1500\n\tmedia: IEEE 802.11 Wireless Ethernet OFDM/54Mbps mode "
	    "11g\n\tstatus: associated\n"
	    "mlx0: flags=8843<UP> metric 0 mtu 1500\n\tmedia: Ethernet autoselect (40Gbase-CR4 <full-duplex>)\n",
	    0,
	    NETIF("speed_bits", "en0", "2500000000") NETIF("speed_bits", "wlan0", "54000000")
		NETIF("speed_bits", "mlx0", "40000000000") "!hiwat_netif_autoselect{interface=\"wlan0\"}\n" },
	{ "Linux, new and old", ifconfig_parse,
	    "eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n        RX packets 9  bytes 900 (900.0 B)\n"
	    "eth1      Link encap:Ethernet  HWaddr 00:11:22:33:44:55\n          UP BROADCAST RUNNING MULTICAST  MTU:9000  "
	    "Metric:1\n",
	    0, NETIF("mtu_bytes", "eth0", "1500") NETIF("mtu_bytes", "eth1", "9000") },
	{ "twice: the last", ifconfig_parse,
	    "em0: flags=8843<UP> metric 0 mtu 1500\n\tmedia: Ethernet autoselect (1000baseT <full-duplex>)\n"
	    "em0: flags=8843<UP> metric 0 mtu 9000\n\tmedia: Ethernet 100baseTX <half-duplex>\n",
	    0, NETIF("mtu_bytes", "em0", "9000") NETIF("speed_bits", "em0", "100000000") NETIF("full_duplex", "em0", "0") },
	{ "wrapped, then cut", ifconfig_parse,
	    "em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST>\nmetric 0 mtu 1500\nem1: flags=8843<UP> metric 0 mtu "
	    "90",
	    0, NETIF("mtu_bytes", "em0", "1500") "!hiwat_netif_mtu_bytes{interface=\"em1\"}\n" },
	{ "denied", ifconfig_parse, "ifconfig: socket: Permission denied\n", HIWAT_E_DENIED, "" },
};

START_TEST(row)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	int err = parsed_by(rows[_i].parse, text_of(rows[_i].text), &out);
	ck_assert_msg(err == rows[_i].err, "%s: %s", rows[_i].name, err_text(err));
	const char *mismatch = parsed_mismatch(&out, rows[_i].expected);
	ck_assert_msg(mismatch == NULL, "%s: %s in\n%s", rows[_i].name, mismatch, buf_str(&out));
	buf_fini(&out);
}
END_TEST

/* Every whole text: any cut and an unknown line anywhere but inside a broken row. */
START_TEST(properties)
{
	if (rows[_i].err == HIWAT_OK && !text_starts(text_of(rows[_i].name), "broken"))
		parsed_properties(rows[_i].parse, text_of(rows[_i].text), 1);
}
END_TEST

static const struct {
	const char *text, *kind;
} recognised[] = {
	{ freebsd_s, "netstat-s" },
	{ "Current listen queue sizes (qlen/incqlen/maxqlen)\nProto Listen Local Address\n", "netstat-L" },
	{ freebsd_i, "netstat-i" },
	{ "ITEM                   SIZE  LIMIT     USED     FREE      REQ FAIL SLEEP\n", "vmstat-z" },
	{ "em0: flags=8843<UP> metric 0 mtu 1500\n", "ifconfig" },
	{ "kern.ostype: FreeBSD\nkern.osrelease: 13.2-RELEASE\nkern.version: FreeBSD 13.2\n\tanother line\n", "sysctl" },
};

START_TEST(recognise)
{
	const struct parse_kind *k = parse_recognise(text_of(recognised[_i].text));

	ck_assert_ptr_nonnull(k);
	ck_assert_str_eq(k->name, recognised[_i].kind);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("bsd_net");
	TCase *tc = tcase_create("bsd_net");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_loop_test(tc, properties, 0, ARRAY_LEN(rows));
	tcase_add_loop_test(tc, recognise, 0, ARRAY_LEN(recognised));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
