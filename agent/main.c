/* hiwat-agent: the table of its subcommands. */
#include "cmd.h"

#include <stddef.h>

static const struct command commands[] = {
	{ "check-config", "tell what is wrong with the configuration", cmd_check_config_usage, cmd_check_config },
	{ "doctor", "tell what can be read on this host and what to grant", cmd_doctor_usage, cmd_doctor },
	{ "ledger", "tell what became of the batches", cmd_ledger_usage, cmd_ledger },
	{ "maintenance", "ask the collectors to keep still about this host for a while", cmd_maintenance_usage,
	    cmd_maintenance },
	{ "once", "sample everything now and print its series", cmd_once_usage, cmd_once },
	{ "run", "sample and deliver until told to end", cmd_run_usage, cmd_run },
	{ "parse", "read a saved output and print its series", cmd_parse_usage, cmd_parse },
	{ 0 },
};

int
main(int argc, char **argv)
{
	return command_main("hiwat-agent", commands, argc, argv);
}
