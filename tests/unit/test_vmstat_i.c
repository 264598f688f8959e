#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "err.h"
#include "interrupt_rows.h"
#include "parsed.h"
#include "vmstat.h"

#define HEAD "interrupt                          total       rate\n"
#define ROW(irq, device, n) "hiwat_interrupts_total{device=\"" device "\",irq=\"" irq "\"} " n "\n"
#define NO_ROW(irq, device) "!hiwat_interrupts_total{device=\"" device "\",irq=\"" irq "\"}\n"
#define ALL(n) "hiwat_interrupts_all_total " n "\n"
#define NO_ALL "!hiwat_interrupts_all_total\n"
#define NO_UNKNOWN "!hiwat_parse_unknown_lines_total{source=\"vmstat-i\"}\n"

static const struct {
	const char *name;
	parse_fn *parse;
	const char *text;
	int err;
	const char *expected;
} rows[] = {
	/* ----------------------------------------------------------------------------------------------------- names */
	{ "FreeBSD names", vmstat_i_parse,
	    HEAD "irq16: mpt0 ehci0+                   512          0\n"
		 "irq17: uhci0+++*                      10          0\n"
		 "irq18: +                               5          0\n"
		 "irq256: em0:rx0             123456789012         58\n"
		 "irq19:                                 4          0\n"
		 "stray irq7                             3          0\n"
		 "cpu0: timer                   1653892411       1999\n"
		 "cpu1:timer                            58          0\n"
		 "Total                         4273367783       5166\n",
	    0,
	    ROW("16", "mpt0 ehci0+", "512") ROW("17", "uhci0+++*", "10") ROW("18", "+", "5")
		ROW("256", "em0:rx0", "123456789012") ROW("19", "", "4") ROW("7", "stray", "3")
		    ROW("", "cpu0: timer", "1653892411") ROW("", "cpu1:timer", "58") ALL("4273367783") NO_UNKNOWN },
	{ "FreeBSD 4 names", vmstat_i_parse,
	    "interrupt                   total       rate\nata0 irq14                  58          0\nmux irq11             "
	    " 18213417         22\n"
	    "clk irq0               90318824        100\nTotal                 108532299        122\n",
	    0, ROW("14", "ata0", "58") ROW("11", "mux", "18213417") ROW("0", "clk", "90318824") ALL("108532299") },
	{ "FreeBSD on arm64", vmstat_i_parse,
	    HEAD "gic0,p11:-ic_timer0                55550         10\ngic0,s29: mmc0                       7          0\n"
		 "cpu0:rendezvous                        9          0\n",
	    0, ROW("gic0,p11", "-ic_timer0", "55550") ROW("gic0,s29", "mmc0", "7") ROW("", "cpu0:rendezvous", "9") },
	{ "DragonFly -v: summed over CPUs", vmstat_i_parse,
	    "interrupt                total       rate\nirq16    0: ahci0           100          1\nirq16    1: ahci0       "
	    "     11          0\n"
	    "clock                      5          0\nTotal                    116          1\n",
	    0, ROW("16", "ahci0", "111") ROW("", "clock", "5") ALL("116") },
	{ "OpenBSD, names cut alike add up", vmstat_i_parse,
	    "interrupt                       total     rate\nirq0/clock                   89231744      199\n"
	    "irq114/nvme0:lon                   10        0\nirq114/nvme0:lon                    5        0\n"
	    "clock                               4        0\nTotal                      2435331557     5461\n",
	    0, ROW("0", "clock", "89231744") ROW("114", "nvme0:lon", "15") ROW("", "clock", "4") ALL("2435331557") },
	{ "NetBSD", vmstat_i_parse,
	    "interrupt                                     total     rate\ncpu0 timer                                 "
	    "90318824      100\n"
	    "ioapic0 pin 19                               903188        1\na name of more than thirty-four letters here     "
	    " 12        0\n"
	    "Total                                      91222024      101\n",
	    0,
	    ROW("", "cpu0 timer", "90318824") ROW("", "ioapic0 pin 19", "903188")
		ROW("", "a name of more than thirty-four letters here", "12") ALL("91222024") },
	{ "NetBSD -e: interrupts only", vmstat_i_parse,
	    "event                                         total     rate type\nTLB shootdown                               "
	    "    512        0 intr\n"
	    "vmem static_bt_count                            200        0 misc\ncpu0 page fault                             "
	    "      1        0 trap\n"
	    "Total                                           713        0\n",
	    0,
	    ROW("", "TLB shootdown", "512") NO_ROW("", "vmem static_bt_count") NO_ROW("", "cpu0 page fault")
		NO_ALL NO_UNKNOWN },

	/* ---------------------------------------------------------------------------------------------------- blocks */
	{ "-w: the first block is since boot", vmstat_i_parse,
	    HEAD "irq1: atkbd0                        1000          0\nTotal                               1000          0\n"
		 "irq1: atkbd0                           6          6\nirq9: acpi0                            1          1\n"
		 "Total                                  7          7\n",
	    0, ROW("1", "atkbd0", "1000") ALL("1000") NO_ROW("9", "acpi0") NO_UNKNOWN },
	{ "two dumps, each with -w: the first block of the last", vmstat_i_parse,
	    HEAD "irq1: atkbd0    1000    0\nTotal    1000    0\nirq1: atkbd0    6    6\nTotal    6    6\n$ vmstat -i -w 1 "
		 "-c 2\n" HEAD "irq1: atkbd0    2000    0\nTotal    2000    0\nirq1: atkbd0    7    7\nTotal    7    7\n",
	    0, ROW("1", "atkbd0", "2000") ALL("2000") },
	{ "two dumps, the last cut: the one before", vmstat_i_parse,
	    HEAD
	    "irq1: atkbd0                        1000          0\nTotal                               1000          0\n" HEAD
	    "irq1: atkbd0                        1006          0\nirq9: acpi0                ",
	    0, ROW("1", "atkbd0", "1000") ALL("1000") NO_ROW("9", "acpi0") },
	{ "no Total: the last", vmstat_i_parse, HEAD "irq1: a 1 0\n" HEAD "irq1: a 2 0\n", 0, ROW("1", "a", "2") NO_ALL },
	{ "no header", vmstat_i_parse, "irq1: atkbd0 6 0\nirq4: uart0 3 0\nTotal 9 0\n", 0,
	    ROW("4", "uart0", "3") ALL("9") },

	/* ----------------------------------------------------------------------------------------- what people save */
	{ "prompt, CRLF, blanks squeezed, no last newline", vmstat_i_parse,
	    "[root@gw ~]# vmstat -i\r\ninterrupt total rate\r\nirq273: igb1:que 0 1291 1\r\nTotal 11978149 93", 0,
	    ROW("273", "igb1:que 0", "1291") ALL("11978149") NO_UNKNOWN },
	{ "tabs", vmstat_i_parse, "interrupt\t\t\ttotal\trate\nirq273: igb1:que 0\t1291\t1\n", 0,
	    ROW("273", "igb1:que 0", "1291") },
	{ "cut behind the total: it ends in its column", vmstat_i_parse,
	    HEAD "irq273: igb1:que 0                  1291          1\nirq274: igb1:que 1                  1245", 0,
	    ROW("273", "igb1:que 0", "1291") ROW("274", "igb1:que 1", "1245") },
	{ "cut inside the total", vmstat_i_parse,
	    HEAD "irq273: igb1:que 0                  1291          1\nirq274: igb1:que 1                  124", 0,
	    ROW("273", "igb1:que 0", "1291") NO_ROW("274", "igb1:que 1") NO_ROW("274", "igb1:que") },
	{ "cut inside the rate", vmstat_i_parse, HEAD "irq274: igb1:que 1                  1245         1", 0,
	    ROW("274", "igb1:que 1", "1245") },
	{ "cut inside Total", vmstat_i_parse,
	    HEAD "irq4: uart0                            3          0\nTotal                             1197", 0,
	    ROW("4", "uart0", "3") NO_ALL },
	{ "squeezed and cut with numbered names: nothing certain", vmstat_i_parse,
	    "interrupt total rate\nirq273: igb1:que 0 1291 1\nirq274: igb1:que 1 12", 0, NO_ROW("274", "igb1:que") },
	{ "squeezed, no last newline", vmstat_i_parse, "interrupt total rate\nirq1: atkbd0 6 0\nirq4: uart0 3 0", 0,
	    ROW("4", "uart0", "3") },
	{ "broken before the numbers", vmstat_i_parse,
	    HEAD
	    "irq273: igb1:que 0\n                1291          1\nirq4: uart0                            3          0\n",
	    0, ROW("273", "igb1:que 0", "1291") ROW("4", "uart0", "3") NO_UNKNOWN },
	{ "broken before the rate", vmstat_i_parse,
	    HEAD "irq273: igb1:que 0                  1291\n 1\nirq4: uart0                            3\n 0\n", 0,
	    ROW("273", "igb1:que 0", "1291") ROW("4", "uart0", "3") NO_UNKNOWN },
	{ "unknown lines", vmstat_i_parse,
	    HEAD "irq1: a 1 0\nhello\nirq2: b x 0\nirq3: c 99999999999999999999999 0\nTotal 1 0\n", 0,
	    ROW("1", "a", "1") "hiwat_parse_unknown_lines_total{source=\"vmstat-i\"} 3\n" },

	/* ------------------------------------------------------------------------------------------------- refusals */
	{ "empty", vmstat_i_parse, "", HIWAT_E_NODATA, "" },
	{ "only the header", vmstat_i_parse, HEAD, HIWAT_E_NODATA, "" },
	{ "another vmstat", vmstat_i_parse, " procs  memory\n r b w  avm fre\n 0 0 0 100 200\n", HIWAT_E_NODATA, "" },
	{ "netstat -m", vmstat_i_parse, "257/1018/1275 mbufs in use (current/cache/total)\n", HIWAT_E_NODATA, "" },
	{ "denied", vmstat_i_parse, "vmstat: /dev/mem: Permission denied\n", HIWAT_E_DENIED, "" },

	/* ----------------------------------------------------------------------------------------------------- JSON */
	{ "JSON", vmstat_i_json_parse,
	    "{\"__version\": \"1\", \"interrupt-statistics\": {\"interrupt\": [{\"name\":\"irq1: "
	    "atkbd0\",\"total\":6,\"rate\":0}, "
	    "{\"name\":\"cpu0:timer\",\"total\":749022,\"rate\":583},{\"name\":\"irq16: "
	    "\\\"a\\\"\",\"total\":\"7\",\"rate\":0}], "
	    "\"total-interrupts\": 749035, \"total-rate\": 583}}\n",
	    0, ROW("1", "atkbd0", "6") ROW("", "cpu0:timer", "749022") ROW("16", "\\\"a\\\"", "7") ALL("749035") },
	{ "JSON -w: the first list", vmstat_i_json_parse,
	    "{\"interrupt-statistics\":{\"interrupt\":[{\"name\":\"irq1: "
	    "a\",\"total\":6,\"rate\":0}],\"total-interrupts\":6,\"total-rate\":0,"
	    "\"interrupt\":[{\"name\":\"irq1: a\",\"total\":1,\"rate\":1},{\"name\":\"irq2: "
	    "b\",\"total\":1,\"rate\":1}],\"total-interrupts\":2}}",
	    0, ROW("1", "a", "6") NO_ROW("2", "b") ALL("6") },
	{ "JSON, two documents, the last cut", vmstat_i_json_parse,
	    "{\"interrupt-statistics\":{\"interrupt\":[{\"name\":\"irq1: a\",\"total\":6}],\"total-interrupts\":6}}\n"
	    "{\"interrupt-statistics\":{\"interrupt\":[{\"name\":\"irq1: a\",\"total\":8},{\"name\":\"irq2: b\",\"to",
	    0, ROW("1", "a", "6") NO_ROW("2", "b") ALL("6") },
	{ "JSON, cut inside a total", vmstat_i_json_parse,
	    "{\"interrupt-statistics\":{\"interrupt\":[{\"name\":\"irq1: a\",\"total\":6,\"rate\":0},{\"name\":\"irq2: "
	    "b\",\"total\":12",
	    0, ROW("1", "a", "6") NO_ROW("2", "b") NO_ALL },
	{ "JSON, braces that do not balance", vmstat_i_json_parse,
	    "}{\"interrupt-statistics\":{\"interrupt\":[{\"name\":\"irq1: "
	    "a\",\"total\":6,\"rate\":0}]}}}],\"total-interrupts\":6}",
	    0, ROW("1", "a", "6") ALL("6") },
	{ "JSON, broken by a mailer in names", vmstat_i_json_parse,
	    "{\"interrupt-statistics\":{\"interrupt\":[{\"name\":\"irq1:\n"
	    "atkbd0\",\"total\":10,\"rate\":0},{\"name\":\"irq16: uhci0 uhci1\",\"total\":5,\"rate\":0},\n"
	    "{\"name\":\"cpu0:timer\",\"total\":6,\"rate\":0}],\"total-interrupts\":21}}\n",
	    0, ROW("1", "atkbd0", "10") ROW("16", "uhci0 uhci1", "5") ROW("", "cpu0:timer", "6") ALL("21") },
	{ "JSON was asked for, a table came", vmstat_i_json_parse, HEAD "irq1: atkbd0    10          0\n", 0,
	    ROW("1", "atkbd0", "10") },
	{ "JSON of mbufs", vmstat_i_json_parse, "{\"mbuf-statistics\":{\"mbuf-current\":7}}", HIWAT_E_NODATA, "" },
	{ "JSON with other names and totals", vmstat_i_json_parse, "{\"zones\":[{\"name\":\"a\",\"total\":7}]}",
	    HIWAT_E_NODATA, "" },
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

START_TEST(any_cut_and_any_unknown_line)
{
	parsed_corpus_properties("vmstat-i");
	parsed_corpus_prefixes_agree("vmstat-i");
}
END_TEST

/* Thousands of names in pairs: each pair one row. */
START_TEST(many_rows)
{
	enum { NAMES = 5000 };
	Hiwat__Record record = HIWAT__RECORD__INIT;
	struct interrupt_rows r;
	struct arena arena;

	arena_init(&arena, 16u << 20);
	ck_assert_int_eq(interrupt_rows_init(&r, &arena, &record), HIWAT_OK);
	for (unsigned i = 0; i < 2 * NAMES; i++) {
		char name[32];
		int n = snprintf(name, sizeof(name), "irq%u: que %u", i % NAMES, i % NAMES);
		ck_assert_int_eq(interrupt_rows_add(&r, (struct text){ name, (size_t)n }, i), HIWAT_OK);
	}
	ck_assert_uint_eq(record.interrupt->n_sources, NAMES);
	for (unsigned i = 0; i < NAMES; i++)
		ck_assert_uint_eq(record.interrupt->sources[i]->total, 2 * i + NAMES);
	arena_fini(&arena);
}
END_TEST

START_TEST(no_memory)
{
	static const char text[] = HEAD "irq1: atkbd0 6 0\nirq4: uart0 3 0\nTotal 9 0\n";
	struct parse_input in = { .text = TEXT(text) };
	bool has_failed = false;

	for (size_t limit = 1; limit < 4000; limit += 16) {
		Hiwat__Record record = HIWAT__RECORD__INIT;
		struct parse_reason why = { "" };
		struct arena arena;
		arena_init(&arena, limit);
		int err = vmstat_i_parse(&in, &arena, &record, &why);
		ck_assert(err == HIWAT_OK || (err == HIWAT_E_NOMEM && why.text[0] != '\0'));
		has_failed |= err != HIWAT_OK;
		arena_fini(&arena);
	}
	ck_assert(has_failed);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("vmstat_i");
	TCase *tc = tcase_create("vmstat_i");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_test(tc, any_cut_and_any_unknown_line);
	tcase_add_test(tc, many_rows);
	tcase_add_test(tc, no_memory);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
