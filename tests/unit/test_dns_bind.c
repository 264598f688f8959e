/* BIND's samplers against a real named on loopback that forwards to an unbound, to a closed port and to one that is silent. */
#include "unit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dns_message.h"
#include "err.h"
#include "resolver.h"
#include "sampled.h"
#include "tree.h"

#define KEY "key \"k\" { algorithm hmac-sha256; secret \"aGl3YXQtdGVzdC1rZXktb2YtbG9vcGJhY2s=\"; };\n"
#define CLIENTS_MAX 20

static struct tree dir;
static struct resolver named, upstream;
static int silent;      /* a socket that reads nothing */
static int waiting[18]; /* clients */
static size_t n_waiting;
static char url[64], rndc_conf[128], named_conf[128];
static struct sampled sampled;
static struct sampler_config config;

static const char *
first_of(const char *a, const char *b)
{
	return access(a, X_OK) == 0 ? a : b;
}

static uint16_t
open_silent(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);

	silent = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(silent, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(getsockname(silent, (struct sockaddr *)&a, &len), 0);
	return ntohs(a.sin_port);
}

static void
start_named(uint16_t silent_port)
{
	char text[2048];
	const char *const argv[] = { "named", "-g", "-n", "1", "-c", named_conf, NULL };

	for (int tries = 0; tries < 5; tries++) {
		uint16_t control = resolver_free_port(), channel = resolver_free_port();
		named.port = resolver_free_port();
		snprintf(url, sizeof(url), "http://127.0.0.1:%u/json/v1/server", channel);
		snprintf(text, sizeof(text),
		    KEY
		    "controls { inet 127.0.0.1 port %u allow { 127.0.0.1; } keys { \"k\"; }; };\n"
		    "statistics-channels { inet 127.0.0.1 port %u allow { 127.0.0.1; }; };\n"
		    "options {\n\tdirectory \"%s\"; pid-file none; session-keyfile none; managed-keys-directory \"%s\";\n"
		    "\tlisten-on port %u { 127.0.0.1; }; listen-on-v6 { none; };\n"
		    "\trecursion yes; dnssec-validation no; empty-zones-enable no;\n"
		    "\trecursive-clients %u; max-cache-size 8M; max-cache-ttl 1h; servfail-ttl 0;\n};\n"
		    "zone \"up.test\" { type forward; forward only; forwarders { 127.0.0.1 port %u; }; };\n"
		    "zone \"no.test\" { type forward; forward only; forwarders { 127.0.0.1 port %u; }; };\n"
		    "zone \"dead.test\" { type forward; forward only; forwarders { 127.0.0.1 port 1; }; };\n"
		    "zone \"silent.test\" { type forward; forward only; forwarders { 127.0.0.1 port %u; }; };\n"
		    "zone \"localhost\" { type primary; file \"zone\"; };\n",
		    control, channel, dir.dir, dir.dir, named.port, CLIENTS_MAX, upstream.port, upstream.port, silent_port);
		tree_write(&dir, "named.conf", text);
		snprintf(text, sizeof(text),
		    KEY "options { default-key \"k\"; default-server 127.0.0.1; default-port %u; };\n", control);
		tree_write(&dir, "rndc.conf", text);
		if (resolver_start(&named, &dir, argv))
			return;
	}
	ck_abort_msg("named does not answer");
}

static void
setup(void)
{
	tree_make(&dir);
	/* named gives up root's rights over files that are not its own. */
	chmod(dir.dir, 0777);
	snprintf(named_conf, sizeof(named_conf), "%s/named.conf", dir.dir);
	snprintf(rndc_conf, sizeof(rndc_conf), "%s/rndc.conf", dir.dir);
	tree_write(&dir, "zone", "$TTL 60\n@ SOA localhost. h.localhost. 1 60 60 60 60\n@ NS localhost.\n@ A 127.0.0.1\n");
	resolver_start_unbound(&upstream, &dir, "");
	start_named(open_silent());
	config = (struct sampler_config)SAMPLER_DEFAULTS;
	config.bind_statistics_url = url;
	config.rndc_config = rndc_conf;
	config.named_conf = named_conf;
}

static void
teardown(void)
{
	resolver_stop(&named);
	resolver_stop(&upstream);
	close(silent);
	while (n_waiting > 0)
		close(waiting[--n_waiting]);
	tree_remove(&dir);
}

#define COUNT(name) "hiwat_dns_" name "{server=\"bind\"}"
#define ANSWERS(rcode) "hiwat_dns_responses_total{rcode=\"" rcode "\",server=\"bind\"}"

/* What was sent, and by how much it makes each number grow. */
static const struct {
	const char *name;
	unsigned n, rcode;
	const char *series;
	double grows;
} sent_rows[] = {
	{ "m%u.up.test", 30, 0, COUNT("cache_misses_total"), 30 },
	{ "m%u.up.test", 30, 0, COUNT("cache_hits_total"), 30 },
	{ "a.up.test", 10, 0, ANSWERS("NOERROR"), 10 },
	{ "n%u.no.test", 7, 3, ANSWERS("NXDOMAIN"), 7 },
	{ "d%u.dead.test", 5, 2, ANSWERS("SERVFAIL"), 5 },
	{ "localhost", 11, 0, COUNT("queries_total"), 11 },
};

START_TEST(the_channel_counts_what_was_sent)
{
	sampled_open(&sampled, "dns_bind", &config);
	for (size_t i = 0; i < ARRAY_LEN(sent_rows); i++) {
		ck_assert_msg(sampled_take(&sampled, 10 * i) == HIWAT_OK, "%s", sampled.why.text);
		double before = sampled_value(&sampled, sent_rows[i].series);
		resolver_ask_all(&named, sent_rows[i].name, sent_rows[i].n, sent_rows[i].rcode);
		ck_assert_int_eq(sampled_take(&sampled, 10 * i + 1), HIWAT_OK);
		double after = sampled_value(&sampled, sent_rows[i].series);
		ck_assert_msg(after - before == sent_rows[i].grows, "%s: from %g to %g after %u of %s", sent_rows[i].series,
		    before, after, sent_rows[i].n, sent_rows[i].name);
	}
	ck_assert_double_eq(sampled_value(&sampled, COUNT("recursive_clients")), 0);
	ck_assert_double_ge(sampled_value(&sampled, "hiwat_dns_cache_entries{cache=\"rrset\",server=\"bind\"}"), 30);
	ck_assert_double_gt(sampled_value(&sampled, "hiwat_dns_cache_bytes{cache=\"tree\",server=\"bind\"}"), 0);
	resolver_stop(&named);
	ck_assert_int_eq(sampled_take(&sampled, 1000), HIWAT_E_MISSING);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, url));
	sampled_close(&sampled);
}
END_TEST

static void
send_only(const char *name)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(named.port) };
	char query[DNS_QUERY_MAX];

	size_t n = dns_query_write(query, 1, name);
	int fd = waiting[n_waiting++] = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(sendto(fd, query, n, 0, (struct sockaddr *)&to, sizeof(to)), (ssize_t)n);
}

/* Takes samples until the series has reached the value. */
static void
wait_for_value(const char *series, double value)
{
	for (int i = 0; i < 300; i++) {
		ck_assert_msg(sampled_take(&sampled, 10) == HIWAT_OK, "%s", sampled.why.text);
		if (sampled_value(&sampled, series) >= value)
			return;
		poll(NULL, 0, 10);
	}
	ck_abort_msg("%s stays at %g", series, sampled_value(&sampled, series));
}

START_TEST(clients_that_wait)
{
	char name[32];

	config.rndc = first_of("/usr/sbin/rndc", "/usr/local/sbin/rndc");
	sampled_open(&sampled, "dns_rndc", &config);
	sampled_expect(&sampled, 1,
	    COUNT("recursive_clients") " 0\n" COUNT("recursive_clients_soft_limit") " 18\n" COUNT(
		"recursive_clients_limit") " 20\n!" COUNT("queries_total") "\n");
	for (unsigned i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "w%u.silent.test", i);
		send_only(name);
	}
	wait_for_value(COUNT("recursive_clients"), 10);
	ck_assert_double_eq(sampled_value(&sampled, COUNT("recursive_clients")), 10);
	/* Up to the soft limit; each one above it would make named drop the oldest. */
	for (unsigned i = 10; i < 18; i++) {
		snprintf(name, sizeof(name), "w%u.silent.test", i);
		send_only(name);
	}
	wait_for_value(COUNT("recursive_clients"), 18);
	ck_assert_double_eq(sampled_value(&sampled, COUNT("recursive_clients")), 18);
	sampled_close(&sampled);
	/* The channel tells the same number only where rndc is not asked. */
	sampled_open(&sampled, "dns_bind", &config);
	sampled_expect(&sampled, 1, "!" COUNT("recursive_clients") "\n");
	sampled_close(&sampled);
	config.rndc = NULL;
	sampled_open(&sampled, "dns_bind", &config);
	ck_assert_int_eq(sampled_take(&sampled, 1), HIWAT_OK);
	ck_assert_double_ge(sampled_value(&sampled, COUNT("recursive_clients")), 10);
	sampled_close(&sampled);
}
END_TEST

START_TEST(settings)
{
	config.named_checkconf = first_of("/usr/bin/named-checkconf", "/usr/local/bin/named-checkconf");
	sampled_open(&sampled, "dns_named_conf", &config);
	sampled_expect(&sampled, 1,
	    "hiwat_dns_setting{name=\"recursive-clients\",server=\"bind\"} 20\n"
	    "hiwat_dns_setting{name=\"max-cache-size\",server=\"bind\"} 8388608\n"
	    "hiwat_dns_setting{name=\"max-cache-ttl\",server=\"bind\"} 3600\n");
	/* Its own words are the reason. */
	tree_write(&dir, "named.conf", "options { frobs 7; };\n");
	ck_assert_int_eq(sampled_take(&sampled, 2), HIWAT_E_REJECTED);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, "named-checkconf"));
	sampled_close(&sampled);
}
END_TEST

START_TEST(rndc_is_refused)
{
	config.rndc = first_of("/usr/sbin/rndc", "/usr/local/sbin/rndc");
	resolver_stop(&named);
	sampled_open(&sampled, "dns_rndc", &config);
	ck_assert_int_eq(sampled_take(&sampled, 1), HIWAT_E_REJECTED);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, "connect failed"));
	sampled_close(&sampled);
	config.rndc = "/nowhere/rndc";
	sampled_open(&sampled, "dns_rndc", &config);
	ck_assert_int_eq(sampled_take(&sampled, 1), HIWAT_E_MISSING);
	sampled_close(&sampled);
}
END_TEST

START_TEST(a_page_that_is_not_there)
{
	char *last = strrchr(url, '/');

	memcpy(last + 1, "nothing", sizeof("nothing"));
	sampled_open(&sampled, "dns_bind", &config);
	ck_assert_int_eq(sampled_take(&sampled, 1), HIWAT_E_REJECTED);
	ck_assert_ptr_nonnull(strstr(sampled.why.text, "HTTP status 404"));
	sampled_close(&sampled);
}
END_TEST

static Suite *
suite(void)
{
	static const char *const programs[] = { "named", "rndc", "named-checkconf", "unbound", NULL };
	Suite *s = suite_create("dns_bind");
	TCase *tc = tcase_create("dns_bind");

	resolver_need(programs);
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_channel_counts_what_was_sent);
	tcase_add_test(tc, clients_that_wait);
	tcase_add_test(tc, settings);
	tcase_add_test(tc, rndc_is_refused);
	tcase_add_test(tc, a_page_that_is_not_there);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
