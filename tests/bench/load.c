/*
 * Simulates many hosts: each has a kept-alive connection to a collector and posts batches one after the other, or at an
 * interval. Prints what the collector spent on them, as its own metrics tell.
 * usage: load -p PORT -w WEB_PORT [-h HOSTS] [-v VALUES] [-s SECONDS] [-i INTERVAL_MS]
 * With -i 0 (default) each host posts again as soon as it has its answer. Plain HTTP on 127.0.0.1 only.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "codec.h"
#include "sim_host.h"

#define HOSTS_MAX 19000

struct sim {
	int fd;
	unsigned number;
	uint64_t sequence, due_ns;
	size_t sent;
	bool waiting; /* for the answer */
	struct buf out;
	char in[512];
	size_t in_len;
};

static unsigned n_hosts = 1000, n_values = 125, port, web_port, seconds = 10, interval_ms;
static uint64_t answered, refused, first_stream;

static void
make_request(struct sim *s, struct arena *a, struct buf *body)
{
	arena_reset(a);
	buf_reset(body);
	s->sequence++;
	const struct sim_host host = { s->number, first_stream + s->number, n_values };
	if (sim_host_batch(&host, s->sequence, clock_wall_ns(), a, body) != 0) {
		fprintf(stderr, "load: the batch does not fit\n");
		exit(1);
	}
	buf_reset(&s->out);
	buf_printf(&s->out,
	    "POST /v1/records HTTP/1.1\r\nHost: c\r\nContent-Type: application/x-protobuf\r\n"
	    "Content-Length: %zu\r\n\r\n",
	    body->len);
	buf_add(&s->out, body->data, body->len);
	s->sent = 0;
	s->in_len = 0;
}

static bool
push(struct sim *s)
{
	while (s->sent < s->out.len) {
		ssize_t n = send(s->fd, s->out.data + s->sent, s->out.len - s->sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0)
			return false;
		s->sent += (size_t)n;
	}
	s->waiting = true;
	return true;
}

/* Whether a whole answer stands in s->in. */
static bool
pull(struct sim *s, bool *whole)
{
	*whole = false;
	ssize_t n = recv(s->fd, s->in + s->in_len, sizeof(s->in) - 1 - s->in_len, 0);
	if (n < 0 && errno == EAGAIN)
		return true;
	if (n <= 0)
		return false;
	s->in_len += (size_t)n;
	s->in[s->in_len] = '\0';
	char *end = strstr(s->in, "\r\n\r\n"), *length = strstr(s->in, "Content-Length: ");
	if (end != NULL && length != NULL) {
		size_t body = strtoul(length + 16, NULL, 10);
		*whole = s->in_len >= (size_t)(end + 4 - s->in) + body;
	}
	if (*whole && strncmp(s->in, "HTTP/1.1 200", 12) != 0 && refused++ == 0)
		fprintf(stderr, "load: %s\n", s->in);
	return true;
}

static int
connect_to(unsigned to)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)to),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		fprintf(stderr, "load: port %u: %s\n", to, strerror(errno));
		exit(1);
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

struct metrics {
	double cpu, decode, pipeline, batches, resident, state, hosts;
};

static double
find_metric(const char *text, const char *name)
{
	char line[128];

	snprintf(line, sizeof(line), "\n%s ", name);
	const char *at = strstr(text, line);
	return at != NULL ? strtod(at + strlen(line), NULL) : 0;
}

static struct metrics
read_metrics(void)
{
	static char text[1 << 20];
	const char request[] = "GET /metrics HTTP/1.1\r\nHost: c\r\nConnection: close\r\n\r\n";
	size_t len = 0;
	ssize_t n;
	int fd = connect_to(web_port);

	if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0)
		exit(1);
	while ((n = recv(fd, text + len, sizeof(text) - 1 - len, 0)) > 0)
		len += (size_t)n;
	close(fd);
	text[len] = '\0';
	return (struct metrics){
		.cpu = find_metric(text, "hiwat_collector_cpu_seconds_total"),
		.decode = find_metric(text, "hiwat_collector_decode_seconds_total"),
		.pipeline = find_metric(text, "hiwat_collector_pipeline_seconds_total"),
		.batches = find_metric(text, "hiwat_collector_batches_total"),
		.resident = find_metric(text, "hiwat_collector_resident_bytes"),
		.state = find_metric(text, "hiwat_collector_host_state_bytes"),
		.hosts = find_metric(text, "hiwat_collector_hosts"),
	};
}

static void
run(struct sim *sims, int epoll, struct arena *a, struct buf *body)
{
	struct epoll_event events[256];
	uint64_t end = clock_mono_ns() + seconds * NSEC_PER_SEC;

	while (clock_mono_ns() < end) {
		int n = epoll_wait(epoll, events, 256, interval_ms > 0 ? 1 : 100);
		for (int i = 0; i < n; i++) {
			struct sim *s = events[i].data.ptr;
			bool whole = false;
			if ((events[i].events & EPOLLIN) && !pull(s, &whole)) {
				fprintf(stderr, "load: a connection ended\n");
				exit(1);
			}
			if (whole) {
				answered++;
				s->waiting = false;
				s->due_ns += (uint64_t)interval_ms * NSEC_PER_MSEC;
				s->in_len = 0;
				s->sent = s->out.len = 0;
			}
			if (whole && interval_ms == 0)
				make_request(s, a, body);
			if (s->out.len > 0 && !push(s))
				exit(1);
		}
		uint64_t now = interval_ms > 0 ? clock_mono_ns() : 0;
		for (unsigned i = 0; interval_ms > 0 && i < n_hosts; i++) {
			if (!sims[i].waiting && sims[i].out.len == 0 && now >= sims[i].due_ns) {
				make_request(&sims[i], a, body);
				if (!push(&sims[i]))
					exit(1);
			}
		}
	}
}

static void
report(const struct metrics *before, const struct metrics *after, size_t bytes)
{
	double n = after->batches - before->batches;
	double cpu = after->cpu - before->cpu, decode = after->decode - before->decode,
	       pipeline = after->pipeline - before->pipeline;

	printf("%u hosts, %u values, %zu bytes a batch: %.0f batches in %u s, %llu refused\n", n_hosts, n_values, bytes, n,
	    seconds, (unsigned long long)refused);
	if (n <= 0)
		return;
	printf("  collector CPU %.1f us a batch: http %.1f, decode %.1f, values and rules %.1f; %.0f batches/s per core\n",
	    1e6 * cpu / n, 1e6 * (cpu - decode - pipeline) / n, 1e6 * decode / n, 1e6 * pipeline / n, n / cpu);
	printf("  collector memory %.1f MB resident; %.0f bytes of values and rule state a host\n", after->resident / 1e6,
	    after->state / (after->hosts > 0 ? after->hosts : 1));
}

int
main(int argc, char **argv)
{
	int c, epoll = epoll_create1(EPOLL_CLOEXEC);
	struct rlimit limit;
	struct arena arena;
	struct buf body;

	while ((c = getopt(argc, argv, "p:w:h:v:s:i:")) != -1) {
		unsigned value = optarg != NULL ? (unsigned)strtoul(optarg, NULL, 10) : 0;
		switch (c) {
		case 'p':
			port = value;
			break;
		case 'w':
			web_port = value;
			break;
		case 'h':
			n_hosts = value;
			break;
		case 'v':
			n_values = value;
			break;
		case 's':
			seconds = value;
			break;
		case 'i':
			interval_ms = value;
			break;
		default:
			return 2;
		}
	}
	if (port == 0 || web_port == 0 || n_hosts == 0 || n_hosts > HOSTS_MAX || seconds > 600) {
		fprintf(stderr, "usage: load -p PORT -w WEB_PORT [-h HOSTS] [-v VALUES] [-s SECONDS] [-i INTERVAL_MS]\n");
		return 2;
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	arena_init(&arena, CODEC_ARENA_MAX);
	buf_init(&body, CODEC_BATCH_MAX);
	struct sim *sims = calloc(n_hosts, sizeof(*sims));
	if (sims == NULL || epoll < 0)
		return 1;
	uint64_t now = clock_mono_ns();
	first_stream = clock_wall_ns(); /* another one in each run, so that none of it has arrived before */
	for (unsigned i = 0; i < n_hosts; i++) {
		sims[i].fd = connect_to(port);
		sims[i].number = i;
		sims[i].due_ns = now + (uint64_t)interval_ms * NSEC_PER_MSEC * i / n_hosts;
		buf_init(&sims[i].out, 2u << 20);
		fcntl(sims[i].fd, F_SETFL, O_NONBLOCK);
		struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = &sims[i] };
		epoll_ctl(epoll, EPOLL_CTL_ADD, sims[i].fd, &e);
	}
	make_request(&sims[0], &arena, &body);
	size_t bytes = body.len;
	sims[0].sequence = 0;
	for (unsigned i = 0; interval_ms == 0 && i < n_hosts; i++) {
		make_request(&sims[i], &arena, &body);
		if (!push(&sims[i]))
			return 1;
	}
	if (interval_ms > 0)
		sims[0].out.len = 0;
	struct metrics before = read_metrics();
	run(sims, epoll, &arena, &body);
	struct metrics after = read_metrics();
	report(&before, &after, bytes);
	return refused > 0;
}
