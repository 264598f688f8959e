/* What the DNS probe reads: answers of DNS servers, rows of /proc/net/udp and netstat; and a driver's answer to ethtool. */
#include <stddef.h>
#include <stdint.h>

#include "dns_message.h"
#include "ethtool_link.h"
#include "netstat_sockets.h"
#include "proc_sockets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text answer = { (const char *)data, size }, rest = answer;
	char query[DNS_QUERY_MAX];
	/* The id that the input begins with, so that answers get past it. */
	uint16_t id = size >= 2 ? (uint16_t)(data[0] << 8 | data[1]) : 0;
	struct text request = { query, dns_query_write(query, id, "localhost") };
	struct local_socket socket;
	unsigned rcode = 0;

	if (dns_answer_read(answer, request, &rcode) && rcode > 15)
		__builtin_trap();
	while (proc_sockets_next(&rest, &socket))
		;
	rest = answer;
	while (netstat_sockets_next(&rest, &socket))
		;
	struct ethtool_link link;
	(void)ethtool_link_parse(answer, &link);
	return 0;
}
