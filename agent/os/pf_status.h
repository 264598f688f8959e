/* OpenBSD's packet filter by sysctl(2): what pfctl -s info prints, for any user, without /dev/pf. */
#ifndef HIWAT_AGENT_PF_STATUS_H
#define HIWAT_AGENT_PF_STATUS_H

#include <stdbool.h>

#include "fetch.h"

#define PF_COUNTERS_MAX 32

struct pf_counters {
	size_t n;
	const char *names[PF_COUNTERS_MAX]; /* static, as pfctl prints them */
	uint64_t values[PF_COUNTERS_MAX];
};

enum { PF_SEARCHES, PF_INSERTS, PF_REMOVALS, PF_TABLE_COUNTERS };

struct pf_facts {
	bool is_enabled;
	uint64_t since; /* boot-time clock, seconds: when it was enabled or disabled last */
	uint64_t states, half_open_states, source_nodes, fragments;
	uint64_t state_table[PF_TABLE_COUNTERS], source_table[PF_TABLE_COUNTERS];
	struct pf_counters counters, limit_counters;
};

/* HIWAT_E_MISSING: the kernel has no packet filter. HIWAT_E_VERSION: a kernel of another release. */
int pf_status(struct fetch *f, struct pf_facts *out);

#endif
