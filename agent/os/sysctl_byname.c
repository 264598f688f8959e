/* Names that the kernel resolves: FreeBSD, NetBSD, DragonFly. */
#include <errno.h>
#include <sys/types.h>
#include <sys/sysctl.h>

#include "clock.h"
#include "err.h"
#include "sysctl.h"

static int
read_named(struct fetch *f, const char *name, bool has_row, int row, struct text *out)
{
	uint64_t started_ns = clock_mono_ns();
	int mib[SYSCTL_MIB_MAX];
	size_t n = SYSCTL_MIB_MAX - 1;

	if (sysctlnametomib(name, mib, &n) != 0)
		return fetch_done(f, "sysctl", name, started_ns, fetch_err(errno), errno, 0);
	if (has_row)
		mib[n++] = row;
	return sysctl_read_mib(f, name, mib, (unsigned)n, out);
}

int
sysctl_read(struct fetch *f, const char *name, struct text *out)
{
	return read_named(f, name, false, 0, out);
}

int
sysctl_read_row(struct fetch *f, const char *name, int row, struct text *out)
{
	return read_named(f, name, true, row, out);
}
