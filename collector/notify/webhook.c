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
 * What its answer means is told in http_post.h.
 */
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "http_post.h"
#include "sinks.h"

struct webhook {
	struct http_post *post;
	char *secret; /* NULL: nothing is signed */
	size_t secret_len;
};

static void
webhook_close(void *state)
{
	struct webhook *w = state;

	if (w == NULL)
		return;
	http_post_free(w->post);
	secret_free(w->secret, w->secret_len);
	free(w);
}

static int
webhook_open(const struct route *route, void **state, struct buf *why)
{
	struct webhook *w = calloc(1, sizeof(*w));
	int err = 0;

	if (w == NULL) {
		buf_puts(why, "out of memory");
		return HIWAT_E_NOMEM;
	}
	if (route->secret_file[0] != '\0')
		err = secret_read(route->secret_file, &w->secret, &w->secret_len, why);
	if (err == 0)
		err = http_post_new(route, &(struct http_post_setup){ .url = route->url }, &w->post, why);
	if (err != 0) {
		webhook_close(w);
		return err;
	}
	*state = w;
	return 0;
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

static enum delivery
webhook_send(void *state, const struct route *route, const struct notice *notice, struct buf *why, uint64_t *retry_after_ms)
{
	struct webhook *w = state;
	size_t len = strlen(notice->json);
	char key[128], event[64], signature[160];
	const char *const headers[] = { key, event, w->secret != NULL ? signature : NULL, NULL };

	(void)route;
	snprintf(key, sizeof(key), "Idempotency-Key: %s-%u", notice->incident_key, notice->generation);
	snprintf(event, sizeof(event), "Hiwat-Event: %s", notice->event);
	if (w->secret != NULL && !sign(w, notice->json, len, signature, sizeof(signature))) {
		buf_puts(why, "cannot be signed");
		return DELIVERY_RETRY;
	}
	return http_post_send(w->post, headers, notice->json, len, why, retry_after_ms);
}

const struct sink sink_webhook = {
	.name = "webhook",
	.help = "POST of the incident as JSON, signed",
	.takes = SINK_URL | SINK_SECRET_FILE | SINK_CA_FILE,
	.needs = SINK_URL,
	.open = webhook_open,
	.send = webhook_send,
	.close = webhook_close,
};
