#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "conf.h"
#include "diag.h"
#include "err.h"
#include "scan.h"
#include "yaml_tree.h"

struct route {
	char *to;
	uint64_t repeat_ms;
	struct conf_list rules;
};

struct thing {
	char *name, *key_file, *url;
	bool enabled;
	int64_t workers;
	double share;
	uint64_t size, interval_ms;
	int level;
	struct conf_list urls, skip;
	struct conf_map labels;
	struct conf_items routes;
};

static const char *const levels[] = { "low", "high", NULL };

static const char *
check_url(const char *text)
{
	return strncmp(text, "https://", 8) == 0 ? NULL : "no https URL";
}

#define AT(member) .offset = offsetof(struct route, member)
static const struct conf_option route_options[] = {
	{ .key = "to", .type = CONF_STRING, AT(to), .required = true, .example = "ops", .help = "Receiver." },
	{ .key = "repeat",
	    .type = CONF_DURATION,
	    AT(repeat_ms),
	    .value = "4h",
	    .min = 1000,
	    .help = "Time between repeats." },
	{ .key = "match.rules", .type = CONF_LIST, AT(rules), .help = "Rules that take this route." },
	{ 0 },
};
#undef AT
static const struct conf_schema route_schema = { .size = sizeof(struct route), .options = route_options };

#define AT(member) .offset = offsetof(struct thing, member)
static const struct conf_option options[] = {
	{ .key = "name", .type = CONF_STRING, AT(name), .example = "db1", .help = "Name. Default: the system's host name." },
	{ .key = "enabled", .type = CONF_BOOL, AT(enabled), .value = "true", .help = "Whether it runs." },
	{ .key = "tls.key_file", .type = CONF_PATH, AT(key_file), .value = "/etc/key.pem", .help = "Key." },
	{ .key = "tls.level", .type = CONF_ENUM, AT(level), .value = "high", .words = levels, .help = "Care: low or high." },
	{ .key = "limits.workers", .type = CONF_INTEGER, AT(workers), .value = "2", .min = 1, .max = 8, .help = "Threads." },
	{ .key = "limits.share", .type = CONF_NUMBER, AT(share), .value = "0.5", .max = 1, .help = "Share of memory." },
	{ .key = "limits.size", .type = CONF_SIZE, AT(size), .value = "64MiB", .min = 4096, .help = "Bytes." },
	{ .key = "interval",
	    .type = CONF_DURATION,
	    AT(interval_ms),
	    .value = "10s",
	    .min = 1000,
	    .max = 3600000,
	    .help = "Interval." },
	{ .key = "url", .type = CONF_STRING, AT(url), .check = check_url, .example = "https://a", .help = "One." },
	{ .key = "urls",
	    .type = CONF_LIST,
	    AT(urls),
	    .check = check_url,
	    .max = 3,
	    .example = "[https://a, https://b]",
	    .help = "Where to, a rather long help text that has to be wrapped because it would run over the end of the line "
		    "otherwise, twice if need be." },
	{ .key = "skip", .type = CONF_LIST, AT(skip), .value = "pf, dns", .help = "Left out." },
	{ .key = "labels", .type = CONF_MAP, AT(labels), .max = 2, .help = "Labels." },
	{ .key = "routes", .type = CONF_ITEMS, AT(routes), .items = &route_schema, .help = "Routes." },
	{ 0 },
};
static const struct conf_schema schema = { .size = sizeof(struct thing), .options = options };

static struct arena arena;
static struct diag diag;
static struct thing thing;

static void
setup(void)
{
	arena_init(&arena, YAML_ARENA_MAX);
	diag_init(&diag);
	thing = (struct thing){ 0 };
}

static void
teardown(void)
{
	conf_free(&schema, &thing);
	arena_fini(&arena);
	diag_fini(&diag);
}

static int
load(const char *text)
{
	struct yaml_node *root;

	int err = yaml_tree_parse("f.yaml", text, strlen(text), &arena, &diag, &root);
	return err != 0 ? err : conf_read(&schema, root, &diag, &thing);
}

static void
check_defaults(const struct thing *t)
{
	ck_assert_str_eq(t->key_file, "/etc/key.pem");
	ck_assert(t->enabled && t->level == 1 && t->workers == 2 && t->share == 0.5);
	ck_assert(t->size == 64 << 20 && t->interval_ms == 10000);
	ck_assert_uint_eq(t->skip.n, 2);
	ck_assert_str_eq(t->skip.items[0], "pf");
	ck_assert_str_eq(t->skip.items[1], "dns");
}

START_TEST(conf_fills_defaults)
{
	ck_assert_int_eq(load("tls:\nlabels:\n"), 0);
	check_defaults(&thing);
	ck_assert_ptr_null(thing.name);
	ck_assert(thing.urls.n == 0 && thing.labels.n == 0 && thing.routes.n == 0);
	struct thing again;
	ck_assert_int_eq(conf_defaults(&schema, &again), 0);
	check_defaults(&again);
	conf_free(&schema, &again);
	ck_assert_ptr_null(again.key_file);
}
END_TEST

START_TEST(conf_takes_values)
{
	ck_assert_int_eq(load("name: 007\nenabled: false\ntls: {key_file: /k, level: low}\n"
			      "limits:\n  workers: 8\n  share: 0.25\n  size: 1GiB\ninterval: 1m\n"
			      "url: https://u\nurls: [https://x]\nskip: []\nlabels: {role: dns, site: 2}\n"
			      "routes:\n  - to: ops\n    match: {rules: [a, b]}\n  - {to: dev, repeat: 1m}\n"),
	    0);
	ck_assert_str_eq(thing.name, "007");
	ck_assert_str_eq(thing.key_file, "/k");
	ck_assert_str_eq(thing.url, "https://u");
	ck_assert(!thing.enabled && thing.level == 0 && thing.workers == 8 && thing.share == 0.25);
	ck_assert(thing.size == 1u << 30 && thing.interval_ms == 60000);
	ck_assert_uint_eq(thing.urls.n, 1);
	ck_assert_str_eq(thing.urls.items[0], "https://x");
	ck_assert_uint_eq(thing.skip.n, 0);
	ck_assert_uint_eq(thing.labels.n, 2);
	ck_assert_str_eq(thing.labels.pairs[1].name, "site");
	ck_assert_str_eq(thing.labels.pairs[1].value, "2");
	ck_assert_uint_eq(thing.routes.n, 2);
	const struct route *routes = thing.routes.items;
	ck_assert_str_eq(routes[0].to, "ops");
	ck_assert_uint_eq(routes[0].repeat_ms, 14400000);
	ck_assert_uint_eq(routes[0].rules.n, 2);
	ck_assert_str_eq(routes[0].rules.items[1], "b");
	ck_assert_str_eq(routes[1].to, "dev");
	ck_assert_uint_eq(routes[1].repeat_ms, 60000);
}
END_TEST

static const struct {
	const char *text, *complaint;
} wrong_rows[] = {
	{ "nam: x", "f.yaml:1:1: unknown key \"nam\"; allowed: name, " },
	{ "tsl: {key_file: x}", "f.yaml:1:1: unknown key \"tsl\"; allowed: tls, url, urls" },
	{ "tls: {keyfile: x}", "f.yaml:1:7: unknown key \"tls.keyfile\"; allowed: tls.key_file\n" },
	{ "key_file: /x", "f.yaml:1:1: unknown key \"key_file\"; allowed: tls.key_file" },
	{ "tls.key_file: /x", "f.yaml:1:1: unknown key \"tls.key_file\"; allowed: " },
	{ "enabled: yes", "f.yaml:1:10: enabled: \"yes\" is neither true nor false; allowed: true, false\n" },
	{ "enabled: 'true'", "f.yaml:1:10: enabled: \"true\" is neither true nor false; allowed: true, false\n" },
	{ "name:", "f.yaml:1:6: name: is empty; allowed: a text\n" },
	{ "name: [a]", "f.yaml:1:7: name: is a list; allowed: a text\n" },
	{ "tls: {key_file: k}", "f.yaml:1:17: tls.key_file: \"k\" is not an absolute path; allowed: an absolute path\n" },
	{ "tls: {level: mid}", "f.yaml:1:14: tls.level: \"mid\" is not a known word; allowed: low, high\n" },
	{ "tls: x", "f.yaml:1:6: tls is text; allowed: a mapping\n" },
	{ "limits: {workers: 9}", "f.yaml:1:19: limits.workers: \"9\" is out of range; allowed: a whole number, 1 to 8\n" },
	{ "limits: {workers: 2x}",
	    "f.yaml:1:19: limits.workers: \"2x\" is not a whole number; allowed: a whole number, 1 to 8\n" },
	{ "limits: {workers: 99999999999999999999}",
	    "f.yaml:1:19: limits.workers: \"99999999999999999999\" is out of range; " },
	{ "limits: {share: 1.01}", "f.yaml:1:17: limits.share: \"1.01\" is out of range; allowed: a number, 0 to 1\n" },
	{ "limits: {share: nan}", "f.yaml:1:17: limits.share: \"nan\" is not a number; " },
	{ "limits: {size: 1KiB}",
	    "f.yaml:1:16: limits.size: \"1KiB\" is out of range; allowed: a size such as 4096, 512KiB, 64MiB, 2GiB, at "
	    "least 4KiB\n" },
	{ "limits: {size: 1MB}", "f.yaml:1:16: limits.size: \"1MB\" is not a size; " },
	{ "interval: 10",
	    "f.yaml:1:11: interval: \"10\" is not a duration; allowed: a duration such as 500ms, 10s, 5m, 1h30m, 7d, 1s to "
	    "1h\n" },
	{ "interval: 999ms", "f.yaml:1:11: interval: \"999ms\" is out of range; " },
	{ "url: http://x", "f.yaml:1:6: url: \"http://x\" is no https URL; allowed: a text\n" },
	{ "urls: https://x", "f.yaml:1:7: urls is text; allowed: a list of texts\n" },
	{ "urls: [https://x, http://y]", "f.yaml:1:19: urls: \"http://y\" is no https URL\n" },
	{ "urls: [{a: b}]", "f.yaml:1:8: urls: an item is a mapping; allowed: a list of texts\n" },
	{ "urls: [a, b, c, d]", "f.yaml:1:7: urls has 4 elements; allowed: 0 to 3\n" },
	{ "labels: [a]", "f.yaml:1:9: labels is a list; allowed: a mapping of names to texts\n" },
	{ "labels: {a: [b]}", "f.yaml:1:13: labels.a is a list; allowed: a text\n" },
	{ "routes: [{repeat: 1m}]", "f.yaml:1:10: to is missing; it must be given\n" },
	{ "routes: [{to: x, rpeat: 1m}]", "f.yaml:1:18: unknown key \"rpeat\"; allowed: repeat" },
	{ "routes: [x]", "f.yaml:1:10: routes: an item is text; allowed: a mapping\n" },
	{ "[a]", "f.yaml:1:1: the file is a list; allowed: a mapping of options\n" },
};

START_TEST(conf_complains)
{
	ck_assert_int_eq(load(wrong_rows[_i].text), HIWAT_E_CONFIG);
	ck_assert_uint_eq(diag.n, 1);
	const char *text = diag_text(&diag);
	ck_assert_msg(strncmp(text, wrong_rows[_i].complaint, strlen(wrong_rows[_i].complaint)) == 0, "got: %s", text);
	ck_assert_ptr_null(thing.key_file);
}
END_TEST

START_TEST(conf_shows_all_errors)
{
	ck_assert_int_eq(load("interval: x\nfoo: 1\nlimits: {workers: a, share: 2}\nroutes: [{}]\n"), HIWAT_E_CONFIG);
	ck_assert_uint_eq(diag.n, 5);
}
END_TEST

/* What a person does to the sample: take the comment sign away from every option. */
static void
uncomment(const char *sample, struct buf *out)
{
	struct text rest = text_of(sample), line;

	while (text_line(&rest, &line, NULL)) {
		size_t at = 0;
		while (at < line.n && line.p[at] == ' ')
			at++;
		buf_add(out, line.p, at);
		if (at + 1 < line.n && line.p[at] == '#' && line.p[at + 1] != ' ')
			at++;
		buf_add(out, line.p + at, line.n - at);
		buf_putc(out, '\n');
	}
}

START_TEST(conf_sample_is_valid)
{
	struct buf sample, bare;

	buf_init(&sample, 1 << 16);
	buf_init(&bare, 1 << 16);
	conf_write_sample(&schema, &sample);
	ck_assert(buf_ok(&sample));
	struct text rest = text_of(buf_str(&sample)), line;
	while (text_line(&rest, &line, NULL)) {
		ck_assert_uint_le(line.n, 102);
		struct text t = text_trim(line);
		ck_assert(t.n == 0 || t.p[0] == '#' || text_eq(t, "tls:") || text_eq(t, "limits:"));
	}
	for (const struct conf_option *o = options; o->key != NULL; o++) {
		const char *dot = strrchr(o->key, '.');
		char mark[100];
		snprintf(mark, sizeof(mark), "#%s:", dot != NULL ? dot + 1 : o->key);
		ck_assert_msg(strstr(buf_str(&sample), mark) != NULL, "no %s", mark);
	}
	ck_assert_ptr_nonnull(strstr(buf_str(&sample), "\ntls:\n  # Key.\n  #key_file: /etc/key.pem\n"));
	ck_assert_ptr_nonnull(
	    strstr(buf_str(&sample), "\n  # Receiver.\n  #- to: ops\n    # Time between repeats.\n    #repeat: 4h\n"));
	ck_assert_int_eq(load(buf_str(&sample)), 0);
	check_defaults(&thing);
	conf_free(&schema, &thing);
	uncomment(buf_str(&sample), &bare);
	ck_assert_msg(load(buf_str(&bare)) == 0, "%s\n%s", diag_text(&diag), buf_str(&bare));
	check_defaults(&thing);
	ck_assert_str_eq(thing.name, "db1");
	ck_assert_uint_eq(thing.urls.n, 2);
	ck_assert_uint_eq(thing.routes.n, 1);
	buf_fini(&sample);
	buf_fini(&bare);
}
END_TEST

START_TEST(conf_finds_nodes)
{
	struct yaml_node *root;

	ck_assert_int_eq(yaml_tree_parse("f", "a: {b: {c: 1}}\n", 15, &arena, &diag, &root), 0);
	ck_assert_str_eq(conf_find(root, "a.b.c")->text, "1");
	ck_assert_ptr_null(conf_find(root, "a.c"));
	ck_assert_ptr_null(conf_find(root, "a.b.c.d"));
	ck_assert(conf_find(root, "a")->kind == YAML_MAPPING);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *s = suite_create("conf");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, conf_fills_defaults);
	tcase_add_test(tc, conf_takes_values);
	tcase_add_loop_test(tc, conf_complains, 0, ARRAY_LEN(wrong_rows));
	tcase_add_test(tc, conf_shows_all_errors);
	tcase_add_test(tc, conf_sample_is_valid);
	tcase_add_test(tc, conf_finds_nodes);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
