/* hiwat-collector check: the rules on one set of values, without history. */
#include "cmd.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "err.h"
#include "promtext.h"
#include "rule.h"

#define INPUT_MAX (64u << 20)
#define NOT_JUDGED_MAX 256

const char cmd_check_usage[] =
    "usage: hiwat-agent parse KIND FILE | hiwat-collector check [-r RULES] [-v] [FILE]\n"
    "Judges values in Prometheus text, as hiwat-agent parse and hiwat-agent once print them, by the rules. There is no\n"
    "history: `for` is ignored up to a day, rules on rates, trends and ages are not judged. Counters of refusals above 0 "
    "warn, since boot.\n"
    "\n"
    "  -r RULES  directory or file of rules (" COLLECTOR_RULES_DEFAULT ")\n"
    "  -v        also name the rules that need history\n"
    "\n"
    "exit status: 0 ok, 1 warning, 2 critical, 3 nothing could be judged (the reason is on standard error).\n";

struct report {
	const struct host_view *view;
	unsigned n_not_judged;
	const char *not_judged[NOT_JUDGED_MAX];
};

static void
print_event(void *arg, const struct rule_event *event)
{
	struct report *r = arg;
	struct buf text;

	buf_init(&text, 65536);
	buf_printf(&text, "%s: %s", rule_level_word(event->level), event->rule->id);
	unsigned n;
	const struct sample_label *labels = labels_get(r->view->labels, event->labels, &n);
	if (n > 0)
		series_write(&text, "", labels, n);
	buf_puts(&text, ": ");
	rule_render(event->rule->summary, event, r->view, &text);
	if (event->rule->remedy[0] != '\0') {
		buf_puts(&text, "\n    remedy: ");
		size_t start = text.len;
		rule_render(event->rule->remedy, event, r->view, &text);
		for (size_t i = start; i < text.len; i++) {
			if (text.data[i] == '\n')
				text.data[i] = ' ';
		}
	}
	buf_putc(&text, '\n');
	fputs(buf_str(&text), stdout);
	buf_fini(&text);
}

static void
note_not_judged(void *arg, const struct rule *rule)
{
	struct report *r = arg;

	if (r->n_not_judged < NOT_JUDGED_MAX)
		r->not_judged[r->n_not_judged] = rule->id;
	r->n_not_judged++;
}

static int
read_input(const char *path, struct buf *out)
{
	FILE *f = path != NULL && strcmp(path, "-") != 0 ? fopen(path, "re") : stdin;

	if (f == NULL)
		return HIWAT_E_SYS;
	int err = buf_read(out, f);
	if (f != stdin)
		fclose(f);
	return err;
}

static int
fail(const char *what, const char *why)
{
	fprintf(stderr, "hiwat-collector check: %s: %s\n", what, why);
	return CMD_UNUSABLE;
}

/* The system that the values speak of, for remedies: what hiwat_agent_info says, else unknown. */
static const char *
os_of(const struct promtext *text, const struct labels *labels)
{
	int id = catalogue_find("hiwat_agent_info", strlen("hiwat_agent_info"));

	for (uint32_t i = 0; i < text->n_values; i++) {
		if (text->values[i].metric == id) {
			const char *os = labels_value(labels, text->values[i].labels, "os");
			return os != NULL ? os : "";
		}
	}
	return "";
}

static int
judge(struct rule_set *rules, const struct promtext *text, struct labels *labels, const char *name, bool verbose)
{
	struct sample_set set = {
		.sampler = "check",
		.reason = "",
		.shape = 1,
		.n_values = text->n_values,
		.values = text->values,
	};
	struct host_view view = {
		.labels = labels,
		.name = "this host",
		.os = os_of(text, labels),
		.release = "",
		.n_sets = 1,
		.sets = &set,
	};
	struct report report = { .view = &view };
	unsigned judged = 0;

	enum rule_level level = rules_check(rules, &view, labels, print_event, note_not_judged, &report, &judged);
	if (judged == 0)
		return fail(name, text->n_values == 0 ? "no values in it" : "no rule judges these values");
	printf("%s: %u rules judged, %u need history\n",
	    level == RULE_LEVEL_CRITICAL      ? "CRITICAL"
		: level == RULE_LEVEL_WARNING ? "WARNING"
					      : "OK",
	    judged, report.n_not_judged);
	for (unsigned i = 0; verbose && i < report.n_not_judged && i < NOT_JUDGED_MAX; i++)
		printf("not judged: %s\n", report.not_judged[i]);
	if (cmd_finish_output("check") != 0)
		return CMD_UNUSABLE;
	return level == RULE_LEVEL_CRITICAL ? 2 : level == RULE_LEVEL_WARNING ? 1 : 0;
}

int
cmd_check(int argc, char **argv)
{
	const char *rules_path = COLLECTOR_RULES_DEFAULT, *name;
	struct rule_set *rules = NULL;
	struct labels *labels = NULL;
	struct promtext text = { 0 };
	struct buf input, errors;
	bool verbose = false;
	unsigned bad_line = 0;
	int c, status = CMD_UNUSABLE;

	while ((c = getopt(argc, argv, "r:v")) != -1) {
		switch (c) {
		case 'r':
			rules_path = optarg;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			cmd_usage_error(argv[0], "see the message above");
			return CMD_UNUSABLE; /* 2 would say critical */
		}
	}
	if (argc - optind > 1) {
		cmd_usage_error(argv[0], "unexpected argument '%s'", argv[optind + 1]);
		return CMD_UNUSABLE;
	}
	name = optind < argc ? argv[optind] : "standard input";
	buf_init(&input, INPUT_MAX);
	buf_init(&errors, 1 << 20);
	labels = labels_new(1 << 20);
	int err = read_input(argv[optind], &input);
	if (err != HIWAT_OK) {
		fail(name, err == HIWAT_E_SYS ? strerror(errno) : err_text(err));
	} else if (rule_set_load(rules_path, &rules, &errors) != HIWAT_OK) {
		fputs(buf_str(&errors), stderr);
	} else if (labels == NULL) {
		fail(name, err_text(HIWAT_E_NOMEM));
	} else if ((err = promtext_read((struct text){ buf_str(&input), input.len }, labels, &text, &bad_line)) !=
	    HIWAT_OK) {
		fprintf(stderr, "hiwat-collector check: %s:%u: %s\n", name, bad_line,
		    err == HIWAT_E_FORMAT ? "not Prometheus text" : err_text(err));
	} else {
		status = judge(rules, &text, labels, name, verbose);
	}
	free(text.values);
	rule_set_free(rules);
	labels_free(labels);
	buf_fini(&input);
	buf_fini(&errors);
	return status;
}
