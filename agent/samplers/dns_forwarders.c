/*
 * One question every interval to each of the servers that the resolver forwards to, as the configuration lists them. An
 * answer that the server could not or would not give counts as a failure, as silence does. The counts are the agent's own
 * and outlive it; a crash costs those of the last minutes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "dns_address.h"
#include "dns_message.h"
#include "dns_record.h"
#include "dns_unbound.h"
#include "err.h"
#include "keep.h"
#include "record_row.h"
#include "source.h"

#define QUESTION "localhost"
#define ANSWER_MS 2000
#define RCODE_NOERROR 0
#define RCODE_NXDOMAIN 3
#define KEEP_NAME "dns_forwarders"
#define KEEP_HEAD "hiwat forwarders 1"
#define KEEP_MAX ((size_t)4096)
#define KEEP_INTERVAL_NS (300 * NSEC_PER_SEC)

struct forwarder {
	struct dns_address address;
	uint64_t queries, failures;
};

struct forwarders {
	struct fetch fetch;
	const char *state_dir, *server;
	size_t n;
	struct forwarder rows[SAMPLER_FORWARDERS_MAX];
	uint64_t kept_ns; /* boot time */
	uint16_t id;
};

static void
load(struct forwarders *f)
{
	struct text rest, line, label, word;
	struct buf b;

	buf_init(&b, KEEP_MAX);
	if (keep_read(f->state_dir, KEEP_NAME, &b) == HIWAT_OK) {
		rest = (struct text){ buf_str(&b), b.len };
		bool is_known = text_line(&rest, &line, NULL) && text_eq(line, KEEP_HEAD);
		while (is_known && text_line(&rest, &line, NULL)) {
			uint64_t queries, failures;
			if (!text_word(&line, &label) || !text_word(&line, &word) || !text_is_u64(word, &queries) ||
			    !text_is_u64(line, &failures))
				continue;
			for (size_t i = 0; i < f->n; i++) {
				if (text_eq(label, f->rows[i].address.label)) {
					f->rows[i].queries = queries;
					f->rows[i].failures = failures;
				}
			}
		}
	}
	buf_fini(&b);
}

static void
save(const struct forwarders *f)
{
	struct buf b;

	buf_init(&b, KEEP_MAX);
	buf_puts(&b, KEEP_HEAD "\n");
	for (size_t i = 0; i < f->n; i++)
		buf_printf(&b, "%s %" PRIu64 " %" PRIu64 "\n", f->rows[i].address.label, f->rows[i].queries,
		    f->rows[i].failures);
	if (buf_ok(&b))
		(void)keep_write(f->state_dir, KEEP_NAME, (struct text){ buf_str(&b), b.len });
	buf_fini(&b);
}

static void
forwarders_close(void *state)
{
	struct forwarders *f = state;

	if (f->kept_ns != 0)
		save(f);
	fetch_fini(&f->fetch);
	free(f);
}

/* The resolver whose forwarders they are, as far as the configuration and its socket tell. */
static const char *
server_of(const struct sampler_config *config)
{
	if (config->bind_statistics_url != NULL || config->rndc != NULL || config->named_checkconf != NULL)
		return "bind";
	const struct unbound unbound = { .socket = config->unbound_control_socket,
		.keys = config->unbound_control_keys,
		.address = config->unbound_control_address };
	return unbound_is_here(&unbound) ? "unbound" : "unknown";
}

/* With and without its port, an address may be configured twice. */
static bool
has_row(const struct forwarders *f, const char *label)
{
	for (size_t i = 0; i < f->n; i++) {
		if (strcmp(f->rows[i].address.label, label) == 0)
			return true;
	}
	return false;
}

static int
forwarders_open(const struct sampler_config *config, void **state)
{
	struct forwarders *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&f->fetch, config->trace, DNS_ANSWER_MAX);
	f->state_dir = config->state_dir;
	f->server = server_of(config);
	for (size_t i = 0; i < config->n_dns_forwarders && f->n < SAMPLER_FORWARDERS_MAX; i++) {
		struct dns_address *address = &f->rows[f->n].address;
		f->n += dns_address_parse(config->dns_forwarders[i], DNS_PORT, address) && !has_row(f, address->label);
	}
	load(f);
	*state = f;
	return HIWAT_OK;
}

/* Errors of the agent's own, such as no more descriptors, say nothing about the server. */
static int
probe(struct forwarders *f, struct forwarder *row, struct sampler_reason *why)
{
	char query[DNS_QUERY_MAX];
	struct text answer, request = { query, dns_query_write(query, ++f->id, QUESTION) };
	unsigned rcode = 0;
	int err = fetch_datagram(&f->fetch, row->address.address, row->address.port, request, ANSWER_MS, &answer);

	if (err != HIWAT_OK && err != HIWAT_E_MISSING && err != HIWAT_E_TIMEOUT && err != HIWAT_E_SYS &&
	    err != HIWAT_E_DENIED)
		return sampler_fail_fetch(why, err, &f->fetch);
	row->queries++;
	row->failures += err != HIWAT_OK || !dns_answer_read(answer, request, &rcode) ||
	    (rcode != RCODE_NOERROR && rcode != RCODE_NXDOMAIN);
	return HIWAT_OK;
}

static int
forwarders_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct forwarders *f = state;
	Hiwat__Dns *dns = dns_server(arena, out, f->server);

	if (dns == NULL)
		return HIWAT_E_NOMEM;
	if (f->id == 0)
		f->id = (uint16_t)(clock_mono_ns() / 1000);
	for (size_t i = 0; i < f->n; i++) {
		struct forwarder *row = &f->rows[i];
		int err = probe(f, row, why);
		if (err != HIWAT_OK)
			return err;
		Hiwat__DnsUpstream *upstream = RECORD_ROW(arena, dns, upstreams, dns_upstream, text_of(row->address.label));
		if (upstream == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(upstream, queries_total, row->queries);
		RECORD_SET(upstream, failures_total, row->failures);
	}
	if (f->kept_ns == 0 || now->boot_ns - f->kept_ns >= KEEP_INTERVAL_NS) {
		save(f);
		f->kept_ns = now->boot_ns;
	}
	return HIWAT_OK;
}

static bool
forwarders_are_configured(const struct sampler_config *config)
{
	return config->n_dns_forwarders > 0;
}

const struct sampler sampler_dns_forwarders = {
	.name = "dns_forwarders",
	.help = "one query to each server that the resolver forwards to",
	.interval_ms = 30000,
	.deadline_ms = SAMPLER_FORWARDERS_MAX * ANSWER_MS + 500,
	.may_block = true,
	.only_configured = true,
	.open = forwarders_open,
	.sample = forwarders_sample,
	.close = forwarders_close,
	.is_configured = forwarders_are_configured,
	.missing_hint = "if the resolver of this host forwards to others: dns.forwarders",
};
