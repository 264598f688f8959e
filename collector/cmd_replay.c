/* hiwat-collector replay: recorded batches judged again, at full speed, by the recording's clock. */
#include "cmd.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "diag.h"
#include "err.h"
#include "replay_report.h"
#include "scan.h"

#define REPORT_MAX (1u << 30)

const char cmd_replay_usage[] =
    "usage: hiwat-collector replay [-v] [-r RULES] [-c FILE] [-o text|json] [--compare RULES] [--noise-budget N]\n"
    "                              FILE|DIRECTORY ...\n"
    "Judges what agents or a collector recorded (record: in their configuration) by the rules, with the recording's clock,\n"
    "and reports the incidents that would have been. Nothing is stored, nobody is told.\n"
    "\n"
    "  -r RULES          directory or file of rules (rules_dir of the configuration; " COLLECTOR_RULES_DEFAULT ")\n"
    "  -c FILE           a collector's configuration: its overrides, rules_dir, silent_after and limits\n"
    "  -o FORM           text or json\n"
    "  -v                text: every incident too\n"
    "  --compare RULES   the same by these rules, and the difference\n"
    "  --noise-budget N  more than N pages in any seven days are a failure; a page is an incident that became critical\n"
    "\n"
    "exit status: 0 ok, 1 the noise budget is exceeded, 2 wrong usage, configuration or rules, 3 something of the "
    "recording\n"
    "could not be read (what could was judged), or nothing could.\n";

struct order {
	const char *config, *rules, *compare;
	bool json;
	struct replay_report report;
};

static int
fail(const char *what)
{
	fprintf(stderr, "hiwat-collector replay: %s\n", what);
	return CMD_UNUSABLE;
}

static int
parse_options(int argc, char **argv, struct order *o)
{
	static const struct option longs[] = {
		{ "compare", required_argument, NULL, 'C' },
		{ "noise-budget", required_argument, NULL, 'N' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "r:c:o:v", longs, NULL)) != -1) {
		switch (c) {
		case 'r':
			o->rules = optarg;
			break;
		case 'c':
			o->config = optarg;
			break;
		case 'o':
			o->json = strcmp(optarg, "json") == 0;
			if (!o->json && strcmp(optarg, "text") != 0)
				return cmd_usage_error(argv[0], "-o is text or json, not '%s'", optarg);
			break;
		case 'v':
			o->report.verbose = true;
			break;
		case 'C':
			o->compare = optarg;
			break;
		case 'N':
			o->report.has_budget = true;
			if (!text_is_u64(text_of(optarg), &o->report.budget))
				return cmd_usage_error(argv[0], "--noise-budget is a number of pages a week, not '%s'",
				    optarg);
			break;
		default:
			return cmd_usage_error(argv[0], "see the message above");
		}
	}
	return optind < argc ? 0 : cmd_usage_error(argv[0], "name recorded files, or the directory that they are in");
}

/* What the configuration says, with other rules when path is not NULL. Mistakes are on standard error. */
static int
load_verdict(struct collector_config *config, const char *path, struct replay_verdict *v)
{
	struct collector_config with_path = *config;
	struct judge_config judge = collector_config_judge(config);
	struct rule_set *rules = NULL;
	struct buf errors;
	char *copy = path != NULL ? strdup(path) : NULL;

	if (path != NULL)
		with_path.rules_dir = copy;
	buf_init(&errors, 1 << 20);
	int err = path != NULL && copy == NULL ? HIWAT_E_NOMEM : collector_config_rules(&with_path, &rules, &errors);
	fputs(buf_str(&errors), stderr);
	buf_fini(&errors);
	free(copy);
	return err == HIWAT_OK ? replay_verdict_init(v, path != NULL ? path : config->rules_dir, &judge, rules) : err;
}

static int
load_config(const char *path, struct collector_config *config)
{
	struct diag diag;

	if (path == NULL)
		return conf_defaults(&collector_schema, config);
	diag_init(&diag);
	int err = collector_config_load(path, config, &diag);
	if (err != HIWAT_OK)
		fputs(diag_text(&diag), stderr);
	diag_fini(&diag);
	return err;
}

static int
print_report(const struct order *o)
{
	const struct replay_report *r = &o->report;

	if (o->json) {
		json_t *json = replay_report_json(r);
		if (json == NULL)
			return fail(err_text(HIWAT_E_NOMEM));
		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(json);
	} else {
		struct buf out;
		buf_init(&out, REPORT_MAX);
		int err = replay_report_text(r, &out);
		fputs(buf_str(&out), stdout);
		buf_fini(&out);
		if (err != HIWAT_OK)
			return fail(err_text(err));
	}
	if (cmd_finish_output("replay") != 0)
		return CMD_UNUSABLE;
	if (replay_report_is_noisy(r))
		return 1;
	return replay_report_is_damaged(r) || r->stats->batches == 0 ? CMD_UNUSABLE : 0;
}

static int
replay(struct order *o, const char *const *paths, size_t n_paths, struct replay_verdict *verdicts, size_t n)
{
	struct replay_input *input = NULL;
	struct replay_stats stats;
	struct buf why;
	int status;

	buf_init(&why, 8192);
	int err = replay_input_open(paths, n_paths, &input, &why);
	if (err != HIWAT_OK) {
		status = fail(buf_ok(&why) && why.len > 0 ? buf_str(&why) : err_text(err));
	} else if ((err = replay_run(input, verdicts, n, &stats)) != HIWAT_OK) {
		status = fail(
		    err == HIWAT_E_FULL ? "more files overlap, or more incidents opened, than can be kept" : err_text(err));
	} else {
		o->report.input = input;
		o->report.stats = &stats;
		o->report.verdicts = verdicts;
		o->report.n = n;
		status = print_report(o);
	}
	replay_input_close(input);
	buf_fini(&why);
	return status;
}

int
cmd_replay(int argc, char **argv)
{
	struct order o = { 0 };
	struct collector_config config;
	struct replay_verdict verdicts[2] = { 0 };
	size_t n = 1;
	int status = parse_options(argc, argv, &o);

	if (status != 0)
		return status;
	if (load_config(o.config, &config) != HIWAT_OK)
		return CMD_USAGE;
	int err = load_verdict(&config, o.rules, &verdicts[0]);
	if (err == HIWAT_OK && o.compare != NULL)
		err = load_verdict(&config, o.compare, &verdicts[n++]);
	if (err == HIWAT_OK)
		status = replay(&o, (const char *const *)argv + optind, (size_t)(argc - optind), verdicts, n);
	else
		status = err == HIWAT_E_NOMEM ? fail(err_text(err)) : CMD_USAGE;
	replay_verdict_fini(&verdicts[1]);
	replay_verdict_fini(&verdicts[0]);
	collector_config_free(&config);
	return status;
}
