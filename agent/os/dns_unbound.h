/*
 * unbound's control channel (unbound's daemon/remote.c): a connection each command, "UBCT1 " and the command on a line, the
 * answer up to the end of the connection. Over a Unix socket without TLS, over TCP with it: both sides then have what
 * unbound-control-setup(8) made, and the server's certificate is its own authority.
 */
#ifndef HIWAT_AGENT_DNS_UNBOUND_H
#define HIWAT_AGENT_DNS_UNBOUND_H

#include "fetch.h"

#define UNBOUND_CONTROL_PORT 8953

struct unbound {
	/* As configured, or where unbound was found; of socket and keys at most one. */
	const char *socket;  /* NULL: not over a socket */
	const char *keys;    /* directory of unbound_server.pem, unbound_control.pem and unbound_control.key; NULL: no TLS */
	const char *address; /* numeric, of the control port; NULL: 127.0.0.1 */
	uint16_t port;       /* 0: UNBOUND_CONTROL_PORT */
};

/*
 * The answer to one command. With neither socket nor keys in *u the places of the packages are tried, sockets first, and
 * what answered or refused is kept in *u. HIWAT_E_MISSING: nobody listens anywhere. HIWAT_E_NODATA: unbound answered nothing.
 * Others as fetch_unix() and fetch_tls().
 */
int unbound_control(struct fetch *f, struct unbound *u, const char *command, unsigned deadline_ms, struct text *out);

/* For people: the socket, the control port, or what was looked for. */
const char *unbound_where(const struct unbound *u);

/* Whether a way is configured, or a usual socket exists. */
bool unbound_is_here(const struct unbound *u);

#endif
