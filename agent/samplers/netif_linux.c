#include "netif_linux.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "ethtool.h"
#include "ethtool_link.h"
#include "record_row.h"
#include "sysfs.h"

#define FACTS_INTERVAL_NS (60 * NSEC_PER_SEC)
#define FACTS_ARENA_MAX ((size_t)4 << 20)
#define INTERFACES_MAX 8192 /* facts are kept of so many */

struct netif_facts {
	const char *name;
	bool is_hardware; /* or a bond: worth a place where there are too many */
	bool has_mtu, has_speed, has_duplex, has_changes, is_bond;
	uint64_t mtu, speed_mbits, changes;
	uint32_t full_duplex;
	uint64_t ports, ports_active;
	struct ethtool_link link; /* what the driver of hardware says */
};

void
netifs_init(struct netifs *n, const char *sys_dir)
{
	*n = (struct netifs){ .sys_dir = sys_dir };
	arena_init(&n->arena, FACTS_ARENA_MAX);
}

void
netifs_fini(struct netifs *n)
{
	arena_fini(&n->arena);
}

/*
 * Ports that are up can carry traffic, be it at once or when another fails: a spare port is not a lost one. With LACP
 * (mode 802.3ad) a port that is up carries nothing unless it is part of the aggregator in use
 * (Documentation/networking/bonding.rst).
 */
static bool
is_port_active(struct netifs *n, struct fetch *f, const struct netif_facts *bond, struct text port)
{
	char state[16];
	uint64_t in_use, own;

	if (!sysfs_word(f, state, sizeof(state), "%s/class/net/%.*s/bonding_slave/mii_status", n->sys_dir, (int)port.n,
		port.p) ||
	    strcmp(state, "up") != 0)
		return false;
	if (!sysfs_u64(f, &in_use, "%s/class/net/%s/bonding/ad_aggregator", n->sys_dir, bond->name) ||
	    !sysfs_u64(f, &own, "%s/class/net/%.*s/bonding_slave/ad_aggregator_id", n->sys_dir, (int)port.n, port.p))
		return true; /* another mode: the files are there and hold nothing */
	return own == in_use;
}

static void
bond_of(struct netifs *n, struct fetch *f, struct netif_facts *facts)
{
	char path[FETCH_PATH_MAX], names[2048];
	struct text rest, name;

	snprintf(path, sizeof(path), "%s/class/net/%s/bonding/slaves", n->sys_dir, facts->name);
	if (access(path, F_OK) != 0 || fetch_path(f, path, &rest) != HIWAT_OK || rest.n >= sizeof(names))
		return;
	facts->is_bond = true;
	memcpy(names, rest.p, rest.n);
	rest = text_trim((struct text){ names, rest.n });
	if (rest.n > 0 && rest.p[rest.n - 1] == '\n')
		rest.n--;
	while (text_word(&rest, &name)) {
		facts->ports++;
		facts->ports_active += is_port_active(n, f, facts, name);
	}
}

/* A driver that has no answer leaves the facts absent. */
static void
link_of(struct fetch *f, struct netif_facts *facts)
{
	struct text answer;

	if (ethtool_link(f, facts->name, &answer) == HIWAT_OK)
		(void)ethtool_link_parse(answer, &facts->link);
}

static void
facts_of(struct netifs *n, struct fetch *f, struct netif_facts *facts)
{
	char path[FETCH_PATH_MAX], word[16];

	snprintf(path, sizeof(path), "%s/class/net/%s/device", n->sys_dir, facts->name);
	facts->is_hardware = access(path, F_OK) == 0;
	if (facts->is_hardware)
		link_of(f, facts);
	facts->has_mtu = sysfs_u64(f, &facts->mtu, "%s/class/net/%s/mtu", n->sys_dir, facts->name);
	/* -1, 2^32-1 and errors: not known, the link is down. */
	facts->has_speed = sysfs_u64(f, &facts->speed_mbits, "%s/class/net/%s/speed", n->sys_dir, facts->name) &&
	    facts->speed_mbits > 0 && facts->speed_mbits < UINT32_MAX;
	if (facts->has_speed && sysfs_word(f, word, sizeof(word), "%s/class/net/%s/duplex", n->sys_dir, facts->name)) {
		facts->full_duplex = strcmp(word, "full") == 0;
		facts->has_duplex = facts->full_duplex || strcmp(word, "half") == 0;
	}
	facts->has_changes = sysfs_u64(f, &facts->changes, "%s/class/net/%s/carrier_changes", n->sys_dir, facts->name);
	bond_of(n, f, facts);
}

static const struct netif_facts *
facts_find(const struct netifs *n, const char *name, size_t guess)
{
	if (guess < n->n_facts && strcmp(n->facts[guess].name, name) == 0)
		return &n->facts[guess];
	for (size_t i = 0; i < n->n_facts; i++) {
		if (strcmp(n->facts[i].name, name) == 0)
			return &n->facts[i];
	}
	return NULL;
}

static int
facts_read(struct netifs *n, struct fetch *f, const Hiwat__Net *net)
{
	arena_reset(&n->arena);
	n->n_facts = 0;
	size_t count = net->n_interfaces < INTERFACES_MAX ? net->n_interfaces : INTERFACES_MAX;
	n->facts = arena_calloc(&n->arena, count, sizeof(*n->facts));
	if (n->facts == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < count; i++) {
		const char *name = net->interfaces[i]->interface;
		n->facts[i].name = arena_strndup(&n->arena, name, strlen(name));
		if (n->facts[i].name == NULL)
			return HIWAT_E_NOMEM;
		facts_of(n, f, &n->facts[i]);
		n->n_facts++;
	}
	return HIWAT_OK;
}

static bool
is_stale(const struct netifs *n, const struct sampler_now *now, const Hiwat__Net *net)
{
	if (n->read_ns == 0 || now->boot_ns - n->read_ns >= FACTS_INTERVAL_NS)
		return true;
	for (size_t i = 0; i < net->n_interfaces && i < INTERFACES_MAX; i++) {
		if (facts_find(n, net->interfaces[i]->interface, i) == NULL)
			return true;
	}
	return false;
}

static int
add_one(const struct netif_facts *facts, struct arena *arena, Hiwat__Net *net, Hiwat__Netif *m)
{
	if (facts->has_mtu)
		RECORD_SET(m, mtu_bytes, facts->mtu);
	if (facts->has_speed)
		RECORD_SET(m, speed_bits, facts->speed_mbits * 1000000);
	if (facts->has_duplex)
		RECORD_SET(m, full_duplex, facts->full_duplex);
	if (facts->link.max_speed_mbits > 0)
		RECORD_SET(m, max_speed_bits, facts->link.max_speed_mbits * 1000000);
	if (facts->link.has_autonegotiation)
		RECORD_SET(m, autoselect, facts->link.is_autonegotiating);
	if (facts->has_changes)
		RECORD_SET(m, link_changes_total, facts->changes);
	if (!facts->is_bond)
		return HIWAT_OK;
	Hiwat__LinkGroup *group = RECORD_ROW(arena, net, link_groups, link_group, text_of(facts->name));
	if (group == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(group, ports, facts->ports);
	RECORD_SET(group, ports_active, facts->ports_active);
	return HIWAT_OK;
}

int
netifs_add(struct netifs *n, struct fetch *f, const struct sampler_now *now, struct arena *arena, Hiwat__Net *net)
{
	size_t n_hardware = 0, n_virtual = 0, kept = 0;
	int err = HIWAT_OK;

	if (is_stale(n, now, net)) {
		err = facts_read(n, f, net);
		if (err != HIWAT_OK)
			return err;
		n->read_ns = now->boot_ns;
	}
	for (size_t i = 0; i < n->n_facts; i++)
		n_hardware += n->facts[i].is_hardware || n->facts[i].is_bond;
	size_t room = n_hardware < NETIFS_MAX ? NETIFS_MAX - n_hardware : 0;
	for (size_t i = 0; i < net->n_interfaces && err == HIWAT_OK && kept < NETIFS_MAX; i++) {
		const struct netif_facts *facts = facts_find(n, net->interfaces[i]->interface, i);
		if (facts == NULL || (!facts->is_hardware && !facts->is_bond && n_virtual++ >= room))
			continue;
		err = add_one(facts, arena, net, net->interfaces[i]);
		net->interfaces[kept++] = net->interfaces[i];
	}
	net->n_interfaces = kept;
	return err;
}
