/* What the programs' command lines have in common: PROGRAM COMMAND [ARGUMENT ...], help, version, exit statuses. */
#ifndef HIWAT_BASE_COMMAND_H
#define HIWAT_BASE_COMMAND_H

/* Exit statuses besides 0. 1 and 2 of a command that judges a host are its own business, see that command. */
enum {
	CMD_USAGE = 2,    /* the command line or the configuration is wrong; nothing was done */
	CMD_UNUSABLE = 3, /* the input cannot be used; the reason is on standard error */
};

/* A subcommand; argv[0] is its own name, the value returned is the exit status. */
struct command {
	const char *name;
	const char *help;  /* one line for the list */
	const char *usage; /* what `help NAME` and `NAME --help` print */
	int (*run)(int argc, char **argv);
};

/*
 * Finds the command and runs it; knows help, version and their options by itself. commands ends in a row without a name.
 * program is kept for messages. Returns the exit status.
 */
int command_main(const char *program, const struct command *commands, int argc, char **argv);

/* "PROGRAM NAME: ..." and a hint to the help on standard error; returns CMD_USAGE. */
int cmd_usage_error(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Flushes standard output: 0, or CMD_UNUSABLE with a message when it could not be written. */
int cmd_finish_output(const char *command);

#endif
