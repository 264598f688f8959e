/* hw.diskstats: an array of structures (sys/kern/subr_disk.c). */
#include <string.h>
#include <sys/types.h>
#include <sys/time.h>
#include <sys/disk.h>

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "kernel_bsd.h"

/* Memory, files and media that come and go. */
static bool
is_disk(const char *name)
{
	static const char *const others[] = { "rd", "vnd", "cd", "fd" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		size_t len = strlen(others[i]);
		if (strncmp(name, others[i], len) == 0 && name[len] >= '0' && name[len] <= '9')
			return false;
	}
	return name[0] != '\0';
}

int
disk_counts(struct fetch *f, struct arena *arena, struct disk_count **rows, size_t *n)
{
	struct diskstats d;
	struct text raw;
	size_t kept = 0;
	int err = sysctl_read(f, "hw.diskstats", &raw);

	if (err != HIWAT_OK)
		return err;
	if (raw.n % sizeof(d) != 0)
		return fetch_done(f, "sysctl", "hw.diskstats", clock_mono_ns(), HIWAT_E_VERSION, 0, raw.n);
	size_t total = raw.n / sizeof(d);
	struct disk_count *out = arena_calloc(arena, total, sizeof(*out));
	if (out == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < total; i++) {
		memcpy(&d, raw.p + i * sizeof(d), sizeof(d));
		d.ds_name[sizeof(d.ds_name) - 1] = '\0';
		if (!is_disk(d.ds_name))
			continue;
		struct disk_count *row = &out[kept++];
		memcpy(row->name, d.ds_name, strlen(d.ds_name));
		row->in_flight = d.ds_busy > 0 ? (uint64_t)d.ds_busy : 0;
		row->completed = d.ds_rxfer + d.ds_wxfer;
		row->busy_us = (uint64_t)d.ds_time.tv_sec * 1000000 + (uint64_t)d.ds_time.tv_usec;
	}
	*rows = out;
	*n = kept;
	return HIWAT_OK;
}
