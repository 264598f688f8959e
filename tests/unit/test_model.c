#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "err.h"
#include "hosts.h"
#include "intake.h"
#include "record.h"

START_TEST(labels_are_shared_and_swept)
{
	struct labels *t = labels_new(4);
	struct sample_label ab[] = { { "a", "1" }, { "b", "2" } };
	struct sample_label a[] = { { "a", "1" } };
	struct sample_label other[] = { { "a", "2" } };

	ck_assert_uint_eq(labels_intern(t, NULL, 0), LABELS_EMPTY);
	uint32_t set = labels_intern(t, ab, 2);
	ck_assert_uint_eq(labels_intern(t, ab, 2), set);
	uint32_t set_a = labels_intern(t, a, 1);
	ck_assert_uint_ne(set_a, set);
	ck_assert_str_eq(labels_value(t, set, "b"), "2");
	ck_assert_ptr_null(labels_value(t, set, "c"));
	ck_assert_uint_ne(labels_intern(t, other, 1), LABELS_FULL);
	struct sample_label more[] = { { "x", "y" } };
	ck_assert_uint_eq(labels_intern(t, more, 1), LABELS_FULL);
	labels_mark_begin(t);
	labels_mark(t, set);
	labels_sweep(t);
	ck_assert_uint_eq(labels_count(t), 2);
	ck_assert_uint_eq(labels_intern(t, ab, 2), set);
	ck_assert_uint_ne(labels_intern(t, more, 1), LABELS_FULL);
	labels_free(t);
}
END_TEST

START_TEST(many_labels)
{
	struct labels *t = labels_new(100000);
	char value[32];

	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 20000; i++) {
			snprintf(value, sizeof(value), "%u", i);
			struct sample_label l[] = { { "n", value } };
			ck_assert_uint_eq(labels_intern(t, l, 1), i + 1);
		}
	}
	labels_free(t);
}
END_TEST

/* Arrivals of a stream: each row feeds sequences and says what is contiguous after them. */
static const struct {
	uint64_t seq[8];
	enum stream_arrival last;
	uint64_t contiguous;
	unsigned n_ranges;
} stream_rows[] = {
	{ { 1 }, STREAM_NEW, 1, 0 },
	{ { 1, 1 }, STREAM_DUPLICATE, 1, 0 },
	{ { 1, 2, 3 }, STREAM_NEW, 3, 0 },
	{ { 5 }, STREAM_NEW, 0, 1 },
	{ { 5, 6, 4 }, STREAM_NEW, 0, 1 },
	{ { 5, 7, 6 }, STREAM_NEW, 0, 1 },
	{ { 5, 7, 5 }, STREAM_DUPLICATE, 0, 2 },
	{ { 7, 5, 3 }, STREAM_NEW, 0, 3 },
	{ { 2, 4, 3, 1 }, STREAM_NEW, 4, 0 },
	{ { 3, 2, 1, 4 }, STREAM_NEW, 4, 0 },
};

START_TEST(stream_arrivals)
{
	struct stream s = { 0 };
	enum stream_arrival a = STREAM_NEW;

	for (size_t i = 0; i < 8 && stream_rows[_i].seq[i] != 0; i++)
		a = stream_receive(&s, stream_rows[_i].seq[i], stream_rows[_i].seq[i]);
	ck_assert_int_eq(a, stream_rows[_i].last);
	ck_assert_uint_eq(s.contiguous, stream_rows[_i].contiguous);
	ck_assert_uint_eq(s.n_ranges, stream_rows[_i].n_ranges);
}
END_TEST

/* Against a plain bitmap: any order of arrivals gives the same answers. */
START_TEST(stream_against_bitmap)
{
	unsigned seed = 1;

	for (int round = 0; round < 200; round++) {
		struct stream s = { 0 };
		bool seen[66] = { false };
		for (int i = 0; i < 300; i++) {
			seed = seed * 1103515245u + 12345u;
			uint64_t seq = 1 + (seed >> 16) % 30;
			uint64_t first = (seed >> 28) == 0 && seq > 3 ? seq - 3 : seq;
			enum stream_arrival a = stream_receive(&s, first, seq);
			ck_assert_int_eq(a, seen[seq] ? STREAM_DUPLICATE : STREAM_NEW);
			for (uint64_t unused = seen[seq] ? seq : first; unused <= seq; unused++)
				seen[unused] = true;
			uint64_t contiguous = 0;
			while (seen[contiguous + 1])
				contiguous++;
			ck_assert_uint_eq(s.contiguous, contiguous);
		}
	}
}
END_TEST

START_TEST(stream_gaps_are_bounded_and_forgotten)
{
	struct stream s = { 0 };

	for (uint64_t i = 1; i <= STREAM_RANGES_MAX; i++)
		ck_assert_int_eq(stream_receive(&s, 2 * i, 2 * i), STREAM_NEW);
	ck_assert_int_eq(stream_receive(&s, 1000, 1000), STREAM_TOO_MANY_GAPS);
	/* 1, 3, 5, 7, 9 are lost; 10 has arrived. */
	ck_assert_uint_eq(stream_forget_below(&s, 10), 5);
	ck_assert_uint_eq(s.contiguous, 10);
	ck_assert_uint_eq(stream_forget_below(&s, 10), 0);
	ck_assert_uint_eq(stream_forget_below(&s, 100), 11 + 67);
	ck_assert_uint_eq(s.contiguous, 99);
	ck_assert_uint_eq(s.n_ranges, 0);
}
END_TEST

static Hiwat__Record *
make_record(struct arena *a, const char *verdict, unsigned n_pools, uint64_t in_use)
{
	static const char *const names[] = { "mbuf", "cluster", "jumbo_9k" };
	Hiwat__Record *r = arena_alloc(a, sizeof(*r));

	hiwat__record__init(r);
	Hiwat__Sampler *s = RECORD_ONE(a, r, status, sampler);
	s->sampler = record_label(a, text_of("mbuf"));
	RECORD_SET(s, up, strcmp(verdict, "ok") == 0);
	RECORD_SET(s, reason, ((ProtobufCBinaryData){ 5, (uint8_t *)arena_strndup(a, "no\nme", 5) }));
	Hiwat__SamplerVerdict *v = RECORD_ONE(a, s, verdict, sampler_verdict);
	v->verdict = record_label(a, text_of(verdict));
	Hiwat__Mbuf *m = RECORD_ONE(a, r, mbuf, mbuf);
	for (unsigned i = 0; i < n_pools; i++) {
		Hiwat__MbufPool *p = RECORD_ADD(a, m, pools, mbuf_pool);
		p->pool = record_label(a, text_of(names[i]));
		RECORD_SET(p, in_use, in_use + i);
	}
	return r;
}

START_TEST(track_keeps_the_newest)
{
	struct arena a;
	struct labels *labels = labels_new(100);
	struct track t = { 0 };
	size_t i = 99;

	arena_init(&a, 100000);
	ck_assert_int_eq(track_put(&t, labels, make_record(&a, "ok", 3, 10), RECORD_DATA, 1, 2, &i), HIWAT_OK);
	ck_assert_uint_eq(i, 0);
	ck_assert_uint_eq(t.sets[0].n_values, 3);
	uint32_t shape = t.sets[0].shape;
	ck_assert_int_eq(track_put(&t, labels, make_record(&a, "ok", 3, 20), RECORD_DATA, 3, 4, &i), HIWAT_OK);
	ck_assert_uint_eq(t.sets[0].shape, shape);
	ck_assert_double_eq(t.sets[0].values[2], 22);
	ck_assert_int_eq(track_put(&t, labels, make_record(&a, "ok", 2, 30), RECORD_DATA, 5, 6, &i), HIWAT_OK);
	ck_assert_uint_ne(t.sets[0].shape, shape);
	ck_assert_uint_eq(t.sets[0].n_values, 2);
	/* A failed record leaves the values and says why. */
	shape = t.sets[0].shape;
	ck_assert_int_eq(track_put(&t, labels, make_record(&a, "denied", 0, 0), RECORD_DATA, 7, 8, &i), HIWAT_OK);
	ck_assert_int_eq(t.sets[0].verdict, VERDICT_DENIED);
	ck_assert_str_eq(t.sets[0].reason, "no me");
	ck_assert_uint_eq(t.sets[0].n_values, 2);
	ck_assert_uint_eq(t.sets[0].shape, shape);
	ck_assert_uint_eq(t.sets[0].good_boot_ns, 5);
	/* Its status is known all the same. */
	ck_assert_int_eq(track_put(&t, labels, make_record(&a, "denied", 0, 0), RECORD_STATUS, 7, 8, &i), HIWAT_OK);
	ck_assert_uint_eq(i, 1);
	ck_assert_str_eq(t.sets[1].sampler, "status.mbuf");
	ck_assert_int_eq(t.sets[1].verdict, VERDICT_OK);
	ck_assert_uint_eq(t.sets[1].n_values, 2);
	track_clear(&t);
	labels_free(labels);
	arena_fini(&a);
}
END_TEST

START_TEST(alike_hosts_share_series)
{
	struct arena a;
	struct labels *labels = labels_new(100);
	struct track one = { 0 }, two = { 0 };
	size_t i;

	arena_init(&a, 100000);
	ck_assert_int_eq(track_put(&one, labels, make_record(&a, "ok", 2, 10), RECORD_DATA, 1, 2, &i), HIWAT_OK);
	ck_assert_int_eq(track_put(&two, labels, make_record(&a, "ok", 2, 70), RECORD_DATA, 1, 2, &i), HIWAT_OK);
	ck_assert_ptr_eq(one.sets[0].series, two.sets[0].series);
	ck_assert_uint_eq(one.sets[0].series->users, 2);
	ck_assert_double_eq(one.sets[0].values[1], 11);
	ck_assert_double_eq(two.sets[0].values[1], 71);
	/* One of them gets a pool more, and the first values stay what they are. */
	ck_assert_int_eq(track_put(&two, labels, make_record(&a, "ok", 3, 80), RECORD_DATA, 3, 4, &i), HIWAT_OK);
	ck_assert_uint_eq(one.sets[0].series->users, 1);
	ck_assert_uint_eq(two.sets[0].series->n, 3);
	for (unsigned v = 0; v < 3; v++)
		ck_assert_double_eq(two.sets[0].values[v], 80 + v);
	/* And loses it again. */
	ck_assert_int_eq(track_put(&two, labels, make_record(&a, "ok", 2, 90), RECORD_DATA, 5, 6, &i), HIWAT_OK);
	ck_assert_ptr_eq(one.sets[0].series, two.sets[0].series);
	ck_assert_double_eq(two.sets[0].values[1], 91);
	track_clear(&one);
	/* Lists outlive the table that they were in. */
	labels_free(labels);
	track_clear(&two);
	arena_fini(&a);
}
END_TEST

START_TEST(numbers_alone_go_where_their_series_are)
{
	static const double values[] = { 1, 1, 51, 52, 53 };
	struct intake_record record = { .skeleton = 7, .values = values, .n_values = 5, .n_status = 2 };
	struct arena a;
	struct labels *labels = labels_new(100);
	struct track t = { 0 };
	size_t sets[2], other[2] = { 5, 6 };

	arena_init(&a, 100000);
	ck_assert_ptr_null(track_find_shape(&t, &record));
	for (enum record_part part = RECORD_DATA; part <= RECORD_STATUS; part++)
		ck_assert_int_eq(track_put(&t, labels, make_record(&a, "ok", 3, 10), part, 1, 2, &sets[part]), HIWAT_OK);
	track_note_shape(&t, sets, 7);
	const struct track_shape *shape = track_find_shape(&t, &record);
	ck_assert_ptr_nonnull(shape);
	track_put_values(&t, shape, &record, RECORD_DATA, 3, 4);
	track_put_values(&t, shape, &record, RECORD_STATUS, 3, 4);
	ck_assert_double_eq(t.sets[sets[RECORD_DATA]].values[0], 51);
	ck_assert_double_eq(t.sets[sets[RECORD_DATA]].values[2], 53);
	ck_assert_double_eq(t.sets[sets[RECORD_STATUS]].values[1], 1);
	ck_assert_uint_eq(t.sets[sets[RECORD_DATA]].good_boot_ns, 3);
	/* Other skeletons, other counts, none at all. */
	record.skeleton = 8;
	ck_assert_ptr_null(track_find_shape(&t, &record));
	record.skeleton = 0;
	ck_assert_ptr_null(track_find_shape(&t, &record));
	record.skeleton = 7;
	record.n_values = 4;
	ck_assert_ptr_null(track_find_shape(&t, &record));
	record.n_values = 5;
	/* Another sampler does not touch it, one that shares a set does. */
	track_note_shape(&t, other, 9);
	ck_assert_ptr_nonnull(track_find_shape(&t, &record));
	other[RECORD_DATA] = sets[RECORD_STATUS];
	track_note_shape(&t, other, 10);
	ck_assert_ptr_null(track_find_shape(&t, &record));
	track_note_shape(&t, sets, 7);
	ck_assert_ptr_nonnull(track_find_shape(&t, &record));
	/* Half of a record found no room: the other half may be of other series now. */
	other[RECORD_DATA] = sets[RECORD_DATA];
	other[RECORD_STATUS] = SIZE_MAX;
	track_note_shape(&t, other, 0);
	ck_assert_ptr_null(track_find_shape(&t, &record));
	ck_assert_uint_le(t.n_shapes, 3);
	track_clear(&t);
	labels_free(labels);
	arena_fini(&a);
}
END_TEST

START_TEST(hosts_are_found)
{
	struct hosts *hosts = hosts_new(1000);
	uint8_t uuid[16] = { 0 };

	for (unsigned i = 0; i < 1000; i++) {
		memcpy(uuid, &i, sizeof(i));
		ck_assert_ptr_null(hosts_find(hosts, uuid));
		struct host *h = hosts_add(hosts, uuid);
		ck_assert_ptr_nonnull(h);
		ck_assert_ptr_eq(hosts_find(hosts, uuid), h);
	}
	uuid[15] = 1;
	ck_assert_ptr_null(hosts_add(hosts, uuid));
	ck_assert_str_eq(hosts_at(hosts, 258)->id, "02010000-0000-0000-0000-000000000000");
	ck_assert_ptr_eq(hosts_find_text(hosts, "02010000-0000-0000-0000-000000000000"), hosts_at(hosts, 258));
	hosts_free(hosts, NULL);
}
END_TEST

START_TEST(clock_offset_is_the_smallest_of_an_hour)
{
	struct host h = { 0 };
	int64_t offset = 0;
	uint64_t s = 1000000000u, t0 = 1000000 * s;

	ck_assert(!host_clock_offset(&h, t0, &offset));
	host_note_clock(&h, t0, t0 - 5 * s);
	host_note_clock(&h, t0 + s, t0 + s - 7 * s);
	ck_assert(host_clock_offset(&h, t0 + s, &offset));
	ck_assert_int_eq(offset, (int64_t)(5 * s));
	host_note_clock(&h, t0 + 2 * s, t0 + 4 * s);
	ck_assert(host_clock_offset(&h, t0 + 2 * s, &offset));
	ck_assert_int_eq(offset, -(int64_t)(2 * s));
	/* An hour and a slot later the step is forgotten. */
	host_note_clock(&h, t0 + 4000 * s, t0 + 3997 * s);
	ck_assert(host_clock_offset(&h, t0 + 4000 * s, &offset));
	ck_assert_int_eq(offset, (int64_t)(3 * s));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("model");
	TCase *tc = tcase_create("model");

	tcase_add_test(tc, labels_are_shared_and_swept);
	tcase_add_test(tc, many_labels);
	tcase_add_loop_test(tc, stream_arrivals, 0, ARRAY_LEN(stream_rows));
	tcase_add_test(tc, stream_against_bitmap);
	tcase_add_test(tc, stream_gaps_are_bounded_and_forgotten);
	tcase_add_test(tc, track_keeps_the_newest);
	tcase_add_test(tc, alike_hosts_share_series);
	tcase_add_test(tc, numbers_alone_go_where_their_series_are);
	tcase_add_test(tc, hosts_are_found);
	tcase_add_test(tc, clock_offset_is_the_smallest_of_an_hour);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
