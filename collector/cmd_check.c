/* hiwat-collector check: the rules on one set of values, without history. */
#include "cmd.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "check_report.h"
#include "config.h"
#include "err.h"
#include "promtext.h"
#include "rule.h"

#define INPUT_MAX (64u << 20)

const char cmd_check_usage[] =
    "usage: hiwat-agent parse KIND FILE | hiwat-collector check [OPTION ...] [FILE]\n"
    "Judges values in Prometheus text, as hiwat-agent parse and hiwat-agent once print them, by the rules. There is no\n"
    "history: `for` is ignored up to a day, rules on rates and trends are not judged. Counters of refusals above 0 warn,\n"
    "since boot. The first line is the verdict; then what fires and what to do, the worst first; then what counted\n"
    "something that only a later sample can judge.\n"
    "\n"
    "  -r RULES   directory or file of rules (" COLLECTOR_RULES_DEFAULT ")\n"
    "  --at TIME  when the values were taken, for rules that count from a time: now, YYYY-MM-DD, YYYY-MM-DDTHH:MM:SS\n"
    "             in UTC, or seconds since 1970; without it they are not judged\n"
    "  -o FORMAT  text or json (text)\n"
    "  -v         also say why each finding matters, and name all rules that could not be judged\n"
    "\n"
    "exit status: 0 ok, 1 warning, 2 critical, 3 nothing could be judged (the reason is on standard error).\n";

struct options {
	const char *rules;
	uint64_t at_ns; /* 0: not known */
	bool is_verbose, is_json;
};

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

/* The system that the values speak of, for remedies: what hiwat_agent_info says, else what parse was told, else unknown. */
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
	return text->os;
}

static int
judge(struct rule_set *rules, const struct promtext *text, struct labels *labels, const char *name, const struct options *o)
{
	struct sample_set set = {
		.sampler = "check",
		.reason = "",
		.wall_ns = o->at_ns,
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
	struct check_report *report = check_report_new(&view);
	unsigned judged = 0;

	if (report == NULL)
		return fail(name, err_text(HIWAT_E_NOMEM));
	struct rule_check out = { check_report_found, check_report_left, report };
	enum rule_level level = rules_check(rules, &view, labels, &out, &judged);
	int err = check_report_write(report, judged, level, o->is_verbose, o->is_json, stdout);
	bool is_waiting = check_report_open(report) > 0;
	check_report_free(report);
	if (err != HIWAT_OK)
		return fail(name, err_text(err));
	if (cmd_finish_output("check") != 0)
		return CMD_UNUSABLE;
	if (judged == 0)
		return fail(name,
		    text->n_values == 0 ? "no values in it"
			: is_waiting    ? "nothing could be judged from a single sample, see standard output"
					: "no rule judges these values");
	return level == RULE_LEVEL_CRITICAL ? 2 : level == RULE_LEVEL_WARNING ? 1 : 0;
}

/* now, seconds, a day or a day and a time in UTC. */
static bool
time_of(const char *word, uint64_t *ns)
{
	static const char *const formats[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d" };

	if (strcmp(word, "now") == 0) {
		*ns = (uint64_t)time(NULL) * 1000000000u;
		return true;
	}
	uint64_t seconds;
	struct text number = text_of(word);
	if (text_is_u64(number, &seconds)) {
		*ns = seconds * 1000000000u;
		return seconds > 0 && seconds < UINT64_MAX / 1000000000u;
	}
	for (size_t i = 0; i < 2; i++) {
		struct tm tm = { 0 };
		const char *end = strptime(word, formats[i], &tm);
		if (end == NULL || (*end != '\0' && strcmp(end, "Z") != 0))
			continue;
		time_t t = timegm(&tm);
		*ns = (uint64_t)t * 1000000000u;
		return t > 0;
	}
	return false;
}

/* False after a message. */
static bool
read_options(int argc, char **argv, struct options *o)
{
	static const struct option long_options[] = { { "at", required_argument, NULL, 'a' }, { 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "r:o:v", long_options, NULL)) != -1) {
		switch (c) {
		case 'a':
			if (!time_of(optarg, &o->at_ns)) {
				cmd_usage_error(argv[0],
				    "time '%s' is none of now, YYYY-MM-DD, YYYY-MM-DDTHH:MM:SS, seconds", optarg);
				return false;
			}
			break;
		case 'o':
			o->is_json = strcmp(optarg, "json") == 0;
			if (!o->is_json && strcmp(optarg, "text") != 0) {
				cmd_usage_error(argv[0], "format '%s' is neither text nor json", optarg);
				return false;
			}
			break;
		case 'r':
			o->rules = optarg;
			break;
		case 'v':
			o->is_verbose = true;
			break;
		default:
			cmd_usage_error(argv[0], "see the message above");
			return false;
		}
	}
	if (argc - optind > 1) {
		cmd_usage_error(argv[0], "unexpected argument '%s'", argv[optind + 1]);
		return false;
	}
	return true;
}

int
cmd_check(int argc, char **argv)
{
	struct options o = { .rules = COLLECTOR_RULES_DEFAULT };
	struct rule_set *rules = NULL;
	struct labels *labels = NULL;
	struct promtext text = { 0 };
	struct buf input, errors;
	unsigned bad_line = 0;
	int status = CMD_UNUSABLE;

	if (!read_options(argc, argv, &o))
		return CMD_UNUSABLE; /* 2 would say critical */
	const char *name = optind < argc ? argv[optind] : "standard input";
	buf_init(&input, INPUT_MAX);
	buf_init(&errors, 1 << 20);
	labels = labels_new(1 << 20);
	int err = read_input(argv[optind], &input);
	if (err != HIWAT_OK) {
		fail(name, err == HIWAT_E_SYS ? strerror(errno) : err_text(err));
	} else if (rule_set_load(o.rules, &rules, &errors) != HIWAT_OK) {
		fputs(buf_str(&errors), stderr);
	} else if (labels == NULL) {
		fail(name, err_text(HIWAT_E_NOMEM));
	} else if ((err = promtext_read((struct text){ buf_str(&input), input.len }, labels, &text, &bad_line)) !=
	    HIWAT_OK) {
		fprintf(stderr, "hiwat-collector check: %s:%u: %s\n", name, bad_line,
		    err == HIWAT_E_FORMAT ? "not Prometheus text" : err_text(err));
	} else {
		status = judge(rules, &text, labels, name, &o);
	}
	free(text.values);
	rule_set_free(rules);
	labels_free(labels);
	buf_fini(&input);
	buf_fini(&errors);
	return status;
}
