/* Addresses of DNS servers as people write them: 192.0.2.1, 2001:db8::1, either with #port behind. */
#ifndef HIWAT_AGENT_DNS_ADDRESS_H
#define HIWAT_AGENT_DNS_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct dns_address {
	char address[INET6_ADDRSTRLEN];
	uint16_t port;
	char label[INET6_ADDRSTRLEN + 6]; /* address#port, as dnsmasq writes it */
};

#define DNS_PORT 53

/* port: when the text names none. False when the text is no such address. */
bool dns_address_parse(const char *text, uint16_t port, struct dns_address *out);

#endif
