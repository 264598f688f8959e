/* Recorded files as one stream of entries, in the order of their time. */
#ifndef HIWAT_COLLECTOR_REPLAY_INPUT_H
#define HIWAT_COLLECTOR_REPLAY_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "recording.h"

struct buf;
struct replay_input;

#define REPLAY_FILES_MAX 100000
#define REPLAY_OPEN_MAX 256 /* files whose times overlap: so many recorders at once */

/*
 * paths: files, or directories, of which the recorders' files are taken. HIWAT_E_SYS, HIWAT_E_NODATA: there is no recording
 * at a path; HIWAT_E_FULL, HIWAT_E_NOMEM. why: a line for people on failure.
 */
int replay_input_open(const char *const *paths, size_t n, struct replay_input **out, struct buf *why);
void replay_input_close(struct replay_input *in);
/*
 * The next entry of all files, by its time; of one file in the file's order. data is borrowed until the next call. *gap: as
 * in recording_next(), or a whole file could not be read. HIWAT_E_NODATA at the end, HIWAT_E_FULL: more than REPLAY_OPEN_MAX
 * files overlap. HIWAT_E_NOMEM.
 */
int replay_input_next(struct replay_input *in, struct recording_entry *entry, bool *gap);

/* One file in the end. */
struct replay_file {
	const char *path;
	const char *why; /* the file could not be read, or not to its end; NULL: it could */
	struct recording_damage damage;
};
size_t replay_input_count(const struct replay_input *in);
void replay_input_file(const struct replay_input *in, size_t index, struct replay_file *out);

#endif
