/*
 * The engine against the plain way: random series that grow, step back, vanish, come back and boot go through a rule set, and
 * through one window for each function and series, kept by hand. Both must say the same after each record.
 */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "err.h"
#include "rule_host.h"
#include "window.h"

#define N_SERIES 5
#define N_TICKS 700
#define MINUTE 60000000000ULL

static const char *const samplers[] = { "one", "two" };

static const struct {
	const char *name;
	enum window_kind kind;
	unsigned minutes;
} functions[] = {
	{ "rate", WINDOW_RATE_LAST, 0 },
	{ "grows", WINDOW_GROWS, 0 },
	{ "rate", WINDOW_RATE, 1 },
	{ "rate", WINDOW_RATE, 60 },
	{ "increase", WINDOW_INCREASE, 5 },
	{ "active", WINDOW_ACTIVE, 10 },
	{ "delta", WINDOW_DELTA, 5 },
	{ "avg", WINDOW_AVG, 60 },
	{ "max", WINDOW_MAX, 10 },
	{ "min", WINDOW_MIN, 10 },
	{ "changes", WINDOW_CHANGES, 10 },
	{ "trend", WINDOW_TREND, 5 },
	{ "trend", WINDOW_TREND, 15 },
};
#define N_FUNCTIONS ARRAY_LEN(functions)

struct plain {
	struct window_shape shape;
	struct window *windows[N_SERIES]; /* owned */
};

struct world {
	struct rule_set *rules;
	struct rule_host host;
	struct plain plain[N_FUNCTIONS];
	double values[N_SERIES], good[ARRAY_LEN(samplers)], seen[N_SERIES];
	bool there[N_SERIES], delivered[ARRAY_LEN(samplers)];
};

static uint64_t random_state;

/* xorshift; below n. */
static unsigned
any(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)((random_state >> 11) % n);
}

static void
load(struct world *w)
{
	struct buf text, errors;

	buf_init(&text, 1 << 20);
	buf_init(&errors, 1 << 20);
	buf_puts(&text, "rules:\n");
	for (unsigned f = 0; f < N_FUNCTIONS; f++) {
		bool counts = functions[f].kind <= WINDOW_ACTIVE;
		char window[20] = "";
		if (functions[f].minutes != 0)
			snprintf(window, sizeof(window), "[%um]", functions[f].minutes);
		/* Half of them by way of a matcher, which must not give them windows of their own. */
		buf_printf(&text,
		    "- {id: f%u, cause: c, threshold_source: ours, reason: r, summary: s, hold: 0s, clear: same, warning: "
		    "'%s(%s%s%s)%s'}\n",
		    f, functions[f].name, counts ? "hiwat_mbuf_requests_denied_total" : "hiwat_mbuf_pool_in_use",
		    f % 2 == 0 ? "{pool=~\"p.*\"}" : "", window, functions[f].kind == WINDOW_GROWS ? "" : " > -1e300");
	}
	ck_assert_msg(rule_set_parse("test", buf_str(&text), text.len, &w->rules, &errors) == HIWAT_OK, "%s",
	    buf_str(&errors));
	buf_fini(&text);
	buf_fini(&errors);
}

static void
init_world(struct world *w, unsigned seed)
{
	memset(w, 0, sizeof(*w));
	random_state = 88172645463325252ULL + seed * 2654435761ULL;
	load(w);
	rule_host_init(&w->host, w->rules, "freebsd");
	for (unsigned f = 0; f < N_FUNCTIONS; f++) {
		w->plain[f].shape = window_shape_of(functions[f].kind, functions[f].minutes * MINUTE);
		for (unsigned i = 0; i < N_SERIES; i++) {
			w->plain[f].windows[i] = malloc(w->plain[f].shape.size);
			ck_assert_ptr_nonnull(w->plain[f].windows[i]);
			window_init(w->plain[f].windows[i], &w->plain[f].shape);
		}
	}
}

static void
change(struct world *w, unsigned i, double now)
{
	switch (any(10)) {
	case 0:
	case 1:
	case 2:
		w->values[i] += any(20);
		break;
	case 3:
		w->values[i] += any(100000);
		break;
	case 4:
		if (any(10) == 0)
			w->values[i] = any(10); /* somebody's reset */
		break;
	default:
		break;
	}
	/* Not longer than the engine remembers who is away. */
	if (any(60) == 0 || now - w->seen[i] > 1800)
		w->there[i] = !w->there[i];
}

static void
boot(struct world *w)
{
	rule_state_reboot(w->host.state);
	for (unsigned s = 0; s < ARRAY_LEN(samplers); s++) {
		w->delivered[s] = w->good[s] > 0;
		w->good[s] = 0;
	}
	memset(w->seen, 0, sizeof(w->seen));
	for (unsigned i = 0; i < N_SERIES; i++) {
		w->values[i] = any(3) == 0 ? w->values[i] : any(50);
		for (unsigned f = 0; f < N_FUNCTIONS; f++)
			window_reboot(w->plain[f].windows[i], &w->plain[f].shape);
	}
}

struct said {
	const struct world *w;
	double value[N_FUNCTIONS][N_SERIES];
};

static void
note(void *arg, const struct rule_event *e)
{
	struct said *said = arg;
	const char *pool = labels_value(said->w->host.labels, e->labels, "pool");

	said->value[e->rule->index][pool[1] - '0'] = e->status == RULE_FIRING ? e->value : NAN;
}

static void
check(const struct world *w, unsigned sampler, unsigned seed, double now)
{
	struct said said = { .w = w };

	for (unsigned f = 0; f < N_FUNCTIONS; f++) {
		for (unsigned i = 0; i < N_SERIES; i++)
			said.value[f][i] = NAN;
	}
	rules_each(w->rules, w->host.state, note, &said);
	for (unsigned f = 0; f < N_FUNCTIONS; f++) {
		for (unsigned i = sampler; i < N_SERIES; i += 2) {
			double want = window_read(w->plain[f].windows[i], &w->plain[f].shape, now), got = said.value[f][i];
			/* What is unknown leaves what was said before. */
			if (!w->there[i] || (isnan(want) && (isnan(got) || !value_is_false(want))))
				continue;
			ck_assert_msg(fabs(want - got) <= 1e-4 * fmax(fabs(want), 1),
			    "seed %u at %g: %s[%um] of series %u is %g, not %g", seed, now, functions[f].name,
			    functions[f].minutes, i, got, want);
		}
	}
}

static void
record(struct world *w, unsigned sampler, double now)
{
	size_t set = rule_host_begin(&w->host, samplers[sampler]);
	struct window_start start = { w->delivered[sampler], w->good[sampler] };

	for (unsigned i = sampler; i < N_SERIES; i += 2) {
		char name[80];
		if (!w->there[i])
			continue;
		w->seen[i] = now;
		snprintf(name, sizeof(name), "hiwat_mbuf_requests_denied_total{pool=\"p%u\"}", i);
		ck_assert(rule_host_put(&w->host, set, name, w->values[i]));
		snprintf(name, sizeof(name), "hiwat_mbuf_pool_in_use{pool=\"p%u\"}", i);
		ck_assert(rule_host_put(&w->host, set, name, w->values[i]));
		for (unsigned f = 0; f < N_FUNCTIONS; f++)
			window_push(w->plain[f].windows[i], &w->plain[f].shape, w->values[i], now, &start);
	}
	ck_assert_int_eq(rule_host_eval(&w->host, set, now, 10, VERDICT_OK), HIWAT_OK);
	w->delivered[sampler] = true;
	w->good[sampler] = now;
}

static void
restart(struct world *w)
{
	struct buf b;

	buf_init(&b, 1 << 24);
	ck_assert_int_eq(rule_state_save(w->rules, w->host.state, w->host.labels, &b), HIWAT_OK);
	rule_state_free(w->host.state);
	w->host.state = rule_state_new();
	ck_assert_int_eq(rule_state_load(w->rules, w->host.state, w->host.labels, b.data, b.len), HIWAT_OK);
	buf_fini(&b);
}

START_TEST(says_what_plain_windows_say)
{
	static struct world w;
	double now = 500;

	init_world(&w, (unsigned)_i);
	for (unsigned i = 0; i < N_SERIES; i++) {
		w.values[i] = any(1000);
		w.there[i] = any(4) != 0;
	}
	for (unsigned tick = 0; tick < N_TICKS; tick++) {
		now += any(30) == 0 ? 10 * (1 + any(40)) : 10;
		/* Half of the runs see boots; the others come to long windows. */
		if (_i % 2 == 1 && any(150) == 0) {
			boot(&w);
			now = 20 + any(10);
		}
		for (unsigned i = 0; i < N_SERIES; i++)
			change(&w, i, now);
		for (unsigned s = 0; s < ARRAY_LEN(samplers); s++) {
			if (any(20) == 0)
				continue;
			record(&w, s, now);
			check(&w, s, (unsigned)_i, now);
		}
		/* After the first record of each, so that no sampler forgets that it delivered. */
		if (_i % 3 == 0 && tick > 0 && any(200) == 0) {
			restart(&w);
			w.delivered[0] = w.delivered[1] = false;
		}
	}
	for (unsigned f = 0; f < N_FUNCTIONS; f++) {
		for (unsigned i = 0; i < N_SERIES; i++)
			free(w.plain[f].windows[i]);
	}
	rule_host_fini(&w.host);
	rule_set_free(w.rules);
}
END_TEST

static void
load_one(struct rule_set **rules, const char *condition)
{
	struct buf text, errors;

	buf_init(&text, 10000);
	buf_init(&errors, 10000);
	buf_printf(&text, "rules: [{id: x, cause: c, threshold_source: ours, reason: r, summary: s, warning: '%s'}]\n",
	    condition);
	ck_assert_msg(rule_set_parse("test", buf_str(&text), text.len, rules, &errors) == HIWAT_OK, "%s", buf_str(&errors));
	buf_fini(&text);
	buf_fini(&errors);
}

/* One record of one value. */
static void
put_one(struct rule_host *h, const char *sampler, const char *series, double value, double now)
{
	size_t set = rule_host_begin(h, sampler);

	ck_assert(rule_host_put(h, set, series, value));
	ck_assert_int_eq(rule_host_eval(h, set, now, 10, VERDICT_OK), HIWAT_OK);
}

/* A counter's whole past is no growth because the other side of a condition comes from a sampler that speaks later. */
START_TEST(late_partners_make_no_growth)
{
	static struct rule_host h;
	struct rule_set *rules;

	load_one(&rules, "grows(hiwat_listen_overflows_total) and hiwat_pf_states > 0");
	rule_host_init(&h, rules, "freebsd");
	put_one(&h, "net", "hiwat_listen_overflows_total", 831, 100);
	put_one(&h, "net", "hiwat_listen_overflows_total", 831, 110);
	put_one(&h, "pf", "hiwat_pf_states", 10, 110);
	put_one(&h, "net", "hiwat_listen_overflows_total", 831, 120);
	put_one(&h, "pf", "hiwat_pf_states", 10, 120);
	ck_assert_str_eq(rule_host_status(&h, "x"), "");
	put_one(&h, "net", "hiwat_listen_overflows_total", 834, 130);
	ck_assert_str_eq(rule_host_status(&h, "x"), "warning");
	ck_assert_double_eq(rule_host_event(&h, "x")->value, 3);
	rule_host_fini(&h);
	rule_set_free(rules);
}
END_TEST

/* A window that only says how long there is left takes its samples although no condition asks for its sampler. */
START_TEST(what_explains_is_fed)
{
	static struct rule_host h;
	struct rule_set *rules;
	struct buf text, errors;

	buf_init(&text, 10000);
	buf_init(&errors, 10000);
	buf_puts(&text,
	    "rules: [{id: x, cause: c, threshold_source: ours, reason: r, summary: s, "
	    "warning: hiwat_listen_overflows_total > 0, eta: 'time_to(hiwat_pf_states[5m], 1000)'}]\n");
	ck_assert_int_eq(rule_set_parse("test", buf_str(&text), text.len, &rules, &errors), HIWAT_OK);
	rule_host_init(&h, rules, "freebsd");
	for (unsigned i = 0; i < 40; i++) {
		put_one(&h, "pf", "hiwat_pf_states", 10 * i, 100 + 10 * i);
		put_one(&h, "net", "hiwat_listen_overflows_total", 1 + i, 100 + 10 * i);
	}
	ck_assert_double_eq_tol(rule_host_event(&h, "x")->seconds_to_limit, 610, 1);
	rule_host_fini(&h);
	rule_set_free(rules);
	buf_fini(&text);
	buf_fini(&errors);
}
END_TEST

/* Cells are kept in fewer digits than values; a value that stays is no change all the same. */
START_TEST(what_stays_does_not_change)
{
	static struct rule_host h;
	struct rule_set *rules;

	load_one(&rules, "delta(hiwat_zpool_scrub_progress_ratio[10m]) != 0");
	rule_host_init(&h, rules, "freebsd");
	for (unsigned i = 0; i < 70; i++) {
		put_one(&h, "disk", "hiwat_zpool_scrub_progress_ratio", 0.1, 100 + 10 * i);
		ck_assert_str_eq(rule_host_status(&h, "x"), "");
	}
	put_one(&h, "disk", "hiwat_zpool_scrub_progress_ratio", 0.05, 900);
	ck_assert_str_eq(rule_host_status(&h, "x"), "warning");
	rule_host_fini(&h);
	rule_set_free(rules);
}
END_TEST

/* Rules that ask the same of a series share its history, however they choose it; hosts that are alike share the plan. */
START_TEST(history_is_shared)
{
	static struct rule_host h;
	struct rule_set *rules;

	load_one(&rules, "rate(hiwat_netif_packets_total[1m]) > 5");
	rule_host_init(&h, rules, "freebsd");
	put_one(&h, "net", "hiwat_netif_packets_total{direction=\"in\",interface=\"a\"}", 1, 10);
	size_t alone = rule_state_bytes(h.state);
	rule_host_fini(&h);
	rule_set_free(rules);
	load_one(&rules,
	    "rate(hiwat_netif_packets_total[1m]) > 5 or rate(hiwat_netif_packets_total{direction=\"in\"}[1m]) > 6 "
	    "or rate(hiwat_netif_packets_total{interface=~\"a|b\"}[1m]) > 7");
	rule_host_init(&h, rules, "freebsd");
	put_one(&h, "net", "hiwat_netif_packets_total{direction=\"in\",interface=\"a\"}", 1, 10);
	ck_assert_uint_eq(rule_state_bytes(h.state), alone);
	rule_host_fini(&h);
	rule_set_free(rules);
}
END_TEST

/* A record that is not newer than the last one of its sampler was judged, or comes too late: it changes nothing. */
START_TEST(what_is_not_newer_changes_nothing)
{
	static struct rule_host h;
	struct rule_set *rules;

	load_one(&rules, "increase(hiwat_listen_overflows_total[5m]) >= 10");
	rule_host_init(&h, rules, "freebsd");
	put_one(&h, "net", "hiwat_listen_overflows_total", 100, 100);
	put_one(&h, "net", "hiwat_listen_overflows_total", 105, 110);
	put_one(&h, "net", "hiwat_listen_overflows_total", 900, 110);
	put_one(&h, "net", "hiwat_listen_overflows_total", 3, 90);
	ck_assert_str_eq(rule_host_status(&h, "x"), "");
	put_one(&h, "net", "hiwat_listen_overflows_total", 109, 120);
	ck_assert_str_eq(rule_host_status(&h, "x"), "");
	put_one(&h, "net", "hiwat_listen_overflows_total", 110, 130);
	ck_assert_str_eq(rule_host_status(&h, "x"), "warning");
	ck_assert_double_eq_tol(rule_host_event(&h, "x")->value, 10, 1e-6);
	rule_host_fini(&h);
	rule_set_free(rules);
}
END_TEST

/* Somebody sets the host's clock: rates and waits go by the time since boot. Only ages are told by the clock. */
START_TEST(clock_steps_do_nothing)
{
	static struct rule_host h;
	struct rule_set *rules;

	load_one(&rules, "rate(hiwat_listen_overflows_total) > 0.5");
	rule_host_init(&h, rules, "freebsd");
	for (unsigned i = 0; i < 12; i++) {
		h.wall_offset = i < 4 ? 1e9 : i < 8 ? 2e9 : 5e8;
		put_one(&h, "net", "hiwat_listen_overflows_total", 10 * i, 100 + 10 * i);
		ck_assert_str_eq(rule_host_status(&h, "x"), i == 0 ? "" : "warning");
		ck_assert(i == 0 || rule_host_event(&h, "x") == NULL || rule_host_event(&h, "x")->value == 1);
	}
	rule_host_fini(&h);
	rule_set_free(rules);
}
END_TEST

/* A series that is away and comes back: what it counted meanwhile came evenly, no burst when it is back. */
START_TEST(what_comes_back_goes_on)
{
	static struct rule_host h;
	struct rule_set *rules;

	load_one(&rules, "rate(hiwat_mbuf_requests_denied_total{pool=\"a\"}) > 0");
	rule_host_init(&h, rules, "freebsd");
	for (unsigned i = 0; i < 60; i++) {
		size_t set = rule_host_begin(&h, "mbuf");
		ck_assert(rule_host_put(&h, set, "hiwat_mbuf_requests_denied_total{pool=\"b\"}", 0));
		if (i < 10 || i >= 40)
			ck_assert(rule_host_put(&h, set, "hiwat_mbuf_requests_denied_total{pool=\"a\"}", 20 * i));
		ck_assert_int_eq(rule_host_eval(&h, set, 100 + 10 * i, 10, VERDICT_OK), HIWAT_OK);
		if (i == 20)
			ck_assert_str_eq(rule_host_status(&h, "x"), "gone warning {pool=\"a\"}");
		if (i == 40) {
			ck_assert_str_eq(rule_host_status(&h, "x"), "warning {pool=\"a\"}");
			ck_assert_double_eq_tol(rule_host_event(&h, "x")->value, 2, 1e-9);
		}
	}
	rule_host_fini(&h);
	rule_set_free(rules);
}
END_TEST

/* What does not fit is said once, at the rule where it was too much. */
START_TEST(too_many_operations)
{
	struct rule_set *rules = NULL;
	struct buf text, errors;

	buf_init(&text, 1 << 20);
	buf_init(&errors, 1 << 20);
	buf_puts(&text, "rules:\n");
	for (unsigned r = 0; r < 280; r++) {
		buf_printf(&text,
		    "- {id: r%u, cause: c, threshold_source: ours, reason: r, summary: s, warning: 'hiwat_files_open > 1",
		    r);
		for (unsigned i = 0; i < 60; i++)
			buf_printf(&text, " or hiwat_files_open > %u", 2 + r * 60 + i);
		buf_puts(&text, "'}\n");
	}
	ck_assert_int_eq(rule_set_parse("many", buf_str(&text), text.len, &rules, &errors), HIWAT_E_CONFIG);
	ck_assert_ptr_nonnull(strstr(buf_str(&errors), ":3: the rules up to here have more than 65536 operations\n"));
	ck_assert_ptr_eq(strchr(buf_str(&errors), '\n'), buf_str(&errors) + errors.len - 1);
	buf_fini(&text);
	buf_fini(&errors);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("engine");
	TCase *tc = tcase_create("engine");

	tcase_add_loop_test(tc, says_what_plain_windows_say, 0, 12);
	tcase_add_test(tc, late_partners_make_no_growth);
	tcase_add_test(tc, what_explains_is_fed);
	tcase_add_test(tc, what_stays_does_not_change);
	tcase_add_test(tc, history_is_shared);
	tcase_add_test(tc, too_many_operations);
	tcase_add_test(tc, what_is_not_newer_changes_nothing);
	tcase_add_test(tc, clock_steps_do_nothing);
	tcase_add_test(tc, what_comes_back_goes_on);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
