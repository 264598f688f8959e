/* Rows of `netstat -an -p udp` of FreeBSD and OpenBSD (usr.bin/netstat/inet.c): sockets that wait for anybody. */
#ifndef HIWAT_AGENT_NETSTAT_SOCKETS_H
#define HIWAT_AGENT_NETSTAT_SOCKETS_H

#include "local_socket.h"

/*
 * The next socket of *rest, which goes on behind it; headers, connected sockets and rows of another shape are skipped, and so
 * are addresses that netstat cut or that need an interface. A socket of both families is one of IPv4. False at the end.
 */
bool netstat_sockets_next(struct text *rest, struct local_socket *socket);

#endif
