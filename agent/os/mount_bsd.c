/* getfsstat(2) with MNT_NOWAIT: what the kernel knows by itself, even of a server that does not answer. */
#include <errno.h>
#include <string.h>
#include <sys/param.h>
#include <sys/mount.h>

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "kernel_bsd.h"

#define MOUNTS_MAX 1024

static int
copy_rows(const struct statfs *from, size_t n, struct arena *arena, struct mount_row **rows)
{
	struct mount_row *out = arena_calloc(arena, n, sizeof(*out));

	if (out == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		out[i].device = arena_strndup(arena, from[i].f_mntfromname, strnlen(from[i].f_mntfromname, MNAMELEN));
		out[i].mount = arena_strndup(arena, from[i].f_mntonname, strnlen(from[i].f_mntonname, MNAMELEN));
		out[i].type = arena_strndup(arena, from[i].f_fstypename, strnlen(from[i].f_fstypename, MFSNAMELEN));
		if (out[i].device == NULL || out[i].mount == NULL || out[i].type == NULL)
			return HIWAT_E_NOMEM;
		out[i].is_local = (from[i].f_flags & MNT_LOCAL) != 0;
		out[i].is_read_only = (from[i].f_flags & MNT_RDONLY) != 0;
	}
	*rows = out;
	return HIWAT_OK;
}

int
mount_rows(struct fetch *f, struct arena *arena, struct mount_row **rows, size_t *n)
{
	uint64_t started_ns = clock_mono_ns();
	int sys_errno = 0, err = HIWAT_OK;

	buf_reset(&f->buf);
	int count = getfsstat(NULL, 0, MNT_NOWAIT);
	if (count < 0) {
		sys_errno = errno;
		err = fetch_err(sys_errno);
		goto out;
	}
	/* Room for a few that are mounted meanwhile; what is beyond comes with the next sample. */
	size_t most = (size_t)count + 8 < MOUNTS_MAX ? (size_t)count + 8 : MOUNTS_MAX;
	void *room = buf_reserve(&f->buf, most * sizeof(struct statfs));
	if (room == NULL) {
		err = HIWAT_E_NOMEM;
		goto out;
	}
	struct statfs *list = room;
	count = getfsstat(list, most * sizeof(*list), MNT_NOWAIT);
	if (count < 0) {
		sys_errno = errno;
		err = fetch_err(sys_errno);
		goto out;
	}
	size_t got = (size_t)count < most ? (size_t)count : most;
	err = copy_rows(list, got, arena, rows);
	if (err == HIWAT_OK)
		*n = got;
out:
	return fetch_done(f, "getfsstat", "all", started_ns, err, sys_errno, 0);
}
