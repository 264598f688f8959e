/* Sockets asked once, within a deadline. */
#include "fetch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"

#define ANSWER_MIN ((size_t)4096)

/* Waits for events until the deadline; 0, or an errno. */
static int
wait_for(int fd, short events, uint64_t deadline_ns)
{
	for (;;) {
		uint64_t now_ns = clock_mono_ns();
		if (now_ns >= deadline_ns)
			return ETIMEDOUT;
		uint64_t left_ms = (deadline_ns - now_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
		struct pollfd p = { .fd = fd, .events = events };
		int n = poll(&p, 1, left_ms > INT32_MAX ? INT32_MAX : (int)left_ms);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return errno;
	}
}

static int
send_all(int fd, struct text request, uint64_t deadline_ns)
{
	while (request.n > 0) {
		ssize_t n = send(fd, request.p, request.n, MSG_NOSIGNAL);
		if (n > 0) {
			request.p += n;
			request.n -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			int e = wait_for(fd, POLLOUT, deadline_ns);
			if (e != 0)
				return e;
		} else if (n < 0 && errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

/* Until the other side closes or, with is_message, a NUL has come. */
static int
receive_all(struct fetch *f, int fd, bool is_message, uint64_t deadline_ns, int *sys_errno)
{
	for (;;) {
		size_t room = ANSWER_MIN < f->buf.limit - f->buf.len ? ANSWER_MIN : f->buf.limit - f->buf.len;
		if (room == 0)
			return HIWAT_E_TOOBIG;
		char *p = buf_reserve(&f->buf, room);
		if (p == NULL)
			return HIWAT_E_NOMEM;
		ssize_t n = recv(fd, p, room, 0);
		if (n == 0)
			return HIWAT_OK;
		if (n > 0) {
			buf_advance(&f->buf, (size_t)n);
			if (is_message && memchr(p, '\0', (size_t)n) != NULL)
				return HIWAT_OK;
		} else if (errno == EAGAIN) {
			*sys_errno = wait_for(fd, POLLIN, deadline_ns);
			if (*sys_errno != 0)
				return fetch_err(*sys_errno);
		} else if (errno != EINTR) {
			*sys_errno = errno;
			return fetch_err(errno);
		}
	}
}

/* A full backlog shows as EAGAIN on a Unix socket: tried again until the deadline. */
static int
connect_unix(int fd, const struct sockaddr_un *address, uint64_t deadline_ns)
{
	for (;;) {
		if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return errno;
		if (clock_mono_ns() >= deadline_ns)
			return ETIMEDOUT;
		poll(NULL, 0, 10);
	}
}

static int
ask_unix(struct fetch *f, const char *path, struct text request, bool is_message, unsigned deadline_ms, struct text *out)
{
	uint64_t started_ns = clock_mono_ns(), deadline_ns = started_ns + deadline_ms * NSEC_PER_MSEC;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int sys_errno = 0, err = HIWAT_E_TOOBIG, fd = -1;

	buf_reset(&f->buf);
	if (strlen(path) >= sizeof(address.sun_path))
		goto out;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	sys_errno = fd < 0 ? errno : connect_unix(fd, &address, deadline_ns);
	if (sys_errno == 0)
		sys_errno = send_all(fd, request, deadline_ns);
	err = fetch_err(sys_errno);
	if (err == HIWAT_OK)
		err = receive_all(f, fd, is_message, deadline_ns, &sys_errno);
	if (err == HIWAT_OK)
		*out = (struct text){ buf_str(&f->buf), f->buf.len };
out:
	if (fd >= 0)
		close(fd);
	return fetch_done(f, "connect", path, started_ns, err, sys_errno, f->buf.len);
}

int
fetch_unix(struct fetch *f, const char *path, struct text request, unsigned deadline_ms, struct text *out)
{
	return ask_unix(f, path, request, false, deadline_ms, out);
}

int
fetch_unix_message(struct fetch *f, const char *path, struct text request, unsigned deadline_ms, struct text *out)
{
	struct text answer;
	int err = ask_unix(f, path, request, true, deadline_ms, &answer);

	if (err != HIWAT_OK)
		return err;
	const char *end = memchr(answer.p, '\0', answer.n);
	*out = (struct text){ answer.p, end != NULL ? (size_t)(end - answer.p) : answer.n };
	return HIWAT_OK;
}

static int
udp_connect(const char *address, uint16_t port, int *fd)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };
	const struct sockaddr *to = (const struct sockaddr *)&four;
	socklen_t len = sizeof(four);

	if (inet_pton(AF_INET6, address, &six.sin6_addr) == 1) {
		to = (const struct sockaddr *)&six;
		len = sizeof(six);
	} else if (inet_pton(AF_INET, address, &four.sin_addr) != 1) {
		return EINVAL;
	}
	*fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return errno;
	return connect(*fd, to, len) == 0 ? 0 : errno;
}

int
fetch_datagram(struct fetch *f, const char *address, uint16_t port, struct text request, unsigned deadline_ms,
    struct text *out)
{
	uint64_t started_ns = clock_mono_ns(), deadline_ns = started_ns + deadline_ms * NSEC_PER_MSEC;
	int err = HIWAT_E_TOOBIG, fd = -1;
	char what[INET6_ADDRSTRLEN + 8];

	snprintf(what, sizeof(what), "%s#%u", address, port);
	buf_reset(&f->buf);
	int sys_errno = udp_connect(address, port, &fd);
	if (sys_errno == 0)
		sys_errno = send_all(fd, request, deadline_ns);
	char *room = buf_reserve(&f->buf, ANSWER_MIN);
	ssize_t n = 0;
	while (sys_errno == 0 && room != NULL) {
		sys_errno = wait_for(fd, POLLIN, deadline_ns);
		n = sys_errno == 0 ? recv(fd, room, ANSWER_MIN, 0) : 0;
		if (n >= 2 && memcmp(room, request.p, 2) == 0)
			break;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			sys_errno = errno;
	}
	if (room != NULL)
		err = fetch_err(sys_errno);
	if (err == HIWAT_OK) {
		buf_advance(&f->buf, (size_t)n);
		*out = (struct text){ buf_str(&f->buf), f->buf.len };
	}
	if (fd >= 0)
		close(fd);
	return fetch_done(f, "query", what, started_ns, err, sys_errno, f->buf.len);
}
