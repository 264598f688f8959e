/* Rows of Linux's /proc/net/udp and udp6 (net/ipv4/udp.c, net/ipv6/datagram.c). */
#ifndef HIWAT_AGENT_PROC_SOCKETS_H
#define HIWAT_AGENT_PROC_SOCKETS_H

#include "local_socket.h"

/*
 * The next row of *rest, which goes on behind it; the header and rows of another shape are skipped. False at the end. The
 * words of an address are printed in the byte order of the host, which must be this one's.
 */
bool proc_sockets_next(struct text *rest, struct local_socket *socket);

#endif
