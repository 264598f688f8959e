/*
 * POST of the incident to a URL of the operator's choice. What a receiver does:
 *
 *   read the body; it is the document of incident_json.h
 *   t, v1 = the header Hiwat-Signature ("t=1700000000,v1=<64 hexadecimal digits>")
 *   refuse when t is more than 5 minutes from now
 *   refuse when v1 is not HMAC-SHA-256(secret, t + "." + body), compared in constant time
 *   answer 200 when the header Idempotency-Key has been seen before
 *   act on event: trigger and escalate call somebody, resolve ends it; key says which trouble it is
 *   answer 2xx when it is safe with the receiver
 *
 * Any 2xx is an acceptance. 400, 413, 415 and 422 say that this body will never be accepted. Everything else is tried again:
 * 429 and 503 after Retry-After, in seconds or as a date. Redirects are not followed: they would carry incidents to somebody
 * who was not configured.
 */
#include <curl/curl.h>
#include <gnutls/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "sinks.h"

#define ANSWER_MAX 65536 /* bytes of an answer that are read */
#define RETRY_AFTER_MAX_MS 3600000

struct webhook {
	CURL *curl;
	char *secret; /* NULL: nothing is signed */
	size_t secret_len;
	size_t answer_len;
	char error[CURL_ERROR_SIZE];
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static bool curl_ready;

static void
start_curl(void)
{
	curl_ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/* What the receiver writes is of no use to us, but it must end. */
static size_t
discard(char *data, size_t size, size_t n, void *arg)
{
	struct webhook *w = arg;

	(void)data;
	w->answer_len += size * n;
	return w->answer_len > ANSWER_MAX ? 0 : size * n;
}

static void
webhook_close(void *state)
{
	struct webhook *w = state;

	if (w == NULL)
		return;
	curl_easy_cleanup(w->curl);
	secret_free(w->secret, w->secret_len);
	free(w);
}

static int
webhook_open(const struct route *route, void **state, struct buf *why)
{
	struct webhook *w = calloc(1, sizeof(*w));
	int err = HIWAT_E_NOMEM;

	pthread_once(&curl_once, start_curl);
	if (w == NULL || !curl_ready || (w->curl = curl_easy_init()) == NULL) {
		buf_puts(why, "out of memory");
		goto fail;
	}
	err = HIWAT_E_CONFIG;
	if (strncmp(route->url, "http://", 7) != 0 && strncmp(route->url, "https://", 8) != 0) {
		buf_puts(why, "a webhook needs a url that begins with https:// or http://");
		goto fail;
	}
	if (route->secret_file[0] != '\0') {
		err = secret_read(route->secret_file, &w->secret, &w->secret_len, why);
		if (err != 0)
			goto fail;
	}
	CURL *c = w->curl;
	CURLcode set = curl_easy_setopt(c, CURLOPT_URL, route->url);
	if (set == CURLE_OK)
		set = curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	if (set == CURLE_OK)
		set = curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (set == CURLE_OK && route->ca_file[0] != '\0')
		set = curl_easy_setopt(c, CURLOPT_CAINFO, route->ca_file);
	if (set == CURLE_OK)
		set = curl_easy_setopt(c, CURLOPT_USERAGENT, "hiwat-collector/" HIWAT_VERSION);
	if (set != CURLE_OK) {
		buf_puts(why, curl_easy_strerror(set));
		err = HIWAT_E_CONFIG;
		goto fail;
	}
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_POST, 1L);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)route->timeout_ms);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)route->timeout_ms);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, discard);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, w);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, w->error);
	*state = w;
	return 0;
fail:
	webhook_close(w);
	return err;
}

/* Adds "Hiwat-Signature: t=...,v1=..."; false when it cannot be made. */
static bool
sign(const struct webhook *w, const char *json, size_t len, char *header, size_t size)
{
	uint8_t digest[32];
	char stamp[24];
	gnutls_hmac_hd_t hmac;

	snprintf(stamp, sizeof(stamp), "%llu", (unsigned long long)(clock_wall_ns() / NSEC_PER_SEC));
	if (gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, w->secret, w->secret_len) < 0)
		return false;
	bool ok = gnutls_hmac(hmac, stamp, strlen(stamp)) >= 0 && gnutls_hmac(hmac, ".", 1) >= 0 &&
	    gnutls_hmac(hmac, json, len) >= 0;
	gnutls_hmac_deinit(hmac, digest);
	int n = snprintf(header, size, "Hiwat-Signature: t=%s,v1=", stamp);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(header + n + 2 * i, 3, "%02x", digest[i]);
	return ok;
}

static struct curl_slist *
headers(const struct webhook *w, const struct notice *notice, size_t len)
{
	char key[128], event[64], signature[160];
	struct curl_slist *list = NULL;

	snprintf(key, sizeof(key), "Idempotency-Key: %s-%u", notice->incident_key, notice->generation);
	snprintf(event, sizeof(event), "Hiwat-Event: %s", notice->event);
	if (w->secret != NULL && !sign(w, notice->json, len, signature, sizeof(signature)))
		return NULL;
	/* Expect: without it curl waits for "100 Continue" before longer bodies. */
	const char *const all[] = { "Content-Type: application/json", "Expect:", key, event,
		w->secret != NULL ? signature : NULL };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && all[i] != NULL; i++) {
		struct curl_slist *longer = curl_slist_append(list, all[i]);

		if (longer == NULL) {
			curl_slist_free_all(list);
			return NULL;
		}
		list = longer;
	}
	return list;
}

static enum delivery
judge(long status, struct buf *why)
{
	if (status >= 200 && status < 300)
		return DELIVERY_DONE;
	buf_printf(why, "HTTP status %ld", status);
	if (status >= 300 && status < 400)
		buf_puts(why, ", redirects are not followed");
	return status == 400 || status == 413 || status == 415 || status == 422 ? DELIVERY_REFUSED : DELIVERY_RETRY;
}

static enum delivery
webhook_send(void *state, const struct route *route, const struct notice *notice, struct buf *why, uint64_t *retry_after_ms)
{
	struct webhook *w = state;
	size_t len = strlen(notice->json);
	struct curl_slist *list = headers(w, notice, len);
	long status = 0;
	curl_off_t retry_after = 0;

	(void)route;
	if (list == NULL) {
		buf_puts(why, "out of memory");
		return DELIVERY_RETRY;
	}
	w->answer_len = 0;
	w->error[0] = '\0';
	curl_easy_setopt(w->curl, CURLOPT_HTTPHEADER, list);
	curl_easy_setopt(w->curl, CURLOPT_POSTFIELDS, notice->json);
	curl_easy_setopt(w->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	CURLcode code = curl_easy_perform(w->curl);
	curl_easy_setopt(w->curl, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(w->curl, CURLOPT_POSTFIELDS, NULL);
	curl_slist_free_all(list);
	/* An answer without end is cut by us; its status stands. */
	bool cut = code == CURLE_WRITE_ERROR && w->answer_len > ANSWER_MAX;
	if (code != CURLE_OK && !cut) {
		buf_puts(why, w->error[0] != '\0' ? w->error : curl_easy_strerror(code));
		return DELIVERY_RETRY;
	}
	curl_easy_getinfo(w->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(w->curl, CURLINFO_RETRY_AFTER, &retry_after);
	enum delivery result = judge(status, why);
	if (result == DELIVERY_RETRY && retry_after > 0)
		*retry_after_ms =
		    retry_after > RETRY_AFTER_MAX_MS / 1000 ? RETRY_AFTER_MAX_MS : (uint64_t)retry_after * 1000;
	return result;
}

const struct sink sink_webhook = {
	.name = "webhook",
	.help = "POST of the incident as JSON, signed",
	.open = webhook_open,
	.send = webhook_send,
	.close = webhook_close,
};
