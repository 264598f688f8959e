#include "frame.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "bytes.h"
#include "crc32c.h"
#include "err.h"

#define FRAME_VERSION 1
#define SEARCH_BYTES 4096

static const uint8_t frame_magic[4] = { 0xb7, 'h', 'w', 0xe5 };

int
read_at(int fd, void *data, size_t len, uint64_t offset)
{
	char *p = data;

	while (len > 0) {
		ssize_t n = pread(fd, p, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return HIWAT_E_SYS;
		if (n == 0)
			return HIWAT_E_TRUNCATED;
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return HIWAT_OK;
}

int
write_at(int fd, const void *data, size_t len, uint64_t offset)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = pwrite(fd, p, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return HIWAT_E_SYS;
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return HIWAT_OK;
}

void
frame_file_encode(const struct frame_file *kind, uint64_t value, uint8_t out[FRAME_FILE_HEADER_BYTES])
{
	memset(out, 0, FRAME_FILE_HEADER_BYTES);
	memcpy(out, kind->magic, sizeof(kind->magic));
	put_le32(out + 8, kind->version);
	put_le64(out + 16, value);
	put_le32(out + 28, crc32c(0, out, 28));
}

int
frame_file_decode(const struct frame_file *kind, const uint8_t in[FRAME_FILE_HEADER_BYTES], uint64_t *value)
{
	if (memcmp(in, kind->magic, sizeof(kind->magic)) != 0 || get_le32(in + 28) != crc32c(0, in, 28))
		return HIWAT_E_CORRUPT;
	if (get_le32(in + 8) != kind->version)
		return HIWAT_E_VERSION;
	*value = get_le64(in + 16);
	return HIWAT_OK;
}

void
frame_header_encode(const struct frame_header *h, uint8_t out[FRAME_HEADER_BYTES])
{
	memcpy(out, frame_magic, sizeof(frame_magic));
	put_le32(out + 4, FRAME_VERSION);
	put_le32(out + 8, h->length);
	put_le32(out + 12, h->crc);
	put_le64(out + 16, h->ordinal);
	put_le64(out + 24, h->stamp);
	put_le32(out + 32, crc32c(0, out, 32));
	put_le32(out + FRAME_MARK_OFFSET, h->mark);
}

bool
frame_header_decode(const uint8_t in[FRAME_HEADER_BYTES], struct frame_header *h)
{
	if (memcmp(in, frame_magic, sizeof(frame_magic)) != 0 || get_le32(in + 32) != crc32c(0, in, 32) ||
	    get_le32(in + 4) != FRAME_VERSION || get_le32(in + 8) > FRAME_LENGTH_MAX)
		return false;
	h->length = get_le32(in + 8);
	h->crc = get_le32(in + 12);
	h->ordinal = get_le64(in + 16);
	h->stamp = get_le64(in + 24);
	h->mark = get_le32(in + FRAME_MARK_OFFSET);
	return true;
}

const uint8_t *
frame_search(const uint8_t *data, size_t len)
{
	return memmem(data, len, frame_magic, sizeof(frame_magic));
}

/* An intact header at offset whose content fits before end. */
static int
header_read(int fd, uint64_t offset, uint64_t end, struct frame_header *h)
{
	uint8_t bytes[FRAME_HEADER_BYTES];

	if (end < FRAME_HEADER_BYTES || offset > end - FRAME_HEADER_BYTES)
		return HIWAT_E_NODATA;
	int err = read_at(fd, bytes, sizeof(bytes), offset);
	if (err != 0)
		return err;
	if (!frame_header_decode(bytes, h) || h->length > end - offset - FRAME_HEADER_BYTES)
		return HIWAT_E_CORRUPT;
	return HIWAT_OK;
}

/* The next place after *offset where a header's magic stands. */
static int
magic_search(int fd, uint64_t *offset, uint64_t end)
{
	uint8_t bytes[SEARCH_BYTES];
	uint64_t at = *offset + 1;

	while (end >= FRAME_HEADER_BYTES && at <= end - FRAME_HEADER_BYTES) {
		size_t len = end - at < sizeof(bytes) ? (size_t)(end - at) : sizeof(bytes);
		int err = read_at(fd, bytes, len, at);
		if (err != 0)
			return err;
		const uint8_t *hit = frame_search(bytes, len);
		if (hit != NULL) {
			*offset = at + (uint64_t)(hit - bytes);
			return HIWAT_OK;
		}
		at += len - (sizeof(frame_magic) - 1);
	}
	return HIWAT_E_NODATA;
}

int
frame_find(int fd, uint64_t *offset, uint64_t end, uint64_t ordinal, struct frame_header *h)
{
	struct frame_header found;
	uint64_t at = *offset;

	for (;;) {
		int err = header_read(fd, at, end, &found);
		if (err == HIWAT_OK && found.ordinal >= ordinal)
			break;
		if (err == HIWAT_OK)
			at += FRAME_HEADER_BYTES + found.length;
		else if (err == HIWAT_E_CORRUPT)
			err = magic_search(fd, &at, end);
		if (err != HIWAT_OK)
			return err == HIWAT_E_TRUNCATED ? HIWAT_E_NODATA : err;
	}
	*offset = at;
	*h = found;
	return HIWAT_OK;
}

int
frame_read(int fd, uint64_t offset, const struct frame_header *h, struct buf *out)
{
	char *room = buf_reserve(out, h->length);

	if (room == NULL)
		return HIWAT_E_NOMEM;
	int err = read_at(fd, room, h->length, offset + FRAME_HEADER_BYTES);
	if (err == HIWAT_E_TRUNCATED || (err == 0 && crc32c(0, room, h->length) != h->crc))
		return HIWAT_E_CORRUPT;
	if (err == 0)
		buf_advance(out, h->length);
	return err;
}

int
frame_write_mark(int fd, uint64_t offset, uint32_t mark)
{
	uint8_t bytes[4];

	put_le32(bytes, mark);
	return write_at(fd, bytes, sizeof(bytes), offset + FRAME_MARK_OFFSET);
}
