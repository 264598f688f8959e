/*
 * How full file systems are. Those behind a network or a FUSE process are a sampler of their own: a server that does not
 * answer makes their numbers unknown, not those of the local disks.
 */
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "kernel_bsd.h"
#include "mount.h"
#include "record_row.h"
#include "source.h"

#define MOUNTS_SHOWN 256

/* Interfaces of the kernel, other views of what is mounted elsewhere, and what is never written. */
static const char *const left_out[] = { "autofs", "cd9660", "devfs", "fdesc", "fdescfs", "kernfs", "linprocfs", "linsysfs",
	"mqueuefs", "nullfs", "procfs", "ptyfs", "udf", "unionfs" };

struct filesystems {
	struct fetch fetch;
	bool is_remote; /* which of the two samplers */
};

static void
filesystems_close(void *state)
{
	struct filesystems *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
filesystems_open(const struct sampler_config *config, bool is_remote, void **state)
{
	struct filesystems *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	s->is_remote = is_remote;
	fetch_init(&s->fetch, config->trace, 4 << 20);
	*state = s;
	return HIWAT_OK;
}

static int
local_open(const struct sampler_config *config, void **state)
{
	return filesystems_open(config, false, state);
}

static int
remote_open(const struct sampler_config *config, void **state)
{
	return filesystems_open(config, true, state);
}

static bool
is_wanted(const struct filesystems *s, const struct mount_row *row)
{
	bool is_remote = !row->is_local || strncmp(row->type, "fuse", 4) == 0;

	if (row->is_read_only || is_remote != s->is_remote)
		return false;
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
		if (strcmp(row->type, left_out[i]) == 0)
			return false;
	}
	return true;
}

/* A later mount at the same place hides the earlier one. */
static bool
is_hidden(const struct mount_row *rows, size_t n, size_t i)
{
	for (size_t j = i + 1; j < n; j++) {
		if (strcmp(rows[i].mount, rows[j].mount) == 0)
			return true;
	}
	return false;
}

static int
add_mount(struct filesystems *s, const char *mount, struct arena *arena, Hiwat__System *m, struct sampler_reason *why)
{
	struct mount_usage u;
	/* Two paths that look alike as labels cannot be told apart: the first counts. */
	if (RECORD_FIND(m, filesystems, filesystem, text_of(mount)) != NULL)
		return HIWAT_OK;
	int err = mount_usage(&s->fetch, mount, &u);

	if (err == HIWAT_E_DENIED || err == HIWAT_E_MISSING)
		return HIWAT_OK;
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	if (u.blocks == 0 || u.blocks_free > u.blocks)
		return HIWAT_OK;
	Hiwat__Filesystem *fs = RECORD_ROW(arena, m, filesystems, filesystem, text_of(mount));
	if (fs == NULL)
		return HIWAT_E_NOMEM;
	/* As df counts: what is reserved for root is not there for anybody else, and root alone goes beyond. */
	uint64_t used = u.blocks - u.blocks_free;
	uint64_t available = u.blocks_available <= u.blocks ? u.blocks_available : 0;
	RECORD_SET(fs, bytes_used, used * u.block_bytes);
	RECORD_SET(fs, bytes_limit, (used + available) * u.block_bytes);
	if (u.inodes != 0 && u.inodes_free <= u.inodes) {
		RECORD_SET(fs, inodes_used, u.inodes - u.inodes_free);
		RECORD_SET(fs, inodes_limit, u.inodes);
	}
	return HIWAT_OK;
}

static int
filesystems_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct filesystems *s = state;
	struct mount_row *rows;
	size_t n, shown = 0;
	int err = mount_rows(&s->fetch, arena, &rows, &n);

	(void)now;
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	Hiwat__System *m = RECORD_ONE(arena, out, system, system);
	if (m == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < n && err == HIWAT_OK && shown < MOUNTS_SHOWN; i++) {
		if (!is_wanted(s, &rows[i]) || is_hidden(rows, n, i))
			continue;
		shown++;
		err = add_mount(s, rows[i].mount, arena, m, why);
	}
	if (err == HIWAT_OK && shown == 0)
		return sampler_fail(why, HIWAT_E_MISSING, "no such file system is mounted");
	return err;
}

const struct sampler sampler_filesystems = {
	.name = "filesystems",
	.help = "space and inodes of local file systems",
	.interval_ms = 30000,
	.deadline_ms = 5000,
	.may_block = true,
	.open = local_open,
	.sample = filesystems_sample,
	.close = filesystems_close,
};

const struct sampler sampler_filesystems_remote = {
	.name = "filesystems_remote",
	.help = "space and inodes of file systems behind a network or a FUSE process",
	.interval_ms = 60000,
	.deadline_ms = 10000,
	.may_block = true,
	.open = remote_open,
	.sample = filesystems_sample,
	.close = filesystems_close,
};
