/*
 * unbound's control channel (unbound's daemon/remote.c): a connection each command, "UBCT1 " and the command on a line, the
 * answer up to the end of the connection. Over a Unix socket, where unbound wants no TLS.
 */
#ifndef HIWAT_AGENT_DNS_UNBOUND_H
#define HIWAT_AGENT_DNS_UNBOUND_H

#include "fetch.h"

/*
 * The answer to one command. socket: as configured; NULL: the places of the packages are tried, and *found, not NULL, is
 * set to the one that answered (static). HIWAT_E_MISSING: no socket anywhere. HIWAT_E_NODATA: unbound answered nothing.
 * Others as fetch_unix().
 */
int unbound_control(struct fetch *f, const char *socket, const char *command, unsigned deadline_ms, struct text *out,
    const char **found);

/* Whether a socket is configured, or one of the usual ones exists. */
bool unbound_is_here(const char *socket);

#endif
