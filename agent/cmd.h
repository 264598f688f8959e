/* The subcommands of hiwat-agent. Each is one file cmd_NAME.c and one row of the table in main.c. */
#ifndef HIWAT_AGENT_CMD_H
#define HIWAT_AGENT_CMD_H

#include "command.h"

int cmd_check_config(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_ledger(int argc, char **argv);
int cmd_maintenance(int argc, char **argv);
int cmd_once(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_parse(int argc, char **argv);

extern const char cmd_check_config_usage[];
extern const char cmd_doctor_usage[];
extern const char cmd_ledger_usage[];
extern const char cmd_maintenance_usage[];
extern const char cmd_once_usage[];
extern const char cmd_run_usage[];
extern const char cmd_parse_usage[];

#endif
