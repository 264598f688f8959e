#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "diag.h"
#include "err.h"
#include "rule.h"

static char path[64];
static struct diag diag;
static struct collector_config config;

static int
load(const char *text)
{
	snprintf(path, sizeof(path), "/tmp/hiwat-collector-config.%d", (int)getpid());
	FILE *f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	diag_init(&diag);
	int err = collector_config_load(path, &config, &diag);
	unlink(path);
	return err;
}

START_TEST(defaults)
{
	ck_assert_int_eq(load(""), HIWAT_OK);
	ck_assert_str_eq(config.ingest.address, "127.0.0.1");
	ck_assert_int_eq(config.ingest.port, 9780);
	ck_assert_ptr_null(config.ingest.cert_file);
	ck_assert_uint_eq(config.snapshot_interval_ms, 30000);
	ck_assert_uint_eq(config.routes.n, 0);
	ck_assert_uint_eq(config.profiles.n, 7);
	ck_assert_str_eq(config.profiles.pairs[0].name, "*");
	ck_assert_str_eq(config.profiles.pairs[0].value, "gigabit 10g");
	ck_assert_str_eq(config.profiles.pairs[6].name, "router");
	ck_assert_str_eq(config.profiles.pairs[6].value, "router");
	collector_config_free(&config);
	diag_fini(&diag);
}
END_TEST

START_TEST(routes)
{
	ck_assert_int_eq(load("routes:\n"
			      "  - {name: pager, url: 'https://pager.example.org/', min_level: critical, updates: true}\n"
			      "  - {name: local, sink: command, command: [/bin/cat, -n], repeat: 2h}\n"),
	    HIWAT_OK);
	const struct route_config *r = config.routes.items;
	ck_assert_uint_eq(config.routes.n, 2);
	ck_assert_str_eq(r[0].name, "pager");
	ck_assert_str_eq(config_level_words[r[0].min_level], "critical");
	ck_assert(r[0].updates);
	ck_assert_uint_eq(r[0].repeat_ms, 4 * 3600 * 1000);
	ck_assert_str_eq(config_sink_words[r[1].sink], "command");
	ck_assert_uint_eq(r[1].command.n, 2);
	ck_assert_uint_eq(r[1].repeat_ms, 2 * 3600 * 1000);
	collector_config_free(&config);
	diag_fini(&diag);
}
END_TEST

static const struct {
	const char *text, *complaint;
} bad_rows[] = {
	{ "ingest: {prot: 1}", ":1:10: " },
	{ "ingest: {port: x}", ":1:16: " },
	{ "ingest:\n  port: 70000", ":2:9: " },
	{ "ingest: {address: 0.0.0.0}", "needs cert_file, key_file and client_ca_file" },
	{ "ingest: {cert_file: /a}", "cert_file and key_file go together" },
	{ "web: {client_ca_file: /a}", "client_ca_file needs cert_file and key_file" },
	{ "routes:\n  - {name: a}", "the sink webhook needs a url" },
	{ "routes:\n  - {name: a, sink: command}", ":2:5: route a: the sink command needs a command" },
	{ "routes:\n  - {name: a, sink: command, command: [/a], url: 'http://x'}", "the sink command has no use for a url" },
	{ "web: {address: 0.0.0.0, pagerduty_secret_file: /a}", "cert_file and key_file are needed" },
	{ "web: {public_url: 'ftp://a'}", "a URL of http:// or https://" },
	{ "web: {public_url: 'http://a/'}", ":1:19: " },
	{ "web: {public_url: 'http://a?b'}", ":1:19: " },
	{ "routes:\n  - {name: a, url: 'http://x'}\n  - {name: a, url: 'http://y'}", ":3:5: a second route named a" },
	{ "routes:\n  - {name: a, sink: alertmanager}", ":2:5: route a: the sink alertmanager needs a url, or urls" },
	{ "routes:\n  - {name: a, sink: alertmanager, url: 'http://x', urls: ['http://y']}", "needs a url, or urls" },
	{ "routes:\n  - {name: a, sink: alertmanager, urls: ['http://y', 'y:9093']}", ":2:54: " },
	{ "routes:\n  - {name: a, urls: ['http://y'], url: 'http://x'}", "the sink webhook has no use for urls" },
	{ "routes:\n  - {name: a, url: 'smtp://x'}", "the sink webhook needs a URL of http:// or https://" },
	{ "routes:\n  - {name: a, sink: email, url: 'http://x', from: a@b, to: [c@d]}",
	    "needs a URL of smtp:// or smtps://" },
	{ "routes:\n  - {name: a, sink: email, url: 'smtp://x', to: [c@d]}", "the sink email needs a from" },
	{ "routes:\n  - {name: a, sink: email, url: 'smtp://x', from: a@b, to: ['c@d>']}", "an address such as" },
	{ "routes:\n  - {name: a, sink: email, url: 'smtp://x', from: a@b, to: [c@d], user: u}", "go together" },
	{ "routes:\n  - {name: A b, url: 'http://x'}", ":2:12: " },
	{ "routes:\n  - {name: a, url: 'ftp://x'}", ":2:20: " },
	{ "routes:\n  - {name: a, sink: pigeon}", "webhook" },
	{ "overrides: [{rule: x, set: {critical: 2}, off: true}]", ":1:13: an override sets figures or says off: true" },
	{ "overrides: [{rule: x}]", ":1:13: an override sets figures or says off: true" },
	{ "overrides: [{rule: x, off: true, host: a, label: b=c}]", ":1:13: an override is for a host or for a label" },
	{ "overrides: [{rule: x, set: {critical: high}}]", "a number" },
	{ "overrides: [{rule: x, off: true, label: role}]", "NAME=VALUE" },
	{ "snapshot_interval: 0s", ":1:20: " },
	{ "state_dir: relative", ":1:12: " },
	{ "[]", ":1:1: " },
	{ "a: [", ":1:" },
};

START_TEST(mistakes_are_told_with_their_place)
{
	ck_assert_int_eq(load(bad_rows[_i].text), HIWAT_E_CONFIG);
	ck_assert_msg(strstr(diag_text(&diag), bad_rows[_i].complaint) != NULL, "%s", diag_text(&diag));
	ck_assert_msg(strstr(diag_text(&diag), "hiwat-collector-config") != NULL, "%s", diag_text(&diag));
	diag_fini(&diag);
}
END_TEST

static const struct {
	const char *overrides, *complaint; /* NULL: fine */
} override_rows[] = {
	{ "{rule: listen-overflow, set: {per_second: 200}}", NULL },
	{ "{rule: listen-overflow, off: true, host: db1}", NULL },
	{ "{rule: mbuf-pool-filling, set: {warning: 0.8}, label: role=web}", NULL },
	{ "{rule: nas/kern.coredump, off: true, label: role=nas}", NULL },
	{ "{rule: gigabit/net.ipv4.tcp_mem, set: {value_2: 1000000}}", NULL },
	{ "{rule: nas/kern.coredump, set: {value_0: 1}}", "rule nas/kern.coredump has no figure value_0" },
	{ "{rule: nas/no-such, off: true}", "there is no rule nas/no-such" },
	{ "{rule: no-such, off: true}\nprofiles: {db: server sever}", "profiles.db: there is no profile sever; rules list" },
	{ "{rule: no-such, off: true}", "there is no rule no-such" },
	{ "{rule: listen-overflow, set: {hight: 1}}", "rule listen-overflow has no figure hight" },
};

START_TEST(overrides_meet_the_rules)
{
	char text[512];
	struct rule_set *rules = NULL;
	struct buf errors;

	snprintf(text, sizeof(text), "rules_dir: %s\noverrides:\n  - %s\n", TEST_DATA "/../collector/rules.d",
	    override_rows[_i].overrides);
	buf_init(&errors, 65536);
	ck_assert_int_eq(load(text), HIWAT_OK);
	int err = collector_config_rules(&config, &rules, &errors);
	if (override_rows[_i].complaint == NULL) {
		ck_assert_msg(err == HIWAT_OK, "%s", buf_str(&errors));
	} else {
		ck_assert_int_eq(err, HIWAT_E_CONFIG);
		ck_assert_msg(strstr(buf_str(&errors), override_rows[_i].complaint) != NULL, "%s", buf_str(&errors));
	}
	rule_set_free(rules);
	buf_fini(&errors);
	collector_config_free(&config);
	diag_fini(&diag);
}
END_TEST

START_TEST(all_mistakes_at_once)
{
	ck_assert_int_eq(load("x: 1\ny: 2\ningest: {port: -1}\n"), HIWAT_E_CONFIG);
	ck_assert_uint_eq(diag.n, 3);
	diag_fini(&diag);
	diag_init(&diag);
	ck_assert_int_eq(collector_config_load("/nonexistent/hiwat.yaml", &config, &diag), HIWAT_E_SYS);
	ck_assert_ptr_nonnull(strstr(diag_text(&diag), "/nonexistent/hiwat.yaml"));
	diag_fini(&diag);
}
END_TEST

/* The sample means the defaults; that it shows every option is tested where it is installed. */
START_TEST(sample_is_the_default)
{
	static char installed[65536];

	FILE *f = fopen(TEST_DATA "/../deploy/config/collector.yaml", "r");
	ck_assert_ptr_nonnull(f);
	installed[fread(installed, 1, sizeof(installed) - 1, f)] = '\0';
	fclose(f);
	ck_assert_int_eq(load(installed), HIWAT_OK);
	ck_assert_int_eq(config.ingest.port, 9780);
	collector_config_free(&config);
	diag_fini(&diag);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("collector_config");
	TCase *tc = tcase_create("collector_config");

	tcase_add_test(tc, defaults);
	tcase_add_test(tc, routes);
	tcase_add_loop_test(tc, mistakes_are_told_with_their_place, 0, ARRAY_LEN(bad_rows));
	tcase_add_loop_test(tc, overrides_meet_the_rules, 0, ARRAY_LEN(override_rows));
	tcase_add_test(tc, all_mistakes_at_once);
	tcase_add_test(tc, sample_is_the_default);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
