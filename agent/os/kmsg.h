/* The kernel log of Linux as /dev/kmsg gives it (kernel/printk/printk.c): one read, one record. */
#ifndef HIWAT_AGENT_KMSG_H
#define HIWAT_AGENT_KMSG_H

#include <stdbool.h>

#include "fetch.h"

#define KMSG_RECORD_MAX 8192 /* a smaller buffer makes the kernel refuse the read */

struct kmsg {
	int fd;           /* -1: not open */
	const char *path; /* borrowed */
};

void kmsg_init(struct kmsg *k, const char *path);
void kmsg_fini(struct kmsg *k);

/*
 * The next records, whole ones, as many as f's buffer takes; *more says whether to call again. A call also ends where the
 * kernel overwrote records before they were read, so that such a gap is always in front of *out. A fresh descriptor begins
 * with the oldest record there is. Errors as in fetch.h; after one the file is opened anew with the next call.
 */
int kmsg_read(struct kmsg *k, struct fetch *f, struct text *out, bool *more);

#endif
