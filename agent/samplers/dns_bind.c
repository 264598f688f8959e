/*
 * BIND, by three samplers that fail each for itself: the statistics channel over HTTP, rndc status for the clients that wait
 * for recursion and their limits, and the settings out of named-checkconf. None runs unless the configuration names its
 * source: named serves statistics only where its own configuration says so, and rndc needs a key.
 *
 * The clients and both limits come from rndc where it is configured, and the clients then never from the channel: so each
 * series has one source, and the share of the limit is of one moment.
 */
#include <stdlib.h>

#include "arena.h"
#include "dns.h"
#include "err.h"
#include "http.h"
#include "run_parse.h"
#include "source.h"

#define ANSWER_MAX ((size_t)2 << 20) /* some 20 KiB a view */
#define CHANNEL_MS 3000
#define PROGRAM_MS 5000
#define SETTINGS_MS 15000 /* it reads every zone file's name and all includes */
#define SETTINGS_INTERVAL_MS 3600000

struct bind {
	struct fetch fetch;
	const struct sampler_config *config;
};

static void
bind_close(void *state)
{
	struct bind *b = state;

	fetch_fini(&b->fetch);
	free(b);
}

static int
bind_open(const struct sampler_config *config, void **state)
{
	struct bind *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return HIWAT_E_NOMEM;
	http_start();
	fetch_init(&b->fetch, config->trace, ANSWER_MAX);
	b->config = config;
	*state = b;
	return HIWAT_OK;
}

static bool
channel_is_configured(const struct sampler_config *config)
{
	return config->bind_statistics_url != NULL;
}

static bool
rndc_is_configured(const struct sampler_config *config)
{
	return config->rndc != NULL;
}

static bool
checkconf_is_configured(const struct sampler_config *config)
{
	return config->named_checkconf != NULL;
}

static int
channel_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct bind *b = state;
	const char *url = b->config->bind_statistics_url;
	struct parse_input in = { .os = PARSE_OS_UNKNOWN };
	struct parse_reason reason = { "" };

	(void)now;
	int err = fetch_http(&b->fetch, url, CHANNEL_MS, &in.text);
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &b->fetch);
	err = bind_json_parse(&in, arena, out, &reason);
	if (err != HIWAT_OK)
		return sampler_fail(why, err, "%s: %s", url, reason.text[0] != '\0' ? reason.text : err_text(err));
	if (rndc_is_configured(b->config))
		out->resolver->servers[0]->has_recursive_clients = 0;
	return HIWAT_OK;
}

static int
rndc_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct bind *b = state;
	const char *file = b->config->rndc_config;
	const char *const given[] = { b->config->rndc, "-c", file, "status", NULL };
	const char *const usual[] = { b->config->rndc, "status", NULL };
	const struct program program = { file != NULL ? given : usual, rndc_status_parse };

	(void)now;
	return program_sample(&program, &b->fetch, PROGRAM_MS, arena, out, why);
}

/* -x: keys are printed as question marks. */
static int
checkconf_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct bind *b = state;
	const char *const argv[] = { b->config->named_checkconf, "-px", b->config->named_conf, NULL };
	const struct program program = { argv, named_conf_parse };

	(void)now;
	return program_sample(&program, &b->fetch, SETTINGS_MS, arena, out, why);
}

const struct sampler sampler_dns_bind = {
	.name = "dns_bind",
	.help = "statistics channel of the resolver BIND",
	.interval_ms = 10000,
	.deadline_ms = CHANNEL_MS + 500,
	.may_block = true,
	.is_paced = true,
	.only_configured = true,
	.open = bind_open,
	.sample = channel_sample,
	.close = bind_close,
	.is_configured = channel_is_configured,
	.missing_hint =
	    "if BIND runs here: statistics-channels { inet 127.0.0.1 port 8053 allow { 127.0.0.1; }; }; in named.conf, "
	    "and dns.bind_statistics_url",
};

const struct sampler sampler_dns_rndc = {
	.name = "dns_rndc",
	.help = "clients that wait for the resolver BIND, and their limits",
	.interval_ms = 10000,
	.deadline_ms = PROGRAM_MS + 500,
	.may_block = true,
	.is_paced = true,
	.only_configured = true,
	.open = bind_open,
	.sample = rndc_sample,
	.close = bind_close,
	.is_configured = rndc_is_configured,
	.missing_hint = "if BIND runs here: dns.rndc, and a key that this user may read",
};

const struct sampler sampler_dns_named_conf = {
	.name = "dns_named_conf",
	.help = "settings of the resolver BIND",
	.interval_ms = SETTINGS_INTERVAL_MS,
	.deadline_ms = SETTINGS_MS + 500,
	.may_block = true,
	.is_paced = true,
	.only_configured = true,
	.open = bind_open,
	.sample = checkconf_sample,
	.close = bind_close,
	.is_configured = checkconf_is_configured,
	.missing_hint = "if BIND runs here: dns.named_checkconf",
};
