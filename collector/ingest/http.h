/*
 * The HTTP front, behind few functions so that the server library can be replaced: requests come in whole and bounded,
 * responses go out. TLS with client certificates is verified once per connection.
 */
#ifndef HIWAT_COLLECTOR_HTTP_H
#define HIWAT_COLLECTOR_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

struct http_server;

struct http_request {
	const char *method; /* "GET", "POST", ... */
	const char *path;   /* without the query */
	const uint8_t *body;
	size_t body_len;
	const char *identity; /* DNS name that the client's certificate carries; NULL without a certificate */
	const char *address;  /* of the client, for logs */
	void *connection;     /* the server library's own */
};

/* A request header or a parameter of the query, or NULL. Borrowed for the request. */
const char *http_header(const struct http_request *r, const char *name);
const char *http_query(const struct http_request *r, const char *name);

struct http_response {
	unsigned status;          /* 200 unless set */
	const char *content_type; /* static; text/plain unless set */
	unsigned retry_after_s;   /* 0: no Retry-After header */
	struct buf body;
};

/* Sets status and a plain text body of one line. */
void http_fail(struct http_response *r, unsigned status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Called on one of the server's threads; several run at once. */
typedef void http_handler(void *arg, const struct http_request *request, struct http_response *response);

struct http_listener {
	const char *address;              /* "127.0.0.1", "::", ... */
	uint16_t port;                    /* 0: any free one */
	const char *cert_file, *key_file; /* NULL: no TLS */
	const char *client_ca_file;       /* NULL: no client certificates */
	bool require_client_certificate;
	size_t body_max;       /* bytes of one request's body: 413 above */
	size_t body_total_max; /* bytes of all bodies being received: 503 above */
	size_t response_max;   /* bytes of one response's body */
	unsigned threads;
	unsigned connections_max, connections_per_address; /* 0: no limit of its own per address */
	unsigned idle_s;                                   /* a connection without traffic is closed after this */
	/*
	 * For a new connection until its first request's headers are there, and from there to the last byte of the body: it is
	 * closed above. A later request's headers have idle_s more.
	 */
	unsigned deadline_ms;
};

/* HIWAT_E_CONFIG or HIWAT_E_SYS with a sentence in why. Everything in the listener is borrowed until http_stop(). */
int http_start(const struct http_listener *listener, http_handler *handler, void *arg, struct http_server **server,
    struct buf *why);
/* The port that it listens on. */
uint16_t http_port(const struct http_server *server);
unsigned http_connections(const struct http_server *server);
/* About once a second: ends connections that bring no whole request headers in the time they have. */
void http_tick(struct http_server *server);
/* Requests under way are finished; new ones are refused. */
void http_stop(struct http_server *server);

#endif
