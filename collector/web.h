/* The two faces of the collector's HTTP side: what agents post to, and what people and Prometheus read. */
#ifndef HIWAT_COLLECTOR_WEB_H
#define HIWAT_COLLECTOR_WEB_H

#include <stdbool.h>
#include <stdint.h>

#include "http.h"

struct auth;
struct notifier;
struct pipeline;
struct route;
struct store;

/* What the handlers need; borrowed. */
struct web {
	struct pipeline *pipeline;
	struct record_queue *record; /* NULL: nothing is recorded */
	struct store *store;
	struct notifier *notifier;
	const struct auth *auth;      /* NULL: nothing may be changed */
	const char *pagerduty_secret; /* NULL: PagerDuty's webhooks are not taken */
	size_t pagerduty_secret_len;
	const struct route *routes;
	unsigned n_routes;
	struct http_server *ingest; /* for counting connections; may be NULL */
	uint64_t started_wall_ns;
};

/* POST /v1/records and /v1/maintenance. arg is a struct web. */
http_handler records_handle;
/* POST /v1/maintenance, on the agents' side. */
void maintenance_handle(struct web *w, const struct http_request *request, struct http_response *response);
/* /metrics, /metrics/hosts, /-/healthy, /-/ready, /api/v1/... arg is a struct web. */
http_handler api_handle;
/* Takes a request that changes something; false when it is none that is known. */
bool api_write_handle(struct web *w, const struct http_request *request, struct http_response *response);
/* Takes a webhook of PagerDuty; false when the request is for another path. */
bool api_pagerduty_handle(struct web *w, const struct http_request *request, struct http_response *response);

/* Appends the collector's own metrics as Prometheus text. */
void metrics_write(struct web *w, struct buf *out);
/* Appends the series of all hosts, with the label host. */
void metrics_write_hosts(struct web *w, struct buf *out);

/* What decoding cost since the start, for the metrics. */
struct records_stats {
	uint64_t requests, refused, bytes, decode_ns;
};
struct records_stats records_stats(void);

#endif
