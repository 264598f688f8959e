/*
 * FreeBSD CAM (sys/cam/cam_periph.c, cam.c). One event is a block of lines that share a prefix; blocks of two disks may
 * interleave:
 *
 *	(da3:mpr0:0:11:0): WRITE(10). CDB: 2a 00 1c 0f 3a 88 00 01 00 00
 *	(da3:mpr0:0:11:0): CAM status: Command timeout
 *	(da3:mpr0:0:11:0): Retrying command, 3 more tries remain
 *	(da3:mpr0:0:11:0): Error 5, Retries exhausted
 *
 * Release 7 prints "Command timed out" without a command, and "Retries Exausted" so. mps and mpr put their own line before
 * the block, led by a tab: "... CDB: ... length 4096 SMID 310 Command timeout on target 3(0x000c) 60000 set, 60.1 elapsed".
 */
#include "kernel_log_state.h"

#include "err.h"

/* The periph and the SIM out of "(da3:mpr0:0:11:0): ". */
static bool
prefix(struct text *t, struct text *device, struct text *sim)
{
	struct text rest = *t, in, periph;

	if (!text_skip(&rest, "(") || !text_until(&rest, ')', &in) || in.n > 80 || !text_skip(&rest, ": "))
		return false;
	if (!kl_name(&in, ':', &periph) || !kl_name(&in, ':', sim))
		return false;
	*device = text_eq(periph, "noperiph") ? *sim : periph;
	*t = rest;
	return true;
}

static void
tell(struct kl_told *told, const struct kl_block *b)
{
	*told = (struct kl_told){
		.device = text_of(b->device),
		.driver = text_of(b->driver),
		.operation = text_of(b->operation),
		.id = b->id,
		.retries = -1,
	};
}

/* "WRITE(10). CDB: 2a 00 ...", also ACB and NCB. False when the text is no command. */
static bool
command(struct kernel_log *k, struct text t, struct text device, struct text sim, struct kl_block **out)
{
	struct text rest = t, bytes;
	uint8_t cdb[32];
	struct kl_block *b;
	unsigned n;

	if (!kl_after(&rest, "B: ") || t.n - rest.n < 7)
		return false;
	struct text head = { t.p, t.n - rest.n - 7 }; /* before ". CDB: " */
	struct text tag = { t.p + head.n, 7 };
	if (!text_eq(tag, ". CDB: ") && !text_eq(tag, ". ACB: ") && !text_eq(tag, ". NCB: "))
		return false;
	b = kl_block(k, device, true);
	b->kind = KL_BLOCK_CAM;
	kl_copy(b->operation, sizeof(b->operation), head);
	kl_copy(b->driver, sizeof(b->driver), kl_driver_of(sim));
	n = kl_hex_bytes(rest, cdb, sizeof(cdb));
	bytes = (struct text){ (const char *)cdb, n };
	b->id = n > 0 ? kl_hash(bytes) : kl_hash(text_trim(rest));
	*out = b;
	return true;
}

static void
timed_out(struct kernel_log *k, struct kl_block *b, struct text sim)
{
	struct kl_told told;
	struct kl_waiting *w;

	/* The controller's own lines were about commands that are told of now. */
	while ((w = kl_waiting(k, KL_WAIT_ADAPTER, sim)) != NULL)
		kl_drop(k, w);
	tell(&told, b);
	b->key = kl_timeout(k, &told);
	b->timed_out = true;
}

static bool
is_final(struct text t, bool cut)
{
	uint64_t error;

	if (kl_skip_case(&t, "error ")) {
		if (text_u64(&t, &error) != 0 || !text_skip(&t, ", "))
			return false;
	}
	return kl_skip_case(&t, "retries exhausted") || kl_skip_case(&t, "retries exausted") ||
	    kl_skip_case(&t, "unretryable error") || kl_skip_case(&t, "retry was blocked") ||
	    (!cut && kl_skip_case(&t, "periph was invalidated"));
}

bool
kl_cam(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, device, sim;
	struct kl_block *b;
	struct kl_told told;
	uint64_t left;

	if (!prefix(&t, &device, &sim))
		return false;
	/* Another disk's line that ran into this one. */
	if (text_starts(t, "(")) {
		kl_line(k, &(struct kl_line){ t, line->cut });
		return true;
	}
	/* The words of a block's other lines come first: they are quick to tell. */
	bool is_status = text_starts(t, "CAM ") || text_starts(t, "Retr") || text_starts(t, "Error");
	if (!is_status && command(k, t, device, sim, &b)) {
		struct text tail = t;
		if (kl_after(&tail, " SMID ")) {
			struct text word;
			if (text_word(&tail, &word)) {
				text_skip_blanks(&tail);
				if (kl_skip_case(&tail, "command timeout"))
					timed_out(k, b, sim);
			}
		}
		return true;
	}
	b = kl_block(k, device, false);
	if (kl_skip_case(&t, "cam status: command timeout") || kl_skip_case(&t, "command timed out")) {
		if (b == NULL) {
			b = kl_block(k, device, true);
			b->kind = KL_BLOCK_CAM;
			kl_copy(b->driver, sizeof(b->driver), kl_driver_of(sim));
		}
		timed_out(k, b, sim);
		return true;
	}
	if (kl_skip_case(&t, "retrying command")) {
		if (b != NULL && text_skip(&t, ", ") && text_u64(&t, &left) == 0 && left < 1000) {
			tell(&told, b);
			uint64_t key = kl_key(&told);
			kl_retries(k, key, (int)left, b->timed_out ? &told : NULL);
		}
		if (b != NULL)
			b->timed_out = false;
		return true;
	}
	if (is_final(t, line->cut)) {
		kl_failure(k, device, kl_driver_of(sim));
		if (b != NULL) {
			tell(&told, b);
			kl_close(k, kl_key(&told));
			b->kind = KL_BLOCK_NONE;
		}
		return true;
	}
	/* mps again, of a command that is not CAM's: "SMID 3 Command timeout on target 3(0x000c) ..." */
	if (text_skip(&t, "SMID ") && text_u64(&t, &left) == 0 && kl_skip_case(&t, " command timeout")) {
		kl_timeout(k,
		    &(struct kl_told){ .device = device, .driver = kl_driver_of(sim), .id = left + 1, .retries = -1 });
	}
	return true;
}
