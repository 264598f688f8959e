/* hiwat-agent: finds the subcommand and hands over to it. */
#include "cmd.h"

#include <stdio.h>
#include <string.h>

static const struct command {
	const char *name;
	const char *help;
	const char *usage;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "parse", "read a saved output and print its series", cmd_parse_usage, cmd_parse },
	{ "version", "print the version", cmd_version_usage, cmd_version },
	{ 0 },
};

static const struct command *
command_find(const char *name)
{
	for (const struct command *c = commands; c->name != NULL; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

static void
print_help(FILE *out)
{
	fputs("usage: hiwat-agent COMMAND [ARGUMENT ...]\n\ncommands:\n", out);
	for (const struct command *c = commands; c->name != NULL; c++)
		fprintf(out, "  %-14s %s\n", c->name, c->help);
	fputs("  help [COMMAND] print this, or how a command is used\n\n"
	      "exit status: 0 success, 2 wrong usage, 3 the input cannot be used; commands that judge a host say more in\n"
	      "their own help.\n", out);
}

static int
help(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stdout);
		return cmd_finish_output("help");
	}
	const struct command *c = command_find(argv[1]);
	if (c == NULL)
		return cmd_usage_error("help", "unknown command '%s'", argv[1]);
	fputs(c->usage, stdout);
	return cmd_finish_output("help");
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return CMD_USAGE;
	}
	const char *name = argv[1];
	if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return help(argc - 1, argv + 1);
	if (strcmp(name, "--version") == 0)
		name = "version";
	const struct command *c = command_find(name);
	if (c == NULL) {
		fprintf(stderr, "hiwat-agent: unknown command '%s'; see hiwat-agent help\n", name);
		return CMD_USAGE;
	}
	if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
		fputs(c->usage, stdout);
		return cmd_finish_output(c->name);
	}
	return c->run(argc - 1, argv + 1);
}
