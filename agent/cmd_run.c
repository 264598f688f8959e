#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "diag.h"
#include "err.h"
#include "run.h"

const char cmd_run_usage[] =
    "usage: hiwat-agent run [-c FILE]\n"
    "Samples this host and delivers to the collectors that the configuration (" AGENT_CONFIG_DEFAULT ") names, in the\n"
    "foreground, with its messages on standard error. Without -c a missing file means the defaults: samples are kept until\n"
    "there is a collector. SIGTERM delivers what it can and ends, SIGHUP reads the configuration again.\n"
    "\n"
    "exit status: 0 told to end, 2 the configuration is not valid or wrong usage, 3 it cannot start.\n";

int
cmd_run(int argc, char **argv)
{
	const char *path = NULL;
	struct diag diag;

	if (argc == 3 && strcmp(argv[1], "-c") == 0)
		path = argv[2];
	else if (argc != 1)
		return cmd_usage_error(argv[0], "expected -c FILE or nothing");
	struct agent_config *config = calloc(1, sizeof(*config));
	if (config == NULL) {
		fprintf(stderr, "hiwat-agent run: %s\n", err_text(HIWAT_E_NOMEM));
		return CMD_UNUSABLE;
	}
	diag_init(&diag);
	int err = agent_config_load(path, config, &diag);
	if (err != 0) {
		fputs(diag.n > 0 ? diag_text(&diag) : err_text(err), stderr);
		diag_fini(&diag);
		free(config);
		return CMD_USAGE;
	}
	diag_fini(&diag);
	return agent_run(path, config);
}
