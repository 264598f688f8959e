#include "unit.h"

#include <string.h>

#include "arena.h"
#include "err.h"
#include "parsed.h"
#include "proc.h"

#define CPUS2 "           CPU0       CPU1       \n"

static const struct parsed_row rows[] = {
	/* ------------------------------------------------------------------------------------------------ interrupts */
	{ "wrapped by a mailer", proc_interrupts_parse,
	    "           CPU0       CPU1\nCPU2\n 88:      10000          0\n 5   IR-PCI-MSI 1-edge      eth0\nLOC:          "
	    "1          2\n"
	    "3   Local timer\ninterrupts\nERR:          7\n$ uptime\n",
	    0,
	    "hiwat_interrupts_total{device=\"eth0\",irq=\"88\"} 10005\n"
	    "hiwat_interrupts_total{device=\"Local timer interrupts\",irq=\"LOC\"} 6\n" },
	{ "an 8259 without devices", proc_interrupts_parse, CPUS2 "  3:          2          0    XT-PIC-XT      \n", 0,
	    "hiwat_interrupts_total{device=\"\",irq=\"3\"} 2\n" },
	{ "2.6.32: chip and flow joined", proc_interrupts_parse,
	    CPUS2 "  0:        125          3   IO-APIC-edge      timer\n"
		  " 30:          7          8   PCI-MSI-edge      eth0-TxRx-0\n"
		  "NMI:          0          0   Non-maskable interrupts\n"
		  "ERR:          2\n"
		  "MIS:          0\n",
	    0,
	    "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 128\n"
	    "hiwat_interrupts_total{device=\"eth0-TxRx-0\",irq=\"30\"} 15\n"
	    "hiwat_interrupts_total{device=\"Non-maskable interrupts\",irq=\"NMI\"} 0\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"ERR\"} 2\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"MIS\"} 0\n"
	    "!hiwat_parse_unknown_lines_total{source=\"proc-interrupts\"}\n" },
	{ "gaps between CPUs, shared lines, numbers of ten digits", proc_interrupts_parse,
	    "            CPU0       CPU3       CPU12      \n"
	    "  16: 4294967295 4294967295          1  IR-IO-APIC   16-fasteoi   ehci_hcd:usb1, ahci, eth 0\n",
	    0, "hiwat_interrupts_total{device=\"ehci_hcd:usb1, ahci, eth 0\",irq=\"16\"} 8589934591\n" },
	{ "no device", proc_interrupts_parse,
	    CPUS2 "  7:          1          0   IO-APIC   7-edge    \n"
		  "  9:          1          0   IO-APIC-fasteoi \n"
		  " 11:          1          1     GICv2  27 Level \n"
		  " 12:          1          1     GICv2  29 Level     arch_timer\n",
	    0,
	    "hiwat_interrupts_total{device=\"\",irq=\"7\"} 1\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"9\"} 1\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"11\"} 2\n"
	    "hiwat_interrupts_total{device=\"arch_timer\",irq=\"12\"} 2\n" },
	{ "arm: IPI, FIQ and Err", proc_interrupts_parse,
	    CPUS2 " 16:          0          0  bcm2836-timer   0 Edge      arch_timer\n"
		  "FIQ:              usb_fiq\n"
		  "IPI0:         1          2  CPU wakeup interrupts\n"
		  "IPI1:4294967295          1       Function call interrupts\n"
		  "Err:          3\n",
	    0,
	    "hiwat_interrupts_total{device=\"CPU wakeup interrupts\",irq=\"IPI0\"} 3\n"
	    "hiwat_interrupts_total{device=\"Function call interrupts\",irq=\"IPI1\"} 4294967296\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"Err\"} 3\n"
	    "!hiwat_interrupts_total{device=\"usb_fiq\",irq=\"FIQ\"}\n"
	    "!hiwat_parse_unknown_lines_total{source=\"proc-interrupts\"}\n" },
	{ "arm 2.6.32: IPI counts CPUs that are off line, too", proc_interrupts_parse,
	    "           CPU0       \n"
	    " 33:         10        GIC  eth0\n"
	    "IPI:          5          6\n"
	    "LOC:          7          8 \n",
	    0,
	    "hiwat_interrupts_total{device=\"eth0\",irq=\"33\"} 10\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"IPI\"} 11\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"LOC\"} 15\n" },
	{ "powerpc: two texts", proc_interrupts_parse,
	    CPUS2 " 16:        100          0      MPIC   251 Edge      ipi call function\n"
		  "TAU:          1          2   PowerPC             Thermal Assist (cpu temp)\n"
		  "LOC:          1          2   Local timer interrupts for timer event device\n"
		  "BAD:          4\n",
	    0,
	    "hiwat_interrupts_total{device=\"ipi call function\",irq=\"16\"} 100\n"
	    "hiwat_interrupts_total{device=\"Thermal Assist (cpu temp)\",irq=\"TAU\"} 3\n"
	    "hiwat_interrupts_total{device=\"Local timer interrupts for timer event device\",irq=\"LOC\"} 3\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"BAD\"} 4\n" },
	{ "s390: no numbers for irq", proc_interrupts_parse,
	    "           CPU0       CPU1       \n"
	    "EXT:         10         20 \n"
	    "I/O:          1          2 \n"
	    "CLK:          3          4  [EXT] Clock Comparator\n",
	    0,
	    "hiwat_interrupts_total{device=\"\",irq=\"EXT\"} 30\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"I/O\"} 3\n"
	    "hiwat_interrupts_total{device=\"[EXT] Clock Comparator\",irq=\"CLK\"} 7\n" },
	{ "alpha: a flag before the device", proc_interrupts_parse,
	    CPUS2 "  1:          5          0           XT-PIC   keyboard\n"
		  "  8:          5          0            TSUNAMI  +timer\n",
	    0,
	    "hiwat_interrupts_total{device=\"keyboard\",irq=\"1\"} 5\n"
	    "hiwat_interrupts_total{device=\"+timer\",irq=\"8\"} 5\n" },
	{ "blanks folded into one", proc_interrupts_parse,
	    "CPU0 CPU1\n0: 18 1 IO-APIC 2-edge timer\n12: 18 2 IO-APIC-edge i8042\n24: 0 3 PCI-MSI 344064-edge PCIe PME, "
	    "pciehp\n"
	    "25: 1 1 GICv2 29 Level arch_timer\n26: 1 0 IO-APIC 9-fasteoi\nLOC: 1 2 Local timer interrupts\n",
	    0,
	    "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 19\n"
	    "hiwat_interrupts_total{device=\"i8042\",irq=\"12\"} 20\n"
	    "hiwat_interrupts_total{device=\"PCIe PME, pciehp\",irq=\"24\"} 3\n"
	    "hiwat_interrupts_total{device=\"arch_timer\",irq=\"25\"} 2\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"26\"} 1\n"
	    "hiwat_interrupts_total{device=\"Local timer interrupts\",irq=\"LOC\"} 3\n" },
	{ "prompt, CRLF, tabs", proc_interrupts_parse,
	    "root@host:~# cat /proc/interrupts\r\n\t   CPU0\t      CPU1\r\n  0:\t1\t2\tIO-APIC-edge\ttimer\r\nroot@host:~# ",
	    0, "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 3\n" },
	{ "a row too short", proc_interrupts_parse,
	    CPUS2 "  0:          1          2   IO-APIC-edge      timer\n  1:          1   IO-APIC-edge      i8042\n", 0,
	    "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 3\n"
	    "!hiwat_interrupts_total{device=\"i8042\",irq=\"1\"}\n"
	    "hiwat_parse_unknown_lines_total{source=\"proc-interrupts\"} 1\n" },
	{ "breaks off inside a number", proc_interrupts_parse,
	    CPUS2 "  0:          1          2   IO-APIC-edge      timer\nLOC:      12345        67", 0,
	    "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 3\n!hiwat_interrupts_total{device=\"\",irq=\"LOC\"}\n" },
	{ "breaks off after one number", proc_interrupts_parse,
	    CPUS2 "  0:          1          2   IO-APIC-edge      timer\nLOC:      12345", 0,
	    "!hiwat_interrupts_total{device=\"\",irq=\"LOC\"}\n" },
	{ "whole but for the last newline", proc_interrupts_parse,
	    CPUS2 "  0:          1          2   IO-APIC-edge      timer\nMIS:          7", 0,
	    "hiwat_interrupts_total{device=\"\",irq=\"MIS\"} 7\n" },
	{ "two dumps: the last", proc_interrupts_parse,
	    CPUS2 "  0:          1          2   IO-APIC-edge      timer\nMIS:          7\n" CPUS2
		  "  0:          5          2   IO-APIC-edge      timer\nMIS:          8\n",
	    0, "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 7\nhiwat_interrupts_total{device=\"\",irq=\"MIS\"} 8\n" },
	{ "two dumps, the last breaks off", proc_interrupts_parse,
	    CPUS2 "  0:          1          2   IO-APIC-edge      timer\nERR:          0\nMIS:          7\n" CPUS2
		  "  0:          5       ",
	    0, "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 3\nhiwat_interrupts_total{device=\"\",irq=\"MIS\"} 7\n" },
	{ "two dumps, the last breaks off and an editor ended its line", proc_interrupts_parse,
	    CPUS2
	    "  0:          1          2   IO-APIC-edge      timer\nLOC:          1          2   Local timer interrupts\n"
	    "TLB:          1          2   TLB shootdowns\nMCE:          1          2   Machine check exceptions\n"
	    "ERR:          0\nMIS:          7\n" CPUS2
	    "  0:          5          6   IO-APIC-edge      timer\n  1:          5\n",
	    0, "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 3\nhiwat_interrupts_total{device=\"\",irq=\"MIS\"} 7\n" },
	{ "two dumps, the last breaks off inside its last row", proc_stat_parse,
	    "cpu  100 2 300 4000\ncpu0 100 2 300 4000\nprocs_running 1\nsoftirq 11 1 1 1 1 1 1 1 1 1 2\n"
	    "cpu  200 2 300 4000\ncpu0 200 2 300 4000\nprocs_running 1\nsoftirq 12 1 1",
	    0, "hiwat_cpu_seconds_total{mode=\"user\"} 1\nhiwat_softirqs_total{vector=\"RCU\"} 2\n" },
	{ "the same labels twice are one series", proc_interrupts_parse,
	    CPUS2 "  3:          1          2   XT-PIC  a\n  3:          1          2   XT-PIC  a\n", 0,
	    "hiwat_interrupts_total{device=\"a\",irq=\"3\"} 6\n" },
	{ "softirqs are another kind", proc_interrupts_parse,
	    "                    CPU0       CPU1       \n          HI:          0          1\n       TIMER:          1      "
	    "    1\n",
	    HIWAT_E_NODATA, "" },
	{ "only a header", proc_interrupts_parse, CPUS2, HIWAT_E_NODATA, "" },
	{ "vmstat -i is another kind", proc_interrupts_parse,
	    "interrupt                          total       rate\nirq1: atkbd0                           2          0\n",
	    HIWAT_E_NODATA, "" },
	{ "empty", proc_interrupts_parse, "", HIWAT_E_NODATA, "" },
	{ "softirqs", proc_softirqs_parse,
	    "                    CPU0       CPU1       \n          HI:          0          1\n    IRQ_POLL:         10      "
	    "   11\n",
	    0, "hiwat_softirqs_total{vector=\"HI\"} 1\nhiwat_softirqs_total{vector=\"IRQ_POLL\"} 21\n" },
	/* ------------------------------------------------------------------------------------------------------ stat */
	{ "2.6.32: nine columns", proc_stat_parse,
	    "cpu  100 2 300 4000 50 6 7 8 9\ncpu0 100 2 300 4000 50 6 7 8 9\nintr 555 1 2 3\nctxt 1\nbtime "
	    "1300000000\nprocesses 2\n"
	    "procs_running 3\nprocs_blocked 0\nsoftirq 66 1 2 3 4 5 6 7 8 9 21\n",
	    0,
	    "hiwat_cpu_seconds_total{mode=\"user\"} 1\nhiwat_cpu_seconds_total{mode=\"nice\"} 0.02\n"
	    "hiwat_cpu_seconds_total{mode=\"system\"} 3\nhiwat_cpu_seconds_total{mode=\"idle\"} 40\n"
	    "hiwat_cpu_seconds_total{mode=\"iowait\"} 0.5\nhiwat_cpu_seconds_total{mode=\"interrupt\"} 0.06\n"
	    "hiwat_cpu_seconds_total{mode=\"softirq\"} 0.07\nhiwat_cpu_seconds_total{mode=\"steal\"} 0.08\n"
	    "hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"steal\"} 0.08\nhiwat_interrupts_all_total 555\n"
	    "hiwat_boot_time_seconds 1300000000\nhiwat_run_queue 3\nhiwat_softirqs_total{vector=\"NET_RX\"} 4\n"
	    "hiwat_softirqs_total{vector=\"RCU\"} 21\n!hiwat_parse_unknown_lines_total{source=\"proc-stat\"}\n" },
	{ "2.4: four columns, the rest is not known", proc_stat_parse,
	    "cpu  100 2 300 4000\npage 1 2\nswap 1 2\nintr 5 1\nbtime 1\n", 0,
	    "hiwat_cpu_seconds_total{mode=\"idle\"} 40\n!hiwat_cpu_seconds_total{mode=\"iowait\"}\n"
	    "!hiwat_parse_unknown_lines_total{source=\"proc-stat\"}\n" },
	{ "gaps between CPUs, CRLF, a prompt", proc_stat_parse,
	    "$ cat /proc/stat\r\ncpu  1 0 0 0 0 0 0 0 0 0\r\ncpu0 1 0 0 0 0 0 0 0 0 0\r\ncpu12 1 0 0 0 0 0 0 0 0 0\r\nintr "
	    "7\r\n$ ",
	    0, "hiwat_cpu_core_seconds_total{cpu=\"12\",mode=\"user\"} 0.01\nhiwat_interrupts_all_total 7\n" },
	{ "breaks off inside a row", proc_stat_parse, "cpu  100 2 300 4000 50 6 7 8 9 0\ncpu0 100 2 30", 0,
	    "hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"nice\"} 0.02\n"
	    "!hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"system\"}\n" },
	{ "breaks off inside intr", proc_stat_parse, "cpu  100 2 300 4000 50 6 7 8 9 0\nintr 12345", 0,
	    "!hiwat_interrupts_all_total\n" },
	{ "whole but for the last newline", proc_stat_parse, "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10", 0,
	    "hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"steal\"} 0.08\n" },
	{ "two dumps: the last", proc_stat_parse, "cpu  1 2 3 4\nintr 5 1\ncpu  2 2 3 4\nintr 6 1\n", 0,
	    "hiwat_cpu_seconds_total{mode=\"user\"} 0.02\nhiwat_interrupts_all_total 6\n" },
	{ "softirqs of another kernel cannot be named", proc_stat_parse, "cpu  1 2 3 4\nsoftirq 6 1 2 3\n", 0,
	    "!hiwat_softirqs_total{vector=\"HI\"}\nhiwat_parse_unknown_lines_total{source=\"proc-stat\"} 1\n" },
	{ "a number too large", proc_stat_parse, "cpu  1 2 3 4\ncpu0 99999999999999999999 2 3 4\n", 0,
	    "!hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"user\"}\n"
	    "hiwat_parse_unknown_lines_total{source=\"proc-stat\"} 1\n" },
	{ "rows out of order, one twice: the first", proc_stat_parse,
	    "cpu  1 2 3 4\ncpu16002 1 2 3 4\ncpu0 1 2 3 4\ncpu0 5 2 3 4\n", 0,
	    "hiwat_cpu_core_seconds_total{cpu=\"0\",mode=\"user\"} 0.01\n" },
	{ "no stat", proc_stat_parse, "cpu family\t: 6\nmodel\t: 1\n", HIWAT_E_NODATA, "" },
	/* ----------------------------------------------------------------------------------------------- net/netstat */
	{ "pairs by place", proc_net_netstat_parse,
	    "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPMemoryPressures\nTcpExt: 1 2 3 4\nIpExt: "
	    "InNoRoutes\nIpExt: 0\n",
	    0,
	    "hiwat_listen_overflows_total 2\nhiwat_syn_cookies_sent_total 1\nhiwat_tcp_events_total{event=\"ListenDrops\"} "
	    "3\n"
	    "hiwat_tcp_events_total{event=\"TCPMemoryPressures\"} 4\n!hiwat_tcp_events_total{event=\"ListenOverflows\"}\n" },
	{ "names cut at the width of a terminal", proc_net_netstat_parse,
	    "TcpExt: ListenOverflows ListenDrops TCPMemoryPressures\nTcpExt: 1 2 3 4\n", 0,
	    "hiwat_listen_overflows_total 1\nhiwat_tcp_events_total{event=\"ListenDrops\"} 2\n"
	    "!hiwat_tcp_events_total{event=\"TCPMemoryPressures\"}\n"
	    "hiwat_parse_unknown_lines_total{source=\"proc-net-netstat\"} 1\n" },
	{ "too few numbers", proc_net_netstat_parse, "TcpExt: ListenOverflows ListenDrops\nTcpExt: 1\n", HIWAT_E_FORMAT,
	    "" },
	{ "breaks off inside the numbers", proc_net_netstat_parse,
	    "TcpExt: ListenOverflows ListenDrops TCPRcvQDrop\nTcpExt: 1 2", 0,
	    "hiwat_listen_overflows_total 1\n!hiwat_tcp_events_total{event=\"ListenDrops\"}\n" },
	{ "two dumps, the second breaks off", proc_net_netstat_parse,
	    "TcpExt: ListenOverflows ListenDrops\nTcpExt: 1 2\nTcpExt: ListenOverflows ListenDrops\nTcpExt: 5", 0,
	    "hiwat_listen_overflows_total 1\nhiwat_tcp_events_total{event=\"ListenDrops\"} 2\n" },
	{ "with net/snmp before it", proc_net_netstat_parse,
	    "Tcp: RtoAlgorithm MaxConn\nTcp: 1 -1\nTcpExt: ListenOverflows\nTcpExt: 18446744073709551615\n", 0,
	    "hiwat_listen_overflows_total 18446744073709551615\n"
	    "!hiwat_parse_unknown_lines_total{source=\"proc-net-netstat\"}\n" },
	{ "net/snmp alone", proc_net_netstat_parse, "Tcp: RtoAlgorithm MaxConn\nTcp: 1 -1\n", HIWAT_E_NODATA, "" },
	{ "names alone", proc_net_netstat_parse, "TcpExt: ListenOverflows\n", HIWAT_E_NODATA, "" },
	/* -------------------------------------------------------------------------------------------------- sockstat */
	{ "sockstat and sockstat6", proc_sockstat_parse,
	    "sockets: used 290\r\nTCP: inuse 35 orphan 1 tw 4 alloc 59 mem -3\r\nUDP: inuse 12\r\nRAW: inuse 2\r\n"
	    "FRAG: inuse 1 memory 4096\r\nTCP6: inuse 7\r\nFRAG6: inuse 0 memory 9\r\n",
	    0,
	    "hiwat_sockets{protocol=\"all\",state=\"used\"} 290\nhiwat_socket_memory_bytes{protocol=\"tcp\"} 0\n"
	    "!hiwat_socket_memory_bytes{protocol=\"udp\"}\nhiwat_socket_memory_bytes{protocol=\"frag\"} 4096\n"
	    "hiwat_sockets{protocol=\"tcp\",state=\"orphan\"} 1\nhiwat_sockets{protocol=\"tcp6\",state=\"inuse\"} 7\n" },
	{ "breaks off inside a row", proc_sockstat_parse, "sockets: used 290\nTCP: inuse 35 orphan 1", 0,
	    "hiwat_sockets{protocol=\"tcp\",state=\"inuse\"} 35\n!hiwat_sockets{protocol=\"tcp\",state=\"orphan\"}\n" },
	{ "whole but for the last newline", proc_sockstat_parse, "sockets: used 290\nFRAG: inuse 0 memory 77", 0,
	    "hiwat_socket_memory_bytes{protocol=\"frag\"} 77\n" },
	{ "a word twice in a row: the first", proc_sockstat_parse, "TCP: inuse 5 inuse 6 mem 1 mem 2\n", 0,
	    "hiwat_sockets{protocol=\"tcp\",state=\"inuse\"} 5\nhiwat_socket_memory_bytes{protocol=\"tcp\"} 4096\n" },
	{ "sockstat(1) of FreeBSD is another kind", proc_sockstat_parse,
	    "USER     COMMAND    PID   FD PROTO  LOCAL ADDRESS         FOREIGN ADDRESS\nroot     sshd       1     3  tcp4   "
	    "*:22     *:*\n",
	    HIWAT_E_NODATA, "" },
	/* ---------------------------------------------------------------------------------------------- softnet_stat */
	{ "2.6.32: nine columns", proc_softnet_stat_parse,
	    "ffffffff 00000001 0000000a 00000000 00000000 00000000 00000000 00000000 00000000\n"
	    "00000001 00000002 00000001 00000000 00000000 00000000 00000000 00000000 00000000",
	    0,
	    "hiwat_softnet_processed_total 4294967296\nhiwat_softnet_dropped_total 3\nhiwat_softnet_squeezed_total 11\n" },
	{ "two dumps with CPU numbers: the last", proc_softnet_stat_parse,
	    "00000001 00000002 00000001 0 0\n"
	    "00000001 00000002 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	    "00000000\n"
	    "00000001 00000002 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	    "00000001\n"
	    "00000003 00000002 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	    "00000000\n",
	    0, "hiwat_softnet_processed_total 3\nhiwat_parse_unknown_lines_total{source=\"softnet-stat\"} 1\n" },
	{ "two dumps with CPU numbers, the last breaks off", proc_softnet_stat_parse,
	    "00000001 00000002 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	    "00000000\n"
	    "00000001 00000002 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	    "00000001\n"
	    "00000001 00000002 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	    "00000002\n"
	    "00000009 00000002 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	    "00000000\n"
	    "00000009 000000",
	    0, "hiwat_softnet_processed_total 3\nhiwat_softnet_dropped_total 6\n" },
	{ "two dumps without CPU numbers: a prompt parts them", proc_softnet_stat_parse,
	    "$ cat /proc/net/softnet_stat\n"
	    "00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
	    "00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
	    "$ cat /proc/net/softnet_stat\n"
	    "00000010 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
	    "00000020 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n",
	    0, "hiwat_softnet_processed_total 48\nhiwat_softnet_dropped_total 3\n" },
	{ "decimal words are another kind", proc_softnet_stat_parse, "1 2 3 4 5 6 7 8 9 10\n", HIWAT_E_NODATA, "" },
	/* --------------------------------------------------------------------------------------------- nf_conntrack */
	{ "2.6.32: blanks at the end of rows", proc_nf_conntrack_stat_parse,
	    "entries  searched found new invalid ignore delete delete_list insert insert_failed drop early_drop icmp_error  "
	    "expect_new "
	    "expect_create expect_delete\n"
	    "000000ff  00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008 00000009 0000000a 0000000b "
	    "0000000c  "
	    "00000000 00000000 00000000 \n"
	    "000000ff  ffffffff 00000002 00000003 00000004 00000005 00000006 00000007 00000008 00000009 0000000a 0000000b "
	    "0000000c  "
	    "00000000 00000000 00000000 \n",
	    0,
	    "hiwat_conntrack_entries 255\nhiwat_conntrack_events_total{event=\"searched\"} 4294967296\n"
	    "hiwat_conntrack_events_total{event=\"early_drop\"} 22\n!hiwat_conntrack_events_total{event=\"entries\"}\n"
	    "!hiwat_conntrack_events_total{event=\"search_restart\"}\n" },
	{ "newest names, a row that breaks off", proc_nf_conntrack_stat_parse,
	    "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error  "
	    "expect_new "
	    "expect_create expect_delete search_restart\n"
	    "00000010  00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008 00000009 0000000a 0000000b "
	    "0000000c  "
	    "00000000 00000000 00000000 00000001\n"
	    "00000010  00000001 000",
	    0, "hiwat_conntrack_entries 16\nhiwat_conntrack_events_total{event=\"clashres\"} 1\n" },
	{ "a name twice: the first", proc_nf_conntrack_stat_parse,
	    "entries found found insert_failed\n00000001 00000002 00000003 00000004\n", 0,
	    "hiwat_conntrack_events_total{event=\"found\"} 2\n" },
	{ "arp_cache is another kind", proc_nf_conntrack_stat_parse,
	    "entries  allocs destroys hash_grows  lookups hits  res_failed\n00000001  00000001 00000001 00000001  00000001 "
	    "00000001  00000001\n",
	    HIWAT_E_NODATA, "" },
	/* ------------------------------------------------------------------------------------------------- small files */
	{ "net/dev: no blank behind the colon, an alias", proc_net_dev_parse,
	    "Inter-|   Receive                                                |  Transmit\n"
	    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
	    "carrier compressed\n"
	    "  eth0:1234567890    31    1    2    0     0          0         0     3293      32    3    4    0     0       "
	    "0          0\n"
	    "eth0:1:       0       5    0    0    0     0          0         0        0       0    0    0    0     0       "
	    "0          0\n",
	    0,
	    "hiwat_netif_bytes_total{direction=\"in\",interface=\"eth0\"} 1234567890\n"
	    "hiwat_netif_drops_total{direction=\"in\",interface=\"eth0\"} 2\n"
	    "hiwat_netif_errors_total{direction=\"out\",interface=\"eth0\"} 3\n"
	    "hiwat_netif_packets_total{direction=\"in\",interface=\"eth0:1\"} 5\n" },
	{ "diskstats: 11, 15 and 17 numbers", proc_diskstats_parse,
	    "   8       0 sda 10 1 80 5 20 2 160 6 3 1500 9\n   8      16 sdb 10 1 80 5 20 2 160 6 3 1500 9 7 0 0 0\n"
	    " 259       0 nvme0n1 10 1 80 5 20 2 160 6 3 1500 9 7 0 0 0 4 1\n   8       1 sda1 1 2 3 4\n",
	    0,
	    "hiwat_disk_completed_total{device=\"sda\"} 30\nhiwat_disk_completed_total{device=\"sdb\"} 37\n"
	    "hiwat_disk_completed_total{device=\"nvme0n1\"} 41\nhiwat_disk_in_flight{device=\"sda\"} 3\n"
	    "hiwat_disk_busy_seconds_total{device=\"sda\"} 1.5\n!hiwat_disk_completed_total{device=\"sda1\"}\n" },
	{ "meminfo", proc_meminfo_parse,
	    "MemTotal:       2048 kB\nSwapTotal:       10 kB\nSwapFree:         4 kB\nHugePages_Total: 0\n", 0,
	    "hiwat_memory_bytes 2097152\nhiwat_swap_bytes_limit 10240\nhiwat_swap_bytes_used 6144\n" },
	{ "meminfo without swap", proc_meminfo_parse,
	    "MemTotal:       2048 kB\nSwapTotal:       0 kB\nSwapFree:         0 kB\n", 0,
	    "!hiwat_swap_bytes_limit\n!hiwat_swap_bytes_used\n" },
	{ "file-nr", proc_file_nr_parse, "391\t1\t2466116\n", 0, "hiwat_files_open 390\nhiwat_files_limit 2466116\n" },
	{ "file-nr without limit", proc_file_nr_parse, "391\t0\t9223372036854775807\n", 0,
	    "hiwat_files_open 391\n!hiwat_files_limit\n" },
	{ "loadavg", proc_loadavg_parse, "0.43 0.19 0.07 2/93 10018\n", 0, "hiwat_run_queue 2\nhiwat_processes 93\n" },
	{ "uptime is not loadavg", proc_loadavg_parse, "1234.5 234.5\n", HIWAT_E_NODATA, "" },
	{ "names that are one after cleaning", proc_softirqs_parse, CPUS2 "HI: 1 1\n\001: 1 1\n\002: 2 2\n", 0,
	    "hiwat_softirqs_total{vector=\"?\"} 6\n" },
	{ "interrupts are not softirqs", proc_softirqs_parse, CPUS2 "  0:          1          2   XT-PIC  timer\n",
	    HIWAT_E_NODATA, "" },
};

START_TEST(row)
{
	parsed_row_check(&rows[_i]);
}
END_TEST

static const char *const kinds[] = { "proc-interrupts", "proc-stat", "proc-net-netstat", "sockstat", "softnet-stat",
	"nf-conntrack-stat" };

START_TEST(any_cut_and_any_unknown_line)
{
	parsed_corpus_properties(kinds[_i]);
}
END_TEST

static const struct {
	const char *line, *device, *mount, *type;
} mount_rows[] = {
	{ "proc /proc proc rw 0 0\n", "proc", "/proc", "proc" },
	{ "//h/a\\040b /mnt/x\\011y\\134z cifs rw 0 0\n", "//h/a b", "/mnt/x\ty\\z", "cifs" },
	{ "a\\04 /b\\ c\\0400 rw 0 0\n", "a\\04", "/b\\", "c 0" },
	{ "half a row\nproc /proc proc rw 0 0\n", "proc", "/proc", "proc" },
};

START_TEST(mounts)
{
	struct text rest = text_of(mount_rows[_i].line);
	struct proc_mount m;
	struct arena arena;

	arena_init(&arena, 1 << 16);
	ck_assert_int_eq(proc_mounts_next(&rest, &arena, &m), 1);
	ck_assert_str_eq(m.device, mount_rows[_i].device);
	ck_assert_str_eq(m.mount, mount_rows[_i].mount);
	ck_assert_str_eq(m.type, mount_rows[_i].type);
	ck_assert_int_eq(proc_mounts_next(&rest, &arena, &m), 0);
	arena_fini(&arena);
}
END_TEST

/* 128 CPUs and 300 rows, as on a big host: nothing is lost and the arena stays small. */
START_TEST(many_cpus)
{
	struct buf text, out;

	buf_init(&text, 4 << 20);
	buf_init(&out, 4 << 20);
	for (int cpu = 0; cpu < 128; cpu++)
		buf_printf(&text, "       CPU%-3d", cpu);
	for (int irq = 0; irq < 300; irq++) {
		buf_printf(&text, "\n%4d:", irq);
		for (int cpu = 0; cpu < 128; cpu++)
			buf_printf(&text, " %10d", irq);
		buf_printf(&text, "  IR-PCI-MSI %d-edge      nvme0q%d", irq + 512000, irq);
	}
	buf_puts(&text, "\n");
	ck_assert_int_eq(parsed_by(proc_interrupts_parse, (struct text){ text.data, text.len }, &out), HIWAT_OK);
	const char *mismatch = parsed_mismatch(&out,
	    "hiwat_interrupts_total{device=\"nvme0q299\",irq=\"299\"} 38272\n"
	    "hiwat_interrupts_total{device=\"nvme0q0\",irq=\"0\"} 0\n");
	ck_assert_msg(mismatch == NULL, "%s", mismatch);
	buf_fini(&out);
	buf_fini(&text);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("proc");
	TCase *tc = tcase_create("proc");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_loop_test(tc, mounts, 0, ARRAY_LEN(mount_rows));
	tcase_add_test(tc, many_cpus);
	tcase_add_loop_test(tc, any_cut_and_any_unknown_line, 0, ARRAY_LEN(kinds));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
