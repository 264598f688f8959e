/*
 * Batches as agents of earlier versions sent them (the .bin files of tests/wire) still decode and mean the same: beside each stands
 * the text of its records. A batch once added is never changed; a new wire version adds new ones.
 */
#include "unit.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "catalogue.h"
#include "codec.h"
#include "err.h"
#include "scan.h"

static void
read_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "r");

	buf_reset(out);
	ck_assert_msg(f != NULL, "%s", path);
	char *room = buf_reserve(out, CODEC_BATCH_MAX);
	ck_assert_ptr_nonnull(room);
	buf_advance(out, fread(room, 1, CODEC_BATCH_MAX, f));
	fclose(f);
}

START_TEST(old_batches)
{
	struct buf wire, text, want;
	struct arena arena;
	glob_t files;

	buf_init(&wire, 2 * CODEC_BATCH_MAX);
	buf_init(&text, 8 * CODEC_BATCH_MAX);
	buf_init(&want, 2 * CODEC_BATCH_MAX);
	arena_init(&arena, CODEC_ARENA_MAX);
	ck_assert_int_eq(glob(TEST_DATA "/wire/*.bin", 0, NULL, &files), 0);
	ck_assert_uint_ge(files.gl_pathc, 2);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		char path[512];
		Hiwat__Batch *batch = NULL;
		const char *why = "";
		snprintf(path, sizeof(path), "%.*s.text", (int)strlen(files.gl_pathv[i]) - 4, files.gl_pathv[i]);
		read_file(files.gl_pathv[i], &wire);
		arena_reset(&arena);
		int err = batch_decode((const uint8_t *)wire.data, wire.len, &arena, &batch, &why);
		ck_assert_msg(err == HIWAT_OK, "%s: %s", files.gl_pathv[i], why);
		buf_reset(&text);
		buf_printf(&text, "# host %s, sequence %llu\n", batch->host->name, (unsigned long long)batch->sequence);
		ck_assert_int_eq(record_write_text(&text, (const Hiwat__Record *const *)batch->records, batch->n_records),
		    0);
		if (getenv("HIWAT_WRITE_WIRE") != NULL) {
			FILE *f = fopen(path, "w");
			ck_assert_ptr_nonnull(f);
			fputs(buf_str(&text), f);
			fclose(f);
		}
		read_file(path, &want);
		/* Help texts may change; names, labels and numbers may not. */
		struct text a = { text.data, text.len }, b = { want.data, want.len }, la, lb;
		while (text_line(&a, &la, NULL)) {
			ck_assert_msg(text_line(&b, &lb, NULL), "%s ends early", path);
			ck_assert_msg(text_same(la, lb) || (text_starts(la, "# HELP") && text_starts(lb, "# HELP")),
			    "%s: %.*s is now %.*s", path, (int)lb.n, lb.p, (int)la.n, la.p);
		}
		ck_assert(!text_line(&b, &lb, NULL));
	}
	globfree(&files);
	buf_fini(&wire);
	buf_fini(&text);
	buf_fini(&want);
	arena_fini(&arena);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("wire");
	TCase *tc = tcase_create("wire");

	tcase_add_test(tc, old_batches);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
