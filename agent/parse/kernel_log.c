/* The kernel log's reader: lines in, to the scanners of their first word. Counts out are in kernel_log_emit.c. */
#include "kernel_log_state.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "refuse.h"

#define ROWS_PER_WORD 3
#define RECOGNISE_LINES 60

#define W(literal) \
	{ \
		literal, sizeof(literal) - 1 \
	}

/* By first word, those of one initial together: letters and underscores up to the first other byte. */
static const struct word {
	struct text word;
	kl_scanner *scanners[ROWS_PER_WORD];
} words[] = {
	{ W("All"), { kl_limit_line } },
	{ W("I"), { kl_block_error } },
	{ W("Interrupt"), { kl_interrupt_storm } },
	{ W("LBA"), { kl_ata_lba } },
	{ W("Limiting"), { kl_limiting } },
	{ W("Out"), { kl_limit_line } },
	{ W("Result"), { kl_scsi_follow } },
	{ W("TCP"), { kl_limit_line } },
	{ W("VFS"), { kl_limit_line } },
	{ W("WARNING"), { kl_limit_line } },
	{ W("aac"), { kl_hba_stuck } },
	{ W("aacraid"), { kl_hba_stuck, kl_aacraid } },
	{ W("acd"), { kl_ata_disk } },
	{ W("ad"), { kl_ata_disk, kl_fsbn } },
	{ W("afd"), { kl_ata_disk } },
	{ W("ahci"), { kl_openbsd_hba } },
	{ W("ahcich"), { kl_hba_slot } },
	{ W("ami"), { kl_openbsd_hba } },
	{ W("arcmsr"), { kl_hba_arcmsr } },
	{ W("ast"), { kl_ata_disk } },
	{ W("ata"), { kl_libata, kl_ata_channel, kl_ata_disk } },
	{ W("blk_update_request"), { kl_block_error } },
	{ W("cac"), { kl_openbsd_hba } },
	{ W("cd"), { kl_wd } },
	{ W("ciss"), { kl_openbsd_hba } },
	{ W("cmd"), { kl_libata_res } },
	{ W("critical"), { kl_block_error } },
	{ W("device"), { kl_block_error } },
	{ W("end_request"), { kl_block_error } },
	{ W("file"), { kl_limit_line } },
	{ W("g_vfs_done"), { kl_g_vfs_done } },
	{ W("gdt"), { kl_openbsd_hba } },
	{ W("interrupt"), { kl_interrupt_storm } },
	{ W("ip_conntrack"), { kl_limit_line } },
	{ W("ips"), { kl_hba_ips, kl_openbsd_hba } },
	{ W("kern"), { kl_limit_line } },
	{ W("maxproc"), { kl_limit_line } },
	{ W("mb_map"), { kl_limit_line } },
	{ W("megaraid_sas"), { kl_megaraid } },
	{ W("megasas"), { kl_megaraid } },
	{ W("mfi"), { kl_hba_stuck, kl_openbsd_hba } },
	{ W("mfii"), { kl_openbsd_hba } },
	{ W("mpi"), { kl_openbsd_hba } },
	{ W("mpii"), { kl_openbsd_hba } },
	{ W("mpr"), { kl_hba_mps } },
	{ W("mps"), { kl_hba_mps } },
	{ W("mpt"), { kl_mptsas, kl_hba_mpt } },
	{ W("mptscsih"), { kl_mptscsih } },
	{ W("mrsas"), { kl_hba_mrsas } },
	{ W("mvsch"), { kl_hba_slot } },
	{ W("nf_conntrack"), { kl_limit_line } },
	{ W("nvme"), { kl_nvme, kl_hba_nvme, kl_openbsd_hba } },
	{ W("pciide"), { kl_wd_controller } },
	{ W("piixide"), { kl_wd_controller } },
	{ W("print_req_error"), { kl_block_error } },
	{ W("proc"), { kl_limit_line } },
	{ W("process"), { kl_limit_line } },
	{ W("protection"), { kl_block_error } },
	{ W("qla"), { kl_openbsd_hba } },
	{ W("qle"), { kl_openbsd_hba } },
	{ W("recoverable"), { kl_block_error } },
	{ W("res"), { kl_libata_res } },
	{ W("scsi"), { kl_sd } },
	{ W("sd"), { kl_sd, kl_wd } },
	{ W("siisch"), { kl_hba_slot } },
	{ W("sonewconn"), { kl_sonewconn } },
	{ W("sr"), { kl_sd } },
	{ W("thread"), { kl_limit_line } },
	{ W("timeout"), { kl_block_error } },
	{ W("twa"), { kl_hba_twa } },
	{ W("viaide"), { kl_wd_controller } },
	{ W("wd"), { kl_wd, kl_fsbn } },
	{ W("wdc"), { kl_wd_controller } },
};

static bool
is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

#define N_WORDS (sizeof(words) / sizeof(words[0]))

void
kl_index(struct kernel_log *k)
{
	_Static_assert(N_WORDS < 255, "an index does not fit its byte");
	memset(k->words, 255, sizeof(k->words));
	for (size_t i = N_WORDS; i > 0; i--)
		k->words[(unsigned char)*words[i - 1].word.p] = (uint8_t)(i - 1);
}

static const struct word *
find_word(const struct kernel_log *k, struct text t)
{
	unsigned char initial = (unsigned char)*t.p;
	size_t n = 0, i;

	if (initial >= sizeof(k->words) || (i = k->words[initial]) == 255)
		return NULL;
	while (n < t.n && is_word_byte(t.p[n]))
		n++;
	for (; i < N_WORDS && *words[i].word.p == (char)initial; i++) {
		if (words[i].word.n == n && memcmp(words[i].word.p, t.p, n) == 0)
			return &words[i];
	}
	return NULL;
}

bool
kl_is_known(const struct kernel_log *k, struct text line)
{
	return line.n > 0 && find_word(k, line) != NULL;
}

void
kl_line(struct kernel_log *k, const struct kl_line *line)
{
	struct kl_line at = *line;
	const struct word *w;

	if (at.text.n < 5)
		return;
	text_skip(&at.text, "#011"); /* a tab as rsyslog keeps it */
	if (at.text.n == 0)
		return;
	char c = *at.text.p;
	if (c == '\t' || c == ' ') {
		at.text = text_trim(at.text);
		if (at.text.n == 0)
			return;
		c = *at.text.p;
		if (c != '(' && c != 'r' && c != 'L')
			return;
	}
	if (c == '(') {
		k->known += kl_cam(k, &at);
		return;
	}
	if (c == '[') {
		k->known += kl_limit_line(k, &at);
		return;
	}
	w = find_word(k, at.text);
	if (w != NULL) {
		for (int i = 0; i < ROWS_PER_WORD && w->scanners[i] != NULL; i++) {
			if (w->scanners[i](k, &at)) {
				k->known++;
				return;
			}
		}
	} else if (k->wants_cdb) {
		k->known += kl_scsi_follow(k, &at);
	}
}

static void
kernel_line(struct kernel_log *k, struct text text, bool cut)
{
	k->line++;
	kl_line(k, &(struct kl_line){ text, cut });
}

/* Undoes the escapes of /dev/kmsg into lines. */
static void
kmsg_line(struct kernel_log *k, struct text t, bool cut)
{
	static const char hex[] = "0123456789abcdef";
	char plain[1024];
	size_t n = 0;

	if (t.n == 0 || memchr(t.p, '\\', t.n) == NULL) {
		kernel_line(k, t, cut);
		return;
	}
	for (size_t i = 0; i < t.n && n < sizeof(plain);) {
		char c = t.p[i++];
		if (c == '\\' && t.n - i >= 3 && t.p[i] == 'x') {
			const char *high = memchr(hex, t.p[i + 1], 16), *low = memchr(hex, t.p[i + 2], 16);
			if (high != NULL && low != NULL) {
				c = (char)((high - hex) << 4 | (low - hex));
				i += 3;
			}
		}
		if (c == '\n') {
			kernel_line(k, (struct text){ plain, n }, false);
			n = 0;
		} else {
			plain[n++] = c;
		}
	}
	kernel_line(k, (struct text){ plain, n }, cut);
}

static void
set_time(struct kernel_log *k, const struct kl_stripped *s)
{
	int64_t time = s->time;

	if (time == KERNEL_LOG_NO_TIME)
		return;
	if (s->is_yearless) {
		/* December to January: the stamp falls back by most of a year. */
		if (k->time != KERNEL_LOG_NO_TIME && time + (int64_t)k->year_s + 300 * 86400 < k->time)
			k->year_s += 365 * 86400;
		time += (int64_t)k->year_s;
	}
	k->time = time;
}

static void
keep_last(struct kernel_log *k, struct text t)
{
	k->last_len = (uint16_t)(t.n < KL_LAST ? t.n : KL_LAST);
	memcpy(k->last, t.p, k->last_len);
	k->has_last = true;
}

static void
feed(struct kernel_log *k, struct text lines, int64_t time_s, bool end_is_cut)
{
	struct text line, last = { 0 };
	struct kl_stripped s;
	bool cut;

	while (text_line(&lines, &line, &cut)) {
		cut = cut && end_is_cut;
		if (k->in_record && line.n > 0 && *line.p == ' ')
			continue; /* KEY=value of a /dev/kmsg record */
		kl_strip(line, &s);
		k->stamped += s.has_stamp;
		k->in_record = s.form == KL_FORM_KMSG;
		if (time_s != KERNEL_LOG_NO_TIME)
			s.time = time_s, s.is_yearless = false;
		switch (s.form) {
		case KL_FORM_OTHER:
			set_time(k, &s);
			last.n = 0;
			k->has_last = false;
			break;
		case KL_FORM_REPEAT:
			set_time(k, &s);
			k->times = s.repeats;
			if (s.text.n > 0)
				kernel_line(k, s.text, false);
			else if (last.n > 0)
				kernel_line(k, last, false);
			else if (k->has_last)
				kernel_line(k, (struct text){ k->last, k->last_len }, false);
			k->times = 1;
			break;
		case KL_FORM_KMSG:
			if (s.sequence < k->position)
				break;
			k->position = s.sequence + 1;
			set_time(k, &s);
			kmsg_line(k, s.text, cut);
			break;
		case KL_FORM_BARE:
		case KL_FORM_KERNEL:
			set_time(k, &s);
			kernel_line(k, s.text, cut);
			/* Among lines with a stamp one without is no message that syslog may say to be repeated. */
			if (s.has_stamp || k->stamped == 0)
				last = s.text;
			break;
		}
	}
	if (last.n > 0)
		keep_last(k, last);
}

void
kernel_log_feed(struct kernel_log *k, struct text lines, int64_t time_s)
{
	feed(k, lines, time_s, false);
}

struct kernel_log *
kernel_log_new(void)
{
	struct kernel_log *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->time = KERNEL_LOG_NO_TIME;
	k->times = 1;
	kl_index(k);
	return k;
}

void
kernel_log_free(struct kernel_log *k)
{
	free(k);
}

uint64_t
kernel_log_position(const struct kernel_log *k)
{
	return k->position;
}

void
kernel_log_set_position(struct kernel_log *k, uint64_t sequence)
{
	k->position = sequence;
}

int
kernel_log_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct kernel_log *k = kernel_log_new();
	int err;

	if (k == NULL)
		return parse_fail(why, HIWAT_E_NOMEM, "no memory for the tables of a kernel log");
	struct text text = in->text;
	if (kl_unwrap(k, arena, &text) != HIWAT_OK) {
		kernel_log_free(k);
		return parse_fail(why, HIWAT_E_NOMEM, "no memory to join lines");
	}
	feed(k, text, KERNEL_LOG_NO_TIME, true);
	if (k->known == 0 && k->stamped == 0 && kernel_log_recognise(in->text) == 0)
		err = refuse(in->text, "the kernel's log", why);
	else if ((err = kernel_log_emit(k, KERNEL_LOG_SAVED, KERNEL_LOG_NO_TIME, arena, out)) != 0)
		parse_fail(why, err, "more counts than a record may hold");
	kernel_log_free(k);
	return err;
}

/* "em0: link state changed", "cd0 at scsibus1": how kernels speak of their devices. */
static bool
names_a_device(struct text line)
{
	size_t n = 0, letters;

	while (n < line.n && line.p[n] >= 'a' && line.p[n] <= 'z')
		n++;
	letters = n;
	while (n < line.n && line.p[n] >= '0' && line.p[n] <= '9')
		n++;
	if (letters < 2 || n == letters || n + 2 >= line.n)
		return false;
	struct text name = { line.p, letters }, rest = { line.p + n, line.n - n };
	if (text_eq(name, "irq") || (text_eq(name, "cpu") && *rest.p != ':'))
		return false;
	return text_starts(rest, ": ") || text_starts(rest, " at ");
}

int
kernel_log_recognise(struct text text)
{
	struct kernel_log *k = kernel_log_new(); /* to try the scanners on lines without a stamp */
	struct kl_stripped s;
	struct text line;
	int sure = 0, lines = 0;

	while (lines++ < RECOGNISE_LINES && text_line(&text, &line, NULL)) {
		int here = 0;
		kl_strip(line, &s);
		if (s.form == KL_FORM_KMSG)
			here = 95;
		else if (s.form == KL_FORM_KERNEL)
			here = 85;
		else if (s.form == KL_FORM_BARE && names_a_device(s.text))
			here = 40;
		if (s.form == KL_FORM_BARE && k != NULL)
			kernel_line(k, s.text, false);
		sure = here > sure ? here : sure;
	}
	if (k != NULL && k->known > 0 && sure < 60)
		sure = 60;
	kernel_log_free(k);
	return sure;
}
