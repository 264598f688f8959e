#include <stdio.h>

#include "buf.h"
#include "catalogue.h"
#include "settings.h"
#include "template.h"
#include "units.h"

/* Numbers as people read them: whole ones whole, others with three digits. */
static void
put_number(struct buf *out, double v)
{
	if (!isfinite(v))
		buf_puts(out, "unknown");
	else if (v == floor(v) || fabs(v) >= 100)
		buf_printf(out, "%.0f", v);
	else
		buf_printf(out, "%.3g", v);
}

void
template_put(struct buf *out, const struct template_value *v)
{
	if (v->is_text)
		buf_puts(out, v->text);
	else if (v->is_raised && !isfinite(v->number))
		buf_puts(out, "A_HIGHER_VALUE"); /* in a command, which must not look complete */
	else
		put_number(out, v->number);
}

static void
set_text(struct template_value *v, const char *s)
{
	v->is_text = true;
	snprintf(v->text, sizeof(v->text), "%s", s != NULL ? s : "");
}

static void
set_unknown(struct template_value *v)
{
	set_text(v, "unknown");
	v->is_unknown = true;
}

static void
call_amount(struct template *t, size_t at, const struct template_function *f, const struct template_value *args, unsigned n,
    struct template_value *v)
{
	const struct rule_event *e = t->event;
	const struct rule_full *r = t->rule;
	bool is_limit = strcmp(f->name, "limit") == 0, is_used = strcmp(f->name, "used") == 0;
	bool is_eta = strcmp(f->name, "eta") == 0;

	(void)args;
	(void)n;
	if ((is_limit && r->limit == NULL) || (is_used && r->used == NULL) || (is_eta && r->eta == NULL)) {
		template_fail(t, at, "the rule has no '%s'", f->name);
		return;
	}
	v->number = 1;
	if (e == NULL)
		return;
	if (is_limit)
		v->number = e->limit;
	else if (is_used)
		v->number = e->used;
	else if (is_eta)
		v->number = e->seconds_to_limit;
	else
		v->number = strcmp(f->name, "threshold") == 0 ? e->threshold : e->value;
}

static void
put_percent(struct template_value *v, double share)
{
	v->is_text = true;
	if (isfinite(share))
		snprintf(v->text, sizeof(v->text), "%.*f %%", fabs(share) < 0.01 && share != 0 ? 2 : 0, share * 100);
	else
		set_unknown(v);
}

static void
call_ratio(struct template *t, size_t at, const struct template_function *f, const struct template_value *args, unsigned n,
    struct template_value *v)
{
	(void)at;
	(void)f;
	(void)args;
	(void)n;
	put_percent(v, t->event != NULL ? t->event->value : 0);
}

static void
call_fact(struct template *t, size_t at, const struct template_function *f, const struct template_value *args, unsigned n,
    struct template_value *v)
{
	const char *text = "";

	(void)at;
	(void)args;
	(void)n;
	if (t->event != NULL && strcmp(f->name, "rule") == 0)
		text = t->event->rule->id;
	else if (t->event != NULL && strcmp(f->name, "level") == 0)
		text = rule_level_word(t->event->level);
	else if (t->event != NULL && strcmp(f->name, "host") == 0)
		text = t->view->name;
	else if (t->event != NULL)
		text = strcmp(f->name, "os") == 0 ? t->view->os : t->view->release;
	set_text(v, text);
}

static bool
is_known_label(const char *name)
{
	for (unsigned m = 0; m < catalogue_n_metrics; m++) {
		for (unsigned i = 0; i < catalogue_metrics[m].n_labels; i++) {
			if (strcmp(catalogue_metrics[m].labels[i], name) == 0)
				return true;
		}
	}
	return false;
}

static void
call_label(struct template *t, size_t at, const struct template_function *f, const struct template_value *args, unsigned n,
    struct template_value *v)
{
	const char *text = "";

	(void)n;
	if (strcmp(f->name, "label") == 0 && !is_known_label(args[0].text)) {
		template_fail(t, at, "no metric has a label '%s'", args[0].text);
		return;
	}
	if (t->event != NULL && strcmp(f->name, "label") == 0) {
		text = labels_value(t->view->labels, t->event->labels, args[0].text);
	} else if (t->event != NULL) {
		for (unsigned i = 0; i < t->view->n_host_labels; i++) {
			if (strcmp(t->view->host_labels[i].name, args[0].text) == 0)
				text = t->view->host_labels[i].value;
		}
	}
	set_text(v, text);
}

/* The first value of the metric that fits: with the event's labels if as_event, else with this name and index. */
static double
find_value(const struct template *t, int metric, bool as_event, const char *name, const char *index)
{
	const struct labels *labels = t->view->labels;
	double fallback = NAN;

	for (size_t s = 0; s < t->view->n_sets; s++) {
		const struct sample_set *set = &t->view->sets[s];
		for (uint32_t i = 0; i < set->n_values; i++) {
			const struct series_key *series = &set->series->series[i];
			if (series->metric != metric)
				continue;
			if (as_event && series->labels == t->event->labels)
				return set->values[i];
			if (as_event && series->labels == LABELS_EMPTY)
				fallback = set->values[i];
			const char *n = as_event ? NULL : labels_value(labels, series->labels, "name");
			const char *x = as_event ? NULL : labels_value(labels, series->labels, "index");
			if (n != NULL && strcmp(n, name) == 0 && strcmp(x != NULL ? x : "", index) == 0)
				return set->values[i];
		}
	}
	return fallback;
}

static void
call_setting(struct template *t, size_t at, const struct template_function *f, const struct template_value *args, unsigned n,
    struct template_value *v)
{
	char index[16] = "";

	(void)at;
	(void)f;
	v->number = 1;
	if (n > 1)
		snprintf(index, sizeof(index), "%d", (int)(fabs(args[1].number) < 1000 ? args[1].number : 0));
	if (t->event != NULL)
		v->number =
		    find_value(t, catalogue_find("hiwat_sysctl", strlen("hiwat_sysctl")), false, args[0].text, index);
}

static void
call_metric(struct template *t, size_t at, const struct template_function *f, const struct template_value *args, unsigned n,
    struct template_value *v)
{
	int metric = catalogue_find(args[0].text, strlen(args[0].text));

	(void)f;
	(void)n;
	v->number = 1;
	if (metric < 0)
		template_fail(t, at, "unknown metric '%s'", args[0].text);
	else if (t->event != NULL)
		v->number = find_value(t, metric, true, "", "");
}

/* What sets NAME to a number on the event's system; unknown where that system does not have it. */
static void
call_set(struct template *t, size_t at, const struct template_function *f, const struct template_value *args, unsigned n,
    struct template_value *v)
{
	const struct rule_set *set = t->rule->set;
	struct buf value, command;

	(void)at;
	(void)f;
	(void)n;
	set_unknown(v);
	if (t->event == NULL || (!args[1].is_text && !args[1].is_raised && !isfinite(args[1].number)))
		return;
	const struct setting *s = setting_find(set, t->view->os, args[0].text);
	if (s != NULL && setting_state(s, t->view->release) != SETTING_HERE)
		return;
	buf_init(&value, sizeof(v->text) / 2);
	buf_init(&command, sizeof(v->text) - 1);
	template_put(&value, &args[1]);
	setting_put_command(set, t->view->os, t->view->release, args[0].text, buf_str(&value),
	    args[1].is_text ? NAN : args[1].number, &command);
	v->is_unknown = !buf_ok(&command);
	set_text(v, buf_str(&command));
	buf_fini(&value);
	buf_fini(&command);
}

static void
call_param(struct template *t, size_t at, const struct template_function *f, const struct template_value *args, unsigned n,
    struct template_value *v)
{
	(void)f;
	(void)n;
	v->number = NAN;
	for (uint32_t i = 0; i < t->rule->n_params; i++) {
		const struct param *p = &t->rule->set->params.params[t->rule->first_param + i];
		if (strcmp(p->name, args[0].text) == 0)
			v->number = t->view != NULL ? rule_figure_on(&t->rule->pub, i, t->view) : p->value;
	}
	if (isnan(v->number))
		template_fail(t, at, "the rule has no param '%s'", args[0].text);
}

void
template_bytes(char *out, size_t size, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	unsigned u = 0;

	for (; fabs(bytes) >= 1024 && u < 5; u++)
		bytes /= 1024;
	snprintf(out, size, "%.*f %s", bytes == floor(bytes) || fabs(bytes) >= 100 ? 0 : 1, bytes, units[u]);
}

static void
put_bytes(struct template_value *v, double bytes)
{
	v->is_text = true;
	if (isfinite(bytes))
		template_bytes(v->text, sizeof(v->text), bytes);
	else
		set_unknown(v);
}

static void
put_duration(struct template_value *v, double seconds)
{
	v->is_text = true;
	if (!isfinite(seconds))
		set_unknown(v);
	else if (seconds < 120)
		snprintf(v->text, sizeof(v->text), "%.0f s", seconds);
	else if (seconds < 7200)
		snprintf(v->text, sizeof(v->text), "%.0f min", seconds / 60);
	else if (seconds < 172800)
		snprintf(v->text, sizeof(v->text), "%.0f h", seconds / 3600);
	else
		snprintf(v->text, sizeof(v->text), "%.0f days", seconds / 86400);
}

static void
put_times(struct template_value *v, double n)
{
	v->is_text = true;
	if (!isfinite(n))
		set_unknown(v);
	else
		snprintf(v->text, sizeof(v->text), n == 1 ? "once" : n == 2 ? "twice" : "%.0f times", n);
}

/* A new value of a setting whose present one is not known: the floor alone might lower it. */
static void
put_at_least(struct template_value *v, double floor)
{
	v->is_text = true;
	snprintf(v->text, sizeof(v->text), "AT_LEAST_%.0f", floor);
}

static void
call_number(struct template *t, size_t at, const struct template_function *f, const struct template_value *args, unsigned n,
    struct template_value *v)
{
	double a = args[0].number, b = args[1].number;

	(void)t;
	(void)at;
	(void)n;
	if (strcmp(f->name, "bytes") == 0)
		put_bytes(v, a);
	else if (strcmp(f->name, "percent") == 0)
		put_percent(v, a);
	else if (strcmp(f->name, "duration") == 0)
		put_duration(v, a);
	else if (strcmp(f->name, "times") == 0)
		put_times(v, a);
	else if (strcmp(f->name, "pow2up") == 0)
		*v = (struct template_value){ .number = value_pow2up(a), .is_raised = true };
	else if (strcmp(f->name, "ceil") == 0)
		v->number = ceil(a);
	else if (strcmp(f->name, "max") == 0 && (isnan(a) ? args[0] : args[1]).is_raised && isnan(a) != isnan(b))
		put_at_least(v, isnan(a) ? b : a);
	else if (strcmp(f->name, "max") == 0)
		v->number = isnan(a) || a < b ? b : a;
	else
		v->number = isnan(a) || a > b ? b : a;
}

static const struct template_function functions[] = {
	{ "value", 0, false, false, call_amount },
	{ "threshold", 0, false, false, call_amount },
	{ "used", 0, false, false, call_amount },
	{ "limit", 0, false, false, call_amount },
	{ "eta", 0, false, false, call_amount },
	{ "ratio", 0, false, false, call_ratio },
	{ "level", 0, false, false, call_fact },
	{ "rule", 0, false, false, call_fact },
	{ "host", 0, false, false, call_fact },
	{ "os", 0, false, false, call_fact },
	{ "release", 0, false, false, call_fact },
	{ "label", 1, true, false, call_label },
	{ "host_label", 1, true, false, call_label },
	{ "setting", 2, true, true, call_setting },
	{ "set", 2, true, false, call_set },
	{ "metric", 1, true, false, call_metric },
	{ "param", 1, true, false, call_param },
	{ "bytes", 1, false, false, call_number },
	{ "percent", 1, false, false, call_number },
	{ "duration", 1, false, false, call_number },
	{ "times", 1, false, false, call_number },
	{ "pow2up", 1, false, false, call_number },
	{ "ceil", 1, false, false, call_number },
	{ "max", 2, false, false, call_number },
	{ "min", 2, false, false, call_number },
};

const struct template_function *
template_function(const char *name)
{
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	}
	return NULL;
}
