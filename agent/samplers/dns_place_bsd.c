/*
 * From netstat(1) and ps(1), whose outputs FreeBSD and OpenBSD have in common, unlike the variables of their kernels. Both
 * run when a resolver is looked for, not with every question.
 */
#include "dns_place.h"

#include "err.h"
#include "netstat_sockets.h"

#define DEADLINE_MS 2000

int
dns_place_sockets(struct fetch *f, const char *proc_dir, dns_place_socket_fn *fn, void *arg)
{
	static const char *const argv[] = { "/usr/bin/netstat", "-an", "-p", "udp", NULL };
	struct local_socket socket;
	struct text rest;

	(void)proc_dir;
	int err = fetch_run(f, argv, DEADLINE_MS, &rest);
	if (err != HIWAT_OK)
		return err;
	while (netstat_sockets_next(&rest, &socket))
		fn(arg, &socket);
	return HIWAT_OK;
}

void
dns_place_processes(struct fetch *f, const char *proc_dir, dns_place_process_fn *fn, void *arg)
{
	static const char *const argv[] = { "/bin/ps", "-ax", "-o", "comm=", NULL };
	struct text rest, line;

	(void)proc_dir;
	if (fetch_run(f, argv, DEADLINE_MS, &rest) != HIWAT_OK)
		return;
	while (text_line(&rest, &line, NULL)) {
		if (!fn(arg, text_trim(line)))
			return;
	}
}
