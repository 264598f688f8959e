/*
 * How full file systems are. Those behind a network are a sampler of their own: a server that does not answer makes their
 * numbers unknown, not those of the local disks.
 *
 * Left out are kernel interfaces that look like file systems, what is mounted read-only, further mounts of what is already
 * counted, and mounts that the agent's user cannot reach, which doctor names.
 */
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "err.h"
#include "mount.h"
#include "proc.h"
#include "record_row.h"
#include "source.h"

#define MOUNTS_MAX 256

static const struct source_row rows[] = { { .name = "self/mounts" } };

/* Nothing of these fills up by itself. autofs would mount what one asks about. */
static const char *const pseudo_types[] = {
	"autofs",
	"binder",
	"binfmt_misc",
	"bpf",
	"cgroup",
	"cgroup2",
	"configfs",
	"cramfs",
	"debugfs",
	"devpts",
	"devtmpfs",
	"efivarfs",
	"erofs",
	"fuse.lxcfs",
	"fuse.portal",
	"fusectl",
	"hugetlbfs",
	"iso9660",
	"mqueue",
	"nsfs",
	"proc",
	"pstore",
	"ramfs",
	"resctrl",
	"rpc_pipefs",
	"securityfs",
	"selinuxfs",
	"smackfs",
	"squashfs",
	"sysfs",
	"tracefs",
	"udf",
};

static const char *const remote_types[] = { "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "glusterfs", "gpfs", "lustre",
	"ncpfs", "nfs", "nfs4", "ocfs2", "smb3", "smbfs", "virtiofs" };

struct filesystems {
	struct fetch fetch;
	struct source source;
	bool is_remote; /* which of the two samplers */
};

static void
filesystems_close(void *state)
{
	struct filesystems *s = state;

	sources_fini(&s->source, 1);
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
	int err = sources_init(&s->source, config->proc_dir, rows, 1);
	if (err != HIWAT_OK) {
		filesystems_close(s);
		return err;
	}
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
is_one_of(const char *word, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(word, words[i]) == 0)
			return true;
	}
	return false;
}

/* FUSE mounts end in a process or a server: both may hang. */
static bool
is_remote(const struct proc_mount *m)
{
	return is_one_of(m->type, remote_types, sizeof(remote_types) / sizeof(remote_types[0])) ||
	    (strncmp(m->type, "fuse.", 5) == 0);
}

static bool
is_wanted(const struct filesystems *s, const struct proc_mount *m)
{
	if (is_one_of(m->type, pseudo_types, sizeof(pseudo_types) / sizeof(pseudo_types[0])) || is_remote(m) != s->is_remote)
		return false;
	/* What is read-only does not fill up; below /sys and /proc only the kernel's own is mounted. */
	if (strcmp(m->options, "ro") == 0 || strncmp(m->options, "ro,", 3) == 0 || strncmp(m->mount, "/sys/", 5) == 0 ||
	    strncmp(m->mount, "/proc/", 6) == 0)
		return false;
	/* The roots of containers, but for one's own. */
	return strcmp(m->type, "overlay") != 0 || strcmp(m->mount, "/") == 0;
}

/* A later mount at the same place hides the earlier one; the same device elsewhere is no other file system. */
static bool
is_known(const struct proc_mount *mounts, size_t n, const struct proc_mount *m)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(mounts[i].mount, m->mount) == 0)
			return true;
		/* Names such as tmpfs tell nothing apart; paths and servers do. */
		if (strchr(m->device, '/') != NULL && strcmp(mounts[i].device, m->device) == 0 &&
		    strcmp(mounts[i].type, m->type) == 0)
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
	/* As df counts: what is reserved for root is not there for anybody else. */
	uint64_t used = u.blocks - u.blocks_free;
	RECORD_SET(fs, bytes_used, used * u.block_bytes);
	RECORD_SET(fs, bytes_limit, (used + u.blocks_available) * u.block_bytes);
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
	struct proc_mount *mounts = arena_calloc(arena, MOUNTS_MAX, sizeof(*mounts)), mount;
	struct text rest;
	size_t n = 0;
	int more = 0;

	(void)now;
	if (mounts == NULL)
		return HIWAT_E_NOMEM;
	int err = source_text(&s->source, &s->fetch, &rest, why);
	if (err != HIWAT_OK)
		return err;
	while (n < MOUNTS_MAX && (more = proc_mounts_next(&rest, arena, &mount)) == 1) {
		if (is_wanted(s, &mount) && !is_known(mounts, n, &mount))
			mounts[n++] = mount;
	}
	if (more < 0)
		return more;
	if (n == 0)
		return sampler_fail(why, HIWAT_E_MISSING, "%s: no such file system is mounted", s->source.file.path);
	Hiwat__System *m = RECORD_ONE(arena, out, system, system);
	if (m == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < n && err == HIWAT_OK; i++)
		err = add_mount(s, mounts[i].mount, arena, m, why);
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
