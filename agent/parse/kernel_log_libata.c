/*
 * Linux libata (drivers/ata/libata-eh.c). Each command of an event has its own lines; with NCQ there are up to 32 of them:
 *
 *	ata3.00: failed command: WRITE FPDMA QUEUED				from 2.6.33
 *	ata3.00: cmd 61/08:00:80:5a:1f/00:00:03:00:00/40 tag 0 ncq dma 4096 out
 *	         res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)
 *
 * The last two are one record with a newline in it, which logs keep as a second line or as an escape.
 */
#include "kernel_log_state.h"

#include <string.h>

#include "err.h"

static const struct text driver_libata = { "libata", 6 };

#define RES_LINES 4 /* how far behind its "cmd" a "res" may come */

/*
 * command/feature:nsect:lbal:lbam:lbah/hob feature:nsect:lbal:lbam:lbah/device. NCQ keeps its tag in nsect and the count in
 * feature; a retry gets another tag.
 */
static bool
taskfile(struct text *t, struct kl_block *b)
{
	static const char separators[] = "/::::/::::/";
	uint64_t v[12];

	for (int i = 0; i < 12; i++) {
		struct text before = *t;
		if (text_hex(t, &v[i]) != 0 || before.n - t->n > 2)
			return false;
		if (i < 11) {
			if (t->n == 0 || *t->p != separators[i])
				return false;
			t->p++;
			t->n--;
		}
	}
	bool is_ncq = v[0] == 0x60 || v[0] == 0x61;
	bool is_lba28 = v[0] == 0xc8 || v[0] == 0xca || v[0] == 0x20 || v[0] == 0x30 || v[0] == 0xc4 || v[0] == 0xc5;
	b->lba = v[3] | v[4] << 8 | v[5] << 16;
	b->lba |= is_lba28 ? (v[11] & 0xf) << 24 : v[8] << 24 | v[9] << 32 | v[10] << 40;
	b->id = kl_mix(v[0], is_ncq ? v[1] | v[6] << 8 : v[2] | v[7] << 8);
	b->has_id = true;
	b->has_lba = is_ncq || is_lba28 || v[0] == 0x25 || v[0] == 0x35 || v[0] == 0x3d || v[0] == 0x29 || v[0] == 0x39 ||
	    v[0] == 0xe7 || v[0] == 0xea;
	if (v[0] == 0x60 || v[0] == 0x25 || v[0] == 0xc8 || v[0] == 0x20 || v[0] == 0x29 || v[0] == 0xc4)
		b->class = 'r';
	else if (v[0] == 0xe7 || v[0] == 0xea)
		b->class = 'f';
	else
		b->class = 'w';
	return true;
}

/* "res 40/00:... Emask 0x4 (timeout)": how the command of the block ended. */
static void
result(struct kernel_log *k, struct kl_block *b, struct text t)
{
	struct text why;

	b->kind = KL_BLOCK_LIBATA;
	if (!kl_after(&t, " Emask ") || !kl_after(&t, "(") || !text_until(&t, ')', &why) || !text_eq(why, "timeout"))
		return;
	kl_timeout(k,
	    &(struct kl_told){
		.device = text_of(b->device),
		.driver = driver_libata,
		.operation = text_of(b->operation),
		.id = b->id,
		.lba = b->lba,
		.has_lba = b->has_lba,
		.class = b->class,
		.cross = true,
		.retries = -1,
	    });
}

static bool
command(struct kernel_log *k, struct text t, struct text device)
{
	struct kl_block *b = kl_block(k, device, false);
	char operation[KL_TEXT] = "";

	if (b != NULL && b->kind == KL_BLOCK_LIBATA && !b->has_id)
		memcpy(operation, b->operation, sizeof(operation));
	b = kl_block(k, device, true);
	memcpy(b->operation, operation, sizeof(operation));
	b->kind = KL_BLOCK_LIBATA_CMD;
	if (!taskfile(&t, b)) {
		b->kind = KL_BLOCK_NONE;
		return true;
	}
	/* Both halves on one line, the newline a blank or escaped as #012, \x0a or \n. */
	if (kl_after(&t, "res "))
		result(k, b, t);
	return true;
}

bool
kl_libata_res(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text;
	struct kl_block *oldest = NULL, *newest = NULL;

	if (!text_skip(&t, "res "))
		return false;
	for (int i = 0; i < KL_BLOCKS; i++) {
		struct kl_block *b = &k->blocks[i];
		if (b->kind != KL_BLOCK_LIBATA_CMD)
			continue;
		if (newest == NULL || b->line > newest->line)
			newest = b;
		if (k->line - b->line <= RES_LINES && (oldest == NULL || b->line < oldest->line))
			oldest = b;
	}
	if (newest == NULL)
		return false;
	result(k, oldest != NULL ? oldest : newest, t);
	return true;
}

/* "ata1.00: tag 0 cmd 0x25 Emask 0x4 stat 0x40 err 0x0 (timeout)": 2.6.18. */
static bool
tag_line(struct kernel_log *k, struct text t, struct text device)
{
	uint64_t tag, code;

	if (text_u64(&t, &tag) != 0 || !text_skip(&t, " cmd ") || text_hex(&t, &code) != 0)
		return false;
	if (text_ends(t, "(timeout)"))
		kl_timeout(k,
		    &(struct kl_told){ .device = device,
			.driver = driver_libata,
			.id = kl_mix(tag, code),
			.gap_s = 60,
			.retries = -1 });
	return true;
}

bool
kl_libata(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, device;
	uint64_t code;

	if (!kl_name(&t, ':', &device) || !text_skip(&t, " "))
		return false;
	if (text_skip(&t, "failed command: ")) {
		if (line->cut)
			return true;
		struct kl_block *b = kl_block(k, device, true);
		b->kind = KL_BLOCK_LIBATA;
		kl_copy(b->operation, sizeof(b->operation), t);
		return true;
	}
	if (text_skip(&t, "cmd "))
		return command(k, t, device);
	if (text_starts(t, "hard resetting ") || text_starts(t, "soft resetting ")) {
		if (!line->cut || text_ends(t, "link") || text_ends(t, "port"))
			kl_reset(k, device, driver_libata);
		return true;
	}
	if (text_skip(&t, "tag "))
		return tag_line(k, t, device);
	if (text_skip(&t, "command ") && text_hex(&t, &code) == 0 &&
	    text_starts(t, " timeout, stat ")) { /* 2.6.5 to 2.6.15 */
		kl_timeout(k, &(struct kl_told){ .device = device, .driver = driver_libata, .id = k->line, .retries = -1 });
		return true;
	}
	if (text_starts(t, "qc timeout ")) {
		/* A command of the recovery itself, unless no other was lost. */
		if (kl_find_newest(k, device, TEXT("")) < 0)
			kl_timeout(k,
			    &(struct kl_told){ .device = device,
				.driver = driver_libata,
				.any_operation = true,
				.retries = -1 });
		return true;
	}
	return false;
}
