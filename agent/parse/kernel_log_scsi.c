/*
 * Linux SCSI and its HBAs (drivers/scsi/scsi_logging.c, drivers/scsi/{mpt3sas,megaraid,aacraid}, drivers/message/fusion). A command that times out may be told of by its
 * HBA's abort, by the SCSI result and by the block layer's error, each with a part of what it was:
 *
 *	sd 0:0:3:0: attempting task abort!scmd(0x00000000c3a1b2d4), outstanding for 30180 ms & timeout 30000 ms
 *	sd 0:0:3:0: [sdd] tag#5 CDB: Write(10) 2a 00 00 12 34 56 00 00 08 00
 *	sd 0:0:3:0: [sdd] tag#5 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK cmd_age=30s
 *	I/O error, dev sdd, sector 1193046 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2
 */
#include "kernel_log_state.h"

#include "err.h"

#define ABORT_LINES 6 /* how far behind an abort its CDB may come */

/* The disk at an address "0:0:3:0", as an earlier line named it. */
static struct text
disk_at(const struct kernel_log *k, struct text address)
{
	for (int i = 0; i < KL_SCSI_NAMES; i++) {
		if (k->scsi_names[i].name[0] != '\0' && text_eq(address, k->scsi_names[i].address))
			return text_of(k->scsi_names[i].name);
	}
	return address;
}

static void
learn(struct kernel_log *k, struct text address, struct text name)
{
	struct kl_scsi_name *slot = &k->scsi_names[0];

	if (address.n >= KL_NAME || name.n >= KL_NAME)
		return;
	for (int i = 0; i < KL_SCSI_NAMES; i++) {
		struct kl_scsi_name *at = &k->scsi_names[i];
		if (at->name[0] != '\0' && text_eq(address, at->address)) {
			slot = at;
			break;
		}
		if (at->line < slot->line)
			slot = at;
	}
	slot->line = k->line;
	kl_copy(slot->address, sizeof(slot->address), address);
	kl_copy(slot->name, sizeof(slot->name), name);
}

struct scsi_line {
	struct text address, disk; /* disk: its name, or the address when that is not known */
	bool is_named, has_tag;
	uint64_t tag;
	struct text rest;
};

/* "sd 2:0:0:0: [sda] tag#5 ..." */
static bool
prefix(struct kernel_log *k, struct text t, struct scsi_line *out)
{
	struct text word, name;

	*out = (struct scsi_line){ 0 };
	if (!text_word(&t, &word) || !text_word(&t, &word) || !text_ends(word, ":") || word.n > 24)
		return false;
	word.n--;
	out->address = word;
	text_skip_blanks(&t);
	if (text_skip(&t, "[")) {
		if (!text_until(&t, ']', &name) || name.n == 0 || name.n > 16)
			return false;
		out->disk = name;
		out->is_named = true;
		learn(k, out->address, name);
	} else {
		out->disk = disk_at(k, out->address);
	}
	text_skip_blanks(&t);
	if (text_skip(&t, "tag#")) {
		out->has_tag = text_u64(&t, &out->tag) == 0;
		text_skip_blanks(&t);
	}
	out->rest = t;
	return true;
}

static struct text
driver_of_disk(const struct kernel_log *k)
{
	return text_of(k->raid_driver);
}

/* What waits to be told which command it was: results of this disk, aborts of this address or of no certain one. */
static struct kl_waiting *
unfinished(struct kernel_log *k, const struct scsi_line *s)
{
	for (unsigned i = 0; (i = kl_next_waiting(k, KL_WAIT_RESULT, i)) < KL_WAITING; i++) {
		struct kl_waiting *w = &k->waiting[i];
		bool same_tag = !w->has_id || !s->has_tag || w->id == s->tag;
		if (same_tag && (text_eq(s->disk, w->name) || text_eq(s->address, w->name)))
			return w;
	}
	for (unsigned i = 0; (i = kl_next_waiting(k, KL_WAIT_ABORT, i)) < KL_WAITING; i++) {
		struct kl_waiting *w = &k->waiting[i];
		if (k->line - w->line <= ABORT_LINES &&
		    (text_eq(s->address, w->name) || text_eq(s->disk, w->name) || text_starts(text_of(w->name), "ioc") ||
			text_starts(text_of(w->name), "mpt")))
			return w;
	}
	return NULL;
}

/* "Write(10) 2a 00 ...", "Write(10): 2a 00 ...", "cdb[0]=0x2a: 2a 00 ..." */
static void
cdb(struct kernel_log *k, const struct scsi_line *s, struct text t)
{
	struct kl_told told = { .device = s->disk, .cross = true, .retries = -1 };
	struct kl_waiting *w;
	struct text word, rest, operation = t;
	uint8_t bytes[16];
	unsigned n = 0;

	/* The operation ends where the bytes begin. */
	rest = t;
	operation.n = 0;
	for (struct text at = t; text_word(&at, &word); rest = at) {
		struct text from = { rest.p, rest.n };
		if ((n = kl_hex_bytes(from, bytes, 16)) >= 2)
			break;
		operation.n = (size_t)(word.p + word.n - operation.p);
	}
	if (text_ends(operation, ":"))
		operation.n--;
	told.operation = text_trim(operation);
	told.id = kl_hash((struct text){ (const char *)bytes, n < 10 ? n : 10 });
	told.has_lba = kl_cdb_lba(bytes, n, &told.lba);
	told.class = kl_class(told.operation);
	if (told.has_lba && told.class == 0)
		told.class = n > 0 && (bytes[0] & 0x0f) == 0x0a ? 'w' : 'r';
	/* Recovery asks a disk whether it answers again, under the pointer of the command that it lost. */
	bool is_probe = text_eq(told.operation, "Test Unit Ready") && kl_find_newest(k, s->disk, TEXT("")) >= 0;
	while ((w = unfinished(k, s)) != NULL) {
		if (is_probe) {
			kl_drop(k, w);
			continue;
		}
		char driver[KL_NAME];
		kl_copy(driver, sizeof(driver), text_of(w->driver));
		told.driver = text_of(driver);
		kl_drop(k, w);
		kl_timeout(k, &told);
	}
}

/* "Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK", or 0x03 and 0x06 without the names. */
static void
scsi_result(struct kernel_log *k, const struct scsi_line *s, struct text t, bool cut)
{
	struct text host, driver;
	struct kl_waiting *w;

	if (!text_skip(&t, "hostbyte=") || !text_word(&t, &host) || !kl_after(&t, "driverbyte=") || !text_word(&t, &driver))
		return;
	if (!text_eq(host, "DID_TIME_OUT") && !text_eq(host, "0x03") && !text_eq(host, "0x3") &&
	    !text_eq(driver, "DRIVER_TIMEOUT") && !text_eq(driver, "0x06") && !text_eq(driver, "0x6"))
		return;
	if (cut && !text_eq(driver, "DRIVER_OK") && t.n == 0)
		return;
	w = kl_wait(k, KL_WAIT_RESULT, s->disk);
	w->has_id = s->has_tag;
	w->id = s->has_tag ? s->tag : k->line;
}

/* "Result: ", behind "FAILED", "UNKNOWN(0x2003)" or nothing. */
static bool
result_words(struct text *t)
{
	struct text at = *t, word;

	if (!text_starts(at, "Result: ") && (!text_word(&at, &word) || !text_skip(&at, " ")))
		return false;
	if (!text_skip(&at, "Result: "))
		return false;
	*t = at;
	return true;
}

static bool
reset_words(struct text t)
{
	return text_starts(t, "attempting device reset!") || text_starts(t, "attempting target reset!") ||
	    text_starts(t, "attempting bus reset!") || text_starts(t, "attempting host reset!") ||
	    text_starts(t, "uas_eh_device_reset_handler start");
}

static void
task_abort(struct kernel_log *k, const struct scsi_line *s, struct text t)
{
	struct kl_waiting *w = kl_wait(k, KL_WAIT_ABORT, s->is_named ? s->disk : s->address);
	struct text driver = driver_of_disk(k);
	uint64_t pointer = 0;

	if (kl_contains(t, "tm_dev_handle"))
		driver = TEXT("megaraid_sas");
	else if (driver.n == 0 && kl_contains(t, "scmd("))
		driver = TEXT("mpt3sas");
	kl_copy(w->driver, sizeof(w->driver), driver);
	if (kl_after(&t, "scmd("))
		(void)text_hex(&t, &pointer);
	w->id = pointer;
}

/* The HBA's word on an abort whose CDB never came. */
static void
abort_ended(struct kernel_log *k, const struct scsi_line *s)
{
	struct kl_waiting *w = kl_waiting(k, KL_WAIT_ABORT, s->address);

	if (w == NULL)
		return;
	kl_copy(w->name, sizeof(w->name), s->disk);
	kl_settle(k, w);
}

bool
kl_sd(struct kernel_log *k, const struct kl_line *line)
{
	struct scsi_line s;
	struct text t;
	uint64_t code;

	if (!prefix(k, line->text, &s))
		return false;
	t = s.rest;
	kl_copy(k->last_scsi, sizeof(k->last_scsi), s.disk);
	k->wants_cdb = t.n == 0; /* 3.x: what follows the name comes on its own line */
	if (result_words(&t)) {
		scsi_result(k, &s, t, line->cut);
	} else if (text_skip(&t, "CDB:")) {
		t = text_trim(t);
		if (t.n == 0)
			k->wants_cdb = true;
		else if (!line->cut)
			cdb(k, &s, t);
	} else if (text_starts(t, "attempting task abort!") || text_starts(t, "uas_eh_abort_handler ") ||
	    text_starts(t, "task abort on host ")) { /* vmw_pvscsi */
		task_abort(k, &s, t);
	} else if (text_eq(t, "abort")) { /* virtio_scsi: a line for each command, which it does not name */
		kl_timeout(k,
		    &(struct kl_told){ .device = s.disk, .driver = TEXT("virtio_scsi"), .id = k->line, .retries = -1 });
	} else if (text_starts(t, "task abort")) {
		abort_ended(k, &s);
	} else if (reset_words(t)) {
		kl_reset(k, s.disk, driver_of_disk(k));
	} else if (text_skip(&t, "timing out command, waited ")) {
		struct kl_waiting *w = kl_wait(k, KL_WAIT_RESULT, s.disk);
		w->has_id = s.has_tag;
		w->id = s.has_tag ? s.tag : k->line;
	} else if (text_skip(&t, "SCSI error: return code = ")) { /* 2.6.18: driver, host, message and status byte */
		if (text_hex(&t, &code) == 0 && ((code >> 16 & 0xff) == 3 || (code >> 24 & 0x0f) == 6))
			kl_wait(k, KL_WAIT_RESULT, s.disk)->id = k->line;
	} else if (text_skip(&t, "megasas: RESET ")) { /* up to 4.x; with a serial number in some releases */
		if (!kl_after(&t, "cmd=") || text_hex(&t, &code) != 0)
			return true;
		kl_timeout(k,
		    &(struct kl_told){ .device = s.disk,
			.driver = TEXT("megaraid_sas"),
			.id = code + 1,
			.gap_s = 60,
			.retries = -1 });
		kl_reset(k, s.disk, TEXT("megaraid_sas"));
	} else if (text_starts(t, "WARNING: (") && kl_after(&t, "): Command (0x") &&
	    kl_contains(t, ") timed out, resetting card")) {
		kl_timeout(k,
		    &(struct kl_told){ .device = s.disk, .driver = TEXT("3w-9xxx"), .id = k->line, .retries = -1 });
		kl_reset(k, s.disk, TEXT("3w-9xxx"));
	} else {
		return false;
	}
	return true;
}

/* What stood behind "sd 2:0:0:0: [sda]" on a line of its own. */
bool
kl_scsi_follow(struct kernel_log *k, const struct kl_line *line)
{
	struct scsi_line s = { .disk = text_of(k->last_scsi), .is_named = true };
	struct text t = line->text;

	if (k->last_scsi[0] == '\0')
		return false;
	if (text_skip(&t, "Result: ")) {
		scsi_result(k, &s, t, line->cut);
		return true;
	}
	if (!k->wants_cdb || line->cut || !kl_contains(t, ": "))
		return false;
	k->wants_cdb = false;
	cdb(k, &s, t);
	return true;
}

/* "mptscsih: ioc0: attempting task abort! (sc=ffff88003b0c8a00)" */
bool
kl_mptscsih(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, ioc;

	if (!text_skip(&t, "mptscsih: ") || !kl_name(&t, ':', &ioc) || !text_skip(&t, " "))
		return false;
	if (text_starts(t, "attempting task abort!")) {
		struct kl_waiting *w = kl_wait(k, KL_WAIT_ABORT, ioc);
		uint64_t pointer = 0;
		if (kl_after(&t, "(sc="))
			(void)text_hex(&t, &pointer);
		w->id = pointer;
		kl_copy(w->driver, sizeof(w->driver), TEXT("mptscsih"));
	} else if (text_starts(t, "task abort: ")) {
		struct kl_waiting *w = kl_waiting(k, KL_WAIT_ABORT, ioc);
		if (w != NULL)
			kl_settle(k, w);
	} else if (reset_words(t)) {
		kl_reset(k, ioc, TEXT("mptscsih"));
	}
	return true;
}

/* "mpt3sas_cm0: sending diag reset !!", mpt2sas0 before; other lines tell which driver is at work. */
bool
kl_mptsas(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, name;

	if ((!text_starts(t, "mpt3sas") && !text_starts(t, "mpt2sas")) || !kl_name(&t, ':', &name))
		return false;
	kl_copy(k->raid_driver, sizeof(k->raid_driver), (struct text){ name.p, 7 });
	text_skip(&t, " ");
	if (text_starts(t, "sending diag reset") || reset_words(t)) {
		kl_reset(k, name, (struct text){ name.p, 7 });
	} else if (text_starts(t, "attempting task abort!")) { /* up to 3.x */
		struct kl_waiting *w = kl_wait(k, KL_WAIT_ABORT, name);
		uint64_t pointer = 0;
		if (kl_after(&t, "scmd("))
			(void)text_hex(&t, &pointer);
		w->id = pointer;
		kl_copy(w->driver, sizeof(w->driver), text_of(k->raid_driver));
	} else if (text_starts(t, "task abort: ")) {
		struct kl_waiting *w = kl_waiting(k, KL_WAIT_ABORT, name);
		if (w != NULL)
			kl_settle(k, w);
	}
	return true;
}

/* "megaraid_sas 0000:03:00.0: OCR is requested due to IO timeout!!", "megaraid_sas: resetting fusion adapter scsi0." */
bool
kl_megaraid(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, device, word, driver = TEXT("megaraid_sas");

	if (text_skip(&t, "megaraid_sas ")) {
		if (!text_word(&t, &device) || !text_ends(device, ":"))
			return false;
		device.n--;
		text_skip_blanks(&t);
	} else {
		device = driver;
		if (!kl_after(&t, ": "))
			return false;
	}
	if (text_starts(t, "OCR is requested due to IO timeout!!") || text_starts(t, "IO/DCMD timeout is detected")) {
		/* The commands that it is about were aborted first, as a rule. */
		bool is_told = false;
		for (uint32_t i = 0; i < k->n_devices; i++)
			is_told = is_told || text_eq(TEXT("megaraid_sas"), k->devices[i].driver);
		for (unsigned i = 0; (i = kl_next_waiting(k, KL_WAIT_ABORT, i)) < KL_WAITING; i++)
			is_told = is_told || text_eq(driver, k->waiting[i].driver);
		if (!is_told)
			kl_timeout(k, &(struct kl_told){ .device = device, .driver = driver, .retries = -1 });
	} else if (text_skip(&t, "resetting fusion adapter ") && text_word(&t, &word)) {
		kl_reset(k, device, driver);
	}
	return true;
}

/* "aacraid: Host adapter abort request (0,0,3,0)" */
bool
kl_aacraid(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text;
	uint64_t part[4];
	char address[4 * 6];
	size_t n = 0;

	if (!text_skip(&t, "aacraid: Host adapter "))
		return false;
	if (text_starts(t, "reset request")) {
		kl_reset(k, TEXT("aacraid"), TEXT("aacraid"));
		return true;
	}
	if (!text_skip(&t, "abort request ("))
		return true;
	for (int i = 0; i < 4; i++) {
		if (text_u64(&t, &part[i]) != 0 || part[i] > 9999 || !text_skip(&t, i < 3 ? "," : ")"))
			return true;
		uint64_t scale = 1;
		while (scale < 1000 && scale * 10 <= part[i])
			scale *= 10;
		for (; scale > 0; scale /= 10)
			address[n++] = (char)('0' + part[i] / scale % 10);
		if (i < 3)
			address[n++] = ':';
	}
	kl_timeout(k,
	    &(struct kl_told){ .device = disk_at(k, (struct text){ address, n }),
		.driver = TEXT("aacraid"),
		.id = k->line,
		.retries = -1 });
	return true;
}
