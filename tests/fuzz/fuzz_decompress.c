/* codec_decompress() under libFuzzer: never more than its limit, and what it gives survives a round trip. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "codec.h"
#include "err.h"

#define LIMIT (1u << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf plain, packed, again;

	buf_init(&plain, LIMIT * 2);
	buf_init(&packed, LIMIT * 4);
	buf_init(&again, LIMIT * 2);
	int err = codec_decompress(data, size, LIMIT, &plain);
	if (err == HIWAT_OK) {
		const uint8_t *bytes = (const uint8_t *)buf_str(&plain);
		if (plain.len > LIMIT || codec_compress(bytes, plain.len, &packed) != HIWAT_OK ||
		    codec_decompress((const uint8_t *)buf_str(&packed), packed.len, LIMIT, &again) != HIWAT_OK ||
		    again.len != plain.len || memcmp(buf_str(&again), bytes, plain.len) != 0)
			abort();
	} else if (err != HIWAT_E_TOOBIG && err != HIWAT_E_FORMAT) {
		abort();
	}
	buf_fini(&again);
	buf_fini(&packed);
	buf_fini(&plain);
	return 0;
}
