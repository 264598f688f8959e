/* The kernel log's counts as a record, and its state as bytes. */
#include "kernel_log_state.h"

#include <string.h>

#include "buf.h"
#include "err.h"

static bool
stuck_age(const struct kernel_log *k, const char *device, int64_t now, uint64_t *age)
{
	bool found = false;

	*age = 0;
	for (int i = 0; i < KL_STUCK; i++) {
		const struct kl_stuck *s = &k->stuck[i];
		if (s->device[0] == '\0' || strcmp(s->device, device) != 0)
			continue;
		/* A time ahead of now is of a boot before this one. */
		if (now != KERNEL_LOG_NO_TIME && s->time != KERNEL_LOG_NO_TIME &&
		    (now - s->time > KL_STUCK_S || s->time - now > KL_BACK_S))
			continue;
		found = true;
		if (s->age > *age)
			*age = s->age;
	}
	return found;
}

static int
emit_device(const struct kernel_log *k, uint32_t index, int64_t now, struct arena *arena, Hiwat__Record *out)
{
	const struct kl_device *d = &k->devices[index];
	uint64_t age;

	Hiwat__Storage *storage = RECORD_ONE(arena, out, storage, storage);
	if (storage == NULL)
		return HIWAT_E_NOMEM;
	Hiwat__Disk *disk = RECORD_ADD(arena, storage, disks, disk);
	if (disk == NULL || (disk->device = record_label(arena, text_of(d->name))) == NULL)
		return HIWAT_E_NOMEM;
	for (uint32_t i = 0; i <= KL_OPERATIONS; i++) {
		const struct kl_operation *o = &k->operations[i];
		if (o->timeouts == 0 || o->device != index)
			continue;
		Hiwat__DiskTimeoutsByOperation *row = RECORD_ADD(arena, disk, timeouts, disk_timeouts_by_operation);
		if (row == NULL || (row->operation = record_label(arena, text_of(o->name))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, total, o->timeouts);
	}
	if (d->failures > 0)
		RECORD_SET(disk, failures_total, d->failures);
	if (d->resets > 0)
		RECORD_SET(disk, resets_total, d->resets);
	if (stuck_age(k, d->name, now, &age))
		RECORD_SET(disk, stuck_command_seconds, (double)age);
	if (d->driver[0] != '\0') {
		Hiwat__DiskDriver *driver = RECORD_ADD(arena, disk, drivers, disk_driver);
		if (driver == NULL || (driver->driver = record_label(arena, text_of(d->driver))) == NULL)
			return HIWAT_E_NOMEM;
	}
	return 0;
}

static int
emit_storms(const struct kernel_log *k, struct arena *arena, Hiwat__Record *out)
{
	for (uint32_t i = 0; i <= KL_STORMS; i++) {
		const struct kl_storm *s = &k->storms[i];
		if (s->total == 0)
			continue;
		Hiwat__Interrupt *interrupt = RECORD_ONE(arena, out, interrupt, interrupt);
		if (interrupt == NULL)
			return HIWAT_E_NOMEM;
		Hiwat__InterruptStormsBySource *row = RECORD_ADD(arena, interrupt, storms, interrupt_storms_by_source);
		if (row == NULL || (row->irq = record_label(arena, text_of(s->irq))) == NULL ||
		    (row->device = record_label(arena, text_of(s->device))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, total, s->total);
	}
	return 0;
}

static int
emit_net(const struct kernel_log *k, bool with_listen, struct arena *arena, Hiwat__Record *out)
{
	bool any = with_listen && k->listen_overflows > 0;

	for (int i = 0; i < KL_LIMITS; i++)
		any = any || k->limits[i] > 0;
	any = any || k->n_kinds > 0;
	if (!any)
		return 0;
	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);
	if (net == NULL)
		return HIWAT_E_NOMEM;
	for (int i = 0; i < KL_LIMITS; i++) {
		if (k->limits[i] == 0)
			continue;
		Hiwat__LimitReportsByResource *row = RECORD_ADD(arena, net, limit_reports, limit_reports_by_resource);
		if (row == NULL || (row->resource = record_label(arena, text_of(kl_limit_name((enum kl_limit)i)))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, total, k->limits[i]);
	}
	for (uint32_t i = 0; i <= KL_KINDS; i++) {
		if (k->kinds[i].total == 0)
			continue;
		Hiwat__ResponseLimitsByKind *row = RECORD_ADD(arena, net, response_limits, response_limits_by_kind);
		if (row == NULL || (row->kind = record_label(arena, text_of(k->kinds[i].name))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, total, k->kinds[i].total);
	}
	if (with_listen && k->listen_overflows > 0) {
		Hiwat__Listen *listen = RECORD_ONE(arena, net, listen, listen);
		if (listen == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(listen, overflows_total, k->listen_overflows);
	}
	return 0;
}

int
kernel_log_emit(struct kernel_log *k, enum kernel_log_use use, int64_t now, struct arena *arena, Hiwat__Record *out)
{
	int err;

	if (now == KERNEL_LOG_NO_TIME)
		now = k->time;
	if (use == KERNEL_LOG_SAVED)
		kl_settle_all(k, KERNEL_LOG_NO_TIME);
	else if (now != KERNEL_LOG_NO_TIME)
		kl_settle_all(k, now - KL_SETTLE_S);
	for (uint32_t i = 0; i <= KL_DEVICES; i++) {
		if (k->devices[i].name[0] != '\0' && (err = emit_device(k, i, now, arena, out)) != 0)
			return err;
	}
	if ((err = emit_storms(k, arena, out)) != 0)
		return err;
	return emit_net(k, use == KERNEL_LOG_SAVED, arena, out);
}

/*
 * A saved state is this head and the state's own bytes: it is read back by the same build on the same host only. The size
 * and the version tell other builds apart, the sum tells damage.
 */
struct saved_head {
	char magic[8];
	uint64_t version, size, sum;
};

#define SAVED_VERSION 1

static const char saved_magic[8] = { 'h', 'i', 'w', 'a', 't', 'k', 'l', 'g' };

static uint64_t
sum(const struct kernel_log *k)
{
	return kl_hash((struct text){ (const char *)k, sizeof(*k) });
}

int
kernel_log_save(const struct kernel_log *k, struct buf *out)
{
	struct saved_head head = { .version = SAVED_VERSION, .size = sizeof(*k), .sum = sum(k) };

	_Static_assert(sizeof(head) + sizeof(*k) <= KERNEL_LOG_SAVE_MAX, "KERNEL_LOG_SAVE_MAX is too small");
	memcpy(head.magic, saved_magic, sizeof(saved_magic));
	buf_add(out, &head, sizeof(head));
	buf_add(out, k, sizeof(*k));
	return buf_ok(out) ? HIWAT_OK : HIWAT_E_NOMEM;
}

/* Whatever is used as an index or as a string must be one, even if the sum was made to fit. */
static bool
is_sound(const struct kernel_log *k)
{
	bool sound = k->n_devices <= KL_DEVICES && k->n_operations <= KL_OPERATIONS && k->n_storms <= KL_STORMS &&
	    k->n_kinds <= KL_KINDS && k->last_len <= KL_LAST && k->times == 1 && k->next_command < KL_COMMANDS;

#define ENDS(string) ((string)[sizeof(string) - 1] == '\0')
	sound = sound && ENDS(k->last_scsi) && ENDS(k->raid_driver);
	for (int i = 0; i <= KL_DEVICES; i++)
		sound = sound && ENDS(k->devices[i].name) && ENDS(k->devices[i].driver);
	for (int i = 0; i <= KL_OPERATIONS; i++)
		sound = sound && ENDS(k->operations[i].name) && k->operations[i].device <= KL_DEVICES;
	for (int i = 0; i < KL_STUCK; i++)
		sound = sound && ENDS(k->stuck[i].device);
	for (int i = 0; i < KL_BLOCKS; i++)
		sound = sound && ENDS(k->blocks[i].device) && ENDS(k->blocks[i].driver) && ENDS(k->blocks[i].operation);
	for (int i = 0; i < KL_WAITING; i++)
		sound = sound && ENDS(k->waiting[i].name) && ENDS(k->waiting[i].operation) && ENDS(k->waiting[i].driver);
	for (int i = 0; i <= KL_STORMS; i++)
		sound = sound && ENDS(k->storms[i].irq) && ENDS(k->storms[i].device);
	for (int i = 0; i <= KL_KINDS; i++)
		sound = sound && ENDS(k->kinds[i].name);
	for (int i = 0; i < KL_SCSI_NAMES; i++)
		sound = sound && ENDS(k->scsi_names[i].address) && ENDS(k->scsi_names[i].name);
#undef ENDS
	return sound;
}

int
kernel_log_load(struct kernel_log *k, const void *data, size_t len)
{
	struct saved_head head;
	struct kernel_log *loaded;

	if (len < sizeof(head))
		return HIWAT_E_CORRUPT;
	memcpy(&head, data, sizeof(head));
	if (memcmp(head.magic, saved_magic, sizeof(saved_magic)) != 0)
		return HIWAT_E_CORRUPT;
	if (head.version != SAVED_VERSION || head.size != sizeof(*k))
		return HIWAT_E_VERSION;
	if (len != sizeof(head) + sizeof(*k))
		return HIWAT_E_CORRUPT;
	loaded = kernel_log_new();
	if (loaded == NULL)
		return HIWAT_E_NOMEM;
	memcpy(loaded, (const char *)data + sizeof(head), sizeof(*loaded));
	int err = sum(loaded) == head.sum && is_sound(loaded) ? HIWAT_OK : HIWAT_E_CORRUPT;
	if (err == HIWAT_OK) {
		memcpy(k, loaded, sizeof(*k));
		kl_index(k);
	}
	kernel_log_free(loaded);
	return err;
}
