/*
 * Files of frames: what was appended whole can be read after a crash, what was not is passed over. The agent's spool and
 * recordings are such files.
 *
 * A file is a header of 32 bytes and frames, each a header of 40 bytes and its content. The frame's header has a CRC of its
 * own, so that a frame whose content is damaged still says where the next one begins; where the header is damaged the next
 * one is searched for. Numbers are little-endian, CRCs are CRC-32C.
 *
 *	file	 0 magic of the kind of file  8 version  12 zero  16 value  24 zero  28 CRC of bytes 0..28
 *	frame	 0 magic  4 version  8 length  12 CRC of the content  16 ordinal  24 stamp  32 CRC of bytes 0..32  36 mark
 */
#ifndef HIWAT_BASE_FRAME_H
#define HIWAT_BASE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define FRAME_FILE_HEADER_BYTES 32
#define FRAME_HEADER_BYTES 40
#define FRAME_MARK_OFFSET 36
#define FRAME_LENGTH_MAX (2u << 20) /* bytes of one frame's content */

/* A kind of file. */
struct frame_file {
	char magic[8];
	uint32_t version;
};

struct frame_header {
	uint64_t ordinal; /* counts frames without gaps, so that those lost can be counted */
	uint64_t stamp;   /* what the kind of file wants to find a frame by */
	uint32_t length;  /* of the content, at most FRAME_LENGTH_MAX */
	uint32_t crc;     /* of the content */
	uint32_t mark;    /* may be written over later, so no CRC covers it; 0: none */
};

/* value: the kind's own. */
void frame_file_encode(const struct frame_file *kind, uint64_t value, uint8_t out[FRAME_FILE_HEADER_BYTES]);
/* HIWAT_E_VERSION: made by a later version. HIWAT_E_CORRUPT: no such header. */
int frame_file_decode(const struct frame_file *kind, const uint8_t in[FRAME_FILE_HEADER_BYTES], uint64_t *value);

void frame_header_encode(const struct frame_header *h, uint8_t out[FRAME_HEADER_BYTES]);
/* False: no intact header. */
bool frame_header_decode(const uint8_t in[FRAME_HEADER_BYTES], struct frame_header *h);
/* The first place at or after data where a header's magic stands whole; NULL when there is none. */
const uint8_t *frame_search(const uint8_t *data, size_t len);

/*
 * The first intact header at or after *offset whose ordinal is at least the given one and whose content ends before end.
 * *offset becomes its place. HIWAT_E_NODATA when there is none, HIWAT_E_SYS when the file cannot be read.
 */
int frame_find(int fd, uint64_t *offset, uint64_t end, uint64_t ordinal, struct frame_header *h);
/* The content behind the header at offset, appended to out. HIWAT_E_CORRUPT, HIWAT_E_SYS, HIWAT_E_NOMEM. */
int frame_read(int fd, uint64_t offset, const struct frame_header *h, struct buf *out);
int frame_write_mark(int fd, uint64_t offset, uint32_t mark);

/* All of len bytes at offset, or HIWAT_E_SYS, or HIWAT_E_TRUNCATED when the file ends before. */
int read_at(int fd, void *data, size_t len, uint64_t offset);
/* All of len bytes at offset, or HIWAT_E_SYS. */
int write_at(int fd, const void *data, size_t len, uint64_t offset);

#endif
