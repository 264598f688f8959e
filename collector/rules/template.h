/* Inside of templates: the parser in render.c, the names that may stand in {{...}} in render_names.c. */
#ifndef HIWAT_COLLECTOR_TEMPLATE_H
#define HIWAT_COLLECTOR_TEMPLATE_H

#include "lex.h"
#include "prose.h"
#include "set.h"

struct buf;

#define TEMPLATE_NAMES \
	"value, threshold, used, limit, ratio, eta, level, rule, host, os, release, label, host_label, " \
	"setting, set, metric, param, bytes, percent, duration, times, pow2up, ceil, max, min"

struct template_value {
	bool is_text;
	double number;   /* NAN: not known */
	bool is_unknown; /* text that stands for a number that is not known */
	bool is_raised;  /* a setting's new value, as pow2up makes it */
	char text[256];
};

struct template
{
	const struct rule_full *rule;
	const struct rule_event *event; /* NULL: only check */
	const struct host_view *view;
	struct buf *out; /* NULL: only check */
	const char *text;
	size_t len, at;
	size_t inside_end; /* where the }} of the present action stands */
	struct token token;
	unsigned depth;
	struct prose prose; /* into out */
	int err;
	size_t fail_at;
	char why[160];
};

struct template_function {
	const char *name;
	unsigned args;
	bool wants_text, is_last_optional;
	void (*call)(struct template *t, size_t at, const struct template_function *f, const struct template_value *args,
	    unsigned n, struct template_value *v);
};

const struct template_function *template_function(const char *name);
/* Parses one operand. */
void template_factor(struct template *t, struct template_value *v);
/* Notes the first mistake. */
void template_fail(struct template *t, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A number of bytes as people read it, finite. */
void template_bytes(char *out, size_t size, double bytes);
/* Writes a value for people. */
void template_put(struct buf *out, const struct template_value *v);

#endif
