/*
 * The files of the spool. Inside spool*.c only.
 *
 * A segment is a file of frames (frame.h): its value is the stream, a frame is a batch, its stamp the sequence number inside
 * it, its mark an enum batch_mark.
 *
 * The ledger is one file with two slots, written in turn: a torn write leaves the other.
 */
#ifndef HIWAT_AGENT_SPOOL_FILE_H
#define HIWAT_AGENT_SPOOL_FILE_H

#include <stdint.h>

#include "frame.h"

extern const struct frame_file segment_file;

/* Written over a frame's mark when a batch is settled before those ahead of it; anything else counts as none. */
enum batch_mark { MARK_NONE = 0, MARK_REJECTED = 0x4a455221, MARK_CORRUPT = 0x44414221 };

/* Totals of batches that are settled for good, and what must survive besides. */
struct ledger {
	uint64_t generation;
	uint64_t stream;
	uint64_t reserved; /* sequences up to here may have been used when the system crashed */
	uint64_t previous; /* the last one that was used, as far as this slot knows */
	uint64_t next;     /* the next one to use is this or a higher one */
	uint64_t boot;     /* which boot of the system wrote this */
	uint64_t produced; /* highest ordinal that was ever written */
	uint64_t settled;  /* ordinals up to here are in the counts below and no longer in the spool */
	uint64_t base;     /* ordinals up to here are in no count: a ledger was lost */
	uint64_t acknowledged, dropped_full, dropped_corrupt, rejected;
};

/* The newer intact slot; HIWAT_E_NODATA when there is none. */
int ledger_read(int fd, struct ledger *out);
/* Over the older slot, with the next generation. */
int ledger_write(int fd, struct ledger *l);

#endif
