/* A line asked of a program of this host over TLS, each side with a certificate that the other one knows. */
#ifndef HIWAT_AGENT_TLS_H
#define HIWAT_AGENT_TLS_H

#include "fetch.h"

struct tls_peer {
	const char *address; /* numeric */
	uint16_t port;
	const char *name;                           /* what its certificate has to say */
	const char *ca_file, *cert_file, *key_file; /* whom to believe, and what to prove oneself by; PEM */
};

/*
 * Connects, sends the request and reads until the other side ends the connection, as TLS has it: an end without that is
 * HIWAT_E_TRUNCATED. HIWAT_E_MISSING: nobody listens there. HIWAT_E_DENIED: one of the files may not be read, f->why names
 * it. HIWAT_E_REJECTED: one side does not believe the other. HIWAT_E_TIMEOUT, HIWAT_E_TOOBIG, HIWAT_E_NOMEM, HIWAT_E_SYS.
 */
int fetch_tls(struct fetch *f, const struct tls_peer *peer, struct text request, unsigned deadline_ms, struct text *out);

#endif
