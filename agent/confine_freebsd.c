/*
 * The running agent gives up nothing. Capsicum's capability mode has no global names: no path to open, no address to connect to, no program to run and
 * of sysctl(3) only what is marked for it, which hw.intrcnt, kern.devstat.all and kern.msgbuf are not. Each of these would
 * have to go through a process outside that does it on request, which leaves the agent as powerful as before. What limits
 * it is its user: it runs as one that owns nothing but its state directory. A parser of saved outputs needs none of that.
 */
#include "confine.h"

#include <errno.h>
#include <sys/capsicum.h>

#include "err.h"

int
confine(const struct confine_options *options)
{
	(void)options;
	return HIWAT_OK;
}

/* A kernel without Capsicum says so, and is no reason to read nothing. */
int
confine_parser(bool opens_files)
{
	return opens_files || cap_enter() == 0 || errno == ENOSYS ? HIWAT_OK : HIWAT_E_SYS;
}
