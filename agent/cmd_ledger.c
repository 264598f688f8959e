/* hiwat-agent ledger: what became of the batches, as the spool on disk has it. */
#include "cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "diag.h"
#include "err.h"
#include "spool.h"

const char cmd_ledger_usage[] =
    "usage: hiwat-agent ledger [-c FILE]\n"
    "Reads the spool of an agent that is not running and prints how many batches it produced and what became of them:\n"
    "produced = acknowledged + in spool + dropped_full + dropped_corrupt + rejected. A running agent sends the same in its\n"
    "records (hiwat_agent_batches_total).\n"
    "\n"
    "  -c FILE   the configuration (" AGENT_CONFIG_DEFAULT ")\n"
    "\n"
    "exit status: 0 printed, 2 the configuration is not valid or wrong usage, 3 the spool cannot be read.\n";

static int
print_counts(const struct agent_config *config)
{
	char dir[512];
	struct stat st;
	struct spool *spool = NULL;
	struct spool_counts c;

	if (snprintf(dir, sizeof(dir), "%s/spool", config->state_dir) >= (int)sizeof(dir) || stat(dir, &st) != 0) {
		fprintf(stderr, "hiwat-agent ledger: there is no spool in %s\n", config->state_dir);
		return CMD_UNUSABLE;
	}
	struct spool_options options = { .dir = dir, .max_bytes = config->spool_max_bytes };
	int err = spool_open(&options, &spool);
	if (err != HIWAT_OK) {
		fprintf(stderr, "hiwat-agent ledger: %s: %s\n", dir,
		    err == HIWAT_E_AGAIN ? "an agent is running with it" : err_text(err));
		return CMD_UNUSABLE;
	}
	spool_count(spool, &c);
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "produced", c.produced },
		{ "acknowledged", c.acknowledged },
		{ "in_spool", c.in_spool },
		{ "dropped_full", c.dropped_full },
		{ "dropped_corrupt", c.dropped_corrupt },
		{ "rejected", c.rejected },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		printf("%-16s %" PRIu64 "\n", rows[i].name, rows[i].value);
	spool_close(spool);
	return cmd_finish_output("ledger");
}

int
cmd_ledger(int argc, char **argv)
{
	const char *path = NULL;
	struct agent_config config;
	struct diag diag;

	if (argc == 3 && strcmp(argv[1], "-c") == 0)
		path = argv[2];
	else if (argc != 1)
		return cmd_usage_error(argv[0], "expected -c FILE or nothing");
	diag_init(&diag);
	int err = agent_config_load(path, &config, &diag);
	if (err != HIWAT_OK)
		fputs(diag.n > 0 ? diag_text(&diag) : err_text(err), stderr);
	diag_fini(&diag);
	if (err != HIWAT_OK)
		return CMD_USAGE;
	int status = print_counts(&config);
	agent_config_free(&config);
	return status;
}
