/*
 * No program that the agent runs gains privileges by its mode bits. File systems, system calls and capabilities are taken
 * away by the unit file that starts it (deploy/systemd), which works for whatever libraries do.
 */
#include "confine.h"

#include <sys/prctl.h>

#include "err.h"

static int
no_new_privileges(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? HIWAT_OK : HIWAT_E_SYS;
}

int
confine(const struct confine_options *options)
{
	(void)options;
	return no_new_privileges();
}

int
confine_parser(bool opens_files)
{
	(void)opens_files;
	return no_new_privileges();
}
