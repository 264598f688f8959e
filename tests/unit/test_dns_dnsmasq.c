/* dnsmasq's sampler against a real one on loopback that forwards to an unbound. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "err.h"
#include "resolver.h"
#include "sampled.h"
#include "tree.h"

#define CACHE 40
#define SERVFAIL 2

static struct tree dir;
static struct resolver dnsmasq, upstream;
static char address[32];
static struct sampled sampled;
static struct sampler_config config;

static void
start_dnsmasq(void)
{
	char port[32], up[64], dead[64], cache[32];
	const char *const argv[] = { "dnsmasq", "-k", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
		"--user=", "--group=", "--pid-file=", "--listen-address=127.0.0.1", "--bind-interfaces", "--log-facility=-",
		port, up, dead, cache, "--address=/localhost/127.0.0.1", NULL };

	for (int tries = 0; tries < 5; tries++) {
		dnsmasq.port = resolver_free_port();
		snprintf(port, sizeof(port), "--port=%u", dnsmasq.port);
		snprintf(up, sizeof(up), "--server=/up.test/127.0.0.1#%u", upstream.port);
		snprintf(dead, sizeof(dead), "--server=/dead.example/127.0.0.1#%u", upstream.port);
		snprintf(cache, sizeof(cache), "--cache-size=%u", CACHE);
		snprintf(address, sizeof(address), "127.0.0.1#%u", dnsmasq.port);
		if (resolver_start(&dnsmasq, &dir, argv))
			return;
	}
	ck_abort_msg("dnsmasq does not answer");
}

static void
setup(void)
{
	tree_make(&dir);
	resolver_start_unbound(&upstream, &dir, RESOLVER_DEAD_ZONE);
	start_dnsmasq();
	config = (struct sampler_config)SAMPLER_DEFAULTS;
	config.dnsmasq_address = address;
}

static void
teardown(void)
{
	resolver_stop(&dnsmasq);
	resolver_stop(&upstream);
	tree_remove(&dir);
}

#define COUNT(name) "hiwat_dns_" name "{server=\"dnsmasq\"}"

static double
upstream_count(const char *metric, unsigned port)
{
	char series[128];

	snprintf(series, sizeof(series), "hiwat_dns_upstream_%s_total{server=\"dnsmasq\",upstream=\"127.0.0.1#%u\"}", metric,
	    port);
	return sampled_value(&sampled, series);
}

/* Every number of dnsmasq, by how much it grows. */
struct numbers {
	double misses, hits, insertions, evictions, sent;
};

static struct numbers
take(uint64_t seconds)
{
	ck_assert_msg(sampled_take(&sampled, seconds) == HIWAT_OK, "%s", sampled.why.text);
	return (struct numbers){ sampled_value(&sampled, COUNT("cache_misses_total")),
		sampled_value(&sampled, COUNT("cache_hits_total")), sampled_value(&sampled, COUNT("cache_insertions_total")),
		sampled_value(&sampled, COUNT("cache_evictions_total")), upstream_count("queries", upstream.port) };
}

START_TEST(counts_are_what_was_sent)
{
	sampled_open(&sampled, "dns_dnsmasq", &config);
	struct numbers a = take(10), b = take(20);
	/* Sampling itself. */
	double own = b.hits - a.hits;
	ck_assert_double_le(own, 6);
	ck_assert_double_eq(b.misses, a.misses);
	ck_assert_double_eq(sampled_value(&sampled, "hiwat_dns_cache_limit_entries{cache=\"rrset\",server=\"dnsmasq\"}"),
	    CACHE);
	/* Misses, within the cache. */
	resolver_ask_all(&dnsmasq, "m%u.up.test", 20, 0);
	a = take(30);
	ck_assert_double_eq(a.misses - b.misses, 20);
	ck_assert_double_eq(a.hits - b.hits, own);
	ck_assert_double_eq(a.insertions - b.insertions, 20);
	ck_assert_double_eq(a.evictions - b.evictions, 0);
	ck_assert_double_eq(a.sent - b.sent, 20);
	/* The same names again are hits. */
	resolver_ask_all(&dnsmasq, "m%u.up.test", 20, 0);
	b = take(40);
	ck_assert_double_eq(b.misses - a.misses, 0);
	ck_assert_double_eq(b.hits - a.hits, 20 + own);
	/* More names than the cache holds push out live ones. */
	resolver_ask_all(&dnsmasq, "e%u.up.test", 100, 0);
	a = take(50);
	ck_assert_double_eq(a.misses - b.misses, 100);
	ck_assert_double_eq(a.insertions - b.insertions, 100);
	ck_assert_double_eq(a.evictions - b.evictions, 100 - (CACHE - 20));
	ck_assert_double_eq(sampled_value(&sampled, COUNT("queries_total")), a.hits + a.misses);
	ck_assert_double_eq(upstream_count("failures", upstream.port), 0);
	/* A server that fails; dnsmasq asks it again at times, and counts all. */
	resolver_ask_all(&dnsmasq, "f%u.dead.example", 9, SERVFAIL);
	b = take(60);
	ck_assert_double_ge(b.sent - a.sent, 9);
	ck_assert_double_ge(upstream_count("failures", upstream.port), 1);
	resolver_stop(&dnsmasq);
	ck_assert_int_eq(sampled_take(&sampled, 70), HIWAT_E_MISSING);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, address));
	sampled_close(&sampled);
}
END_TEST

/* It is found without configuration, and what is found then is no other program. */
START_TEST(it_is_found)
{
	config.dnsmasq_address = NULL;
	config.dns_port = dnsmasq.port;
	sampled_open(&sampled, "dns_dnsmasq", &config);
	take(10);
	sampled_close(&sampled);
	config.dns_port = upstream.port;
	sampled_open(&sampled, "dns_dnsmasq", &config);
	ck_assert_int_eq(sampled_take(&sampled, 10), HIWAT_E_MISSING);
	ck_assert_int_eq(sampled_take(&sampled, 20), HIWAT_E_MISSING);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, "is no dnsmasq"));
	sampled_close(&sampled);
	/* One that is configured must be one. */
	snprintf(address, sizeof(address), "127.0.0.1#%u", upstream.port);
	config.dnsmasq_address = address;
	sampled_open(&sampled, "dns_dnsmasq", &config);
	ck_assert_int_eq(sampled_take(&sampled, 10), HIWAT_E_NODATA);
	sampled_close(&sampled);
}
END_TEST

static Suite *
suite(void)
{
	static const char *const programs[] = { "dnsmasq", "unbound", NULL };
	Suite *s = suite_create("dns_dnsmasq");
	TCase *tc = tcase_create("dns_dnsmasq");

	resolver_need(programs);
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, counts_are_what_was_sent);
	tcase_add_test(tc, it_is_found);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
