/*
 * A POST to a receiver, and what its answer means; what the sinks that speak HTTP share.
 *
 * Any 2xx is an acceptance. A status of the refusing ones says that this body will never be accepted. Everything else is
 * tried again: 429 and 503 after Retry-After, in seconds or as a date. Redirects are not followed: they would carry incidents
 * to somebody who was not configured.
 */
#ifndef HIWAT_COLLECTOR_HTTP_POST_H
#define HIWAT_COLLECTOR_HTTP_POST_H

#include <stddef.h>

#include "notify.h"

struct http_post_setup {
	const char *url; /* copied; begins with https:// or http:// */
	/*
	 * Text that stands in no sentence of why, NULL for none: part of the URL or of the body that is a secret, which a
	 * receiver could write into its answer. Borrowed until http_post_free().
	 */
	const char *hidden;
	const unsigned *refusing; /* statuses, ended by 0, borrowed likewise; NULL: 400, 413, 415 and 422 */
};

struct http_post;

/*
 * What is kept between the deliveries of a route: the connection. The route's ca_file and timeout_ms are taken from it.
 * HIWAT_E_CONFIG or HIWAT_E_NOMEM with a sentence in why. *post is owned: http_post_free().
 */
int http_post_new(const struct route *route, const struct http_post_setup *setup, struct http_post **post, struct buf *why);
/* NULL is allowed. */
void http_post_free(struct http_post *post);
/* How long a POST may take from now on, in place of the route's timeout_ms. */
void http_post_limit(struct http_post *post, uint64_t timeout_ms);
/*
 * One POST of len bytes of JSON. headers are whole lines ("Name: value") beside Content-Type, ended by NULL; NULL for none.
 * Returns, and writes to why and *retry_after_ms, what a sink's send() does; why of an answer is its status and the first
 * line that the receiver wrote.
 */
enum delivery http_post_send(struct http_post *post, const char *const *headers, const char *body, size_t len,
    struct buf *why, uint64_t *retry_after_ms);

#endif
