/* kern.devstat.all: the generation of the list, a long, and a structure for each device (sys/kern/subr_devstat.c). */
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/time.h>
#include <sys/devicestat.h>

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "kernel_bsd.h"

static uint64_t
bintime_us(const struct bintime *b)
{
	/* frac counts 2^-64 seconds; its upper half is exact enough. */
	return b->sec < 0 ? 0 : (uint64_t)b->sec * 1000000 + (((b->frac >> 32) * 1000000) >> 32);
}

static bool
is_disk(const struct devstat *d)
{
	unsigned type = (unsigned)d->device_type;

	return d->device_name[0] != '\0' && (type & DEVSTAT_TYPE_PASS) == 0 &&
	    ((type & DEVSTAT_TYPE_MASK) == DEVSTAT_TYPE_DIRECT || (type & DEVSTAT_TYPE_MASK) == DEVSTAT_TYPE_STORARRAY) &&
	    strncmp(d->device_name, "md", sizeof(d->device_name)) != 0;
}

int
disk_counts(struct fetch *f, struct arena *arena, struct disk_count **rows, size_t *n)
{
	struct devstat d;
	struct text raw;
	size_t kept = 0;
	int err = sysctl_read(f, "kern.devstat.all", &raw);

	if (err != HIWAT_OK)
		return err;
	if (raw.n < sizeof(long) || (raw.n - sizeof(long)) % sizeof(d) != 0)
		return fetch_done(f, "sysctl", "kern.devstat.all", clock_mono_ns(), HIWAT_E_VERSION, 0, raw.n);
	size_t total = (raw.n - sizeof(long)) / sizeof(d);
	struct disk_count *out = arena_calloc(arena, total, sizeof(*out));
	if (out == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < total; i++) {
		memcpy(&d, raw.p + sizeof(long) + i * sizeof(d), sizeof(d));
		d.device_name[sizeof(d.device_name) - 1] = '\0';
		if (!is_disk(&d))
			continue;
		struct disk_count *row = &out[kept++];
		snprintf(row->name, sizeof(row->name), "%s%d", d.device_name, d.unit_number);
		/* Both wrap at 32 bits; their difference does not. */
		row->in_flight = (uint32_t)(d.start_count - d.end_count);
		for (int kind = 0; kind < DEVSTAT_N_TRANS_FLAGS; kind++)
			row->completed += d.operations[kind];
		row->busy_us = bintime_us(&d.busy_time);
	}
	*rows = out;
	*n = kept;
	return HIWAT_OK;
}
