/* What of TCP only netstat -s adds up: connections lost on full accept queues, SYN cookies; OpenBSD's SYN cache. */
#include <stdlib.h>

#include "err.h"
#include "netstat.h"
#include "record.h"
#include "run_parse.h"
#include "source.h"
#include "sysctl.h"

#define DEADLINE_MS 3000

static const char *const argv[] = { "/usr/bin/netstat", "-s", "-p", "tcp", NULL };
static const struct program program = { argv, netstat_s_parse };

struct netstat {
	struct fetch fetch;
};

static void
netstat_close(void *state)
{
	struct netstat *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
netstat_open(const struct sampler_config *config, void **state)
{
	struct netstat *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 256 << 10);
	*state = s;
	return HIWAT_OK;
}

static int
netstat_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct netstat *s = state;
	struct text raw;
	int err = program_sample(&program, &s->fetch, DEADLINE_MS, arena, out, why);

	(void)now;
	if (err != HIWAT_OK)
		return err;
	Hiwat__Net *m = RECORD_ONE(arena, out, net, net);
	if (m == NULL)
		return HIWAT_E_NOMEM;
	/* Each series has one source: these are the kernel's own variables where it has them. */
	if (sysctl_read(&s->fetch, "net.inet.tcp.states", &raw) == HIWAT_OK)
		m->n_tcp_connections = 0;
	if (sysctl_read(&s->fetch, "net.inet.tcp.syncache.count", &raw) == HIWAT_OK)
		m->syncache = NULL;
	return HIWAT_OK;
}

const struct sampler sampler_netstat = {
	.name = "netstat",
	.help = "accept queues that overflowed and SYN cookies",
	.interval_ms = 10000,
	.deadline_ms = DEADLINE_MS,
	.may_block = true,
	.open = netstat_open,
	.sample = netstat_sample,
	.close = netstat_close,
};
