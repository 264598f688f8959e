#include "unit.h"

#include <string.h>

#include "err.h"
#include "netstat.h"
#include "parsed.h"

#define POOL(column, pool, value) "hiwat_mbuf_pool_" column "{pool=\"" pool "\"} " value "\n"
#define NO_POOL(column, pool) "!hiwat_mbuf_pool_" column "{pool=\"" pool "\"}\n"
#define DENIED(pool, value) "hiwat_mbuf_requests_denied_total{pool=\"" pool "\"} " value "\n"
#define DELAYED(pool, value) "hiwat_mbuf_requests_delayed_total{pool=\"" pool "\"} " value "\n"
#define TYPE(type, value) "hiwat_mbuf_type_in_use{type=\"" type "\"} " value "\n"
#define UNKNOWN(n) "hiwat_parse_unknown_lines_total{source=\"netstat-m\"} " n "\n"
#define NO_UNKNOWN "!hiwat_parse_unknown_lines_total{source=\"netstat-m\"}\n"

#define OLD_TAIL "0 requests for memory denied\n3 requests for memory delayed\n2 calls to protocol drain routines\n"
#define OLD_TAIL_VALUES DENIED("any", "0") DELAYED("any", "3") "hiwat_mbuf_drain_calls_total 2\n"

#define FREEBSD_5_MBUFS \
	"mbuf usage:\n" \
	"\tGEN cache:\t0/320 (in use/in pool)\n" \
	"\tCPU #0 cache:\t18446744073709551590/448 (in use/in pool)\n" \
	"\tCPU #3 cache:\t284/64 (in use/in pool)\n" \
	"\tTotal:\t\t258/832 (in use/in pool)\n" \
	"\tMbuf cache high watermark: 512\n" \
	"\tMaximum possible: 34176\n" \
	"\tAllocated mbuf types:\n" \
	"\t  250 mbufs allocated to data\n" \
	"\t  8 mbufs allocated to <mbuf type: 23>\n" \
	"\t2% of mbuf map consumed\n"
#define FREEBSD_5_CLUSTERS \
	"mbuf cluster usage:\n" \
	"\tGEN cache:\t0/64 (in use/in pool)\n" \
	"\tCPU #0 cache:\t256/296 (in use/in pool)\n" \
	"\tTotal:\t\t256/360 (in use/in pool)\n" \
	"\tCluster cache high watermark: 128\n" \
	"\tMaximum possible: 17088\n" \
	"\t2% of cluster map consumed\n"

#define FREEBSD_12(mbufs, last) \
	mbufs "/1018/1275 mbufs in use (current/cache/total)\n" \
	      "256/506/762/109049 mbuf clusters in use (current/cache/total/max)\n" \
	      "256/506 mbuf+clusters out of packet secondary zone in use (current/cache)\n" \
	      "0/508/508/54524 4k (page size) jumbo clusters in use (current/cache/total/max)\n" \
	      "0/0/0/16155 9k jumbo clusters in use (current/cache/total/max)\n" \
	      "0/0/0/9087 16k jumbo clusters in use (current/cache/total/max)\n" \
	      "576K/3298K/3874K bytes allocated to network (current/cache/total)\n" \
	      "1/2/3 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n" \
	      "4/5/6 requests for mbufs delayed (mbufs/clusters/mbuf+clusters)\n" \
	      "7/8/9 requests for jumbo clusters delayed (4k/9k/16k)\n" \
	      "10/11/12 requests for jumbo clusters denied (4k/9k/16k)\n" \
	      "0/4/6656 sfbufs in use (current/peak/max)\n" \
	      "0 sendfile syscalls\n" \
	      "0 sendfile syscalls completed without I/O request\n" \
	      "13 requests for I/O initiated by sendfile\n" \
	      "0 pages read by sendfile as part of a request\n" \
	      "0 times sendfile encountered an already busy page\n" \
	      "14 requests for sfbufs denied\n" last
#define FREEBSD_12_LAST "15 requests for sfbufs delayed\n"

/* Expected: lines that must be there, "!series" for those that must not. */
static const struct {
	const char *name, *text;
	int err;
	const char *expected;
} rows[] = {
	/* -------------------------------------------------------------------------------------------------- FreeBSD */
	{ "FreeBSD 2",
	    "60 mbufs in use:\n\t40 mbufs allocated to data\n\t20 mbufs allocated to <mbuf type 17>\n"
	    "5/68 mbuf clusters in use\n143 Kbytes allocated to network (12% in use)\n" OLD_TAIL,
	    0,
	    POOL("in_use", "mbuf", "60") TYPE("data", "40") TYPE("<mbuf type 17>", "20") POOL("in_use", "cluster", "5")
		POOL("allocated", "cluster", "68") NO_POOL("limit", "cluster") NO_POOL("peak",
		    "cluster") "hiwat_mbuf_bytes_allocated 146432\nhiwat_mbuf_memory_used_ratio 0.12\n" OLD_TAIL_VALUES
		    NO_UNKNOWN },
	{ "FreeBSD 2, older", "60 mbufs in use:\n5/68 mapped pages in use\n" OLD_TAIL, 0,
	    POOL("in_use", "cluster", "5") POOL("allocated", "cluster", "68") },
	{ "FreeBSD 3", "100/192 mbufs in use:\n64/106/512 mbuf clusters in use (current/peak/max)\n", 0,
	    POOL("in_use", "mbuf", "100") POOL("allocated", "mbuf", "192") POOL("peak", "cluster", "106") },
	{ "FreeBSD 4",
	    "291/1184/26624 mbufs in use (current/peak/max):\n\t7 mbufs allocated to packet headers\n"
	    "272/530/6656 mbuf clusters in use (current/peak/max)\n1356 Kbytes allocated to network (0% of mb_map in "
	    "use)\n" OLD_TAIL,
	    0,
	    POOL("in_use", "mbuf", "291") POOL("peak", "mbuf", "1184") POOL("limit", "mbuf", "26624")
		POOL("in_use", "cluster", "272") POOL("peak", "cluster", "530") POOL("limit", "cluster", "6656")
		    NO_POOL("allocated", "cluster") "hiwat_mbuf_memory_used_ratio 0\n" OLD_TAIL_VALUES },
	{ "FreeBSD 5.2", FREEBSD_5_MBUFS FREEBSD_5_CLUSTERS "928 KBytes of wired memory reserved (63% in use)\n" OLD_TAIL, 0,
	    POOL("in_use", "mbuf", "258") POOL("allocated", "mbuf", "832") POOL("limit", "mbuf", "34176") POOL("in_use",
		"cluster", "256") POOL("allocated", "cluster", "360") POOL("limit", "cluster", "17088") NO_POOL("peak",
		"mbuf") TYPE("data", "250") TYPE("<mbuf type: 23>",
		"8") "hiwat_mbuf_bytes_allocated 950272\nhiwat_mbuf_memory_used_ratio 0.63\n" OLD_TAIL_VALUES NO_UNKNOWN },
	{ "FreeBSD 5.0 with lists, tabs turned into blanks",
	    "mbuf usage:\n   GEN list:       0/320 (in use/in pool)\n   CPU #0 list:    258/448 (in use/in pool)\n"
	    "   Total:          258/768 (in use/in pool)\n   Maximum number allowed on each CPU list: 512\n"
	    "   Maximum possible: 34176\nmbuf cluster usage:\n   Total:          256/360 (in use/in pool)\n",
	    0,
	    POOL("in_use", "mbuf", "258") POOL("limit", "mbuf", "34176") POOL("allocated", "cluster", "360")
		NO_POOL("limit", "cluster") },
	{ "FreeBSD 5, total below zero", "mbuf usage:\n\tTotal:\t\t4294967290/832 (in use/in pool)\n", 0,
	    POOL("in_use", "mbuf", "0") POOL("allocated", "mbuf", "832") },
	{ "FreeBSD 5 after FreeBSD 4",
	    "1/2/3 mbufs in use (current/peak/max):\n" OLD_TAIL FREEBSD_5_MBUFS FREEBSD_5_CLUSTERS OLD_TAIL, 0,
	    POOL("in_use", "mbuf", "258") NO_POOL("peak", "mbuf") },
	{ "FreeBSD 5 cut before the clusters",
	    FREEBSD_5_MBUFS "mbuf cluster usage:\n\tGEN cache:\t0/64 (in use/in pool)\n\tTotal:\t\t2", 0,
	    POOL("in_use", "mbuf", "258") NO_POOL("in_use", "cluster") },
	{ "FreeBSD 5 cut inside a limit", "mbuf usage:\n\tTotal:\t\t258/832 (in use/in pool)\n\tMaximum possible: 341", 0,
	    POOL("in_use", "mbuf", "258") NO_POOL("limit", "mbuf") },
	{ "FreeBSD 5.3",
	    "264 mbufs in use\n260/17088 mbuf clusters in use (current/max)\n0/4/4528 sfbufs in use (current/peak/max)\n"
	    "586 KBytes allocated to network\n1 requests for sfbufs denied\n2 requests for sfbufs delayed\n"
	    "3 requests for I/O initiated by sendfile\n4 calls to protocol drain routines\n",
	    0,
	    POOL("in_use", "mbuf", "264") POOL("in_use", "cluster", "260") POOL("limit", "cluster",
		"17088") "hiwat_mbuf_sfbufs_in_use 0\nhiwat_mbuf_sfbufs_peak 4\nhiwat_mbuf_sfbufs_limit "
			 "4528\nhiwat_mbuf_bytes_allocated 600064\n"
			 "hiwat_mbuf_sfbuf_requests_denied_total 1\nhiwat_mbuf_sfbuf_requests_delayed_total 2\n"
			 "hiwat_mbuf_sendfile_io_total 3\nhiwat_mbuf_drain_calls_total "
			 "4\n!hiwat_mbuf_memory_used_ratio\n" NO_UNKNOWN },
	{ "FreeBSD 6, 9k and 16k without limit, pages of 8k",
	    "1/2/3 mbufs in use (current/cache/total)\n1/2/3/0 mbuf clusters in use (current/cache/total/max)\n"
	    "1/2/3/4 8k (page size) jumbo clusters in use (current/cache/total/max)\n"
	    "1/2/3/0 9k jumbo clusters in use (current/cache/total/max)\n1/2/3/0 16k jumbo clusters in use "
	    "(current/cache/total/max)\n"
	    "1/2/3 requests for jumbo clusters denied (8k/9k/16k)\n",
	    0,
	    POOL("allocated", "cluster", "3") NO_POOL("limit", "cluster") POOL("limit", "jumbo_page", "4")
		POOL("item_bytes", "jumbo_page", "8192") NO_POOL("limit", "jumbo_9k") POOL("in_use", "jumbo_9k", "1")
		    NO_POOL("limit", "jumbo_16k") POOL("item_bytes", "jumbo_16k", "16384") DENIED("jumbo_page", "1")
			DENIED("jumbo_16k", "3") "!" DELAYED("jumbo_page", "1") },
	{ "FreeBSD 12, whole", FREEBSD_12("257", FREEBSD_12_LAST), 0,
	    POOL("in_use", "mbuf", "257") POOL("cached", "mbuf", "1018") POOL("allocated", "mbuf", "1275") NO_POOL("limit",
		"mbuf") POOL("in_use", "cluster", "256") POOL("limit", "cluster", "109049") POOL("in_use", "packet",
		"256") POOL("cached", "packet", "506") NO_POOL("allocated", "packet") POOL("item_bytes", "jumbo_9k",
		"9216") "hiwat_mbuf_bytes_in_use 589824\nhiwat_mbuf_bytes_cached 3377152\nhiwat_mbuf_bytes_allocated "
			"3966976\n"
			"!hiwat_mbuf_bytes_limit\n" DENIED("mbuf", "1") DENIED("cluster", "2") DENIED("packet",
			    "3") DELAYED("mbuf", "4") DELAYED("cluster", "5") DELAYED("packet", "6") DELAYED("jumbo_page",
			    "7") DELAYED("jumbo_9k", "8") DELAYED("jumbo_16k", "9") DENIED("jumbo_page",
			    "10") DENIED("jumbo_9k", "11") DENIED("jumbo_16k",
			    "12") "hiwat_mbuf_sfbufs_peak 4\nhiwat_mbuf_sfbufs_limit 6656\nhiwat_mbuf_sendfile_io_total 13\n"
				  "hiwat_mbuf_sfbuf_requests_denied_total 14\nhiwat_mbuf_sfbuf_requests_delayed_total "
				  "15\n" NO_UNKNOWN },
	{ "pages of 16k",
	    "1/2/3/4 16k (page size) jumbo clusters in use (current/cache/total/max)\n"
	    "5/6/7/8 9k jumbo clusters in use (current/cache/total/max)\n"
	    "9/10/11/12 16k jumbo clusters in use (current/cache/total/max)\n",
	    0,
	    POOL("in_use", "jumbo_page", "1") POOL("item_bytes", "jumbo_page", "16384") POOL("in_use", "jumbo_9k", "5")
		POOL("in_use", "jumbo_16k", "9") },
	{ "Junos says page size of all",
	    "0/2/2/62377 4k (page size) jumbo clusters in use (current/cache/total/max)\n"
	    "0/0/3/18482 9k (page size) jumbo clusters in use (current/cache/total/max)\n"
	    "0/0/4/10396 16k (page size) jumbo clusters in use (current/cache/total/max)\n",
	    0, POOL("allocated", "jumbo_page", "2") POOL("allocated", "jumbo_9k", "3") POOL("allocated", "jumbo_16k", "4") },
	{ "below zero, unsigned and signed",
	    "5/-2/3 mbufs in use (current/cache/total)\n"
	    "18446744073709551611/506/500/109049 mbuf clusters in use (current/cache/total/max)\n"
	    "9223372036854775808K/1K/2K bytes allocated to network (current/cache/total)\n"
	    "-1/0/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n",
	    0,
	    POOL("cached", "mbuf", "0") POOL("in_use", "cluster", "0") POOL("cached", "cluster",
		"506") "hiwat_mbuf_bytes_in_use 0\nhiwat_mbuf_bytes_cached 1024\n" DENIED("mbuf", "0") },
	{ "more than 64 bits", "99999999999999999999/1/2 mbufs in use (current/cache/total)\n1/2 mbuf clusters in use\n", 0,
	    NO_POOL("in_use", "mbuf") NO_POOL("cached", "mbuf") POOL("in_use", "cluster", "1") UNKNOWN("1") },
	{ "total above max stays", "90/20/110/100 mbuf clusters in use (current/cache/total/max)\n", 0,
	    POOL("allocated", "cluster", "110") POOL("limit", "cluster", "100") },
	{ "names in another order", "1/2/3/4 mbuf clusters in use (max/total/cache/current)\n", 0,
	    POOL("limit", "cluster", "1") POOL("allocated", "cluster", "2") POOL("cached", "cluster", "3")
		POOL("in_use", "cluster", "4") },
	{ "more numbers than names", "7/8 mbufs in use\n1/2/3/4 mbuf clusters in use (current/cache/total)\n", 0,
	    NO_POOL("in_use", "cluster") UNKNOWN("1") },

	/* -------------------------------------------------------------------------------------------------- OpenBSD */
	{ "OpenBSD, one mbuf",
	    "1 mbuf in use:\n\t1 mbuf allocated to packet headers\n1/4/6144 mbuf clusters in use (current/peak/max)\n"
	    "24 Kbytes allocated to network (9% in use)\n" OLD_TAIL,
	    0,
	    POOL("in_use", "mbuf", "1") TYPE("packet headers", "1") POOL("peak", "cluster", "4")
		POOL("limit", "cluster", "6144") "hiwat_mbuf_memory_used_ratio 0.09\n" OLD_TAIL_VALUES NO_UNKNOWN },
	{ "OpenBSD 4.9, some pools without limit",
	    "35 mbufs in use:\n32/138/6144 mbuf 2048 byte clusters in use (current/peak/max)\n"
	    "0/8/6144 mbuf 4096 byte clusters in use (current/peak/max)\n"
	    "0/8/4294967295 mbuf 8192 byte clusters in use (current/peak/max)\n"
	    "3/9/8589934590 mbuf 9216 byte clusters in use (current/peak/max)\n"
	    "0/8/4294967292 mbuf 12288 byte clusters in use (current/peak/max)\n"
	    "0/8/0 mbuf 16384 byte clusters in use (current/peak/max)\n"
	    "0/8/6144 mbuf 65536 byte clusters in use (current/peak/max)\n",
	    0,
	    POOL("in_use", "mcl2k", "32") POOL("limit", "mcl2k", "6144") POOL("item_bytes", "mcl4k", "4096")
		NO_POOL("limit", "mcl8k") POOL("peak", "mcl8k", "8") NO_POOL("limit", "mcl9k") POOL("in_use", "mcl9k", "3")
		    NO_POOL("limit", "mcl12k") NO_POOL("limit", "mcl16k") POOL("limit", "mcl64k", "6144")
			POOL("item_bytes", "mcl64k", "65536") },
	{ "OpenBSD, peak above limit", "0/6150/6144 mbuf 2048 byte clusters in use (current/peak/max)\n", 0,
	    POOL("peak", "mcl2k", "6150") POOL("limit", "mcl2k", "6144") },
	{ "OpenBSD 7.8",
	    "392 mbufs in use:\n14/208 mbuf 2048 byte clusters in use (current/peak)\n"
	    "255/555 mbuf 2112 byte clusters in use (current/peak)\n3452/4580/524288 Kbytes allocated to network "
	    "(current/peak/max)\n" OLD_TAIL
	    "1 defrag mbuf allocation\n2 prepend mbuf allocation\n3 pullup mbuf allocation\n4 pullup memory copy\n"
	    "5 pulldown mbuf allocation\n6 pulldown memory copy\n",
	    0,
	    POOL("in_use", "mcl2k", "14") POOL("peak", "mcl2k", "208") NO_POOL("limit", "mcl2k") POOL("in_use", "mcl2k2",
		"255") POOL("item_bytes", "mcl2k2",
		"2112") "hiwat_mbuf_bytes_allocated 3534848\nhiwat_mbuf_bytes_peak 4689920\n"
			"hiwat_mbuf_bytes_limit "
			"536870912\n!hiwat_mbuf_bytes_in_use\n!hiwat_mbuf_memory_used_ratio\n" OLD_TAIL_VALUES NO_UNKNOWN },
	{ "OpenBSD without limit of memory", "3452/4580/4294967295 Kbytes allocated to network (current/peak/max)\n", 0,
	    "hiwat_mbuf_bytes_peak 4689920\n!hiwat_mbuf_bytes_limit\n" },

	/* ---------------------------------------------------------------------------------- NetBSD, DragonFly, macOS */
	{ "NetBSD core dump",
	    "524 mbufs in use:\n\t5 mbufs allocated to packet headers\n20/30 mapped pages in use\n"
	    "200 Kbytes allocated to network (55% in use)\n7 calls to protocol drain routines\n",
	    0,
	    POOL("in_use", "mbuf", "524") POOL("in_use", "cluster", "20")
		POOL("allocated", "cluster", "30") "hiwat_mbuf_bytes_allocated 204800\nhiwat_mbuf_memory_used_ratio "
						   "0.55\nhiwat_mbuf_drain_calls_total 7\n"
						   "!" DENIED("any", "0") NO_UNKNOWN },
	{ "DragonFly",
	    "1131/64480 mbufs in use (current/max):\n1101/48384 mbuf clusters in use (current/max)\n"
	    "512/24192 mbuf jumbo clusters in use (current/max)\n\t2130 mbufs and mbuf clusters allocated to data\n",
	    0,
	    POOL("limit", "mbuf", "64480") POOL("limit", "cluster", "48384") POOL("in_use", "jumbo", "512")
		TYPE("data", "2130") },
	{ "macOS",
	    "4258/6301 mbufs in use:\n\t1356 mbufs allocated to data\n\t2043 mbufs allocated to caches\n"
	    "2228/3344 mbuf 2KB clusters in use\n0/972 mbuf 4KB clusters in use\n1/301 mbuf 16KB clusters in use\n"
	    "17253 KB allocated to network (approx. 32.5% in use)\n0 KB returned to the system\n" OLD_TAIL,
	    0,
	    POOL("in_use", "mbuf", "4258") POOL("allocated", "mbuf", "6301") TYPE("caches", "2043") POOL("in_use", "cluster",
		"2228") POOL("allocated", "cluster", "3344") POOL("allocated", "jumbo_page", "972") POOL("in_use",
		"jumbo_16k", "1") "hiwat_mbuf_bytes_allocated 17667072\nhiwat_mbuf_memory_used_ratio 0.325\n" NO_UNKNOWN },

	/* ---------------------------------------------------------------------------------------- what people save */
	{ "prompt, CRLF, last newline missing",
	    "root@gw:~ # netstat -m\r\n291/1184/26624 mbufs in use (current/peak/max):\r\n"
	    "\t7 mbufs allocated to data\r\n9 calls to protocol drain routines",
	    0, POOL("limit", "mbuf", "26624") TYPE("data", "7") "hiwat_mbuf_drain_calls_total 9\n" NO_UNKNOWN },
	{ "quoted in a mail",
	    "> 1/2/3 mbufs in use (current/cache/total)\n> > 1/2/3/4 mbuf clusters in use (current/cache/total/max)\n", 0,
	    POOL("allocated", "mbuf", "3") POOL("limit", "cluster", "4") NO_UNKNOWN },
	{ "wrapped at blanks",
	    "1018/257/1275 mbufs in use (current/cache/total)\n0/508/508/54524 4k (page size) jumbo clusters in use\n"
	    "(current/cache/total/max)\n256/506 mbuf+clusters out of packet secondary\n zone in use (current/cache)\n"
	    "1/2/3 requests for jumbo clusters denied\n(4k/9k/16k)\n272/530/6656 mbuf clusters in use\n(current/peak/max)\n",
	    0,
	    POOL("limit", "jumbo_page", "54524") POOL("in_use", "packet", "256") DENIED("jumbo_9k", "2")
		POOL("peak", "cluster", "530") NO_UNKNOWN },
	{ "wrapped in words",
	    "0/508/508/54524 4k (page size) jumbo clusters in use (current/cac\nhe/total/max)\n"
	    "256/506 mbuf+clusters out of packet second\nary zone in use (c\nurrent/cache)\n",
	    0, POOL("limit", "jumbo_page", "54524") POOL("cached", "packet", "506") NO_UNKNOWN },
	{ "cut inside a label", "7/8/9 mbufs in use (current/cache/total)\n1/2/3/4 mbuf clusters in u", 0,
	    POOL("in_use", "mbuf", "7") NO_POOL("in_use", "cluster") },
	{ "cut before the names", "7/8/9 mbufs in use (current/cache/total)\n1/2 mbuf clusters in use", 0,
	    NO_POOL("in_use", "cluster") },
	{ "cut inside a type", "7 mbufs in use:\n\t3 mbufs allocated to data\n\t4 mbufs allocated to socket na", 0,
	    TYPE("data", "3") "!hiwat_mbuf_type_in_use{type=\"socket na\"}\n" },
	{ "whole types at the end", "7 mbufs in use:\n\t4 mbufs allocated to socket options", 0,
	    TYPE("socket options", "4") },
	{ "two dumps: the last", FREEBSD_12("257", FREEBSD_12_LAST) "$ netstat -m\n" FREEBSD_12("300", FREEBSD_12_LAST) "$ ",
	    0, POOL("in_use", "mbuf", "300") NO_UNKNOWN },
	{ "two dumps, the last cut: the one before",
	    FREEBSD_12("257", FREEBSD_12_LAST) FREEBSD_12("300", "15 requests for sf"), 0,
	    POOL("in_use", "mbuf", "257") "hiwat_mbuf_sfbuf_requests_delayed_total 15\n" },
	{ "three dumps of different systems",
	    "9 mbufs in use:\n\t9 mbufs allocated to data\n1 calls to protocol drain routines\n" FREEBSD_12("257",
		FREEBSD_12_LAST) "1 mbuf in use:\n\t1 mbuf allocated to data\n0/1/2 mbuf clusters in use "
				 "(current/peak/max)\n" OLD_TAIL,
	    0, POOL("in_use", "mbuf", "1") TYPE("data", "1") NO_POOL("cached", "mbuf") POOL("limit", "cluster", "2") },
	{ "two dumps, the first without its end",
	    "7/8/9 mbufs in use (current/cache/total)\n5/6/7 mbufs in use (current/cache/total)\n", 0,
	    POOL("in_use", "mbuf", "5") },
	{ "unknown lines",
	    "7/8/9 mbufs in use (current/cache/total)\n7 frobs in use\n1/2/3 frobs in use (current/cache/total)\n"
	    "3/4/5/6 mbuf 3072 byte clusters in use (current/cache/total/max)\n5/6/7 mbufs in use\n"
	    "hello\n1 requests for frobs denied\n8 calls to protocol drain routines\n",
	    0, POOL("in_use", "mbuf", "7") UNKNOWN("6") },
	{ "too many numbers",
	    "1/2/3/4/5/6/7/8/9 mbuf clusters in use (current/cache/total/max/a/b/c/d/e)\n1 calls to protocol drain "
	    "routines\n",
	    0, NO_POOL("in_use", "cluster") UNKNOWN("1") },
	{ "names of a newer system",
	    "1/2/3/4/5 mbuf clusters in use (current/reserved/cache/total/max)\n"
	    "6K/7K/8K bytes allocated to network (current/held/total)\n1 calls to protocol drain routines\n",
	    0,
	    POOL("in_use", "cluster", "1") POOL("cached", "cluster", "3") POOL("allocated", "cluster", "4") POOL("limit",
		"cluster", "5") "hiwat_mbuf_bytes_in_use 6144\n!hiwat_mbuf_bytes_cached\nhiwat_mbuf_bytes_allocated "
				"8192\n" NO_UNKNOWN },
	{ "no name is known", "1/2 mbuf clusters in use (reserved/held)\n1 calls to protocol drain routines\n", 0,
	    NO_POOL("in_use", "cluster") UNKNOWN("1") },

	/* ------------------------------------------------------------------------------------------------ refusals */
	{ "empty", "", HIWAT_E_NODATA, "" },
	{ "blank", " \r\n\n", HIWAT_E_NODATA, "" },
	{ "another kind",
	    "interrupt                          total       rate\nirq1: atkbd0                           6          0\n",
	    HIWAT_E_NODATA, "" },
	{ "netstat -s", "tcp:\n\t1234 packets sent\n\t\t5 listen queue overflows\n", HIWAT_E_NODATA, "" },
	{ "denied", "netstat: kvm not available: /dev/mem: Permission denied\n", HIWAT_E_DENIED, "" },
	{ "failed", "netstat: memstat_sysctl_all: Version mismatch\n", HIWAT_E_NODATA, "" },
	{ "only half a line", "257/1018/1275 mbufs in use (curr", HIWAT_E_NODATA, "" },
};

START_TEST(row)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	int err = parsed_by(netstat_m_parse, text_of(rows[_i].text), &out);
	ck_assert_msg(err == rows[_i].err, "%s: %s", rows[_i].name, err_text(err));
	const char *mismatch = parsed_mismatch(&out, rows[_i].expected);
	ck_assert_msg(mismatch == NULL, "%s: %s in\n%s", rows[_i].name, mismatch, buf_str(&out));
	buf_fini(&out);
}
END_TEST

START_TEST(any_cut_and_any_unknown_line)
{
	parsed_corpus_properties("netstat-m");
	parsed_corpus_prefixes_agree("netstat-m");
}
END_TEST

/* Every line of a whole dump broken at each of its blanks: the values stay. */
START_TEST(any_wrap)
{
	static const char text[] = FREEBSD_12("257", FREEBSD_12_LAST);
	char wrapped[sizeof(text)];
	struct buf whole, out;

	buf_init(&whole, 1 << 20);
	buf_init(&out, 1 << 20);
	ck_assert_int_eq(parsed_by(netstat_m_parse, TEXT(text), &whole), HIWAT_OK);
	for (size_t i = 0; text[i] != '\0'; i++) {
		if (text[i] != ' ')
			continue;
		memcpy(wrapped, text, sizeof(text));
		wrapped[i] = '\n';
		ck_assert_int_eq(parsed_by(netstat_m_parse, (struct text){ wrapped, sizeof(text) - 1 }, &out), HIWAT_OK);
		const char *mismatch = parsed_mismatch(&out, buf_str(&whole));
		ck_assert_msg(mismatch == NULL, "broken at byte %zu: %s", i, mismatch);
	}
	buf_fini(&out);
	buf_fini(&whole);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("netstat_m");
	TCase *tc = tcase_create("netstat_m");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_test(tc, any_cut_and_any_unknown_line);
	tcase_add_test(tc, any_wrap);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
