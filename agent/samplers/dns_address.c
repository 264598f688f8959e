#include "dns_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "scan.h"

bool
dns_address_parse(const char *text, uint16_t default_port, struct dns_address *out)
{
	struct dns_address a = { .port = default_port };
	struct text rest = text_of(text), host;
	unsigned char bytes[sizeof(struct in6_addr)];
	uint64_t port = a.port;

	if (text_until(&rest, '#', &host)) {
		if (!text_is_u64(rest, &port) || port == 0 || port > UINT16_MAX)
			return false;
	} else {
		host = rest;
	}
	if (host.n >= sizeof(a.address))
		return false;
	memcpy(a.address, host.p, host.n);
	if (inet_pton(AF_INET, a.address, bytes) != 1 && inet_pton(AF_INET6, a.address, bytes) != 1)
		return false;
	a.port = (uint16_t)port;
	snprintf(a.label, sizeof(a.label), "%s#%u", a.address, a.port);
	*out = a;
	return true;
}
