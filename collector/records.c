/* POST /v1/records: one batch a request. Decoded and checked on the server's thread, before the pipeline's lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "intake.h"
#include "pipeline.h"
#include "scan.h"
#include "web.h"

static _Atomic(uint64_t) n_requests, n_refused, n_bytes, decode_ns;

/* Kept for the life of a server thread. */
struct scratch {
	struct intake intake;
	struct buf plain;
};

static pthread_key_t scratch_key;
static uint64_t intake_key; /* of all threads: hosts' batches may come through any */
static pthread_once_t scratch_once = PTHREAD_ONCE_INIT;

static void
scratch_free(void *p)
{
	struct scratch *s = p;

	intake_fini(&s->intake);
	buf_fini(&s->plain);
	free(s);
}

static void
scratch_make_key(void)
{
	pthread_key_create(&scratch_key, scratch_free);
	while (intake_key == 0 && getentropy(&intake_key, sizeof(intake_key)) == 0)
		continue;
}

static struct scratch *
scratch_get(void)
{
	pthread_once(&scratch_once, scratch_make_key);
	struct scratch *s = pthread_getspecific(scratch_key);
	if (s == NULL) {
		s = calloc(1, sizeof(*s));
		if (s == NULL)
			return NULL;
		intake_init(&s->intake, intake_key);
		buf_init(&s->plain, CODEC_BATCH_MAX);
		pthread_setspecific(scratch_key, s);
	}
	buf_reset(&s->plain);
	return s;
}

/* The whole of a header as a number; 0 when absent or anything else. */
static uint64_t
header_number(const struct http_request *r, const char *name)
{
	const char *value = http_header(r, name);
	uint64_t n = 0;

	return value != NULL && text_is_u64(text_of(value), &n) ? n : 0;
}

/* Status for the sender: 400, 413, 415 and 422 mean "never send this again", the others "later". */
static void
refuse(struct http_response *response, int err, const char *why)
{
	atomic_fetch_add(&n_refused, 1);
	switch (err) {
	case HIWAT_E_TOOBIG:
		http_fail(response, 413, "%s", why);
		break;
	case HIWAT_E_VERSION:
		http_fail(response, 422, "%s", why);
		break;
	case HIWAT_E_DENIED:
		http_fail(response, 403, "%s", why);
		break;
	case HIWAT_E_FORMAT:
		http_fail(response, 400, "%s", why);
		break;
	default:
		http_fail(response, 503, "%s", why);
		response->retry_after_s = 5;
	}
}

static int
decode(const struct http_request *request, struct scratch *s, struct arrival *arrival, struct intake_batch **batch,
    const char **why)
{
	const char *encoding = http_header(request, "Content-Encoding");
	const uint8_t *data = request->body;
	size_t len = request->body_len;

	if (encoding != NULL && strcmp(encoding, "identity") != 0) {
		/* Anything but zstd was refused before. */
		int err = codec_decompress(data, len, CODEC_BATCH_MAX, &s->plain);
		if (err != HIWAT_OK) {
			*why = err == HIWAT_E_TOOBIG ? "the batch is larger than 1 MiB" : "the body is not zstd";
			return err == HIWAT_E_TOOBIG ? err : HIWAT_E_FORMAT;
		}
		data = (const uint8_t *)s->plain.data;
		len = s->plain.len;
	}
	arrival->data = data;
	arrival->len = len;
	return intake_decode(&s->intake, data, len, batch, why);
}

static void
take(struct web *w, const struct http_request *request, struct http_response *response)
{
	struct scratch *s = scratch_get();
	struct intake_batch *batch = NULL;
	Hiwat__Ack ack = HIWAT__ACK__INIT;
	const char *why = "out of memory";

	if (s == NULL) {
		refuse(response, HIWAT_E_NOMEM, why);
		return;
	}
	struct arrival arrival = {
		.identity = request->identity,
		.mono_ns = clock_mono_ns(),
		.wall_ns = clock_wall_ns(),
		.sent_wall_ns = header_number(request, "Hiwat-Sent"),
		.oldest = header_number(request, "Hiwat-Oldest"),
	};
	uint64_t start = clock_thread_cpu_ns();
	int err = decode(request, s, &arrival, &batch, &why);
	atomic_fetch_add(&decode_ns, clock_thread_cpu_ns() - start);
	if (err == HIWAT_OK)
		err = pipeline_batch(w->pipeline, batch, &arrival, &ack, &why);
	if (err != HIWAT_OK) {
		refuse(response, err, why);
		return;
	}
	response->content_type = "application/x-protobuf";
	if (ack_encode(&ack, &response->body) != HIWAT_OK)
		refuse(response, HIWAT_E_NOMEM, why);
}

void
records_handle(void *arg, const struct http_request *request, struct http_response *response)
{
	const char *encoding = http_header(request, "Content-Encoding");
	const char *type = http_header(request, "Content-Type");

	atomic_fetch_add(&n_requests, 1);
	atomic_fetch_add(&n_bytes, request->body_len);
	if (strcmp(request->path, "/v1/maintenance") == 0 && strcmp(request->method, "POST") == 0)
		maintenance_handle(arg, request, response);
	else if (strcmp(request->path, "/v1/records") != 0)
		http_fail(response, 404, "agents post to /v1/records and /v1/maintenance");
	else if (strcmp(request->method, "POST") != 0)
		http_fail(response, 405, "records are posted");
	else if (type == NULL || strcmp(type, "application/x-protobuf") != 0)
		http_fail(response, 415, "Content-Type must be application/x-protobuf");
	else if (encoding != NULL && strcmp(encoding, "zstd") != 0 && strcmp(encoding, "identity") != 0)
		http_fail(response, 415, "Content-Encoding must be zstd or identity");
	else
		take(arg, request, response);
}

struct records_stats
records_stats(void)
{
	return (struct records_stats){ n_requests, n_refused, n_bytes, decode_ns };
}
