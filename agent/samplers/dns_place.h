/* Who waits for questions on this host: a contract with a file for each way that systems tell. */
#ifndef HIWAT_AGENT_DNS_PLACE_H
#define HIWAT_AGENT_DNS_PLACE_H

#include "fetch.h"
#include "local_socket.h"

/* Calls fn for each UDP socket that waits for anybody. Errors as in fetch.h, with f->why; a system without IPv6 has none of it. */
typedef void dns_place_socket_fn(void *arg, const struct local_socket *socket);
int dns_place_sockets(struct fetch *f, const char *proc_dir, dns_place_socket_fn *fn, void *arg);

/*
 * Calls fn with the name of each process that this user may see, until it returns false; the system may have cut it to 15
 * bytes. A system that tells nothing is no failure: the names are for a label.
 */
typedef bool dns_place_process_fn(void *arg, struct text name);
void dns_place_processes(struct fetch *f, const char *proc_dir, dns_place_process_fn *fn, void *arg);

#endif
