#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "record.h"
#include "snapshot.h"

static const char rules_text[] = "rules:\n"
				 "  - id: files\n"
				 "    cause: files\n"
				 "    threshold_source: ours\n"
				 "    reason: they run out\n"
				 "    summary: files\n"
				 "    warning: hiwat_files_open > 5\n";

static char path[64], damaged[80], fresh[80];
static struct rule_set *rules;
static struct labels *labels;
static struct hosts *hosts;
static struct arena arena;

static void
setup(void)
{
	struct buf errors;

	snprintf(path, sizeof(path), "/tmp/hiwat-snapshot.%d", (int)getpid());
	snprintf(damaged, sizeof(damaged), "%s.damaged", path);
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	buf_init(&errors, 65536);
	ck_assert_msg(rule_set_parse("test", rules_text, sizeof(rules_text) - 1, &rules, &errors) == 0, "%s",
	    buf_str(&errors));
	buf_fini(&errors);
	labels = labels_new(1000);
	hosts = hosts_new(100);
	arena_init(&arena, 1 << 20);
}

static void
teardown(void)
{
	hosts_free(hosts, rule_state_free);
	labels_free(labels);
	rule_set_free(rules);
	arena_fini(&arena);
	unlink(path);
	unlink(damaged);
	unlink(fresh);
}

static unsigned n_events;
static enum rule_status last_status;

static void
note(void *arg, const struct rule_event *event)
{
	(void)arg;
	n_events++;
	last_status = event->status;
}

static void
sample(struct host *h, uint64_t open, uint64_t boot_ns)
{
	Hiwat__Record *r = arena_alloc(&arena, sizeof(*r));
	size_t index;

	hiwat__record__init(r);
	Hiwat__Sampler *s = RECORD_ONE(&arena, r, status, sampler);
	s->sampler = record_label(&arena, text_of("system"));
	Hiwat__SamplerVerdict *v = RECORD_ONE(&arena, s, verdict, sampler_verdict);
	v->verdict = record_label(&arena, text_of("ok"));
	Hiwat__System *sys = RECORD_ONE(&arena, r, system, system);
	Hiwat__Files *f = RECORD_ONE(&arena, sys, files, files);
	RECORD_SET(f, open, open);
	Hiwat__Filesystem *fs = RECORD_ADD(&arena, sys, filesystems, filesystem);
	fs->mount = record_label(&arena, text_of("/"));
	RECORD_SET(fs, bytes_used, 7);
	ck_assert_int_eq(track_put(&h->live, labels, r, RECORD_DATA, boot_ns, 2 * boot_ns, &index), 0);
	struct host_view view = host_view_of(h, &h->live, labels);
	struct rule_time now = { boot_ns, 2 * boot_ns, 10 };
	ck_assert_int_eq(rules_eval(rules, h->live.rules, &view, labels, index, &now, note, NULL), 0);
}

static void
write_hosts(unsigned n)
{
	struct snapshot_writer *w = NULL;

	for (unsigned i = 0; i < n; i++) {
		uint8_t uuid[16] = { (uint8_t)(i + 1) };
		struct host *h = hosts_add(hosts, uuid);
		ck_assert_ptr_nonnull(h);
		h->live.rules = rule_state_new();
		memset(h->live.boot_id, 9, 16);
		h->stream = (struct stream){ .id = 42, .contiguous = 5, .n_ranges = 1, .ranges = { { 8, 9 } } };
		sample(h, 6, 1000);
	}
	ck_assert_int_eq(snapshot_begin(path, &w), 0);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(snapshot_host(w, hosts_at(hosts, i), rules, labels), 0);
	ck_assert_int_eq(snapshot_finish(w), 0);
	ck_assert_int_ne(access(fresh, F_OK), 0);
	hosts_free(hosts, rule_state_free);
	hosts = hosts_new(100);
}

START_TEST(round_trip)
{
	write_hosts(3);
	ck_assert_int_eq(snapshot_load(path, hosts, rules, labels), 0);
	ck_assert_uint_eq(hosts_count(hosts), 3);
	struct host *h = hosts_at(hosts, 1);
	ck_assert_uint_eq(h->stream.id, 42);
	ck_assert_uint_eq(h->stream.contiguous, 5);
	ck_assert_uint_eq(h->stream.durable, 5);
	ck_assert_uint_eq(h->stream.n_ranges, 1);
	ck_assert_uint_eq(h->stream.ranges[0].last, 9);
	ck_assert_uint_eq(h->live.boot_id[3], 9);
	ck_assert_uint_eq(h->live.n_sets, 1);
	ck_assert_str_eq(h->live.sets[0].sampler, "system");
	ck_assert_uint_eq(h->live.sets[0].n_values, 2);
	ck_assert_double_eq(h->live.sets[0].values[0], 6);
	ck_assert_uint_eq(h->live.sets[0].boot_ns, 1000);
	ck_assert_str_eq(labels_value(labels, h->live.sets[0].series->series[1].labels, "mount"), "/");
	/* What fired goes on firing: the next sample is no new beginning, its end is an end. */
	n_events = 0;
	sample(h, 6, 2000);
	ck_assert(n_events == 0 || last_status == RULE_FIRING);
	sample(h, 1, 3000000000000u);
	sample(h, 1, 3100000000000u);
	ck_assert_int_eq(last_status, RULE_OK);
}
END_TEST

START_TEST(no_file)
{
	ck_assert_int_eq(snapshot_load(path, hosts, rules, labels), HIWAT_E_NODATA);
}
END_TEST

/* Any byte changed, any end cut off: moved aside and reported, never believed. */
START_TEST(damage)
{
	write_hosts(1);
	FILE *f = fopen(path, "r");
	static char data[65536];
	size_t n = fread(data, 1, sizeof(data), f);
	fclose(f);
	ck_assert_uint_gt(n, 60);
	for (size_t i = 0; i < 2 * n; i++) {
		f = fopen(path, "w");
		if (i < n)
			data[i] ^= 0x10;
		ck_assert_uint_eq(fwrite(data, 1, i < n ? n : i - n, f), i < n ? n : i - n);
		if (i < n)
			data[i] ^= 0x10;
		fclose(f);
		ck_assert_int_eq(snapshot_load(path, hosts, rules, labels), HIWAT_E_CORRUPT);
		ck_assert_uint_eq(hosts_count(hosts), 0);
		ck_assert_int_eq(access(damaged, F_OK), 0);
		ck_assert_int_ne(access(path, F_OK), 0);
	}
}
END_TEST

START_TEST(abandoned_leaves_the_old)
{
	struct snapshot_writer *w = NULL;

	write_hosts(2);
	ck_assert_int_eq(snapshot_begin(path, &w), 0);
	snapshot_abandon(w);
	ck_assert_int_ne(access(fresh, F_OK), 0);
	ck_assert_int_eq(snapshot_load(path, hosts, rules, labels), 0);
	ck_assert_uint_eq(hosts_count(hosts), 2);
	ck_assert_int_eq(snapshot_begin("/nonexistent/x", &w), HIWAT_E_SYS);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("snapshot");
	TCase *tc = tcase_create("snapshot");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, round_trip);
	tcase_add_test(tc, no_file);
	tcase_add_test(tc, damage);
	tcase_add_test(tc, abandoned_leaves_the_old);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
