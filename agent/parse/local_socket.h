/* The local end of an internet socket, whatever system tells of it. */
#ifndef HIWAT_AGENT_LOCAL_SOCKET_H
#define HIWAT_AGENT_LOCAL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "scan.h"

struct local_socket {
	bool is_six;
	uint8_t address[16]; /* network byte order; the first 4 bytes for IPv4 */
	uint16_t port;
};

#endif
