/*
 * Whether the resolver of this host answers: one query every interval to whoever has UDP port 53 here. Any answer counts,
 * an error too; what the resolver is asked, it knows without asking others.
 *
 * Which address that is, is found out once and kept, so that a resolver that was down when the agent started is known to
 * be down. It is looked for again while nothing answers.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "dns_message.h"
#include "dns_place.h"
#include "dns_record.h"
#include "err.h"
#include "keep.h"
#include "record.h"
#include "source.h"

#define QUESTION "localhost"
#define DEADLINE_MS 2000
#define LOOK_INTERVAL_NS (60 * NSEC_PER_SEC)
#define KEEP_NAME "dns_probe"
#define KEEP_MAX ((size_t)256)

/* Process names, cut to 15 bytes by Linux, and the label of the server. */
static const struct {
	const char *comm, *server;
} programs[] = {
	{ "unbound", "unbound" },
	{ "local-unbound", "unbound" }, /* of FreeBSD's base system */
	{ "named", "bind" },
	{ "dnsmasq", "dnsmasq" },
	{ "systemd-resolve", "resolved" },
};

struct probe {
	struct fetch fetch;
	const char *proc_dir, *state_dir;
	uint16_t port;
	char address[INET6_ADDRSTRLEN]; /* "": none was ever found */
	char server[16];
	uint64_t looked_ns; /* boot time of the last search, 0: never */
	uint16_t id;
};

static void
probe_close(void *state)
{
	struct probe *p = state;

	fetch_fini(&p->fetch);
	free(p);
}

static bool
copy_word(struct text *line, char *out, size_t size)
{
	struct text word;

	if (!text_word(line, &word) || word.n >= size)
		return false;
	memcpy(out, word.p, word.n);
	out[word.n] = '\0';
	return true;
}

static void
keep_load(struct probe *p)
{
	char address[sizeof(p->address)], server[sizeof(p->server)];
	struct text rest, line;
	struct buf b;

	buf_init(&b, KEEP_MAX);
	if (keep_read(p->state_dir, KEEP_NAME, &b) == HIWAT_OK) {
		rest = (struct text){ buf_str(&b), b.len };
		if (text_line(&rest, &line, NULL) && copy_word(&line, address, sizeof(address)) &&
		    copy_word(&line, server, sizeof(server))) {
			memcpy(p->address, address, sizeof(address));
			memcpy(p->server, server, sizeof(server));
		}
	}
	buf_fini(&b);
}

static int
probe_open(const struct sampler_config *config, void **state)
{
	struct probe *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&p->fetch, config->trace, 16 << 20);
	p->proc_dir = config->proc_dir;
	p->state_dir = config->state_dir;
	p->port = config->dns_port != 0 ? config->dns_port : 53;
	keep_load(p);
	*state = p;
	return HIWAT_OK;
}

static bool
is_all(const uint8_t *bytes, size_t n, uint8_t value)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != value)
			return false;
	}
	return true;
}

/*
 * How good a socket is to ask, 0: not at all. 127.0.0.53 forwards to others, and an address of the network may be filtered;
 * a wildcard is asked at loopback.
 */
static int
rank(const struct local_socket *s, char *address, socklen_t size)
{
	static const uint8_t loopback6[16] = { [15] = 1 };
	const uint8_t *a = s->address;

	if (is_all(a, s->is_six ? 16 : 4, 0)) {
		snprintf(address, size, "%s", s->is_six ? "::1" : "127.0.0.1");
		return s->is_six ? 5 : 6;
	}
	/* Link-local addresses need an interface, and multicast is mDNS. */
	if (s->is_six && (a[0] == 0xfe || a[0] == 0xff))
		return 0;
	inet_ntop(s->is_six ? AF_INET6 : AF_INET, a, address, size);
	if (s->is_six)
		return memcmp(a, loopback6, sizeof(loopback6)) == 0 ? 4 : 1;
	if (a[0] != 127)
		return 2;
	return strcmp(address, "127.0.0.53") == 0 || strcmp(address, "127.0.0.54") == 0 ? 3 : 6;
}

struct search {
	uint16_t port;
	int best; /* the rank of the address; 0: none yet */
	char address[INET6_ADDRSTRLEN];
};

static void
consider(void *arg, const struct local_socket *socket)
{
	struct search *search = arg;
	char candidate[INET6_ADDRSTRLEN];
	int r = socket->port == search->port ? rank(socket, candidate, sizeof(candidate)) : 0;

	if (r <= search->best)
		return;
	search->best = r;
	memcpy(search->address, candidate, strlen(candidate) + 1);
}

#define N_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

/* The first of the table is kept in *arg; the search ends with the very first. */
static bool
is_server(void *arg, struct text name)
{
	size_t *best = arg;

	for (size_t i = 0; i < *best; i++) {
		if (text_eq(name, programs[i].comm))
			*best = i;
	}
	return *best > 0;
}

/* The first of the known programs that runs; "unknown" when none is seen. */
static const char *
find_server(struct probe *p, const char *address)
{
	size_t best = N_PROGRAMS;

	if (strcmp(address, "127.0.0.53") == 0 || strcmp(address, "127.0.0.54") == 0)
		return "resolved";
	dns_place_processes(&p->fetch, p->proc_dir, is_server, &best);
	return best < N_PROGRAMS ? programs[best].server : "unknown";
}

static int
look(struct probe *p, struct sampler_reason *why)
{
	struct search search = { .port = p->port };
	char line[KEEP_MAX];
	int err = dns_place_sockets(&p->fetch, p->proc_dir, consider, &search);

	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &p->fetch);
	if (search.best == 0 || strcmp(search.address, p->address) == 0)
		return HIWAT_OK;
	snprintf(p->server, sizeof(p->server), "%s", find_server(p, search.address));
	memcpy(p->address, search.address, strlen(search.address) + 1);
	snprintf(line, sizeof(line), "%s %s\n", p->address, p->server);
	(void)keep_write(p->state_dir, KEEP_NAME, text_of(line));
	return HIWAT_OK;
}

/* One query; whether it was answered, and how long that took. */
static int
ask(struct probe *p, bool *answered, double *seconds, struct sampler_reason *why)
{
	char query[DNS_QUERY_MAX];
	struct text answer, request = { query, dns_query_write(query, ++p->id, QUESTION) };
	unsigned rcode;
	uint64_t started_ns = clock_mono_ns();
	int err = fetch_datagram(&p->fetch, p->address, p->port, request, DEADLINE_MS, &answer);

	if (err != HIWAT_OK && err != HIWAT_E_MISSING && err != HIWAT_E_TIMEOUT)
		return sampler_fail_fetch(why, err, &p->fetch);
	*answered = err == HIWAT_OK && dns_answer_read(answer, request, &rcode);
	*seconds = (double)(clock_mono_ns() - started_ns) / (double)NSEC_PER_SEC;
	return HIWAT_OK;
}

static int
probe_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct probe *p = state;
	bool answered = false;
	double seconds = 0;
	int err = HIWAT_OK;

	if (p->id == 0)
		p->id = (uint16_t)(clock_mono_ns() / 1000);
	if (p->address[0] != '\0')
		err = ask(p, &answered, &seconds, why);
	if (err == HIWAT_OK && !answered && (p->looked_ns == 0 || now->boot_ns - p->looked_ns >= LOOK_INTERVAL_NS)) {
		char before[sizeof(p->address)];
		memcpy(before, p->address, sizeof(before));
		err = look(p, why);
		p->looked_ns = now->boot_ns;
		if (err == HIWAT_OK && strcmp(before, p->address) != 0)
			err = ask(p, &answered, &seconds, why);
	}
	if (err != HIWAT_OK)
		return err;
	if (p->address[0] == '\0')
		return sampler_fail(why, HIWAT_E_MISSING, "nobody listens on UDP port %u", p->port);
	Hiwat__Dns *dns = dns_server(arena, out, p->server);
	if (dns == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(dns, probe_success, answered);
	if (answered)
		RECORD_SET(dns, probe_seconds, seconds);
	return HIWAT_OK;
}

const struct sampler sampler_dns_probe = {
	.name = "dns_probe",
	.help = "one query to the resolver of this host",
	.interval_ms = 10000,
	.deadline_ms = 2 * DEADLINE_MS + 4000, /* two questions, and a search between them */
	.may_block = true,
	.open = probe_open,
	.sample = probe_sample,
	.close = probe_close,
};
