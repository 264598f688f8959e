/*
 * POST URL/v1/records over HTTP/1.1 on one connection that stays open. The body is one Batch, the answer to a 200 one Ack.
 * Hiwat-Sent is the wall clock in nanoseconds, Hiwat-Oldest the lowest sequence that the spool still has. POST
 * URL/v1/maintenance takes JSON and answers so.
 */
#include "sink.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "codec.h"
#include "err.h"
#include "scan.h"

#define ANSWER_MAX 4096
#define TOKEN_MAX 4096
#define CONNECT_MS_MAX 10000
#define KEEP_OPEN_S 900L
#define RETRY_AFTER_MAX_S 600

struct https {
	struct sink_settings settings;
	CURL *curl;
	struct buf answer, token;
	struct arena arena;
	bool has_token;
	char error[CURL_ERROR_SIZE];
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void
curl_start(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

static size_t
take_answer(char *data, size_t size, size_t n, void *arg)
{
	struct buf *answer = arg;

	/* An acknowledgement is small; of anything longer the beginning is enough to say what it was. */
	size_t room = ANSWER_MAX - answer->len;
	buf_add(answer, data, size * n < room ? size * n : room);
	return size * n;
}

static int
progress(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
	struct https *h = arg;

	(void)down_total, (void)down, (void)up_total, (void)up;
	return h->settings.is_over != NULL && h->settings.is_over(h->settings.arg);
}

static void
https_close(void *state)
{
	struct https *h = state;

	curl_easy_cleanup(h->curl);
	buf_fini(&h->answer);
	buf_fini(&h->token);
	arena_fini(&h->arena);
	free(h);
}

static void
set_tls(CURL *c, const struct sink_settings *settings)
{
	curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (settings->ca_file != NULL) {
		curl_easy_setopt(c, CURLOPT_CAINFO, settings->ca_file);
		curl_easy_setopt(c, CURLOPT_CAPATH, NULL);
	}
	if (settings->cert_file != NULL) {
		curl_easy_setopt(c, CURLOPT_SSLCERT, settings->cert_file);
		curl_easy_setopt(c, CURLOPT_SSLKEY, settings->key_file);
	}
#if LIBCURL_VERSION_NUM >= 0x075700
	/* Authorities that were replaced count from the next connection on. */
	curl_easy_setopt(c, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
}

static int
https_open(const struct sink_settings *settings, void **state)
{
	long timeout_ms = (long)settings->timeout_ms;

	pthread_once(&curl_once, curl_start);
	struct https *h = calloc(1, sizeof(*h));
	if (h == NULL)
		return HIWAT_E_NOMEM;
	CURL *c = h->curl = curl_easy_init();
	if (c == NULL) {
		free(h);
		return HIWAT_E_NOMEM;
	}
	h->settings = *settings;
	buf_init(&h->answer, ANSWER_MAX);
	buf_init(&h->token, TOKEN_MAX);
	arena_init(&h->arena, 16384);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, h->error);
	curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(c, CURLOPT_POST, 1L);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "hiwat-agent/" HIWAT_VERSION);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &h->answer);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, progress);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, h);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, timeout_ms);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms < CONNECT_MS_MAX ? timeout_ms : CONNECT_MS_MAX);
	curl_easy_setopt(c, CURLOPT_MAXCONNECTS, 1L);
	curl_easy_setopt(c, CURLOPT_MAXAGE_CONN, KEEP_OPEN_S);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	/* Each new connection asks the resolver anew: a collector may have moved. */
	curl_easy_setopt(c, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
	curl_easy_setopt(c, CURLOPT_BUFFERSIZE, 4096L);
	curl_easy_setopt(c, CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
	set_tls(c, settings);
	*state = h;
	return HIWAT_OK;
}

/* The first line of the token file into h->token. */
static bool
read_token(struct https *h, struct sink_reply *reply)
{
	const char *path = h->settings.token_file;
	char text[TOKEN_MAX + 1];

	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	int saved = errno;
	if (fd >= 0)
		close(fd);
	if (n < 0) {
		snprintf(reply->why, sizeof(reply->why), "token_file %s: %s", path, strerror(saved));
		return false;
	}
	text[n] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	for (const char *p = text; *p != '\0'; p++) {
		if (*p <= ' ' || *p >= 0x7f)
			text[0] = '\0';
	}
	if (text[0] == '\0') {
		snprintf(reply->why, sizeof(reply->why), "token_file %s: its first line is no token", path);
		return false;
	}
	buf_reset(&h->token);
	buf_printf(&h->token, "Authorization: Bearer %s", text);
	explicit_bzero(text, sizeof(text));
	h->has_token = buf_ok(&h->token);
	return h->has_token;
}

/* Appends a header; on failure the list is freed and NULL. */
static struct curl_slist *
add_header(struct curl_slist *list, bool *ok, const char *line)
{
	struct curl_slist *longer = *ok ? curl_slist_append(list, line) : NULL;

	if (longer != NULL)
		return longer;
	*ok = false;
	return list;
}

/* batch NULL: of a request for maintenance. */
static struct curl_slist *
make_headers(struct https *h, const struct sink_batch *batch)
{
	char line[64];
	bool ok = true;

	struct curl_slist *list =
	    add_header(NULL, &ok, batch != NULL ? "Content-Type: application/x-protobuf" : "Content-Type: application/json");
	if (batch != NULL) {
		snprintf(line, sizeof(line), "Hiwat-Sent: %" PRIu64, clock_wall_ns());
		list = add_header(list, &ok, line);
		snprintf(line, sizeof(line), "Hiwat-Oldest: %" PRIu64, batch->oldest);
		list = add_header(list, &ok, line);
	}
	/* A batch is sent at once, not after a question. */
	list = add_header(list, &ok, "Expect:");
	if (batch != NULL && batch->is_zstd)
		list = add_header(list, &ok, "Content-Encoding: zstd");
	if (h->has_token)
		list = add_header(list, &ok, buf_str(&h->token));
	if (ok)
		return list;
	curl_slist_free_all(list);
	return NULL;
}

/* The clock is wrong, or so it seems: certificates that are not valid yet, or no longer. */
static bool
is_about_time(struct https *h)
{
	long verify = 0;

	curl_easy_getinfo(h->curl, CURLINFO_SSL_VERIFYRESULT, &verify);
	return verify == 9 || verify == 10 || /* X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED */
	    strstr(h->error, "not yet valid") != NULL || strstr(h->error, "expired") != NULL ||
	    strstr(h->error, "not yet activated") != NULL;
}

static void
explain_transport(struct https *h, CURLcode code, struct sink_reply *reply)
{
	const char *error = h->error[0] != '\0' ? h->error : curl_easy_strerror(code);
	char now[32] = "?";
	time_t t = time(NULL);
	struct tm tm;

	reply->fate = SINK_FAILED;
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
		reply->fate = SINK_REFUSED;
		break;
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
		/* TLS 1.3 tells a client what is wrong with its certificate after the handshake. */
		if (strstr(error, "alert") != NULL)
			reply->fate = SINK_REFUSED;
		break;
	default:
		break;
	}
	if (reply->fate != SINK_REFUSED || !is_about_time(h)) {
		snprintf(reply->why, sizeof(reply->why), "%.280s", error);
		return;
	}
	if (gmtime_r(&t, &tm) != NULL)
		strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", &tm);
	snprintf(reply->why, sizeof(reply->why), "%.200s; is this host's clock right? It says %s", error, now);
}

/* The status and the first words of the answer, which say why. */
static void
explain_status(struct https *h, long status, struct sink_reply *reply)
{
	char words[160];
	size_t n = 0;

	for (; n < sizeof(words) - 1 && n < h->answer.len; n++) {
		char c = h->answer.data[n];
		words[n] = c >= ' ' && c < 0x7f ? c : ' ';
	}
	while (n > 0 && words[n - 1] == ' ')
		n--;
	words[n] = '\0';
	snprintf(reply->why, sizeof(reply->why), "status %ld%s%s", status, n > 0 ? ": " : "", words);
}

/* A 200: the answer is one Ack. */
static void
take_ack(struct https *h, struct sink_reply *reply)
{
	Hiwat__Ack *ack;

	arena_reset(&h->arena);
	if (ack_decode((const uint8_t *)buf_str(&h->answer), h->answer.len, &h->arena, &ack) != 0 || !ack->has_received ||
	    !ack->has_durable) {
		snprintf(reply->why, sizeof(reply->why), "the answer is no acknowledgement; is this a hiwat collector?");
		return;
	}
	reply->fate = SINK_ACKNOWLEDGED;
	reply->received = ack->received;
	reply->durable = ack->durable < ack->received ? ack->durable : ack->received;
	reply->backlog_interval_ms = ack->has_backlog_interval_ms ? ack->backlog_interval_ms : 0;
}

/* Any other status. */
static void
judge_status(struct https *h, long status, struct sink_reply *reply)
{
	curl_off_t retry_after = 0;

	switch (status) {
	case 400:
	case 413:
	case 415:
	case 422:
		reply->fate = SINK_REJECTED;
		break;
	case 408:
	case 429:
		break;
	default:
		/* Redirections, 401, 403, 404 and the like want a person. */
		if (status < 500)
			reply->fate = SINK_REFUSED;
		break;
	}
	curl_easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &retry_after);
	if (retry_after > 0)
		reply->retry_after_ms = (uint64_t)(retry_after < RETRY_AFTER_MAX_S ? retry_after : RETRY_AFTER_MAX_S) * 1000;
	explain_status(h, status, reply);
}

/* One request; batch as for make_headers(). True when it was answered by 200; what else became of it stands in reply. */
static bool
post(struct https *h, const char *url, const char *path, const struct sink_batch *batch, const void *data, size_t len,
    struct sink_reply *reply)
{
	struct buf target;
	long status = 0;

	*reply = (struct sink_reply){ .fate = SINK_FAILED, .why = "out of memory" };
	if (h->settings.token_file != NULL && !h->has_token && !read_token(h, reply)) {
		reply->fate = SINK_REFUSED;
		return false;
	}
	size_t url_len = strlen(url);
	buf_init(&target, 4096);
	buf_add(&target, url, url_len > 0 && url[url_len - 1] == '/' ? url_len - 1 : url_len);
	buf_puts(&target, path);
	struct curl_slist *headers = make_headers(h, batch);
	if (headers != NULL && buf_ok(&target)) {
		buf_reset(&h->answer);
		h->error[0] = '\0';
		curl_easy_setopt(h->curl, CURLOPT_URL, buf_str(&target));
		curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, data);
		curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
		reply->why[0] = '\0';
		CURLcode code = curl_easy_perform(h->curl);
		if (code != CURLE_OK)
			explain_transport(h, code, reply);
		else if (curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK && status != 200)
			judge_status(h, status, reply);
		/* The list goes with this function. */
		curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, NULL);
		curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, NULL);
	}
	curl_slist_free_all(headers);
	buf_fini(&target);
	return status == 200;
}

static void
https_send(void *state, const char *url, const struct sink_batch *batch, struct sink_reply *reply)
{
	struct https *h = state;

	if (post(h, url, "/v1/records", batch, batch->data, batch->len, reply))
		take_ack(h, reply);
	/* After any trouble the token is read again: it may have been replaced. */
	if (reply->fate != SINK_ACKNOWLEDGED)
		h->has_token = false;
}

static void
https_maintain(void *state, const char *url, const char *json, struct sink_reply *reply)
{
	struct https *h = state;

	if (!post(h, url, "/v1/maintenance", NULL, json, strlen(json), reply))
		return;
	reply->fate = SINK_ACKNOWLEDGED;
	snprintf(reply->why, sizeof(reply->why), "%.*s", (int)strcspn(buf_str(&h->answer), "\r\n"), buf_str(&h->answer));
}

static const char *const schemes[] = { "https://", "http://", NULL };

const struct sink sink_https = { .schemes = schemes,
	.open = https_open,
	.send = https_send,
	.maintain = https_maintain,
	.close = https_close };
