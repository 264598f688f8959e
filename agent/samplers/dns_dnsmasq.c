/*
 * dnsmasq's counters, by questions of class CHAOS (its src/cache.c): each sample asks six, which dnsmasq counts among the
 * queries it answered itself. Its numbers are 32 bits wide, some printed with a sign.
 *
 * Without an address in the configuration 127.0.0.1 is asked; whoever answers there without knowing these names is another
 * program, and is left alone for a while.
 */
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "clock.h"
#include "dns_address.h"
#include "dns_message.h"
#include "dns_record.h"
#include "err.h"
#include "live.h"
#include "record_row.h"
#include "source.h"

#define QUESTION_MS 1000
#define LOOK_INTERVAL_NS (600 * NSEC_PER_SEC)
#define UPSTREAMS_MAX 128

enum { INSERTIONS, EVICTIONS, MISSES, HITS, N_COUNTERS };

static const char *const counters[N_COUNTERS] = {
	[INSERTIONS] = "insertions.bind",
	[EVICTIONS] = "evictions.bind",
	[MISSES] = "misses.bind",
	[HITS] = "hits.bind",
};

struct dnsmasq {
	struct fetch fetch;
	struct dns_address address;
	bool is_configured;
	bool was_found;
	uint64_t looked_ns; /* boot time of the last question while it was not found, 0: never */
	struct live *live;
	uint16_t id;
};

static void
dnsmasq_close(void *state)
{
	struct dnsmasq *d = state;

	live_free(d->live);
	fetch_fini(&d->fetch);
	free(d);
}

static int
dnsmasq_open(const struct sampler_config *config, void **state)
{
	struct dnsmasq *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&d->fetch, config->trace, DNS_ANSWER_MAX);
	d->is_configured = config->dnsmasq_address != NULL;
	if (!dns_address_parse(d->is_configured ? config->dnsmasq_address : "127.0.0.1", DNS_PORT, &d->address) ||
	    (d->live = live_new()) == NULL) {
		dnsmasq_close(d);
		return HIWAT_E_NOMEM;
	}
	if (!d->is_configured && config->dns_port != 0)
		d->address.port = config->dns_port;
	*state = d;
	return HIWAT_OK;
}

/* HIWAT_E_NODATA: an answer, but no text. The strings are valid until the next question. */
static int
ask(struct dnsmasq *d, const char *name, struct text *strings, struct sampler_reason *why)
{
	char query[DNS_QUERY_MAX];
	struct text answer, request = { query, dns_query_write_chaos(query, ++d->id, name) };
	int err = fetch_datagram(&d->fetch, d->address.address, d->address.port, request, QUESTION_MS, &answer);

	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &d->fetch);
	if (!dns_answer_chaos(answer, request, strings))
		return sampler_fail(why, HIWAT_E_NODATA, "%s: no text for %s", d->address.label, name);
	return HIWAT_OK;
}

static int
ask_number(struct dnsmasq *d, const char *name, uint32_t *n, struct sampler_reason *why)
{
	struct text strings, string;
	int64_t value;
	int err = ask(d, name, &strings, why);

	if (err != HIWAT_OK)
		return err;
	if (!dns_string_next(&strings, &string) || text_i64(&string, &value) != HIWAT_OK || string.n > 0 ||
	    value < INT32_MIN || value > UINT32_MAX)
		return sampler_fail(why, HIWAT_E_FORMAT, "%s: %s is no number", d->address.label, name);
	*n = (uint32_t)value;
	return HIWAT_OK;
}

/* "address#port queries failures" */
static int
add_upstream(struct dnsmasq *d, struct text string, struct arena *arena, Hiwat__Dns *dns)
{
	char name[LIVE_NAME_MAX + 1];
	struct text label;
	uint64_t numbers[2];

	if (!text_word(&string, &label) || label.n + 1 > LIVE_NAME_MAX)
		return HIWAT_E_FORMAT;
	for (size_t i = 0; i < 2; i++) {
		struct text word;
		if (!text_word(&string, &word) || !text_is_u64(word, &numbers[i]))
			return HIWAT_E_FORMAT;
	}
	Hiwat__DnsUpstream *row = RECORD_ROW(arena, dns, upstreams, dns_upstream, label);
	if (row == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < 2; i++) {
		name[0] = i == 0 ? 'q' : 'f';
		memcpy(name + 1, label.p, label.n);
		const struct live_row *total = live_add_one(d->live, (struct text){ name, label.n + 1 }, numbers[i]);
		if (total == NULL)
			return HIWAT_E_NOMEM;
		numbers[i] = total->total;
	}
	RECORD_SET(row, queries_total, row->queries_total + numbers[0]);
	RECORD_SET(row, failures_total, row->failures_total + numbers[1]);
	return HIWAT_OK;
}

/* Releases before 2.69 do not know the question, and more servers than fit a datagram come with no text: then there are none. */
static int
add_upstreams(struct dnsmasq *d, struct arena *arena, Hiwat__Dns *dns, struct sampler_reason *why)
{
	struct text strings, string;
	int err = ask(d, "servers.bind", &strings, why);

	if (err == HIWAT_E_NODATA)
		return HIWAT_OK;
	while (err == HIWAT_OK && dns->n_upstreams < UPSTREAMS_MAX && dns_string_next(&strings, &string)) {
		err = add_upstream(d, string, arena, dns);
		if (err == HIWAT_E_FORMAT)
			sampler_fail(why, err, "%s: servers.bind is not address, queries, failures", d->address.label);
	}
	return err;
}

static int
read_counters(struct dnsmasq *d, Hiwat__Dns *dns, struct sampler_reason *why)
{
	uint64_t totals[N_COUNTERS];

	for (size_t i = 0; i < N_COUNTERS; i++) {
		uint32_t raw;
		int err = ask_number(d, counters[i], &raw, why);
		if (err != HIWAT_OK)
			return err;
		const struct live_row *row = live_add_one(d->live, text_of(counters[i]), raw);
		if (row == NULL)
			return HIWAT_E_NOMEM;
		totals[i] = row->total;
	}
	RECORD_SET(dns, cache_insertions_total, totals[INSERTIONS]);
	RECORD_SET(dns, cache_evictions_total, totals[EVICTIONS]);
	RECORD_SET(dns, cache_misses_total, totals[MISSES]);
	RECORD_SET(dns, cache_hits_total, totals[HITS]);
	RECORD_SET(dns, queries_total, totals[HITS] + totals[MISSES]);
	return HIWAT_OK;
}

static int
fill(struct dnsmasq *d, uint32_t cache_size, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	Hiwat__Dns *dns = dns_server(arena, out, "dnsmasq");

	if (dns == NULL)
		return HIWAT_E_NOMEM;
	if (cache_size > 0) {
		Hiwat__DnsCache *cache = dns_cache(arena, dns, TEXT("rrset"));
		if (cache == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(cache, limit_entries, cache_size);
	}
	live_begin(d->live);
	int err = read_counters(d, dns, why);
	return err == HIWAT_OK ? add_upstreams(d, arena, dns, why) : err;
}

static int
dnsmasq_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct dnsmasq *d = state;
	uint32_t cache_size;

	if (d->id == 0)
		d->id = (uint16_t)(clock_mono_ns() / 1000);
	if (!d->was_found && !d->is_configured && d->looked_ns != 0 && now->boot_ns - d->looked_ns < LOOK_INTERVAL_NS)
		return sampler_fail(why, HIWAT_E_MISSING, "%s is no dnsmasq", d->address.label);
	d->looked_ns = now->boot_ns;
	int err = ask_number(d, "cachesize.bind", &cache_size, why);
	if (err != HIWAT_OK && !d->was_found && !d->is_configured)
		return HIWAT_E_MISSING;
	if (err == HIWAT_OK) {
		d->was_found = true;
		err = fill(d, cache_size, arena, out, why);
	}
	return err;
}

static bool
dnsmasq_is_configured(const struct sampler_config *config)
{
	return config->dnsmasq_address != NULL;
}

const struct sampler sampler_dns_dnsmasq = {
	.name = "dns_dnsmasq",
	.help = "statistics of the resolver dnsmasq",
	.interval_ms = 10000,
	.deadline_ms = (N_COUNTERS + 2) * QUESTION_MS,
	.may_block = true,
	.is_paced = true,
	.open = dnsmasq_open,
	.sample = dnsmasq_sample,
	.close = dnsmasq_close,
	.is_configured = dnsmasq_is_configured,
	.missing_hint = "if dnsmasq runs here, but not at 127.0.0.1: dns.dnsmasq_address",
};
