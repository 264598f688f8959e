/* Disks: what moves, from the kernel's own structures. Timeouts and failures come from the kernel log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "kernel_bsd.h"
#include "record_row.h"
#include "source.h"

/* Which driver's timeouts a disk's name stands for, where the name tells: RAID controllers and NVMe name theirs so. */
static const struct {
	const char *prefix, *driver;
} drivers[] = {
	{ "aacd", "aac" },
	{ "amrd", "amr" },
	{ "idad", "ida" },
	{ "ipsd", "ips" },
	{ "mfid", "mfi" },
	{ "mfisyspd", "mfi" },
	{ "mlxd", "mlx" },
	{ "mlyd", "mly" },
	{ "nda", "nvme" },
	{ "nvd", "nvme" },
	{ "pst", "pst" },
	{ "twed", "twe" },
	{ "vtbd", "virtio_blk" },
};

struct disk {
	struct fetch fetch;
};

static void
disk_close(void *state)
{
	struct disk *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
disk_open(const struct sampler_config *config, void **state)
{
	struct disk *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 4 << 20);
	*state = s;
	return HIWAT_OK;
}

/* The name without its number, and the number. */
static size_t
split_name(const char *name, const char **unit)
{
	size_t n = strlen(name);

	while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	*unit = name + n;
	return n;
}

/* FreeBSD: CAM's timeouts are of a driver, in seconds, and ata(4)'s of all its disks. Elsewhere nobody tells. */
static void
add_facts(struct disk *s, Hiwat__Disk *m)
{
	const char *unit;
	char name[64];
	uint64_t number;
	int len = (int)split_name(m->device, &unit);

	snprintf(name, sizeof(name), "kern.cam.%.*s.default_timeout", len, m->device);
	if (sysctl_u64(&s->fetch, name, &number) == HIWAT_OK && number != 0)
		RECORD_SET(m, command_timeout_seconds, (double)number);
	else if (len == 2 && strncmp(m->device, "ad", 2) == 0 && sysctl_u64(&s->fetch, "hw.ata.to", &number) == HIWAT_OK)
		RECORD_SET(m, command_timeout_seconds, (double)number);
	snprintf(name, sizeof(name), "kern.cam.%.*s.%s.rotating", len, m->device, unit);
	if (sysctl_u64(&s->fetch, name, &number) == HIWAT_OK)
		RECORD_SET(m, rotational, number != 0);
}

static int
add_driver(struct arena *arena, Hiwat__Disk *m)
{
	const char *unit;
	size_t len = split_name(m->device, &unit);

	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		if (strlen(drivers[i].prefix) != len || strncmp(m->device, drivers[i].prefix, len) != 0)
			continue;
		if (RECORD_ROW(arena, m, drivers, disk_driver, text_of(drivers[i].driver)) == NULL)
			return HIWAT_E_NOMEM;
	}
	return HIWAT_OK;
}

static int
disk_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct disk *s = state;
	struct disk_count *rows;
	size_t n;
	int err = disk_counts(&s->fetch, arena, &rows, &n);

	(void)now;
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	Hiwat__Storage *storage = RECORD_ONE(arena, out, storage, storage);
	if (storage == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < n && err == HIWAT_OK; i++) {
		Hiwat__Disk *m = RECORD_ROW(arena, storage, disks, disk, text_of(rows[i].name));
		if (m == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(m, in_flight, rows[i].in_flight);
		RECORD_SET(m, completed_total, rows[i].completed);
		RECORD_SET(m, busy_seconds_total, (double)rows[i].busy_us / 1e6);
		add_facts(s, m);
		err = add_driver(arena, m);
	}
	return err;
}

const struct sampler sampler_disk = {
	.name = "disk",
	.help = "requests, settings and drivers of disks",
	.interval_ms = 10000,
	.deadline_ms = 3000,
	.open = disk_open,
	.sample = disk_sample,
	.close = disk_close,
};
