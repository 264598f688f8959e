/* The kernel log's forms, limits and repeats, and its state: fed in pieces, kept over restarts, bounded. */
#include "kernel_log_rows.h"
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "kernel_log.h"
#include "parsed.h"
#include "record_check.h"

#define LINE "nf_conntrack: table full, dropping packet"
#define ONCE "L conntrack 1;"

static const struct kernel_log_row rows[] = {
	/* Forms */
	{ "bare", LINE "\n", ONCE },
	{ "dmesg", "[   12.345678] " LINE "\n", ONCE },
	{ "dmesg with the caller", "[   12.345678] [  T123] " LINE "\n[   12.345678][    C1] " LINE "\n", "L conntrack 2;" },
	{ "dmesg -T", "[Tue Mar  3 02:11:40 2026] " LINE "\n", ONCE },
	{ "dmesg -H", "[Mar 3 02:11] " LINE "\n[  +0.000012] " LINE "\n", "L conntrack 2;" },
	{ "dmesg -d", "[   12.345678 <    0.000012>] " LINE "\n", ONCE },
	{ "dmesg -x", "kern  :warn  : [   12.345678] " LINE "\ndaemon:info  : [   12.345678] " LINE "\n", ONCE },
	{ "dmesg -r", "<4>[   12.345678] " LINE "\n<30>[   12.345678] " LINE "\n", ONCE },
	{ "dmesg --time-format=iso", "2026-03-03T02:11:40,123456+01:00 " LINE "\n", ONCE },
	{ "dmesg -x --time-format=iso",
	    "kern  :warn  : 2026-03-03T02:11:40,123456+01:00 " LINE "\n"
	    "daemon:info  : 2026-03-03T02:11:40,123456+01:00 " LINE "\n",
	    ONCE },
	{ "dmesg -T in German, French and Japanese",
	    "[Di Mär  3 02:11:40 2026] " LINE "\n[mar. mars  3 02:11:40 2026] " LINE "\n[火  3月  3 02:11:40 2026] " LINE
	    "\n",
	    "L conntrack 3;" },
	{ "journalctl in German, French, Russian and Japanese, with others' lines",
	    "Mär 03 02:11:40 host kernel: " LINE "\ndéc. 03 02:11:40 host kernel: " LINE "\n"
	    "мар 03 02:11:40 host kernel: " LINE "\n12月 03 02:11:40 host kernel: " LINE "\n"
	    "Okt 03 02:11:40 host sshd[12]: " LINE "\n12月 03 02:11:40 host sshd[12]: " LINE "\n",
	    "L conntrack 4;" },
	{ "a retry from April to May in German, and a command a month later",
	    "Apr 30 23:59:58 h kernel: ad4: TIMEOUT - WRITE_DMA retrying (1 retry left) LBA=77\n"
	    "Mai 01 00:00:03 h kernel: ad4: TIMEOUT - WRITE_DMA retrying (0 retries left) LBA=77\n"
	    "Jun 01 00:00:03 h kernel: ad4: TIMEOUT - WRITE_DMA retrying (0 retries left) LBA=77\n",
	    "T ad4 WRITE_DMA 2;" },
	{ "syslog of busybox",
	    "Mar  3 02:11:40 host kern.warn kernel: [   12.345678] " LINE "\n"
	    "Mar  3 02:11:40 host user.info kernel: " LINE "\nMar  3 02:11:40 host daemon.err sshd[12]: " LINE "\n",
	    ONCE },
	{ "syslog", "Mar  3 02:11:40 host kernel: " LINE "\n", ONCE },
	{ "syslog with the kernel's stamp", "Mar 13 02:11:40 host kernel: [   12.345678] " LINE "\n", ONCE },
	{ "syslog of release 4", "Mar  3 02:11:40 host /kernel: " LINE "\n", ONCE },
	{ "syslog of OpenBSD", "Mar  3 02:11:40 host /bsd: " LINE "\n", ONCE },
	{ "syslog of macOS", "Mar  3 02:11:40 host kernel[0]: " LINE "\n", ONCE },
	{ "syslog without a host", "Mar  3 02:11:40 kernel: " LINE "\n", ONCE },
	{ "syslog with facility and level",
	    "Mar  3 02:11:40 <kern.crit> host kernel: " LINE "\nMar  3 02:11:40 <0.4> host kernel: " LINE "\n",
	    "L conntrack 2;" },
	{ "RFC 5424", "<4>1 2026-03-03T02:11:40.123456Z host kernel - - - " LINE "\n", ONCE },
	{ "RFC 5424, others",
	    "<12>1 2026-03-03T02:11:40.123456Z host kernel - - - " LINE "\n<4>1 2026-03-03T02:11:40Z host sshd 12 - - " LINE
	    "\n",
	    "" },
	{ "ISO stamps of syslog", "2026-03-03T02:11:40.123456+01:00 host kernel: [   12.345678] " LINE "\n", ONCE },
	{ "journalctl -o short-iso", "-- Logs begin at Tue 2026-03-03 --\n2026-03-03T02:11:40+0100 host kernel: " LINE "\n",
	    ONCE },
	{ "journalctl -o short-monotonic", "[   12.345678] host kernel: " LINE "\n", ONCE },
	{ "journalctl -o short-full", "Tue 2026-03-03 02:11:40 CET host kernel: " LINE "\n", ONCE },
	{ "journalctl -o short-unix", "1772500300.123456 host kernel: " LINE "\n", ONCE },
	{ "/dev/kmsg",
	    "4,1001,12345678,-;" LINE "\n SUBSYSTEM=net\n DEVICE=n3\n4,1002,12345679,c,caller=T1;" LINE
	    "\n30,1003,12345680,-;" LINE "\n",
	    "L conntrack 2;" },
	{ "the message buffer of BSD", "<2>" LINE "\n<118>" LINE "\n", ONCE },
	{ "CRLF", "Mar  3 02:11:40 host kernel: " LINE "\r\n", ONCE },
	{ "other programs",
	    "Mar  3 02:11:40 host sshd[12]: " LINE "\n"
	    "Mar  3 02:11:40 host smartd[77]: Device: /dev/ad4, ad4: FAILURE - WRITE_DMA timed out LBA=1\n"
	    "Mar  3 02:11:40 host monit[77]: kernel: " LINE "\n"
	    "2026-03-03T02:11:40+0100 host logger[1]: ad4: FAILURE - WRITE_DMA timed out LBA=1\n"
	    "Mar  3 02:11:40 host kernel-watch: " LINE "\n"
	    "Mar  3 02:11:40 host root: " LINE "\n",
	    "" },
	/* The end of the text */
	{ "whole without a newline", "Mar  3 02:11:40 host kernel: " LINE, ONCE },
	{ "cut: disks",
	    "Mar  3 02:11:40 h kernel: ad4: TIMEOUT - WRITE_DMA48 retrying (1 retry left) LBA=318904207\n"
	    "Mar  3 02:11:46 h kernel: ad4: TIMEOUT - WRITE_DMA48 retrying (0 retries left) LBA=3189",
	    "T ad4 WRITE_DMA48 1;" },
	{ "cut: another disk",
	    "ad4: TIMEOUT - WRITE_DMA48 retrying (1 retry left) LBA=318904207\nad6: TIMEOUT - WRITE_DMA48 retry",
	    "T ad4 WRITE_DMA48 1;" },
	{ "cut: CAM",
	    "(da0:mps0:0:3:0): READ(10). CDB: 28 00 00 12 34 56 00 00 08 00 \n(da0:mps0:0:3:0): CAM status: Command time",
	    "" },
	{ "cut: CAM, final",
	    "(da0:mps0:0:3:0): READ(10). CDB: 28 00 00 12 34 56 00 00 08 00 \n(da0:mps0:0:3:0): Error 5, Retries exh", "" },
	{ "whole: CAM, final", "(da0:mps0:0:3:0): Error 5, Retries exhausted", "F da0 1;" },
	{ "cut: wd", "wd0a: device timeout reading fsbn 64 of 64-95 (wd0 bn 127; cn 0 tn 2 sn 1)", "" },
	{ "cut: listen queue", "sonewconn: pcb 0xfff: Listen queue overflow: 193 already in queue awaiting acceptance (3",
	    "" },
	{ "cut: answers",
	    "Limiting closed port RST response from 690 to 50 packets/sec\nLimiting closed port RST response from 69",
	    "A closed port RST 1;" },
	{ "cut: NVMe", "nvme nvme0: I/O 460 QID 3 timeout, aborting\nnvme nvme0: I/O 461 QID 3 time", "T nvme0  1;" },
	{ "cut: mfi", "mfi0: COMMAND 0xa1 TIMEOUT AFTER 3", "" },
	/* Repeats */
	{ "last message repeated", "Mar  3 02:11:40 h kernel: " LINE "\nMar  3 02:12:40 h last message repeated 3 times\n",
	    "L conntrack 4;" },
	{ "last message repeated, by syslogd",
	    "Mar  3 02:11:40 h kernel: " LINE "\nMar  3 02:12:40 h syslogd: last message repeated 1 times\n",
	    "L conntrack 2;" },
	{ "last message repeated, of another program",
	    "Mar  3 02:11:40 h kernel: " LINE
	    "\nMar  3 02:11:41 h sshd[1]: x\nMar  3 02:12:40 h last message repeated 3 times\n",
	    ONCE },
	{ "message repeated, with the message",
	    "Mar  3 02:11:40 h kernel: [   12.345678] " LINE "\n"
	    "Mar  3 02:12:40 h kernel: [   13.345678] message repeated 2 times: [ [   13.345678] " LINE "]\n",
	    "L conntrack 3;" },
	{ "repeated in what it counts",
	    "sonewconn: pcb 0xfff: Listen queue overflow: 193 already in queue awaiting acceptance (34 occurrences)\n"
	    "last message repeated 2 times\n",
	    "Q 102;" },
	{ "a timeout repeated",
	    "h kernel: x\nMar  3 02:11:40 h kernel: ad4: TIMEOUT - WRITE_DMA retrying (1 retry left) LBA=77\n"
	    "Mar  3 02:11:50 h last message repeated 2 times\n",
	    "T ad4 WRITE_DMA 3;" },
	{ "a stuck command's line repeated",
	    "Mar  3 02:11:40 h kernel: mfi0: COMMAND 0xa1 TIMEOUT AFTER 30 SECONDS\nMar  3 02:11:50 h last message repeated "
	    "2 times\n",
	    "T mfi0  1;S mfi0 30;" },
	/* Limits */
	{ "FreeBSD zones",
	    "[zone: mbuf] kern.ipc.nmbufs limit reached\n"
	    "[zone: mbuf_cluster] kern.ipc.nmbclusters limit reached\n"
	    "[zone: mbuf_jumbo_page] kern.ipc.nmbjumbop limit reached\n"
	    "[zone: mbuf_jumbo_9k] kern.ipc.nmbjumbo9 limit reached\n"
	    "[zone: mbuf_jumbo_16k] kern.ipc.nmbjumbo16 limit reached\n"
	    "[zone: pf states] PF states limit reached\n"
	    "[zone: pf source nodes] PF source nodes limit reached\n"
	    "[zone: pf frag entries] PF frag entries limit reached\n"
	    "[zone: socket] kern.ipc.maxsockets limit reached\n"
	    "[zone: unknown] something limit reached\n",
	    "L mbuf 1;L cluster 1;L jumbo_page 1;L jumbo_9k 1;L jumbo_16k 1;L pf_states 1;L pf_source_nodes 1;L "
	    "pf_fragments 1;"
	    "L sockets 1;" },
	{ "BSD, older",
	    "All mbufs or mbuf clusters exhausted, please see tuning(7).\n"
	    "All mbuf clusters exhausted, please see tuning(7).\n"
	    "All mbufs exhausted, please see tuning(7).\n"
	    "Out of mbuf clusters - adjust NMBCLUSTERS or increase maxusers!\n"
	    "WARNING: mclpools limit reached; increase kern.maxclusters\n"
	    "WARNING: mclpool limit reached; increase kern.mbuf.nmbclusters\n"
	    "WARNING: mclpool limit reached; increase NMBCLUSTERS\n",
	    "L mbuf 1;L cluster 6;" },
	{ "files and processes",
	    "kern.maxfiles limit exceeded by uid 80, please see tuning(7).\n"
	    "kern.maxfiles limit exceeded by uid 80, (pid 1234) please see tuning(7).\n"
	    "file: table is full\n"
	    "file: table is full - increase kern.maxfiles or MAXFILES\n"
	    "VFS: file-max limit 94854 reached\n"
	    "maxproc limit exceeded by uid 0 (pid 1234); please see tuning(7) and login.conf(5).\n"
	    "proc: table is full\n"
	    "process: table is full\n",
	    "L files 5;L processes 3;" },
	{ "Linux TCP and conntrack",
	    "TCP: out of memory -- consider tuning tcp_mem\n"
	    "Out of socket memory\n"
	    "TCP: too many of orphaned sockets\n"
	    "TCP: too many orphaned sockets\n"
	    "TCP: time wait bucket table overflow\n"
	    "ip_conntrack: table full, dropping packet.\n"
	    "nf_conntrack: nf_conntrack: table full, dropping packet\n"
	    "nf_conntrack: expectation table full\n"
	    "net_ratelimit: 42 callbacks suppressed\n",
	    "L conntrack 2;L tcp_memory 2;L orphans 2;L time_wait 1;" },
	{ "listen queues of three ages",
	    "sonewconn: pcb 0xfff: Listen queue overflow: 1 already in queue awaiting acceptance\n"
	    "sonewconn: pcb 0xfff: Listen queue overflow: 193 already in queue awaiting acceptance (34 occurrences)\n"
	    "sonewconn: pcb 0xfff (0.0.0.0:80 (proto 6)): Listen queue overflow: 193 already in queue awaiting acceptance "
	    "(5 occurrences), euid 0, rgid 0, jail www\n"
	    "sonewconn: pcb 0xfff: New socket allocation failure: limit reached or out of memory\n",
	    "Q 40;" },
	{ "answers held back",
	    "Limiting icmp unreach response from 231 to 200 packets/sec\n"
	    "Limiting icmp unreach response from 5000 to 203 packets/sec\n"
	    "Limiting icmp ping response from 231 to 200 packets/sec\n"
	    "Limiting closed port RST response from 690 to 50 packets per second\n"
	    "Limiting icmp6 unreach response from 231 to 200 packets/sec\n"
	    "Limiting sctp ootb response from 231 to 200 packets/sec\n"
	    "Limiting everything\n",
	    "A icmp unreach 2;A icmp ping 1;A closed port RST 1;A icmp6 unreach 1;A sctp ootb 1;" },
	{ "interrupt storms",
	    "Interrupt storm detected on \"irq22: uhci0\"; throttling interrupt source\n"
	    "interrupt storm detected on \"irq16:\"; throttling interrupt source\n"
	    "interrupt storm detected on \"irq16:\"; throttling interrupt source\n"
	    "interrupt storm detected on \"irq256: em0:rx0\"; throttling interrupt source\n"
	    "interrupt storm detected on \"swi4: clock\"; throttling interrupt source\n"
	    "stray irq7\ntoo many stray irq 7's: not logging anymore\n",
	    "I 22 uhci0 1;I 16  2;I 256 em0:rx0 1;I  swi4: clock 1;" },
	{ "a retry over New Year, and a command a year later",
	    "Dec 31 23:59:58 h kernel: ad4: TIMEOUT - WRITE_DMA retrying (1 retry left) LBA=77\n"
	    "Jan  1 00:00:03 h kernel: ad4: TIMEOUT - WRITE_DMA retrying (0 retries left) LBA=77\n"
	    "Dec 31 23:59:58 h kernel: em0: link state changed to UP\n"
	    "Jan  1 00:00:03 h kernel: ad4: TIMEOUT - WRITE_DMA retrying (0 retries left) LBA=77\n",
	    "T ad4 WRITE_DMA 2;" },
	{ "a new boot: the stamps begin anew",
	    "[ 5000.1] nvme nvme0: I/O 460 QID 3 timeout, aborting\n[    1.0] Linux version 6.1.0\n"
	    "[   40.1] nvme nvme0: I/O 460 QID 3 timeout, aborting\n",
	    "T nvme0  2;" },
	{ "a new boot: what was stuck before and what is now",
	    "[ 5000.1] mfi0: COMMAND 0xa1 TIMEOUT AFTER 30 SECONDS\n"
	    "[    1.0] Copyright (c) 1992-2026 The FreeBSD Project.\n"
	    "[   90.1] mfi1: COMMAND 0xa1 TIMEOUT AFTER 60 SECONDS\n",
	    "T mfi0  1;T mfi1  1;S mfi1 60;" },
	{ "a stuck command's pointer used again by one that began later",
	    "Mar  3 02:11:40 h kernel: mfi0: COMMAND 0xa1 TIMEOUT AFTER 30 SECONDS\n"
	    "Mar  3 02:12:10 h kernel: mfi0: COMMAND 0xa1 TIMEOUT AFTER 60 SECONDS\n"
	    "Mar  3 02:14:10 h kernel: mfi0: COMMAND 0xa1 TIMEOUT AFTER 180 SECONDS\n"
	    "Mar  3 09:30:10 h kernel: mfi0: COMMAND 0xa1 TIMEOUT AFTER 210 SECONDS\n",
	    "T mfi0  2;S mfi0 210;" },
	{ "a stuck command's pointer used again after a new boot",
	    "[ 5000.1] mfi0: COMMAND 0xa1 TIMEOUT AFTER 30 SECONDS\n[   90.1] mfi0: COMMAND 0xa1 TIMEOUT AFTER 60 SECONDS\n",
	    "T mfi0  2;S mfi0 60;" },
	{ "other programs' lines tell the time too",
	    "Mar  3 02:11:40 h kernel: mfi0: COMMAND 0xa1 TIMEOUT AFTER 30 SECONDS\nMar  3 02:14:11 h sshd[1]: x\n",
	    "T mfi0  1;" },
	/* What is a kernel's log at all */
	{ "a healthy one",
	    "Copyright (c) 1992-2026 The FreeBSD Project.\nem0: link state changed to UP\ncd0 at ata1 bus 0\n", "" },
	{ "a healthy one with stamps", "[    0.000000] Linux version 6.1.0\n", "" },
	{ "empty", "", NULL },
	{ "prose", "This is no log.\nIt says nothing.\n", NULL },
	{ "vmstat -i",
	    "interrupt                          total       rate\nirq16: em0                       1234          "
	    "5\ncpu0:timer                     99999         10\n",
	    NULL },
	{ "zpool status", "  pool: tank\n state: ONLINE\n  scan: none requested\nconfig:\n", NULL },
};

START_TEST(row)
{
	kernel_log_row_check(&rows[_i]);
}
END_TEST

/* Calls fn with each kernel log of the corpus and each row above. */
static void
each_text(void (*fn)(struct text text))
{
	char data[65536], path[1024];
	struct dirent *entry;
	unsigned n = 0;
	DIR *dir = opendir(TEST_DATA "/corpus");

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL) {
		size_t len = strlen(entry->d_name);
		if (strncmp(entry->d_name, "kernel-log--", 12) != 0 || strcmp(entry->d_name + len - 4, ".txt") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/corpus/%s", TEST_DATA, entry->d_name);
		FILE *file = fopen(path, "rb");
		ck_assert_ptr_nonnull(file);
		struct text text = { data, fread(data, 1, sizeof(data), file) };
		fclose(file);
		fn(text);
		n++;
	}
	closedir(dir);
	ck_assert_uint_ge(n, 10);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		fn(text_of(rows[i].text));
}

static void
all_prefixes(struct text text)
{
	for (size_t n = 0; n <= text.n; n++) {
		Hiwat__Record record = HIWAT__RECORD__INIT;
		struct parse_reason why = { "" };
		struct arena arena;
		char *copy = malloc(n > 0 ? n : 1); /* of its exact length, so that a read past the end shows */

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, text.p, n);
		struct parse_input in = { .text = { copy, n } };
		arena_init(&arena, 1 << 20);
		if (kernel_log_parse(&in, &arena, &record, &why) == 0) {
			const char *wrong = record_check(&record, NULL);
			ck_assert_msg(wrong == NULL, "%.*s: %s", (int)n, copy, wrong);
		}
		arena_fini(&arena);
		free(copy);
	}
}

START_TEST(prefixes)
{
	each_text(all_prefixes);
}
END_TEST

static void
emit(struct kernel_log *k, char *told, size_t size)
{
	Hiwat__Record record = HIWAT__RECORD__INIT;
	struct arena arena;

	arena_init(&arena, 4 << 20);
	ck_assert_int_eq(kernel_log_emit(k, KERNEL_LOG_SAVED, KERNEL_LOG_NO_TIME, &arena, &record), 0);
	const char *wrong = record_check(&record, NULL);
	ck_assert_msg(wrong == NULL, "%s", wrong);
	snprintf(told, size, "%s", kernel_log_told(&record));
	arena_fini(&arena);
}

/* Fed line by line, and kept over a restart between any two lines, a log tells the same as whole. */
static void
in_pieces(struct text text)
{
	char whole[8192], pieces[8192];
	struct kernel_log *k = kernel_log_new();
	struct text rest = text, line;
	struct buf saved;

	kernel_log_feed(k, text, KERNEL_LOG_NO_TIME);
	emit(k, whole, sizeof(whole));
	kernel_log_free(k);
	k = kernel_log_new();
	buf_init(&saved, KERNEL_LOG_SAVE_MAX);
	while (text_line(&rest, &line, NULL)) {
		kernel_log_feed(k, line, KERNEL_LOG_NO_TIME);
		buf_reset(&saved);
		ck_assert_int_eq(kernel_log_save(k, &saved), 0);
		kernel_log_free(k);
		k = kernel_log_new();
		ck_assert_int_eq(kernel_log_load(k, saved.data, saved.len), 0);
	}
	emit(k, pieces, sizeof(pieces));
	ck_assert_str_eq(whole, pieces);
	kernel_log_free(k);
	buf_fini(&saved);
}

START_TEST(pieces)
{
	each_text(in_pieces);
}
END_TEST

static const char *
live(struct kernel_log *k, int64_t now)
{
	static char told[1024];
	Hiwat__Record record = HIWAT__RECORD__INIT;
	struct arena arena;

	arena_init(&arena, 1 << 20);
	ck_assert_int_eq(kernel_log_emit(k, KERNEL_LOG_LIVE, now, &arena, &record), 0);
	snprintf(told, sizeof(told), "%s", kernel_log_told(&record));
	arena_fini(&arena);
	return told;
}

START_TEST(live_waits_and_forgets)
{
	struct kernel_log *k = kernel_log_new();

	kernel_log_feed(k, TEXT("ahcich0: Timeout on slot 8 port 0\n"), 1000);
	kernel_log_feed(k, TEXT("mfi0: COMMAND 0xa1 TIMEOUT AFTER 30 SECONDS\n"), 1000);
	kernel_log_feed(k, TEXT("sonewconn: pcb 0xfff: Listen queue overflow: 1 already in queue awaiting acceptance\n"),
	    1000);
	ck_assert_str_eq(live(k, 1059), "T mfi0  1;S mfi0 30;");
	ck_assert_str_eq(live(k, 1060), "T mfi0  1;S mfi0 30;T ahcich0  1;");
	ck_assert_str_eq(live(k, 1120), "T mfi0  1;S mfi0 30;T ahcich0  1;");
	ck_assert_str_eq(live(k, 1121), "T mfi0  1;T ahcich0  1;");
	kernel_log_feed(k, TEXT("mfi0: COMMAND 0xa1 TIMEOUT AFTER 180 SECONDS\n"), 1150);
	ck_assert_str_eq(live(k, 1151), "T mfi0  1;S mfi0 180;T ahcich0  1;");
	kernel_log_free(k);
}
END_TEST

START_TEST(position)
{
	struct kernel_log *k = kernel_log_new();
	static const char records[] = "4,7,12345678,-;" LINE "\n4,8,12345679,-;" LINE "\n";

	kernel_log_feed(k, text_of(records), KERNEL_LOG_NO_TIME);
	ck_assert_uint_eq(kernel_log_position(k), 9);
	kernel_log_feed(k, text_of(records), KERNEL_LOG_NO_TIME);
	ck_assert_str_eq(live(k, 13), "L conntrack 2;");
	kernel_log_set_position(k, 8);
	kernel_log_feed(k, text_of(records), KERNEL_LOG_NO_TIME);
	ck_assert_str_eq(live(k, 13), "L conntrack 3;");
	kernel_log_free(k);
}
END_TEST

START_TEST(tables_are_bounded)
{
	struct kernel_log *k = kernel_log_new();
	Hiwat__Record record = HIWAT__RECORD__INIT;
	struct arena arena;
	char line[256];
	uint64_t timeouts = 0, failures = 0, storms = 0, kinds = 0;

	/* What is really named so shares its row with the rest. */
	kernel_log_feed(k, TEXT("g_vfs_done():other[READ(offset=1, length=1)]error = 5\n"), 0);
	kernel_log_feed(k, TEXT("Limiting other response from 1 to 2 packets/sec\n"), 0);
	kernel_log_feed(k, TEXT("interrupt storm detected on \"other\"; throttling interrupt source\n"), 0);
	for (int i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), "ad%d: FAILURE - OP%d timed out LBA=%d\n", i, i, i);
		kernel_log_feed(k, text_of(line), i);
		snprintf(line, sizeof(line), "ad0: TIMEOUT - OP%d retrying (1 retry left) LBA=%d\n", i + 1, i);
		kernel_log_feed(k, text_of(line), i);
		snprintf(line, sizeof(line), "Limiting kind%d response from 1 to 2 packets/sec\n", i);
		kernel_log_feed(k, text_of(line), i);
		snprintf(line, sizeof(line), "interrupt storm detected on \"irq%d: em0\"; throttling interrupt source\n", i);
		kernel_log_feed(k, text_of(line), i);
		snprintf(line, sizeof(line), "mfi0: COMMAND 0x%x TIMEOUT AFTER 30 SECONDS\n", i);
		kernel_log_feed(k, text_of(line), i);
		snprintf(line, sizeof(line), "ahcich%d: Timeout on slot 1 port 0\n", i);
		kernel_log_feed(k, text_of(line), i);
	}
	arena_init(&arena, 4 << 20);
	ck_assert_int_eq(kernel_log_emit(k, KERNEL_LOG_SAVED, KERNEL_LOG_NO_TIME, &arena, &record), 0);
	ck_assert_ptr_null(record_check(&record, NULL));
	for (size_t i = 0; i < record.storage->n_disks; i++) {
		const Hiwat__Disk *d = record.storage->disks[i];
		for (size_t j = 0; j < d->n_timeouts; j++)
			timeouts += d->timeouts[j]->total;
		failures += d->failures_total;
	}
	for (size_t i = 0; i < record.interrupt->n_storms; i++)
		storms += record.interrupt->storms[i]->total;
	for (size_t i = 0; i < record.net->n_response_limits; i++)
		kinds += record.net->response_limits[i]->total;
	/* Nothing is lost, only put together. */
	ck_assert_uint_eq(timeouts, 4000);
	ck_assert_uint_eq(failures, 1001);
	ck_assert_uint_eq(storms, 1001);
	ck_assert_uint_eq(kinds, 1001);
	arena_fini(&arena);
	kernel_log_free(k);
}
END_TEST

/* A controller that hangs with all its commands repeats each, in a log without stamps. */
START_TEST(many_stuck)
{
	struct kernel_log *k = kernel_log_new();
	char line[256];

	for (int age = 30; age <= 150; age += 30) {
		for (int i = 0; i < 500; i++) {
			snprintf(line, sizeof(line), "mfi0: COMMAND 0xffffff80009%05x TIMEOUT AFTER %d SECONDS\n", i * 0x88,
			    age);
			kernel_log_feed(k, text_of(line), KERNEL_LOG_NO_TIME);
		}
	}
	ck_assert_str_eq(live(k, KERNEL_LOG_NO_TIME), "T mfi0  500;S mfi0 150;");
	kernel_log_free(k);
}
END_TEST

START_TEST(damage_is_refused)
{
	struct kernel_log *k = kernel_log_new();
	struct buf saved;

	kernel_log_feed(k, TEXT(LINE "\n"), 1);
	buf_init(&saved, KERNEL_LOG_SAVE_MAX);
	ck_assert_int_eq(kernel_log_save(k, &saved), 0);
	kernel_log_feed(k, TEXT(LINE "\n"), 2);
	for (size_t i = 0; i < saved.len; i += i < 100 ? 1 : 997) {
		saved.data[i] ^= 0x20;
		int err = kernel_log_load(k, saved.data, saved.len);
		ck_assert_msg(err == HIWAT_E_CORRUPT || err == HIWAT_E_VERSION, "byte %zu: %d", i, err);
		saved.data[i] ^= 0x20;
	}
	ck_assert_int_eq(kernel_log_load(k, saved.data, saved.len - 1), HIWAT_E_CORRUPT);
	ck_assert_int_eq(kernel_log_load(k, saved.data, 3), HIWAT_E_CORRUPT);
	ck_assert_str_eq(live(k, 2), "L conntrack 2;");
	ck_assert_int_eq(kernel_log_load(k, saved.data, saved.len), 0);
	ck_assert_str_eq(live(k, 2), "L conntrack 1;");
	buf_fini(&saved);
	kernel_log_free(k);
}
END_TEST

static const struct {
	const char *text, *device, *driver;
} driver_rows[] = {
	{ "ad4: FAILURE - WRITE_DMA timed out LBA=1\n", "ad4", "ata" },
	{ "(da3:mpr0:0:11:0): CAM status: Command timeout\n", "da3", "mpr" },
	{ "(da3:umass-sim0:0:0:0): CAM status: Command timeout\n", "da3", "umass-sim" },
	{ "mfi1: COMMAND 0xa1 TIMEOUT AFTER 30 SECONDS\n", "mfi1", "mfi" },
	{ "ahcich3: Timeout on slot 8 port 0\n", "ahcich3", "ahcich" },
	{ "wd0(pciide0:0:0): timeout\nwd0a: device timeout reading fsbn 64 (wd0 bn 127; cn 0 tn 2 sn 1), retrying\n", "wd0",
	    "pciide" },
	{ "nvme nvme0: I/O 1 QID 2 timeout, aborting\n", "nvme0", "nvme" },
	{ "ata3: hard resetting link\n", "ata3", "libata" },
	{ "sd 0:0:3:0: attempting task abort!scmd(0xc3a1b2d4), outstanding for 30180 ms & timeout 30000 ms\n"
	  "sd 0:0:3:0: [sdd] tag#5 CDB: Write(10) 2a 00 00 12 34 56 00 00 08 00\n",
	    "sdd", "mpt3sas" },
	{ "mpt2sas0: log_info(0x31130000): originator(PL), code(0x13), sub_code(0x0000)\n"
	  "sd 0:0:3:0: attempting task abort! scmd(ffff880123456789)\n"
	  "sd 0:0:3:0: [sdd] CDB: Write(10): 2a 00 00 12 34 56 00 00 08 00\n",
	    "sdd", "mpt2sas" },
};

START_TEST(drivers)
{
	Hiwat__Record record = HIWAT__RECORD__INIT;
	struct parse_input in = { .text = text_of(driver_rows[_i].text) };
	struct parse_reason why;
	struct arena arena;

	arena_init(&arena, 1 << 20);
	ck_assert_int_eq(kernel_log_parse(&in, &arena, &record, &why), 0);
	ck_assert_uint_eq(record.storage->n_disks, 1);
	ck_assert_str_eq(record.storage->disks[0]->device, driver_rows[_i].device);
	ck_assert_uint_eq(record.storage->disks[0]->n_drivers, 1);
	ck_assert_str_eq(record.storage->disks[0]->drivers[0]->driver, driver_rows[_i].driver);
	arena_fini(&arena);
}
END_TEST

/* Lines that nothing knows are no unknown lines here, and change nothing. */
START_TEST(properties)
{
	ck_assert_uint_ge(parsed_corpus_properties("kernel-log"), 10);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("kernel_log");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 100);
	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_loop_test(tc, drivers, 0, ARRAY_LEN(driver_rows));
	tcase_add_test(tc, prefixes);
	tcase_add_test(tc, pieces);
	tcase_add_test(tc, properties);
	tcase_add_test(tc, live_waits_and_forgets);
	tcase_add_test(tc, position);
	tcase_add_test(tc, tables_are_bounded);
	tcase_add_test(tc, many_stuck);
	tcase_add_test(tc, damage_is_refused);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
