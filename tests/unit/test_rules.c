/* Rule files, templates, the state as bytes, check; how rules fire and clear is under test in tests/rules. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "err.h"
#include "rule_host.h"

#define HEAD "    cause: c\n    threshold_source: ours\n    reason: r\n    summary: s\n"

static struct rule_set *
load(const char *text)
{
	struct rule_set *set = NULL;
	struct buf errors;

	buf_init(&errors, 10000);
	int err = rule_set_parse("f", text, strlen(text), &set, &errors);
	ck_assert_msg(err == HIWAT_OK, "%s", buf_str(&errors));
	buf_fini(&errors);
	return set;
}

static const struct {
	const char *text, *errors; /* all lines */
} file_rows[] = {
	{ "", "f:1:1: 'rules:' with a list of rules was expected\n" },
	{ "rules: {}\n", "f:1:8: a list of rules was expected, not a mapping\n" },
	{ "rules: []\nrule: 1\n", "f:2:1: unknown key 'rule'; allowed: rules, settings, profiles, delivers\n" },
	{ "rules:\n  - text\n", "f:2:5: a rule was expected, not text\n" },
	{ "rules:\n  - id: a\n" HEAD, "f:2:5: advice, warning or critical with a condition is missing\n" },
	{ "rules:\n  - id: A b\n" HEAD "    warning: hiwat_pf_states > 1\n",
	    "f:2:9: an id of a-z, 0-9 and - was expected\n" },
	{ "rules:\n  - id: a\n" HEAD "    warning: hiwat_pf_states > 1\n  - id: a\n" HEAD
	  "    warning: hiwat_pf_states > 1\n",
	    "f:8:9: the id 'a' is taken by f:2\n" },
	{ "rules:\n  - id: a\n" HEAD "    warning: 5\n", "f:7:14: a threshold needs 'expr', which is compared with it\n" },
	{ "rules:\n  - id: a\n" HEAD "    warning: { for: 5s }\n",
	    "f:7:14: 'when' with a threshold or a condition is missing\n" },
	{ "rules:\n  - id: a\n" HEAD "    warning: { when: hiwat_pf_states > 1, hold: x }\n",
	    "f:7:49: a duration such as 500ms, 10s, 5m, 1h30m, 7d was expected\n" },
	{ "rules:\n  - id: a\n" HEAD "    warning: absent(hiwat_pf_states)\n    clear: 5\n",
	    "f:8:12: 'clear' needs a comparison to apply to\n" },
	{ "rules:\n  - id: a\n" HEAD "    warning: hiwat_pf_states > 1\n    by: [pol]\n",
	    "f:8:10: no metric has a label 'pol'\n" },
	{ "rules:\n  - id: a\n" HEAD "    builtin: b\n", "f:2:5: a builtin rule has 'level' and no condition\n" },
	{ "rules:\n  - id: a\n" HEAD "    warning: hiwat_pf_states > 1\n    level: warning\n",
	    "f:2:5: 'level' is for builtin rules; others have advice, warning or critical\n" },
	{ "rules:\n  - id: a\n" HEAD "    warning: hiwat_pf_states > 1\n    remedy_of: b\n",
	    "f:8:16: the id of a rule before this one was expected\n" },
	{ "rules:\n  - id: a\n" HEAD "    warning: hiwat_pf_states > x\n    params: { x: many }\n",
	    "f:8:18: unknown name 'many': a metric, a function or one of the rule's params was expected\n"
	    "f:7:32: unknown name 'x': a metric, a function or one of the rule's params was expected\n" },
	/* Everything that is wrong, in one go. */
	{ "rules:\n  - id: a\n    cause: c\n    threshold_source: theirs\n    summary: '{{limit}}'\n    warning: hiwat_x > "
	  "1\n"
	  "  - id: b\n" HEAD "    critical: rate(hiwat_pf_states[1m]) > 1\n    fro: 5m\n",
	    "f:6:14: unknown name 'hiwat_x': a metric, a function or one of the rule's params was expected\n"
	    "f:2:5: 'reason' is missing\n"
	    "f:4:23: document or ours was expected\n"
	    "f:5:14: the rule has no 'limit' (at 'limit}}')\n"
	    "f:13:5: unknown key 'fro'; allowed: id, cause, doc, threshold_source, reason, summary, description, remedy, "
	    "builtin, params, expr, compare, advice, warning, critical, for, hold, clear, by, used, limit, eta, since_boot, "
	    "level, remedy_of\n"
	    "f:12:15: rate() works on counters, this is a gauge: delta() was expected\n" },
};

START_TEST(files_say_all_that_is_wrong)
{
	struct rule_set *set = NULL;
	struct buf errors;

	buf_init(&errors, 10000);
	ck_assert_int_eq(rule_set_parse("f", file_rows[_i].text, strlen(file_rows[_i].text), &set, &errors), HIWAT_E_CONFIG);
	ck_assert_ptr_null(set);
	ck_assert_str_eq(buf_str(&errors), file_rows[_i].errors);
	buf_fini(&errors);
}
END_TEST

START_TEST(what_cannot_be_read_is_named)
{
	struct rule_set *set = NULL;
	struct buf errors;

	buf_init(&errors, 1000);
	ck_assert_int_eq(rule_set_load("/nonexistent/rules.d", &set, &errors), HIWAT_E_SYS);
	ck_assert_str_eq(buf_str(&errors), "/nonexistent/rules.d: cannot be read: No such file or directory\n");
	buf_fini(&errors);
}
END_TEST

static const struct {
	const char *template, *want; /* want: NULL: refused when loaded */
} template_rows[] = {
	{ "plain", "plain" },
	{ "{{used}} of {{limit}}, {{ratio}}", "900 of 1000, 90 %" },
	{ "{{value}} {{threshold}}", "0.9 0.75" },
	{ "{{duration eta}}", "unknown" },
	{ "{{duration 90}} {{duration 600}} {{duration 7200}} {{duration 1000000}}", "90 s 10 min 2 h 12 days" },
	{ "{{pow2up (limit * 2)}}", "2048" },
	{ "{{limit * 2 + 1}} {{limit - 1 - 1}} {{(limit + 24) / 1024}}", "2001 998 1" },
	{ "{{limit / 0}}", "unknown" },
	{ "{{bytes limit}} {{bytes (limit * 2048)}} {{bytes 1536}}", "1000 B 2.0 MiB 1.5 KiB" },
	{ "{{percent 0.123}} {{percent 0.0017}}", "12 % 0.17 %" },
	{ "{{max 5 limit}} {{min 5 limit}} {{ceil 1.2}}", "1000 5 2" },
	{ "{{label \"pool\"}} on {{host}} ({{os}})", "cluster on host1 (freebsd)" },
	{ "{{label \"irq\"}}|{{host_label \"role\"}}", "|" },
	{ "{{setting \"kern.hz\"}} {{setting \"tcp_mem\" 2}} {{setting \"none\"}}", "100 9 unknown" },
	{ "{{setting \"tcp_mem\" 2 * 2}}", "18" },
	{ "{{metric \"hiwat_mbuf_pool_limit\"}} {{metric \"hiwat_pf_states\"}}", "1000 7" },
	{ "{{param \"warning\"}} {{level}} {{rule}}", "0.75 warning r" },
	{ "{{if os = \"linux\"}}L{{elif os = \"freebsd\"}}F{{else}}E{{end}}!", "F!" },
	{ "{{if os = \"linux\"}}L{{else}}E{{end}}!", "E!" },
	{ "{{if value > 0.5 and limit >= 1000}}a{{if label \"pool\" != \"x\"}}b{{end}}{{end}}", "ab" },
	{ "{{if value < 0.5 or limit <= 1}}a{{end}}", "" },
	{ "{{if setting \"none\" > 1}}a{{else}}b{{end}}", "b" },
	{ "Full. It is full in {{duration eta}}. Act.", "Full. Act." },
	{ "It is full in {{duration eta}}. Act.", "Act." },
	{ "Set it to {{limit}} (about {{bytes eta}} more); go on.", "Set it to 1000; go on." },
	{ "Set it to {{limit}} (about {{bytes limit}} more); go on.", "Set it to 1000 (about 1000 B more); go on." },
	{ "Set it to {{eta}} (about {{bytes limit}}). Then go on.", "Then go on." },
	{ "0.5 of {{setting \"none\"}}", "0.5 of unknown" },
	{ "{{times 1}} {{times 2}} {{times 3}}", "once twice 3 times" },
	{ "{{times eta}}", "unknown" },
	{ "x={{pow2up (setting \"none\" * 2)}} (about {{bytes eta}})", "x=A_HIGHER_VALUE" },
	{ "x={{max 64 (pow2up (setting \"none\" * 2))}}", "x=AT_LEAST_64" },
	{ "x={{max 64 (pow2up (limit * 2))}} {{max 4096 (pow2up limit)}}", "x=2048 4096" },
	{ "{{if limit > 5}}more {{else}}less {{end}}", "more" },
	{ "{{limt}}", NULL },
	{ "{{limit", NULL },
	{ "{{limit limit}}", NULL },
	{ "{{}}", NULL },
	{ "{{if value > 1}}", NULL },
	{ "{{end}}", NULL },
	{ "{{label \"pol\"}}", NULL },
	{ "{{label 5}}", NULL },
	{ "{{bytes \"x\"}}", NULL },
	{ "{{param \"x\"}}", NULL },
	{ "{{metric \"hiwat_x\"}}", NULL },
	{ "{{host + 1}}", NULL },
	{ "{{if os = 5}}{{end}}", NULL },
	{ "{{if os}}{{end}}", NULL },
	{ "{{eta}}", "unknown" },
	{ "{{((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))}}", NULL },
};

START_TEST(templates)
{
	struct rule_set *set = NULL;
	struct buf text, errors;
	struct rule_host h;

	buf_init(&text, 10000);
	buf_init(&errors, 10000);
	buf_printf(&text,
	    "rules:\n  - id: r\n    cause: c\n    threshold_source: ours\n    reason: r\n    summary: '%s'\n"
	    "    expr: hiwat_mbuf_pool_in_use / hiwat_mbuf_pool_limit\n    warning: 0.75\n"
	    "    eta: time_to(hiwat_mbuf_pool_in_use[15m], hiwat_mbuf_pool_limit)\n",
	    template_rows[_i].template);
	int err = rule_set_parse("f", buf_str(&text), text.len, &set, &errors);
	if (template_rows[_i].want == NULL) {
		ck_assert_int_eq(err, HIWAT_E_CONFIG);
		ck_assert_msg(strncmp(buf_str(&errors), "f:6:14: ", 8) == 0, "%s", buf_str(&errors));
	} else {
		ck_assert_msg(err == HIWAT_OK, "%s", buf_str(&errors));
		rule_host_init(&h, set, "freebsd");
		size_t s = rule_host_begin(&h, "test");
		ck_assert(rule_host_put(&h, s, "hiwat_mbuf_pool_in_use{pool=\"cluster\"}", 900));
		ck_assert(rule_host_put(&h, s, "hiwat_mbuf_pool_limit{pool=\"cluster\"}", 1000));
		ck_assert(rule_host_put(&h, s, "hiwat_pf_states", 7));
		ck_assert(rule_host_put(&h, s, "hiwat_sysctl{index=\"\",name=\"kern.hz\"}", 100));
		ck_assert(rule_host_put(&h, s, "hiwat_sysctl{index=\"2\",name=\"tcp_mem\"}", 9));
		ck_assert_int_eq(rule_host_eval(&h, s, 60, 10, VERDICT_OK), HIWAT_OK);
		ck_assert_uint_eq(h.n_events, 1);
		buf_reset(&text);
		ck_assert_int_eq(rule_render(h.events[0].rule->summary, &h.events[0], &h.view, &text), HIWAT_OK);
		ck_assert_str_eq(buf_str(&text), template_rows[_i].want);
		rule_host_fini(&h);
		rule_set_free(set);
	}
	buf_fini(&text);
	buf_fini(&errors);
}
END_TEST

static const char two_rules[] = "rules:\n  - id: states\n" HEAD "    warning: hiwat_pf_states > 5\n  - id: grown\n" HEAD
				"    critical: grows(hiwat_listen_overflows_total)\n  - id: rated\n" HEAD
				"    critical: rate(hiwat_listen_overflows_total[1m]) > 100\n";

static void
record(struct rule_host *h, double at, double states, double overflows)
{
	size_t s = rule_host_begin(h, "test");

	ck_assert(rule_host_put(h, s, "hiwat_pf_states", states));
	ck_assert(rule_host_put(h, s, "hiwat_listen_overflows_total", overflows));
	ck_assert_int_eq(rule_host_eval(h, s, at, 10, VERDICT_OK), HIWAT_OK);
}

START_TEST(damaged_state_is_refused_whole)
{
	struct rule_set *set = load(two_rules);
	struct rule_host h;
	struct buf b;

	buf_init(&b, 100000);
	rule_host_init(&h, set, "freebsd");
	record(&h, 60, 10, 1);
	record(&h, 70, 10, 2);
	ck_assert_int_eq(rule_state_save(set, h.state, h.labels, &b), HIWAT_OK);
	for (size_t len = 0; len < b.len; len++) {
		struct rule_state *st = rule_state_new();
		ck_assert_int_eq(rule_state_load(set, st, h.labels, b.data, len), HIWAT_E_CORRUPT);
		rule_state_free(st);
	}
	/* Any one byte changed: refused, or something that can be worked with. */
	for (size_t at = 0; at < b.len; at++) {
		struct rule_state *kept = h.state;
		h.state = rule_state_new();
		b.data[at] ^= 0x55;
		if (rule_state_load(set, h.state, h.labels, b.data, b.len) == HIWAT_OK)
			record(&h, 80, 10, 3);
		b.data[at] ^= 0x55;
		rule_state_free(h.state);
		h.state = kept;
	}
	rule_host_fini(&h);
	rule_set_free(set);
	buf_fini(&b);
}
END_TEST

START_TEST(late_and_double_records_change_nothing)
{
	struct rule_set *set = load(two_rules);
	struct rule_host h;

	rule_host_init(&h, set, "freebsd");
	record(&h, 60, 1, 1);
	record(&h, 60, 10, 5);
	ck_assert_uint_eq(h.n_events, 0);
	record(&h, 50, 10, 5);
	ck_assert_uint_eq(h.n_events, 0);
	record(&h, 70, 10, 1);
	ck_assert_str_eq(rule_host_status(&h, "states"), "warning");
	ck_assert_str_eq(rule_host_status(&h, "grown"), "");
	rule_host_fini(&h);
	rule_set_free(set);
}
END_TEST

START_TEST(a_reload_drops_what_changed_and_invents_nothing)
{
	struct rule_set *set = load("rules:\n  - id: states\n" HEAD "    warning: hiwat_pf_states > 5\n");
	struct rule_set *same = load(two_rules);
	struct rule_set *other = load("rules:\n  - id: states\n" HEAD "    warning: hiwat_pf_states > 6\n");
	struct rule_host h;

	rule_host_init(&h, set, "freebsd");
	record(&h, 60, 10, 1000);
	ck_assert_str_eq(rule_host_status(&h, "states"), "warning");
	ck_assert_int_eq(rule_state_migrate(set, same, h.state), HIWAT_OK);
	h.rules = same;
	ck_assert_str_eq(rule_host_status(&h, "states"), "warning");
	record(&h, 70, 10, 1000);
	ck_assert_uint_eq(h.n_events, 0);
	ck_assert_str_eq(rule_host_status(&h, "grown"), "");
	record(&h, 80, 10, 1001);
	ck_assert_str_eq(rule_host_status(&h, "grown"), "critical");
	ck_assert_int_eq(rule_state_migrate(same, other, h.state), HIWAT_OK);
	h.rules = other;
	ck_assert_str_eq(rule_host_status(&h, "states"), "");
	record(&h, 90, 10, 1001);
	ck_assert_str_eq(rule_host_status(&h, "states"), "warning");
	rule_host_fini(&h);
	rule_set_free(set);
	rule_set_free(same);
	rule_set_free(other);
}
END_TEST

START_TEST(values_that_move_are_told_and_others_not)
{
	struct rule_set *set = load(two_rules);
	struct rule_host h;

	rule_host_init(&h, set, "freebsd");
	record(&h, 60, 10, 1);
	ck_assert_uint_eq(h.n_events, 1);
	ck_assert_int_eq(h.events[0].old_status, RULE_OK);
	record(&h, 70, 10, 1);
	ck_assert_uint_eq(h.n_events, 0);
	record(&h, 80, 11, 1);
	ck_assert_uint_eq(h.n_events, 1);
	ck_assert_int_eq(h.events[0].status, RULE_FIRING);
	ck_assert_int_eq(h.events[0].old_status, RULE_FIRING);
	ck_assert(h.events[0].value == 11 && h.events[0].threshold == 5);
	ck_assert_uint_eq(h.events[0].since_boot_ns, 60000000000u);
	rule_host_fini(&h);
	rule_set_free(set);
}
END_TEST

START_TEST(rows_of_one_object_have_one_key)
{
	struct rule_set *set = load("rules:\n  - id: a\n" HEAD "    warning: hiwat_disk_timeouts_total > 0\n  - id: b\n" HEAD
				    "    warning: hiwat_interrupts_total > 0\n  - id: c\n" HEAD "    by: [mount]\n"
				    "    warning: hiwat_filesystem_bytes_used > 0\n  - id: d\n" HEAD
				    "    by: []\n    warning: hiwat_zone_used > 0\n");
	struct rule_host h;
	unsigned n;

	rule_host_init(&h, set, "freebsd");
	size_t s = rule_host_begin(&h, "test");
	ck_assert(rule_host_put(&h, s, "hiwat_disk_timeouts_total{device=\"ad0\",operation=\"READ\"}", 1));
	ck_assert(rule_host_put(&h, s, "hiwat_disk_timeouts_total{device=\"ad0\",operation=\"WRITE\"}", 1));
	ck_assert(rule_host_put(&h, s, "hiwat_interrupts_total{device=\"em0:rx0\",irq=\"256\"}", 1));
	ck_assert(rule_host_put(&h, s, "hiwat_filesystem_bytes_used{mount=\"/\"}", 1));
	ck_assert(rule_host_put(&h, s, "hiwat_zone_used{zone=\"z\"}", 1));
	ck_assert_int_eq(rule_host_eval(&h, s, 60, 10, VERDICT_OK), HIWAT_OK);
	ck_assert_uint_eq(h.n_events, 5);
	ck_assert_uint_eq(h.events[0].object, h.events[1].object);
	ck_assert_uint_ne(h.events[0].labels, h.events[1].labels);
	ck_assert_str_eq(labels_value(h.labels, h.events[0].object, "device"), "ad0");
	ck_assert_str_eq(labels_value(h.labels, h.events[2].object, "irq"), "256");
	labels_get(h.labels, h.events[2].object, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_str_eq(labels_value(h.labels, h.events[3].object, "mount"), "/");
	ck_assert_uint_eq(h.events[4].object, LABELS_EMPTY);
	rule_host_fini(&h);
	rule_set_free(set);
}
END_TEST

START_TEST(labels_in_use_survive_a_sweep)
{
	struct rule_set *set =
	    load("rules:\n  - id: a\n" HEAD "    warning: sum by (device) (hiwat_disk_timeouts_total) > 0\n");
	struct rule_host h;

	rule_host_init(&h, set, "freebsd");
	size_t s = rule_host_begin(&h, "test");
	ck_assert(rule_host_put(&h, s, "hiwat_disk_timeouts_total{device=\"ad0\",operation=\"READ\"}", 1));
	ck_assert_int_eq(rule_host_eval(&h, s, 60, 10, VERDICT_OK), HIWAT_OK);
	labels_mark_begin(h.labels);
	rule_state_mark(h.state, h.labels);
	labels_sweep(h.labels);
	ck_assert_str_eq(labels_value(h.labels, h.events[0].object, "device"), "ad0");
	ck_assert_int_eq(rule_host_eval(&h, s, 70, 10, VERDICT_OK), HIWAT_OK);
	ck_assert_str_eq(rule_host_status(&h, "a"), "warning {device=\"ad0\"}");
	rule_host_fini(&h);
	rule_set_free(set);
}
END_TEST

struct checked {
	struct rule_event events[10];
	bool since_boot[10];
	unsigned n;
	struct rule_gap gaps[10];
	unsigned n_gaps;
};

static void
keep_found(void *arg, const struct rule_event *e, bool is_since_boot)
{
	struct checked *c = arg;

	c->since_boot[c->n] = is_since_boot;
	c->events[c->n++] = *e;
}

static void
keep_left(void *arg, const struct rule_gap *gap)
{
	struct checked *c = arg;

	c->gaps[c->n_gaps++] = *gap;
}

/* What check makes of a host; how many rules it judged. */
static unsigned
check_host(struct rule_set *set, struct rule_host *h, enum rule_level worst, struct checked *c)
{
	const struct rule_check out = { keep_found, keep_left, c };
	unsigned judged = 99;

	*c = (struct checked){ 0 };
	ck_assert_int_eq(rules_check(set, &h->view, h->labels, &out, &judged), worst);
	return judged;
}

START_TEST(check_judges_one_sample)
{
	struct rule_set *set =
	    load("rules:\n  - id: now\n" HEAD "    for: 1h\n    critical: hiwat_pf_states > 5\n"
		 "  - id: ok\n" HEAD "    critical: hiwat_pf_states > 500\n  - id: history\n" HEAD
		 "    critical: grows(hiwat_listen_overflows_total)\n  - id: boot\n" HEAD "    since_boot: true\n"
		 "    critical: grows(hiwat_mbuf_requests_denied_total)\n  - id: absent\n" HEAD
		 "    critical: hiwat_swap_bytes_used > 5\n  - id: week\n" HEAD "    for: 7d\n"
		 "    critical: hiwat_pf_states > 5\n");
	struct rule_host h;
	struct checked c;

	rule_host_init(&h, set, "freebsd");
	size_t s = rule_host_begin(&h, "test");
	ck_assert(rule_host_put(&h, s, "hiwat_pf_states", 6));
	ck_assert(rule_host_put(&h, s, "hiwat_listen_overflows_total", 6));
	ck_assert(rule_host_put(&h, s, "hiwat_mbuf_requests_denied_total{pool=\"cluster\"}", 14103));
	ck_assert(rule_host_put(&h, s, "hiwat_mbuf_requests_denied_total{pool=\"mbuf\"}", 0));
	ck_assert_uint_eq(check_host(set, &h, RULE_LEVEL_CRITICAL, &c), 3);
	ck_assert_uint_eq(c.n, 2);
	ck_assert_str_eq(c.events[0].rule->id, "now");
	ck_assert_int_eq(c.events[0].level, RULE_LEVEL_CRITICAL);
	ck_assert(!c.since_boot[0]);
	ck_assert_str_eq(c.events[1].rule->id, "boot");
	ck_assert_int_eq(c.events[1].level, RULE_LEVEL_WARNING);
	ck_assert(c.since_boot[1]);
	ck_assert(c.events[1].value == 14103);
	ck_assert_uint_eq(c.n_gaps, 2);
	ck_assert_str_eq(c.gaps[0].event.rule->id, "history");
	ck_assert_int_eq(c.gaps[0].why, RULE_GAP_HISTORY);
	ck_assert(c.gaps[0].event.value == 6);
	ck_assert_str_eq(c.gaps[1].event.rule->id, "week");
	ck_assert_int_eq(c.gaps[1].why, RULE_GAP_DURATION);
	rule_host_fini(&h);
	/* Nothing there, nothing judged. */
	rule_host_init(&h, set, "freebsd");
	ck_assert_uint_eq(check_host(set, &h, RULE_LEVEL_NONE, &c), 0);
	ck_assert_uint_eq(c.n + c.n_gaps, 0);
	rule_host_fini(&h);
	rule_set_free(set);
}
END_TEST

#define NONE (-1) /* the series is not there */

/* One side of "or" needs no history: a rule as raid-timeout and conntrack-filling are. */
static const struct {
	double timeouts, stuck;
	unsigned judged, n;
	double counted; /* NONE: nothing is left open */
} side_rows[] = {
	{ 3, 60, 1, 1, NONE }, /* the side without holds */
	{ 3, 59, 0, 0, 3 },    /* it does not, and the other one may */
	{ 0, 59, 1, 0, NONE }, /* neither */
	{ NONE, 59, 1, 0, NONE } /* there is no other side */,
	{ NONE, 60, 1, 1, NONE },
	{ 3, NONE, 0, 0, 3 }, /* only a later sample tells */
	{ 0, NONE, 0, 0, NAN },
};

START_TEST(check_judges_what_it_can_of_or)
{
	struct rule_set *set =
	    load("rules:\n  - id: a\n" HEAD "    critical: grows(sum by (device) (hiwat_disk_timeouts_total)) or "
		 "hiwat_disk_stuck_command_seconds >= 60\n");
	struct rule_host h;
	struct checked c;

	rule_host_init(&h, set, "freebsd");
	size_t s = rule_host_begin(&h, "test");
	if (side_rows[_i].timeouts >= 0)
		ck_assert(rule_host_put(&h, s, "hiwat_disk_timeouts_total{device=\"mfi0\",operation=\"\"}",
		    side_rows[_i].timeouts));
	if (side_rows[_i].stuck >= 0)
		ck_assert(rule_host_put(&h, s, "hiwat_disk_stuck_command_seconds{device=\"mfi0\"}", side_rows[_i].stuck));
	enum rule_level worst = side_rows[_i].n > 0 ? RULE_LEVEL_CRITICAL : RULE_LEVEL_NONE;
	ck_assert_uint_eq(check_host(set, &h, worst, &c), side_rows[_i].judged);
	ck_assert_uint_eq(c.n, side_rows[_i].n);
	ck_assert_uint_eq(c.n_gaps, side_rows[_i].counted == NONE ? 0 : 1);
	if (c.n_gaps > 0 && !isnan(side_rows[_i].counted))
		ck_assert(c.gaps[0].event.value == side_rows[_i].counted);
	if (c.n_gaps > 0 && isnan(side_rows[_i].counted))
		ck_assert(isnan(c.gaps[0].event.value));
	rule_host_fini(&h);
	rule_set_free(set);
}
END_TEST

START_TEST(check_counts_ages_to_the_time_it_is_told)
{
	struct rule_set *set =
	    load("rules:\n  - id: a\n" HEAD "    warning: age(hiwat_zpool_scrub_finished_time_seconds) > 35d\n");
	struct rule_host h;
	struct checked c;

	rule_host_init(&h, set, "freebsd");
	size_t s = rule_host_begin(&h, "test");
	ck_assert(rule_host_put(&h, s, "hiwat_zpool_scrub_finished_time_seconds{pool=\"tank\"}", 1000000000));
	ck_assert_uint_eq(check_host(set, &h, RULE_LEVEL_NONE, &c), 0);
	ck_assert_uint_eq(c.n_gaps, 1);
	ck_assert_int_eq(c.gaps[0].why, RULE_GAP_CLOCK);
	h.sets[s].wall_ns = 1003024000000000000; /* 35 days later */
	ck_assert_uint_eq(check_host(set, &h, RULE_LEVEL_NONE, &c), 1);
	ck_assert_uint_eq(c.n_gaps, 0);
	h.sets[s].wall_ns += 1000000000;
	ck_assert_uint_eq(check_host(set, &h, RULE_LEVEL_WARNING, &c), 1);
	ck_assert(c.events[0].value == 3024001);
	rule_host_fini(&h);
	rule_set_free(set);
}
END_TEST

/* The peak of the last week is at least what is there now. */
START_TEST(check_takes_a_sample_for_its_peak)
{
	struct rule_set *set = load("rules:\n  - id: a\n" HEAD "    advice: hiwat_mbuf_pool_limit{pool=\"cluster\"} < on () "
				    "max(hiwat_tcp_connections{state=\"established\"}[7d]) * 16\n");
	struct rule_host h;
	struct checked c;

	rule_host_init(&h, set, "freebsd");
	size_t s = rule_host_begin(&h, "test");
	ck_assert(rule_host_put(&h, s, "hiwat_mbuf_pool_limit{pool=\"cluster\"}", 1024));
	ck_assert_uint_eq(check_host(set, &h, RULE_LEVEL_NONE, &c), 0);
	ck_assert_uint_eq(c.n_gaps, 1);
	ck_assert_int_eq(c.gaps[0].why, RULE_GAP_SERIES);
	ck_assert_uint_eq(c.gaps[0].n_missing, 1);
	ck_assert_str_eq(c.gaps[0].missing[0].metric, "hiwat_tcp_connections");
	ck_assert_str_eq(c.gaps[0].missing[0].value, "established");
	ck_assert(rule_host_put(&h, s, "hiwat_tcp_connections{state=\"established\"}", 65));
	ck_assert_uint_eq(check_host(set, &h, RULE_LEVEL_ADVICE, &c), 1);
	ck_assert(c.events[0].threshold == 1040);
	rule_host_fini(&h);
	/* Enough for now, but the peak may have been higher. */
	rule_host_init(&h, set, "freebsd");
	s = rule_host_begin(&h, "test");
	ck_assert(rule_host_put(&h, s, "hiwat_mbuf_pool_limit{pool=\"cluster\"}", 1024));
	ck_assert(rule_host_put(&h, s, "hiwat_tcp_connections{state=\"established\"}", 64));
	ck_assert_uint_eq(check_host(set, &h, RULE_LEVEL_NONE, &c), 0);
	ck_assert_uint_eq(c.n_gaps, 1);
	ck_assert_int_eq(c.gaps[0].why, RULE_GAP_HISTORY);
	rule_host_fini(&h);
	rule_set_free(set);
}
END_TEST

static const struct {
	const char *host, *role;
	const char *want; /* status at 80 */
} override_rows[] = {
	{ "web1", "web", "" },       /* all hosts: 90 */
	{ "db1", "db", "critical" }, /* the role: 70, though all hosts came later */
	{ "db2", "db", "" },         /* the host: 85 */
	{ "off1", "web", "" },       /* off */
};

START_TEST(figures_are_set_otherwise)
{
	struct rule_set *set = load("rules:\n  - id: a\n" HEAD "    expr: hiwat_pf_states\n    critical: 75\n");
	static const struct rule_override overrides[] = { { "a", "critical", 70, "role", "db" },
		{ "a", "critical", 85, "", "db2" }, { "a", "critical", 90, NULL, NULL }, { "a", NULL, 0, "", "off1" } };
	struct rule_host h;

	for (size_t i = 0; i < ARRAY_LEN(overrides); i++)
		ck_assert_int_eq(rule_set_override(set, &overrides[i]), HIWAT_OK);
	ck_assert_int_eq(rule_set_override(set, &(struct rule_override){ .rule = "b" }), HIWAT_E_MISSING);
	ck_assert_int_eq(rule_set_override(set, &(struct rule_override){ .rule = "a", .param = "warning" }),
	    HIWAT_E_MISSING);
	rule_host_init(&h, set, "freebsd");
	const struct sample_label role = { "role", override_rows[_i].role };
	h.view.name = override_rows[_i].host;
	h.view.host_labels = &role;
	h.view.n_host_labels = 1;
	record(&h, 60, 80, 0);
	ck_assert_str_eq(rule_host_status(&h, "a"), override_rows[_i].want);
	record(&h, 70, 95, 0);
	ck_assert_str_eq(rule_host_status(&h, "a"), strcmp(override_rows[_i].host, "off1") == 0 ? "" : "critical");
	rule_host_fini(&h);
	rule_set_free(set);
}
END_TEST

START_TEST(the_pack_names_documents_and_keeps_to_them)
{
	struct rule_set *set = NULL;
	struct buf errors;

	buf_init(&errors, 100000);
	ck_assert_msg(rule_set_load(TEST_DATA "/../collector/rules.d", &set, &errors) == HIWAT_OK, "%s", buf_str(&errors));
	ck_assert_uint_gt(rule_set_count(set), 80);
	for (size_t i = 0; i < rule_set_count(set); i++) {
		const struct rule *r = rule_set_get(set, i);
		ck_assert_msg(*r->remedy != '\0' && *r->description != '\0', "%s has no remedy or description", r->id);
		ck_assert_ptr_eq(rule_set_find(set, r->id), r);
		ck_assert_uint_eq(r->index, i);
	}
	rule_set_free(set);
	buf_fini(&errors);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("rules");
	TCase *tc = tcase_create("rules");

	tcase_add_loop_test(tc, files_say_all_that_is_wrong, 0, ARRAY_LEN(file_rows));
	tcase_add_test(tc, what_cannot_be_read_is_named);
	tcase_add_loop_test(tc, templates, 0, ARRAY_LEN(template_rows));
	tcase_add_test(tc, damaged_state_is_refused_whole);
	tcase_add_test(tc, late_and_double_records_change_nothing);
	tcase_add_test(tc, a_reload_drops_what_changed_and_invents_nothing);
	tcase_add_test(tc, values_that_move_are_told_and_others_not);
	tcase_add_test(tc, rows_of_one_object_have_one_key);
	tcase_add_test(tc, labels_in_use_survive_a_sweep);
	tcase_add_test(tc, check_judges_one_sample);
	tcase_add_loop_test(tc, check_judges_what_it_can_of_or, 0, ARRAY_LEN(side_rows));
	tcase_add_test(tc, check_counts_ages_to_the_time_it_is_told);
	tcase_add_test(tc, check_takes_a_sample_for_its_peak);
	tcase_add_loop_test(tc, figures_are_set_otherwise, 0, ARRAY_LEN(override_rows));
	tcase_add_test(tc, the_pack_names_documents_and_keeps_to_them);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
