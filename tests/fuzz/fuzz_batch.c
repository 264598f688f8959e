/*
 * batch_decode() under libFuzzer: refused, or a batch that can be written as text and encoded again. intake_decode() takes and
 * refuses the same, also when it has seen it before.
 */
#include <stdlib.h>

#include "arena.h"
#include "buf.h"
#include "catalogue.h"
#include "codec.h"
#include "err.h"
#include "intake.h"
#include "intake_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena;
	struct buf out;
	Hiwat__Batch *batch;
	static struct intake intake;
	const char *why = NULL;

	arena_init(&arena, CODEC_ARENA_MAX);
	buf_init(&out, 64u << 20);
	int err = batch_decode(data, size, &arena, &batch, &why);
	if (err == HIWAT_OK) {
		if (record_write_text(&out, (const Hiwat__Record *const *)batch->records, batch->n_records) != HIWAT_OK)
			abort();
		buf_reset(&out);
		/* Encoding may be longer than what came: an unpacked form is written in full. */
		err = batch_encode(batch, &out);
		if (err != HIWAT_OK && err != HIWAT_E_TOOBIG)
			abort();
	} else if (err > 0 || why == NULL) {
		abort();
	}
	buf_fini(&out);
	arena_fini(&arena);
	if (intake.key == 0)
		intake_init(&intake, 0x9e3779b97f4a7c15ull);
	for (int i = 0; i < 2; i++) {
		if (intake_differs(&intake, data, size, NULL) != NULL)
			abort();
	}
	return 0;
}
