/*
 * Network buffers: netstat -m, which adds up the kernel's per-CPU caches, and limits that it does not print. FreeBSD's
 * JSON is taken where there is one, since its numbers have names.
 */
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "netstat.h"
#include "record.h"
#include "run_parse.h"
#include "source.h"
#include "sysctl.h"

#define DEADLINE_MS 3000
#define CLUSTER_BYTES 2048 /* MCLBYTES: what kern.maxclusters counts in */

static const char *const json_argv[] = { "/usr/bin/netstat", "--libxo", "json", "-m", NULL };
static const char *const text_argv[] = { "/usr/bin/netstat", "-m", NULL };

/* Without libxo netstat refuses the option, so that a system without JSON falls through to its text once. */
static const struct program programs[] = {
	{ json_argv, netstat_m_json_parse },
	{ text_argv, netstat_m_parse },
};

struct mbuf {
	struct fetch fetch;
	int chosen;
};

static void
mbuf_close(void *state)
{
	struct mbuf *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
mbuf_open(const struct sampler_config *config, void **state)
{
	struct mbuf *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 256 << 10);
	s->chosen = -1;
	*state = s;
	return HIWAT_OK;
}

static bool
has_pool_limit(const Hiwat__Mbuf *m)
{
	for (size_t i = 0; i < m->n_pools; i++) {
		if (m->pools[i]->has_limit)
			return true;
	}
	return false;
}

/* A limit of 0 is none. */
static void
add_limits(struct mbuf *s, Hiwat__Mbuf *m)
{
	uint64_t limit;

	for (size_t i = 0; i < m->n_pools; i++) {
		if (strcmp(m->pools[i]->pool, "mbuf") == 0 && !m->pools[i]->has_limit &&
		    sysctl_u64(&s->fetch, "kern.ipc.nmbufs", &limit) == HIWAT_OK && limit != 0)
			RECORD_SET(m->pools[i], limit, limit);
	}
	/* OpenBSD: one limit over all pools, printed since 6.1. */
	if (!m->has_bytes_limit && !has_pool_limit(m) && sysctl_u64(&s->fetch, "kern.maxclusters", &limit) == HIWAT_OK &&
	    limit != 0 && limit < UINT64_MAX / CLUSTER_BYTES)
		RECORD_SET(m, bytes_limit, limit * CLUSTER_BYTES);
}

static int
mbuf_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct mbuf *s = state;
	int err = program_sample_first(programs, sizeof(programs) / sizeof(programs[0]), &s->chosen, &s->fetch, DEADLINE_MS,
	    arena, out, why);

	(void)now;
	if (err == HIWAT_OK)
		add_limits(s, out->mbuf);
	return err;
}

const struct sampler sampler_mbuf = {
	.name = "mbuf",
	.help = "network buffer pools",
	.interval_ms = 10000,
	.deadline_ms = DEADLINE_MS,
	.may_block = true,
	.open = mbuf_open,
	.sample = mbuf_sample,
	.close = mbuf_close,
};
