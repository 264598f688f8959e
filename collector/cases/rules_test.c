#include "rules_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "case.h"
#include "command.h"
#include "coverage.h"
#include "err.h"

struct session {
	const char *rules_path, *agent;
	struct rule_set *rules; /* to know the names */
	struct coverage *coverage;
	unsigned n, failed;
};

/* The agent is installed beside the collector; where a program cannot know its own place the search path is asked. */
static const char *
find_agent(char *path, size_t size)
{
	static const char name[] = "hiwat-agent";
	ssize_t n = readlink("/proc/self/exe", path, size - sizeof(name));

	if (n <= 0)
		return name;
	path[n] = '\0';
	char *slash = strrchr(path, '/');
	if (slash == NULL)
		return name;
	memcpy(slash + 1, name, sizeof(name));
	return access(path, X_OK) == 0 ? path : name;
}

/* False when nothing can be run at all. */
static bool
run_case(struct session *s, struct case_file *f, struct rule_case *c)
{
	struct case_report report = { .c = c };
	const struct case_step *bad = NULL;
	struct buf why;
	bool usable = true;

	buf_init(&why, 4096);
	int err = case_bytes_read(c, s->agent, &f->arena, &bad, &why);
	if (err == HIWAT_OK && c->n_hosts > 0) {
		case_run_fleet(c, s->rules_path, &report);
	} else if (err == HIWAT_OK) {
		case_run(c, s->rules_path, &report);
	} else if (err == HIWAT_E_FORMAT) {
		case_fail(&report, bad->node, "input", "a text that the parser takes", buf_str(&why));
	} else {
		fprintf(stderr, "%s:%u:%u: %s: %s\n", c->file, bad->node->line, bad->node->column, s->agent,
		    why.len > 0 ? buf_str(&why) : err_text(err));
		usable = false;
	}
	buf_fini(&why);
	s->n++;
	s->failed += report.failures > 0;
	if (report.failures == 0 && usable && s->coverage != NULL)
		coverage_add(s->coverage, c, &report.shown);
	return usable;
}

static int
run_file(struct session *s, const char *path)
{
	struct case_file f;
	int status = 0;

	if (case_file_load(path, s->rules, &f) != HIWAT_OK) {
		fputs(diag_text(&f.diag), stderr);
		status = CMD_USAGE;
	}
	for (unsigned i = 0; i < f.n && status == 0; i++) {
		if (!run_case(s, &f, &f.cases[i]))
			status = CMD_USAGE;
	}
	case_file_fini(&f);
	return status;
}

int
rules_test(const char *rules_path, const char *agent, bool coverage, int n_files, char **files)
{
	char beside[4096];
	struct buf errors;
	struct session s = { .rules_path = rules_path, .agent = agent };
	int status = 0;

	if (agent == NULL)
		s.agent = find_agent(beside, sizeof(beside));
	buf_init(&errors, 1 << 20);
	if (rule_set_load(rules_path, &s.rules, &errors) != HIWAT_OK) {
		fputs(buf_str(&errors), stderr);
		buf_fini(&errors);
		return CMD_USAGE;
	}
	buf_fini(&errors);
	if (coverage)
		s.coverage = coverage_new(s.rules);
	for (int i = 0; i < n_files; i++) {
		int file_status = run_file(&s, files[i]);
		status = file_status > status ? file_status : status;
	}
	unsigned lacking = s.coverage != NULL ? coverage_print(s.coverage) : 0;
	printf("%u cases, %u passed, %u failed\n", s.n, s.n - s.failed, s.failed);
	if (status == 0 && (s.failed > 0 || lacking > 0))
		status = 1;
	coverage_free(s.coverage);
	rule_set_free(s.rules);
	return cmd_finish_output("rules") != 0 && status == 0 ? 1 : status;
}
