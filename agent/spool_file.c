#include "spool_file.h"

#include <string.h>

#include "bytes.h"
#include "crc32c.h"
#include "err.h"

#define LEDGER_VERSION 1
#define LEDGER_BYTES 120
#define LEDGER_SLOT 512 /* bytes between slots: one sector each */

static const uint8_t ledger_magic[8] = { 'h', 'i', 'w', 'a', 't', 'l', 'e', 'd' };

const struct frame_file segment_file = { { 'h', 'i', 'w', 'a', 't', 's', 'p', 'l' }, 1 };

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
