/* The sysctls that mean something to hiwat. */
#ifndef HIWAT_AGENT_SYSCTL_NAMES_H
#define HIWAT_AGENT_SYSCTL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "scan.h"

/* What a value is besides a setting. Where several names mean one thing, a later one in this list is surer. */
enum sysctl_fact {
	FACT_NONE,
	FACT_FILES_OPEN,
	FACT_FILES_LIMIT,
	FACT_FILE_NR,
	FACT_VNODES,
	FACT_VNODES_FREE,
	FACT_VNODES_LIMIT,
	FACT_PROCESSES,
	FACT_PROCESSES_LIMIT,
	FACT_SWAP_LIMIT,
	FACT_SOCKETS,
	FACT_SOCKETS_LIMIT,
	FACT_ORPHANS_LIMIT,
	FACT_TIME_WAIT_LIMIT,
	FACT_TCP_MEM,
	FACT_UDP_MEM,
	FACT_CONNTRACK,
	FACT_CONNTRACK_LIMIT,
	FACT_CONNTRACK_BUCKETS,
	FACT_SYNCACHE,
	FACT_IP_DROPS,
	FACT_IP6_DROPS,
	FACT_TCP_STATES,
	FACT_PORT_FIRST,
	FACT_PORT_LAST,
	FACT_PORT_RANGE,
	FACT_MEMORY,
	FACT_MEMORY_64,
	FACT_CPUS,
	FACT_CPUS_ONLINE,
	FACT_CPU_TSC_HERTZ,
	FACT_CPU_HERTZ,
	FACT_CPU_MEGAHERTZ,
	FACT_BOOT_TIME,
	FACT_CLOCK_RATE,
	FACT_CP_TIME,
	FACT_CP_TIMES,
	FACT_STORM_THRESHOLD,
	FACT_WORD, /* a setting that is a word */
	FACTS,
};

struct sysctl_name {
	const char *name;
	bool is_setting; /* goes to the settings as it is */
	enum sysctl_fact fact;
};

/* NULL for a name that means nothing here. */
const struct sysctl_name *sysctl_name_find(struct text name);

#endif
