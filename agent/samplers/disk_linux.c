/*
 * Disks: /proc/diskstats for what moves, /sys/block for which of its rows are disks and what they are. The latter is read
 * once a minute and when a disk comes or goes. Timeouts and failures come from the kernel log.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "live.h"
#include "proc.h"
#include "record_row.h"
#include "source.h"
#include "sysfs.h"

#define DISKS_MAX 4096
#define FACTS_INTERVAL_NS (60 * NSEC_PER_SEC)
#define FACTS_ARENA_MAX ((size_t)2 << 20)
#define NAME_MAX_LEN 64

static const struct source_row rows[] = { { .name = "diskstats", .parse = proc_diskstats_parse, .may_be_empty = true } };

/* Memory that looks like a disk. */
static const char *const not_disks[] = { "loop", "ram", "zram" };

/* What does not change while a disk is there. */
struct facts {
	const char *name, *driver; /* driver NULL: not known */
	bool has_rotational, has_timeout;
	uint32_t rotational;
	double timeout_seconds;
};

struct disk {
	struct fetch fetch;
	struct source source;
	const char *sys_dir;
	struct live *busy;  /* milliseconds, 32 bits wide */
	struct arena arena; /* of the facts */
	struct facts *facts;
	size_t n_facts;
	uint64_t facts_ns; /* boot time at which they were read; 0: never */
	size_t n_rows;     /* rows of diskstats then: another number means that something came or went */
};

static void
disk_close(void *state)
{
	struct disk *d = state;

	sources_fini(&d->source, 1);
	fetch_fini(&d->fetch);
	live_free(d->busy);
	arena_fini(&d->arena);
	free(d);
}

static int
disk_open(const struct sampler_config *config, void **state)
{
	struct disk *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&d->fetch, config->trace, 4 << 20);
	arena_init(&d->arena, FACTS_ARENA_MAX);
	d->sys_dir = config->sys_dir;
	d->busy = live_new();
	int err = d->busy != NULL ? sources_init(&d->source, config->proc_dir, rows, 1) : HIWAT_E_NOMEM;
	if (err != HIWAT_OK) {
		disk_close(d);
		return err;
	}
	*state = d;
	return HIWAT_OK;
}

static bool
is_disk(const char *name)
{
	for (size_t i = 0; i < sizeof(not_disks) / sizeof(not_disks[0]); i++) {
		size_t len = strlen(not_disks[i]);
		if (strncmp(name, not_disks[i], len) == 0 && name[len] >= '0' && name[len] <= '9')
			return false;
	}
	return true;
}

/*
 * The driver of the controller, whose timeouts are what matters: a SCSI disk's own driver is always "sd", its host says
 * megaraid_sas, ahci or mpt3sas. NVMe namespaces hang below their controller. Others, as virtio, name it themselves.
 */
static bool
driver_of(struct disk *d, const char *name, char *driver, size_t size)
{
	char path[FETCH_PATH_MAX], real[1024], host[NAME_MAX_LEN];

	snprintf(path, sizeof(path), "%s/block/%s/device", d->sys_dir, name);
	if (!sysfs_real_path(path, real, sizeof(real)))
		return false;
	const char *at = strstr(real, "/host");
	if (at != NULL && at[5] >= '0' && at[5] <= '9') {
		size_t len = strcspn(at + 1, "/");
		if (len < sizeof(host)) {
			memcpy(host, at + 1, len);
			host[len] = '\0';
			if (sysfs_word(&d->fetch, driver, size, "%s/class/scsi_host/%s/proc_name", d->sys_dir, host) &&
			    strcmp(driver, "<NULL>") != 0)
				return true;
		}
	}
	snprintf(path, sizeof(path), "%s/block/%s/device/driver", d->sys_dir, name);
	if (sysfs_link_name(path, driver, size))
		return true;
	snprintf(path, sizeof(path), "%s/block/%s/device/device/driver", d->sys_dir, name);
	return sysfs_link_name(path, driver, size);
}

static int
facts_of(struct disk *d, const char *name, struct facts *facts)
{
	char driver[NAME_MAX_LEN];
	uint64_t number;

	facts->name = name;
	if (driver_of(d, name, driver, sizeof(driver))) {
		facts->driver = arena_strndup(&d->arena, driver, strlen(driver));
		if (facts->driver == NULL)
			return HIWAT_E_NOMEM;
	}
	if (sysfs_u64(&d->fetch, &number, "%s/block/%s/queue/rotational", d->sys_dir, name)) {
		facts->has_rotational = true;
		facts->rotational = number != 0;
	}
	/* SCSI: seconds. Others: the queue's milliseconds, which virtio_blk has and does not act on. */
	if (sysfs_u64(&d->fetch, &number, "%s/block/%s/device/timeout", d->sys_dir, name)) {
		facts->has_timeout = true;
		facts->timeout_seconds = (double)number;
	} else if ((facts->driver == NULL || strcmp(facts->driver, "virtio_blk") != 0) &&
	    sysfs_u64(&d->fetch, &number, "%s/block/%s/queue/io_timeout", d->sys_dir, name)) {
		facts->has_timeout = true;
		facts->timeout_seconds = (double)number / 1000;
	}
	return HIWAT_OK;
}

static int
facts_read(struct disk *d, struct sampler_reason *why)
{
	char path[FETCH_PATH_MAX];
	const char *const *names;
	size_t n;

	arena_reset(&d->arena);
	d->n_facts = 0;
	snprintf(path, sizeof(path), "%s/block", d->sys_dir);
	int err = sysfs_list(&d->fetch, path, &d->arena, DISKS_MAX, &names, &n);
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &d->fetch);
	d->facts = arena_calloc(&d->arena, n, sizeof(*d->facts));
	if (d->facts == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!is_disk(names[i]))
			continue;
		err = facts_of(d, names[i], &d->facts[d->n_facts]);
		if (err != HIWAT_OK)
			return err;
		d->n_facts++;
	}
	return HIWAT_OK;
}

static const struct facts *
facts_find(const struct disk *d, const char *name)
{
	for (size_t i = 0; i < d->n_facts; i++) {
		if (strcmp(d->facts[i].name, name) == 0)
			return &d->facts[i];
	}
	return NULL;
}

static int
add_facts(struct disk *d, struct arena *arena, const struct facts *facts, Hiwat__Disk *m)
{
	if (facts->has_rotational)
		RECORD_SET(m, rotational, facts->rotational);
	if (facts->has_timeout)
		RECORD_SET(m, command_timeout_seconds, facts->timeout_seconds);
	if (facts->driver != NULL) {
		if (RECORD_ROW(arena, m, drivers, disk_driver, text_of(facts->driver)) == NULL)
			return HIWAT_E_NOMEM;
	}
	if (m->has_busy_seconds_total) {
		struct live_row *row =
		    live_add_one(d->busy, text_of(m->device), (uint64_t)llround(m->busy_seconds_total * 1000));
		if (row == NULL)
			return HIWAT_E_NOMEM;
		m->busy_seconds_total = (double)row->total / 1000;
	}
	return HIWAT_OK;
}

static int
disk_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct disk *d = state;
	struct parse_input units = source_units();
	size_t kept = 0;

	int err = source_sample(&d->source, &d->fetch, &units, arena, out, why);
	if (err != HIWAT_OK)
		return err;
	Hiwat__Storage *m = RECORD_ONE(arena, out, storage, storage);
	if (m == NULL)
		return HIWAT_E_NOMEM;
	if (d->facts_ns == 0 || now->boot_ns - d->facts_ns >= FACTS_INTERVAL_NS || m->n_disks != d->n_rows) {
		err = facts_read(d, why);
		if (err != HIWAT_OK)
			return err;
		d->facts_ns = now->boot_ns;
		d->n_rows = m->n_disks;
	}
	live_begin(d->busy);
	for (size_t i = 0; i < m->n_disks && err == HIWAT_OK; i++) {
		/* /sys has ! where a device's name has a slash (cciss/c0d0). */
		char name[NAME_MAX_LEN];
		snprintf(name, sizeof(name), "%s", m->disks[i]->device);
		for (char *p = name; *p != '\0'; p++) {
			if (*p == '/')
				*p = '!';
		}
		const struct facts *facts = facts_find(d, name);
		if (facts == NULL)
			continue;
		err = add_facts(d, arena, facts, m->disks[i]);
		m->disks[kept++] = m->disks[i];
	}
	m->n_disks = kept;
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
