/* How full a mounted file system is: statvfs(3) in fixed widths. Waits for a server that does not answer. */
#ifndef HIWAT_AGENT_MOUNT_H
#define HIWAT_AGENT_MOUNT_H

#include "fetch.h"

struct mount_usage {
	uint64_t block_bytes;
	uint64_t blocks, blocks_free, blocks_available; /* available: to other than root */
	uint64_t inodes, inodes_free;                   /* 0: the file system makes them as needed */
};

/* Errors as in fetch.h. */
int mount_usage(struct fetch *f, const char *path, struct mount_usage *out);

#endif
