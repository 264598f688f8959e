/* What /sys/class/net and drivers tell of interfaces beyond their counters. Read once a minute and for new interfaces: speed and duplex
 * ask the driver. */
#ifndef HIWAT_AGENT_NETIF_LINUX_H
#define HIWAT_AGENT_NETIF_LINUX_H

#include "arena.h"
#include "fetch.h"
#include "hiwat.pb-c.h"
#include "sampler.h"

struct netif_facts;

struct netifs {
	const char *sys_dir; /* borrowed */
	struct arena arena;  /* of the facts */
	struct netif_facts *facts;
	size_t n_facts;
	uint64_t read_ns; /* boot time, 0: never */
};

void netifs_init(struct netifs *n, const char *sys_dir);
void netifs_fini(struct netifs *n);

/*
 * Adds the facts to the interfaces of net and a link group for each bond. Of more than NETIFS_MAX interfaces those without
 * hardware behind them are left out, last ones first. HIWAT_E_NOMEM.
 */
#define NETIFS_MAX 128
int netifs_add(struct netifs *n, struct fetch *f, const struct sampler_now *now, struct arena *arena, Hiwat__Net *net);

#endif
