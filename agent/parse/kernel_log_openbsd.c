/*
 * OpenBSD and NetBSD: wd(4) on pciide (sys/dev/ata/wd.c, sys/dev/ic/wdc.c) and the few HBAs that speak. One event of wd:
 *
 *	wd0(pciide0:0:0): timeout
 *		type: ata
 *		c_bcount: 16384
 *		c_skip: 0
 *	pciide0:0:0: device timeout, c_bcount=16384, c_skip0
 *	wd0a: device timeout reading fsbn 64 of 64-95 (wd0 bn 64; cn 0 tn 2 sn 2), retrying	see kl_fsbn()
 *	wd0: soft error (corrected)
 *
 * The line with the block number counts; without one, the first lines do. sd(4) is silent about timeouts.
 */
#include "kernel_log_state.h"

#include "err.h"

/* "wd0(pciide0:0:0): timeout" waits for the line with the block number, as does what the controller adds. */
bool
kl_wd(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, device, where, controller;
	struct kl_waiting *w;

	if (kl_name(&t, '(', &device)) {
		if (!text_until(&t, ')', &where) || !text_skip(&t, ": "))
			return false;
		if (!text_starts(t, "timeout"))
			return true;
		w = kl_waiting(k, KL_WAIT_WD, device);
		if (w != NULL)
			kl_settle(k, w);
		w = kl_wait(k, KL_WAIT_WD, device);
		w->id = k->line;
		kl_copy(w->operation, sizeof(w->operation), where);
		if (kl_name(&where, ':', &controller))
			kl_copy(w->driver, sizeof(w->driver), kl_driver_of(controller));
		return true;
	}
	t = line->text;
	if (!kl_name(&t, ':', &device) || !text_skip(&t, " "))
		return false;
	if (text_starts(t, "soft error (corrected)")) {
		kl_close_slot(k, kl_find_newest(k, device, TEXT("")));
		return true;
	}
	if (text_starts(t, "flush cache command timeout")) {
		kl_timeout(k,
		    &(struct kl_told){ .device = device, .operation = TEXT("flush cache"), .id = k->line, .retries = -1 });
		return true;
	}
	return false;
}

/*
 * "pciide0:0:0: device timeout, ..." and "pciide0:0:0: timeout waiting for DRQ, ...": what waits is named after the
 * controller then, unless a disk's line told of it already.
 */
bool
kl_wd_controller(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, name, controller;
	struct kl_waiting *w;

	if (!kl_after(&t, ": "))
		return false;
	name = (struct text){ line->text.p, line->text.n - t.n - 2 };
	if (name.n >= KL_NAME || (!text_starts(t, "device timeout") && !text_starts(t, "timeout waiting for DRQ")))
		return true;
	for (unsigned i = 0; (i = kl_next_waiting(k, KL_WAIT_WD, i)) < KL_WAITING; i++) {
		if (text_eq(name, k->waiting[i].operation))
			return true;
	}
	w = kl_wait(k, KL_WAIT_WD, name);
	w->id = k->line;
	kl_copy(w->operation, sizeof(w->operation), name);
	controller = name;
	if (kl_name(&name, ':', &controller))
		kl_copy(w->driver, sizeof(w->driver), kl_driver_of(controller));
	return true;
}

/* "mpi0: timeout", "nvme0: timeout on ccb 12" */
bool
kl_openbsd_hba(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, device;
	struct kl_told told = { .id = k->line, .retries = -1 };
	uint64_t ccb;

	if (!kl_name(&t, ':', &device) || !text_skip(&t, " timeout"))
		return false;
	told.device = device;
	told.driver = kl_driver_of(device);
	if (text_skip(&t, " on ccb ")) {
		if (text_u64(&t, &ccb) != 0)
			return false;
		told.id = ccb + 1;
	} else if (text_trim(t).n > 0) {
		return false;
	}
	kl_timeout(k, &told);
	return true;
}
