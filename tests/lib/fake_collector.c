#include "fake_collector.h"

#include <check.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "codec.h"

struct request {
	struct fake_step step;
	struct buf body;
	bool is_taken;
};

struct fake_collector {
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock;
	char url[64];
	char *cert, *key, *ca;
	const struct fake_step *steps;
	unsigned n_steps, at_step;
	bool durable_at_once;
	bool durable_has[FAKE_SEQUENCES_MAX];
	struct fake_stats stats, copy;
	struct MHD_Connection *hanging[64];
	unsigned n_hanging;
};

static uint64_t
header_u64(struct MHD_Connection *c, const char *name)
{
	const char *v = MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);

	return v != NULL ? strtoull(v, NULL, 10) : 0;
}

static void
copy_header(struct MHD_Connection *c, const char *name, char *out, size_t size)
{
	const char *v = MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);

	snprintf(out, size, "%s", v != NULL ? v : "");
}

/* Gaps below the lowest sequence that the sender has are closed; then as far as there is no gap. */
static void
advance(struct fake_stats *s)
{
	if (s->oldest > 0 && s->received < s->oldest - 1)
		s->received = s->oldest - 1;
	while (s->received + 1 < FAKE_SEQUENCES_MAX && s->has[s->received + 1])
		s->received++;
}

/* A real batch says its number and which were never used; a made-up body begins with its number. */
static uint64_t
sequence_of(struct fake_collector *f, const struct request *r)
{
	struct arena arena;
	Hiwat__Batch *batch;
	uint64_t sequence = 0;

	arena_init(&arena, CODEC_ARENA_MAX);
	if (batch_decode((const uint8_t *)buf_str(&r->body), r->body.len, &arena, &batch, NULL) == 0) {
		sequence = batch->sequence;
		for (uint64_t i = batch->previous + 1; batch->has_previous && i < sequence && i < FAKE_SEQUENCES_MAX; i++)
			f->stats.has[i] = true;
		f->stats.n_records = (unsigned)batch->n_records;
		snprintf(f->stats.host, sizeof(f->stats.host), "%s", batch->host->name);
		f->stats.n_labels = (unsigned)batch->host->n_labels;
	} else if (r->body.len >= sizeof(sequence)) {
		memcpy(&sequence, r->body.data, sizeof(sequence));
	}
	arena_fini(&arena);
	return sequence;
}

static void
take(struct fake_collector *f, struct MHD_Connection *c, const struct request *r)
{
	struct fake_stats *s = &f->stats;
	uint64_t sequence = sequence_of(f, r);

	s->oldest = header_u64(c, "Hiwat-Oldest");
	s->sent_ns = header_u64(c, "Hiwat-Sent");
	copy_header(c, "Authorization", s->authorization, sizeof(s->authorization));
	copy_header(c, "Content-Type", s->content_type, sizeof(s->content_type));
	if (MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Encoding") != NULL) {
		s->zstd++;
		return;
	}
	if (sequence >= FAKE_SEQUENCES_MAX)
		return;
	if (s->n_order < FAKE_SEQUENCES_MAX)
		s->order[s->n_order++] = sequence;
	s->duplicates += s->has[sequence] || sequence <= s->received;
	s->has[sequence] = true;
	advance(s);
	if (f->durable_at_once)
		s->durable = s->received;
}

static enum MHD_Result
answer(struct fake_collector *f, struct MHD_Connection *c)
{
	Hiwat__Ack ack = HIWAT__ACK__INIT;
	struct buf b;

	ack.has_received = ack.has_durable = 1;
	ack.received = f->stats.received;
	ack.durable = f->stats.durable;
	buf_init(&b, 100);
	ack_encode(&ack, &b);
	struct MHD_Response *r = MHD_create_response_from_buffer(b.len, b.data, MHD_RESPMEM_MUST_COPY);
	buf_fini(&b);
	MHD_add_response_header(r, "Content-Type", "application/x-protobuf");
	enum MHD_Result result = MHD_queue_response(c, 200, r);
	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result
answer_text(struct MHD_Connection *c, unsigned status, unsigned retry_after_s, const char *text)
{
	struct MHD_Response *r =
	    MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	char seconds[16];

	snprintf(seconds, sizeof(seconds), "%u", retry_after_s);
	if (retry_after_s > 0)
		MHD_add_response_header(r, "Retry-After", seconds);
	enum MHD_Result result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

static ssize_t
give_up(void *arg, uint64_t at, char *data, size_t max)
{
	(void)arg, (void)max;
	if (at > 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	data[0] = 8;
	return 1;
}

static enum MHD_Result
answer_half(struct MHD_Connection *c)
{
	struct MHD_Response *r = MHD_create_response_from_callback(20, 16, give_up, NULL, NULL);
	enum MHD_Result result = MHD_queue_response(c, 200, r);

	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result
finish(struct fake_collector *f, struct MHD_Connection *c, struct request *r)
{
	bool takes = r->step.act == FAKE_OK || r->step.act == FAKE_DROP || r->step.act == FAKE_HALF;

	if (takes && !r->is_taken)
		take(f, c, r);
	r->is_taken = true;
	switch (r->step.act) {
	case FAKE_OK:
		return answer(f, c);
	case FAKE_STATUS:
		return answer_text(c, r->step.status, r->step.retry_after_s, "because the test\nsays so");
	case FAKE_HTML:
		return answer_text(c, 200, 0, "<html>It works!</html>");
	case FAKE_HALF:
		return answer_half(c);
	case FAKE_HANG:
		if (f->n_hanging == 64)
			return MHD_NO;
		f->hanging[f->n_hanging++] = c;
		MHD_suspend_connection(c);
		return MHD_YES;
	default:
		return MHD_NO;
	}
}

static enum MHD_Result
handle(void *arg, struct MHD_Connection *c, const char *url, const char *method, const char *version, const char *data,
    size_t *len, void **state)
{
	struct fake_collector *f = arg;
	struct request *r = *state;
	enum MHD_Result result = MHD_YES;

	(void)version;
	pthread_mutex_lock(&f->lock);
	if (r == NULL) {
		*state = r = calloc(1, sizeof(*r));
		ck_assert_ptr_nonnull(r);
		buf_init(&r->body, CODEC_BATCH_MAX);
		f->stats.requests++;
		if (f->at_step < f->n_steps)
			r->step = f->steps[f->at_step++];
		if (strcmp(url, "/v1/records") != 0 || strcmp(method, "POST") != 0)
			r->step = (struct fake_step){ FAKE_STATUS, 404, 0 };
	} else if (*len > 0) {
		buf_add(&r->body, data, *len);
		*len = 0;
		if (r->step.act == FAKE_CLOSE)
			result = MHD_NO;
	} else {
		result = finish(f, c, r);
	}
	pthread_mutex_unlock(&f->lock);
	return result;
}

static void
completed(void *arg, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode why)
{
	struct request *r = *state;

	(void)arg, (void)c, (void)why;
	if (r != NULL)
		buf_fini(&r->body);
	free(r);
	*state = NULL;
}

static char *
read_file(const char *path)
{
	char *text = calloc(1, 16384);
	FILE *f = fopen(path, "r");

	ck_assert(text != NULL && f != NULL);
	ck_assert_uint_gt(fread(text, 1, 16383, f), 0);
	fclose(f);
	return text;
}

struct fake_collector *
fake_collector_new(const char *cert_file, const char *key_file, const char *ca_file)
{
	struct fake_collector *f = calloc(1, sizeof(*f));
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	ck_assert_ptr_nonnull(f);
	f->durable_at_once = true;
	pthread_mutex_init(&f->lock, NULL);
	if (cert_file != NULL) {
		f->cert = read_file(cert_file);
		f->key = read_file(key_file);
		f->ca = read_file(ca_file);
		f->daemon = MHD_start_daemon(flags | MHD_USE_TLS, 0, NULL, NULL, handle, f, MHD_OPTION_SOCK_ADDR, &address,
		    MHD_OPTION_NOTIFY_COMPLETED, completed, f, MHD_OPTION_HTTPS_MEM_CERT, f->cert, MHD_OPTION_HTTPS_MEM_KEY,
		    f->key, MHD_OPTION_HTTPS_MEM_TRUST, f->ca, MHD_OPTION_END);
	} else {
		f->daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, f, MHD_OPTION_SOCK_ADDR, &address,
		    MHD_OPTION_NOTIFY_COMPLETED, completed, f, MHD_OPTION_END);
	}
	ck_assert_ptr_nonnull(f->daemon);
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(f->daemon, MHD_DAEMON_INFO_BIND_PORT);
	snprintf(f->url, sizeof(f->url), "http%s://127.0.0.1:%u", cert_file != NULL ? "s" : "", info->port);
	return f;
}

void
fake_collector_free(struct fake_collector *f)
{
	pthread_mutex_lock(&f->lock);
	for (unsigned i = 0; i < f->n_hanging; i++)
		MHD_resume_connection(f->hanging[i]);
	f->n_hanging = 64;
	pthread_mutex_unlock(&f->lock);
	MHD_stop_daemon(f->daemon);
	pthread_mutex_destroy(&f->lock);
	free(f->cert);
	free(f->key);
	free(f->ca);
	free(f);
}

const char *
fake_collector_url(const struct fake_collector *f)
{
	return f->url;
}

void
fake_collector_script(struct fake_collector *f, const struct fake_step *steps, unsigned n)
{
	pthread_mutex_lock(&f->lock);
	f->steps = steps;
	f->n_steps = n;
	f->at_step = 0;
	pthread_mutex_unlock(&f->lock);
}

void
fake_collector_set_durable(struct fake_collector *f, bool at_once)
{
	pthread_mutex_lock(&f->lock);
	f->durable_at_once = at_once;
	pthread_mutex_unlock(&f->lock);
}

void
fake_collector_save(struct fake_collector *f)
{
	pthread_mutex_lock(&f->lock);
	f->stats.durable = f->stats.received;
	memcpy(f->durable_has, f->stats.has, sizeof(f->durable_has));
	pthread_mutex_unlock(&f->lock);
}

void
fake_collector_crash(struct fake_collector *f)
{
	pthread_mutex_lock(&f->lock);
	f->stats.received = f->stats.durable;
	memcpy(f->stats.has, f->durable_has, sizeof(f->stats.has));
	pthread_mutex_unlock(&f->lock);
}

const struct fake_stats *
fake_collector_stats(struct fake_collector *f)
{
	pthread_mutex_lock(&f->lock);
	f->copy = f->stats;
	pthread_mutex_unlock(&f->lock);
	return &f->copy;
}
