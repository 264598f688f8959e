#include "cmd.h"

#include <getopt.h>
#include <stdio.h>

#include "buf.h"
#include "config.h"
#include "diag.h"
#include "clock.h"
#include "err.h"
#include "preflight.h"
#include "routes.h"
#include "rule.h"

const char cmd_check_config_usage[] =
    "usage: hiwat-collector check-config [-c FILE] [--sample]\n"
    "Checks the configuration and the rules it names, and tells every mistake with file, line and column. The largest "
    "incident\n"
    "that there can be is rendered for each route and held against what its receiver takes; nothing is sent.\n"
    "\n"
    "  -c FILE   the configuration (" COLLECTOR_CONFIG_DEFAULT ")\n"
    "  --sample  print a configuration with every option, commented, and its default\n"
    "\n"
    "exit status: 0 all is well, 2 mistakes, or wrong usage.\n";

static int
print_sample(void)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	conf_write_sample(&collector_schema, &out);
	fputs("# Configuration of hiwat-collector. Every option is shown with its default, or with an example where it has "
	      "none.\n",
	    stdout);
	fputs(buf_str(&out), stdout);
	buf_fini(&out);
	return cmd_finish_output("check-config");
}

/* That what the routes would send is within what their receivers take. */
static bool
check_routes(const struct collector_config *config, struct buf *errors)
{
	struct routes routes;
	int err = routes_init(&routes, config, clock_wall_ns());

	if (err != HIWAT_OK) {
		buf_printf(errors, "routes: %s\n", err_text(err));
		return false;
	}
	bool ok = preflight_routes(&routes, errors);
	routes_fini(&routes);
	return ok;
}

static int
check(const char *path)
{
	struct collector_config config;
	struct rule_set *rules = NULL;
	struct diag diag;
	struct buf errors;
	int status = CMD_USAGE;

	diag_init(&diag);
	buf_init(&errors, 1 << 20);
	if (collector_config_load(path, &config, &diag) != HIWAT_OK) {
		fputs(diag_text(&diag), stderr);
		goto out;
	}
	int err = collector_config_rules(&config, &rules, &errors);
	if (!check_routes(&config, &errors) || err != HIWAT_OK) {
		fputs(buf_str(&errors), stderr);
	} else {
		printf("%s: ok, %zu rules from %s, %zu routes\n", path, rule_set_count(rules), config.rules_dir,
		    config.routes.n);
		status = cmd_finish_output("check-config");
	}
	rule_set_free(rules);
	collector_config_free(&config);
out:
	diag_fini(&diag);
	buf_fini(&errors);
	return status;
}

int
cmd_check_config(int argc, char **argv)
{
	static const struct option long_options[] = { { "sample", no_argument, NULL, 's' }, { 0 } };
	const char *path = COLLECTOR_CONFIG_DEFAULT;
	int c;

	while ((c = getopt_long(argc, argv, "c:", long_options, NULL)) != -1) {
		switch (c) {
		case 'c':
			path = optarg;
			break;
		case 's':
			return print_sample();
		default:
			return cmd_usage_error(argv[0], "see the message above");
		}
	}
	if (optind < argc)
		return cmd_usage_error(argv[0], "unexpected argument '%s'", argv[optind]);
	return check(path);
}
