/* The subcommands of hiwat-collector. Each is one file cmd_NAME.c and one row of the table in main.c. */
#ifndef HIWAT_COLLECTOR_CMD_H
#define HIWAT_COLLECTOR_CMD_H

#include "command.h"

int cmd_advice(int argc, char **argv);
int cmd_alerts(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_ledger(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_check_config(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_routes(int argc, char **argv);
int cmd_rules(int argc, char **argv);
int cmd_silence(int argc, char **argv);
int cmd_top(int argc, char **argv);

extern const char cmd_advice_usage[];
extern const char cmd_alerts_usage[];
extern const char cmd_explain_usage[];
extern const char cmd_ledger_usage[];
extern const char cmd_run_usage[];
extern const char cmd_check_usage[];
extern const char cmd_check_config_usage[];
extern const char cmd_replay_usage[];
extern const char cmd_routes_usage[];
extern const char cmd_rules_usage[];
extern const char cmd_silence_usage[];
extern const char cmd_top_usage[];

#endif
