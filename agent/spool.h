/*
 * Batches on disk until a collector has them for good.
 *
 * produced = acknowledged + in spool + dropped_full + dropped_corrupt + rejected, always, also after a kill at any point:
 * the counts are kept for the settled batches alone, those at the head, and everything behind is counted from the files
 * themselves at the next start. What a ledger update does not reach, the files still say.
 *
 * A sequence number is never used twice, since a collector would take the second batch for a duplicate: numbers are
 * reserved on disk ahead of use, and after a crash of the system, which may lose what was written last, the rest of the
 * reserved ones is skipped.
 *
 * Where the disk refuses (full, read-only, failing), the newest batches are kept in memory, so that a host whose disk is
 * the problem can still say so.
 *
 * Threads: one appends, syncs and closes; another may read, acknowledge and reject at the same time. The first never holds
 * the second up while it waits for the disk.
 */
#ifndef HIWAT_AGENT_SPOOL_H
#define HIWAT_AGENT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "frame.h"

struct buf;
struct spool;

#define SPOOL_BATCH_MAX FRAME_LENGTH_MAX /* bytes of one batch */
#define SPOOL_BYTES_MIN (1u << 20)       /* least max_bytes */
#define SPOOL_FILES_MAX 64
#define SPOOL_MEMORY_BATCHES 64 /* kept in memory while the disk refuses */
#define SPOOL_MEMORY_BYTES (512u << 10)
#define SPOOL_RESERVE 16 /* sequences reserved at a time */

struct spool_options {
	const char *dir;         /* made when absent, its parent must exist; NULL: memory alone */
	uint64_t max_bytes;      /* of all segments; at least SPOOL_BYTES_MIN */
	uint64_t min_free_bytes; /* the file system keeps this much free */
	uint64_t boot;           /* changes with each boot of the system */
};

struct spool_counts {
	uint64_t produced, acknowledged, dropped_full, dropped_corrupt, rejected;
	uint64_t in_spool;   /* batches that wait */
	uint64_t bytes;      /* that they take */
	uint64_t disk_bytes; /* of all segments, with those not deleted yet */
	uint64_t oldest;     /* lowest sequence that waits; the next one to be used when none does */
	uint64_t newest;     /* highest sequence in use; 0: none yet */
	unsigned files;
};

/*
 * Never fails because of what it finds: damaged batches are counted and passed over, a file without any intact batch is
 * renamed to NAME.bad (the last two are kept). HIWAT_E_AGAIN: another process has this spool. HIWAT_E_NOMEM.
 * When the directory cannot be used the spool works in memory and spool_problem() says why.
 */
int spool_open(const struct spool_options *options, struct spool **out);
/*
 * Renames what is in dir to dir.other, where the last one is kept: its batches speak for another identity, and must not be
 * sent in the name of this one. HIWAT_E_MISSING: there is nothing. HIWAT_E_SYS, HIWAT_E_TOOBIG.
 */
int spool_set_aside(const char *dir);
/* Syncs and frees; a NULL is fine. */
void spool_close(struct spool *s);
/* Why batches are kept in memory now; "" when they are not. Of the appending thread; valid until its next call. */
const char *spool_problem(const struct spool *s);
/* Random, made with the spool. */
uint64_t spool_stream(const struct spool *s);

/* The number that the next batch must carry. */
uint64_t spool_next_sequence(struct spool *s);
/* The number of the batch before it; where that is not one less, those between were never used. 0: there was none. */
uint64_t spool_previous_sequence(struct spool *s);
/*
 * Adds that batch, dropping the oldest segment for room. HIWAT_E_TOOBIG, HIWAT_E_NOMEM; it is not produced then.
 */
int spool_append(struct spool *s, const void *data, size_t len);
/*
 * What waits for the disk: at most once a second (now_ns: any clock that does not step) data and ledger are synced, and
 * settled segments are deleted. HIWAT_E_SYS when the disk refused.
 */
int spool_sync(struct spool *s, uint64_t now_ns);

/* The batch with the lowest sequence above the given one replaces the content of out. HIWAT_E_NODATA: there is none. */
int spool_read(struct spool *s, uint64_t above, struct buf *out, uint64_t *sequence);
/* The lowest sequence that waits above the given one; 0 when there is none. */
uint64_t spool_next(struct spool *s, uint64_t above);
/* Everything up to this sequence is safe with the collector. */
void spool_acknowledge(struct spool *s, uint64_t sequence);
/* The collector will never take this one. Others ahead of it may still wait. */
void spool_reject(struct spool *s, uint64_t sequence);
/*
 * The collector knows sequences of this stream that this spool does not (an older disk image was restored): leave them
 * out. Does nothing for a sequence below the next one.
 */
void spool_skip(struct spool *s, uint64_t sequence);
void spool_count(struct spool *s, struct spool_counts *out);

#endif
