#include "cmd.h"

#include <stdio.h>

const char cmd_version_usage[] =
    "usage: hiwat-agent version\n"
    "Prints the program's version.\n";

int
cmd_version(int argc, char **argv)
{
	if (argc > 1)
		return cmd_usage_error(argv[0], "unexpected argument '%s'", argv[1]);
	puts("hiwat-agent " HIWAT_VERSION);
	return cmd_finish_output(argv[0]);
}
