#include "spool_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "bytes.h"
#include "crc32c.h"
#include "err.h"
#include "spool.h"

#define SEGMENT_VERSION 1
#define BATCH_VERSION 1
#define LEDGER_VERSION 1
#define LEDGER_BYTES 120
#define LEDGER_SLOT 512 /* bytes between slots: one sector each */
#define SEARCH_BYTES 4096

static const uint8_t segment_magic[8] = { 'h', 'i', 'w', 'a', 't', 's', 'p', 'l' };
static const uint8_t batch_magic[4] = { 0xb7, 'h', 'w', 0xe5 };
static const uint8_t ledger_magic[8] = { 'h', 'i', 'w', 'a', 't', 'l', 'e', 'd' };

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
segment_header_encode(uint64_t stream, uint8_t out[SEGMENT_HEADER_BYTES])
{
	memset(out, 0, SEGMENT_HEADER_BYTES);
	memcpy(out, segment_magic, sizeof(segment_magic));
	put_le32(out + 8, SEGMENT_VERSION);
	put_le64(out + 16, stream);
	put_le32(out + 28, crc32c(0, out, 28));
}

int
segment_header_decode(const uint8_t in[SEGMENT_HEADER_BYTES], uint64_t *stream)
{
	if (memcmp(in, segment_magic, sizeof(segment_magic)) != 0 || get_le32(in + 28) != crc32c(0, in, 28))
		return HIWAT_E_CORRUPT;
	if (get_le32(in + 8) != SEGMENT_VERSION)
		return HIWAT_E_VERSION;
	*stream = get_le64(in + 16);
	return HIWAT_OK;
}

void
batch_header_encode(const struct batch_header *h, uint8_t out[BATCH_HEADER_BYTES])
{
	memcpy(out, batch_magic, sizeof(batch_magic));
	put_le32(out + 4, BATCH_VERSION);
	put_le32(out + 8, h->length);
	put_le32(out + 12, h->crc);
	put_le64(out + 16, h->ordinal);
	put_le64(out + 24, h->sequence);
	put_le32(out + 32, crc32c(0, out, 32));
	put_le32(out + BATCH_MARK_OFFSET, h->mark);
}

static bool
header_decode(const uint8_t in[BATCH_HEADER_BYTES], struct batch_header *h)
{
	if (memcmp(in, batch_magic, sizeof(batch_magic)) != 0 || get_le32(in + 32) != crc32c(0, in, 32) ||
	    get_le32(in + 4) != BATCH_VERSION || get_le32(in + 8) > SPOOL_BATCH_MAX)
		return false;
	h->length = get_le32(in + 8);
	h->crc = get_le32(in + 12);
	h->ordinal = get_le64(in + 16);
	h->sequence = get_le64(in + 24);
	h->mark = get_le32(in + BATCH_MARK_OFFSET);
	return true;
}

/* An intact header at offset whose content fits before end. */
static int
header_read(int fd, uint64_t offset, uint64_t end, struct batch_header *h)
{
	uint8_t bytes[BATCH_HEADER_BYTES];

	if (end < BATCH_HEADER_BYTES || offset > end - BATCH_HEADER_BYTES)
		return HIWAT_E_NODATA;
	int err = read_at(fd, bytes, sizeof(bytes), offset);
	if (err != 0)
		return err;
	if (!header_decode(bytes, h) || h->length > end - offset - BATCH_HEADER_BYTES)
		return HIWAT_E_CORRUPT;
	return HIWAT_OK;
}

/* The next place after *offset where a header's magic stands. */
static int
magic_search(int fd, uint64_t *offset, uint64_t end)
{
	uint8_t bytes[SEARCH_BYTES];
	uint64_t at = *offset + 1;

	while (end >= BATCH_HEADER_BYTES && at <= end - BATCH_HEADER_BYTES) {
		size_t len = end - at < sizeof(bytes) ? (size_t)(end - at) : sizeof(bytes);
		int err = read_at(fd, bytes, len, at);
		if (err != 0)
			return err;
		const uint8_t *hit = memmem(bytes, len, batch_magic, sizeof(batch_magic));
		if (hit != NULL) {
			*offset = at + (uint64_t)(hit - bytes);
			return HIWAT_OK;
		}
		at += len - (sizeof(batch_magic) - 1);
	}
	return HIWAT_E_NODATA;
}

int
batch_header_find(int fd, uint64_t *offset, uint64_t end, uint64_t ordinal, struct batch_header *h)
{
	struct batch_header found;
	uint64_t at = *offset;

	for (;;) {
		int err = header_read(fd, at, end, &found);
		if (err == HIWAT_OK && found.ordinal >= ordinal)
			break;
		if (err == HIWAT_OK)
			at += BATCH_HEADER_BYTES + found.length;
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
batch_read(int fd, uint64_t offset, const struct batch_header *h, struct buf *out)
{
	char *room = buf_reserve(out, h->length);

	if (room == NULL)
		return HIWAT_E_NOMEM;
	int err = read_at(fd, room, h->length, offset + BATCH_HEADER_BYTES);
	if (err == HIWAT_E_TRUNCATED || (err == 0 && crc32c(0, room, h->length) != h->crc))
		return HIWAT_E_CORRUPT;
	if (err == 0)
		buf_advance(out, h->length);
	return err;
}

int
batch_write_mark(int fd, uint64_t offset, enum batch_mark mark)
{
	uint8_t bytes[4];

	put_le32(bytes, mark);
	return write_at(fd, bytes, sizeof(bytes), offset + BATCH_MARK_OFFSET);
}

static void
ledger_encode(const struct ledger *l, uint8_t out[LEDGER_BYTES])
{
	const uint64_t fields[] = { l->generation, l->stream, l->reserved, l->previous, l->next, l->boot, l->produced,
		l->settled, l->base, l->acknowledged, l->dropped_full, l->dropped_corrupt, l->rejected };

	memset(out, 0, LEDGER_BYTES);
	memcpy(out, ledger_magic, sizeof(ledger_magic));
	put_le32(out + 8, LEDGER_VERSION);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		put_le64(out + 12 + 8 * i, fields[i]);
	put_le32(out + LEDGER_BYTES - 4, crc32c(0, out, LEDGER_BYTES - 4));
}

static bool
ledger_decode(const uint8_t in[LEDGER_BYTES], struct ledger *l)
{
	uint64_t *const fields[] = { &l->generation, &l->stream, &l->reserved, &l->previous, &l->next, &l->boot,
		&l->produced, &l->settled, &l->base, &l->acknowledged, &l->dropped_full, &l->dropped_corrupt, &l->rejected };

	if (memcmp(in, ledger_magic, sizeof(ledger_magic)) != 0 || get_le32(in + 8) != LEDGER_VERSION ||
	    get_le32(in + LEDGER_BYTES - 4) != crc32c(0, in, LEDGER_BYTES - 4))
		return false;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		*fields[i] = get_le64(in + 12 + 8 * i);
	return true;
}

int
ledger_read(int fd, struct ledger *out)
{
	uint8_t bytes[LEDGER_BYTES];
	struct ledger best = { 0 }, slot;
	bool found = false;

	for (uint64_t i = 0; i < 2; i++) {
		if (read_at(fd, bytes, sizeof(bytes), i * LEDGER_SLOT) != 0 || !ledger_decode(bytes, &slot))
			continue;
		if (!found || slot.generation > best.generation)
			best = slot;
		found = true;
	}
	if (!found)
		return HIWAT_E_NODATA;
	*out = best;
	return HIWAT_OK;
}

int
ledger_write(int fd, struct ledger *l)
{
	uint8_t bytes[LEDGER_BYTES];

	l->generation++;
	ledger_encode(l, bytes);
	return write_at(fd, bytes, sizeof(bytes), l->generation % 2 * LEDGER_SLOT);
}
