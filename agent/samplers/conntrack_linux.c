/* Connection tracking: /proc/sys/net/netfilter and /proc/net/stat/nf_conntrack. Without the module there is nothing. */
#include <stdlib.h>

#include "err.h"
#include "live.h"
#include "proc.h"
#include "record.h"
#include "source.h"

enum { COUNT, MAX, BUCKETS, STAT, N_SOURCES };

/*
 * The count is what every kernel with the module has; a kernel without it gives a missing sampler. The statistics need
 * CONFIG_NF_CONNTRACK_PROCFS or, in a network namespace of a container, are out of reach.
 */
static const struct source_row rows[N_SOURCES] = {
	[COUNT] = { .name = "sys/net/netfilter/nf_conntrack_count" },
	[MAX] = { .name = "sys/net/netfilter/nf_conntrack_max", .is_optional = true },
	[BUCKETS] = { .name = "sys/net/netfilter/nf_conntrack_buckets", .is_optional = true },
	[STAT] = { .name = "net/stat/nf_conntrack", .parse = proc_nf_conntrack_stat_parse, .is_optional = true },
};

struct conntrack {
	struct fetch fetch;
	struct source sources[N_SOURCES];
	struct live *live;
};

static void
conntrack_close(void *state)
{
	struct conntrack *c = state;

	sources_fini(c->sources, N_SOURCES);
	fetch_fini(&c->fetch);
	live_free(c->live);
	free(c);
}

static int
conntrack_open(const struct sampler_config *config, void **state)
{
	struct conntrack *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&c->fetch, config->trace, 1 << 20);
	c->live = live_new();
	int err = c->live != NULL ? sources_init(c->sources, config->proc_dir, rows, N_SOURCES) : HIWAT_E_NOMEM;
	if (err != HIWAT_OK) {
		conntrack_close(c);
		return err;
	}
	*state = c;
	return HIWAT_OK;
}

static int
conntrack_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct conntrack *c = state;
	struct parse_input units = source_units();
	uint64_t count, max, buckets;
	bool has, has_max, has_buckets;

	(void)now;
	int err = source_u64(&c->sources[COUNT], &c->fetch, &count, &has, why);
	if (err == HIWAT_OK)
		err = source_u64(&c->sources[MAX], &c->fetch, &max, &has_max, why);
	if (err == HIWAT_OK)
		err = source_u64(&c->sources[BUCKETS], &c->fetch, &buckets, &has_buckets, why);
	if (err == HIWAT_OK)
		err = source_sample(&c->sources[STAT], &c->fetch, &units, arena, out, why);
	if (err != HIWAT_OK)
		return err;
	Hiwat__Conntrack *m = RECORD_ONE(arena, out, conntrack, conntrack);
	if (m == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(m, entries, count);
	/* 0 is no limit. */
	if (has_max && max != 0)
		RECORD_SET(m, limit, max);
	if (has_buckets)
		RECORD_SET(m, buckets, buckets);
	/* Rows are of all possible CPUs, so that none goes out of sight: only the 32 bits of each must be made up for. */
	live_begin(c->live);
	for (size_t i = 0; i < m->n_events; i++) {
		struct live_row *row = live_add_one(c->live, text_of(m->events[i]->event), m->events[i]->total);
		if (row == NULL)
			return HIWAT_E_NOMEM;
		m->events[i]->total = row->total;
	}
	return HIWAT_OK;
}

const struct sampler sampler_conntrack = {
	.name = "conntrack",
	.help = "connection tracking of the packet filter",
	.interval_ms = 10000,
	.deadline_ms = 3000,
	.open = conntrack_open,
	.sample = conntrack_sample,
	.close = conntrack_close,
};
