/*
 * Nothing. Capsicum's capability mode has no global names: no path to open, no address to connect to, no program to run and
 * of sysctl(3) only what is marked for it, which hw.intrcnt, kern.devstat.all and kern.msgbuf are not. Each of these would
 * have to go through a process outside that does it on request, which leaves the agent as powerful as before. What limits
 * it is its user: it runs as one that owns nothing but its state directory.
 */
#include "confine.h"

#include "err.h"

int
confine(const struct confine_options *options)
{
	(void)options;
	return HIWAT_OK;
}
