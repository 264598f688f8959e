/*
 * The packet filter of OpenBSD: kern.pfstatus, which any user may read, with the structure that pfctl -s info prints. Its
 * limits and timeouts need /dev/pf and are a sampler of their own.
 */
#include <stdlib.h>

#include "clock.h"
#include "err.h"
#include "pf_status.h"
#include "record.h"
#include "source.h"

struct pf {
	struct fetch fetch;
};

static void
pf_close(void *state)
{
	struct pf *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
pf_open(const struct sampler_config *config, void **state)
{
	struct pf *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 64 << 10);
	*state = s;
	return HIWAT_OK;
}

static int
add_counters(const struct pf_facts *facts, struct arena *arena, Hiwat__Pf *m)
{
	for (size_t i = 0; i < facts->counters.n; i++) {
		Hiwat__PfCounter *row = RECORD_ADD(arena, m, counters, pf_counter);
		if (row == NULL || (row->counter = record_label(arena, text_of(facts->counters.names[i]))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, total, facts->counters.values[i]);
	}
	for (size_t i = 0; i < facts->limit_counters.n; i++) {
		Hiwat__PfLimitCounter *row = RECORD_ADD(arena, m, limit_counters, pf_limit_counter);
		if (row == NULL || (row->counter = record_label(arena, text_of(facts->limit_counters.names[i]))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, total, facts->limit_counters.values[i]);
	}
	return HIWAT_OK;
}

static int
pf_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct pf *s = state;
	struct pf_facts facts;
	int err = pf_status(&s->fetch, &facts);

	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	Hiwat__Pf *m = RECORD_ONE(arena, out, pf, pf);
	if (m == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(m, enabled, facts.is_enabled);
	if (facts.is_enabled && now->boot_ns / NSEC_PER_SEC >= facts.since)
		RECORD_SET(m, running_seconds, now->boot_ns / NSEC_PER_SEC - facts.since);
	RECORD_SET(m, states, facts.states);
	RECORD_SET(m, half_open_states, facts.half_open_states);
	RECORD_SET(m, state_searches_total, facts.state_table[PF_SEARCHES]);
	RECORD_SET(m, state_inserts_total, facts.state_table[PF_INSERTS]);
	RECORD_SET(m, state_removals_total, facts.state_table[PF_REMOVALS]);
	RECORD_SET(m, source_nodes, facts.source_nodes);
	RECORD_SET(m, source_node_searches_total, facts.source_table[PF_SEARCHES]);
	RECORD_SET(m, source_node_inserts_total, facts.source_table[PF_INSERTS]);
	RECORD_SET(m, source_node_removals_total, facts.source_table[PF_REMOVALS]);
	RECORD_SET(m, fragments, facts.fragments);
	return add_counters(&facts, arena, m);
}

const struct sampler sampler_pf = {
	.name = "pf",
	.help = "states and counters of the packet filter",
	.interval_ms = 10000,
	.deadline_ms = 3000,
	.open = pf_open,
	.sample = pf_sample,
	.close = pf_close,
};
