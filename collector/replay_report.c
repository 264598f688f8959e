#include "replay_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "replay_group.h"
#include "units.h"

#define DAYS_SHOWN 7

bool
replay_report_is_damaged(const struct replay_report *r)
{
	struct replay_file f;

	for (size_t i = 0; i < replay_input_count(r->input); i++) {
		replay_input_file(r->input, i, &f);
		if (f.why != NULL || f.damage.lost > 0 || f.damage.bytes > 0 || f.damage.others > 0)
			return true;
	}
	return r->stats->undecodable > 0;
}

bool
replay_report_is_noisy(const struct replay_report *r)
{
	uint64_t from_ns;

	for (size_t i = 0; r->has_budget && i < r->n; i++) {
		if (replay_worst_week(&r->verdicts[i], &from_ns) > r->budget)
			return true;
	}
	return false;
}

/* RFC 3339 in UTC with milliseconds, as in incidents; "" for 0. */
static void
format_time(uint64_t ns, char out[40])
{
	time_t seconds = (time_t)(ns / NSEC_PER_SEC);
	struct tm tm = { 0 };

	out[0] = '\0';
	if (ns == 0 || gmtime_r(&seconds, &tm) == NULL)
		return;
	size_t len = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + len, 8, ".%03uZ", (unsigned)(ns % NSEC_PER_SEC / NSEC_PER_MSEC));
}

static void
put_time(struct buf *out, uint64_t ns)
{
	char text[40];

	format_time(ns, text);
	buf_puts(out, text[0] != '\0' ? text : "-");
}

static void
put_shift(struct buf *out, uint64_t from_ns, uint64_t to_ns)
{
	buf_putc(out, to_ns < from_ns ? '-' : '+');
	units_put_duration(out, (to_ns < from_ns ? from_ns - to_ns : to_ns - from_ns) / NSEC_PER_MSEC);
}

static void
text_files(const struct replay_report *r, struct buf *out)
{
	struct replay_file f;

	for (size_t i = 0; i < replay_input_count(r->input); i++) {
		replay_input_file(r->input, i, &f);
		if (f.why != NULL)
			buf_printf(out, "unreadable  %s: %s\n", f.path, f.why);
		if (f.damage.lost > 0 || f.damage.bytes > 0)
			buf_printf(out, "damaged     %s: at least %" PRIu64 " entries lost, %" PRIu64 " bytes passed over\n",
			    f.path, f.damage.lost, f.damage.bytes);
		if (f.damage.others > 0)
			buf_printf(out, "unknown     %s: %" PRIu64 " entries of a later release\n", f.path, f.damage.others);
		if (f.damage.torn > 0)
			buf_printf(out, "torn        %s: ends within an entry, %" PRIu64 " bytes; all before was read\n",
			    f.path, f.damage.torn);
	}
}

static void
text_stats(const struct replay_report *r, struct buf *out)
{
	const struct replay_stats *s = r->stats;
	const struct judge *j = &r->verdicts[0].judge;

	buf_printf(out, "recording   %zu files, %" PRIu64 " batches, %u hosts, ", replay_input_count(r->input), s->batches,
	    hosts_count(j->hosts));
	put_time(out, s->first_ns);
	buf_puts(out, " to ");
	put_time(out, s->last_ns);
	buf_puts(out, " (");
	units_put_duration(out, (s->last_ns - s->first_ns) / NSEC_PER_MSEC);
	buf_puts(out, ")\n");
	buf_printf(out,
	    "batches     %" PRIu64 " judged, of these %" PRIu64 " of backlog; %" PRIu64 " duplicates, %" PRIu64
	    " refused, %" PRIu64 " not understood\n",
	    j->stats.batches, j->stats.late, j->stats.duplicates, j->stats.refused, s->undecodable);
	if (s->gaps > 0)
		buf_printf(out, "gaps        %" PRIu64 ": the recorder was away, or something is damaged\n", s->gaps);
	text_files(r, out);
}

static void
text_groups(const struct replay_group *g, size_t n, const char *title, struct buf *out)
{
	if (n == 0)
		return;
	buf_printf(out, "\n%-32s %8s %8s %8s %8s %8s\n", title, "pages", "critical", "opened", "open", "flaps");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%-32s %8u %8u %8u %8u %8u\n", g[i].name, g[i].pages, g[i].critical, g[i].opened, g[i].open,
		    g[i].flaps);
}

static void
text_incident(const struct replay_incident *i, struct buf *out)
{
	put_time(out, i->opened_ns);
	buf_putc(out, ' ');
	put_time(out, i->ended_ns);
	buf_printf(out, " %-8s %-8s %s %s%s%s", incident_status_word(i->status), rule_level_word(i->worst), i->host, i->rule,
	    i->object[0] != '\0' ? " " : "", i->object);
	if (i->pages > 1)
		buf_printf(out, ", %u pages", i->pages);
	if (i->reopened > 0)
		buf_printf(out, ", came back %u times", i->reopened);
	buf_puts(out, i->flapped ? ", flapping\n" : "\n");
}

static int
text_verdict(const struct replay_report *r, const struct replay_verdict *v, struct buf *out)
{
	struct replay_group total = replay_total(v), *rules = NULL, *hosts = NULL, *days = NULL;
	size_t n_rules = 0, n_hosts = 0, n_days = 0;
	uint64_t from_ns;
	int err = replay_group(v, REPLAY_BY_RULE, &rules, &n_rules);

	if (err == HIWAT_OK)
		err = replay_group(v, REPLAY_BY_HOST, &hosts, &n_hosts);
	if (err == HIWAT_OK)
		err = replay_days(v, &days, &n_days);
	if (err == HIWAT_OK) {
		size_t week = replay_worst_week(v, &from_ns);
		buf_printf(out, "\nrules       %s: %zu rules\n", v->rules_name, rule_set_count(v->judge.rules));
		buf_printf(out, "incidents   %u opened, %u ended, %u open at the end; %u critical; %u flaps\n", total.opened,
		    total.resolved, total.open, total.critical, total.flaps);
		buf_printf(out, "pages       %u", total.pages);
		if (week > 0) {
			buf_printf(out, ", at most %zu in seven days, from ", week);
			put_time(out, from_ns);
		}
		buf_putc(out, '\n');
		if (r->has_budget)
			buf_printf(out, "budget      %" PRIu64 " pages a week: %s\n", r->budget,
			    week > r->budget ? "exceeded" : "kept");
		for (size_t i = 0; i < n_days && i < DAYS_SHOWN; i++)
			buf_printf(out, "%s%s %u%s", i == 0 ? "worst days  " : ", ", days[i].day, days[i].pages,
			    i + 1 == n_days || i + 1 == DAYS_SHOWN ? "\n" : "");
		text_groups(rules, n_rules, "rule", out);
		text_groups(hosts, n_hosts, "host", out);
		if (r->verbose && v->n_incidents > 0)
			buf_puts(out, "\nincidents: opened, ended, status, worst level, host, rule, object\n");
		for (size_t i = 0; r->verbose && i < v->n_incidents; i++)
			text_incident(&v->incidents[i], out);
	}
	free(rules);
	free(hosts);
	free(days);
	return err;
}

static void
text_pair(const struct replay_pair *p, struct buf *out)
{
	if (p->a == NULL || p->b == NULL) {
		buf_puts(out, p->a != NULL ? "- " : "+ ");
		text_incident(p->a != NULL ? p->a : p->b, out);
		return;
	}
	buf_puts(out, "~ ");
	put_time(out, p->a->opened_ns);
	buf_printf(out, " %s %s%s%s: opened ", p->a->host, p->a->cause, p->a->object[0] != '\0' ? " " : "", p->a->object);
	put_shift(out, p->a->opened_ns, p->b->opened_ns);
	buf_puts(out, ", ended ");
	if (p->a->ended_ns != 0 && p->b->ended_ns != 0)
		put_shift(out, p->a->ended_ns, p->b->ended_ns);
	else
		buf_puts(out,
		    p->a->ended_ns == p->b->ended_ns ? "in neither"
			: p->a->ended_ns != 0        ? "only before"
						     : "only now");
	if (p->a->worst != p->b->worst)
		buf_printf(out, ", %s instead of %s", rule_level_word(p->b->worst), rule_level_word(p->a->worst));
	buf_putc(out, '\n');
}

static int
text_comparison(const struct replay_report *r, struct buf *out)
{
	const struct replay_verdict *a = &r->verdicts[0], *b = &r->verdicts[1];
	struct replay_pair *pairs = NULL;
	size_t n = 0, only_a = 0, only_b = 0, same = 0;
	int err = replay_compare(a, b, &pairs, &n);

	if (err != HIWAT_OK)
		return err;
	for (size_t i = 0; i < n; i++) {
		only_a += pairs[i].b == NULL;
		only_b += pairs[i].a == NULL;
		same += replay_pair_is_same(&pairs[i]);
	}
	buf_printf(out, "\ncompared    %zu incidents the same, %zu changed (~), %zu only by %s (-), %zu only by %s (+)\n",
	    same, n - same - only_a - only_b, only_a, a->rules_name, only_b, b->rules_name);
	for (size_t i = 0; i < n; i++) {
		if (!replay_pair_is_same(&pairs[i]))
			text_pair(&pairs[i], out);
	}
	free(pairs);
	return HIWAT_OK;
}

int
replay_report_text(const struct replay_report *r, struct buf *out)
{
	int err = HIWAT_OK;

	text_stats(r, out);
	for (size_t i = 0; err == HIWAT_OK && i < r->n; i++)
		err = text_verdict(r, &r->verdicts[i], out);
	if (err == HIWAT_OK && r->n == 2)
		err = text_comparison(r, out);
	return err == HIWAT_OK && !buf_ok(out) ? HIWAT_E_NOMEM : err;
}

static void
put(json_t *o, const char *name, json_t *value)
{
	json_object_set_new(o, name, value);
}

static void
put_number(json_t *o, const char *name, uint64_t value)
{
	put(o, name, json_integer((json_int_t)value));
}

static void
put_stamp(json_t *o, const char *name, uint64_t ns)
{
	char text[40];

	format_time(ns, text);
	if (text[0] != '\0')
		put(o, name, json_string(text));
}

static json_t *
json_files(const struct replay_report *r)
{
	json_t *list = json_array();
	struct replay_file f;

	for (size_t i = 0; i < replay_input_count(r->input); i++) {
		json_t *o = json_object();
		replay_input_file(r->input, i, &f);
		put(o, "path", json_string(f.path));
		if (f.why != NULL)
			put(o, "unreadable", json_string(f.why));
		put_number(o, "entries_lost", f.damage.lost);
		put_number(o, "bytes_passed_over", f.damage.bytes);
		put_number(o, "entries_unknown", f.damage.others);
		put_number(o, "bytes_torn", f.damage.torn);
		json_array_append_new(list, o);
	}
	return list;
}

static void
put_group(json_t *o, const struct replay_group *g)
{
	put_number(o, "opened", g->opened);
	put_number(o, "ended", g->resolved);
	put_number(o, "open", g->open);
	put_number(o, "critical", g->critical);
	put_number(o, "pages", g->pages);
	put_number(o, "flaps", g->flaps);
}

static json_t *
json_groups(const struct replay_group *g, size_t n, const char *name)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();
		put(o, name, json_string(g[i].name));
		put_group(o, &g[i]);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *
json_incident(const struct replay_incident *i)
{
	json_t *o = json_object();

	put(o, "key", json_string(i->key));
	put(o, "host", json_string(i->host));
	put(o, "rule", json_string(i->rule));
	put(o, "cause", json_string(i->cause));
	put(o, "object", json_string(i->object));
	put(o, "status", json_string(incident_status_word(i->status)));
	put(o, "worst_level", json_string(rule_level_word(i->worst)));
	put_stamp(o, "opened", i->opened_ns);
	put_stamp(o, "ended", i->ended_ns);
	put_number(o, "pages", i->pages);
	put_number(o, "reopened", i->reopened);
	put(o, "flapped", json_boolean(i->flapped));
	return o;
}

static json_t *
json_verdict(const struct replay_report *r, const struct replay_verdict *v)
{
	struct replay_group total = replay_total(v), *rules = NULL, *hosts = NULL, *days = NULL;
	size_t n_rules = 0, n_hosts = 0, n_days = 0;
	uint64_t from_ns;
	json_t *o = NULL;

	if (replay_group(v, REPLAY_BY_RULE, &rules, &n_rules) == HIWAT_OK &&
	    replay_group(v, REPLAY_BY_HOST, &hosts, &n_hosts) == HIWAT_OK && replay_days(v, &days, &n_days) == HIWAT_OK) {
		size_t week = replay_worst_week(v, &from_ns);
		json_t *list = json_array();
		o = json_object();
		put(o, "rules", json_string(v->rules_name));
		put_group(o, &total);
		put_number(o, "pages_of_worst_week", week);
		put_stamp(o, "worst_week", from_ns);
		if (r->has_budget)
			put(o, "budget_exceeded", json_boolean(week > r->budget));
		for (size_t i = 0; i < n_days; i++) {
			json_t *day = json_object();
			put(day, "day", json_string(days[i].day));
			put_number(day, "pages", days[i].pages);
			json_array_append_new(list, day);
		}
		put(o, "days", list);
		put(o, "by_rule", json_groups(rules, n_rules, "rule"));
		put(o, "by_host", json_groups(hosts, n_hosts, "host"));
		list = json_array();
		for (size_t i = 0; i < v->n_incidents; i++)
			json_array_append_new(list, json_incident(&v->incidents[i]));
		put(o, "incidents", list);
	}
	free(rules);
	free(hosts);
	free(days);
	return o;
}

static json_t *
json_comparison(const struct replay_report *r)
{
	struct replay_pair *pairs = NULL;
	size_t n = 0, same = 0;

	if (replay_compare(&r->verdicts[0], &r->verdicts[1], &pairs, &n) != HIWAT_OK)
		return NULL;
	json_t *o = json_object(), *only_a = json_array(), *only_b = json_array(), *changed = json_array();
	for (size_t i = 0; i < n; i++) {
		if (replay_pair_is_same(&pairs[i])) {
			same++;
		} else if (pairs[i].a == NULL || pairs[i].b == NULL) {
			json_array_append_new(pairs[i].b == NULL ? only_a : only_b,
			    json_incident(pairs[i].a != NULL ? pairs[i].a : pairs[i].b));
		} else {
			json_t *both = json_array();
			json_array_append_new(both, json_incident(pairs[i].a));
			json_array_append_new(both, json_incident(pairs[i].b));
			json_array_append_new(changed, both);
		}
	}
	free(pairs);
	put_number(o, "same", same);
	put(o, "only_first", only_a);
	put(o, "only_second", only_b);
	put(o, "changed", changed);
	return o;
}

json_t *
replay_report_json(const struct replay_report *r)
{
	const struct judge_stats *s = &r->verdicts[0].judge.stats;
	json_t *o = json_object(), *verdicts = json_array();

	put_number(o, "version", 1);
	put_number(o, "batches", r->stats->batches);
	put_number(o, "judged", s->batches);
	put_number(o, "late", s->late);
	put_number(o, "duplicates", s->duplicates);
	put_number(o, "refused", s->refused);
	put_number(o, "undecodable", r->stats->undecodable);
	put_number(o, "hosts", hosts_count(r->verdicts[0].judge.hosts));
	put_stamp(o, "first", r->stats->first_ns);
	put_stamp(o, "last", r->stats->last_ns);
	put_number(o, "gaps", r->stats->gaps);
	put(o, "files", json_files(r));
	for (size_t i = 0; i < r->n; i++)
		json_array_append_new(verdicts, json_verdict(r, &r->verdicts[i]));
	bool whole = json_array_size(verdicts) == r->n;
	put(o, "verdicts", verdicts);
	if (r->n == 2) {
		json_t *compared = json_comparison(r);
		whole = whole && compared != NULL;
		put(o, "compared", compared);
	}
	if (whole)
		return o;
	json_decref(o);
	return NULL;
}
