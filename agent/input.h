/* Saved outputs from files, standard input, directories and tar archives, all bounded. */
#ifndef HIWAT_AGENT_INPUT_H
#define HIWAT_AGENT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "scan.h"

struct buf;

#define INPUT_FILE_MAX (64u << 20) /* bytes of one saved output */
#define INPUT_FILES_MAX 10000      /* files of one bundle */
#define INPUT_DEPTH_MAX 16         /* directories inside each other */

/*
 * Appends all of a file, or of standard input when path is "-", to out, whose ceiling holds. HIWAT_E_SYS with errno;
 * HIWAT_E_TOOBIG when the ceiling was reached; HIWAT_E_NOMEM.
 */
int input_read(const char *path, struct buf *out);

/*
 * Calls fn for every regular file below a directory, in order of names; symbolic links are not followed. A file that
 * could not be read is given with err (HIWAT_E_SYS with errno, HIWAT_E_TOOBIG) and an empty text. name and text are
 * borrowed for the call. HIWAT_E_SYS with errno when the directory cannot be read, HIWAT_E_TOOBIG when there are more
 * than INPUT_FILES_MAX files or INPUT_DEPTH_MAX levels: the files so far were given.
 */
typedef void input_fn(void *arg, const char *name, struct text text, int err);
int input_walk_directory(const char *path, input_fn *fn, void *arg);

/* Whether the bytes begin with the header of a tar archive (POSIX ustar or GNU, checksum verified). */
bool input_is_tar(struct text archive);

/*
 * Calls fn for every regular file of a tar archive in memory, in its order. HIWAT_E_CORRUPT when a header is damaged,
 * HIWAT_E_TRUNCATED when the archive ends inside a member, HIWAT_E_TOOBIG as above: the files before it were given.
 */
int input_walk_tar(struct text archive, input_fn *fn, void *arg);

#endif
