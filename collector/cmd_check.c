/* hiwat-collector check: the rules on one set of values, without history. */
#include "cmd.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "audit.h"
#include "buf.h"
#include "check_report.h"
#include "config.h"
#include "err.h"
#include "promtext.h"
#include "rule.h"

#define INPUT_MAX (64u << 20)
#define LABELS_MAX 16
#define WORD_MAX 64

const char cmd_check_usage[] =
    "usage: hiwat-agent parse KIND FILE | hiwat-collector check [OPTION ...] [FILE]\n"
    "Judges values in Prometheus text, as hiwat-agent parse and hiwat-agent once print them, by the rules. There is no\n"
    "history: `for` is ignored up to a day, rules on rates and trends are not judged. Counters of refusals above 0 warn,\n"
    "since boot. The first line is the verdict; then what fires and what to do, the worst first; then what counted\n"
    "something that only a later sample can judge. Settings, of sysctl, named-checkconf or an exported registry, are also\n"
    "held against the profiles that the role of the host, the speed of its links and the options select; what deviates is\n"
    "advice and does not count.\n"
    "\n"
    "  -r RULES       directory or file of rules (" COLLECTOR_RULES_DEFAULT ")\n"
    "  --at TIME      when the values were taken, for rules that count from a time: now, YYYY-MM-DD, YYYY-MM-DDTHH:MM:SS\n"
    "                 in UTC, or seconds since 1970; without it they are not judged\n"
    "  -l NAME=VALUE  a label of the host, as role=mail; may be repeated\n"
    "  --os OS        system that the values are of, with its release as freebsd-9.3; by default they tell\n"
    "  -p PROFILE     also this profile of the audit; rules list prints all; may be repeated\n"
    "  -o FORMAT      text or json (text)\n"
    "  -v             also say why each finding matters, and name all rules that could not be judged\n"
    "\n"
    "exit status: 0 ok, 1 warning, 2 critical, 3 nothing could be judged (the reason is on standard error).\n";

/* What the command line says of the host. */
struct host {
	char os[WORD_MAX], release[WORD_MAX];
	struct sample_label labels[LABELS_MAX];
	unsigned n_labels;
	struct buf profiles; /* words */
};

struct options {
	const char *rules;
	struct host host;
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

/* A label of the first such value, or NULL. */
static const char *
word_of(const struct promtext *text, const struct labels *labels, const char *metric, const char *name, const char *label)
{
	int id = catalogue_find(metric, strlen(metric));

	for (uint32_t i = 0; i < text->n_values; i++) {
		if (text->values[i].metric != id)
			continue;
		const char *n = labels_value(labels, text->values[i].labels, "name");
		if (name == NULL || (n != NULL && strcmp(n, name) == 0))
			return labels_value(labels, text->values[i].labels, label);
	}
	return NULL;
}

/*
 * The system that the values speak of: what the command line says, else what parse was told, else what the agent says of
 * itself, else what the kernel does, in lower case. The release is told by those who speak of the same system.
 */
static void
learn_system(struct host *h, const struct promtext *text, const struct labels *labels)
{
	static const struct {
		const char *metric, *os_name, *os_label, *release_name, *release_label;
	} rows[] = {
		{ "hiwat_agent_info", NULL, "os", NULL, "release" },
		{ "hiwat_setting_text", "kern.ostype", "value", "kern.osrelease", "value" },
		{ "hiwat_setting_text", "kernel.ostype", "value", "kernel.osrelease", "value" },
		{ "hiwat_setting_text", "ostype", "value", "osrelease", "value" },
	};

	if (h->os[0] == '\0')
		snprintf(h->os, sizeof(h->os), "%s", text->os);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && h->release[0] == '\0'; i++) {
		const char *os = word_of(text, labels, rows[i].metric, rows[i].os_name, rows[i].os_label);
		const char *release = word_of(text, labels, rows[i].metric, rows[i].release_name, rows[i].release_label);
		if (os == NULL || (h->os[0] != '\0' && strcasecmp(h->os, os) != 0))
			continue;
		for (size_t k = 0; os[k] != '\0' && k + 1 < sizeof(h->os); k++)
			h->os[k] = (char)tolower((unsigned char)os[k]);
		snprintf(h->release, sizeof(h->release), "%s", release != NULL ? release : "");
	}
}

static int
judge(struct rule_set *rules, const struct promtext *text, struct labels *labels, const char *name, struct options *o)
{
	struct sample_set set = { .sampler = "check", .reason = "", .wall_ns = o->at_ns };
	struct host_view view = {
		.labels = labels,
		.name = "this host",
		.os = o->host.os,
		.release = o->host.release,
		.host_labels = o->host.labels,
		.n_host_labels = o->host.n_labels,
		.n_sets = 1,
		.sets = &set,
	};
	struct check_report *report = check_report_new(&view);
	unsigned judged = 0;

	if (report == NULL || sample_set_put(&set, labels, text->values, text->n_values) != HIWAT_OK) {
		check_report_free(report);
		return fail(name, err_text(HIWAT_E_NOMEM));
	}
	struct rule_check out = { check_report_found, check_report_left, report };
	learn_system(&o->host, text, labels);
	enum rule_level level = rules_check(rules, &view, labels, &out, &judged);
	unsigned compared = audit_run(rules, &view, buf_str(&o->host.profiles), check_report_setting, report);
	check_report_compared(report, compared);
	int err = check_report_write(report, judged, level, o->is_verbose, o->is_json, stdout);
	bool is_waiting = check_report_open(report) > 0;
	check_report_free(report);
	sample_set_clear(&set);
	if (err != HIWAT_OK)
		return fail(name, err_text(err));
	if (cmd_finish_output("check") != 0)
		return CMD_UNUSABLE;
	if (judged + compared == 0)
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

/* "freebsd-9.3" */
static void
set_system(struct host *h, const char *text)
{
	const char *dash = strchr(text, '-');
	size_t n = dash != NULL ? (size_t)(dash - text) : strlen(text);

	snprintf(h->os, sizeof(h->os), "%.*s", (int)n, text);
	snprintf(h->release, sizeof(h->release), "%s", dash != NULL ? dash + 1 : "");
}

/* text is an argument: it is cut at the sign. */
static bool
add_label(struct host *h, char *text)
{
	char *equals = strchr(text, '=');

	if (equals == NULL || equals == text || h->n_labels == LABELS_MAX)
		return false;
	*equals = '\0';
	h->labels[h->n_labels++] = (struct sample_label){ text, equals + 1 };
	return true;
}

/* The profiles of roles as they are by default, and those asked for, which must exist. */
static int
prepare_profiles(struct rule_set *rules, const struct host *h)
{
	const char *unknown = "";

	if (rule_set_profiles(rules, "", buf_str(&h->profiles), &unknown) != HIWAT_OK) {
		fprintf(stderr, "hiwat-collector check: no profile %.*s; rules list prints all\n",
		    (int)strcspn(unknown, " "), unknown);
		return HIWAT_E_MISSING;
	}
	return collector_config_default_profiles(rules);
}

/* False after a message. */
static bool
read_options(int argc, char **argv, struct options *o)
{
	static const struct option long_options[] = {
		{ "at", required_argument, NULL, 'a' },
		{ "os", required_argument, NULL, 's' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "l:o:p:r:v", long_options, NULL)) != -1) {
		switch (c) {
		case 'a':
			if (!time_of(optarg, &o->at_ns)) {
				cmd_usage_error(argv[0],
				    "time '%s' is none of now, YYYY-MM-DD, YYYY-MM-DDTHH:MM:SS, seconds", optarg);
				return false;
			}
			break;
		case 'l':
			if (!add_label(&o->host, optarg)) {
				cmd_usage_error(argv[0], "-l wants NAME=VALUE, at most %d times", LABELS_MAX);
				return false;
			}
			break;
		case 's':
			set_system(&o->host, optarg);
			break;
		case 'p':
			buf_printf(&o->host.profiles, "%s ", optarg);
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

	buf_init(&o.host.profiles, 4096);
	if (!read_options(argc, argv, &o)) {
		buf_fini(&o.host.profiles);
		return CMD_UNUSABLE; /* 2 would say critical */
	}
	const char *name = optind < argc ? argv[optind] : "standard input";
	buf_init(&input, INPUT_MAX);
	buf_init(&errors, 1 << 20);
	labels = labels_new(1 << 20);
	int err = read_input(argv[optind], &input);
	if (err != HIWAT_OK) {
		fail(name, err == HIWAT_E_SYS ? strerror(errno) : err_text(err));
	} else if (rule_set_load(o.rules, &rules, &errors) != HIWAT_OK) {
		fputs(buf_str(&errors), stderr);
	} else if (prepare_profiles(rules, &o.host) != HIWAT_OK) {
		status = CMD_UNUSABLE;
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
	buf_fini(&o.host.profiles);
	return status;
}
