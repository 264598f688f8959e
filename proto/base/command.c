#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *program_name = "hiwat";

int
cmd_usage_error(const char *command, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s %s: ", program_name, command);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; see %s help %s\n", program_name, command);
	return CMD_USAGE;
}

int
cmd_finish_output(const char *command)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	fprintf(stderr, "%s %s: standard output: %s\n", program_name, command, strerror(errno));
	return CMD_UNUSABLE;
}

static const struct command *
find(const struct command *commands, const char *name)
{
	for (const struct command *c = commands; c->name != NULL; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

static void
print_help(FILE *out, const struct command *commands)
{
	fprintf(out, "usage: %s COMMAND [ARGUMENT ...]\n\ncommands:\n", program_name);
	for (const struct command *c = commands; c->name != NULL; c++)
		fprintf(out, "  %-14s %s\n", c->name, c->help);
	fputs("  help [COMMAND] print this, or how a command is used\n"
	      "  version        print the version\n\n"
	      "exit status: 0 success, 2 wrong usage or configuration, 3 the input cannot be used; commands that judge a\n"
	      "host say more in their own help.\n",
	    out);
}

static int
help(const struct command *commands, int argc, char **argv)
{
	if (argc < 2) {
		print_help(stdout, commands);
		return cmd_finish_output("help");
	}
	const struct command *c = find(commands, argv[1]);
	if (c == NULL)
		return cmd_usage_error("help", "unknown command '%s'", argv[1]);
	fputs(c->usage, stdout);
	return cmd_finish_output("help");
}

static bool
is_any(const char *word, const char *a, const char *b, const char *c)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

int
command_main(const char *program, const struct command *commands, int argc, char **argv)
{
	program_name = program;
	if (argc < 2) {
		print_help(stderr, commands);
		return CMD_USAGE;
	}
	const char *name = argv[1];
	if (is_any(name, "help", "--help", "-h"))
		return help(commands, argc - 1, argv + 1);
	if (is_any(name, "version", "--version", "-V")) {
		if (argc > 2)
			return cmd_usage_error("version", "unexpected argument '%s'", argv[2]);
		printf("%s %s\n", program, HIWAT_VERSION);
		return cmd_finish_output("version");
	}
	const struct command *c = find(commands, name);
	if (c == NULL) {
		fprintf(stderr, "%s: unknown command '%s'; see %s help\n", program, name, program);
		return CMD_USAGE;
	}
	if (argc > 2 && is_any(argv[2], "--help", "-h", "-?")) {
		fputs(c->usage, stdout);
		return cmd_finish_output(c->name);
	}
	return c->run(argc - 1, argv + 1);
}
