/*
 * Recordings: what arrived, when, in files of frames (frame.h), to be judged again later; hiwat-records(5). Written by agent
 * and collector, read by hiwat-collector replay.
 *
 * A frame's stamp is the recorder's wall clock in nanoseconds, its content begins with a byte that says what it is. A batch
 * has two numbers of eight bytes behind that, its arrival's sent and oldest, then the batch as protobuf.
 */
#ifndef HIWAT_BASE_RECORDING_H
#define HIWAT_BASE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_CONTENT_MAX (1u << 20) /* bytes of one batch */
#define RECORDING_NAME_MAX 48

enum recording_type {
	RECORDING_BATCH = 1,
	RECORDING_TICK = 2,  /* the collector's timers ran */
	RECORDING_BEGIN = 3, /* the recorder began, or goes on after a loss: what was before is not known in full */
};

struct recording_entry {
	enum recording_type type;
	uint64_t wall_ns;      /* Unix time by the recorder's clock */
	uint64_t sent_wall_ns; /* BATCH: by the host's clock, 0 unknown */
	uint64_t oldest;       /* BATCH: lowest sequence that the sender still had, 0 unknown */
	const uint8_t *data;   /* BATCH: borrowed */
	size_t len;
};

struct recording_options {
	const char *dir; /* made when absent, its parent must exist */
	uint64_t max_bytes, min_free_bytes;
	uint64_t file_bytes, file_age_ns; /* a file is closed when it has one of these */
	unsigned max_files;
};

/* ---- writing: one thread. One directory has one recorder. */

struct recorder;

/* Copies the options; touches no file. NULL when memory is out. */
struct recorder *recorder_new(const struct recording_options *options);
/* NULL is fine. */
void recorder_free(struct recorder *r);
/*
 * Appends. The first entry, and the first after an error, is preceded by RECORDING_BEGIN. The first one also opens the
 * directory: it goes on in the newest file behind its last whole frame, what stands there of another is cut off.
 * HIWAT_E_TOOBIG; HIWAT_E_AGAIN: another recorder has this directory; HIWAT_E_FULL: less free than min_free_bytes though all
 * older files were removed; HIWAT_E_SYS with errno; HIWAT_E_NOMEM. On any error nothing of the entry remains.
 */
int recorder_append(struct recorder *r, const struct recording_entry *entry);

/* What to tell people of an error of recorder_append(), with errno as it left it. Borrowed until the next call. */
const char *recorder_problem(int err);

struct recorder_counts {
	uint64_t batches, bytes; /* written since it was opened */
	uint64_t lost;           /* batches that were refused */
	uint64_t removed;        /* files */
};
void recorder_count(const struct recorder *r, struct recorder_counts *out);

/* ---- reading */

struct recording;

/* HIWAT_E_SYS with errno; HIWAT_E_CORRUPT: no recording; HIWAT_E_VERSION: of a later release; HIWAT_E_NOMEM. */
int recording_open(const char *path, struct recording **out);
void recording_close(struct recording *r);
/* When its first entry was written, as the file's header has it. */
uint64_t recording_begin_ns(const struct recording *r);
/*
 * The next intact entry; data is borrowed until the next call. *gap: frames before it are damaged or missing. HIWAT_E_NODATA
 * at the end, HIWAT_E_SYS with errno when reading fails.
 */
int recording_next(struct recording *r, struct recording_entry *entry, bool *gap);

struct recording_damage {
	uint64_t lost;   /* frames that are damaged or missing, by their ordinals */
	uint64_t bytes;  /* that were passed over */
	uint64_t torn;   /* bytes at the end that are the beginning of a frame: it was being written */
	uint64_t others; /* entries of a type that this release does not know */
};
/* What was found so far. */
void recording_damage(const struct recording *r, struct recording_damage *out);

/* Whether this is the name of a recorder's file; its number, which orders the files of a directory. */
bool recording_name_parse(const char *name, uint64_t *number);

#endif
