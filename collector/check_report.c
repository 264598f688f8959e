#include "check_report.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "audit_json.h"
#include "buf.h"
#include "err.h"
#include "units.h"

#define ARENA_MAX (64u << 20)
#define TEXT_MAX 65536
#define RECENT_MAX 16384 /* bytes of output that are searched for the same remedy */
#define DAY_NS (86400 * 1000000000ULL)

struct finding {
	struct rule_event event;
	bool is_since_boot;
	unsigned order; /* of finding */
};

struct check_report {
	const struct host_view *view;
	struct arena arena;
	struct finding *findings;
	unsigned n_findings;
	struct rule_gap *gaps;
	unsigned n_gaps;
	json_t *settings; /* findings of the audit */
	unsigned n_compared;
	bool is_short; /* of memory */
};

struct check_report *
check_report_new(const struct host_view *view)
{
	struct check_report *r = calloc(1, sizeof(*r));

	if (r != NULL) {
		r->view = view;
		r->settings = json_array();
		arena_init(&r->arena, ARENA_MAX);
	}
	return r;
}

void
check_report_free(struct check_report *r)
{
	if (r != NULL) {
		json_decref(r->settings);
		arena_fini(&r->arena);
	}
	free(r);
}

void
check_report_found(void *arg, const struct rule_event *event, bool is_since_boot)
{
	struct check_report *r = arg;
	struct finding *f = arena_grow(&r->arena, (void **)&r->findings, r->n_findings, sizeof(*f));

	r->is_short = r->is_short || f == NULL;
	if (f != NULL)
		*f = (struct finding){ *event, is_since_boot, r->n_findings++ };
}

void
check_report_left(void *arg, const struct rule_gap *gap)
{
	struct check_report *r = arg;
	struct rule_gap *g = arena_grow(&r->arena, (void **)&r->gaps, r->n_gaps, sizeof(*g));

	r->is_short = r->is_short || g == NULL;
	if (g != NULL) {
		*g = *gap;
		r->n_gaps++;
	}
}

void
check_report_setting(void *arg, const struct audit_finding *finding)
{
	struct check_report *r = arg;

	r->is_short |= json_array_append_new(r->settings, audit_finding_to_json(finding)) != 0;
}

void
check_report_compared(struct check_report *r, unsigned n)
{
	r->n_compared = n;
}

unsigned
check_report_open(const struct check_report *r)
{
	unsigned n = 0;

	/* Rows of one rule follow each other. */
	for (unsigned i = 0; i < r->n_gaps; i++) {
		bool is_first = i == 0 || r->gaps[i].event.rule != r->gaps[i - 1].event.rule;
		n += is_first && !r->gaps[i].is_judged_else;
	}
	return n;
}

/* The worst first, otherwise as found. */
static int
compare_findings(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->event.level != y->event.level)
		return x->event.level < y->event.level ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

/* A template of the rule on one line; "" when what it names is not known. */
static void
render_line(const struct check_report *r, const char *template, const struct rule_event *e, struct buf *out)
{
	struct buf text;

	buf_init(&text, TEXT_MAX);
	rule_render(template, e, r->view, &text);
	const char *p = buf_str(&text);
	for (bool is_blank = true; *p != '\0'; p++) {
		if (!isspace((unsigned char)*p))
			buf_putc(out, *p);
		else if (!is_blank && p[1] != '\0' && !isspace((unsigned char)p[1]))
			buf_putc(out, ' ');
		is_blank = is_blank && isspace((unsigned char)*p);
	}
	buf_fini(&text);
}

static void
put_series(const struct check_report *r, const struct rule_event *e, struct buf *out)
{
	unsigned n;
	const struct sample_label *labels = labels_get(r->view->labels, e->labels, &n);

	buf_puts(out, e->rule->id);
	if (n > 0)
		series_write(out, "", labels, n);
}

static void
put_missing(const struct rule_gap *g, struct buf *out)
{
	for (unsigned i = 0; i < g->n_missing; i++) {
		const struct rule_series *s = &g->missing[i];
		buf_printf(out, "%s%s", i > 0 ? ", " : "", s->metric);
		if (s->label != NULL)
			buf_printf(out, "{%s=\"%s\"}", s->label, s->value);
	}
}

/* Why a rule was not judged, as half a sentence. */
static void
put_reason(const struct rule_gap *g, struct buf *out)
{
	switch (g->why) {
	case RULE_GAP_HISTORY:
		buf_puts(out,
		    isfinite(g->event.value) ? "only a later sample tells whether it still happens"
					     : "compares this sample with a later one");
		break;
	case RULE_GAP_CLOCK:
		buf_puts(out, "counts from a time; --at says when the values were taken");
		break;
	case RULE_GAP_DURATION:
		buf_printf(out, "%s last %u days", isfinite(g->event.value) ? "is so now, and has to" : "has to",
		    (unsigned)(g->for_ns / DAY_NS));
		break;
	case RULE_GAP_SERIES:
		buf_puts(out, g->takes_history ? "compares samples, and lacks " : "lacks ");
		put_missing(g, out);
		break;
	}
}

static const char *
reason_word(enum rule_gap_reason why)
{
	static const char *const words[] = { [RULE_GAP_HISTORY] = "history",
		[RULE_GAP_CLOCK] = "clock",
		[RULE_GAP_DURATION] = "duration",
		[RULE_GAP_SERIES] = "series" };

	return words[why];
}

static const char *
outcome_word(const struct check_report *r, unsigned judged, enum rule_level level)
{
	if (judged + r->n_compared == 0)
		return "UNKNOWN";
	return level == RULE_LEVEL_CRITICAL ? "CRITICAL" : level == RULE_LEVEL_WARNING ? "WARNING" : "OK";
}

static void
put_count(struct buf *out, const char *before, unsigned n, const char *what, const char *plural)
{
	if (n > 0)
		buf_printf(out, "%s%u %s%s", before, n, what, n == 1 ? "" : plural);
}

/* OK: 5 rules judged, 2 not (-v says why) */
static void
put_verdict(const struct check_report *r, unsigned judged, enum rule_level level, struct buf *out)
{
	unsigned n[RULE_LEVEL_CRITICAL + 1] = { 0 }, open = check_report_open(r);
	bool is_first = true;

	for (unsigned i = 0; i < r->n_findings; i++)
		n[r->findings[i].event.level]++;
	buf_printf(out, "%s: ", outcome_word(r, judged, level));
	for (enum rule_level l = RULE_LEVEL_CRITICAL; l > RULE_LEVEL_NONE; l--) {
		put_count(out, is_first ? "" : ", ", n[l], rule_level_word(l), l == RULE_LEVEL_WARNING ? "s" : "");
		is_first = is_first && n[l] == 0;
	}
	if (judged + r->n_compared == 0) {
		buf_puts(out, "nothing could be judged\n");
		return;
	}
	buf_printf(out, "%s%u rule%s judged", is_first ? "" : "; ", judged, judged == 1 ? "" : "s");
	if (open > 0)
		buf_printf(out, ", %u not (-v says why)", open);
	put_count(out, ", ", r->n_compared, "setting", "s");
	buf_puts(out, r->n_compared > 0 ? " compared\n" : "\n");
}

static void
put_finding(const struct check_report *r, const struct finding *f, bool is_verbose, struct buf *out)
{
	const struct rule *rule = f->event.rule;

	buf_printf(out, "%s: ", rule_level_word(f->event.level));
	put_series(r, &f->event, out);
	buf_puts(out, ": ");
	render_line(r, rule->summary, &f->event, out);
	buf_puts(out, f->is_since_boot ? ", since boot\n" : "\n");
	if (is_verbose) {
		buf_printf(out, "    why: %s", rule->reason);
		if (*rule->doc != '\0')
			buf_printf(out, " (%s)", rule->doc);
		buf_putc(out, '\n');
	}
	struct buf remedy;
	buf_init(&remedy, TEXT_MAX);
	buf_puts(&remedy, "    do: ");
	size_t empty = remedy.len;
	render_line(r, rule->remedy, &f->event, &remedy);
	buf_putc(&remedy, '\n');
	/* What a finding shortly before asked for is not asked for again. */
	const char *recent = buf_str(out) + (out->len > RECENT_MAX ? out->len - RECENT_MAX : 0);
	if (remedy.len > empty + 1 && strstr(recent, buf_str(&remedy)) == NULL)
		buf_puts(out, buf_str(&remedy));
	buf_fini(&remedy);
}

static bool
has_counted(const struct rule_gap *g)
{
	return g->why == RULE_GAP_HISTORY && isfinite(g->event.value);
}

static void
put_gap(const struct check_report *r, const struct rule_gap *g, struct buf *out)
{
	buf_puts(out, "not judged: ");
	put_series(r, &g->event, out);
	buf_puts(out, ": ");
	if (has_counted(g)) {
		render_line(r, g->event.rule->summary, &g->event, out);
		buf_puts(out, "; ");
	}
	put_reason(g, out);
	buf_putc(out, '\n');
}

/* The other rules that could not be judged, one line for each reason. */
static void
put_rest(const struct check_report *r, struct buf *out)
{
	static const struct {
		enum rule_gap_reason why;
		const char *words;
	} reasons[] = { { RULE_GAP_HISTORY, "compare samples" }, { RULE_GAP_CLOCK, "count from a time, see --at" },
		{ RULE_GAP_DURATION, "have to last for days" }, { RULE_GAP_SERIES, "lack values, -v says which" } };

	for (unsigned k = 0; k < sizeof(reasons) / sizeof(reasons[0]); k++) {
		unsigned n = 0;
		for (unsigned i = 0; i < r->n_gaps; i++) {
			const struct rule_gap *g = &r->gaps[i];
			if (g->why != reasons[k].why || has_counted(g) || g->is_judged_else)
				continue;
			if (n++ == 0)
				buf_printf(out, "not judged, since they %s: ", reasons[k].words);
			buf_printf(out, "%s%s", n > 1 ? ", " : "", g->event.rule->id);
		}
		if (n > 0)
			buf_putc(out, '\n');
	}
}

static void
put_settings(const struct check_report *r, struct buf *out)
{
	const json_t *o;
	size_t i;

	json_array_foreach (r->settings, i, o)
		buf_printf(out, "advice: %s: %s\n", json_string_value(json_object_get(o, "profile")),
		    json_string_value(json_object_get(o, "text")));
}

static void
write_text(const struct check_report *r, unsigned judged, enum rule_level level, bool is_verbose, struct buf *out)
{
	put_verdict(r, judged, level, out);
	for (unsigned i = 0; i < r->n_findings; i++)
		put_finding(r, &r->findings[i], is_verbose, out);
	put_settings(r, out);
	for (unsigned i = 0; i < r->n_gaps; i++) {
		if (is_verbose || judged + r->n_compared == 0 || has_counted(&r->gaps[i]))
			put_gap(r, &r->gaps[i], out);
	}
	if (!is_verbose && level >= RULE_LEVEL_WARNING)
		put_rest(r, out);
}

static json_t *
json_of_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *
json_of_text(const struct check_report *r, const char *template, const struct rule_event *e)
{
	struct buf text;

	buf_init(&text, TEXT_MAX);
	render_line(r, template, e, &text);
	json_t *s = json_string(buf_str(&text));
	buf_fini(&text);
	return s;
}

static json_t *
json_of_event(const struct check_report *r, const struct rule_event *e)
{
	json_t *o = json_object(), *own = json_object();
	unsigned n;
	const struct sample_label *labels = labels_get(r->view->labels, e->labels, &n);

	for (unsigned i = 0; i < n; i++)
		json_object_set_new(own, labels[i].name, json_string(labels[i].value));
	json_object_set_new(o, "rule", json_string(e->rule->id));
	json_object_set_new(o, "labels", own);
	json_object_set_new(o, "value", json_of_number(e->value));
	return o;
}

static json_t *
json_of_finding(const struct check_report *r, const struct finding *f)
{
	const struct rule_event *e = &f->event;
	json_t *o = json_of_event(r, e);

	json_object_set_new(o, "level", json_string(rule_level_word(e->level)));
	json_object_set_new(o, "since_boot", json_boolean(f->is_since_boot));
	json_object_set_new(o, "threshold", json_of_number(e->threshold));
	json_object_set_new(o, "used", json_of_number(e->used));
	json_object_set_new(o, "limit", json_of_number(e->limit));
	json_object_set_new(o, "summary", json_of_text(r, e->rule->summary, e));
	json_object_set_new(o, "remedy", json_of_text(r, e->rule->remedy, e));
	json_object_set_new(o, "reason", json_string(e->rule->reason));
	json_object_set_new(o, "doc", json_string(e->rule->doc));
	return o;
}

static json_t *
json_of_gap(const struct check_report *r, const struct rule_gap *g)
{
	json_t *o = json_of_event(r, &g->event);

	json_object_set_new(o, "why", json_string(reason_word(g->why)));
	if (g->n_missing > 0) {
		struct buf missing;
		buf_init(&missing, TEXT_MAX);
		put_missing(g, &missing);
		json_object_set_new(o, "missing", json_string(buf_str(&missing)));
		buf_fini(&missing);
	}
	return o;
}

static int
write_json(const struct check_report *r, unsigned judged, enum rule_level level, FILE *out)
{
	json_t *o = json_object(), *findings = json_array(), *gaps = json_array();

	for (unsigned i = 0; i < r->n_findings; i++)
		json_array_append_new(findings, json_of_finding(r, &r->findings[i]));
	for (unsigned i = 0; i < r->n_gaps; i++)
		json_array_append_new(gaps, json_of_gap(r, &r->gaps[i]));
	json_object_set_new(o, "verdict", json_string(outcome_word(r, judged, level)));
	json_object_set_new(o, "judged", json_integer(judged));
	json_object_set_new(o, "findings", findings);
	json_object_set_new(o, "not_judged", gaps);
	json_object_set_new(o, "compared", json_integer(r->n_compared));
	json_object_set(o, "settings", r->settings);
	int err = o != NULL && json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0 ? HIWAT_OK : HIWAT_E_NOMEM;
	fputc('\n', out);
	json_decref(o);
	return err;
}

int
check_report_write(struct check_report *r, unsigned judged, enum rule_level level, bool is_verbose, bool is_json, FILE *out)
{
	struct buf text;

	if (r->is_short)
		return HIWAT_E_NOMEM;
	if (r->n_findings > 1)
		qsort(r->findings, r->n_findings, sizeof(r->findings[0]), compare_findings);
	if (is_json)
		return write_json(r, judged, level, out);
	buf_init(&text, ARENA_MAX);
	write_text(r, judged, level, is_verbose, &text);
	int err = buf_ok(&text) ? HIWAT_OK : HIWAT_E_NOMEM;
	if (err == HIWAT_OK)
		fwrite(buf_str(&text), 1, text.len, out);
	buf_fini(&text);
	return err;
}
