/* hiwat-collector rules: check, list, explain, test. */
#include "cmd.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "err.h"
#include "rule.h"
#include "rules_test.h"

const char cmd_rules_usage[] =
    "usage: hiwat-collector rules check FILE|DIRECTORY ...\n"
    "       hiwat-collector rules [-r RULES] list\n"
    "       hiwat-collector rules [-r RULES] explain ID\n"
    "       hiwat-collector rules [-r RULES] [-a AGENT] [--coverage] test FILE ...\n"
    "check tells every mistake with file, line and column; list prints all rules, one a line; explain prints where a\n"
    "rule comes from, why it is there, what to do when it fires, and its figures; test runs the cases of files: series\n"
    "over time, or saved outputs, and what the rules must say of them (hiwat-rules(5)).\n"
    "\n"
    "  -r RULES    directory or file of rules (" COLLECTOR_RULES_DEFAULT ")\n"
    "  -a AGENT    the program whose parsers read saved outputs (hiwat-agent beside this program, else in PATH)\n"
    "  --coverage  also print which kinds of cases each rule has: it fires, it does not, both sides of its threshold, it\n"
    "              resolves, it is unknown, it fires from the bytes of an output\n"
    "\n"
    "exit status: 0 ok, 1 mistakes in the rules, no such rule, a case that failed or with --coverage one that is\n"
    "missing, 2 wrong usage or mistakes in a file of cases.\n";

static struct rule_set *
load(const char *path)
{
	struct rule_set *rules = NULL;
	struct buf errors;

	buf_init(&errors, 1 << 20);
	if (rule_set_load(path, &rules, &errors) != HIWAT_OK) {
		fputs(buf_str(&errors), stderr);
		rules = NULL;
	}
	buf_fini(&errors);
	return rules;
}

static int
check(int argc, char **argv)
{
	int status = 0;

	if (argc == 0)
		return cmd_usage_error("rules", "check needs a file or a directory");
	for (int i = 0; i < argc; i++) {
		struct rule_set *rules = load(argv[i]);
		if (rules == NULL)
			status = 1;
		else
			printf("%s: ok, %zu rules\n", argv[i], rule_set_count(rules));
		rule_set_free(rules);
	}
	return cmd_finish_output("rules") != 0 ? 1 : status;
}

static void
list(const struct rule_set *rules)
{
	for (size_t i = 0; i < rule_set_count(rules); i++) {
		const struct rule *r = rule_set_get(rules, i);
		printf("%-28s %-12s %s\n", r->id, r->cause, r->doc);
	}
}

static int
explain(const struct rule_set *rules, const char *id)
{
	const struct rule *r = rule_set_find(rules, id);

	if (r == NULL) {
		fprintf(stderr, "hiwat-collector rules: no rule %s; rules list prints all\n", id);
		return 1;
	}
	printf("%s (%s:%u)\n", r->id, r->file, r->line);
	const struct {
		const char *name, *text;
	} rows[] = {
		{ "cause", r->cause },
		{ "document", r->doc },
		{ "threshold", r->threshold_source },
		{ "reason", r->reason },
		{ "summary", r->summary },
		{ "description", r->description },
		{ "remedy", r->remedy },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].text[0] != '\0')
			printf("  %-12s %s\n", rows[i].name, rows[i].text);
	}
	const char *name;
	double value;
	for (size_t i = 0; (name = rule_figure(r, i, &value)) != NULL; i++)
		printf("  %-12s %s: %g\n", i == 0 ? "figures" : "", name, value);
	return 0;
}

int
cmd_rules(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "coverage", no_argument, NULL, 'c' },
		{ 0 },
	};
	const char *path = COLLECTOR_RULES_DEFAULT, *agent = NULL;
	bool coverage = false;
	int c;

	while ((c = getopt_long(argc, argv, "+r:a:", long_options, NULL)) != -1) {
		switch (c) {
		case 'r':
			path = optarg;
			break;
		case 'a':
			agent = optarg;
			break;
		case 'c':
			coverage = true;
			break;
		default:
			return cmd_usage_error(argv[0], "see the message above");
		}
	}
	argc -= optind;
	char **rest = argv + optind;
	if (argc > 0 && strcmp(rest[0], "check") == 0)
		return check(argc - 1, rest + 1);
	if (argc > 0 && strcmp(rest[0], "test") == 0)
		return argc > 1 ? rules_test(path, agent, coverage, argc - 1, rest + 1)
				: cmd_usage_error(argv[0], "test needs a file of cases");
	bool is_list = argc == 1 && strcmp(rest[0], "list") == 0;
	bool is_explain = argc == 2 && strcmp(rest[0], "explain") == 0;
	if (!is_list && !is_explain)
		return cmd_usage_error(argv[0], "what to do: check FILE ..., list, explain ID, or test FILE ...");
	struct rule_set *rules = load(path);
	if (rules == NULL)
		return 1;
	int status = 0;
	if (is_list)
		list(rules);
	else
		status = explain(rules, rest[1]);
	rule_set_free(rules);
	return cmd_finish_output(argv[0]) != 0 ? 1 : status;
}
