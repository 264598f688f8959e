#include "unit.h"

#include <string.h>

#include "arena.h"
#include "err.h"
#include "parsed.h"
#include "proc.h"

#define CPUS2 "           CPU0       CPU1       \n"

/* Expected: lines that must be there, "!series" for those that must not. */
static const struct {
	const char *name;
	parse_fn *parse;
	const char *text;
	int err;
	const char *expected;
} rows[] = {
	/* ------------------------------------------------------------------------------------------------ interrupts */
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
	    "CPU0 CPU1\n0: 18 1 IO-APIC 2-edge timer\n12: 18 2 IO-APIC-edge i8042\n24: 0 3 PCI-MSI 344064-edge PCIe PME, pciehp\n"
	    "25: 1 1 GICv2 29 Level arch_timer\n26: 1 0 IO-APIC 9-fasteoi\nLOC: 1 2 Local timer interrupts\n",
	    0,
	    "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 19\n"
	    "hiwat_interrupts_total{device=\"i8042\",irq=\"12\"} 20\n"
	    "hiwat_interrupts_total{device=\"PCIe PME, pciehp\",irq=\"24\"} 3\n"
	    "hiwat_interrupts_total{device=\"arch_timer\",irq=\"25\"} 2\n"
	    "hiwat_interrupts_total{device=\"\",irq=\"26\"} 1\n"
	    "hiwat_interrupts_total{device=\"Local timer interrupts\",irq=\"LOC\"} 3\n" },
	{ "prompt, CRLF, tabs", proc_interrupts_parse,
	    "root@host:~# cat /proc/interrupts\r\n\t   CPU0\t      CPU1\r\n  0:\t1\t2\tIO-APIC-edge\ttimer\r\nroot@host:~# ", 0,
	    "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 3\n" },
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
	    0,
	    "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 7\nhiwat_interrupts_total{device=\"\",irq=\"MIS\"} 8\n" },
	{ "two dumps, the last breaks off", proc_interrupts_parse,
	    CPUS2 "  0:          1          2   IO-APIC-edge      timer\nERR:          0\nMIS:          7\n" CPUS2
		  "  0:          5       ",
	    0,
	    "hiwat_interrupts_total{device=\"timer\",irq=\"0\"} 3\nhiwat_interrupts_total{device=\"\",irq=\"MIS\"} 7\n" },
	{ "the same labels twice are one series", proc_interrupts_parse,
	    CPUS2 "  3:          1          2   XT-PIC  a\n  3:          1          2   XT-PIC  a\n", 0,
	    "hiwat_interrupts_total{device=\"a\",irq=\"3\"} 6\n" },
	{ "softirqs are another kind", proc_interrupts_parse,
	    "                    CPU0       CPU1       \n          HI:          0          1\n       TIMER:          1          1\n",
	    HIWAT_E_NODATA, "" },
	{ "only a header", proc_interrupts_parse, CPUS2, HIWAT_E_NODATA, "" },
	{ "vmstat -i is another kind", proc_interrupts_parse,
	    "interrupt                          total       rate\nirq1: atkbd0                           2          0\n",
	    HIWAT_E_NODATA, "" },
	{ "empty", proc_interrupts_parse, "", HIWAT_E_NODATA, "" },
	{ "softirqs", proc_softirqs_parse,
	    "                    CPU0       CPU1       \n          HI:          0          1\n    IRQ_POLL:         10         11\n", 0,
	    "hiwat_softirqs_total{vector=\"HI\"} 1\nhiwat_softirqs_total{vector=\"IRQ_POLL\"} 21\n" },
	{ "interrupts are not softirqs", proc_softirqs_parse, CPUS2 "  0:          1          2   XT-PIC  timer\n", HIWAT_E_NODATA,
	    "" },
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

static const char *const kinds[] = { "proc-interrupts", "proc-stat", "proc-net-netstat", "sockstat", "softnet-stat",
	"nf-conntrack-stat" };

START_TEST(any_cut_and_any_unknown_line)
{
	parsed_corpus_properties(kinds[_i]);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("proc");
	TCase *tc = tcase_create("proc");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_loop_test(tc, any_cut_and_any_unknown_line, 0, ARRAY_LEN(kinds));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
