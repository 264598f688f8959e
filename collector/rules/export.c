#include "export.h"

#include <stdio.h>
#include <stdlib.h>

#include "buf.h"
#include "catalogue.h"
#include "err.h"
#include "export_promql.h"

#define EXPR_MAX 65536
#define TEXT_MAX 65536
#define HOSTS_MAX 64 /* with overrides of one rule */

static const char head_text[] =
    "# Alerting rules for Prometheus, made by \"hiwat-collector rules export --prometheus\".\n"
    "#\n"
    "# They read what the collector serves at /metrics/hosts and at /metrics. Scrape both, and evaluate, at the interval "
    "of\n"
    "# the agents, 10 s unless they are told otherwise: irate() is to see one record a step. What sums and joins leave "
    "alone\n"
    "# (host, host_id, instance, job) tells hosts apart.\n"
    "#\n"
    "# Prometheus 2.42 (Debian 12) or later. An older one does not know keep_firing_for and refuses the file; without "
    "these\n"
    "# lines alerts begin and clear at the same values, but end at once, not after `hold`: one that flaps is told each "
    "time.\n"
    "# A firing alert stays until its clearing value: that is the part with ALERTS{...}.\n"
    "#\n"
    "# What is different here:\n"
    "# - An object that is gone, or whose sampler fails, ends its alert after keep_firing_for. The collector keeps the\n"
    "#   incident open, marked \"gone\" or \"unknown\".\n"
    "# - A counter that steps back without a boot counts from 0, the collector counts nothing.\n"
    "# - Profiles of settings (hiwat-collector advice) are no alerts and not here.\n"
    "# - The first value of a new series counts as growth where the host was there before, but not in rate() and "
    "increase().\n"
    "# - One alert for each series; the collector makes one incident of all that have one host, cause and object. In\n"
    "#   Alertmanager: group_by [host, cause], and critical inhibits warning of equal host and cause.\n"
    "#\n";

/* Without the collector's series no other alert can fire. */
static const char collector_text[] =
    "  - name: hiwat-collector\n"
    "    rules:\n"
    "      - alert: HiwatCollectorAbsent\n"
    "        expr: absent(hiwat_collector_info) or absent(hiwat_sampler_up)\n"
    "        for: 1m\n"
    "        labels:\n"
    "          severity: critical\n"
    "          cause: collector\n"
    "          rule: collector-absent\n"
    "        annotations:\n"
    "          summary: 'Nothing is known of any host: the collector or its /metrics/hosts cannot be read'\n"
    "          description: 'No other alert of hiwat can fire meanwhile.'\n"
    "          remedy: 'See whether hiwat-collector runs, and whether its web address can be reached from here.'\n";

struct exporting {
	const struct rule_set *set;
	struct buf *out, *missing;
	struct export_count *count;
	const char *group; /* that was begun last */
};

/* The hosts for which a rule has figures of its own. */
struct special_hosts {
	const char *names[HOSTS_MAX];
	unsigned n;
};

static void
put_camel_case(struct buf *out, const char *id)
{
	bool up = true;

	for (; *id != '\0'; id++) {
		if (*id != '-')
			buf_putc(out, up && *id >= 'a' && *id <= 'z' ? (char)(*id - 'a' + 'A') : *id);
		up = *id == '-';
	}
}

/* Overrides of this rule by host; a reason in why when there are others that no series can tell. */
static void
find_special_hosts(const struct rule_set *set, const struct rule_full *r, struct special_hosts *hosts, struct promql *p)
{
	for (uint32_t i = 0; i < set->n_overrides; i++) {
		const struct override *o = &set->overrides[i];
		bool known = false;
		if (o->rule != r->pub.index || o->label == NULL)
			continue;
		if (*o->label != '\0') {
			promql_fail(p, "overridden for hosts with %s=%s, which is no label of their series", o->label,
			    o->text != NULL ? o->text : "");
			return;
		}
		for (unsigned k = 0; k < hosts->n && !known; k++)
			known = strcmp(hosts->names[k], o->text) == 0;
		if (known)
			continue;
		if (hosts->n == HOSTS_MAX) {
			promql_fail(p, "overridden for more than %d hosts", HOSTS_MAX);
			return;
		}
		hosts->names[hosts->n++] = o->text;
	}
}

static bool
is_off(const struct rule_set *set, uint32_t rule, const char *host)
{
	struct host_view view = { .name = host, .os = "", .release = "" };

	return override_is_off(set, &view, rule);
}

/* host="NAME", or all but these. */
static void
put_hosts(struct buf *out, const struct special_hosts *hosts, const char *host)
{
	if (hosts->n == 0)
		return;
	if (*host != '\0') {
		buf_printf(out, "host=\"%s\"", host);
		return;
	}
	buf_puts(out, "host!~\"");
	for (unsigned i = 0; i < hosts->n; i++) {
		buf_puts(out, i > 0 ? "|" : "");
		for (const char *c = hosts->names[i]; *c != '\0'; c++) {
			if (strchr(".+*?()[]{}|^$\\", *c) != NULL)
				buf_puts(out, "\\\\");
			buf_putc(out, *c);
		}
	}
	buf_putc(out, '"');
}

/* The condition, and what keeps it firing, for the hosts that p speaks of. */
static void
put_condition(struct promql *p, const struct rule_full *r, const struct level *l)
{
	promql_put(p, l->fire, BINDS_OR);
	if (l->stay == l->fire)
		return;
	buf_puts(p->out, "\nor (");
	promql_put(p, l->stay, BINDS_AND);
	buf_puts(p->out, "\n  and ignoring (alertname, alertstate, cause, rule, severity) ALERTS{alertname=\"");
	put_camel_case(p->out, r->pub.id);
	buf_printf(p->out, "\",severity=\"%s\",alertstate=\"firing\"})", rule_level_word(l->level));
}

static void
put_expr(struct promql *p, const struct rule_full *r, const struct level *l)
{
	struct special_hosts hosts = { 0 };
	struct buf matcher;
	bool any = false;

	buf_init(&matcher, EXPR_MAX);
	find_special_hosts(p->set, r, &hosts, p);
	for (unsigned i = 0; i <= hosts.n && p->why[0] == '\0'; i++) {
		p->host = i == 0 ? "" : hosts.names[i - 1];
		if (is_off(p->set, r->pub.index, p->host))
			continue;
		buf_reset(&matcher);
		put_hosts(&matcher, &hosts, p->host);
		p->hosts = buf_str(&matcher);
		buf_puts(p->out, any ? "\nor " : "");
		put_condition(p, r, l);
		any = true;
	}
	if (!any)
		promql_fail(p, "switched off by an override");
	if (!buf_ok(p->out) || !buf_ok(&matcher))
		promql_fail(p, "longer than %d bytes", EXPR_MAX);
	buf_fini(&matcher);
}

/* A YAML text in single quotes. */
static void
put_quoted(struct buf *out, const char *text)
{
	buf_putc(out, '\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			buf_putc(out, '\'');
		buf_putc(out, *text);
	}
	buf_puts(out, "'\n");
}

static void
put_block(struct buf *out, const char *text)
{
	buf_puts(out, "        expr: |-\n          ");
	for (; *text != '\0'; text++) {
		buf_putc(out, *text);
		if (*text == '\n')
			buf_puts(out, "          ");
	}
	buf_putc(out, '\n');
}

/* A group for each file of rules. */
static void
begin_group(struct exporting *x, const struct rule *rule)
{
	const char *slash = strrchr(rule->file, '/'), *name = slash != NULL ? slash + 1 : rule->file;

	if (x->group != NULL && strcmp(x->group, rule->file) == 0)
		return;
	x->group = rule->file;
	buf_printf(x->out, "  - name: hiwat-%.*s\n    rules:\n", (int)strcspn(name, "."), name);
}

static void
put_alert(struct exporting *x, const struct rule_full *r, const struct level *l, const char *expr)
{
	const struct {
		const char *name, *text;
	} texts[] = { { "summary", r->pub.summary }, { "description", r->pub.description }, { "remedy", r->pub.remedy } };
	struct label_names labels = { 0 };
	struct buf text;

	begin_group(x, &r->pub);
	buf_puts(x->out, "      - alert: ");
	put_camel_case(x->out, r->pub.id);
	buf_putc(x->out, '\n');
	put_block(x->out, expr);
	if (l->for_ns > 0) {
		buf_puts(x->out, "        for: ");
		promql_put_duration(x->out, l->for_ns);
		buf_putc(x->out, '\n');
	}
	if (l->hold_ns > 0) {
		buf_puts(x->out, "        keep_firing_for: ");
		promql_put_duration(x->out, l->hold_ns);
		buf_putc(x->out, '\n');
	}
	buf_puts(x->out, "        labels:\n");
	buf_printf(x->out, "          severity: %s\n          cause: %s\n          rule: %s\n", rule_level_word(l->level),
	    r->pub.cause, r->pub.id);
	buf_puts(x->out, "        annotations:\n");
	if (l->fire != NULL)
		label_names_of(l->fire, &labels);
	buf_init(&text, TEXT_MAX);
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		buf_reset(&text);
		export_text(r, l, &labels, texts[i].text, &text);
		if (text.len == 0)
			continue;
		buf_printf(x->out, "          %s: ", texts[i].name);
		put_quoted(x->out, buf_str(&text));
	}
	x->out->failed = x->out->failed || !buf_ok(&text);
	buf_fini(&text);
	x->count->alerts++;
}

/* What the collector alone can know it says itself, at /metrics; its figures it keeps. */
static void
export_builtin(struct exporting *x, const struct rule_full *r)
{
	struct level l = { .level = r->pub.worst };
	struct rule_full told = *r;
	struct buf expr;

	buf_init(&expr, EXPR_MAX);
	buf_printf(&expr, "hiwat_alert_firing{rule=\"%s\",level=\"%s\"} == 1", r->pub.id, rule_level_word(l.level));
	told.pub.summary = r->pub.reason;
	put_alert(x, &told, &l, buf_str(&expr));
	buf_fini(&expr);
}

static void
export_rule(struct exporting *x, const struct rule_full *r)
{
	unsigned before = x->count->alerts;
	struct buf expr;

	if (*r->pub.builtin != '\0')
		export_builtin(x, r);
	buf_init(&expr, EXPR_MAX);
	for (unsigned i = 0; i < r->n_levels; i++) {
		struct promql p = { .set = x->set, .out = &expr, .host = "", .hosts = "" };
		buf_reset(&expr);
		put_expr(&p, r, &r->levels[i]);
		if (p.why[0] == '\0')
			put_alert(x, r, &r->levels[i], buf_str(&expr));
		else
			buf_printf(x->missing, "%s %s: %s\n", r->pub.id, rule_level_word(r->levels[i].level), p.why);
	}
	buf_fini(&expr);
	if (x->count->alerts > before)
		x->count->rules++;
	else
		x->count->missing++;
}

/* Lines as comments. */
static void
put_comments(struct buf *out, const char *lines)
{
	while (*lines != '\0') {
		size_t n = strcspn(lines, "\n");
		buf_printf(out, "#   %.*s\n", (int)n, lines);
		lines += lines[n] == '\n' ? n + 1 : n;
	}
}

int
rules_export_prometheus(const struct rule_set *set, struct buf *out, struct buf *missing, struct export_count *count)
{
	struct buf body;
	struct exporting x = { .set = set, .out = &body, .missing = missing, .count = count };

	*count = (struct export_count){ 0 };
	buf_init(&body, out->limit);
	for (uint32_t i = 0; i < set->n_rules; i++)
		export_rule(&x, &set->rules[i]);
	buf_puts(out, head_text);
	buf_printf(out, "# %u rules are here, as %u alerts.", count->rules, count->alerts);
	if (missing->len > 0) {
		buf_printf(out, " Not here, of %u rules all they have, since Prometheus has nothing equal:\n",
		    count->missing);
		put_comments(out, buf_str(missing));
	} else {
		buf_putc(out, '\n');
	}
	buf_puts(out, "groups:\n");
	buf_puts(out, collector_text);
	buf_add(out, buf_str(&body), body.len);
	bool failed = !buf_ok(&body) || !buf_ok(out) || !buf_ok(missing);
	buf_fini(&body);
	return failed ? HIWAT_E_NOMEM : HIWAT_OK;
}
