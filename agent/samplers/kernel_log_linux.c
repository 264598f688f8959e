/*
 * What the kernel log reports, counted: /dev/kmsg, followed from where it was left. Counts and position are kept together,
 * so that a restart neither loses nor repeats a line that is still in the kernel's buffer; a new boot starts at 0.
 *
 * The first reading after installation is a baseline: lines from before are history. Without a state directory, as in
 * `once`, everything in the buffer counts, as it does for a saved log.
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
#include "kmsg.h"
#include "record.h"
#include "source.h"
#include "sysfs.h"

#define CHUNK_MAX ((size_t)256 << 10)
#define CHUNKS_MAX 256 /* of one sample: 64 MiB, more than the largest buffers hold; what is left comes next time */
#define KEEP_NAME "kernel_log"
#define KEEP_HEAD "hiwat kernel_log 1 "
#define KEEP_MAX (KERNEL_LOG_SAVE_MAX + 128)
#define KEEP_INTERVAL_NS (60 * NSEC_PER_SEC)
#define BOOT_ID_MAX 40

struct klog {
	struct fetch fetch;
	struct kmsg kmsg;
	struct kernel_log *log; /* owned */
	const char *state_dir;
	char boot_id[BOOT_ID_MAX];
	uint64_t lost; /* records overwritten before they were read */
	bool needs_baseline;
	uint64_t kept_ns, kept_position;
};

static int
keep_save(struct klog *k)
{
	struct buf b;

	buf_init(&b, KEEP_MAX);
	buf_printf(&b, KEEP_HEAD "%s %" PRIu64 "\n", k->boot_id, k->lost);
	int err = kernel_log_save(k->log, &b);
	if (err == HIWAT_OK)
		err = keep_write(k->state_dir, KEEP_NAME, (struct text){ buf_str(&b), b.len });
	buf_fini(&b);
	k->kept_position = kernel_log_position(k->log);
	return err;
}

/*
 * What was kept in this boot goes on; what was kept in another one ended with it, and all that is in the log now is new.
 * Without a usable file this is the first reading.
 */
static void
keep_load(struct klog *k)
{
	struct text rest, line, boot_id;
	struct buf b;
	uint64_t lost;

	buf_init(&b, KEEP_MAX);
	k->needs_baseline = k->state_dir != NULL;
	if (keep_read(k->state_dir, KEEP_NAME, &b) != HIWAT_OK)
		goto out;
	rest = (struct text){ buf_str(&b), b.len };
	if (!text_line(&rest, &line, NULL) || !text_skip(&line, KEEP_HEAD) || !text_word(&line, &boot_id) ||
	    !text_is_u64(line, &lost))
		goto out;
	if (!text_eq(boot_id, k->boot_id)) {
		k->needs_baseline = false;
	} else if (kernel_log_load(k->log, rest.p, rest.n) == HIWAT_OK) {
		k->needs_baseline = false;
		k->lost = lost;
		k->kept_position = kernel_log_position(k->log);
	}
out:
	buf_fini(&b);
}

static void
klog_close(void *state)
{
	struct klog *k = state;

	/* Before the first sample there is nothing new to keep. */
	if (k->kept_ns != 0 && kernel_log_position(k->log) != k->kept_position)
		(void)keep_save(k);
	kmsg_fini(&k->kmsg);
	fetch_fini(&k->fetch);
	kernel_log_free(k->log);
	free(k);
}

static int
klog_open(const struct sampler_config *config, void **state)
{
	struct klog *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&k->fetch, config->trace, CHUNK_MAX);
	kmsg_init(&k->kmsg, config->kmsg_path);
	k->state_dir = config->state_dir;
	k->log = kernel_log_new();
	if (k->log == NULL) {
		fetch_fini(&k->fetch);
		free(k);
		return HIWAT_E_NOMEM;
	}
	if (!sysfs_word(&k->fetch, k->boot_id, sizeof(k->boot_id), "%s/sys/kernel/random/boot_id", config->proc_dir))
		memcpy(k->boot_id, "-", 2);
	keep_load(k);
	*state = k;
	return HIWAT_OK;
}

/* PRIORITY,SEQUENCE,... in front of a chunk. */
static bool
first_sequence(struct text chunk, uint64_t *sequence)
{
	struct text priority;

	return text_until(&chunk, ',', &priority) && text_u64(&chunk, sequence) == HIWAT_OK;
}

static int
read_new(struct klog *k, struct sampler_reason *why)
{
	bool more = true;

	for (int i = 0; more && i < CHUNKS_MAX; i++) {
		uint64_t position = kernel_log_position(k->log), sequence;
		struct text chunk;
		int err = kmsg_read(&k->kmsg, &k->fetch, &chunk, &more);
		if (err != HIWAT_OK)
			return sampler_fail_fetch(why, err, &k->fetch);
		if (position != 0 && first_sequence(chunk, &sequence) && sequence > position)
			k->lost += sequence - position;
		kernel_log_feed(k->log, chunk, KERNEL_LOG_NO_TIME);
	}
	return HIWAT_OK;
}

/* Keeps the position and forgets what was counted up to it. */
static int
take_baseline(struct klog *k)
{
	struct kernel_log *fresh = kernel_log_new();

	if (fresh == NULL)
		return HIWAT_E_NOMEM;
	kernel_log_set_position(fresh, kernel_log_position(k->log));
	kernel_log_free(k->log);
	k->log = fresh;
	k->needs_baseline = false;
	return HIWAT_OK;
}

static int
klog_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct klog *k = state;
	int err = read_new(k, why);

	if (err != HIWAT_OK)
		return err;
	if (k->needs_baseline && (err = take_baseline(k)) != HIWAT_OK)
		return err;
	/* A write that fails is tried again: at worst a restart begins with a baseline. */
	if (k->kept_ns == 0 ||
	    (now->boot_ns - k->kept_ns >= KEEP_INTERVAL_NS && kernel_log_position(k->log) != k->kept_position)) {
		(void)keep_save(k);
		k->kept_ns = now->boot_ns;
	}
	err = kernel_log_emit(k->log, KERNEL_LOG_LIVE, (int64_t)(now->boot_ns / NSEC_PER_SEC), arena, out);
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
