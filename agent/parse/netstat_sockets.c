#include "netstat_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* "127.0.0.1.53", "::1.53", "*.53" */
static bool
read_local(struct text t, bool is_six, struct local_socket *out)
{
	struct local_socket s = { .is_six = is_six };
	char host[INET6_ADDRSTRLEN];
	uint64_t port;
	size_t n = t.n;

	while (n > 0 && t.p[n - 1] != '.')
		n--;
	if (n < 2 || n > sizeof(host) || !text_is_u64((struct text){ t.p + n, t.n - n }, &port) || port > UINT16_MAX)
		return false;
	memcpy(host, t.p, n - 1);
	host[n - 1] = '\0';
	s.port = (uint16_t)port;
	if (strcmp(host, "*") != 0 && inet_pton(is_six ? AF_INET6 : AF_INET, host, s.address) != 1)
		return false;
	*out = s;
	return true;
}

bool
netstat_sockets_next(struct text *rest, struct local_socket *socket)
{
	struct text line, family, word, local, foreign;

	while (text_line(rest, &line, NULL)) {
		if (!text_word(&line, &family) || !text_skip(&family, "udp") || !text_word(&line, &word) ||
		    !text_word(&line, &word) || !text_word(&line, &local) || !text_word(&line, &foreign) ||
		    !text_eq(foreign, "*.*"))
			continue;
		if (read_local(local, text_eq(family, "6"), socket))
			return true;
	}
	return false;
}
