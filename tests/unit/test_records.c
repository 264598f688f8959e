/* The way in, whole: HTTP front, decoding, pipeline, store. Every bad batch is refused with a reason and changes nothing. */
#include "unit.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "codec.h"
#include "err.h"
#include "log.h"
#include "pipeline.h"
#include "record.h"
#include "store.h"
#include "web.h"

static const char rules_text[] = "rules:\n"
				 "  - id: listen-overflow\n"
				 "    cause: listen\n"
				 "    threshold_source: ours\n"
				 "    reason: connections are lost\n"
				 "    summary: the accept queue overflows\n"
				 "    warning: grows(hiwat_listen_overflows_total)\n"
				 "  - id: host-duplicate\n"
				 "    cause: host-duplicate\n"
				 "    by: []\n"
				 "    threshold_source: ours\n"
				 "    reason: one hides the other\n"
				 "    builtin: host-duplicate\n"
				 "    level: warning\n"
				 "    summary: two agents under one identity\n";

static char dir[64];
static struct store *store;
static struct pipeline *pipeline;
static struct web web;
static struct http_listener listener;
static struct arena arena;
static struct buf wire, answer;
static CURL *curl;

static struct rule_set *
make_rules(void)
{
	struct rule_set *rules = NULL;
	struct buf errors;

	buf_init(&errors, 65536);
	ck_assert_msg(rule_set_parse("test.yaml", rules_text, sizeof(rules_text) - 1, &rules, &errors) == HIWAT_OK, "%s",
	    buf_str(&errors));
	buf_fini(&errors);
	return rules;
}

static void
path_in_dir(char out[128], const char *name)
{
	snprintf(out, 128, "%s/%s", dir, name);
}

static void
open_pipeline(void)
{
	char db[128];
	static char snapshot[128];
	char *moved = NULL;

	path_in_dir(db, "incidents.db");
	path_in_dir(snapshot, "hosts.snapshot");
	ck_assert_int_eq(store_open(db, &store, &moved), HIWAT_OK);
	ck_assert_ptr_null(moved);
	struct pipeline_config config = { .snapshot_path = snapshot,
		.judge = { .hosts_max = 10, .series_max = 10000, .silent_min_ms = 60000 } };
	pipeline = pipeline_new(&config, make_rules(), store, NULL, 0);
	ck_assert_ptr_nonnull(pipeline);
}

static void
setup(void)
{
	struct buf why;

	log_set_level(LOG_LEVEL_ERROR);
	snprintf(dir, sizeof(dir), "/tmp/hiwat-test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	open_pipeline();
	web = (struct web){ .pipeline = pipeline, .store = store };
	listener = (struct http_listener){ .address = "127.0.0.1",
		.body_max = CODEC_BATCH_MAX,
		.body_total_max = 8u << 20,
		.response_max = 4096,
		.threads = 2,
		.connections_max = 64,
		.idle_s = 30,
		.deadline_ms = 10000 };
	buf_init(&why, 1000);
	ck_assert_msg(http_start(&listener, records_handle, &web, &web.ingest, &why) == HIWAT_OK, "%s", buf_str(&why));
	buf_fini(&why);
	arena_init(&arena, 64u << 20);
	buf_init(&wire, 4u << 20);
	buf_init(&answer, 65536);
	curl = curl_easy_init();
	ck_assert_ptr_nonnull(curl);
}

static void
teardown(void)
{
	static const char *const names[] = { "incidents.db", "incidents.db-wal", "incidents.db-shm", "incidents.db.lock",
		"hosts.snapshot" };

	curl_easy_cleanup(curl);
	http_stop(web.ingest);
	pipeline_free(pipeline);
	store_close(store);
	arena_fini(&arena);
	buf_fini(&wire);
	buf_fini(&answer);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char path[128];
		path_in_dir(path, names[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

static size_t
take(char *data, size_t size, size_t n, void *arg)
{
	buf_add(arg, data, size * n);
	return size * n;
}

/* Posts what is in wire; the status. */
static long
post(const char *type, const char *encoding)
{
	char url[64], header[128];
	long status = 0;
	struct curl_slist *headers = NULL;

	buf_reset(&answer);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/v1/records", http_port(web.ingest));
	snprintf(header, sizeof(header), "Content-Type: %s", type);
	headers = curl_slist_append(headers, header);
	headers = curl_slist_append(headers, "Expect:");
	if (encoding != NULL) {
		snprintf(header, sizeof(header), "Content-Encoding: %s", encoding);
		headers = curl_slist_append(headers, header);
	}
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, buf_str(&wire));
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)wire.len);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
	curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	return status;
}

#define PROTOBUF "application/x-protobuf"

static Hiwat__Batch *
make_batch(unsigned host, uint64_t sequence, uint64_t overflows)
{
	Hiwat__Batch *b = arena_alloc(&arena, sizeof(*b));
	uint8_t *uuid = arena_alloc(&arena, 16), *boot = arena_alloc(&arena, 16);

	hiwat__batch__init(b);
	uuid[0] = (uint8_t)(host + 1);
	Hiwat__Host *h = RECORD_ONE(&arena, b, host, host);
	RECORD_SET(h, uuid, ((ProtobufCBinaryData){ 16, uuid }));
	RECORD_SET(h, boot_id, ((ProtobufCBinaryData){ 16, boot }));
	RECORD_SET(h, stream, 77);
	h->name = record_label(&arena, text_of("h"));
	RECORD_SET(b, version, CODEC_VERSION);
	RECORD_SET(b, sequence, sequence);
	RECORD_SET(b, wall_ns, 1700000000000000000u + sequence * 10000000000u);
	RECORD_SET(b, boot_ns, sequence * 10000000000u);
	RECORD_SET(b, next_due_ms, 10000);
	Hiwat__Record *r = RECORD_ADD(&arena, b, records, record);
	Hiwat__Sampler *s = RECORD_ONE(&arena, r, status, sampler);
	s->sampler = record_label(&arena, text_of("net"));
	Hiwat__SamplerVerdict *v = RECORD_ONE(&arena, s, verdict, sampler_verdict);
	v->verdict = record_label(&arena, text_of("ok"));
	Hiwat__Net *net = RECORD_ONE(&arena, r, net, net);
	Hiwat__Listen *l = RECORD_ONE(&arena, net, listen, listen);
	RECORD_SET(l, overflows_total, overflows);
	return b;
}

static long
post_batch(const Hiwat__Batch *b)
{
	buf_reset(&wire);
	ck_assert_int_eq(batch_encode(b, &wire), HIWAT_OK);
	return post(PROTOBUF, NULL);
}

static unsigned
count_hosts(void)
{
	struct pipeline_stats s;

	pipeline_stats(pipeline, &s);
	return s.hosts;
}

static Hiwat__Ack *
ack_of_answer(void)
{
	Hiwat__Ack *ack = NULL;

	ck_assert_int_eq(ack_decode((const uint8_t *)answer.data, answer.len, &arena, &ack), HIWAT_OK);
	return ack;
}

START_TEST(a_good_batch)
{
	ck_assert_int_eq(post_batch(make_batch(0, 1, 0)), 200);
	ck_assert_uint_eq(ack_of_answer()->received, 1);
	ck_assert_uint_eq(ack_of_answer()->durable, 0);
	ck_assert_int_eq(post_batch(make_batch(0, 1, 0)), 200);
	struct pipeline_stats s;
	pipeline_stats(pipeline, &s);
	ck_assert_uint_eq(s.batches, 1);
	ck_assert_uint_eq(s.duplicates, 1);
	ck_assert_int_eq(pipeline_snapshot(pipeline), HIWAT_OK);
	ck_assert_int_eq(post_batch(make_batch(0, 2, 0)), 200);
	ck_assert_uint_eq(ack_of_answer()->received, 2);
	ck_assert_uint_eq(ack_of_answer()->durable, 1);
}
END_TEST

START_TEST(compressed)
{
	struct buf packed;

	buf_init(&packed, 65536);
	ck_assert_int_eq(batch_encode(make_batch(0, 1, 0), &wire), HIWAT_OK);
	ck_assert_int_eq(codec_compress((uint8_t *)wire.data, wire.len, &packed), HIWAT_OK);
	buf_reset(&wire);
	buf_add(&wire, packed.data, packed.len);
	ck_assert_int_eq(post(PROTOBUF, "zstd"), 200);
	/* A bomb: 4 MiB of zeros in a few hundred bytes. */
	static uint8_t zeros[4u << 20];
	buf_reset(&packed);
	ck_assert_int_eq(codec_compress(zeros, sizeof(zeros) / 2, &packed), HIWAT_E_NOMEM);
	buf_fini(&packed);
	buf_init(&packed, 8u << 20);
	ck_assert_int_eq(codec_compress(zeros, sizeof(zeros), &packed), HIWAT_OK);
	buf_reset(&wire);
	buf_add(&wire, packed.data, packed.len);
	ck_assert_int_eq(post(PROTOBUF, "zstd"), 413);
	buf_reset(&wire);
	buf_puts(&wire, "not zstd at all");
	ck_assert_int_eq(post(PROTOBUF, "zstd"), 400);
	buf_fini(&packed);
}
END_TEST

START_TEST(bad_batches_change_nothing)
{
	Hiwat__Batch *b;

	buf_puts(&wire, "\x0a\xff\xff\xff\xff\x0f not a batch");
	ck_assert_int_eq(post(PROTOBUF, NULL), 400);
	ck_assert_str_eq(buf_str(&answer), "the body is not a hiwat batch, or it is cut off\n");
	buf_reset(&wire);
	ck_assert_int_eq(batch_encode(make_batch(0, 1, 0), &wire), HIWAT_OK);
	wire.len -= 3;
	ck_assert_int_eq(post(PROTOBUF, NULL), 400);
	buf_reset(&wire);
	ck_assert_int_eq(post(PROTOBUF, NULL), 422); /* an empty body is a batch without a version */
	b = make_batch(0, 1, 0);
	b->version = 99;
	ck_assert_int_eq(post_batch(b), 422);
	b = make_batch(0, 1, 0);
	Hiwat__Mbuf *m = RECORD_ONE(&arena, b->records[0], mbuf, mbuf);
	RECORD_SET(m, memory_used_ratio, NAN);
	ck_assert_int_eq(post_batch(b), 400);
	ck_assert_str_eq(buf_str(&answer), "a number is NaN or infinite\n");
	/* A million labels. */
	buf_reset(&wire);
	for (int i = 0; i < 125000; i++)
		buf_add(&wire, "\x12\x06\x32\x04\x0a\x00\x12\x00", 8);
	ck_assert_int_ge(post(PROTOBUF, NULL), 400);
	ck_assert_int_eq(post("text/plain", NULL), 415);
	ck_assert_int_eq(post(PROTOBUF, "gzip"), 415);
	/* Larger than any batch may be. */
	buf_reset(&wire);
	ck_assert_ptr_nonnull(buf_reserve(&wire, CODEC_BATCH_MAX + 1));
	memset(wire.data, 0, CODEC_BATCH_MAX + 1);
	buf_advance(&wire, CODEC_BATCH_MAX + 1);
	ck_assert_int_eq(post(PROTOBUF, NULL), 413);
	ck_assert_uint_eq(count_hosts(), 0);
	/* And it still works. */
	ck_assert_int_eq(post_batch(make_batch(0, 1, 0)), 200);
}
END_TEST

START_TEST(too_many_hosts)
{
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(post_batch(make_batch(i, 1, 0)), 200);
	ck_assert_int_eq(post_batch(make_batch(10, 1, 0)), 503);
	ck_assert_int_eq(post_batch(make_batch(3, 2, 0)), 200);
}
END_TEST

struct found {
	unsigned open;
	char summary[200];
};

static void
note_incident(void *arg, const struct incident *i)
{
	struct found *f = arg;

	if (i->status == INCIDENT_OPEN && i->n_lines > 0) {
		f->open++;
		snprintf(f->summary, sizeof(f->summary), "%s", i->lines[0].summary);
	}
}

static void
read_alerts(void *arg, struct pipeline *p)
{
	alerts_each(pipeline_alerts(p), note_incident, arg);
}

/* Values, incidents and sequences outlive the collector, and what is sent again is neither lost nor counted twice. */
START_TEST(restart)
{
	struct found f = { 0 };

	for (uint64_t i = 1; i <= 3; i++)
		ck_assert_int_eq(post_batch(make_batch(0, i, 5)), 200);
	ck_assert_int_eq(pipeline_snapshot(pipeline), HIWAT_OK);
	ck_assert_int_eq(post_batch(make_batch(0, 4, 9)), 200);
	pipeline_read(pipeline, read_alerts, &f);
	ck_assert_uint_eq(f.open, 1);
	ck_assert_str_eq(f.summary, "the accept queue overflows");
	ck_assert_int_eq(store_flush(store), HIWAT_OK);
	/* The snapshot knows nothing of batch 4; the store knows its incident. */
	pipeline_free(pipeline);
	store_close(store);
	open_pipeline();
	web.pipeline = pipeline;
	web.store = store;
	ck_assert_uint_eq(count_hosts(), 1);
	ck_assert_int_eq(post_batch(make_batch(0, 4, 9)), 200);
	ck_assert_uint_eq(ack_of_answer()->received, 4);
	ck_assert_int_eq(post_batch(make_batch(0, 5, 9)), 200);
	f = (struct found){ 0 };
	pipeline_read(pipeline, read_alerts, &f);
	ck_assert_uint_eq(f.open, 1);
}
END_TEST

/* No series may be there twice, else Prometheus takes neither: hosts of one name are told apart, the youngest keeps it. */
START_TEST(hosts_of_one_name)
{
	static const char *const lines[] = {
		"hiwat_listen_overflows_total{host=\"h\"} 8\n",
		"hiwat_listen_overflows_total{host=\"h\",host_id=\"01000000-0000-0000-0000-000000000000\"} 7\n",
		"hiwat_host_last_seen_time_seconds{host=\"h\"} ",
		"hiwat_host_last_seen_time_seconds{host=\"h\",host_id=\"01000000-0000-0000-0000-000000000000\"} ",
	};
	struct buf out;

	ck_assert_int_eq(post_batch(make_batch(0, 1, 7)), 200);
	ck_assert_int_eq(post_batch(make_batch(1, 1, 8)), 200);
	buf_init(&out, 65536);
	metrics_write_hosts(&web, &out);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		ck_assert_msg(strstr(buf_str(&out), lines[i]) != NULL, "%s is not in\n%s", lines[i], buf_str(&out));
	buf_fini(&out);
}
END_TEST

static size_t
host_bytes(void)
{
	struct pipeline_stats s;

	pipeline_stats(pipeline, &s);
	return s.host_bytes;
}

/* A host that invents a sampler in each batch takes no more than its share. */
START_TEST(samplers_are_bounded)
{
	char name[32];
	size_t bytes = 0;

	for (uint64_t k = 1; k <= 100; k++) {
		Hiwat__Batch *b = make_batch(0, k, 0);
		snprintf(name, sizeof(name), "sampler%u", (unsigned)k);
		b->records[0]->status->sampler = record_label(&arena, text_of(name));
		ck_assert_int_eq(post_batch(b), 200);
		if (k == 70)
			bytes = host_bytes();
	}
	ck_assert_uint_eq(host_bytes(), bytes);
}
END_TEST

/* A client that never ends its headers is cut off, however busy it looks; one that has sent a request is left alone. */
START_TEST(slow_headers)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(http_port(web.ingest)),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	char c;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	listener.deadline_ms = 200;
	ck_assert_int_eq(post_batch(make_batch(0, 1, 0)), 200);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	ssize_t n = -1;
	for (int i = 0; i < 1000 && n != 0; i++) {
		usleep(10000);
		(void)!send(fd, i == 0 ? "G" : "E", 1, MSG_NOSIGNAL);
		http_tick(web.ingest);
		n = recv(fd, &c, 1, MSG_DONTWAIT);
		if (n < 0 && errno == ECONNRESET)
			n = 0;
	}
	ck_assert_int_eq(n, 0);
	close(fd);
	long connects = -1;
	listener.deadline_ms = 10000;
	ck_assert_int_eq(post_batch(make_batch(0, 2, 0)), 200);
	curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connects);
	ck_assert_int_eq(connects, 0);
}
END_TEST

/* Probes of load balancers ask with HEAD. */
START_TEST(head_is_answered)
{
	struct http_request request = { .method = "HEAD", .path = "/-/healthy" };
	struct http_response response = { .status = 200 };

	buf_init(&response.body, 4096);
	api_handle(&web, &request, &response);
	ck_assert_uint_eq(response.status, 200);
	request.method = "PUT";
	api_handle(&web, &request, &response);
	ck_assert_uint_eq(response.status, 405);
	buf_fini(&response.body);
}
END_TEST

/* Two agents with copies of one state directory use the same numbers: the second one's batches must not vanish unnoticed. */
START_TEST(copied_state)
{
	struct found f = { 0 };
	Hiwat__Batch *copy = make_batch(0, 2, 0);

	ck_assert_int_eq(post_batch(make_batch(0, 1, 0)), 200);
	ck_assert_int_eq(post_batch(make_batch(0, 2, 0)), 200);
	ck_assert_int_eq(post_batch(make_batch(0, 2, 0)), 200);
	pipeline_read(pipeline, read_alerts, &f);
	ck_assert_uint_eq(f.open, 0);
	copy->wall_ns += 300000000;
	ck_assert_int_eq(post_batch(copy), 200);
	pipeline_read(pipeline, read_alerts, &f);
	ck_assert_uint_eq(f.open, 1);
	ck_assert_str_eq(f.summary, "two agents under one identity");
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("records");
	TCase *tc = tcase_create("records");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_good_batch);
	tcase_add_test(tc, compressed);
	tcase_add_test(tc, bad_batches_change_nothing);
	tcase_add_test(tc, too_many_hosts);
	tcase_add_test(tc, restart);
	tcase_add_test(tc, copied_state);
	tcase_add_test(tc, slow_headers);
	tcase_add_test(tc, head_is_answered);
	tcase_add_test(tc, hosts_of_one_name);
	tcase_add_test(tc, samplers_are_bounded);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
