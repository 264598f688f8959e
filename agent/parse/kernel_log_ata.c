/*
 * FreeBSD ata(4), releases 4 to 9 (sys/dev/ata/ata-queue.c, ata-disk.c), and what the layers above a disk print there:
 *
 *	ad0: READ command timeout tag=0 serv=0 - resetting
 *	ad4: TIMEOUT - WRITE_DMA48 retrying (1 retry left) LBA=318904207
 *	ad4: FAILURE - WRITE_DMA48 timed out LBA=318904207
 *	ad4: FAILURE - READ_DMA status=51<READY,DSC,ERROR> error=40<UNCORRECTABLE> LBA=1	given up, but no timeout
 *	ad4: WARNING - ...							neither
 *	g_vfs_done():ad4s1f[WRITE(offset=98204450816, length=16384)]error = 5
 *
 * The LBA is printed by a second call and may come later, alone; lines of two disks may run into each other.
 */
#include "kernel_log_state.h"

#include "err.h"

#define ATA4_GAP_S 60 /* release 4 names no LBA: a request times out after 10 s and is sent again at once */

static const struct text driver_ata = { "ata", 3 };

struct ata_event {
	struct text device, operation;
	int retries;
	bool is_failure, has_lba;
	uint64_t lba;
};

static void
fill(struct kl_told *told, const struct ata_event *e)
{
	*told = (struct kl_told){
		.device = e->device,
		.driver = driver_ata,
		.operation = e->operation,
		.lba = e->lba,
		.has_lba = e->has_lba,
		.class = kl_class(e->operation),
		.retries = e->retries,
	};
}

static void
finish(struct kernel_log *k, const struct ata_event *e, bool lba_may_be_cut)
{
	struct kl_told told;
	int open;

	fill(&told, e);
	told.is_prefix = lba_may_be_cut;
	if (!e->is_failure) {
		kl_timeout(k, &told);
		return;
	}
	/* The failure is the last timeout's only line; its earlier ones may have lacked their LBA. */
	open = kl_find(k, kl_key(&told), KL_RETRY_GAP_S);
	if (open < 0) {
		open = kl_find_newest(k, e->device, e->operation);
		if (open < 0 || k->commands[open].has_number)
			open = kl_find(k, kl_timeout(k, &told), KL_RETRY_GAP_S);
	}
	kl_failure(k, e->device, driver_ata);
	kl_close_slot(k, open);
}

/* Counts it, or keeps it for the LBA that may come. */
static void
event(struct kernel_log *k, const struct kl_line *line, struct text rest, struct ata_event *e)
{
	struct kl_waiting *w;

	if (text_skip(&rest, " LBA=") && text_u64(&rest, &e->lba) == 0) {
		e->has_lba = true;
		finish(k, e, line->cut && rest.n == 0);
	} else if (k->times > 1) {
		finish(k, e, false); /* repeated, so that no LBA followed */
	} else {
		w = kl_wait(k, KL_WAIT_ATA, e->device);
		kl_copy(w->operation, sizeof(w->operation), e->operation);
		kl_copy(w->driver, sizeof(w->driver), driver_ata);
		w->retries = e->retries;
		w->is_failure = e->is_failure;
	}
	/* Another disk's line that ran into this one. */
	if (rest.n > 4 && *rest.p == 'a')
		kl_line(k, &(struct kl_line){ rest, line->cut });
}

static bool
timeout(struct kernel_log *k, const struct kl_line *line, struct text t, struct text device)
{
	struct ata_event e = { .device = device, .retries = -1 };
	struct text before = t;
	uint64_t left;

	if (!kl_after(&t, " retrying ("))
		return true;
	e.operation = (struct text){ before.p, before.n - t.n - 11 };
	if (text_u64(&t, &left) != 0 || left > 100 || (!text_skip(&t, " retry left)") && !text_skip(&t, " retries left)")))
		return true;
	e.retries = (int)left;
	event(k, line, t, &e);
	return true;
}

static bool
failure(struct kernel_log *k, const struct kl_line *line, struct text t, struct text device)
{
	struct ata_event e = { .device = device, .retries = -1, .is_failure = true };
	struct text before = t;

	if (text_starts(t, "device detached"))
		return true; /* no command */
	if (kl_after(&t, " timed out")) {
		e.operation = (struct text){ before.p, before.n - t.n - 10 };
		event(k, line, t, &e);
		return true;
	}
	t = before;
	if (kl_after(&t, " no interrupt")) { /* 5.2: a timeout with no retries left */
		e.operation = (struct text){ before.p, before.n - t.n - 13 };
		event(k, line, t, &e);
		return true;
	}
	/* Refused by the drive: status, error, sense key. Whole when the line is. */
	if (!line->cut || kl_contains(t, "error="))
		kl_failure(k, device, driver_ata);
	return true;
}

/* "READ command timeout tag=0 serv=0 - resetting": release 4. */
static bool
release_4(struct kernel_log *k, const struct kl_line *line, struct text t, struct text device)
{
	struct kl_told told = { .device = device, .driver = driver_ata, .retries = -1, .gap_s = ATA4_GAP_S };
	struct text before = t;
	uint64_t tag;

	if (!kl_after(&t, " command timeout "))
		return false;
	told.operation = (struct text){ before.p, before.n - t.n - 17 };
	if (text_starts(t, "- resetting")) { /* ATAPI */
		kl_timeout(k, &told);
		return true;
	}
	if (!text_skip(&t, "tag="))
		return false;
	if (text_u64(&t, &tag) != 0 || !text_starts(t, " serv=") || (line->cut && !text_ends(t, "resetting")))
		return true;
	told.id = tag + 1;
	kl_timeout(k, &told);
	return true;
}

bool
kl_ata_disk(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, device;
	struct kl_waiting *w;

	if (!kl_name(&t, ':', &device) || !text_skip(&t, " "))
		return false;
	/* A disk goes on to something else: its last event has no LBA. */
	w = kl_waiting(k, KL_WAIT_ATA, device);
	if (w != NULL)
		kl_settle(k, w);
	if (text_skip(&t, "TIMEOUT - "))
		return timeout(k, line, t, device);
	if (text_skip(&t, "FAILURE - "))
		return failure(k, line, t, device);
	if (text_skip(&t, "WARNING - "))
		return true;
	return release_4(k, line, t, device);
}

/* The second half of an event: "LBA=123". */
bool
kl_ata_lba(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text;
	struct kl_waiting *w = kl_waiting(k, KL_WAIT_ATA, TEXT(""));
	struct ata_event e = { .has_lba = true };
	char device[KL_NAME], operation[KL_TEXT];

	if (w == NULL || !text_skip(&t, "LBA=") || text_u64(&t, &e.lba) != 0)
		return false;
	kl_copy(device, sizeof(device), text_of(w->name));
	kl_copy(operation, sizeof(operation), text_of(w->operation));
	e.device = text_of(device);
	e.operation = text_of(operation);
	e.retries = w->retries;
	e.is_failure = w->is_failure;
	kl_drop(k, w);
	finish(k, &e, line->cut && t.n == 0);
	return true;
}

/* "ata0: resetting devices .. done" */
bool
kl_ata_channel(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, device;

	if (!kl_name(&t, ':', &device) || !text_skip(&t, " resetting devices"))
		return false;
	kl_reset(k, device, driver_ata);
	return true;
}

/* A disk's name out of a partition's: ad4s1f, ada0p2, wd0a. Another name stays as it is. */
static struct text
disk_of(struct text name)
{
	size_t n = 0, letters;

	while (n < name.n && name.p[n] >= 'a' && name.p[n] <= 'z')
		n++;
	letters = n;
	while (n < name.n && name.p[n] >= '0' && name.p[n] <= '9')
		n++;
	if (letters == 0 || n == letters || (n < name.n && !((name.p[n] >= 'a' && name.p[n] <= 'z') || name.p[n] == '.')))
		return name;
	name.n = n;
	return name;
}

/*
 * diskerr(9): "wd0a: device timeout reading fsbn 64 of 64-95 (wd0 bn 64; cn 0 tn 2 sn 2), retrying". The range is the
 * transfer and stays the same when a retry begins further on. Without a word of a retry the transfer failed.
 */
bool
kl_fsbn(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, partition, what, before, disk;
	struct kl_told told = { .retries = -1 };
	struct kl_waiting *w;
	uint64_t number;
	bool is_retried;

	if (!kl_name(&t, ':', &partition) || !text_skip(&t, " "))
		return false;
	before = t;
	if (!kl_after(&t, "ing fsbn "))
		return false;
	what = (struct text){ before.p, before.n - t.n - 6 }; /* "device timeout reading" */
	disk = disk_of(partition);
	if (!text_last_word(&what, &told.operation) || text_u64(&t, &number) != 0)
		return true;
	if (text_skip(&t, " of ") && text_u64(&t, &number) != 0)
		return true;
	is_retried = kl_contains(t, "retry") || kl_contains(t, "falling back") || kl_contains(t, "trying PIO");
	if (line->cut && !is_retried)
		return true;
	told.device = disk;
	told.id = kl_mix(kl_hash(partition), number);
	w = kl_waiting(k, KL_WAIT_WD, disk);
	/* Told by the controller alone, it may be of this disk. */
	for (unsigned i = 0; w == NULL && (i = kl_next_waiting(k, KL_WAIT_WD, i)) < KL_WAITING; i++) {
		if (kl_contains(text_of(k->waiting[i].name), ":"))
			w = &k->waiting[i];
	}
	char driver[KL_NAME] = "";
	if (w != NULL) {
		kl_copy(driver, sizeof(driver), text_of(w->driver));
		kl_drop(k, w);
	}
	told.driver = text_of(driver);
	uint64_t key = kl_key(&told);
	if (kl_contains(what, "timeout"))
		kl_timeout(k, &told);
	if (!is_retried) {
		kl_failure(k, disk, told.driver);
		kl_close(k, key);
	}
	return true;
}

bool
kl_g_vfs_done(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, name;
	uint64_t error;

	if (!text_skip(&t, "g_vfs_done():") || !kl_name(&t, '[', &name) || !kl_after(&t, "]error = ") ||
	    text_u64(&t, &error) != 0 || error == 0)
		return false;
	kl_failure_above(k, disk_of(name));
	return true;
}
