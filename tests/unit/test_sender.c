#include "unit.h"

#include <curl/curl.h>
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "config.h"
#include "err.h"
#include "fake_collector.h"
#include "log.h"
#include "pki.h"
#include "sender.h"
#include "spool.h"

#define PATIENCE_NS (60 * NSEC_PER_SEC)

static char dir[64], spool_dir[100];
static struct spool *spool;
static struct fake_collector *fake, *second;
static struct agent_config config;
static char url_texts[2][64];
static char *urls[2] = { url_texts[0], url_texts[1] };
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char logged[20000];

static void
keep_line(enum log_level level, const char *line)
{
	(void)level;
	pthread_mutex_lock(&log_lock);
	size_t at = strlen(logged);
	snprintf(logged + at, sizeof(logged) - at, "%s\n", line);
	pthread_mutex_unlock(&log_lock);
}

static bool
was_logged(const char *text)
{
	pthread_mutex_lock(&log_lock);
	bool found = strstr(logged, text) != NULL;
	pthread_mutex_unlock(&log_lock);
	return found;
}

static void
open_spool(uint64_t max_bytes)
{
	struct spool_options options = { .dir = spool_dir, .max_bytes = max_bytes };

	ck_assert_int_eq(spool_open(&options, &spool), 0);
}

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/hiwat-sender-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(spool_dir, sizeof(spool_dir), "%s/spool", dir);
	open_spool(1 << 20);
	fake = second = NULL;
	config = (struct agent_config){ .state_dir = dir, .timeout_ms = 1000, .collectors = { .items = urls, .n = 1 } };
	logged[0] = '\0';
	log_set_hook(keep_line);
}

static void
empty(const char *path)
{
	DIR *d = opendir(path);
	char file[600];

	for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		unlink(file);
	}
	if (d != NULL)
		closedir(d);
	rmdir(path);
}

static void
teardown(void)
{
	char rejected[100];

	log_set_hook(NULL);
	spool_close(spool);
	if (fake != NULL)
		fake_collector_free(fake);
	if (second != NULL)
		fake_collector_free(second);
	snprintf(rejected, sizeof(rejected), "%s/rejected", dir);
	empty(rejected);
	empty(spool_dir);
	empty(dir);
}

static void
use_fake(void)
{
	fake = fake_collector_new(NULL, NULL, NULL);
	snprintf(url_texts[0], sizeof(url_texts[0]), "%s", fake_collector_url(fake));
}

static void
append(unsigned n)
{
	char data[700];

	for (unsigned i = 0; i < n; i++) {
		uint64_t sequence = spool_next_sequence(spool);
		memset(data, 'x', sizeof(data));
		memcpy(data, &sequence, sizeof(sequence));
		ck_assert_int_eq(spool_append(spool, data, sizeof(data)), 0);
	}
}

static struct spool_counts
counts(void)
{
	struct spool_counts c;

	spool_count(spool, &c);
	ck_assert_uint_eq(c.produced, c.acknowledged + c.in_spool + c.dropped_full + c.dropped_corrupt + c.rejected);
	return c;
}

/* Until the condition holds; how long that takes is not what is tested. */
#define UNTIL(condition) \
	do { \
		uint64_t give_up_ns = clock_mono_ns() + PATIENCE_NS; \
		while (!(condition)) { \
			ck_assert_msg(clock_mono_ns() < give_up_ns, "waited in vain for " #condition "\n%s", logged); \
			nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL); \
		} \
	} while (0)

static struct sender *
start(void)
{
	struct sender *s;

	ck_assert_int_eq(sender_new(&config, spool, 12345, &s), 0);
	return s;
}

START_TEST(delivers_in_order)
{
	use_fake();
	append(10);
	struct sender *s = start();
	UNTIL(counts().acknowledged == 10);
	append(1);
	sender_wake(s);
	UNTIL(counts().acknowledged == 11);
	sender_free(s, 1000);
	const struct fake_stats *f = fake_collector_stats(fake);
	ck_assert_uint_eq(f->n_order, 11);
	for (unsigned i = 0; i < 11; i++)
		ck_assert_uint_eq(f->order[i], i + 1);
	ck_assert_uint_eq(f->requests, 11);
	ck_assert_uint_eq(f->oldest, 11);
	ck_assert_str_eq(f->content_type, "application/x-protobuf");
	ck_assert_str_eq(f->authorization, "");
	uint64_t now = clock_wall_ns();
	ck_assert_uint_le(f->sent_ns, now);
	ck_assert_uint_gt(f->sent_ns, now - PATIENCE_NS);
}
END_TEST

START_TEST(long_backlog_behind_live)
{
	use_fake();
	append(300);
	struct sender *s = start();
	UNTIL(counts().acknowledged == 300);
	sender_free(s, 1000);
	const struct fake_stats *f = fake_collector_stats(fake);
	ck_assert_uint_eq(f->order[0], 300);
	ck_assert_uint_eq(f->order[1], 1);
	ck_assert_uint_eq(f->order[299], 299);
	ck_assert_uint_eq(f->duplicates, 0);
}
END_TEST

/* Each kind of misbehaviour, among good answers: every batch arrives, and the ledger says so. */
static const struct {
	const char *name;
	struct fake_step step;
	const char *logged;
} trouble_rows[] = {
	{ "busy", { FAKE_STATUS, 503, 1 }, "status 503: because the test says so; samples are kept, retry in 1." },
	{ "too many", { FAKE_STATUS, 429, 0 }, "status 429" },
	{ "slow", { FAKE_STATUS, 408, 0 }, "status 408" },
	{ "broken", { FAKE_STATUS, 500, 0 }, "status 500" },
	{ "unauthorized", { FAKE_STATUS, 401, 0 },
	    "status 401: because the test says so; samples are kept until this is put right" },
	{ "forbidden", { FAKE_STATUS, 403, 0 }, "put right" },
	{ "elsewhere", { FAKE_STATUS, 404, 0 }, "put right" },
	{ "moved", { FAKE_STATUS, 302, 0 }, "put right" },
	{ "closes in the body", { FAKE_CLOSE, 0, 0 }, "samples are kept" },
	{ "drops the answer", { FAKE_DROP, 0, 0 }, "samples are kept" },
	{ "half an answer", { FAKE_HALF, 0, 0 }, "samples are kept" },
	{ "hangs", { FAKE_HANG, 0, 0 }, "samples are kept" },
	{ "no collector", { FAKE_HTML, 0, 0 }, "no acknowledgement" },
};

START_TEST(nothing_is_lost)
{
	/* On a new connection, and once more on one that has worked. */
	struct fake_step steps[3] = { trouble_rows[_i].step, { FAKE_OK, 0, 0 }, trouble_rows[_i].step };

	use_fake();
	fake_collector_script(fake, steps, 3);
	append(20);
	struct sender *s = start();
	UNTIL(counts().acknowledged == 20);
	ck_assert_uint_eq(counts().in_spool, 0);
	const struct fake_stats *f = fake_collector_stats(fake);
	ck_assert_uint_eq(f->received, 20);
	for (unsigned i = 1; i <= 20; i++)
		ck_assert(f->has[i]);
	ck_assert_msg(was_logged(trouble_rows[_i].logged), "%s", logged);
	ck_assert(was_logged("samples are delivered"));
	sender_free(s, 1000);
}
END_TEST

START_TEST(rejected_are_set_aside)
{
	static const struct fake_step steps[] = {
		{ FAKE_OK, 0, 0 },
		{ FAKE_STATUS, 400, 0 },
		{ FAKE_STATUS, 413, 0 },
		{ FAKE_STATUS, 415, 0 },
		{ FAKE_STATUS, 422, 0 },
	};
	char path[200];
	uint64_t sequence;

	use_fake();
	fake_collector_script(fake, steps, ARRAY_LEN(steps));
	append(10);
	struct sender *s = start();
	UNTIL(counts().in_spool == 0);
	sender_free(s, 1000);
	ck_assert_uint_eq(counts().rejected, 4);
	ck_assert_uint_eq(counts().acknowledged, 6);
	const struct fake_stats *f = fake_collector_stats(fake);
	for (unsigned i = 1; i <= 10; i++)
		ck_assert(f->has[i] == (i == 1 || i > 5));
	ck_assert(was_logged("status 400: because the test says so; batch 2 was rejected for good"));
	snprintf(path, sizeof(path), "%s/rejected/03.batch", dir);
	FILE *file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(&sequence, 1, sizeof(sequence), file), sizeof(sequence));
	ck_assert_uint_eq(sequence, 5);
	fclose(file);
}
END_TEST

START_TEST(rejected_files_are_bounded)
{
	static const struct fake_step step = { FAKE_STATUS, 400, 0 };
	struct fake_step steps[40];
	char path[100];
	unsigned n = 0;

	for (unsigned i = 0; i < ARRAY_LEN(steps); i++)
		steps[i] = step;
	use_fake();
	fake_collector_script(fake, steps, ARRAY_LEN(steps));
	append(40);
	struct sender *s = start();
	UNTIL(counts().rejected == 40);
	sender_free(s, 1000);
	snprintf(path, sizeof(path), "%s/rejected", dir);
	DIR *d = opendir(path);
	for (const struct dirent *e; (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(d);
	ck_assert_uint_eq(n, SENDER_REJECTED_FILES);
}
END_TEST

/* What the collector had not made durable comes again after it was killed. */
START_TEST(collector_forgets)
{
	use_fake();
	fake_collector_set_durable(fake, false);
	append(10);
	struct sender *s = start();
	UNTIL(fake_collector_stats(fake)->received == 10);
	ck_assert_uint_eq(counts().in_spool, 10);
	fake_collector_save(fake);
	append(10);
	sender_wake(s);
	UNTIL(fake_collector_stats(fake)->received == 20);
	UNTIL(counts().acknowledged == 10);
	fake_collector_crash(fake);
	ck_assert_uint_eq(fake_collector_stats(fake)->received, 10);
	append(1);
	sender_wake(s);
	UNTIL(fake_collector_stats(fake)->received == 21);
	ck_assert(was_logged("it was restarted; sending again from 11"));
	fake_collector_save(fake);
	append(1);
	sender_wake(s);
	UNTIL(counts().acknowledged >= 21);
	sender_free(s, 1000);
	const struct fake_stats *f = fake_collector_stats(fake);
	for (unsigned i = 1; i <= 22; i++)
		ck_assert(f->has[i]);
}
END_TEST

/* A collector killed while a long backlog comes in behind the live batches. */
START_TEST(collector_forgets_live_ones)
{
	use_fake();
	fake_collector_set_durable(fake, false);
	append(200);
	struct sender *s = start();
	UNTIL(fake_collector_stats(fake)->n_order >= 20);
	fake_collector_crash(fake);
	append(5);
	sender_wake(s);
	UNTIL(fake_collector_stats(fake)->n_order >= 100);
	fake_collector_crash(fake);
	append(1); /* all may have been sent by now: the next acknowledgement tells what was forgotten */
	sender_wake(s);
	UNTIL(fake_collector_stats(fake)->received >= 150);
	fake_collector_set_durable(fake, true);
	for (int i = 0; i < 5; i++) {
		append(1);
		sender_wake(s);
		UNTIL(fake_collector_stats(fake)->has[207 + i]);
	}
	UNTIL(counts().in_spool == 0);
	sender_free(s, 1000);
	ck_assert_uint_eq(counts().acknowledged, 211);
	const struct fake_stats *f = fake_collector_stats(fake);
	for (unsigned i = 1; i <= 211; i++)
		ck_assert(f->has[i]);
}
END_TEST

/* Two collectors behind one address look like one that restarts all the time: not everything is sent again each time. */
START_TEST(forgetful_collector_is_not_flooded)
{
	use_fake();
	fake_collector_set_durable(fake, false);
	append(20);
	struct sender *s = start();
	UNTIL(fake_collector_stats(fake)->n_order >= 20);
	for (int i = 0; i < 30; i++) {
		unsigned sent = fake_collector_stats(fake)->n_order;
		fake_collector_crash(fake);
		append(1);
		sender_wake(s);
		UNTIL(fake_collector_stats(fake)->n_order > sent);
	}
	ck_assert_uint_lt(fake_collector_stats(fake)->n_order, 400);
	sender_free(s, 1000);
}
END_TEST

/* Drops leave gaps that the header closes. */
START_TEST(gaps_are_closed)
{
	static const struct fake_step steps[] = { { FAKE_STATUS, 503, 1 } };

	use_fake();
	fake_collector_script(fake, steps, 1);
	append(1900);
	struct spool_counts c = counts();
	ck_assert_uint_gt(c.dropped_full, 0);
	struct sender *s = start();
	UNTIL(counts().in_spool == 0);
	sender_free(s, 1000);
	c = counts();
	ck_assert_uint_eq(c.acknowledged + c.dropped_full, 1900);
	ck_assert_uint_eq(fake_collector_stats(fake)->received, 1900);
}
END_TEST

START_TEST(fails_over)
{
	use_fake();
	second = fake_collector_new(NULL, NULL, NULL);
	snprintf(url_texts[1], sizeof(url_texts[1]), "%s", fake_collector_url(second));
	config.collectors.n = 2;
	fake_collector_set_durable(fake, false);
	append(5);
	struct sender *s = start();
	UNTIL(fake_collector_stats(fake)->received == 5);
	fake_collector_free(fake);
	fake = NULL;
	append(5);
	sender_wake(s);
	/* What the first had not made durable goes to the second too. */
	UNTIL(counts().acknowledged == 10);
	sender_free(s, 1000);
	const struct fake_stats *f = fake_collector_stats(second);
	for (unsigned i = 1; i <= 10; i++)
		ck_assert(f->has[i]);
}
END_TEST

START_TEST(ends_while_the_collector_hangs)
{
	static const struct fake_step steps[] = { { FAKE_HANG, 0, 0 }, { FAKE_HANG, 0, 0 } };

	use_fake();
	config.timeout_ms = 100000;
	fake_collector_script(fake, steps, 2);
	append(3);
	struct sender *s = start();
	UNTIL(fake_collector_stats(fake)->requests == 1);
	sender_free(s, 10);
	ck_assert_uint_eq(counts().in_spool, 3);
}
END_TEST

START_TEST(ends_with_everything_sent)
{
	use_fake();
	append(200);
	struct sender *s = start();
	sender_free(s, 30000);
	ck_assert_uint_eq(counts().acknowledged, 200);
}
END_TEST

START_TEST(token_is_sent)
{
	char path[100];

	use_fake();
	snprintf(path, sizeof(path), "%s/token", dir);
	config.token_file = path;
	append(1);
	struct sender *s = start();
	UNTIL(was_logged("No such file"));
	FILE *f = fopen(path, "w");
	fputs("s3cret\nmore\n", f);
	fclose(f);
	UNTIL(counts().acknowledged == 1);
	sender_free(s, 1000);
	ck_assert_str_eq(fake_collector_stats(fake)->authorization, "Bearer s3cret");
	ck_assert(!was_logged("s3cret"));
}
END_TEST

START_TEST(compresses_on_demand)
{
	use_fake();
	config.compress = true;
	append(1);
	struct sender *s = start();
	UNTIL(fake_collector_stats(fake)->zstd > 0);
	sender_free(s, 0);
}
END_TEST

START_TEST(works_without_collectors)
{
	config.collectors.n = 0;
	struct sender *s = start();
	append(3);
	sender_wake(s);
	sender_free(s, 1000);
	ck_assert_uint_eq(counts().in_spool, 3);
}
END_TEST

static char ca[100], cert[100], key[100], server_cert[100], server_key[100];

static struct pki *
make_pki(const char *server, time_t from, time_t to)
{
	struct pki *p = pki_new(dir);
	time_t now = time(NULL);

	pki_issue(p, "agent", now - 3600, now + 3600);
	pki_issue(p, server, from, to);
	snprintf(ca, sizeof(ca), "%s/ca.crt", dir);
	snprintf(cert, sizeof(cert), "%s/agent.crt", dir);
	snprintf(key, sizeof(key), "%s/agent.key", dir);
	snprintf(server_cert, sizeof(server_cert), "%s/%s.crt", dir, server);
	snprintf(server_key, sizeof(server_key), "%s/%s.key", dir, server);
	config.ca_file = ca;
	config.cert_file = cert;
	config.key_file = key;
	fake = fake_collector_new(server_cert, server_key, ca);
	snprintf(url_texts[0], sizeof(url_texts[0]), "%s", fake_collector_url(fake));
	return p;
}

START_TEST(delivers_over_tls)
{
	time_t now = time(NULL);
	struct pki *p = make_pki("collector", now - 3600, now + 3600);

	append(5);
	struct sender *s = start();
	UNTIL(counts().acknowledged == 5);
	sender_free(s, 1000);
	ck_assert_uint_eq(fake_collector_stats(fake)->received, 5);
	pki_free(p);
}
END_TEST

static const struct {
	const char *name;
	int from_s, to_s;
	const char *logged;
} clock_rows[] = {
	{ "not yet", 3600, 7200, "is this host's clock right? It says 20" },
	{ "no longer", -7200, -3600, "is this host's clock right? It says 20" },
};

START_TEST(tls_clock)
{
	/* Other TLS libraries say no more through libcurl than that the certificate does not hold. */
	if (strncmp(curl_version_info(CURLVERSION_NOW)->ssl_version, "OpenSSL", 7) != 0)
		return;
	time_t now = time(NULL);
	struct pki *p = make_pki("collector", now + clock_rows[_i].from_s, now + clock_rows[_i].to_s);

	append(2);
	struct sender *s = start();
	UNTIL(was_logged("samples are kept"));
	ck_assert_msg(was_logged(clock_rows[_i].logged) && was_logged("put right"), "%s", logged);
	sender_free(s, 0);
	ck_assert_uint_eq(counts().in_spool, 2);
	ck_assert_uint_eq(fake_collector_stats(fake)->requests, 0);
	pki_free(p);
}
END_TEST

/* An authority that does not know the collector: refused, told, and nothing is sent. */
START_TEST(tls_unknown_authority)
{
	time_t now = time(NULL);
	struct pki *p = make_pki("collector", now - 3600, now + 3600);

	config.ca_file = cert;
	append(2);
	struct sender *s = start();
	UNTIL(was_logged("samples are kept until this is put right"));
	ck_assert(!was_logged("clock"));
	sender_free(s, 0);
	ck_assert_uint_eq(counts().in_spool, 2);
	ck_assert_uint_eq(fake_collector_stats(fake)->requests, 0);
	pki_free(p);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *s = suite_create("sender");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 100);
	tcase_add_test(tc, delivers_in_order);
	tcase_add_test(tc, long_backlog_behind_live);
	tcase_add_loop_test(tc, nothing_is_lost, 0, ARRAY_LEN(trouble_rows));
	tcase_add_test(tc, rejected_are_set_aside);
	tcase_add_test(tc, rejected_files_are_bounded);
	tcase_add_test(tc, collector_forgets);
	tcase_add_test(tc, collector_forgets_live_ones);
	tcase_add_test(tc, forgetful_collector_is_not_flooded);
	tcase_add_test(tc, gaps_are_closed);
	tcase_add_test(tc, fails_over);
	tcase_add_test(tc, ends_while_the_collector_hangs);
	tcase_add_test(tc, ends_with_everything_sent);
	tcase_add_test(tc, token_is_sent);
	tcase_add_test(tc, compresses_on_demand);
	tcase_add_test(tc, works_without_collectors);
	tcase_add_test(tc, delivers_over_tls);
	tcase_add_loop_test(tc, tls_clock, 0, ARRAY_LEN(clock_rows));
	tcase_add_test(tc, tls_unknown_authority);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
