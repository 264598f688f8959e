#include "http_post.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "err.h"
#include "utf8.h"

#define ANSWER_MAX 65536 /* bytes of an answer that are read */
#define REASON_MAX 200   /* bytes of it that are kept: of its first line */
#define RETRY_AFTER_MAX_MS 3600000

struct http_post {
	CURL *curl;
	const char *hidden;
	const unsigned *refusing;
	size_t answer_len;
	char answer[REASON_MAX + 1]; /* how it begins */
	char error[CURL_ERROR_SIZE];
};

static const unsigned refusing_usually[] = { 400, 413, 415, 422, 0 };

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static bool curl_ready;

static void
start_curl(void)
{
	curl_ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/* Only how it begins is of use to us, and it must end. */
static size_t
take_answer(char *data, size_t size, size_t n, void *arg)
{
	struct http_post *p = arg;
	size_t len = size * n;

	if (p->answer_len < REASON_MAX) {
		size_t room = REASON_MAX - p->answer_len;

		memcpy(p->answer + p->answer_len, data, len < room ? len : room);
	}
	p->answer_len += len;
	return p->answer_len > ANSWER_MAX ? 0 : len;
}

void
http_post_free(struct http_post *p)
{
	if (p == NULL)
		return;
	curl_easy_cleanup(p->curl);
	free(p);
}

void
http_post_limit(struct http_post *p, uint64_t timeout_ms)
{
	curl_easy_setopt(p->curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	curl_easy_setopt(p->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)timeout_ms);
}

static CURLcode
set_up(struct http_post *p, const struct route *route, const char *url)
{
	CURL *c = p->curl;
	CURLcode set = curl_easy_setopt(c, CURLOPT_URL, url);

	if (set == CURLE_OK)
		set = curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	if (set == CURLE_OK)
		set = curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (set == CURLE_OK && route->ca_file[0] != '\0')
		set = curl_easy_setopt(c, CURLOPT_CAINFO, route->ca_file);
	if (set == CURLE_OK)
		set = curl_easy_setopt(c, CURLOPT_USERAGENT, "hiwat-collector/" HIWAT_VERSION);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_POST, 1L);
	http_post_limit(p, route->timeout_ms);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, p);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, p->error);
	return set;
}

int
http_post_new(const struct route *route, const struct http_post_setup *setup, struct http_post **post, struct buf *why)
{
	struct http_post *p = calloc(1, sizeof(*p));
	int err = HIWAT_E_NOMEM;

	pthread_once(&curl_once, start_curl);
	if (p == NULL || !curl_ready || (p->curl = curl_easy_init()) == NULL) {
		buf_puts(why, "out of memory");
		goto fail;
	}
	err = HIWAT_E_CONFIG;
	if (strncmp(setup->url, "http://", 7) != 0 && strncmp(setup->url, "https://", 8) != 0) {
		buf_printf(why, "a %s needs a url that begins with https:// or http://", route->sink);
		goto fail;
	}
	CURLcode set = set_up(p, route, setup->url);
	if (set != CURLE_OK) {
		buf_puts(why, curl_easy_strerror(set));
		goto fail;
	}
	p->hidden = setup->hidden;
	p->refusing = setup->refusing != NULL ? setup->refusing : refusing_usually;
	*post = p;
	return 0;
fail:
	http_post_free(p);
	return err;
}

/* False, and nothing left to free, when memory is out. */
static bool
add_header(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);

	if (longer == NULL)
		curl_slist_free_all(*list);
	*list = longer;
	return longer != NULL;
}

static struct curl_slist *
header_list(const char *const *headers)
{
	struct curl_slist *list = NULL;
	/* Expect: without it curl waits for "100 Continue" before longer bodies. */
	bool ok = add_header(&list, "Content-Type: application/json") && add_header(&list, "Expect:");

	for (; ok && headers != NULL && *headers != NULL; headers++)
		ok = add_header(&list, *headers);
	return list;
}

/* One line for the log and the store, without control characters, broken UTF-8 and what is to be hidden. */
static void
put_line(struct buf *out, const char *text, const char *hidden)
{
	size_t n_hidden = hidden != NULL ? strlen(hidden) : 0;

	while (*text != '\0' && *text != '\n' && *text != '\r') {
		size_t n = utf8_sequence((const unsigned char *)text);

		if (n_hidden > 0 && strncmp(text, hidden, n_hidden) == 0) {
			buf_puts(out, "(secret)");
			text += n_hidden;
		} else if (n == 0 || (unsigned char)*text < ' ' || *text == '\x7f') {
			buf_putc(out, '?');
			text++;
		} else {
			buf_add(out, text, n);
			text += n;
		}
	}
}

static enum delivery
judge(struct http_post *p, long status, struct buf *why)
{
	if (status >= 200 && status < 300)
		return DELIVERY_DONE;
	buf_printf(why, "HTTP status %ld", status);
	if (status >= 300 && status < 400)
		buf_puts(why, ", redirects are not followed");
	p->answer[p->answer_len < REASON_MAX ? p->answer_len : REASON_MAX] = '\0';
	if (p->answer[0] != '\0') {
		buf_puts(why, ": ");
		put_line(why, p->answer, p->hidden);
	}
	for (const unsigned *refusing = p->refusing; *refusing != 0; refusing++)
		if (status == (long)*refusing)
			return DELIVERY_REFUSED;
	return DELIVERY_RETRY;
}

enum delivery
http_post_send(struct http_post *p, const char *const *headers, const char *body, size_t len, struct buf *why,
    uint64_t *retry_after_ms)
{
	struct curl_slist *list = header_list(headers);
	long status = 0;
	curl_off_t retry_after = 0;

	if (list == NULL) {
		buf_puts(why, "out of memory");
		return DELIVERY_RETRY;
	}
	p->answer_len = 0;
	p->error[0] = '\0';
	curl_easy_setopt(p->curl, CURLOPT_HTTPHEADER, list);
	curl_easy_setopt(p->curl, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(p->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	CURLcode code = curl_easy_perform(p->curl);
	curl_easy_setopt(p->curl, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(p->curl, CURLOPT_POSTFIELDS, NULL);
	curl_slist_free_all(list);
	/* An answer without end is cut by us; its status stands. */
	bool cut = code == CURLE_WRITE_ERROR && p->answer_len > ANSWER_MAX;
	if (code != CURLE_OK && !cut) {
		put_line(why, p->error[0] != '\0' ? p->error : curl_easy_strerror(code), p->hidden);
		return DELIVERY_RETRY;
	}
	curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(p->curl, CURLINFO_RETRY_AFTER, &retry_after);
	enum delivery result = judge(p, status, why);
	if (result == DELIVERY_RETRY && retry_after > 0)
		*retry_after_ms =
		    retry_after > RETRY_AFTER_MAX_MS / 1000 ? RETRY_AFTER_MAX_MS : (uint64_t)retry_after * 1000;
	return result;
}
