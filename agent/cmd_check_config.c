#include "cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "confine.h"
#include "diag.h"
#include "err.h"

const char cmd_check_config_usage[] =
    "usage: hiwat-agent check-config [-c FILE]\n"
    "       hiwat-agent check-config --sample\n"
    "Reads the configuration (" AGENT_CONFIG_DEFAULT ") and tells everything that is wrong with it, with line and column.\n"
    "--sample prints a file with every option, its meaning and its default.\n"
    "\n"
    "exit status: 0 valid, 2 not valid or wrong usage.\n";

static int
print_sample(const char *command)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	conf_write_sample(&agent_schema, &out);
	fputs("# Configuration of hiwat-agent. Every option is shown with its default, or with an example where it has "
	      "none.\n",
	    stdout);
	fputs(buf_str(&out), stdout);
	buf_fini(&out);
	return cmd_finish_output(command);
}

/* Files that cannot be read now: no error, since another user may check than the one that runs the agent. */
static void
warn_unreadable(const char *key, const char *path)
{
	if (path != NULL && access(path, R_OK) != 0)
		fprintf(stderr, "hiwat-agent check-config: warning: %s: %s cannot be read by this user\n", key, path);
}

int
cmd_check_config(int argc, char **argv)
{
	struct agent_config config;
	struct diag diag;
	const char *path = NULL;

	if (argc == 2 && strcmp(argv[1], "--sample") == 0)
		return print_sample(argv[0]);
	if (argc == 3 && strcmp(argv[1], "-c") == 0)
		path = argv[2];
	else if (argc != 1)
		return cmd_usage_error(argv[0], "expected -c FILE or nothing");
	if (confine_parser(true) != HIWAT_OK) {
		fprintf(stderr, "hiwat-agent check-config: cannot confine this process\n");
		return CMD_USAGE;
	}
	diag_init(&diag);
	int err = agent_config_load(path != NULL ? path : AGENT_CONFIG_DEFAULT, &config, &diag);
	if (err != 0) {
		fputs(diag.n > 0 ? diag_text(&diag) : err_text(err), stderr);
		diag_fini(&diag);
		return CMD_USAGE;
	}
	warn_unreadable("tls.ca_file", config.ca_file);
	warn_unreadable("tls.cert_file", config.cert_file);
	warn_unreadable("tls.key_file", config.key_file);
	warn_unreadable("token_file", config.token_file);
	printf("%s: valid\n", path != NULL ? path : AGENT_CONFIG_DEFAULT);
	agent_config_free(&config);
	diag_fini(&diag);
	return cmd_finish_output(argv[0]);
}
