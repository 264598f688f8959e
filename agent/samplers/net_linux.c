/* The network stack: interfaces, sockets and their memory, queues of packets and of connections. */
#include <stdlib.h>

#include "err.h"
#include "live.h"
#include "netif_linux.h"
#include "proc.h"
#include "record.h"
#include "source.h"

enum { DEV, NETSTAT, SOCKSTAT, SOCKSTAT6, SOFTNET, TCP_MEM, UDP_MEM, FRAG_HIGH, FRAG6_HIGH, ORPHANS, TIME_WAIT, N_SOURCES };

/* The limits of the whole host are out of sight in a network namespace other than the first. */
static const struct source_row rows[N_SOURCES] = {
	[DEV] = { .name = "net/dev", .parse = proc_net_dev_parse },
	[NETSTAT] = { .name = "net/netstat", .parse = proc_net_netstat_parse },
	[SOCKSTAT] = { .name = "net/sockstat", .parse = proc_sockstat_parse },
	[SOCKSTAT6] = { .name = "net/sockstat6", .parse = proc_sockstat_parse, .is_optional = true },
	[SOFTNET] = { .name = "net/softnet_stat", .parse = proc_softnet_stat_parse, .is_optional = true },
	[TCP_MEM] = { .name = "sys/net/ipv4/tcp_mem", .is_optional = true },
	[UDP_MEM] = { .name = "sys/net/ipv4/udp_mem", .is_optional = true },
	[FRAG_HIGH] = { .name = "sys/net/ipv4/ipfrag_high_thresh", .is_optional = true },
	[FRAG6_HIGH] = { .name = "sys/net/ipv6/ip6frag_high_thresh", .is_optional = true },
	[ORPHANS] = { .name = "sys/net/ipv4/tcp_max_orphans", .is_optional = true },
	[TIME_WAIT] = { .name = "sys/net/ipv4/tcp_max_tw_buckets", .is_optional = true },
};

struct net {
	struct fetch fetch;
	struct parse_input units;
	struct source sources[N_SOURCES];
	struct live *softnet;
	struct netifs netifs;
};

static void
net_close(void *state)
{
	struct net *s = state;

	sources_fini(s->sources, N_SOURCES);
	fetch_fini(&s->fetch);
	live_free(s->softnet);
	netifs_fini(&s->netifs);
	free(s);
}

static int
net_open(const struct sampler_config *config, void **state)
{
	struct net *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 4 << 20);
	netifs_init(&s->netifs, config->sys_dir);
	s->units = source_units();
	s->softnet = live_new();
	int err = s->softnet != NULL ? sources_init(s->sources, config->proc_dir, rows, N_SOURCES) : HIWAT_E_NOMEM;
	if (err != HIWAT_OK) {
		net_close(s);
		return err;
	}
	*state = s;
	return HIWAT_OK;
}

static bool
softnet_total(void *arg, struct text name, const uint32_t *cpus, const uint64_t *numbers, size_t n, uint64_t *total)
{
	struct live_row *row = live_add(arg, name, cpus, numbers, n);

	if (row == NULL)
		return false;
	*total = row->total;
	return true;
}

static Hiwat__SocketMemory *
memory_of(struct arena *arena, Hiwat__Net *m, const char *protocol)
{
	for (size_t i = 0; i < m->n_socket_memory; i++) {
		if (text_eq(text_of(protocol), m->socket_memory[i]->protocol))
			return m->socket_memory[i];
	}
	Hiwat__SocketMemory *memory = RECORD_ADD(arena, m, socket_memory, socket_memory);
	if (memory == NULL || (memory->protocol = record_label(arena, text_of(protocol))) == NULL)
		return NULL;
	return memory;
}

/* tcp_mem and udp_mem: three numbers of pages; ipfrag_high_thresh: one of bytes. */
static int
add_memory_limits(struct net *s, int which, const char *protocol, const char *const *thresholds, size_t n, uint64_t unit,
    struct arena *arena, Hiwat__Net *m, struct sampler_reason *why)
{
	struct text text, word;
	int err = source_text(&s->sources[which], &s->fetch, &text, why);

	if (err != HIWAT_OK || text.n == 0)
		return err;
	Hiwat__SocketMemory *memory = memory_of(arena, m, protocol);
	if (memory == NULL)
		return HIWAT_E_NOMEM;
	text.n--; /* the newline */
	for (size_t i = 0; i < n; i++) {
		uint64_t number;
		if (!text_word(&text, &word) || !text_is_u64(word, &number))
			return sampler_fail(why, HIWAT_E_FORMAT, "%s: fewer than %zu numbers", s->sources[which].file.path,
			    n);
		/* More than there can be is no limit. */
		if (number > UINT64_MAX / unit)
			continue;
		Hiwat__SocketMemoryLimit *limit = RECORD_ADD(arena, memory, limits, socket_memory_limit);
		if (limit == NULL || (limit->threshold = record_label(arena, text_of(thresholds[i]))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(limit, bytes, number * unit);
	}
	return HIWAT_OK;
}

/* Limits stand beside the sockets that they limit. */
static int
add_socket_limit(struct net *s, int which, const char *state, struct arena *arena, Hiwat__Net *m, struct sampler_reason *why)
{
	uint64_t limit;
	bool has;
	int err = source_u64(&s->sources[which], &s->fetch, &limit, &has, why);

	if (err != HIWAT_OK || !has)
		return err;
	for (size_t i = 0; i < m->n_sockets; i++) {
		if (text_eq(text_of("tcp"), m->sockets[i]->protocol) && text_eq(text_of(state), m->sockets[i]->state)) {
			RECORD_SET(m->sockets[i], limit, limit);
			return HIWAT_OK;
		}
	}
	Hiwat__Sockets *sockets = RECORD_ADD(arena, m, sockets, sockets);
	if (sockets == NULL || (sockets->protocol = record_label(arena, TEXT("tcp"))) == NULL ||
	    (sockets->state = record_label(arena, text_of(state))) == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(sockets, limit, limit);
	return HIWAT_OK;
}

static int
add_limits(struct net *s, struct arena *arena, Hiwat__Net *m, struct sampler_reason *why)
{
	static const char *const three[] = { "low", "pressure", "high" }, *const one[] = { "high" };
	uint64_t page = s->units.page_size != 0 ? s->units.page_size : 4096;
	int err = add_memory_limits(s, TCP_MEM, "tcp", three, 3, page, arena, m, why);

	if (err == HIWAT_OK)
		err = add_memory_limits(s, UDP_MEM, "udp", three, 3, page, arena, m, why);
	if (err == HIWAT_OK)
		err = add_memory_limits(s, FRAG_HIGH, "frag", one, 1, 1, arena, m, why);
	if (err == HIWAT_OK)
		err = add_memory_limits(s, FRAG6_HIGH, "frag6", one, 1, 1, arena, m, why);
	if (err == HIWAT_OK)
		err = add_socket_limit(s, ORPHANS, "orphan", arena, m, why);
	if (err == HIWAT_OK)
		err = add_socket_limit(s, TIME_WAIT, "tw", arena, m, why);
	return err;
}

static int
net_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct net *s = state;
	struct parse_percpu percpu = { softnet_total, s->softnet };
	struct parse_input units = s->units;

	units.percpu = &percpu;
	live_begin(s->softnet);
	int err = sources_sample(s->sources, N_SOURCES, &s->fetch, &units, arena, out, why);
	if (err != HIWAT_OK)
		return err;
	Hiwat__Net *m = RECORD_ONE(arena, out, net, net);
	if (m == NULL)
		return HIWAT_E_NOMEM;
	err = add_limits(s, arena, m, why);
	if (err == HIWAT_OK)
		err = netifs_add(&s->netifs, &s->fetch, now, arena, m);
	return err;
}

const struct sampler sampler_net = {
	.name = "net",
	.help = "interfaces, sockets, their memory and queues",
	.interval_ms = 10000,
	.deadline_ms = 3000,
	.open = net_open,
	.sample = net_sample,
	.close = net_close,
};
