#include "cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
cmd_usage_error(const char *command, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "hiwat-agent %s: ", command);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; see hiwat-agent help %s\n", command);
	return CMD_USAGE;
}

int
cmd_finish_output(const char *command)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	fprintf(stderr, "hiwat-agent %s: standard output: %s\n", command, strerror(errno));
	return CMD_UNUSABLE;
}
