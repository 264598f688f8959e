/*
 * Cost of the rules: hiwat-bench-rules RULES [HOSTS [ROUNDS]]. Hosts of one shape deliver batches of five records and
 * nothing is amiss; prints CPU time for a batch and memory for a host, with all hosts in turn and with one host alone, whose
 * memory is in the caches; and how long reading 1,000 rules takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "rule_host.h"

static const char *const samplers[] = { "mbuf", "interrupts", "pf", "net", "system" };
#define N_SAMPLERS (sizeof(samplers) / sizeof(samplers[0]))

static unsigned long n_events;

static void
count_event(void *arg, const struct rule_event *event)
{
	(void)arg;
	(void)event;
	n_events++;
}

static void
put(struct rule_host *h, size_t set, double value, const char *format, const char *a)
{
	char series[200];

	/* Formats are this file's own. */
	char *p = series;
	for (const char *f = format; *f != '\0' && p < series + sizeof(series) - 40; f++) {
		if (*f == '@')
			p = stpcpy(p, a);
		else
			*p++ = *f;
	}
	*p = '\0';
	if (!rule_host_put(h, set, series, value)) {
		fprintf(stderr, "bad series: %s\n", series);
		exit(EXIT_FAILURE);
	}
}

/* Adds one series for each of n words "PREFIX0", "PREFIX1", ... */
static void
put_each(struct rule_host *h, size_t s, double value, const char *format, const char *prefix, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char word[32];
		snprintf(word, sizeof(word), "%s%u", prefix, i);
		put(h, s, value, format, word);
	}
}

/*
 * A FreeBSD server with pf. size 1: four CPUs, four interrupt sources, three interfaces and file systems; 125 values. Larger
 * ones have this many times the CPUs, sources, interfaces and file systems, which is what large hosts have more of.
 */
static unsigned
fill(struct rule_host *h, unsigned size)
{
	static const char *const pools[] = { "mbuf", "cluster", "packet", "jumbo_page", "jumbo_9k", "jumbo_16k" };
	static const char *const modes[] = { "user", "system", "interrupt", "idle" };
	static const char *const counters[] = { "match", "memory", "congestion", "state-mismatch", "src-limit" };
	unsigned n = 0;
	size_t s = rule_host_begin(h, samplers[0]);

	for (unsigned i = 0; i < 6; i++) {
		put(h, s, 100, "hiwat_mbuf_pool_in_use{pool=\"@\"}", pools[i]);
		put(h, s, 50, "hiwat_mbuf_pool_cached{pool=\"@\"}", pools[i]);
		put(h, s, 150, "hiwat_mbuf_pool_allocated{pool=\"@\"}", pools[i]);
		put(h, s, 100000, "hiwat_mbuf_pool_limit{pool=\"@\"}", pools[i]);
		put(h, s, 0, "hiwat_mbuf_requests_denied_total{pool=\"@\"}", pools[i]);
		put(h, s, 0, "hiwat_mbuf_requests_delayed_total{pool=\"@\"}", pools[i]);
	}
	n += h->sets[s].n_values;
	s = rule_host_begin(h, samplers[1]);
	for (unsigned m = 0; m < 4; m++) {
		char format[100];
		put(h, s, 100, "hiwat_cpu_seconds_total{mode=\"@\"}", modes[m]);
		snprintf(format, sizeof(format), "hiwat_cpu_core_seconds_total{cpu=\"@\",mode=\"%s\"}", modes[m]);
		put_each(h, s, 25, format, "", 4 * size);
	}
	put_each(h, s, 5000, "hiwat_interrupts_total{device=\"ix0:q@\",irq=\"26@\"}", "", 4 * size);
	put(h, s, 9000, "hiwat_interrupt_storm_threshold", "");
	n += h->sets[s].n_values;
	s = rule_host_begin(h, samplers[2]);
	put(h, s, 1, "hiwat_pf_enabled", "");
	put(h, s, 0, "hiwat_pf_tables", "");
	put(h, s, 2000, "hiwat_pf_states", "");
	put(h, s, 6000, "hiwat_pf_adaptive_start_states", "");
	put(h, s, 12000, "hiwat_pf_adaptive_end_states", "");
	put(h, s, 100, "hiwat_pf_state_inserts_total", "");
	put(h, s, 10000, "hiwat_pf_limit{pool=\"states\"}", "");
	put(h, s, 5000, "hiwat_pf_limit{pool=\"frags\"}", "");
	put(h, s, 0, "hiwat_pf_fragments", "");
	for (unsigned i = 0; i < 5; i++)
		put(h, s, 3, "hiwat_pf_counter_total{counter=\"@\"}", counters[i]);
	n += h->sets[s].n_values;
	s = rule_host_begin(h, samplers[3]);
	put_each(h, s, 1000, "hiwat_netif_packets_total{direction=\"in\",interface=\"@\"}", "ix", 3 * size);
	put_each(h, s, 1000, "hiwat_netif_packets_total{direction=\"out\",interface=\"@\"}", "ix", 3 * size);
	put_each(h, s, 100000, "hiwat_netif_bytes_total{direction=\"in\",interface=\"@\"}", "ix", 3 * size);
	put_each(h, s, 100000, "hiwat_netif_bytes_total{direction=\"out\",interface=\"@\"}", "ix", 3 * size);
	put_each(h, s, 0, "hiwat_netif_errors_total{direction=\"in\",interface=\"@\"}", "ix", 3 * size);
	put_each(h, s, 0, "hiwat_netif_errors_total{direction=\"out\",interface=\"@\"}", "ix", 3 * size);
	put_each(h, s, 0, "hiwat_netif_drops_total{direction=\"in\",interface=\"@\"}", "ix", 3 * size);
	put_each(h, s, 1e10, "hiwat_netif_speed_bits{interface=\"@\"}", "ix", 3 * size);
	put_each(h, s, 1500, "hiwat_netif_mtu_bytes{interface=\"@\"}", "ix", 3 * size);
	put(h, s, 100, "hiwat_tcp_connections{state=\"established\"}", "");
	put(h, s, 1, "hiwat_tcp_connections{state=\"syn_received\"}", "");
	put(h, s, 0, "hiwat_listen_overflows_total", "");
	put(h, s, 0, "hiwat_syn_cookies_sent_total", "");
	put(h, s, 0, "hiwat_netisr_drops_total{queue=\"ip\"}", "");
	n += h->sets[s].n_values;
	s = rule_host_begin(h, samplers[4]);
	put(h, s, 100, "hiwat_files_open", "");
	put(h, s, 10000, "hiwat_files_limit", "");
	put_each(h, s, 1e9, "hiwat_filesystem_bytes_used{mount=\"@\"}", "/", 3 * size);
	put_each(h, s, 4e9, "hiwat_filesystem_bytes_limit{mount=\"@\"}", "/", 3 * size);
	put_each(h, s, 1e5, "hiwat_filesystem_inodes_used{mount=\"@\"}", "/", 3 * size);
	put_each(h, s, 1e6, "hiwat_filesystem_inodes_limit{mount=\"@\"}", "/", 3 * size);
	put(h, s, 100, "hiwat_processes", "");
	put(h, s, 10000, "hiwat_processes_limit", "");
	put(h, s, 0, "hiwat_swap_bytes_used", "");
	put(h, s, 4e9, "hiwat_swap_bytes_limit", "");
	return n + h->sets[s].n_values;
}

/* Traffic goes on: what counts packets, bytes and time grows. */
static void
advance(struct rule_host *h, double seconds)
{
	for (size_t s = 0; s < h->view.n_sets; s++) {
		for (uint32_t i = 0; i < h->sets[s].n_values; i++) {
			const char *name = catalogue_metrics[h->sets[s].series->series[i].metric].name;
			if (strstr(name, "packets") != NULL || strstr(name, "bytes_total") != NULL ||
			    strstr(name, "seconds_total") != NULL || strstr(name, "interrupts_total") != NULL)
				h->sets[s].values[i] += 0.25 * seconds;
		}
	}
}

static double
run(struct rule_host *h, struct rule_state **states, unsigned n_states, unsigned rounds, double *at)
{
	uint64_t spent = 0;

	for (unsigned r = 0; r < rounds; r++) {
		*at += 10;
		advance(h, 10);
		uint64_t before = clock_cpu_ns();
		for (unsigned i = 0; i < n_states; i++) {
			struct rule_time now = { (uint64_t)(*at * 1e9), (uint64_t)(*at * 1e9), 10000000000u };
			for (size_t s = 0; s < N_SAMPLERS; s++) {
				if (rules_eval(h->rules, states[i], &h->view, h->labels, s, &now, count_event, NULL) !=
				    HIWAT_OK)
					exit(EXIT_FAILURE);
			}
		}
		spent += clock_cpu_ns() - before;
	}
	return (double)spent / rounds / n_states;
}

/* Hosts of one size; bytes of one of them at the end. */
static void
measure(struct rule_set *rules, unsigned size, unsigned n_hosts, unsigned rounds)
{
	static struct rule_host h;
	struct rule_state **states = calloc(n_hosts, sizeof(struct rule_state *));
	double at = 1000;

	rule_host_init(&h, rules, "freebsd");
	unsigned n_values = fill(&h, size);
	for (unsigned i = 0; states != NULL && i < n_hosts; i++) {
		states[i] = rule_state_new();
		if (states[i] == NULL)
			exit(EXIT_FAILURE);
	}
	if (states == NULL)
		exit(EXIT_FAILURE);
	double first = run(&h, states, n_hosts, 1, &at);
	run(&h, states, n_hosts, 3, &at);
	n_events = 0;
	double steady = run(&h, states, n_hosts, rounds, &at);
	double alone = run(&h, states, 1, rounds * 1000 / size, &at);
	size_t state = rule_state_bytes(states[0]),
	       values = n_values * sizeof(double) + N_SAMPLERS * sizeof(struct sample_set);
	printf("%5u values: %6.2f us a batch in turn, %6.2f alone, first %6.2f; a host: %zu bytes of rules, %zu of values, "
	       "%.1f a value; %lu events\n",
	    n_values, steady / 1e3, alone / 1e3, first / 1e3, state, values, (double)(state + values) / n_values, n_events);
	for (unsigned i = 0; i < n_hosts; i++)
		rule_state_free(states[i]);
	free(states);
	rule_host_fini(&h);
}

/* What it takes to read this many rules, each with matchers, two levels and texts. */
static void
measure_load(unsigned n)
{
	struct buf text, errors;
	struct rule_set *rules;

	buf_init(&text, 1 << 20);
	buf_init(&errors, 1 << 20);
	buf_puts(&text, "rules:\n");
	for (unsigned i = 0; i < n; i++)
		buf_printf(&text,
		    "- id: r%u\n  cause: c%u\n  threshold_source: ours\n  reason: It fills.\n"
		    "  expr: hiwat_filesystem_bytes_used{mount=~\"/m%u|/n.*\"} / hiwat_filesystem_bytes_limit\n"
		    "  warning: {when: 0.%u, for: 60s}\n  critical: 0.95\n"
		    "  eta: time_to(hiwat_filesystem_bytes_used{mount=~\"/m%u|/n.*\"}[15m], hiwat_filesystem_bytes_limit)\n"
		    "  summary: '{{label \"mount\"}} is {{ratio}} full'\n",
		    i, i, i, 50 + i % 40, i);
	uint64_t before = clock_cpu_ns();
	if (rule_set_parse("rules", buf_str(&text), text.len, &rules, &errors) != HIWAT_OK) {
		fputs(buf_str(&errors), stderr);
		exit(EXIT_FAILURE);
	}
	printf("%5u rules read in %.1f ms\n", n, (double)(clock_cpu_ns() - before) / 1e6);
	rule_set_free(rules);
	buf_fini(&text);
	buf_fini(&errors);
}

int
main(int argc, char **argv)
{
	unsigned n_hosts = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 10000;
	unsigned rounds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 30;
	static const unsigned sizes[] = { 1, 7, 31 };
	struct rule_set *rules;
	struct buf errors;

	buf_init(&errors, 1 << 20);
	if (argc < 2 || n_hosts == 0 || rounds == 0 || rule_set_load(argv[1], &rules, &errors) != HIWAT_OK) {
		fprintf(stderr, "usage: hiwat-bench-rules RULES [HOSTS [ROUNDS]]\n%s", buf_str(&errors));
		return EXIT_FAILURE;
	}
	printf("%zu rules, %zu records a batch, hosts in turn: %u and fewer of the larger ones\n", rule_set_count(rules),
	    N_SAMPLERS, n_hosts);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		measure(rules, sizes[i], n_hosts / sizes[i] + 1, rounds);
	measure_load(1000);
	rule_set_free(rules);
	buf_fini(&errors);
	return EXIT_SUCCESS;
}
