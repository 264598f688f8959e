#include "pf_status.h"

#include <string.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <net/if.h>
#include <netinet/in.h>
#include <net/pfvar.h>

#include "clock.h"
#include "err.h"
#include "sysctl.h"

static const char *const counter_names[] = PFRES_NAMES;
static const char *const limit_counter_names[] = LCNT_NAMES;

_Static_assert(PFRES_MAX <= PF_COUNTERS_MAX && LCNT_MAX <= PF_COUNTERS_MAX, "room for all counters");
_Static_assert(sizeof(counter_names) / sizeof(counter_names[0]) == PFRES_MAX + 1, "a name for each counter and a NULL");
_Static_assert(sizeof(limit_counter_names) / sizeof(limit_counter_names[0]) == LCNT_MAX + 1, "the same");
_Static_assert(FCNT_MAX == PF_TABLE_COUNTERS && SCNT_MAX == PF_TABLE_COUNTERS, "searches, inserts, removals");
_Static_assert(FCNT_STATE_SEARCH == PF_SEARCHES && FCNT_STATE_INSERT == PF_INSERTS && FCNT_STATE_REMOVALS == PF_REMOVALS,
    "the order of table counters");

static void
copy_counters(const char *const *names, const uint64_t *values, size_t n, struct pf_counters *out)
{
	out->n = n;
	for (size_t i = 0; i < n; i++) {
		out->names[i] = names[i];
		out->values[i] = values[i];
	}
}

int
pf_status(struct fetch *f, struct pf_facts *out)
{
	struct pf_status s;
	struct text raw;
	int err = sysctl_read(f, "kern.pfstatus", &raw);

	if (err != HIWAT_OK)
		return err;
	if (raw.n != sizeof(s))
		return fetch_done(f, "sysctl", "kern.pfstatus", clock_mono_ns(), HIWAT_E_VERSION, 0, raw.n);
	memcpy(&s, raw.p, sizeof(s));
	*out = (struct pf_facts){
		.is_enabled = s.running != 0,
		.since = s.since > 0 ? (uint64_t)s.since : 0,
		.states = s.states,
		.half_open_states = s.states_halfopen,
		.source_nodes = s.src_nodes,
		.fragments = s.fragments,
	};
	memcpy(out->state_table, s.fcounters, sizeof(out->state_table));
	memcpy(out->source_table, s.scounters, sizeof(out->source_table));
	copy_counters(counter_names, s.counters, PFRES_MAX, &out->counters);
	copy_counters(limit_counter_names, s.lcounters, LCNT_MAX, &out->limit_counters);
	return HIWAT_OK;
}
