/* Statistics that a program of this host serves over plain HTTP. */
#ifndef HIWAT_AGENT_HTTP_H
#define HIWAT_AGENT_HTTP_H

#include "fetch.h"

/*
 * Prepares libcurl. Called before other threads begin, since older releases cannot do it while one of them does the same;
 * again at any time.
 */
void http_start(void);

/*
 * GET of an http:// URL on a connection of its own, around any proxy of the environment; redirects are not followed. *out
 * points into f->buf until the next fetch. HIWAT_E_MISSING: nobody listens there. HIWAT_E_DENIED: status 401 or 403.
 * HIWAT_E_REJECTED: another status than 200. HIWAT_E_TRUNCATED: the connection ended within the answer. HIWAT_E_TOOBIG: the
 * answer exceeds f's limit. HIWAT_E_TIMEOUT, HIWAT_E_NOMEM, HIWAT_E_SYS.
 */
int fetch_http(struct fetch *f, const char *url, unsigned deadline_ms, struct text *out);

#endif
