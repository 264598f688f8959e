/*
 * TCP by its sockets: queues of listeners often, since they are few and the kernel keeps them apart; the states of all
 * connections and the ephemeral ports they hold seldom, since the kernel walks its whole table for them (1.3 ms for 262,144
 * buckets, and some tenths of a microsecond for each connection).
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "err.h"
#include "inet_diag.h"
#include "record.h"
#include "source.h"

#define CONNECTED (((1u << DIAG_STATES) - 2) & ~(1u << DIAG_LISTEN | 1u << DIAG_CLOSE))
#define LISTENERS_MAX 128 /* of more, those with the longest queues */
#define LISTENERS_SEEN_MAX 8192
#define BUF_MAX ((size_t)256 << 10)

struct listener {
	char address[INET6_ADDRSTRLEN + 10];
	uint64_t queue, limit;
};

struct tcp {
	struct fetch fetch;
	struct source range;
};

static const struct source_row rows[] = { { .name = "sys/net/ipv4/ip_local_port_range", .is_optional = true } };

static void
tcp_close(void *state)
{
	struct tcp *t = state;

	sources_fini(&t->range, 1);
	fetch_fini(&t->fetch);
	free(t);
}

static int
tcp_open(const struct sampler_config *config, void **state)
{
	struct tcp *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&t->fetch, config->trace, BUF_MAX);
	int err = sources_init(&t->range, config->proc_dir, rows, 1);
	if (err != HIWAT_OK) {
		tcp_close(t);
		return err;
	}
	*state = t;
	return HIWAT_OK;
}

/* ------------------------------------------------------------------------------------------------------- listeners */

struct listeners {
	struct arena *arena;
	void *rows;
	size_t n;
};

/* Sockets that share an address share its connections, too (SO_REUSEPORT): they are one. */
static bool
add_listener(void *arg, const struct diag_socket *s)
{
	struct listeners *all = arg;
	struct listener new = { .queue = s->queue, .limit = s->limit }, *list = all->rows;
	char ip[INET6_ADDRSTRLEN];

	if (inet_ntop(s->is_six ? AF_INET6 : AF_INET, s->address, ip, sizeof(ip)) == NULL)
		return true;
	snprintf(new.address, sizeof(new.address), s->is_six ? "[%s]:%u" : "%s:%u", ip, s->port);
	for (size_t i = all->n; i > 0; i--) {
		if (strcmp(list[i - 1].address, new.address) == 0) {
			list[i - 1].queue += new.queue;
			list[i - 1].limit += new.limit;
			return true;
		}
	}
	if (all->n == LISTENERS_SEEN_MAX)
		return true;
	struct listener *row = arena_grow(all->arena, &all->rows, all->n, sizeof(*row));
	if (row == NULL)
		return false;
	*row = new;
	all->n++;
	return true;
}

static int
longest_first(const void *a, const void *b)
{
	const struct listener *x = a, *y = b;

	return (x->queue < y->queue) - (x->queue > y->queue);
}

static int
listen_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct tcp *t = state;
	struct listeners all = { .arena = arena };

	(void)now;
	int err = inet_diag_list(&t->fetch, 1u << DIAG_LISTEN, add_listener, &all);
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &t->fetch);
	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);
	if (net == NULL)
		return HIWAT_E_NOMEM;
	if (all.n > LISTENERS_MAX) {
		qsort(all.rows, all.n, sizeof(struct listener), longest_first);
		all.n = LISTENERS_MAX;
	}
	for (size_t i = 0; i < all.n; i++) {
		const struct listener *l = (const struct listener *)all.rows + i;
		Hiwat__ListenQueue *row = RECORD_ADD(arena, net, listen_queues, listen_queue);
		if (row == NULL || (row->address = record_label(arena, text_of(l->address))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, value, l->queue);
		RECORD_SET(row, limit, l->limit);
	}
	return HIWAT_OK;
}

/* ----------------------------------------------------------------------------------------------------- connections */

static const char *const state_names[DIAG_STATES] = {
	[DIAG_ESTABLISHED] = "established",
	[DIAG_SYN_SENT] = "syn_sent",
	[DIAG_SYN_RECV] = "syn_received",
	[DIAG_FIN_WAIT1] = "fin_wait_1",
	[DIAG_FIN_WAIT2] = "fin_wait_2",
	[DIAG_TIME_WAIT] = "time_wait",
	[DIAG_CLOSE_WAIT] = "close_wait",
	[DIAG_LAST_ACK] = "last_ack",
	[DIAG_CLOSING] = "closing",
};

struct connections {
	uint64_t of_state[DIAG_STATES];
	uint8_t has_port[(UINT16_MAX + 1) / 8];
};

static bool
add_connection(void *arg, const struct diag_socket *s)
{
	struct connections *c = arg;
	/* A request that waits for its last packet is shown under its older name. */
	unsigned state = s->state == DIAG_NEW_SYN_RECV ? DIAG_SYN_RECV : s->state;

	if (state < DIAG_STATES)
		c->of_state[state]++;
	c->has_port[s->port / 8] |= (uint8_t)(1u << (s->port % 8));
	return true;
}

/* Ports that connections hold; several to different servers may share one. */
static int
add_ports(struct tcp *t, const struct connections *c, struct arena *arena, Hiwat__Net *net, struct sampler_reason *why)
{
	struct text text, low_word, high_word;
	uint64_t low, high, in_use = 0;
	int err = source_text(&t->range, &t->fetch, &text, why);

	if (err != HIWAT_OK || text.n == 0)
		return err;
	text.n--; /* the newline */
	if (!text_word(&text, &low_word) || !text_is_u64(low_word, &low) || !text_word(&text, &high_word) ||
	    !text_is_u64(high_word, &high) || low > high || high > UINT16_MAX)
		return sampler_fail(why, HIWAT_E_FORMAT, "%s: no range of ports", t->range.file.path);
	for (uint64_t port = low; port <= high; port++)
		in_use += (c->has_port[port / 8] >> (port % 8)) & 1;
	Hiwat__Ports *ports = RECORD_ONE(arena, net, ports, ports);
	if (ports == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(ports, in_use, in_use);
	RECORD_SET(ports, limit, high - low + 1);
	return HIWAT_OK;
}

static int
tcp_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct tcp *t = state;
	struct connections *c = arena_alloc(arena, sizeof(*c));

	(void)now;
	if (c == NULL)
		return HIWAT_E_NOMEM;
	int err = inet_diag_list(&t->fetch, CONNECTED, add_connection, c);
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &t->fetch);
	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);
	if (net == NULL)
		return HIWAT_E_NOMEM;
	for (unsigned i = 0; i < DIAG_STATES; i++) {
		if (state_names[i] == NULL)
			continue;
		Hiwat__TcpConnections *row = RECORD_ADD(arena, net, tcp_connections, tcp_connections);
		if (row == NULL || (row->state = record_label(arena, text_of(state_names[i]))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, value, c->of_state[i]);
	}
	return add_ports(t, c, arena, net, why);
}

const struct sampler sampler_listen = {
	.name = "listen",
	.help = "queues of listening TCP sockets",
	.interval_ms = 10000,
	.deadline_ms = 3000,
	.open = tcp_open,
	.sample = listen_sample,
	.close = tcp_close,
};

const struct sampler sampler_tcp = {
	.name = "tcp",
	.help = "TCP connections by state, ephemeral ports",
	.interval_ms = 60000,
	.deadline_ms = 5000,
	.may_block = true,
	.open = tcp_open,
	.sample = tcp_sample,
	.close = tcp_close,
};
