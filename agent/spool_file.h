/*
 * The files of the spool. Inside spool*.c only.
 *
 * A segment is 32 bytes (magic, version, stream, CRC) and batches, each a header of 40 bytes and its content. The header
 * has a CRC of its own, so that a batch whose content is damaged still says where the next one begins; where the header is
 * damaged the next one is searched for. Numbers are little-endian, CRCs are CRC-32C.
 *
 *	 0 magic  4 version  8 length  12 CRC of the content  16 ordinal  24 sequence  32 CRC of bytes 0..32  36 mark
 *
 * The ledger is one file with two slots, written in turn: a torn write leaves the other.
 */
#ifndef HIWAT_AGENT_SPOOL_FILE_H
#define HIWAT_AGENT_SPOOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define SEGMENT_HEADER_BYTES 32
#define BATCH_HEADER_BYTES 40
#define BATCH_MARK_OFFSET 36

/* Written over the header's last field when a batch is settled before those ahead of it. */
enum batch_mark { MARK_NONE = 0, MARK_REJECTED = 0x4a455221, MARK_CORRUPT = 0x44414221 };

struct batch_header {
	uint64_t ordinal;  /* counts the batches of the spool without gaps */
	uint64_t sequence; /* the number inside the batch: skips after a crash */
	uint32_t length;   /* of the content */
	uint32_t crc;      /* of the content */
	uint32_t mark;     /* enum batch_mark; anything else counts as none */
};

void segment_header_encode(uint64_t stream, uint8_t out[SEGMENT_HEADER_BYTES]);
/* HIWAT_E_VERSION: made by a later version. HIWAT_E_CORRUPT: no such header. */
int segment_header_decode(const uint8_t in[SEGMENT_HEADER_BYTES], uint64_t *stream);

void batch_header_encode(const struct batch_header *h, uint8_t out[BATCH_HEADER_BYTES]);
/*
 * The first intact header at or after *offset whose ordinal is at least the given one and whose content ends before end.
 * *offset becomes its place. HIWAT_E_NODATA when there is none, HIWAT_E_SYS when the file cannot be read.
 */
int batch_header_find(int fd, uint64_t *offset, uint64_t end, uint64_t ordinal, struct batch_header *h);
/* The content behind the header at offset, appended to out. HIWAT_E_CORRUPT, HIWAT_E_SYS, HIWAT_E_NOMEM. */
int batch_read(int fd, uint64_t offset, const struct batch_header *h, struct buf *out);
int batch_write_mark(int fd, uint64_t offset, enum batch_mark mark);

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

/* All of len bytes at offset, or HIWAT_E_SYS, or HIWAT_E_TRUNCATED when the file ends before. */
int read_at(int fd, void *data, size_t len, uint64_t offset);
/* All of len bytes at offset, or HIWAT_E_SYS. */
int write_at(int fd, const void *data, size_t len, uint64_t offset);

#endif
