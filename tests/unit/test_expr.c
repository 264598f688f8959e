/* The expression language: what is refused and where, and the value of every operator and function. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "err.h"
#include "rule.h"
#include "rule_host.h"

/* A rule whose critical condition is the expression; it begins at line 7, column 15. */
static const char frame[] = "rules:\n"
			    "  - id: x\n"
			    "    cause: x\n"
			    "    threshold_source: ours\n"
			    "    reason: r\n"
			    "    summary: s\n"
			    "    critical: %s\n"
			    "    params: { much: 5 }\n";

static int
parse(const char *expr, struct rule_set **set, struct buf *errors)
{
	char text[2000];
	int n = snprintf(text, sizeof(text), frame, expr);

	return rule_set_parse("f", text, (size_t)n, set, errors);
}

static const struct {
	const char *expr, *error; /* error: from the column on */
} error_rows[] = {
	{ "hiwat_pf_states >", "32: a number, a metric or a function was expected, not the end of the expression" },
	{ "hiwat_pf_states > 1 2", "35: an operator was expected, not '2'" },
	{ "hiwat_pf_stats > 1", "15: unknown name 'hiwat_pf_stats': a metric, a function or one of the rule's params" },
	{ "hiwat_pf_states > little", "33: unknown name 'little'" },
	{ "hiwat_pf_limit{pol=\"states\"} > 1", "30: hiwat_pf_limit has no label 'pol'" },
	{ "hiwat_pf_limit{pool} > 1", "34: =, !=, =~ or !~ was expected, not '}'" },
	{ "hiwat_pf_limit{pool=states} > 1", "35: a text in quotes was expected, not 'states'" },
	{ "hiwat_pf_limit{pool=~\"(\"} > 1", "36: a POSIX extended regular expression was expected" },
	{ "hiwat_pf_limit{pool=~\"a{9}\"} > 1", "36: a pattern of at most 200 bytes without {}" },
	{ "hiwat_pf_limit{pool=~\"a+++++\"} > 1", "36: a pattern of at most 200 bytes without {}" },
	{ "hiwat_pf_limit{pool=\"a} > 1", "35: the string has no closing quote" },
	{ "rate(hiwat_pf_states[5m]) > 1", "15: rate() works on counters, this is a gauge" },
	{ "avg(hiwat_pf_counter_total[5m]) > 1", "15: avg() works on gauges, this is a counter" },
	{ "increase(hiwat_pf_counter_total) > 1", "46: '[' and a duration was expected, not ')'" },
	{ "rate(hiwat_pf_counter_total[5]) > 1", "43: a duration such as 5m was expected, not '5'" },
	{ "rate(hiwat_pf_counter_total[9w]) > 1", "43: a duration from 1s to 8d was expected" },
	{ "rate(hiwat_pf_counter_total[5q]) > 1", "43: unknown unit" },
	{ "1 < hiwat_pf_states < 3", "35: comparisons cannot be chained" },
	{ "hiwat_pf_states", "15: a condition on a metric was expected" },
	{ "os() = \"linux\"", "15: a condition on a metric was expected" },
	{ "hiwat_pf_states and hiwat_pf_states > 1", "31: 'and' joins conditions" },
	{ "sum by (pol) (hiwat_pf_limit) > 1", "15: what sum() adds up has no label 'pol'" },
	{ "hiwat_pf_states / on(pool) hiwat_pf_limit > 1", "31: the left side has no label 'pool'" },
	{ "setting(5) > 1", "23: a setting's name in quotes was expected, not '5'" },
	{ "(hiwat_pf_states > 1", "35: ')' was expected, not the end of the expression" },
	{ "hiwat_pf_states > 1 & 2", "35: unexpected character" },
	{ "absent(1) > 1", "22: a metric was expected" },
	{ "5", "15: a threshold needs 'expr'" },
	{ "\"hiwat_pf_states > little\"", "34: unknown name 'little'" },
	{ "|\n      hiwat_pf_states\n      > little", "9: unknown name 'little'" },
};

START_TEST(errors_name_place_and_expectation)
{
	struct rule_set *set = NULL;
	struct buf errors;
	char want[400];

	buf_init(&errors, 10000);
	ck_assert_int_eq(parse(error_rows[_i].expr, &set, &errors), HIWAT_E_CONFIG);
	ck_assert_ptr_null(set);
	snprintf(want, sizeof(want), "f:%d:%s", error_rows[_i].expr[0] == '|' ? 9 : 7, error_rows[_i].error);
	ck_assert_msg(strncmp(buf_str(&errors), want, strlen(want)) == 0, "wanted %s, got %s", want, buf_str(&errors));
	ck_assert_msg(strchr(buf_str(&errors), '\n') == errors.data + errors.len - 1, "one line: %s", buf_str(&errors));
	buf_fini(&errors);
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
	char expr[1800];
	struct rule_set *set = NULL;
	struct buf errors;

	buf_init(&errors, 10000);
	memset(expr, '(', 900);
	expr[900] = '\0';
	ck_assert_int_eq(parse(expr, &set, &errors), HIWAT_E_CONFIG);
	ck_assert_ptr_nonnull(strstr(buf_str(&errors), "nested too deeply"));
	for (int i = 0; i < 800; i++)
		memcpy(expr + (size_t)i * 2, "1+", 2);
	memcpy(expr + 1600, "1 > hiwat_pf_states", sizeof("1 > hiwat_pf_states"));
	ck_assert_int_eq(parse(expr, &set, &errors), HIWAT_E_CONFIG);
	buf_fini(&errors);
}
END_TEST

/* Values of one sample: every series that an expression below may use. */
static const struct {
	const char *series;
	double value;
} sample[] = {
	{ "hiwat_pf_states", 80 },
	{ "hiwat_pf_limit{pool=\"states\"}", 100 },
	{ "hiwat_pf_limit{pool=\"frags\"}", 50 },
	{ "hiwat_pf_fragments", 0 },
	{ "hiwat_mbuf_pool_in_use{pool=\"a\"}", 10 },
	{ "hiwat_mbuf_pool_in_use{pool=\"b\"}", 20 },
	{ "hiwat_mbuf_pool_limit{pool=\"a\"}", 40 },
	{ "hiwat_mbuf_pool_limit{pool=\"b\"}", 40 },
	{ "hiwat_mbuf_pool_limit{pool=\"c\"}", 40 },
	{ "hiwat_socket_memory_bytes{protocol=\"tcp\"}", 90 },
	{ "hiwat_socket_memory_limit_bytes{protocol=\"tcp\",threshold=\"low\"}", 50 },
	{ "hiwat_socket_memory_limit_bytes{protocol=\"tcp\",threshold=\"high\"}", 100 },
	{ "hiwat_sysctl{name=\"kern.hz\",index=\"\"}", 1000 },
	{ "hiwat_sysctl{name=\"tcp_mem\",index=\"0\"}", 7 },
	{ "hiwat_sysctl{name=\"tcp_mem\",index=\"2\"}", 9 },
	{ "hiwat_zpool_scrub_finished_time_seconds{pool=\"tank\"}", 1e9 },
};

/* The rows of "expr" that hold, with the left side's value: "value {labels}", one a line. */
static const struct {
	const char *expr, *want;
} value_rows[] = {
	{ "hiwat_pf_states > 79", "80" },
	{ "hiwat_pf_states > 80", "" },
	{ "hiwat_pf_states >= 80", "80" },
	{ "hiwat_pf_states < 81", "80" },
	{ "hiwat_pf_states < 80", "" },
	{ "hiwat_pf_states <= 80", "80" },
	{ "hiwat_pf_states == 80", "80" },
	{ "hiwat_pf_states == 81", "" },
	{ "hiwat_pf_states != 81", "80" },
	{ "hiwat_pf_states != 80", "" },
	{ "hiwat_pf_states + 1 > 0", "81" },
	{ "hiwat_pf_states - 1 > 0", "79" },
	{ "hiwat_pf_states * 2 > 0", "160" },
	{ "hiwat_pf_states / 2 > 0", "40" },
	{ "hiwat_pf_states % 7 > 0", "3" },
	{ "-hiwat_pf_states < 0", "-80" },
	{ "hiwat_pf_states - 2 - 3 > 0", "75" },
	{ "hiwat_pf_states - (2 - 3) > 0", "81" },
	{ "2 + 3 * hiwat_pf_states > 0", "242" },
	{ "hiwat_pf_states > much", "80" },
	{ "hiwat_pf_states / hiwat_pf_fragments > 0", "" },
	{ "hiwat_pf_states / on() hiwat_pf_limit{pool=\"states\"} > 0", "0.8" },
	{ "hiwat_pf_states / hiwat_pf_limit{pool=\"states\"} > 0", "0.8 {pool=\"states\"}" },
	{ "hiwat_mbuf_pool_in_use / hiwat_mbuf_pool_limit > 0", "0.25 {pool=\"a\"}\n0.5 {pool=\"b\"}" },
	{ "hiwat_mbuf_pool_in_use{pool!=\"a\"} > 0", "20 {pool=\"b\"}" },
	{ "hiwat_mbuf_pool_limit{pool=~\"a|c\"} > 0", "40 {pool=\"a\"}\n40 {pool=\"c\"}" },
	{ "hiwat_mbuf_pool_limit{pool=~\"x\"} > 0", "" },
	{ "hiwat_mbuf_pool_limit{pool!~\"a|c\"} > 0", "40 {pool=\"b\"}" },
	{ "hiwat_socket_memory_bytes / ignoring(threshold) hiwat_socket_memory_limit_bytes{threshold=\"high\"} > 0",
	    "0.9 {protocol=\"tcp\"}" },
	{ "hiwat_socket_memory_bytes / on(protocol) hiwat_socket_memory_limit_bytes{threshold=\"low\"} > 0",
	    "1.8 {protocol=\"tcp\"}" },
	{ "hiwat_mbuf_pool_in_use > 5 and hiwat_mbuf_pool_limit{pool=\"b\"} > 5", "20 {pool=\"b\"}" },
	{ "hiwat_mbuf_pool_in_use > 15 or hiwat_mbuf_pool_limit > 5", "20 {pool=\"b\"}\n40 {pool=\"a\"}\n40 {pool=\"c\"}" },
	{ "hiwat_mbuf_pool_limit > 5 unless hiwat_mbuf_pool_in_use > 15", "40 {pool=\"a\"}\n40 {pool=\"c\"}" },
	{ "hiwat_pf_states > 1 and on() hiwat_mbuf_pool_in_use > 15", "80" },
	{ "hiwat_pf_states > 1 and on() hiwat_mbuf_pool_in_use > 25", "" },
	{ "hiwat_pf_states > 1 unless on() hiwat_mbuf_pool_in_use > 15", "" },
	{ "os() = \"freebsd\" and hiwat_pf_states > 1", "80" },
	{ "os() == \"linux\" and hiwat_pf_states > 1", "" },
	{ "hiwat_pf_states > 1 and os() =~ \"free.*\"", "80" },
	{ "hiwat_pf_states > 1 unless os() =~ \"free.*\"", "" },
	{ "os() != \"linux\" and hiwat_mbuf_pool_in_use > 1", "10 {pool=\"a\"}\n20 {pool=\"b\"}" },
	{ "label(\"role\") = \"mail\" and hiwat_pf_states > 1", "80" },
	{ "label(\"role\") !~ \"mail|web\" and hiwat_pf_states > 1", "" },
	{ "label(\"site\") = \"\" and hiwat_pf_states > 1", "80" },
	{ "host() = \"host1\" and hiwat_pf_states > 1", "80" },
	{ "release() = \"\" and hiwat_pf_states > 1", "80" },
	{ "sum(hiwat_mbuf_pool_in_use) > 0", "30" },
	{ "sum by (pool) (hiwat_mbuf_pool_in_use) > 0", "10 {pool=\"a\"}\n20 {pool=\"b\"}" },
	{ "max(hiwat_mbuf_pool_in_use) > 0", "20" },
	{ "min(hiwat_mbuf_pool_in_use) > 0", "10" },
	{ "avg(hiwat_mbuf_pool_in_use) > 0", "15" },
	{ "count(hiwat_mbuf_pool_in_use) > 0", "2" },
	{ "count(hiwat_mbuf_pool_in_use > 15) > 0", "1" },
	{ "sum(hiwat_mbuf_pool_in_use > 15) > 0", "20" },
	{ "max(hiwat_pf_states, 90) > 0", "90" },
	{ "min(hiwat_pf_states, 90) > 0", "80" },
	{ "abs(-hiwat_pf_states) > 0", "80" },
	{ "ceil(hiwat_pf_states / 60) > 0", "2" },
	{ "floor(hiwat_pf_states / 60) > 0", "1" },
	{ "pow2up(hiwat_pf_states) > 0", "128" },
	{ "setting(\"kern.hz\") > 0", "1000" },
	{ "setting(\"tcp_mem\", 2) > 0", "9" },
	{ "setting(\"tcp_mem\") > 0", "" },
	{ "hiwat_pf_states / setting(\"kern.hz\") > 0", "0.08" },
	{ "absent(hiwat_swap_bytes_used)", "1" },
	{ "absent(hiwat_pf_states)", "" },
	{ "age(hiwat_zpool_scrub_finished_time_seconds) > 50s", "60 {pool=\"tank\"}" },
	{ "hiwat_pf_states > 1 # a remark", "80" },
	{ "hiwat_pf_states * 1KiB > 1KiB", "81920" },
	{ "hiwat_pf_states > 1m", "80" },
	{ "grows(hiwat_pf_counter_total)", "" },
	{ "(hiwat_mbuf_pool_in_use or hiwat_mbuf_pool_limit) > 0", "10 {pool=\"a\"}\n20 {pool=\"b\"}\n40 {pool=\"c\"}" },
};

static int
compare_text(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

START_TEST(values)
{
	static const struct sample_label role = { "role", "mail" };
	struct rule_set *set = NULL;
	struct buf errors, line;
	struct rule_host h;
	char *lines[20], got[2000] = "";
	unsigned n = 0;

	buf_init(&errors, 10000);
	buf_init(&line, 1000);
	ck_assert_msg(parse(value_rows[_i].expr, &set, &errors) == HIWAT_OK, "%s", buf_str(&errors));
	rule_host_init(&h, set, "freebsd");
	h.view.host_labels = &role;
	h.view.n_host_labels = 1;
	size_t s = rule_host_begin(&h, "test");
	for (size_t i = 0; i < ARRAY_LEN(sample); i++)
		ck_assert(rule_host_put(&h, s, sample[i].series, sample[i].value));
	ck_assert_int_eq(rule_host_eval(&h, s, 60, 10, VERDICT_OK), HIWAT_OK);
	for (unsigned e = 0; e < h.n_events && n < ARRAY_LEN(lines); e++) {
		unsigned n_labels;
		const struct sample_label *l = labels_get(h.labels, h.events[e].labels, &n_labels);
		buf_reset(&line);
		buf_put_double(&line, h.events[e].value);
		if (n_labels > 0)
			series_write(&line, " ", l, n_labels);
		lines[n++] = strdup(buf_str(&line));
	}
	qsort(lines, n, sizeof(lines[0]), compare_text);
	for (unsigned i = 0; i < n; i++) {
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i > 0 ? "\n" : "", lines[i]);
		free(lines[i]);
	}
	ck_assert_msg(strcmp(got, value_rows[_i].want) == 0, "%s: wanted %s, got %s", value_rows[_i].expr,
	    value_rows[_i].want, got);
	rule_host_fini(&h);
	rule_set_free(set);
	buf_fini(&line);
	buf_fini(&errors);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("expr");
	TCase *tc = tcase_create("expr");

	tcase_add_loop_test(tc, errors_name_place_and_expectation, 0, ARRAY_LEN(error_rows));
	tcase_add_test(tc, deep_nesting_is_refused);
	tcase_add_loop_test(tc, values, 0, ARRAY_LEN(value_rows));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
