/*
 * The TCP sockets of this network namespace by netlink(7), sock_diag(7): what ss(8) uses. Asked by state, the kernel leaves
 * the others out; asked for listeners only, it looks at nothing else and answers in microseconds.
 */
#ifndef HIWAT_AGENT_INET_DIAG_H
#define HIWAT_AGENT_INET_DIAG_H

#include <stdbool.h>

#include "fetch.h"

/* States as the kernel numbers them (include/net/tcp_states.h). */
enum diag_state {
	DIAG_ESTABLISHED = 1,
	DIAG_SYN_SENT,
	DIAG_SYN_RECV,
	DIAG_FIN_WAIT1,
	DIAG_FIN_WAIT2,
	DIAG_TIME_WAIT,
	DIAG_CLOSE,
	DIAG_CLOSE_WAIT,
	DIAG_LAST_ACK,
	DIAG_LISTEN,
	DIAG_CLOSING,
	DIAG_NEW_SYN_RECV,
	DIAG_STATES
};

struct diag_socket {
	bool is_six;
	uint8_t address[16]; /* local, network byte order; the first 4 bytes for IPv4 */
	uint16_t port;
	unsigned state;
	uint32_t queue, limit; /* of a listener: connections to accept, and how many may wait */
};

/*
 * Calls fn for each socket of either family whose bit (1 << state) is set in states, until it returns false, which gives
 * HIWAT_E_NOMEM. HIWAT_E_MISSING: the kernel has no tcp_diag. Others as in fetch.h.
 */
int inet_diag_list(struct fetch *f, unsigned states, bool (*fn)(void *arg, const struct diag_socket *s), void *arg);

#endif
