/* hiwat-collector: the table of its subcommands. */
#include "cmd.h"

#include <stddef.h>

static const struct command commands[] = {
	{ "run", "collect, judge, alert", cmd_run_usage, cmd_run },
	{ "check", "judge a saved output as hiwat-agent parse prints it", cmd_check_usage, cmd_check },
	{ "check-config", "check the configuration and the rules it names", cmd_check_config_usage, cmd_check_config },
	{ "rules", "check, list, explain and test rules", cmd_rules_usage, cmd_rules },
	{ "replay", "judge what was recorded by these or other rules", cmd_replay_usage, cmd_replay },
	{ "routes", "where an incident would go, and a test of a route", cmd_routes_usage, cmd_routes },
	{ "top", "what runs out next, host by host", cmd_top_usage, cmd_top },
	{ "alerts", "open incidents; take them over", cmd_alerts_usage, cmd_alerts },
	{ "explain", "all that is known of an incident, and what to do", cmd_explain_usage, cmd_explain },
	{ "silence", "keep incidents from being told, for a time", cmd_silence_usage, cmd_silence },
	{ "advice", "what to change on a host", cmd_advice_usage, cmd_advice },
	{ "ledger", "batches received, host by host", cmd_ledger_usage, cmd_ledger },
	{ 0 },
};

int
main(int argc, char **argv)
{
	return command_main("hiwat-collector", commands, argc, argv);
}
