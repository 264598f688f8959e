#include "http.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>

#include "clock.h"
#include "err.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
start_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

void
http_start(void)
{
	pthread_once(&once, start_curl);
}

static size_t
take(char *data, size_t size, size_t n, void *arg)
{
	struct buf *b = arg;

	buf_add(b, data, size * n);
	return buf_ok(b) ? size * n : 0;
}

/* sys_errno: of a connection that failed. */
static int
judge(CURLcode code, const struct fetch *f, long status, long sys_errno)
{
	switch (code) {
	case CURLE_OK:
		if (status == 200)
			return HIWAT_OK;
		return status == 401 || status == 403 ? HIWAT_E_DENIED : HIWAT_E_REJECTED;
	case CURLE_COULDNT_CONNECT:
		return sys_errno != 0 ? fetch_err((int)sys_errno) : HIWAT_E_MISSING;
	case CURLE_OPERATION_TIMEDOUT:
		return HIWAT_E_TIMEOUT;
	case CURLE_PARTIAL_FILE:
	case CURLE_GOT_NOTHING:
	case CURLE_RECV_ERROR:
		return HIWAT_E_TRUNCATED;
	case CURLE_WRITE_ERROR:
		return f->buf.len + CURL_MAX_WRITE_SIZE > f->buf.limit ? HIWAT_E_TOOBIG : HIWAT_E_NOMEM;
	case CURLE_OUT_OF_MEMORY:
		return HIWAT_E_NOMEM;
	default:
		return HIWAT_E_REJECTED;
	}
}

static CURLcode
get(CURL *c, struct fetch *f, const char *url, unsigned deadline_ms)
{
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)deadline_ms);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "hiwat-agent/" HIWAT_VERSION);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &f->buf);
	curl_easy_setopt(c, CURLOPT_FORBID_REUSE, 1L);
	return curl_easy_perform(c);
}

int
fetch_http(struct fetch *f, const char *url, unsigned deadline_ms, struct text *out)
{
	uint64_t started_ns = clock_mono_ns();
	long status = 0, sys_errno = 0;

	http_start();
	buf_reset(&f->buf);
	CURL *c = curl_easy_init();
	if (c == NULL)
		return fetch_done(f, "get", url, started_ns, HIWAT_E_NOMEM, 0, 0);
	CURLcode code = get(c, f, url, deadline_ms);
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK)
		curl_easy_getinfo(c, CURLINFO_OS_ERRNO, &sys_errno);
	curl_easy_cleanup(c);
	int err = judge(code, f, status, sys_errno);
	if (err == HIWAT_OK)
		*out = (struct text){ buf_str(&f->buf), f->buf.len };
	fetch_done(f, "get", url, started_ns, err, code == CURLE_COULDNT_CONNECT ? (int)sys_errno : 0, f->buf.len);
	if (err == HIWAT_E_REJECTED && code != CURLE_OK)
		snprintf(f->why.text, sizeof(f->why.text), "get %s: %s", url, curl_easy_strerror(code));
	else if (code == CURLE_OK && err != HIWAT_OK)
		snprintf(f->why.text, sizeof(f->why.text), "get %s: HTTP status %ld", url, status);
	return err;
}
