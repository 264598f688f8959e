#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "hosts.h"
#include "record.h"

static struct arena arena;
static struct labels *labels;
static struct track track;
static struct resources resources;

static void
setup(void)
{
	arena_init(&arena, 1 << 20);
	labels = labels_new(1000);
}

static void
teardown(void)
{
	resources_fini(&resources);
	track_clear(&track);
	track = (struct track){ 0 };
	labels_free(labels);
	arena_fini(&arena);
}

static void
add_pool(Hiwat__Mbuf *m, const char *name, uint64_t in_use, uint64_t allocated, uint64_t limit)
{
	Hiwat__MbufPool *p = RECORD_ADD(&arena, m, pools, mbuf_pool);

	p->pool = record_label(&arena, text_of(name));
	RECORD_SET(p, in_use, in_use);
	if (allocated > 0)
		RECORD_SET(p, allocated, allocated);
	if (limit > 0)
		RECORD_SET(p, limit, limit);
}

/* One record at a time in seconds; cluster grows by 10 a second from 100. */
static void
feed(uint64_t seconds, bool with_second_pool)
{
	Hiwat__Record *r = arena_alloc(&arena, sizeof(*r));
	size_t index;

	hiwat__record__init(r);
	Hiwat__Sampler *s = RECORD_ONE(&arena, r, status, sampler);
	s->sampler = record_label(&arena, text_of("mbuf"));
	Hiwat__SamplerVerdict *v = RECORD_ONE(&arena, s, verdict, sampler_verdict);
	v->verdict = record_label(&arena, text_of("ok"));
	Hiwat__Mbuf *m = RECORD_ONE(&arena, r, mbuf, mbuf);
	add_pool(m, "mbuf", 50, 60, 0);
	add_pool(m, "cluster", 1, 100 + 10 * seconds, 10000);
	if (with_second_pool)
		add_pool(m, "jumbo_9k", 400, 400, 400);
	Hiwat__Net *net = RECORD_ONE(&arena, r, net, net);
	Hiwat__SocketMemory *sm = RECORD_ADD(&arena, net, socket_memory, socket_memory);
	sm->protocol = record_label(&arena, text_of("tcp"));
	RECORD_SET(sm, bytes, 250);
	for (int i = 0; i < 2; i++) {
		Hiwat__SocketMemoryLimit *l = RECORD_ADD(&arena, sm, limits, socket_memory_limit);
		l->threshold = record_label(&arena, text_of(i == 0 ? "low" : "high"));
		RECORD_SET(l, bytes, i == 0 ? 300 : 1000);
	}
	uint64_t boot_ns = seconds * 1000000000u;
	ck_assert_int_eq(track_put(&track, labels, r, RECORD_DATA, boot_ns, 1, &index), 0);
	ck_assert_int_eq(resources_update(&resources, &track, labels, boot_ns), 0);
}

static const struct resource *
find(const char *name, const char *label, const char *value)
{
	for (size_t i = 0; i < resources.n; i++) {
		const char *have = labels_value(labels, resources.rows[i].labels, label);
		if (strcmp(resources.rows[i].name, name) == 0 && have != NULL && strcmp(have, value) == 0)
			return &resources.rows[i];
	}
	return NULL;
}

/* allocated where it is printed, in_use where not; a pool without a limit is no resource; the high threshold limits. */
START_TEST(use_and_limit)
{
	feed(10, true);
	ck_assert_uint_eq(resources.n, 3);
	ck_assert_ptr_null(find("mbuf_pool", "pool", "mbuf"));
	const struct resource *r = find("mbuf_pool", "pool", "cluster");
	ck_assert_double_eq(r->use, 200);
	ck_assert_double_eq(r->limit, 10000);
	ck_assert_double_eq_tol(resource_headroom(r), 0.98, 1e-9);
	r = find("mbuf_pool", "pool", "jumbo_9k");
	ck_assert_double_eq(resource_headroom(r), 0);
	ck_assert_double_eq(resource_exhaustion(r), 0);
	r = find("socket_memory", "protocol", "tcp");
	ck_assert_double_eq(r->use, 250);
	ck_assert_double_eq(r->limit, 1000);
}
END_TEST

START_TEST(time_to_exhaustion)
{
	feed(0, false);
	ck_assert(isnan(resource_exhaustion(find("mbuf_pool", "pool", "cluster"))));
	for (uint64_t s = 10; s <= 1000; s += 10)
		feed(s, false);
	/* 10,100 of 10,000: over. */
	ck_assert_double_eq(resource_exhaustion(find("mbuf_pool", "pool", "cluster")), 0);
	resources_fini(&resources);
	for (uint64_t s = 0; s <= 500; s += 10)
		feed(s, false);
	/* 5,100 used, 4,900 left, ten a second; the smoothed slope lags a little behind. */
	ck_assert_double_eq_tol(resource_exhaustion(find("mbuf_pool", "pool", "cluster")), 490, 150);
	ck_assert(isnan(resource_exhaustion(find("socket_memory", "protocol", "tcp"))));
}
END_TEST

START_TEST(trend_survives_new_series)
{
	for (uint64_t s = 0; s <= 300; s += 10)
		feed(s, false);
	double before = resource_exhaustion(find("mbuf_pool", "pool", "cluster"));
	feed(310, true);
	ck_assert_double_eq_tol(resource_exhaustion(find("mbuf_pool", "pool", "cluster")), before, 60);
	ck_assert_ptr_nonnull(find("mbuf_pool", "pool", "jumbo_9k"));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("resources");
	TCase *tc = tcase_create("resources");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, use_and_limit);
	tcase_add_test(tc, time_to_exhaustion);
	tcase_add_test(tc, trend_survives_new_series);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
