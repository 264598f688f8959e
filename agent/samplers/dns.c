/*
 * unbound's statistics over its control socket or port, and its limits, which are asked for once an hour. Never `stats`: it sets the
 * counters to zero for everybody else.
 */
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "clock.h"
#include "dns.h"
#include "dns_address.h"
#include "dns_record.h"
#include "dns_unbound.h"
#include "err.h"
#include "record.h"
#include "source.h"

#define ANSWER_MAX ((size_t)4 << 20) /* some 60 lines a thread */
#define DEADLINE_MS 3000
#define LIMITS_INTERVAL_NS (3600 * NSEC_PER_SEC)

/* An option of unbound: the limit of a cache, in bytes or entries, or a setting of its own. */
static const struct limit_row {
	const char *option;
	const char *cache; /* NULL: a setting */
	bool is_entries;
} limit_rows[] = {
	{ "msg-cache-size", "message", false },
	{ "rrset-cache-size", "rrset", false },
	{ "key-cache-size", "key", false },
	{ "infra-cache-numhosts", "infra", true },
	{ "num-queries-per-thread", NULL, false },
	{ "cache-max-ttl", NULL, false },
	{ "cache-max-negative-ttl", NULL, false },
};

#define N_LIMITS (sizeof(limit_rows) / sizeof(limit_rows[0]))

struct dns {
	struct fetch fetch;
	struct unbound unbound;
	struct dns_address control; /* the port's, if configured */
	uint64_t limits_ns;         /* boot time at which they were read, 0: never */
	bool has_limit[N_LIMITS];
	uint64_t limits[N_LIMITS];
};

static void
dns_close(void *state)
{
	struct dns *d = state;

	fetch_fini(&d->fetch);
	free(d);
}

static int
dns_open(const struct sampler_config *config, void **state)
{
	struct dns *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&d->fetch, config->trace, ANSWER_MAX);
	d->unbound = (struct unbound){ .socket = config->unbound_control_socket, .keys = config->unbound_control_keys };
	if (config->unbound_control_address != NULL &&
	    dns_address_parse(config->unbound_control_address, UNBOUND_CONTROL_PORT, &d->control)) {
		d->unbound.address = d->control.address;
		d->unbound.port = d->control.port;
	}
	*state = d;
	return HIWAT_OK;
}

/* Options that a release does not know are answered with an error line and have no limit. */
static int
read_limits(struct dns *d, struct sampler_reason *why)
{
	static const char get[] = "get_option ";
	char command[64];

	for (size_t i = 0; i < N_LIMITS; i++) {
		struct text answer, line;
		size_t len = strlen(limit_rows[i].option);
		memcpy(command, get, sizeof(get) - 1);
		memcpy(command + sizeof(get) - 1, limit_rows[i].option, len + 1);
		int err = unbound_control(&d->fetch, &d->unbound, command, DEADLINE_MS, &answer);
		if (err != HIWAT_OK && err != HIWAT_E_NODATA)
			return sampler_fail_fetch(why, err, &d->fetch);
		d->has_limit[i] = err == HIWAT_OK && text_line(&answer, &line, NULL) && text_is_u64(line, &d->limits[i]);
	}
	return HIWAT_OK;
}

static int
add_limits(const struct dns *d, struct arena *arena, Hiwat__Record *out)
{
	Hiwat__Dns *dns = dns_server(arena, out, "unbound");

	if (dns == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < N_LIMITS; i++) {
		const struct limit_row *row = &limit_rows[i];
		if (!d->has_limit[i])
			continue;
		if (row->cache == NULL) {
			Hiwat__DnsSetting *setting = dns_setting(arena, dns, text_of(row->option));
			if (setting == NULL)
				return HIWAT_E_NOMEM;
			RECORD_SET(setting, value, (double)d->limits[i]);
			continue;
		}
		Hiwat__DnsCache *cache = dns_cache(arena, dns, text_of(row->cache));
		if (cache == NULL)
			return HIWAT_E_NOMEM;
		if (row->is_entries)
			RECORD_SET(cache, limit_entries, d->limits[i]);
		else
			RECORD_SET(cache, limit_bytes, d->limits[i]);
	}
	return HIWAT_OK;
}

static int
dns_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct dns *d = state;
	struct parse_input in = { .os = PARSE_OS_UNKNOWN };
	struct parse_reason reason = { "" };

	int err = unbound_control(&d->fetch, &d->unbound, "stats_noreset", DEADLINE_MS, &in.text);
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &d->fetch);
	if (text_starts(in.text, "error")) {
		struct text line = in.text;
		text_line(&in.text, &line, NULL);
		return sampler_fail(why, HIWAT_E_REJECTED, "%s: %.*s", unbound_where(&d->unbound), (int)line.n, line.p);
	}
	if (in.text.p[in.text.n - 1] != '\n')
		return sampler_fail(why, HIWAT_E_TRUNCATED, "%s: the answer ends within a line", unbound_where(&d->unbound));
	err = unbound_stats_parse(&in, arena, out, &reason);
	if (err != HIWAT_OK)
		return sampler_fail(why, err, "%s: %s", unbound_where(&d->unbound), reason.text);
	if (d->limits_ns == 0 || now->boot_ns - d->limits_ns >= LIMITS_INTERVAL_NS) {
		err = read_limits(d, why);
		if (err != HIWAT_OK)
			return err;
		d->limits_ns = now->boot_ns;
	}
	return add_limits(d, arena, out);
}

static bool
dns_is_configured(const struct sampler_config *config)
{
	return config->unbound_control_socket != NULL || config->unbound_control_address != NULL ||
	    config->unbound_control_keys != NULL;
}

const struct sampler sampler_dns = {
	.name = "dns",
	.help = "statistics of the resolver unbound",
	.interval_ms = 10000,
	.deadline_ms = DEADLINE_MS,
	.may_block = true,
	.is_paced = true,
	.open = dns_open,
	.sample = dns_sample,
	.close = dns_close,
	.is_configured = dns_is_configured,
	.missing_hint =
	    "if unbound runs here: remote-control: control-enable: yes, control-interface: /run/unbound.ctl; or a "
	    "port of 127.0.0.1, and dns.unbound_control_keys that this user may read",
};
