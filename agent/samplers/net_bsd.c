/* Interfaces, sockets and queues, from the kernel's own structures and variables; the rest of them is netstat_bsd.c's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "err.h"
#include "kernel_bsd.h"
#include "record_row.h"
#include "source.h"

#define SHOWN_MAX 128 /* interfaces; of more, those without hardware behind them are left out */

/* Packets dropped because an input queue was full. */
static const struct {
	const char *name, *queue;
} drops[] = {
	{ "net.inet.ip.ifq.drops", "ip" },        /* OpenBSD */
	{ "net.inet.ip.intr_queue_drops", "ip" }, /* FreeBSD */
	{ "net.inet6.ip6.intr_queue_drops", "ip6" },
};

/* In the order of the states' numbers (FreeBSD: sys/netinet/tcp_fsm.h). */
static const char *const tcp_states[] = { "closed", "listen", "syn_sent", "syn_received", "established", "close_wait",
	"fin_wait_1", "closing", "last_ack", "fin_wait_2", "time_wait" };

struct net {
	struct fetch fetch;
};

static void
net_close(void *state)
{
	struct net *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
net_open(const struct sampler_config *config, void **state)
{
	struct net *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 1 << 20);
	*state = s;
	return HIWAT_OK;
}

static int
add_direction(struct arena *arena, Hiwat__Netif *m, const struct netif_count *row, int which)
{
	struct text name = text_of(which == NETIF_IN ? "in" : "out");
	Hiwat__NetifByDirection *d = RECORD_ROW(arena, m, directions, netif_by_direction, name);

	if (d == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(d, packets_total, row->packets[which]);
	RECORD_SET(d, bytes_total, row->bytes[which]);
	RECORD_SET(d, errors_total, row->errors[which]);
	RECORD_SET(d, drops_total, row->drops[which]);
	return HIWAT_OK;
}

static int
add_netif(struct arena *arena, Hiwat__Net *net, const struct netif_count *row)
{
	Hiwat__Netif *m = RECORD_ROW(arena, net, interfaces, netif, text_of(row->name));

	if (m == NULL)
		return HIWAT_E_NOMEM;
	int err = add_direction(arena, m, row, NETIF_IN);
	if (err == HIWAT_OK)
		err = add_direction(arena, m, row, NETIF_OUT);
	if (err != HIWAT_OK)
		return err;
	RECORD_SET(m, mtu_bytes, row->mtu);
	if (row->is_hardware && row->speed_bits != 0)
		RECORD_SET(m, speed_bits, row->speed_bits);
	if (row->has_duplex)
		RECORD_SET(m, full_duplex, row->is_full_duplex);
	if (row->has_autoselect)
		RECORD_SET(m, autoselect, row->is_autoselect);
	if (!row->is_group)
		return HIWAT_OK;
	Hiwat__LinkGroup *group = RECORD_ROW(arena, net, link_groups, link_group, text_of(row->name));
	if (group == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(group, ports, row->ports);
	RECORD_SET(group, ports_active, row->ports_active);
	return HIWAT_OK;
}

static int
add_netifs(struct net *s, struct arena *arena, Hiwat__Net *m, struct sampler_reason *why)
{
	struct netif_count *rows;
	size_t n, n_hardware = 0, n_other = 0;
	int err = netif_counts(&s->fetch, arena, &rows, &n);

	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	for (size_t i = 0; i < n; i++)
		n_hardware += rows[i].is_hardware;
	size_t room = n_hardware < SHOWN_MAX ? SHOWN_MAX - n_hardware : 0;
	for (size_t i = 0; i < n && m->n_interfaces < SHOWN_MAX && err == HIWAT_OK; i++) {
		if (rows[i].is_hardware || n_other++ < room)
			err = add_netif(arena, m, &rows[i]);
	}
	return err;
}

static int
add_drops(struct net *s, struct arena *arena, Hiwat__Net *m)
{
	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++) {
		uint64_t count;
		if (sysctl_u64(&s->fetch, drops[i].name, &count) != HIWAT_OK)
			continue;
		Hiwat__NetisrDropsByQueue *row = RECORD_ADD(arena, m, netisr_drops, netisr_drops_by_queue);
		if (row == NULL || (row->queue = record_label(arena, text_of(drops[i].queue))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, total, count);
	}
	return HIWAT_OK;
}

/* FreeBSD since 10: a number of 64 bits for each state; those of the SYN cache are counted as syn_received there. */
static int
add_tcp_states(struct net *s, struct arena *arena, Hiwat__Net *m)
{
	struct text raw;

	if (sysctl_read(&s->fetch, "net.inet.tcp.states", &raw) != HIWAT_OK ||
	    raw.n != sizeof(tcp_states) / sizeof(tcp_states[0]) * sizeof(uint64_t))
		return HIWAT_OK;
	for (size_t i = 0; i < sizeof(tcp_states) / sizeof(tcp_states[0]); i++) {
		uint64_t count;
		memcpy(&count, raw.p + i * sizeof(count), sizeof(count));
		Hiwat__TcpConnections *row = RECORD_ADD(arena, m, tcp_connections, tcp_connections);
		if (row == NULL || (row->state = record_label(arena, text_of(tcp_states[i]))) == NULL)
			return HIWAT_E_NOMEM;
		/* Differences of counters that are not read at one instant may be below zero. */
		RECORD_SET(row, value, count > INT64_MAX ? 0 : count);
	}
	return HIWAT_OK;
}

static int
add_sockets(struct net *s, struct arena *arena, Hiwat__Net *m)
{
	uint64_t used, limit;

	if (sysctl_u64(&s->fetch, "kern.ipc.numopensockets", &used) != HIWAT_OK)
		return HIWAT_OK;
	Hiwat__Sockets *row = RECORD_ADD(arena, m, sockets, sockets);
	if (row == NULL || (row->protocol = record_label(arena, TEXT("all"))) == NULL ||
	    (row->state = record_label(arena, TEXT("used"))) == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(row, value, used);
	if (sysctl_u64(&s->fetch, "kern.ipc.maxsockets", &limit) == HIWAT_OK && limit != 0)
		RECORD_SET(row, limit, limit);
	return HIWAT_OK;
}

/* How many ephemeral ports there are. How many are in use no variable tells. */
static int
add_ports(struct net *s, struct arena *arena, Hiwat__Net *m)
{
	static const char *const ranges[][2] = {
		{ "net.inet.ip.portrange.first", "net.inet.ip.portrange.last" }, /* FreeBSD */
		{ "net.inet.ip.porthifirst", "net.inet.ip.porthilast" },         /* OpenBSD */
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		uint64_t first, last;
		if (sysctl_u64(&s->fetch, ranges[i][0], &first) != HIWAT_OK ||
		    sysctl_u64(&s->fetch, ranges[i][1], &last) != HIWAT_OK || last < first)
			continue;
		Hiwat__Ports *ports = RECORD_ONE(arena, m, ports, ports);
		if (ports == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(ports, limit, last - first + 1);
		return HIWAT_OK;
	}
	return HIWAT_OK;
}

static int
add_syncache(struct net *s, struct arena *arena, Hiwat__Net *m)
{
	uint64_t count;

	if (sysctl_u64(&s->fetch, "net.inet.tcp.syncache.count", &count) != HIWAT_OK)
		return HIWAT_OK;
	Hiwat__Syncache *syncache = RECORD_ONE(arena, m, syncache, syncache);
	if (syncache == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(syncache, entries, count);
	return HIWAT_OK;
}

static int
net_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct net *s = state;
	Hiwat__Net *m = RECORD_ONE(arena, out, net, net);

	(void)now;
	if (m == NULL)
		return HIWAT_E_NOMEM;
	int err = add_netifs(s, arena, m, why);
	if (err == HIWAT_OK)
		err = add_drops(s, arena, m);
	if (err == HIWAT_OK)
		err = add_tcp_states(s, arena, m);
	if (err == HIWAT_OK)
		err = add_sockets(s, arena, m);
	if (err == HIWAT_OK)
		err = add_ports(s, arena, m);
	if (err == HIWAT_OK)
		err = add_syncache(s, arena, m);
	return err;
}

const struct sampler sampler_net = {
	.name = "net",
	.help = "interfaces, sockets and queues",
	.interval_ms = 10000,
	.deadline_ms = 3000,
	.open = net_open,
	.sample = net_sample,
	.close = net_close,
};
