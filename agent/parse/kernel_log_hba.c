/*
 * FreeBSD's disk controllers (sys/dev/{ahci,siis,mvs,mfi,aac,aacraid,mps,mpr,mpt,mrsas,twa,arcmsr,ips,nvme}). Most hand the
 * command back to CAM, whose block then names the disk and the command; until it does, the controller's line waits.
 */
#include "kernel_log_state.h"

#include "err.h"

static bool
controller(const struct kl_line *line, struct text *t, struct text *device)
{
	*t = line->text;
	return kl_name(t, ':', device) && text_skip(t, " ");
}

/* The same command told again before CAM has spoken waits once. */
static void
wait_for_cam(struct kernel_log *k, struct text device, uint64_t id)
{
	struct kl_waiting *w;

	for (unsigned i = 0; (i = kl_next_waiting(k, KL_WAIT_ADAPTER, i)) < KL_WAITING; i++) {
		w = &k->waiting[i];
		if (w->id == id && text_eq(device, w->name) &&
		    (w->time == KERNEL_LOG_NO_TIME || k->time == KERNEL_LOG_NO_TIME || k->time - w->time <= KL_RETRY_GAP_S))
			return;
	}
	w = kl_wait(k, KL_WAIT_ADAPTER, device);
	w->id = id;
	kl_copy(w->driver, sizeof(w->driver), kl_driver_of(device));
}

/* "ahcich0: Timeout on slot 12 port 0", "Poll timeout on slot ..." */
bool
kl_hba_slot(struct kernel_log *k, const struct kl_line *line)
{
	struct text t, device;
	uint64_t slot;

	if (!controller(line, &t, &device))
		return false;
	/* A print of its own, whose rest CAM's has overtaken. */
	if (text_starts(t, "("))
		return kl_cam(k, &(struct kl_line){ t, line->cut });
	if (text_skip(&t, "AHCI reset:") || text_skip(&t, "SIIS reset:") || text_skip(&t, "MVS reset:")) {
		if (!line->cut)
			kl_reset(k, device, kl_driver_of(device));
		return true;
	}
	if (!text_skip(&t, "Timeout on slot ") && !text_skip(&t, "Poll timeout on slot "))
		return true; /* "is 00000000 cs 00003000 ..." and the like */
	if (text_u64(&t, &slot) == 0)
		wait_for_cam(k, device, slot + 1);
	return true;
}

/* "mfi0: COMMAND 0xfffffe0000a11234 TIMEOUT AFTER 30 SECONDS"; aac has "(TYPE 502)" in between. */
bool
kl_hba_stuck(struct kernel_log *k, const struct kl_line *line)
{
	struct text t, device, between;
	uint64_t pointer, age;

	if (!controller(line, &t, &device) || !text_skip(&t, "COMMAND ") || text_hex(&t, &pointer) != 0)
		return false;
	if (text_skip(&t, " (TYPE ") && !text_until(&t, ')', &between))
		return true;
	if (text_skip(&t, " TIMEOUT AFTER ") && text_u64(&t, &age) == 0 && text_starts(t, " SECOND"))
		kl_stuck(k, device, kl_driver_of(device), pointer, age);
	return true;
}

/* mps and mpr: their timeouts are lines of CAM's form, see kernel_log_cam.c. */
bool
kl_hba_mps(struct kernel_log *k, const struct kl_line *line)
{
	struct text t, device;

	if (!controller(line, &t, &device))
		return false;
	if (text_starts(t, "Reinitializing controller"))
		kl_reset(k, device, kl_driver_of(device));
	return true;
}

/* "mpt0: request 0xffffff80:123 timed out for ccb 0xffffff00 (req->ccb 0xffffff00)" */
bool
kl_hba_mpt(struct kernel_log *k, const struct kl_line *line)
{
	struct text t, device;
	uint64_t ccb;

	if (!controller(line, &t, &device))
		return false;
	if (text_starts(t, "request ") && kl_after(&t, " timed out for ccb ") && text_hex(&t, &ccb) == 0 &&
	    (!line->cut || text_starts(t, " (")))
		wait_for_cam(k, device, ccb);
	return true;
}

bool
kl_hba_mrsas(struct kernel_log *k, const struct kl_line *line)
{
	struct text t, device;

	if (!controller(line, &t, &device))
		return false;
	if (text_starts(t, "Initiating Target RESET because of SCSI IO timeout!")) {
		wait_for_cam(k, device, k->line);
		kl_reset(k, device, TEXT("mrsas"));
	} else if (text_starts(t, "DCMD timed out after ")) {
		kl_timeout(k,
		    &(struct kl_told){ .device = device,
			.driver = TEXT("mrsas"),
			.operation = TEXT("DCMD"),
			.retries = -1 });
	} else if (text_skip(&t, "Initiaiting OCR because of ") || text_skip(&t, "Initiating OCR because of ")) {
		if (!kl_contains(t, "!"))
			return true;
		struct kl_told told = { .device = device,
			.driver = TEXT("mrsas"),
			.operation = TEXT("DCMD"),
			.retries = -1 };
		/* Its own line came before, as a rule. */
		if (text_starts(t, "DCMD IO Timeout")) {
			kl_timeout(k, &told);
			kl_close(k, kl_key(&told));
		}
		kl_reset(k, device, TEXT("mrsas"));
	}
	return true;
}

/* "twa0: Request 12 timed out! d = 0xffffff00, c = 0xffffff01" */
bool
kl_hba_twa(struct kernel_log *k, const struct kl_line *line)
{
	struct text t, device;
	uint64_t request;

	if (!controller(line, &t, &device))
		return false;
	if (text_skip(&t, "Request ") && text_hex(&t, &request) == 0 && text_starts(t, " timed out!"))
		wait_for_cam(k, device, request + 1);
	else if (kl_contains(t, "Resetting controller"))
		kl_reset(k, device, TEXT("twa"));
	return true;
}

/* "arcmsr0: wait 'abort all outstanding command' timeout " */
bool
kl_hba_arcmsr(struct kernel_log *k, const struct kl_line *line)
{
	struct text t, device, operation;

	if (!controller(line, &t, &device))
		return false;
	if (text_skip(&t, "wait '") && text_until(&t, '\'', &operation) && text_starts(t, " timeout")) {
		struct kl_told told = { .device = device,
			.driver = TEXT("arcmsr"),
			.operation = operation,
			.id = k->line,
			.retries = -1 };
		kl_timeout(k, &told);
	}
	return true;
}

bool
kl_hba_ips(struct kernel_log *k, const struct kl_line *line)
{
	struct text t, device;

	if (!controller(line, &t, &device) || !text_starts(t, "WARNING: command timeout."))
		return false;
	kl_timeout(k, &(struct kl_told){ .device = device, .driver = TEXT("ips"), .id = k->line, .retries = -1 });
	if (kl_contains(t, "resetting"))
		kl_reset(k, device, TEXT("ips"));
	return true;
}

/*
 * nvme(4). The line of a timeout names no command, the commands listed after a reset are those that were under way.
 * Release 14 walks through "RECOVERY_START", "timeout with nothing complete, resetting" and "Resetting controller due to a
 * timeout", then the reset itself says "resetting controller".
 */
bool
kl_hba_nvme(struct kernel_log *k, const struct kl_line *line)
{
	struct text t, device, driver = TEXT("nvme");
	struct kl_waiting *w;

	if (!controller(line, &t, &device) || kl_driver_of(device).n == device.n)
		return false;
	struct kl_told told = { .device = device, .driver = driver, .id = k->line, .retries = -1 };
	if (text_starts(t, "Resetting controller due to a timeout")) {
		if (line->cut && !text_ends(t, "."))
			return true;
		if ((w = kl_waiting(k, KL_WAIT_ADAPTER, device)) != NULL)
			kl_drop(k, w);
		kl_timeout(k, &told);
		struct kl_block *b = kl_block(k, device, true); /* the reset was announced */
		b->kind = KL_BLOCK_CAM;
		b->timed_out = true;
		kl_reset(k, device, driver);
	} else if (text_starts(t, "Aborting command due to a timeout")) {
		kl_timeout(k, &told);
	} else if (text_starts(t, "timeout with nothing complete, resetting")) {
		wait_for_cam(k, device, k->line);
	} else if (text_starts(t, "resetting controller")) {
		struct kl_block *b = kl_block(k, device, false);
		if (b != NULL && b->timed_out)
			b->kind = KL_BLOCK_NONE;
		else
			kl_reset(k, device, driver);
	} else {
		return kl_contains(t, "sqid:");
	}
	return true;
}
