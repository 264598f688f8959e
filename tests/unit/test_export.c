/* Rules as Prometheus alerts: what the expressions and texts are, and what is left out with which reason. */
#include "unit.h"

#include <string.h>

#include "buf.h"
#include "err.h"
#include "export.h"
#include "rule.h"

static char *out, *missing; /* of the last export */
static struct export_count count;

/* Exports one rule: its body below the fields that every rule needs. */
static struct rule_set *
parse(const char *body)
{
	static const char head[] =
	    "rules:\n  - id: some-rule\n    cause: c\n    threshold_source: ours\n    reason: Why not.\n";
	struct rule_set *set = NULL;
	struct buf text, errors;

	buf_init(&text, 100000);
	buf_init(&errors, 100000);
	buf_puts(&text, head);
	buf_puts(&text, body);
	if (strstr(body, "summary:") == NULL)
		buf_puts(&text, "    summary: Some text\n");
	int err = rule_set_parse("test.yaml", buf_str(&text), text.len, &set, &errors);
	ck_assert_msg(err == HIWAT_OK, "%s", buf_str(&errors));
	buf_fini(&text);
	buf_fini(&errors);
	return set;
}

static void
forget(void)
{
	free(out);
	free(missing);
	out = missing = NULL;
}

static void
export_set(struct rule_set *set)
{
	struct buf file, left_out;

	forget();
	buf_init(&file, 1 << 20);
	buf_init(&left_out, 100000);
	ck_assert_int_eq(rules_export_prometheus(set, &file, &left_out, &count), HIWAT_OK);
	out = strdup(buf_str(&file));
	missing = strdup(buf_str(&left_out));
	buf_fini(&file);
	buf_fini(&left_out);
	rule_set_free(set);
}

static void
wants(const char *text)
{
	ck_assert_msg(strstr(out, text) != NULL, "no \"%s\" in:\n%s", text, strstr(out, "groups:"));
}

/* Condition of a level, and the expression it must become; NULL: missing, for the reason. */
static const struct {
	const char *level, *expr, *reason;
} conditions[] = {
	/* Equal labels meet; those of one side without labels meet all. */
	{ "hiwat_files_open / hiwat_files_limit >= 0.5", "hiwat_files_open / (hiwat_files_limit != 0) >= 0.5\n", NULL },
	{ "hiwat_pf_source_nodes / hiwat_pf_limit{pool=\"src-nodes\"} >= 2",
	    "hiwat_pf_source_nodes / ignoring (pool) group_right () (hiwat_pf_limit{pool=\"src-nodes\"} != 0) >= 2\n",
	    NULL },
	{ "hiwat_mbuf_pool_limit * 2048 > hiwat_memory_bytes",
	    "hiwat_mbuf_pool_limit * 2048 > ignoring (pool) group_left () hiwat_memory_bytes\n", NULL },
	{ "hiwat_dns_queries_total > 5 and on (server) hiwat_dns_upstream_queries_total > 5",
	    "hiwat_dns_queries_total > 5 and ignoring (upstream) hiwat_dns_upstream_queries_total > 5\n", NULL },
	/* A side that must have one row and may have more. */
	{ "hiwat_dns_queries_total / on (server) hiwat_dns_upstream_queries_total > 5", NULL, "several rows" },
	/* What binds closer in one language binds closer in the other. */
	{ "hiwat_files_open > 1 or hiwat_files_open > 2 and (hiwat_files_open > 3 or hiwat_files_open > 4)",
	    "hiwat_files_open > 1 or hiwat_files_open > 2 and (hiwat_files_open > 3 or hiwat_files_open > 4)\n", NULL },
	{ "hiwat_files_open - (hiwat_files_limit - hiwat_vnodes) > 1",
	    "hiwat_files_open - (hiwat_files_limit - hiwat_vnodes) > 1\n", NULL },
	/* Sums keep the labels of the host; a rate of a sum is a sum of rates. */
	{ "sum by (interface) (hiwat_netif_packets_total) > 1", "sum without (direction) (hiwat_netif_packets_total) > 1\n",
	    NULL },
	{ "rate(sum(hiwat_netif_packets_total)[1m]) > 1",
	    "sum without (direction, interface) (rate(hiwat_netif_packets_total[1m]) and hiwat_netif_packets_total) > 1\n",
	    NULL },
	/* A label whose text has what strings must escape. */
	{ "hiwat_netif_speed_bits{interface=~\"a\\\\.b|'c\"} > 1", "hiwat_netif_speed_bits{interface=~\"a\\\\.b|'c\"} > 1\n",
	    NULL },
	/* Facts of the host. */
	{ "os() = \"linux\" and hiwat_files_open > 1",
	    "hiwat_files_open > 1 and ignoring (arch, os, release, version) hiwat_agent_info{os=\"linux\"}\n", NULL },
	{ "label(\"role\") = \"mail\" and hiwat_files_open > 1", NULL, "series have no label 'role'" },
	{ "setting(\"kern.x\", 1) > 5", "max without (index, name) (hiwat_sysctl{name=\"kern.x\",index=\"1\"}) > 5\n",
	    NULL },
	/* What there is no equal of. */
	{ "trend(hiwat_files_open[1h]) > 1", NULL, "a trend is a median" },
	{ "time_to(hiwat_files_open[1h], hiwat_files_limit) < 60", NULL, "a trend is a median" },
	{ "delta(hiwat_files_open[1h]) > 1", NULL, "delta()" },
	{ "avg(hiwat_files_open[1h]) > 1", NULL, "avg()" },
	{ "active(hiwat_disk_timeouts_total[1h]) > 1", NULL, "active()" },
	{ "absent(hiwat_files_open) and on () hiwat_vnodes > 1", NULL, "absent()" },
	{ "count(hiwat_files_open) > 1", NULL, "count()" },
	{ "max(hiwat_files_open + hiwat_vnodes[1h]) > 1", NULL, "more than one series" },
};

/* Without a value of its own to clear at, so that the condition stands alone. */
START_TEST(test_condition)
{
	struct buf body;

	buf_init(&body, 10000);
	buf_printf(&body, "    clear: same\n    warning: >-\n      %s\n", conditions[_i].level);
	export_set(parse(buf_str(&body)));
	if (conditions[_i].expr != NULL) {
		ck_assert_str_eq(missing, "");
		wants(conditions[_i].expr);
	} else {
		ck_assert_int_eq((int)count.alerts, 0);
		ck_assert_int_eq((int)count.missing, 1);
		ck_assert_msg(strstr(missing, conditions[_i].reason) != NULL, "%s", missing);
	}
	buf_fini(&body);
}
END_TEST

START_TEST(test_states)
{
	export_set(parse("    expr: hiwat_files_open / hiwat_files_limit\n    warning: { when: 0.8, for: 90s }\n"
			 "    critical: { when: 0.9, for: 2h, hold: 0s, clear: same }\n"));
	ck_assert_int_eq((int)count.rules, 1);
	ck_assert_int_eq((int)count.alerts, 2);
	wants("- alert: SomeRule\n        expr: |-\n          hiwat_files_open / (hiwat_files_limit != 0) >= 0.8\n"
	      "          or (hiwat_files_open / (hiwat_files_limit != 0) >= 0.75\n"
	      "            and ignoring (alertname, alertstate, cause, rule, severity) "
	      "ALERTS{alertname=\"SomeRule\",severity=\"warning\",alertstate=\"firing\"})\n"
	      "        for: 90s\n        keep_firing_for: 1m\n");
	/* Clears where it fires, and at once. */
	wants(">= 0.9\n        for: 2h\n        labels:\n          severity: critical\n          cause: c\n          rule: "
	      "some-rule\n");
}
END_TEST

START_TEST(test_one_level_missing)
{
	export_set(parse("    advice: avg(hiwat_files_open[1h]) > 1\n    warning: hiwat_files_open > 1\n"));
	ck_assert_int_eq((int)count.rules, 1);
	ck_assert_int_eq((int)count.missing, 0);
	ck_assert(strncmp(missing, "some-rule advice: avg()", strlen("some-rule advice: avg()")) == 0);
	ck_assert(strstr(out, "#   some-rule advice: avg()") != NULL);
}
END_TEST

START_TEST(test_overrides)
{
	static const char body[] = "    params: { much: 5 }\n    clear: same\n    warning: hiwat_files_open > much\n";
	struct rule_set *set = parse(body);
	struct rule_override all = { "some-rule", "much", 6, NULL, NULL }, one = { "some-rule", "much", 7, "", "a.b" },
			     off = { "some-rule", NULL, 0, "", "c" }, role = { "some-rule", "much", 8, "role", "mail" };

	ck_assert_int_eq(rule_set_override(set, &all), HIWAT_OK);
	ck_assert_int_eq(rule_set_override(set, &one), HIWAT_OK);
	ck_assert_int_eq(rule_set_override(set, &off), HIWAT_OK);
	export_set(set);
	wants("          hiwat_files_open{host!~\"a\\\\.b|c\"} > 6\n          or hiwat_files_open{host=\"a.b\"} > 7\n");
	ck_assert(strstr(out, "host=\"c\"") == NULL);
	set = parse(body);
	ck_assert_int_eq(rule_set_override(set, &role), HIWAT_OK);
	export_set(set);
	ck_assert(strstr(missing, "role=mail") != NULL);
}
END_TEST

/* Figures of the host are asked for, what cannot be asked is left out with its sentence or parenthesis. */
static const struct {
	const char *summary, *text;
} texts[] = {
	{ "Level {{level}} of {{rule}} on {{host}}", "Level warning of some-rule on {{ $labels.host }}'" },
	{ "{{if level = \"critical\"}}Bad{{else}}Not so bad{{end}}", "'Not so bad'" },
	{ "It''s {{label \"pool\"}} at {{value}}", "'It''s {{ $labels.pool }} at {{ $value | printf \"%.0f\" }}'" },
	{ "{{if label \"pool\" = \"a\"}}A{{elif label \"pool\" != \"b\"}}Not B{{else}}B{{end}}",
	    "'{{ if eq $labels.pool \"a\" }}A{{ else if ne $labels.pool \"b\" }}Not B{{ else }}B{{ end }}'" },
	{ "{{if os = \"linux\"}}L{{end}}",
	    "'{{ if query (printf `hiwat_agent_info{os=\"linux\",host=%q}` $labels.host) }}L{{ end }}'" },
	{ "Of {{bytes limit}}",
	    "`max(hiwat_mbuf_pool_limit{host=%q,pool=%q})` $labels.host $labels.pool) }}"
	    "{{ . | first | value | humanize1024 }}B{{ else }}unknown{{ end }}'" },
	{ "Set {{pow2up (setting \"kern.x\" * 2)}}",
	    "`vector(scalar(2 ^ ceil(log2(vector((scalar(max(hiwat_sysctl{name=\"kern.x\",index=\"\",host=%q})) * 2)))))) > "
	    "-Inf` "
	    "$labels.host)" },
	{ "First. Full in {{duration eta}}. Last", "'First. Last'" },
	{ "Some (full in {{duration eta}}) text", "'Some text'" },
	{ "In {{duration eta}}", "'In unknown'" },
	{ "{{if limit > 5}}Much{{end}}",
	    "{{ if query (printf `vector(scalar(max(hiwat_mbuf_pool_limit{host=%q,pool=%q}))) > 5`" },
	{ "{{param \"much\"}} {{host_label \"site\"}}", "'7 unknown'" },
};

START_TEST(test_text)
{
	struct buf body;

	buf_init(&body, 10000);
	buf_printf(&body,
	    "    params: { much: 7 }\n    warning: hiwat_mbuf_pool_in_use > much\n    limit: hiwat_mbuf_pool_limit\n"
	    "    eta: time_to(hiwat_mbuf_pool_in_use[15m], hiwat_mbuf_pool_limit)\n    summary: '%s'\n",
	    texts[_i].summary);
	export_set(parse(buf_str(&body)));
	buf_fini(&body);
	wants(texts[_i].text);
}
END_TEST

START_TEST(test_builtin)
{
	export_set(parse("    builtin: host-silent\n    level: critical\n    summary: 'Silent for {{duration value}}'\n"));
	ck_assert_int_eq((int)count.rules, 1);
	wants("hiwat_alert_firing{rule=\"some-rule\",level=\"critical\"} == 1\n");
	wants("summary: 'Why not.'\n");
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("export");
	TCase *tc = tcase_create("prometheus");

	tcase_add_checked_fixture(tc, NULL, forget);
	tcase_add_loop_test(tc, test_condition, 0, ARRAY_LEN(conditions));
	tcase_add_test(tc, test_states);
	tcase_add_test(tc, test_one_level_missing);
	tcase_add_test(tc, test_overrides);
	tcase_add_loop_test(tc, test_text, 0, ARRAY_LEN(texts));
	tcase_add_test(tc, test_builtin);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
