/* The fast way in takes what the slow one takes, and the same numbers. */
#include "unit.h"

#include <string.h>

#include "arena.h"
#include "buf.h"
#include "codec.h"
#include "intake.h"
#include "intake_check.h"
#include "record.h"

static struct arena arena;
static struct buf wire;
static struct intake intake;

static void
setup(void)
{
	arena_init(&arena, CODEC_ARENA_MAX);
	buf_init(&wire, CODEC_BATCH_MAX);
	intake_init(&intake, 0x123456789abcdefull);
	intake_check_reset();
}

static void
teardown(void)
{
	arena_fini(&arena);
	buf_fini(&wire);
	intake_fini(&intake);
	intake_check_reset();
}

static Hiwat__Record *
add_record(Hiwat__Batch *b, const char *sampler, const char *verdict)
{
	Hiwat__Record *r = RECORD_ADD(&arena, b, records, record);
	Hiwat__Sampler *s = RECORD_ONE(&arena, r, status, sampler);
	Hiwat__SamplerVerdict *v = RECORD_ONE(&arena, s, verdict, sampler_verdict);

	s->sampler = record_label(&arena, text_of(sampler));
	v->verdict = record_label(&arena, text_of(verdict));
	RECORD_SET(s, up, 1);
	RECORD_SET(s, duration_seconds, 0.25);
	return r;
}

/* Of everything that a record may be made of: labels inside labels, rows, absent fields, infos, all types of numbers. */
static Hiwat__Batch *
make_batch(uint64_t tick, const char *interface, const char *verdict)
{
	static uint8_t uuid[16] = { 1 }, boot[16] = { 2 };

	arena_reset(&arena);
	Hiwat__Batch *b = arena_alloc(&arena, sizeof(*b));
	hiwat__batch__init(b);
	Hiwat__Host *h = RECORD_ONE(&arena, b, host, host);
	RECORD_SET(h, uuid, ((ProtobufCBinaryData){ 16, uuid }));
	RECORD_SET(h, boot_id, ((ProtobufCBinaryData){ 16, boot }));
	h->name = record_label(&arena, text_of("host"));
	RECORD_SET(b, version, CODEC_VERSION);
	RECORD_SET(b, sequence, tick);
	RECORD_SET(b, wall_ns, tick * 1000);
	RECORD_SET(b, boot_ns, tick * 1000);
	Hiwat__Record *r = add_record(b, "net", verdict);
	Hiwat__Net *net = RECORD_ONE(&arena, r, net, net);
	for (unsigned i = 0; i < 2; i++) {
		Hiwat__Netif *nif = RECORD_ADD(&arena, net, interfaces, netif);
		nif->interface = record_label(&arena, text_of(i == 0 ? "lo" : interface));
		RECORD_SET(nif, mtu_bytes, 1500);
		for (unsigned d = 0; d < 2; d++) {
			Hiwat__NetifByDirection *dir = RECORD_ADD(&arena, nif, directions, netif_by_direction);
			dir->direction = record_label(&arena, text_of(d == 0 ? "in" : "out"));
			RECORD_SET(dir, packets_total, tick * 1000000007);
			if (i == d)
				RECORD_SET(dir, bytes_total, UINT64_MAX - tick);
		}
	}
	r = add_record(b, "self", verdict);
	Hiwat__Agent *agent = RECORD_ONE(&arena, r, agent, agent);
	Hiwat__AgentInfo *info = RECORD_ADD(&arena, agent, info, agent_info);
	info->version = record_label(&arena, text_of("0.1.0-a-long-one"));
	RECORD_SET(agent, spool_bytes, tick % 200);
	r = add_record(b, "cpu", verdict);
	Hiwat__Interrupt *in = RECORD_ONE(&arena, r, interrupt, interrupt);
	Hiwat__CpuByMode *m = RECORD_ADD(&arena, in, cpu, cpu_by_mode);
	m->mode = record_label(&arena, text_of("user"));
	RECORD_SET(m, seconds_total, (double)tick / 7);
	buf_reset(&wire);
	ck_assert_int_eq(batch_encode(b, &wire), 0);
	return b;
}

/* Records that were not unpacked. */
static unsigned
check(void)
{
	unsigned n = 0;
	const char *what = intake_differs(&intake, (const uint8_t *)wire.data, wire.len, &n);

	ck_assert_msg(what == NULL, "%s", what);
	return n;
}

START_TEST(numbers_alone_are_taken_the_second_time)
{
	make_batch(1, "eth0", "ok");
	ck_assert_uint_eq(check(), 0);
	for (uint64_t tick = 2; tick < 5000; tick += tick / 3 + 1) {
		make_batch(tick, "eth0", "ok");
		ck_assert_uint_eq(check(), 3);
	}
}
END_TEST

START_TEST(other_series_are_unpacked)
{
	make_batch(1, "eth0", "ok");
	check();
	make_batch(2, "eth1", "ok");
	ck_assert_uint_eq(check(), 2);
	/* Both are known now. */
	make_batch(3, "eth0", "ok");
	ck_assert_uint_eq(check(), 3);
	make_batch(4, "eth1", "ok");
	ck_assert_uint_eq(check(), 3);
}
END_TEST

START_TEST(what_is_not_ok_is_unpacked)
{
	Hiwat__Batch *b;

	for (int i = 0; i < 3; i++) {
		make_batch(1, "eth0", "denied");
		ck_assert_uint_eq(check(), 0);
		b = make_batch(1, "eth0", "ok");
		RECORD_SET(b->records[0]->status, reason, ((ProtobufCBinaryData){ 3, (uint8_t *)(uintptr_t) "why" }));
		buf_reset(&wire);
		ck_assert_int_eq(batch_encode(b, &wire), 0);
		ck_assert_uint_eq(check(), i == 0 ? 0 : 2);
	}
}
END_TEST

START_TEST(every_byte_changed_is_taken_or_refused_alike)
{
	static const uint8_t changes[] = { 0x01, 0x02, 0x08, 0x80, 0xff };

	make_batch(77, "eth0", "ok");
	check();
	for (size_t i = 0; i < wire.len; i++) {
		for (size_t k = 0; k < ARRAY_LEN(changes); k++) {
			wire.data[i] = (char)(wire.data[i] ^ changes[k]);
			check();
			wire.data[i] = (char)(wire.data[i] ^ changes[k]);
		}
	}
	ck_assert_uint_eq(check(), 3);
}
END_TEST

START_TEST(every_end_is_taken_or_refused_alike)
{
	make_batch(77, "eth0", "ok");
	check();
	for (size_t len = wire.len; len-- > 0;) {
		const char *what = intake_differs(&intake, (const uint8_t *)wire.data, len, NULL);
		ck_assert_msg(what == NULL, "%zu bytes: %s", len, what);
	}
}
END_TEST

START_TEST(fields_in_another_order_are_unpacked)
{
	/* A number before a label, which protobuf allows: the same series, but not in the form that is known. */
	make_batch(1, "eth0", "ok");
	check();
	Hiwat__Batch *b = make_batch(2, "eth0", "ok");
	struct buf record, status;
	buf_init(&record, 1000);
	buf_init(&status, 1000);
	b->n_records = 0;
	buf_reset(&wire);
	ck_assert_int_eq(batch_encode(b, &wire), 0);
	/* Sampler: up = 1, then sampler = "x", then the verdict; behind it the agent, then the status once more. */
	buf_add(&status, "\x10\x01\x0a\x01x\x2a\x04\x0a\x02ok", 11);
	buf_add(&record, "\x0a\x0b", 2);
	buf_add(&record, status.data, status.len);
	buf_add(&record, "\x5a\x02\x10\x07", 4);
	buf_add(&record, "\x0a\x02\x10\x05", 4);
	buf_putc(&wire, 0x3a);
	buf_putc(&wire, (char)record.len);
	buf_add(&wire, record.data, record.len);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(check(), 0);
	buf_fini(&record);
	buf_fini(&status);
}
END_TEST

START_TEST(limits_hold)
{
	struct intake_batch *out;
	const char *why = NULL;
	Hiwat__Batch *b;

	for (int round = 0; round < 2; round++) {
		b = make_batch(1, "eth0", "ok");
		for (unsigned i = 3; i < CODEC_RECORDS_MAX; i++)
			add_record(b, "more", "ok");
		buf_reset(&wire);
		ck_assert_int_eq(batch_encode(b, &wire), 0);
		check();
		add_record(b, "too many", "ok");
		buf_reset(&wire);
		ck_assert_int_eq(batch_encode(b, &wire), 0);
		ck_assert_int_ne(intake_decode(&intake, (const uint8_t *)wire.data, wire.len, &out, &why), 0);
		ck_assert_str_eq(why, "more than 64 records in one batch");

		/* So many numbers, in records that are known by themselves. */
		b = make_batch(1, "eth0", "ok");
		for (unsigned k = 0; k < 12; k++) {
			Hiwat__Interrupt *in = RECORD_ONE(&arena, add_record(b, "many", "ok"), interrupt, interrupt);
			for (unsigned i = 0; i < 1800; i++) {
				Hiwat__InterruptsBySource *s = RECORD_ADD(&arena, in, sources, interrupts_by_source);
				s->irq = record_label(&arena, text_of("1"));
				RECORD_SET(s, total, i);
			}
			buf_reset(&wire);
			ck_assert_int_eq(batch_encode(b, &wire), 0);
			check();
		}
		ck_assert_int_ne(intake_decode(&intake, (const uint8_t *)wire.data, wire.len, &out, &why), 0);
		ck_assert_str_eq(why, "more than 20000 numbers in one batch");
	}
}
END_TEST

static Suite *
intake_suite(void)
{
	Suite *s = suite_create("intake");
	TCase *tc = tcase_create("intake");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, numbers_alone_are_taken_the_second_time);
	tcase_add_test(tc, other_series_are_unpacked);
	tcase_add_test(tc, what_is_not_ok_is_unpacked);
	tcase_add_test(tc, every_byte_changed_is_taken_or_refused_alike);
	tcase_add_test(tc, every_end_is_taken_or_refused_alike);
	tcase_add_test(tc, fields_in_another_order_are_unpacked);
	tcase_add_test(tc, limits_hold);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(intake_suite)
