/* hiwat-collector rules: check, list, explain. */
#include "cmd.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "audit.h"
#include "buf.h"
#include "client.h"
#include "cmd_rules_export.h"
#include "config.h"
#include "delivered.h"
#include "diag.h"
#include "err.h"
#include "rule.h"
#include "rules_test.h"

const char cmd_rules_usage[] =
    "usage: hiwat-collector rules check FILE|DIRECTORY ...\n"
    "       hiwat-collector rules [-r RULES] list [--evaluable OS]\n"
    "       hiwat-collector rules [-r RULES] explain ID [-c FILE] [-n HOST] [-l NAME=VALUE] [-u URL]\n"
    "       hiwat-collector rules [-r RULES] [-a AGENT] [--coverage] test FILE ...\n"
    "       hiwat-collector rules [-r RULES] [-c FILE] export --prometheus [--list-missing]\n"
    "check tells every mistake with file, line and column; list prints all rules and all rows of the audit's profiles, one\n"
    "a line; explain prints where a rule comes from, why it is there, what to do when it fires, and its figures, on\n"
    "request as they hold for one host; test runs the cases of files: series over time, or saved outputs, and what the\n"
    "rules must say of them (hiwat-rules(5)); export writes alerting rules for Prometheus 2.42 and later.\n"
    "\n"
    "  -r RULES       directory or file of rules (" COLLECTOR_RULES_DEFAULT ")\n"
    "  --evaluable OS only those that no sampler feeds on freebsd, linux or openbsd, and what they lack\n"
    "  -c FILE        rules and overrides of this configuration\n"
    "  -n, --host HOST\n"
    "                 figures as they hold for the host of this name\n"
    "  -l NAME=VALUE  that has this label; may be repeated\n"
    "  -u URL         its labels are asked of the running collector there, as " CLIENT_URL_DEFAULT "\n"
    "  -a AGENT       the program whose parsers read saved outputs (hiwat-agent beside this program, else in PATH)\n"
    "  --coverage     also print which kinds of cases each rule has: it fires, it does not, both sides of its threshold,\n"
    "                 it resolves, it is unknown, it fires from the bytes of an output\n"
    "  --prometheus   what to export to\n"
    "  --list-missing\n"
    "                 instead print a line for each rule or level that is not exported, with the reason\n"
    "\n"
    "exit status: 0 ok, 1 mistakes in the rules, no such rule or host, a case that failed or with --coverage one that is\n"
    "missing, 2 wrong usage or mistakes in a file of cases.\n";

#define LABELS_MAX 64

/* For whom figures are told. */
struct subject {
	struct host_view view; /* name NULL: nobody */
	struct sample_label labels[LABELS_MAX];
	json_t *answer; /* owns the labels of a host that was asked for */
};

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
	for (size_t i = 0; i < profile_count(rules); i++) {
		const struct profile *p = profile_get(rules, i);
		for (uint32_t r = 0; r < p->n_rows; r++)
			printf("%-44s %-8s %s\n", p->rows[r].id, p->os, p->rows[r].doc);
	}
}

/* The rules that no sampler of the system feeds. */
static int
list_unfed(const struct rule_set *rules, const char *os)
{
	const struct delivered *d = delivered_find(rules, os);
	unsigned n = 0;

	if (d == NULL) {
		fprintf(stderr, "hiwat-collector rules: the rules do not tell what samplers deliver on '%s'\n", os);
		return 1;
	}
	for (size_t i = 0; i < rule_set_count(rules); i++) {
		const struct rule *r = rule_set_get(rules, i);
		struct buf missing;
		buf_init(&missing, 8192);
		if (!delivered_feeds(rules, d, r, &missing)) {
			printf("%-28s lacks %s\n", r->id, missing.len > 0 ? buf_str(&missing) : "a system of its kind");
			n++;
		}
		buf_fini(&missing);
	}
	printf("%zu of %zu rules can be judged on %s\n", rule_set_count(rules) - n, rule_set_count(rules), os);
	return 0;
}

static void
print_figures(const struct rule *r, const struct subject *s)
{
	const char *name;
	double value;

	for (size_t i = 0; (name = rule_figure(r, i, &value)) != NULL; i++) {
		printf("  %-12s %s: %.15g", i == 0 ? "figures" : "", name, value);
		if (s->view.name != NULL && rule_figure_on(r, i, &s->view) != value)
			printf(", on %s %.15g", s->view.name, rule_figure_on(r, i, &s->view));
		putchar('\n');
	}
	if (s->view.name != NULL && rule_is_off(r, &s->view))
		printf("  %-12s switched off on %s\n", "state", s->view.name);
}

static void
explain_row(const struct rule_set *rules, const struct profile_row *row, const struct profile *p, const struct subject *s)
{
	static const char *const needs[] = { "at least", "at most", "equal to" };
	const struct setting *setting = setting_find(rules, p->os, row->name);

	printf("%s (%s:%u)\n", row->id, p->file, p->line);
	printf("  %-12s %s of %s\n", "setting", row->name, setting_os_title(p->os));
	printf("  %-12s %s\n", "document", row->doc);
	printf("  %-12s %s\n", "threshold", row->is_ours ? "ours" : "document");
	for (unsigned i = 0; i < row->n_params; i++) {
		double value = profile_number(rules, row, i, NULL);
		printf("  %-12s %s %.15g", i == 0 ? "value" : "", needs[row->need], value);
		if (s->view.name != NULL && profile_number(rules, row, i, &s->view) != value)
			printf(", on %s %.15g", s->view.name, profile_number(rules, row, i, &s->view));
		putchar('\n');
	}
	if (row->per_connection > 0)
		printf("  %-12s or %g for each established connection, up to a power of two\n", "", row->per_connection);
	if (row->why[0] != '\0')
		printf("  %-12s %s\n", "reason", row->why);
	if (setting != NULL && (setting->removed[0] != '\0' || setting->automatic[0] != '\0'))
		printf("  %-12s %s %s: %s\n", setting->removed[0] != '\0' ? "gone since" : "automatic",
		    setting_os_title(p->os), setting->removed[0] != '\0' ? setting->removed : setting->automatic,
		    setting->why);
}

static int
explain(const struct rule_set *rules, const char *id, const struct subject *s)
{
	const struct rule *r = rule_set_find(rules, id);
	const struct profile *p;
	const struct profile_row *row;
	unsigned n = 0;

	while (r == NULL && (row = profile_row_find(rules, id, n, &p)) != NULL) {
		explain_row(rules, row, p, s);
		n++;
	}
	if (r == NULL && n == 0)
		fprintf(stderr, "hiwat-collector rules: no rule %s; rules list prints all\n", id);
	if (r == NULL)
		return n == 0;
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
	print_figures(r, s);
	return 0;
}

/* The host's name and labels as the collector at base has them. */
static int
ask_host(struct subject *s, const char *base)
{
	struct client *client = client_new("rules", base);
	struct buf path;
	const char *name;
	json_t *value;

	buf_init(&path, 4096);
	buf_printf(&path, "/api/v1/hosts/%s", s->view.name);
	s->answer = client != NULL ? client_get(client, buf_str(&path)) : NULL;
	buf_fini(&path);
	client_free(client);
	if (s->answer == NULL)
		return HIWAT_E_MISSING;
	s->view.name = json_string_value(json_object_get(s->answer, "name"));
	json_object_foreach (json_object_get(s->answer, "labels"), name, value) {
		if (s->view.n_host_labels < LABELS_MAX && json_is_string(value))
			s->labels[s->view.n_host_labels++] = (struct sample_label){ name, json_string_value(value) };
	}
	return s->view.name != NULL ? HIWAT_OK : HIWAT_E_MISSING;
}

/* text is an argument: it is cut at the sign. */
static bool
add_label(struct subject *s, char *text)
{
	char *equals = strchr(text, '=');

	if (equals == NULL || equals == text || s->view.n_host_labels == LABELS_MAX)
		return false;
	*equals = '\0';
	s->labels[s->view.n_host_labels++] = (struct sample_label){ text, equals + 1 };
	if (s->view.name == NULL)
		s->view.name = "such a host";
	return true;
}

/* The rules of a configuration with its overrides. */
static struct rule_set *
load_config(const char *path)
{
	struct collector_config config;
	struct rule_set *rules = NULL;
	struct diag diag;
	struct buf errors;

	diag_init(&diag);
	buf_init(&errors, 1 << 20);
	if (collector_config_load(path, &config, &diag) == HIWAT_OK) {
		if (collector_config_rules(&config, &rules, &errors) != HIWAT_OK)
			rules = NULL;
		collector_config_free(&config);
	}
	fputs(diag_text(&diag), stderr);
	fputs(buf_str(&errors), stderr);
	buf_fini(&errors);
	diag_fini(&diag);
	return rules;
}

/* Words of the command line, and what they say. */
struct options {
	const char *rules, *config, *base, *agent, *os;
	bool coverage, list_missing, prometheus;
	struct subject subject;
};

/* HIWAT_OK, or the exit status after a message. */
static int
read_options(int argc, char **argv, struct options *o)
{
	static const struct option long_options[] = {
		{ "coverage", no_argument, NULL, 'C' },
		{ "evaluable", required_argument, NULL, 'E' },
		{ "host", required_argument, NULL, 'n' },
		{ "list-missing", no_argument, NULL, 'M' },
		{ "prometheus", no_argument, NULL, 'P' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "a:c:l:n:r:u:", long_options, NULL)) != -1) {
		switch (c) {
		case 'a':
			o->agent = optarg;
			break;
		case 'c':
			o->config = optarg;
			break;
		case 'C':
			o->coverage = true;
			break;
		case 'E':
			o->os = optarg;
			break;
		case 'l':
			if (!add_label(&o->subject, optarg))
				return cmd_usage_error(argv[0], "-l wants NAME=VALUE, at most %d times", LABELS_MAX);
			break;
		case 'M':
			o->list_missing = true;
			break;
		case 'n':
			o->subject.view.name = optarg;
			break;
		case 'P':
			o->prometheus = true;
			break;
		case 'r':
			o->rules = optarg;
			break;
		case 'u':
			o->base = optarg;
			break;
		default:
			return cmd_usage_error(argv[0], "see the message above");
		}
	}
	if (o->base != NULL && o->subject.view.name == NULL)
		return cmd_usage_error(argv[0], "-u needs the host's name, -n HOST");
	return HIWAT_OK;
}

static int
show(struct options *o, const char *id)
{
	struct rule_set *rules = o->config != NULL ? load_config(o->config) : load(o->rules);
	int status = 1;

	if (rules != NULL && id == NULL && o->os != NULL) {
		status = list_unfed(rules, o->os);
	} else if (rules != NULL && id == NULL) {
		list(rules);
		status = 0;
	} else if (rules != NULL && (o->base == NULL || ask_host(&o->subject, o->base) == HIWAT_OK)) {
		status = explain(rules, id, &o->subject);
	}
	json_decref(o->subject.answer);
	rule_set_free(rules);
	return status;
}

static int export(const struct options *o)
{
	struct rule_set *rules = o->config != NULL ? load_config(o->config) : load(o->rules);
	int status = rules != NULL ? cmd_rules_export(rules, o->list_missing) : 1;

	rule_set_free(rules);
	return status;
}

int
cmd_rules(int argc, char **argv)
{
	struct options o = { .rules = COLLECTOR_RULES_DEFAULT };

	o.subject.view.host_labels = o.subject.labels;
	int status = read_options(argc, argv, &o);
	if (status != HIWAT_OK)
		return status;
	argc -= optind;
	char **rest = argv + optind;
	if (argc > 0 && strcmp(rest[0], "check") == 0)
		return check(argc - 1, rest + 1);
	if (argc > 0 && strcmp(rest[0], "test") == 0)
		return argc > 1 ? rules_test(o.rules, o.agent, o.coverage, argc - 1, rest + 1)
				: cmd_usage_error(argv[0], "test needs a file of cases");
	if (argc == 1 && strcmp(rest[0], "list") == 0)
		status = show(&o, NULL);
	else if (argc == 2 && strcmp(rest[0], "explain") == 0)
		status = show(&o, rest[1]);
	else if (argc == 1 && strcmp(rest[0], "export") == 0 && o.prometheus)
		status = export(&o);
	else
		return cmd_usage_error(argv[0],
		    "what to do: check FILE ..., list, explain ID, test FILE ..., or export --prometheus");
	return cmd_finish_output(argv[0]) != 0 ? 1 : status;
}
