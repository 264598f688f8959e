/*
 * What the kernel log reports, counted: from the kernel's message buffer, which is there when no disk answers and when
 * syslogd(8) writes nowhere; where it may not be read, from the file that syslogd(8) writes. (/dev/klog has one reader, and
 * that is syslogd.) The first of the two that works is kept to until a restart.
 *
 * Counts are kept together with the position, so that a restart neither loses nor repeats a line that is still there.
 * FreeBSD and OpenBSD keep the buffer over a warm boot, the file is older than any boot: lines that were counted before it
 * are not counted again, while the counts themselves begin at 0. The first reading after installation is a baseline: lines
 * from before are history; so is what the other source holds when it takes over, with a gap. Without a state directory, as
 * in `once`, everything counts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "err.h"
#include "keep.h"
#include "kernel_log.h"
#include "log_file.h"
#include "message_ring.h"
#include "record.h"
#include "source.h"

#define BUFFER_MAX ((size_t)4 << 20) /* kern.msgbufsize is 96 KiB unless somebody raised it */
#define CHUNKS_MAX 512               /* of the file in one sample: 32 MiB; what is left comes next time */
#define END_MAX ((size_t)2048)       /* of what was read of the buffer, kept over a restart */
#define KEEP_NAME "kernel_log"
#define KEEP_HEAD "hiwat kernel_log_bsd 2 "
#define KEEP_MAX (KERNEL_LOG_SAVE_MAX + END_MAX + 128)
#define KEEP_INTERVAL_NS (60 * NSEC_PER_SEC)

enum klog_source { KLOG_NONE, KLOG_BUFFER, KLOG_FILE };

struct klog {
	struct fetch fetch;
	struct kernel_log *log; /* owned */
	struct message_ring ring;
	struct log_file file;          /* without a path there is none */
	enum klog_source source, kept; /* what is read in this run; what the position that was kept is of */
	struct sampler_reason buffer_why;
	const char *state_dir;
	uint64_t lost; /* gaps: how many lines were in one nobody knows */
	bool needs_baseline, is_changed;
	uint64_t kept_ns;
};

/* HEAD BOOT LOST SOURCE A B C: of the buffer A bytes of its end follow the line, of the file its inode, offset and sum. */
static int
keep_save(struct klog *k, uint64_t boot_ns)
{
	struct text end = message_ring_end(&k->ring, END_MAX);
	bool is_file = k->source == KLOG_FILE;
	struct buf b;

	buf_init(&b, KEEP_MAX);
	buf_printf(&b, KEEP_HEAD "%" PRIu64 " %" PRIu64 " ", (uint64_t)(boot_ns / NSEC_PER_SEC), k->lost);
	if (is_file)
		buf_printf(&b, "file %" PRIu64 " %" PRIu64 " %" PRIu32 "\n", k->file.at.inode, k->file.at.offset,
		    k->file.at.sum);
	else
		buf_printf(&b, "buffer %zu 0 0\n", end.n);
	if (!is_file)
		buf_add(&b, end.p, end.n);
	int err = kernel_log_save(k->log, &b);
	if (err == HIWAT_OK)
		err = keep_write(k->state_dir, KEEP_NAME, (struct text){ buf_str(&b), b.len });
	buf_fini(&b);
	k->is_changed = false;
	return err;
}

static bool
next_u64(struct text *line, uint64_t *value)
{
	text_skip_blanks(line);
	return text_u64(line, value) == HIWAT_OK;
}

/* A time since boot that went back tells of a new boot: what was counted ended with the old one. */
static bool
load(struct klog *k, struct text rest)
{
	uint64_t boot_seconds, lost, numbers[3];
	struct text line, source;

	if (!text_line(&rest, &line, NULL) || !text_skip(&line, KEEP_HEAD) || !next_u64(&line, &boot_seconds) ||
	    !next_u64(&line, &lost) || !text_word(&line, &source))
		return false;
	for (int i = 0; i < 3; i++) {
		if (!next_u64(&line, &numbers[i]))
			return false;
	}
	bool is_file = text_eq(source, "file");
	size_t n = is_file ? 0 : (size_t)numbers[0];
	if (line.n > 0 || (!is_file && !text_eq(source, "buffer")) || n > END_MAX || n > rest.n || numbers[2] > UINT32_MAX)
		return false;
	if (boot_seconds <= clock_boot_ns() / NSEC_PER_SEC) {
		if (kernel_log_load(k->log, rest.p + n, rest.n - n) != HIWAT_OK)
			return false;
		k->lost = lost;
	}
	k->kept = is_file ? KLOG_FILE : KLOG_BUFFER;
	if (!is_file)
		return message_ring_resume(&k->ring, (struct text){ rest.p, n }) == HIWAT_OK;
	k->file.at = (struct log_file_at){ .inode = numbers[0], .offset = numbers[1], .sum = (uint32_t)numbers[2] };
	return true;
}

static void
keep_load(struct klog *k)
{
	struct buf b;

	buf_init(&b, KEEP_MAX);
	k->needs_baseline = k->state_dir != NULL;
	if (keep_read(k->state_dir, KEEP_NAME, &b) == HIWAT_OK && load(k, (struct text){ buf_str(&b), b.len }))
		k->needs_baseline = false;
	buf_fini(&b);
}

static void
klog_close(void *state)
{
	struct klog *k = state;

	/* Before the first sample there is nothing new to keep. */
	if (k->kept_ns != 0 && k->is_changed)
		(void)keep_save(k, clock_boot_ns());
	fetch_fini(&k->fetch);
	message_ring_fini(&k->ring);
	log_file_fini(&k->file);
	kernel_log_free(k->log);
	free(k);
}

static int
klog_open(const struct sampler_config *config, void **state)
{
	struct klog *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&k->fetch, config->trace, BUFFER_MAX);
	message_ring_init(&k->ring, BUFFER_MAX);
	log_file_init(&k->file, config->messages_path, &(const struct log_file_at){ 0 });
	k->state_dir = config->state_dir;
	k->log = kernel_log_new();
	if (k->log == NULL) {
		klog_close(k);
		return HIWAT_E_NOMEM;
	}
	keep_load(k);
	*state = k;
	return HIWAT_OK;
}

/* A source that goes on from a position of the other one has none of its own: what it holds is history. */
static void
take_lines(struct klog *k, struct text lines, bool has_gap, int64_t now_s)
{
	bool is_other = k->kept != KLOG_NONE && k->kept != k->source;

	k->lost += has_gap;
	k->is_changed |= lines.n > 0 || has_gap;
	if (!is_other)
		kernel_log_feed(k->log, lines, now_s);
}

static int
read_buffer(struct klog *k, int64_t now_s, struct sampler_reason *why)
{
	struct text lines;
	bool has_gap;
	int err = message_ring_read(&k->ring, &k->fetch, &lines, &has_gap);

	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &k->fetch);
	k->source = KLOG_BUFFER;
	take_lines(k, lines, has_gap, now_s);
	return HIWAT_OK;
}

static int
read_file(struct klog *k, int64_t now_s, struct sampler_reason *why)
{
	uint64_t inode = k->file.at.inode;
	bool more = true, has_gap;
	struct text lines;

	for (int i = 0; more && i < CHUNKS_MAX; i++) {
		int err = log_file_read(&k->file, &k->fetch, &lines, &more, &has_gap);
		if (err != HIWAT_OK)
			return sampler_fail_fetch(why, err, &k->fetch);
		k->source = KLOG_FILE;
		take_lines(k, lines, has_gap, now_s);
	}
	k->is_changed |= k->file.at.inode != inode;
	return HIWAT_OK;
}

/* Why the buffer is not the source of this host, as opposed to a failure that passes. */
static bool
is_no_source(int err)
{
	return err == HIWAT_E_DENIED || err == HIWAT_E_MISSING || err == HIWAT_E_VERSION;
}

static int
read_new(struct klog *k, int64_t now_s, struct sampler_reason *why)
{
	struct sampler_reason file_why = { .text = "" };
	int err = HIWAT_OK;

	if (k->source != KLOG_FILE)
		err = read_buffer(k, now_s, why);
	if (k->source == KLOG_NONE && is_no_source(err) && k->file.path != NULL) {
		k->buffer_why = *why;
		int file_err = read_file(k, now_s, &file_why);
		if (k->source == KLOG_NONE)
			return sampler_fail(why, file_err == HIWAT_E_MISSING ? err : file_err, "%s; %s", k->buffer_why.text,
			    file_why.text);
		err = file_err;
		*why = file_why;
	} else if (k->source == KLOG_FILE) {
		err = read_file(k, now_s, why);
	}
	if (err == HIWAT_OK && k->source == KLOG_FILE) {
		(void)sampler_fail(why, err, "%s, so that %s is followed", k->buffer_why.text, k->file.path);
		why->is_note = true;
	}
	return err;
}

/* Forgets what was counted up to here. */
static int
take_baseline(struct klog *k)
{
	struct kernel_log *fresh = kernel_log_new();

	if (fresh == NULL)
		return HIWAT_E_NOMEM;
	kernel_log_free(k->log);
	k->log = fresh;
	k->needs_baseline = false;
	return HIWAT_OK;
}

static int
klog_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct klog *k = state;
	int64_t now_s = (int64_t)(now->boot_ns / NSEC_PER_SEC);
	int err = read_new(k, now_s, why);

	if (err != HIWAT_OK)
		return err;
	if (k->needs_baseline && (err = take_baseline(k)) != HIWAT_OK)
		return err;
	if (k->kept != k->source) {
		k->lost += k->kept != KLOG_NONE;
		k->kept = k->source;
	}
	/* A write that fails is tried again: at worst a restart begins with a baseline. */
	if (k->kept_ns == 0 || (now->boot_ns - k->kept_ns >= KEEP_INTERVAL_NS && k->is_changed)) {
		(void)keep_save(k, now->boot_ns);
		k->kept_ns = now->boot_ns;
	}
	err = kernel_log_emit(k->log, KERNEL_LOG_LIVE, now_s, arena, out);
	if (err != HIWAT_OK)
		return err;
	/* What was overwritten before it was read is not known either. */
	return record_count_unknown(arena, out, "kernel-log-lost", k->lost);
}

const struct sampler sampler_kernel_log = {
	.name = "kernel_log",
	.help = "disk timeouts, limits and storms that the kernel log reports",
	.interval_ms = 10000,
	.deadline_ms = 5000,
	.open = klog_open,
	.sample = klog_sample,
	.close = klog_close,
};
