#include "unit.h"

#include <math.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "codec.h"
#include "err.h"
#include "record.h"

static struct arena arena;
static struct buf wire;

static void
setup(void)
{
	arena_init(&arena, CODEC_ARENA_MAX);
	buf_init(&wire, 4u << 20);
}

static void
teardown(void)
{
	arena_fini(&arena);
	buf_fini(&wire);
}

static ProtobufCBinaryData
sixteen(const char *s)
{
	static uint8_t copies[4][16];
	static int next;
	uint8_t *copy = copies[next++ % 4];

	memset(copy, 0, 16);
	memcpy(copy, s, strlen(s));
	return (ProtobufCBinaryData){ 16, copy };
}

/* A small valid batch in the arena. */
static Hiwat__Batch *
make_batch(void)
{
	Hiwat__Batch *b = arena_alloc(&arena, sizeof(*b));
	hiwat__batch__init(b);
	Hiwat__Host *h = RECORD_ONE(&arena, b, host, host);
	RECORD_SET(b, version, CODEC_VERSION);
	RECORD_SET(b, sequence, 5);
	RECORD_SET(b, wall_ns, 1);
	RECORD_SET(b, boot_ns, 2);
	RECORD_SET(h, uuid, sixteen("uuid"));
	RECORD_SET(h, boot_id, sixteen("boot"));
	Hiwat__Record *r = RECORD_ADD(&arena, b, records, record);
	Hiwat__Sampler *s = RECORD_ONE(&arena, r, status, sampler);
	s->sampler = record_label(&arena, text_of("mbuf"));
	Hiwat__SamplerVerdict *v = RECORD_ONE(&arena, s, verdict, sampler_verdict);
	v->verdict = record_label(&arena, text_of("ok"));
	Hiwat__Mbuf *m = RECORD_ONE(&arena, r, mbuf, mbuf);
	Hiwat__MbufPool *p = RECORD_ADD(&arena, m, pools, mbuf_pool);
	p->pool = record_label(&arena, text_of("cluster"));
	RECORD_SET(p, in_use, 42);
	return b;
}

static int
decode(const Hiwat__Batch *b, const char **why)
{
	Hiwat__Batch *out = NULL;

	buf_reset(&wire);
	ck_assert_int_eq(batch_encode(b, &wire), HIWAT_OK);
	*why = NULL;
	return batch_decode((uint8_t *)wire.data, wire.len, &arena, &out, why);
}

START_TEST(round_trip)
{
	Hiwat__Batch *out = NULL;

	ck_assert_int_eq(batch_encode(make_batch(), &wire), HIWAT_OK);
	ck_assert_int_eq(batch_decode((uint8_t *)wire.data, wire.len, &arena, &out, NULL), HIWAT_OK);
	ck_assert_uint_eq(out->sequence, 5);
	ck_assert_uint_eq(out->records[0]->mbuf->pools[0]->in_use, 42);
	ck_assert(!out->records[0]->mbuf->pools[0]->has_limit);
}
END_TEST

/* Every prefix is refused or is a shorter valid message that lacks something; none crashes or is taken as whole. */
START_TEST(every_prefix)
{
	ck_assert_int_eq(batch_encode(make_batch(), &wire), HIWAT_OK);
	for (size_t n = 0; n < wire.len; n++) {
		Hiwat__Batch *out = NULL;
		const char *why = NULL;
		arena_reset(&arena);
		int err = batch_decode((uint8_t *)wire.data, n, &arena, &out, &why);
		if (err == HIWAT_OK)
			ck_assert_uint_eq(out->n_records, 0);
		else
			ck_assert_ptr_nonnull(why);
	}
}
END_TEST

/* Each byte replaced by each of a few values: decodes to something valid or is refused with a reason. */
START_TEST(every_byte)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };

	ck_assert_int_eq(batch_encode(make_batch(), &wire), HIWAT_OK);
	for (size_t n = 0; n < wire.len; n++) {
		char kept = wire.data[n];
		for (size_t v = 0; v < ARRAY_LEN(values); v++) {
			Hiwat__Batch *out = NULL;
			const char *why = NULL;
			wire.data[n] = (char)values[v];
			arena_reset(&arena);
			if (batch_decode((uint8_t *)wire.data, wire.len, &arena, &out, &why) != HIWAT_OK)
				ck_assert_ptr_nonnull(why);
		}
		wire.data[n] = kept;
	}
}
END_TEST

START_TEST(refuses_bad_contents)
{
	const char *why;
	Hiwat__Batch *b = make_batch();

	b->version = 2;
	ck_assert_int_eq(decode(b, &why), HIWAT_E_VERSION);
	b = make_batch();
	RECORD_SET(b->records[0]->mbuf, memory_used_ratio, NAN);
	ck_assert_int_eq(decode(b, &why), HIWAT_E_FORMAT);
	ck_assert_str_eq(why, "a number is NaN or infinite");
	b = make_batch();
	b->host->uuid.len = 15;
	ck_assert_int_eq(decode(b, &why), HIWAT_E_FORMAT);
	b = make_batch();
	b->host->name = arena_strndup(&arena, "a\nb", 3);
	ck_assert_int_eq(decode(b, &why), HIWAT_E_FORMAT);
	b = make_batch();
	char *longer = arena_alloc(&arena, 300);
	memset(longer, 'x', 256);
	b->records[0]->mbuf->pools[0]->pool = longer;
	ck_assert_int_eq(decode(b, &why), HIWAT_E_TOOBIG);
	b = make_batch();
	b->records[0]->status = NULL;
	ck_assert_int_eq(decode(b, &why), HIWAT_E_FORMAT);
	b = make_batch();
	b->host = NULL;
	ck_assert_int_eq(decode(b, &why), HIWAT_E_FORMAT);
}
END_TEST

START_TEST(refuses_a_million_labels)
{
	/* A host label of two empty strings takes six bytes on the wire; decoding must stop at the arena's ceiling. */
	const char *why = NULL;
	Hiwat__Batch *b = make_batch(), *out = NULL;
	struct arena small;

	ck_assert_int_eq(batch_encode(b, &wire), HIWAT_OK);
	buf_reset(&wire);
	for (int i = 0; i < 100000; i++)
		buf_add(&wire, "\x12\x06\x32\x04\x0a\x00\x12\x00", 8);
	ck_assert_int_ne(batch_decode((uint8_t *)wire.data, wire.len, &arena, &out, &why), HIWAT_OK);
	ck_assert_ptr_nonnull(why);
	arena_init(&small, 100000);
	why = NULL;
	ck_assert_int_eq(batch_decode((uint8_t *)wire.data, wire.len, &small, &out, &why), HIWAT_E_TOOBIG);
	arena_fini(&small);
	buf_reset(&wire);
	buf_reserve(&wire, CODEC_BATCH_MAX + 1);
	ck_assert_int_eq(batch_decode((uint8_t *)wire.data, CODEC_BATCH_MAX + 1, &arena, &out, &why), HIWAT_E_TOOBIG);
}
END_TEST

START_TEST(zstd_is_bounded)
{
	static uint8_t zeros[100000];
	struct buf packed, plain;

	buf_init(&packed, 200000);
	buf_init(&plain, 200000);
	ck_assert_int_eq(codec_compress(zeros, sizeof(zeros), &packed), HIWAT_OK);
	ck_assert_uint_lt(packed.len, 200);
	ck_assert_int_eq(codec_decompress((uint8_t *)packed.data, packed.len, sizeof(zeros) - 1, &plain), HIWAT_E_TOOBIG);
	ck_assert_int_eq(codec_decompress((uint8_t *)packed.data, packed.len - 1, sizeof(zeros), &plain), HIWAT_E_FORMAT);
	ck_assert_int_eq(codec_decompress(zeros, 20, sizeof(zeros), &plain), HIWAT_E_FORMAT);
	buf_reset(&plain);
	ck_assert_int_eq(codec_decompress((uint8_t *)packed.data, packed.len, sizeof(zeros), &plain), HIWAT_OK);
	ck_assert_uint_eq(plain.len, sizeof(zeros));
	ck_assert_int_eq(memcmp(plain.data, zeros, sizeof(zeros)), 0);
	buf_fini(&packed);
	buf_fini(&plain);
}
END_TEST

START_TEST(acknowledgements)
{
	Hiwat__Ack ack = HIWAT__ACK__INIT, *out = NULL;

	RECORD_SET(&ack, received, 7);
	RECORD_SET(&ack, durable, 5);
	ck_assert_int_eq(ack_encode(&ack, &wire), HIWAT_OK);
	ck_assert_int_eq(ack_decode((uint8_t *)wire.data, wire.len, &arena, &out), HIWAT_OK);
	ck_assert_uint_eq(out->durable, 5);
	ck_assert_int_eq(ack_decode((const uint8_t *)"\xff\xff", 2, &arena, &out), HIWAT_E_FORMAT);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("codec");
	TCase *tc = tcase_create("codec");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, round_trip);
	tcase_add_test(tc, every_prefix);
	tcase_add_test(tc, every_byte);
	tcase_add_test(tc, refuses_bad_contents);
	tcase_add_test(tc, refuses_a_million_labels);
	tcase_add_test(tc, zstd_is_bounded);
	tcase_add_test(tc, acknowledgements);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
