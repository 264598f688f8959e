#include "bad_server.h"

#include <gnutls/crypto.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"

struct bad_server server = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static const char *
header(struct MHD_Connection *c, const char *name)
{
	const char *value = MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);

	return value == NULL ? "" : value;
}

static bool
signature_holds(const char *value, const char *body, size_t len)
{
	char stamp[32] = "", given[65] = "", hex[65];
	uint8_t digest[32];
	char *text = NULL;

	if (sscanf(value, "t=%31[0-9],v1=%64[0-9a-f]", stamp, given) != 2)
		return false;
	size_t n = strlen(stamp);
	text = malloc(n + 1 + len);
	memcpy(text, stamp, n);
	text[n] = '.';
	memcpy(text + n + 1, body, len);
	gnutls_hmac_fast(GNUTLS_MAC_SHA256, BAD_SERVER_SECRET, sizeof(BAD_SERVER_SECRET) - 1, text, n + 1 + len, digest);
	free(text);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	return strcmp(hex, given) == 0;
}

/* Bodies of a webhook's tests: {"key":"...","generation":N}. False when it is not taken. */
static bool
note(struct MHD_Connection *c, const struct buf *body)
{
	struct seen *s = &server.seen[server.n_seen];
	char in_body[33], idempotency[64];
	unsigned generation;

	if (server.rules != NULL && server.n_seen < BAD_SERVER_SEEN) {
		bool taken = server.rules(buf_str(body), body->len, s);

		server.n_seen += taken;
		server.bad += !taken;
		free(server.last);
		server.last = strdup(buf_str(body));
		return taken;
	}
	if (server.n_seen == BAD_SERVER_SEEN ||
	    sscanf(buf_str(body), "{\"key\":\"%32[0-9a-f]\",\"generation\":%u", in_body, &generation) != 2) {
		server.bad++;
		return false;
	}
	snprintf(idempotency, sizeof(idempotency), "%s-%u", in_body, generation);
	if (strcmp(idempotency, header(c, "Idempotency-Key")) != 0 ||
	    strcmp(header(c, "Content-Type"), "application/json") != 0 ||
	    !signature_holds(header(c, "Hiwat-Signature"), body->data, body->len)) {
		server.bad++;
		return false;
	}
	snprintf(s->key, sizeof(s->key), "%s", in_body);
	snprintf(s->event, sizeof(s->event), "%s", header(c, "Hiwat-Event"));
	s->generation = generation;
	server.n_seen++;
	return true;
}

static ssize_t
cut_answer(void *arg, uint64_t pos, char *data, size_t max)
{
	(void)arg;
	(void)max;
	if (pos > 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	*data = 'x';
	return 1;
}

static ssize_t
endless_answer(void *arg, uint64_t pos, char *data, size_t max)
{
	(void)arg;
	(void)pos;
	memset(data, 'x', max);
	return (ssize_t)max;
}

static enum MHD_Result
reply(struct MHD_Connection *c, unsigned status, const char *name, const char *value)
{
	const char *text = status >= 400 ? server.reason : "";
	struct MHD_Response *r =
	    MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);

	if (name != NULL)
		MHD_add_response_header(r, name, value);
	enum MHD_Result result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result
stream(struct MHD_Connection *c, uint64_t size, MHD_ContentReaderCallback reader)
{
	struct MHD_Response *r = MHD_create_response_from_callback(size, 1024, reader, NULL, NULL);
	enum MHD_Result result = MHD_queue_response(c, 200, r);

	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result
finish(struct MHD_Connection *c, const struct buf *body)
{
	pthread_mutex_lock(&server.lock);
	size_t at = server.n_requests++;
	enum behaviour what = at < server.n_script ? server.script[at] : OK;
	/* Whoever loses the answer has seen the notification all the same. */
	if ((what == OK || what == CUT || what == DROP || what == ENDLESS) && !note(c, body) && server.rules != NULL)
		what = STATUS_400;
	if (what == HANG) {
		server.hanging++;
		pthread_cond_broadcast(&server.changed);
		while (!server.release)
			pthread_cond_wait(&server.changed, &server.lock);
		server.hanging--;
	}
	pthread_cond_broadcast(&server.changed);
	pthread_mutex_unlock(&server.lock);
	switch (what) {
	case OK:
		return reply(c, 204, NULL, NULL);
	case STATUS_500:
		return reply(c, 500, NULL, NULL);
	case STATUS_429:
		return reply(c, 429, "Retry-After", "1");
	case STATUS_400:
		return reply(c, 400, NULL, NULL);
	case STATUS_403:
		return reply(c, 403, NULL, NULL);
	case STATUS_404:
		return reply(c, 404, NULL, NULL);
	case STATUS_410:
		return reply(c, 410, NULL, NULL);
	case REDIRECT:
		return reply(c, 302, "Location", server.url);
	case CUT:
		return stream(c, 100, cut_answer);
	case ENDLESS:
		return stream(c, MHD_SIZE_UNKNOWN, endless_answer);
	case DROP:
	case HANG:
		break;
	}
	return MHD_NO;
}

static enum MHD_Result
answer(void *arg, struct MHD_Connection *c, const char *url, const char *method, const char *version, const char *data,
    size_t *size, void **state)
{
	struct buf *body = *state;

	(void)arg;
	(void)url;
	(void)version;
	(void)method;
	if (body == NULL) {
		*state = body = malloc(sizeof(*body));
		buf_init(body, 1 << 20);
		return MHD_YES;
	}
	if (*size > 0) {
		buf_add(body, data, *size);
		*size = 0;
		return MHD_YES;
	}
	return finish(c, body);
}

static void
completed(void *arg, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode code)
{
	struct buf *body = *state;

	(void)arg;
	(void)c;
	(void)code;
	if (body != NULL)
		buf_fini(body);
	free(body);
	*state = NULL;
}

bool
bad_server_start(const char *cert, const char *key)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | (cert != NULL ? MHD_USE_TLS : 0);
	struct MHD_OptionItem tls[] = { { MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)key }, { MHD_OPTION_END, 0, NULL } };

	server.script = NULL;
	server.n_script = server.n_requests = server.n_seen = 0;
	server.bad = 0;
	server.reason = "";
	server.rules = NULL;
	free(server.last);
	server.last = NULL;
	server.release = false;
	server.daemon = MHD_start_daemon(flags, 0, NULL, NULL, answer, NULL, MHD_OPTION_SOCK_ADDR, &address,
	    MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_ARRAY, cert != NULL ? tls : &tls[2], MHD_OPTION_END);
	if (server.daemon == NULL)
		return false;
	snprintf(server.url, sizeof(server.url), "http%s://127.0.0.1:%u/hook", cert != NULL ? "s" : "",
	    MHD_get_daemon_info(server.daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	return true;
}

void
bad_server_release(void)
{
	pthread_mutex_lock(&server.lock);
	server.release = true;
	pthread_cond_broadcast(&server.changed);
	pthread_mutex_unlock(&server.lock);
}

void
bad_server_stop(void)
{
	bad_server_release();
	MHD_stop_daemon(server.daemon);
}
