/* Replay: recordings made here, judged by the rule pack on their own clock. */
#include "unit.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "codec.h"
#include "err.h"
#include "record.h"
#include "recording.h"
#include "replay_group.h"
#include "replay_report.h"

#define START (1780000000 * NSEC_PER_SEC)
#define SECOND NSEC_PER_SEC

static char dir[64], recording[2][96];
static struct recorder *recorder;
static struct arena arena;
static struct buf wire;
static struct replay_verdict verdicts[2];
static struct replay_input *input;
static struct replay_stats stats;

static void
open_recorder(unsigned which)
{
	recorder_free(recorder);
	const struct recording_options options = {
		.dir = recording[which],
		.max_bytes = 64 << 20,
		.file_bytes = 32 << 20,
		.file_age_ns = 365 * 86400 * SECOND,
		.max_files = 100,
	};
	recorder = recorder_new(&options);
}

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "%s/hiwat-replay-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (int i = 0; i < 2; i++)
		snprintf(recording[i], sizeof(recording[i]), "%s/%d", dir, i);
	arena_init(&arena, CODEC_ARENA_MAX);
	buf_init(&wire, CODEC_BATCH_MAX);
	recorder = NULL;
	open_recorder(0);
}

static void
teardown(void)
{
	char command[160];

	recorder_free(recorder);
	recorder = NULL;
	replay_input_close(input);
	input = NULL;
	for (int i = 0; i < 2; i++)
		replay_verdict_fini(&verdicts[i]);
	arena_fini(&arena);
	buf_fini(&wire);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void
tick(uint64_t at_s)
{
	const struct recording_entry e = { .type = RECORDING_TICK, .wall_ns = START + at_s * SECOND };

	ck_assert_int_eq(recorder_append(recorder, &e), HIWAT_OK);
}

/* Host number n speaks, by a clock that is ahead by so much; it fills its table of files by so much of 1000. */
static void
speak(unsigned n, uint64_t at_s, int ahead_s, unsigned files)
{
	Hiwat__Batch b = HIWAT__BATCH__INIT;
	uint8_t uuid[16] = { 1, (uint8_t)n }, boot[16] = { 2, (uint8_t)n };
	char name[16];

	arena_reset(&arena);
	buf_reset(&wire);
	snprintf(name, sizeof(name), "host-%u", n);
	Hiwat__Host *h = RECORD_ONE(&arena, &b, host, host);
	RECORD_SET(h, uuid, ((ProtobufCBinaryData){ 16, uuid }));
	RECORD_SET(h, boot_id, ((ProtobufCBinaryData){ 16, boot }));
	RECORD_SET(h, stream, 7);
	h->name = name;
	RECORD_SET(&b, version, CODEC_VERSION);
	RECORD_SET(&b, sequence, at_s + 1);
	RECORD_SET(&b, previous, at_s);
	RECORD_SET(&b, wall_ns, START + at_s * SECOND);
	RECORD_SET(&b, boot_ns, (at_s + 1000) * SECOND);
	RECORD_SET(&b, next_due_ms, 10000);
	Hiwat__Record *r = RECORD_ADD(&arena, &b, records, record);
	Hiwat__Sampler *status = RECORD_ONE(&arena, r, status, sampler);
	status->sampler = record_label(&arena, text_of("files"));
	Hiwat__SamplerVerdict *verdict = RECORD_ONE(&arena, status, verdict, sampler_verdict);
	verdict->verdict = record_label(&arena, text_of("ok"));
	Hiwat__System *sys = RECORD_ONE(&arena, r, system, system);
	Hiwat__Files *f = RECORD_ONE(&arena, sys, files, files);
	RECORD_SET(f, open, files);
	RECORD_SET(f, limit, 1000);
	ck_assert_int_eq(batch_encode(&b, &wire), HIWAT_OK);
	const struct recording_entry e = {
		.type = RECORDING_BATCH,
		.wall_ns = START + at_s * SECOND,
		.sent_wall_ns = START + at_s * SECOND + (uint64_t)((int64_t)ahead_s * (int64_t)SECOND),
		.oldest = at_s + 1,
		.data = (const uint8_t *)wire.data,
		.len = wire.len,
	};
	ck_assert_int_eq(recorder_append(recorder, &e), HIWAT_OK);
}

static const char pack[] = TEST_DATA "/../collector/rules.d";

static void
load(unsigned which, const char *path)
{
	const struct judge_config config = { .hosts_max = 100, .series_max = 100000, .silent_min_ms = 60000 };
	struct rule_set *rules = NULL;
	struct buf errors;

	buf_init(&errors, 65536);
	ck_assert_msg(rule_set_load(path, &rules, &errors) == HIWAT_OK, "%s", buf_str(&errors));
	buf_fini(&errors);
	ck_assert_int_eq(replay_verdict_init(&verdicts[which], path, &config, rules), HIWAT_OK);
}

static void
run(unsigned n_recordings, unsigned n_verdicts)
{
	const char *const paths[] = { recording[0], recording[1] };
	struct buf why;

	buf_init(&why, 4096);
	recorder_free(recorder);
	recorder = NULL;
	if (verdicts[0].judge.rules == NULL)
		load(0, pack);
	ck_assert_msg(replay_input_open(paths, n_recordings, &input, &why) == HIWAT_OK, "%s", buf_str(&why));
	ck_assert_int_eq(replay_run(input, verdicts, n_verdicts, &stats), HIWAT_OK);
	buf_fini(&why);
}

/* The only incident of a rule, or NULL. */
static const struct replay_incident *
incident_of(const struct replay_verdict *v, const char *rule)
{
	const struct replay_incident *found = NULL;

	for (size_t i = 0; i < v->n_incidents; i++) {
		if (strcmp(v->incidents[i].rule, rule) != 0)
			continue;
		ck_assert_msg(found == NULL, "a second incident of %s", rule);
		found = &v->incidents[i];
	}
	return found;
}

START_TEST(silence_is_noticed_on_the_recordings_clock)
{
	for (uint64_t s = 0; s < 900; s++) {
		tick(s);
		if (s % 10 == 0 && (s < 300 || s >= 600))
			speak(1, s, 0, 10);
	}
	run(1, 1);
	const struct replay_incident *i = incident_of(&verdicts[0], "host-silent");
	ck_assert_ptr_nonnull(i);
	ck_assert_str_eq(i->host, "host-1");
	/* The last batch came at 290. */
	ck_assert_uint_eq(i->opened_ns, START + 351 * SECOND);
	ck_assert_uint_eq(i->ended_ns, START + 600 * SECOND);
	ck_assert_int_eq(i->worst, RULE_LEVEL_CRITICAL);
	ck_assert_uint_eq(i->pages, 1);
	ck_assert_uint_eq(verdicts[0].n_incidents, 1);
	ck_assert_uint_eq(stats.batches, 60);
	ck_assert_uint_eq(stats.gaps, 0);
	ck_assert_uint_eq(stats.last_ns - stats.first_ns, 899 * SECOND);
}
END_TEST

START_TEST(silence_is_noticed_without_ticks)
{
	for (uint64_t s = 0; s < 600; s += 10) {
		speak(1, s, 0, 10);
		if (s < 300)
			speak(2, s, 0, 10);
	}
	run(1, 1);
	const struct replay_incident *i = incident_of(&verdicts[0], "host-silent");
	ck_assert_ptr_nonnull(i);
	ck_assert_str_eq(i->host, "host-2");
	ck_assert_uint_eq(i->opened_ns, START + 351 * SECOND);
	ck_assert_uint_eq(i->ended_ns, 0);
}
END_TEST

START_TEST(a_fleet_falls_silent_as_one)
{
	for (uint64_t s = 0; s < 600; s++) {
		tick(s);
		for (unsigned h = 0; h < 10 && s < 300 && s % 10 == 0; h++)
			speak(h, s, 0, 10);
	}
	run(1, 1);
	const struct replay_incident *i = incident_of(&verdicts[0], "fleet-silent");
	ck_assert_ptr_nonnull(i);
	ck_assert_str_eq(i->host, "fleet");
	ck_assert_uint_eq(i->opened_ns, START + 351 * SECOND);
	ck_assert_ptr_null(incident_of(&verdicts[0], "host-silent"));
}
END_TEST

START_TEST(a_collector_that_was_away_accuses_nobody)
{
	for (uint64_t s = 0; s < 100; s += 10) {
		tick(s);
		speak(1, s, 0, 10);
	}
	open_recorder(0);
	for (uint64_t s = 1000; s < 1100; s += 10) {
		tick(s);
		speak(1, s, 0, 10);
	}
	/* Away without having said so, for longer than any ticks would be made up for. */
	for (uint64_t s = 200000; s < 200100; s += 10) {
		tick(s);
		speak(1, s, 0, 10);
	}
	run(1, 1);
	ck_assert_uint_eq(verdicts[0].n_incidents, 0);
	ck_assert_uint_eq(stats.gaps, 2);
}
END_TEST

START_TEST(a_clock_that_is_off_is_noticed)
{
	for (uint64_t s = 0; s < 120; s++) {
		tick(s);
		if (s % 10 == 0) {
			speak(1, s, 100, 10);
			speak(2, s, 0, 10);
		}
	}
	run(1, 1);
	const struct replay_incident *i = incident_of(&verdicts[0], "clock-skew");
	ck_assert_ptr_nonnull(i);
	ck_assert_str_eq(i->host, "host-1");
	ck_assert_uint_eq(verdicts[0].n_incidents, 1);
}
END_TEST

START_TEST(two_recorders_are_one_history)
{
	for (uint64_t s = 0; s < 300; s += 10)
		speak(1, s, 0, 10);
	open_recorder(1);
	for (uint64_t s = 5; s < 300; s += 10)
		speak(2, s, 0, 990);
	run(2, 1);
	ck_assert_uint_eq(stats.batches, 60);
	ck_assert_uint_eq(hosts_count(verdicts[0].judge.hosts), 2);
	ck_assert_ptr_null(incident_of(&verdicts[0], "host-silent"));
	ck_assert_uint_eq(verdicts[0].judge.stats.late, 0);
	ck_assert_uint_ge(verdicts[0].n_incidents, 1);
	ck_assert_str_eq(verdicts[0].incidents[0].host, "host-2");
}
END_TEST

static char *
report(bool as_json, unsigned n, bool has_budget, uint64_t budget)
{
	struct replay_report r = {
		.input = input,
		.stats = &stats,
		.verdicts = verdicts,
		.n = n,
		.has_budget = has_budget,
		.budget = budget,
		.verbose = true,
	};
	char *text;

	if (as_json) {
		json_t *json = replay_report_json(&r);
		ck_assert_ptr_nonnull(json);
		text = json_dumps(json, JSON_INDENT(1));
		json_decref(json);
	} else {
		struct buf out;
		buf_init(&out, 1 << 20);
		ck_assert_int_eq(replay_report_text(&r, &out), HIWAT_OK);
		text = strdup(buf_str(&out));
		buf_fini(&out);
	}
	ck_assert_ptr_nonnull(text);
	ck_assert(has_budget == false ||
	    replay_report_is_noisy(&r) == (strstr(text, as_json ? "\"budget_exceeded\": true" : ": exceeded") != NULL));
	return text;
}

/* A silence of five minutes on each day, two on the third. */
static void
record_days(unsigned days)
{
	for (uint64_t s = 0; s < days * 86400ull; s += 10) {
		uint64_t day = s / 86400, of_day = s % 86400;
		bool silent = (of_day >= 40000 && of_day < 40300) || (day == 2 && of_day >= 50000 && of_day < 50300);
		tick(s);
		if (!silent)
			speak(1, s, 0, 10);
	}
}

START_TEST(pages_are_counted_by_day_and_week)
{
	uint64_t from;
	struct replay_group *days = NULL;
	size_t n = 0;

	record_days(10);
	run(1, 1);
	ck_assert_uint_eq(verdicts[0].n_pages, 11);
	ck_assert_uint_eq(replay_worst_week(&verdicts[0], &from), 8);
	ck_assert_uint_eq(from / SECOND, START / SECOND + 40051);
	ck_assert_int_eq(replay_days(&verdicts[0], &days, &n), HIWAT_OK);
	ck_assert_uint_eq(n, 10);
	ck_assert_uint_eq(days[0].pages, 2);
	ck_assert_str_eq(days[0].day, "2026-05-31");
	ck_assert_uint_eq(days[1].pages, 1);
	free(days);
	struct replay_report r = { .input = input,
		.stats = &stats,
		.verdicts = verdicts,
		.n = 1,
		.has_budget = true,
		.budget = 8 };
	ck_assert(!replay_report_is_noisy(&r));
	r.budget = 7;
	ck_assert(replay_report_is_noisy(&r));
	ck_assert(!replay_report_is_damaged(&r));
	free(report(false, 1, true, 7));
	free(report(true, 1, true, 8));
}
END_TEST

START_TEST(the_same_recording_gives_the_same_bytes)
{
	char *first[2], *second[2];

	record_days(3);
	for (int k = 0; k < 2; k++) {
		char **out = k == 0 ? first : second;
		load(1, pack);
		run(1, 2);
		out[0] = report(false, 2, false, 0);
		out[1] = report(true, 2, false, 0);
		replay_input_close(input);
		input = NULL;
		replay_verdict_fini(&verdicts[0]);
		replay_verdict_fini(&verdicts[1]);
	}
	for (int k = 0; k < 2; k++) {
		ck_assert_str_eq(first[k], second[k]);
		free(first[k]);
		free(second[k]);
	}
}
END_TEST

static void
write_rules(const char *path, const char *threshold, const char *wait)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f,
	    "rules:\n  - id: files-full\n    cause: files\n    threshold_source: ours\n    reason: it runs out\n"
	    "    summary: files run out\n    critical: hiwat_files_open > %s\n    for: %s\n",
	    threshold, wait);
	fclose(f);
}

START_TEST(two_rule_sets_are_compared)
{
	char paths[2][128];
	struct replay_pair *pairs = NULL;
	size_t n = 0;

	/* Above 900 once for long, once for a moment; above 800 in between. */
	for (uint64_t s = 0; s < 7200; s += 10) {
		unsigned files = s >= 1000 && s < 2000 ? 950
		    : s >= 3000 && s < 3030            ? 950
		    : s >= 5000 && s < 6000            ? 850
						       : 10;
		tick(s);
		speak(1, s, 0, files);
	}
	for (unsigned i = 0; i < 2; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/rules%u.yaml", dir, i);
		write_rules(paths[i], i == 0 ? "900" : "800", i == 0 ? "0s" : "2m");
		load(i, paths[i]);
	}
	run(1, 2);
	ck_assert_uint_eq(verdicts[0].n_incidents, 2);
	ck_assert_uint_eq(verdicts[1].n_incidents, 2);
	ck_assert_int_eq(replay_compare(&verdicts[0], &verdicts[1], &pairs, &n), HIWAT_OK);
	ck_assert_uint_eq(n, 3);
	ck_assert(pairs[0].a != NULL && pairs[0].b != NULL && !replay_pair_is_same(&pairs[0]));
	ck_assert_uint_eq(pairs[0].a->opened_ns, START + 1000 * SECOND);
	ck_assert_uint_eq(pairs[0].b->opened_ns, START + 1120 * SECOND);
	ck_assert(pairs[1].a != NULL && pairs[1].b == NULL);
	ck_assert(pairs[2].a == NULL && pairs[2].b != NULL);
	free(pairs);
	char *text = report(false, 2, false, 0);
	ck_assert_msg(strstr(text, "opened +2m,") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "compared    0 incidents the same, 1 changed (~), 1 only by ") != NULL, "%s", text);
	free(text);
	free(report(true, 2, false, 0));
}
END_TEST

START_TEST(a_file_that_is_no_recording_is_named)
{
	const char *paths[] = { recording[0], NULL };
	char other[160];
	struct buf why;

	for (uint64_t s = 0; s < 100; s += 10)
		speak(1, s, 0, 10);
	snprintf(other, sizeof(other), "%s/00000009-20260101T000000Z.rec", recording[0]);
	write_rules(other, "1", "1s");
	run(1, 1);
	struct replay_report r = { .input = input, .stats = &stats, .verdicts = verdicts, .n = 1 };
	ck_assert(replay_report_is_damaged(&r));
	ck_assert_uint_eq(stats.batches, 10);
	char *text = report(false, 1, false, 0);
	ck_assert_ptr_nonnull(strstr(text, "00000009-20260101T000000Z.rec: not a recording"));
	free(text);
	replay_input_close(input);
	input = NULL;

	buf_init(&why, 4096);
	paths[0] = "/nowhere";
	ck_assert_int_eq(replay_input_open(paths, 1, &input, &why), HIWAT_E_SYS);
	ck_assert_str_eq(buf_str(&why), "/nowhere: No such file or directory");
	buf_reset(&why);
	paths[0] = "/proc/self/fd";
	ck_assert_int_eq(replay_input_open(paths, 1, &input, &why), HIWAT_E_NODATA);
	buf_fini(&why);
}
END_TEST

START_TEST(what_cannot_be_decoded_is_counted)
{
	const struct recording_entry e = { .type = RECORDING_BATCH,
		.wall_ns = START,
		.data = (const uint8_t *)"no",
		.len = 2 };

	ck_assert_int_eq(recorder_append(recorder, &e), HIWAT_OK);
	speak(1, 1, 0, 10);
	run(1, 1);
	ck_assert_uint_eq(stats.batches, 2);
	ck_assert_uint_eq(stats.undecodable, 1);
	struct replay_report r = { .input = input, .stats = &stats, .verdicts = verdicts, .n = 1 };
	ck_assert(replay_report_is_damaged(&r));
}
END_TEST

static Suite *
replay_suite(void)
{
	Suite *s = suite_create("replay");
	TCase *tc = tcase_create("replay");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, silence_is_noticed_on_the_recordings_clock);
	tcase_add_test(tc, silence_is_noticed_without_ticks);
	tcase_add_test(tc, a_fleet_falls_silent_as_one);
	tcase_add_test(tc, a_collector_that_was_away_accuses_nobody);
	tcase_add_test(tc, a_clock_that_is_off_is_noticed);
	tcase_add_test(tc, two_recorders_are_one_history);
	tcase_add_test(tc, pages_are_counted_by_day_and_week);
	tcase_add_test(tc, the_same_recording_gives_the_same_bytes);
	tcase_add_test(tc, two_rule_sets_are_compared);
	tcase_add_test(tc, a_file_that_is_no_recording_is_named);
	tcase_add_test(tc, what_cannot_be_decoded_is_counted);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(replay_suite)
