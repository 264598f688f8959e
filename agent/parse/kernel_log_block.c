/*
 * Linux: the block layer's last word on a request (block/blk-core.c), and NVMe (drivers/nvme/host/{pci,tcp}.c).
 *
 *	end_request: I/O error, dev sda, sector 2048				2.6
 *	blk_update_request: I/O error, dev sda, sector 2048 op 0x1:(WRITE) ...	3.x, 5.x; print_req_error: 4.x
 *	critical medium error, dev sda, sector 2048 op 0x0:(READ) ...		6.x
 *	nvme nvme0: I/O 460 QID 3 timeout, aborting
 */
#include "kernel_log_state.h"

#include "err.h"

/* The first words by status of the request; those for requests that a device does not know are no failures. */
static bool
status_words(struct text *t)
{
	static const char *const known[] = {
		"I/O error",
		"timeout error",
		"critical target error",
		"critical medium error",
		"critical nexus error",
		"critical space allocation error",
		"recoverable transport error",
		"protection error",
		"device offline error",
		"device resource error",
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (text_skip(t, known[i]))
			return true;
	}
	return false;
}

/* "I/O error, dev sda, sector 2048 ...", with "end_request: " and its successors before. */
bool
kl_block_error(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, device, operation, timed = TEXT("timeout error");
	struct kl_waiting *w;
	uint64_t sector;

	if (!text_skip(&t, "end_request: ") && !text_skip(&t, "blk_update_request: "))
		text_skip(&t, "print_req_error: ");
	bool is_timeout = text_starts(t, timed.p);
	if (!status_words(&t) || !text_skip(&t, ", dev ") || !kl_name(&t, ',', &device) || !text_skip(&t, " sector ") ||
	    text_u64(&t, &sector) != 0)
		return false;
	w = kl_waiting(k, KL_WAIT_RESULT, device);
	if (w == NULL) {
		/* A result whose disk had no name yet: this may be its. */
		w = kl_waiting(k, KL_WAIT_RESULT, TEXT(""));
		if (w != NULL && w->name[0] >= '0' && w->name[0] <= '9')
			kl_copy(w->name, sizeof(w->name), device);
		else
			w = NULL;
	}
	if (w != NULL) {
		kl_drop(k, w);
		is_timeout = true;
	}
	if (is_timeout) {
		struct kl_told told = { .device = device, .lba = sector, .has_lba = true, .cross = true, .retries = -1 };
		if (kl_after(&t, " op 0x") && kl_after(&t, ":(") && text_until(&t, ')', &operation))
			told.operation = operation;
		told.class = kl_class(told.operation);
		bool is_told = false;
		for (int i = 0; i < KL_COMMANDS && !is_told; i++)
			is_told = k->command_keys[i] != 0 && k->commands[i].cross && kl_is_at(&k->commands[i], sector);
		/* NVMe's own lines name the controller and no sector. */
		struct text controller = device;
		if (text_starts(device, "nvme")) {
			for (size_t i = 4; i < device.n; i++) {
				if (device.p[i] == 'n') {
					controller.n = i;
					break;
				}
			}
			is_told = is_told || kl_find_newest(k, controller, TEXT("")) >= 0;
		}
		if (!is_told)
			kl_timeout(k, &told);
	}
	kl_close_place(k, sector);
	kl_failure(k, device, TEXT(""));
	return true;
}

/*
 * "nvme nvme0: I/O 460 QID 3 timeout, aborting", with "tag 123 (407b) opcode 0x1 (Write)" from 6.x. A command that was
 * aborted and does not end is told of again with the reset; one that was found complete is over.
 */
static bool
nvme_timeout(struct kernel_log *k, const struct kl_line *line, struct text t, struct text device)
{
	struct kl_told told = { .device = device, .driver = TEXT("nvme"), .retries = -1, .any_operation = true };
	struct text in;
	uint64_t tag, queue, code;

	text_skip(&t, "tag ");
	if (text_u64(&t, &tag) != 0)
		return false;
	while (text_skip(&t, " (")) {
		if (!text_until(&t, ')', &in))
			return true;
		uint64_t generation;
		struct text all = in;
		if (text_hex(&all, &generation) != 0 || all.n > 0)
			told.operation = in;
	}
	if (text_skip(&t, " type ") && text_u64(&t, &code) != 0)
		return true;
	if (text_skip(&t, " opcode ")) {
		if (text_hex(&t, &code) != 0)
			return true;
		if (text_skip(&t, " (")) {
			if (!text_until(&t, ')', &in))
				return true;
			told.operation = in;
		}
	}
	if (!text_skip(&t, " QID ") || text_u64(&t, &queue) != 0 || !text_skip(&t, " timeout"))
		return false;
	told.id = kl_mix(queue, tag);
	bool is_reset = text_starts(t, ", reset controller"), is_polled = text_starts(t, ", completion polled");
	bool is_disable = text_starts(t, ", disable controller"), is_abort = text_starts(t, ", aborting");
	if (line->cut && !is_reset && !is_polled && !is_disable && !is_abort)
		return true;
	told.phase = is_abort ? 1 : 2;
	uint64_t key = kl_timeout(k, &told);
	if (is_polled)
		kl_close(k, key);
	if (is_reset)
		kl_reset(k, device, told.driver);
	return true;
}

/* "Timeout I/O 12 QID 3"; "queue 3: timeout request 0xc type 4" */
static bool
nvme_old_timeout(struct kernel_log *k, const struct kl_line *line, struct text t, struct text device, const char *between)
{
	uint64_t first, second;

	if (text_u64(&t, &first) != 0 || !text_skip(&t, between) || text_hex(&t, &second) != 0)
		return false;
	if (!line->cut || t.n > 0)
		kl_timeout(k,
		    &(struct kl_told){ .device = device,
			.driver = TEXT("nvme"),
			.id = kl_mix(first, second),
			.retries = -1 });
	return true;
}

bool
kl_nvme(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, device, name;

	if (!text_skip(&t, "nvme ")) {
		/* "nvme0n1: Read(0x2) @ LBA 8, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR" */
		if (!kl_name(&t, ':', &name) || !text_skip(&t, " ") || !kl_contains(t, " @ LBA ") ||
		    !kl_contains(t, "(sct 0x"))
			return false;
		return true;
	}
	if (!text_word(&t, &device) || !text_ends(device, ":") || device.n > 24 || !text_skip(&t, " "))
		return false;
	device.n--;
	if (text_skip(&t, "I/O "))
		return nvme_timeout(k, line, t, device);
	if (text_skip(&t, "Timeout I/O ")) /* up to 4.1 */
		return nvme_old_timeout(k, line, t, device, " QID ");
	if (text_skip(&t, "queue ")) /* nvme-tcp, 5.x */
		return nvme_old_timeout(k, line, t, device, ": timeout request ");
	if (text_starts(t, "controller is down; will reset") || text_starts(t, "resetting controller"))
		kl_reset(k, device, TEXT("nvme"));
	return true;
}
