/*
 * The subcommands of hiwat-agent. Each is one file cmd_NAME.c and one row of the table in main.c. argv[0] is the
 * subcommand's own name; the value returned is the exit status.
 */
#ifndef HIWAT_AGENT_CMD_H
#define HIWAT_AGENT_CMD_H

/* Exit statuses besides 0. 1 and 2 of a command that judges a host are its own business, see that command. */
enum {
	CMD_USAGE = 2,    /* the command line is wrong; nothing was done */
	CMD_UNUSABLE = 3, /* the input cannot be used; the reason is on standard error */
};

int cmd_parse(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* What `help NAME` and `NAME --help` print. */
extern const char cmd_parse_usage[];
extern const char cmd_version_usage[];

/* "hiwat-agent NAME: ..." and a hint to --help on standard error; returns CMD_USAGE. */
int cmd_usage_error(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Flushes standard output: 0, or CMD_UNUSABLE with a message when it could not be written. */
int cmd_finish_output(const char *command);

#endif
