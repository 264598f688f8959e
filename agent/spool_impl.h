/* The spool's insides, shared by spool*.c alone. Callers hold the lock, or are the only thread yet. */
#ifndef HIWAT_AGENT_SPOOL_IMPL_H
#define HIWAT_AGENT_SPOOL_IMPL_H

#include <pthread.h>
#include <stdbool.h>

#include "spool.h"
#include "spool_file.h"

struct segment {
	uint64_t first; /* ordinal of its first batch, which names the file */
	uint64_t last;  /* ordinal of its last batch */
	uint64_t last_sequence;
	uint64_t bytes; /* end of its last batch */
};

/* A place between two batches: all with an ordinal or sequence up to these lie before it. */
struct place {
	uint64_t ordinal, sequence;
	uint64_t segment, offset; /* where on disk to look first; of no meaning when that segment is gone */
};

struct memory_batch {
	struct frame_header h;
	char *data; /* owned */
};

struct spool {
	pthread_mutex_t lock;
	char *dir; /* for messages */
	int dir_fd, ledger_fd;
	int write_fd; /* of the last segment; -1: the next append makes a new one */
	int read_fd;
	uint64_t read_segment; /* what read_fd is */
	uint64_t max_bytes, min_free_bytes, segment_bytes, boot;

	struct segment segments[SPOOL_FILES_MAX]; /* in order */
	unsigned n_segments;
	struct memory_batch memory[SPOOL_MEMORY_BATCHES]; /* in order */
	unsigned n_memory;
	size_t memory_bytes;

	struct ledger ledger;
	uint64_t next_ordinal;
	struct place settled, appended, read; /* where the next search starts */
	/* Behind the settled ones: batches that no longer wait. */
	uint64_t open_rejected, open_corrupt, open_full;
	uint64_t full_from, full_to; /* ordinals that memory had to give up */

	bool data_dirty, ledger_dirty;
	bool has_synced;
	uint64_t synced_ns;
	char problem[256];
};

/* Segment file names: NNNNNNNNNNNNNNNN.seg, the first ordinal in hexadecimal. */
#define SEGMENT_NAME_MAX 32
void segment_name(uint64_t first, char out[SEGMENT_NAME_MAX]);
/* Forgets the segment at an index and deletes its file. */
void spool_delete_segment(struct spool *s, unsigned index);
void spool_save_ledger(struct spool *s);
void spool_close_fd(int *fd);
void spool_set_problem(struct spool *s, const char *what);
uint64_t spool_disk_bytes(const struct spool *s);

/* A batch, on disk or in memory. */
struct found {
	struct frame_header h;
	int fd; /* borrowed until the next search */
	uint64_t segment, offset;
	struct memory_batch *memory; /* NULL: on disk */
};
/* The first batch behind a place, which moves behind that batch. False when there is none. */
bool spool_find_next(struct spool *s, struct place *at, struct found *f);
void spool_memory_remove(struct spool *s, unsigned index);
/* Settles batches from the head on up to an ordinal and a sequence as *fate; behind those, what is marked already. */
void spool_settle(struct spool *s, uint64_t ordinal, uint64_t sequence, uint64_t *fate);
/* Settles the ordinals up to this one that no batch has: damaged on disk, or given up in memory. */
void spool_settle_missing(struct spool *s, uint64_t upto);

/* Directory, lock, ledger and segments. HIWAT_E_AGAIN, HIWAT_E_NOMEM; HIWAT_E_SYS: unusable, errno says why. */
int spool_recover(struct spool *s, const char *dir);

#endif
