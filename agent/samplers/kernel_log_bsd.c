/*
 * What the kernel log reports, counted: the kernel's message buffer, a ring of text without positions, read whole and
 * compared with the reading before. It is there when no disk answers and when syslogd(8) writes nowhere.
 *
 * Counts are kept together with the end of what was read, so that a restart neither loses nor repeats a line that is still
 * in the buffer. FreeBSD and OpenBSD keep the buffer over a warm boot: lines that were counted before it are not counted
 * again, while the counts themselves begin at 0. The first reading after installation is a baseline: lines from before are
 * history. Without a state directory, as in `once`, everything in the buffer counts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "err.h"
#include "keep.h"
#include "kernel_bsd.h"
#include "kernel_log.h"
#include "message_overlap.h"
#include "record.h"
#include "source.h"

#define BUFFER_MAX ((size_t)4 << 20) /* kern.msgbufsize is 96 KiB unless somebody raised it */
#define END_MAX ((size_t)2048)       /* of what was read, kept over a restart */
#define KEEP_NAME "kernel_log"
#define KEEP_HEAD "hiwat kernel_log_bsd 1 "
#define KEEP_MAX (KERNEL_LOG_SAVE_MAX + END_MAX + 128)
#define KEEP_INTERVAL_NS (60 * NSEC_PER_SEC)

struct klog {
	struct fetch fetch;
	struct kernel_log *log; /* owned */
	struct buf before;      /* the reading before, up to its last newline; after a restart its end only */
	bool is_end_only, has_before;
	uint32_t *links; /* owned; room for n_links */
	size_t n_links;
	const char *state_dir;
	uint64_t lost; /* gaps: how many lines were in one nobody knows */
	bool needs_baseline, is_changed;
	uint64_t kept_ns;
};

static int
keep_save(struct klog *k, uint64_t boot_ns)
{
	size_t n = k->before.len < END_MAX ? k->before.len : END_MAX;
	struct buf b;

	buf_init(&b, KEEP_MAX);
	buf_printf(&b, KEEP_HEAD "%" PRIu64 " %" PRIu64 " %zu\n", (uint64_t)(boot_ns / NSEC_PER_SEC), k->lost, n);
	buf_add(&b, buf_str(&k->before) + k->before.len - n, n);
	int err = kernel_log_save(k->log, &b);
	if (err == HIWAT_OK)
		err = keep_write(k->state_dir, KEEP_NAME, (struct text){ buf_str(&b), b.len });
	buf_fini(&b);
	k->is_changed = false;
	return err;
}

/* A time since boot that went back tells of a new boot: what was counted ended with the old one. */
static void
keep_load(struct klog *k)
{
	uint64_t boot_seconds, lost, n;
	struct text rest, line;
	struct buf b;

	buf_init(&b, KEEP_MAX);
	k->needs_baseline = k->state_dir != NULL;
	if (keep_read(k->state_dir, KEEP_NAME, &b) != HIWAT_OK)
		goto out;
	rest = (struct text){ buf_str(&b), b.len };
	if (!text_line(&rest, &line, NULL) || !text_skip(&line, KEEP_HEAD) || text_u64(&line, &boot_seconds) != HIWAT_OK ||
	    !text_skip(&line, " ") || text_u64(&line, &lost) != HIWAT_OK || !text_skip(&line, " ") ||
	    !text_is_u64(line, &n) || n > END_MAX || n > rest.n)
		goto out;
	if (boot_seconds <= clock_boot_ns() / NSEC_PER_SEC) {
		if (kernel_log_load(k->log, rest.p + n, rest.n - n) != HIWAT_OK)
			goto out;
		k->lost = lost;
	}
	buf_add(&k->before, rest.p, n);
	k->has_before = k->is_end_only = true;
	k->needs_baseline = false;
out:
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
	buf_fini(&k->before);
	kernel_log_free(k->log);
	free(k->links);
	free(k);
}

static int
klog_open(const struct sampler_config *config, void **state)
{
	struct klog *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&k->fetch, config->trace, BUFFER_MAX);
	buf_init(&k->before, BUFFER_MAX);
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

static bool
has_links(struct klog *k, size_t n)
{
	if (n <= k->n_links)
		return true;
	uint32_t *links = realloc(k->links, n * sizeof(*links));
	if (links == NULL)
		return false;
	k->links = links;
	k->n_links = n;
	return true;
}

static int
read_new(struct klog *k, int64_t now_s, struct sampler_reason *why)
{
	struct text before = { buf_str(&k->before), k->before.len }, all;
	size_t from = 0;
	int err = message_buffer(&k->fetch, &all);

	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &k->fetch);
	/* The last line may not be whole yet: it is taken with the next reading. */
	while (all.n > 0 && all.p[all.n - 1] != '\n')
		all.n--;
	if (k->has_before && !k->is_end_only) {
		if (!has_links(k, all.n))
			return HIWAT_E_NOMEM;
		from = message_overlap(before, all, k->links);
	} else if (k->has_before) {
		from = message_resume(before, all);
	}
	/* A ring does not shrink: when there is less than before somebody emptied it (dmesg -c). */
	if (k->has_before && from == 0 && before.n > 0 && all.n >= before.n)
		k->lost++;
	if (from == all.n && from == before.n)
		return HIWAT_OK;
	kernel_log_feed(k->log, (struct text){ all.p + from, all.n - from }, now_s);
	k->is_changed |= from < all.n;
	buf_reset(&k->before);
	buf_add(&k->before, all.p, all.n);
	if (!buf_ok(&k->before))
		return HIWAT_E_NOMEM;
	k->has_before = true;
	k->is_end_only = false;
	return HIWAT_OK;
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
