/*
 * unveil(2): everything is readable as far as permissions go, since statvfs(2) of a file system needs to see its mount
 * point; only the state directory and that of recordings can be written to, only the samplers' programs run. Programs do not inherit this.
 *
 * No pledge(2) for the running agent: under any promise sysctl(2) answers but a short list of variables
 * (sys/kern/kern_pledge.c, pledge_sysctl()), and most of what the samplers read is not on it; os/README.md has the list.
 * The first of them would end the agent. A parser of saved outputs is pledged.
 */
#include "confine.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "err.h"

static const char *const samplers_programs[] = { "/bin/ps", "/sbin/pfctl", "/usr/bin/doas", "/usr/bin/netstat",
	"/usr/bin/vmstat" };
static const char unbound_socket[] = "/var/run/unbound.sock"; /* of the base system */

/* What does not exist need not be reached. */
static bool
allow(const char *path, const char *permissions)
{
	return unveil(path, permissions) == 0 || errno == ENOENT;
}

int
confine(const struct confine_options *options)
{
	bool ok = allow("/", "r") && allow("/dev/null", "rw") && allow(unbound_socket, "rw");

	for (size_t i = 0; i < sizeof(samplers_programs) / sizeof(samplers_programs[0]); i++)
		ok = ok && allow(samplers_programs[i], "rx");
	for (size_t i = 0; i < options->n_programs; i++)
		ok = ok && allow(options->programs[i], "rx");
	for (size_t i = 0; i < options->n_sockets; i++)
		ok = ok && allow(options->sockets[i], "rw");
	if (options->state_dir != NULL)
		ok = ok && allow(options->state_dir, "rwc");
	if (options->record_dir != NULL)
		ok = ok && allow(options->record_dir, "rwc");
	return ok && unveil(NULL, NULL) == 0 ? HIWAT_OK : HIWAT_E_SYS;
}

int
confine_parser(bool opens_files)
{
	return pledge(opens_files ? "stdio rpath" : "stdio", NULL) == 0 ? HIWAT_OK : HIWAT_E_SYS;
}
