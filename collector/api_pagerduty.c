/*
 * PagerDuty's V3 webhooks (https://developer.pagerduty.com/docs/webhooks-overview): what people do to incidents there. The
 * incident is the one whose key the sink gave as dedup_key; PagerDuty sends it back as event.data.incident_key.
 *
 *   incident.acknowledged     taken over, by the name that event.agent carries
 *   incident.unacknowledged   given back: it is told again
 *   incident.resolved         closed, if nobody can see it any more; what still holds stays open and is told again
 *
 * Everything else, and incidents that are not known here, is accepted and left alone: PagerDuty stops a webhook that refuses.
 * A signature is for ever, so that what is older than the incident's opening is left alone, too.
 */
#include <gnutls/crypto.h>
#include <jansson.h>
#include <string.h>

#include "card.h"
#include "clock.h"
#include "doc.h"
#include "err.h"
#include "incident.h"
#include "log.h"
#include "pipeline.h"
#include "scan.h"
#include "store.h"
#include "web.h"

#define TOPIC "api"
#define PATH "/api/v1/pagerduty"
#define DIGEST_BYTES 32
#define BY_MAX 200                           /* characters of a name */
#define CLOCKS_DIFFER_NS (60 * NSEC_PER_SEC) /* PagerDuty's and ours, at most */

struct call {
	const char *type, *key, *by;
	uint64_t occurred_ns;
	const char *done; /* for the log and the answer; NULL: left alone */
	int err;
};

/* One "v1=<64 hexadecimal digits>". */
static bool
signature_is(struct text signature, const uint8_t digest[DIGEST_BYTES])
{
	uint8_t given[DIGEST_BYTES];
	size_t n = sizeof(given);

	if (!text_skip(&signature, "v1=") || signature.n != 2 * (size_t)DIGEST_BYTES)
		return false;
	const gnutls_datum_t hex = { (unsigned char *)(uintptr_t)signature.p, (unsigned)signature.n };
	return gnutls_hex_decode(&hex, given, &n) == 0 && n == sizeof(given) &&
	    gnutls_memcmp(given, digest, sizeof(given)) == 0;
}

/* One of several holds while a secret is being changed. */
static bool
is_signed(const struct web *w, const struct http_request *request)
{
	const char *header = http_header(request, "X-PagerDuty-Signature");
	uint8_t digest[DIGEST_BYTES];
	bool holds = false;

	if (header == NULL ||
	    gnutls_hmac_fast(GNUTLS_MAC_SHA256, w->pagerduty_secret, w->pagerduty_secret_len, request->body,
		request->body_len, digest) < 0)
		return false;
	for (const char *p = header; *p != '\0'; p += *p == ',') {
		size_t n = strcspn(p, ",");

		holds = signature_is(text_trim((struct text){ p, n }), digest) || holds;
		p += n;
	}
	return holds;
}

static void
act(void *arg, struct pipeline *p)
{
	struct call *c = arg;
	struct alerts *alerts = pipeline_alerts(p);
	const struct incident *i = alerts_find(alerts, c->key);
	uint64_t now_ns = clock_wall_ns();

	if (i == NULL || i->status != INCIDENT_OPEN || c->occurred_ns + CLOCKS_DIFFER_NS < i->opened_ns)
		return;
	if (strcmp(c->type, "incident.acknowledged") == 0 && !i->acknowledged) {
		c->done = "acknowledged";
		c->err = alerts_acknowledge(alerts, c->key, c->by, now_ns);
	} else if (strcmp(c->type, "incident.unacknowledged") == 0 && i->acknowledged) {
		c->done = "given back";
		c->err = alerts_give_back(alerts, c->key, now_ns);
	} else if (strcmp(c->type, "incident.resolved") == 0 && (i->object_gone || i->blind_since_ns != 0)) {
		c->done = "closed";
		c->err = alerts_close(alerts, c->key, c->by, now_ns);
	}
}

static void
answer(struct web *w, struct call *c, struct http_response *response)
{
	pipeline_read(w->pipeline, act, c);
	if (c->err == 0 && c->done != NULL && store_flush(w->store) != 0)
		c->err = HIWAT_E_SYS;
	if (c->err != 0) {
		http_fail(response, 503, "%s", err_text(c->err));
		return;
	}
	if (c->done != NULL)
		log_info(TOPIC, "%s: %s by %s", c->done, c->key, c->by);
	response->status = 202;
	buf_printf(&response->body, "%s\n", c->done != NULL ? c->done : "left alone");
}

static void
take(struct web *w, const struct http_request *request, struct http_response *response)
{
	json_t *o = json_loadb((const char *)request->body, request->body_len, 0, NULL);
	const json_t *event = json_object_get(o, "event");
	const char *name = card_text(json_object_get(event, "agent"), "summary");
	struct call c = { .type = card_text(event, "event_type"),
		.key = card_text(json_object_get(event, "data"), "incident_key") };
	struct buf by;

	buf_init(&by, 8 * BY_MAX);
	if (name[0] != '\0') {
		card_put(&by, name, BY_MAX);
		buf_puts(&by, " (PagerDuty)");
	} else {
		buf_puts(&by, "PagerDuty");
	}
	c.by = buf_str(&by);
	if (!json_is_object(event) || c.type[0] == '\0' || !doc_parse_time(card_text(event, "occurred_at"), &c.occurred_ns))
		http_fail(response, 400, "no V3 webhook: event with event_type and occurred_at is needed");
	else
		answer(w, &c, response);
	buf_fini(&by);
	json_decref(o);
}

bool
api_pagerduty_handle(struct web *w, const struct http_request *request, struct http_response *response)
{
	if (strcmp(request->path, PATH) != 0)
		return false;
	if (strcmp(request->method, "POST") != 0)
		http_fail(response, 405, "PagerDuty's webhooks are posted here");
	else if (w->pagerduty_secret == NULL)
		http_fail(response, 404,
		    "PagerDuty's webhooks are not taken: see web.pagerduty_secret_file in hiwat.yaml(5)");
	else if (!is_signed(w, request))
		http_fail(response, 401, "X-PagerDuty-Signature does not hold");
	else
		take(w, request, response);
	return true;
}
