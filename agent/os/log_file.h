/*
 * A log file that another program writes and rotates, followed by whole lines over rotations and restarts of the reader.
 *
 * Rotation is a rename to PATH.0 and a new file in its place, as newsyslog(8) does; what was renamed may be compressed and
 * removed soon after. The writer is told of the new file a moment later and until then goes on with the old one, so that the
 * old one is read once more before it is left.
 */
#ifndef HIWAT_AGENT_LOG_FILE_H
#define HIWAT_AGENT_LOG_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "fetch.h"

/*
 * Where reading goes on. The sum over the last bytes before it tells the file from another one that got its number, and
 * from one that was emptied and written anew. All 0: at the start of whatever file is there.
 */
struct log_file_at {
	uint64_t inode, offset;
	uint32_t sum;
};

struct log_file {
	const char *path; /* borrowed */
	int fd;           /* -1: not open */
	bool is_left;     /* another file has its name: one more reading, then that one */
	struct log_file_at at;
};

void log_file_init(struct log_file *l, const char *path, const struct log_file_at *at);
void log_file_fini(struct log_file *l);

/*
 * The next whole lines, 64 KiB at most; what is behind the last newline comes with a later call. *more says whether to
 * call again at once; when not, the next call should be some seconds later. *has_gap: what was written behind l->at is gone,
 * since the file was emptied, or rotated and compressed while nobody read; reading went on at the start of the file that is
 * there. A longer line is skipped in pieces. Errors as in fetch.h, HIWAT_E_FORMAT: no regular file; after one the file is
 * opened anew with the next call.
 */
int log_file_read(struct log_file *l, struct fetch *f, struct text *out, bool *more, bool *has_gap);

#endif
