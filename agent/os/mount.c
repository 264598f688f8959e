#include "mount.h"

#include <errno.h>
#include <sys/statvfs.h>

#include "clock.h"
#include "err.h"

int
mount_usage(struct fetch *f, const char *path, struct mount_usage *out)
{
	uint64_t started_ns = clock_mono_ns();
	struct statvfs st;

	int sys_errno = statvfs(path, &st) == 0 ? 0 : errno;
	if (sys_errno == 0) {
		*out = (struct mount_usage){
			.block_bytes = st.f_frsize != 0 ? st.f_frsize : st.f_bsize,
			.blocks = st.f_blocks,
			.blocks_free = st.f_bfree,
			.blocks_available = st.f_bavail,
			.inodes = st.f_files,
			.inodes_free = st.f_ffree,
		};
	}
	return fetch_done(f, "statvfs", path, started_ns, fetch_err(sys_errno), sys_errno, 0);
}
