#include "inet_diag.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"

#define ANSWER_SIZE ((size_t)32 << 10) /* what the kernel fills at most in one message of a dump */
#define DEADLINE_S 5                   /* the kernel answers at once; this is against a bug, not a load */

struct listing {
	bool (*fn)(void *arg, const struct diag_socket *s);
	void *arg;
	bool is_done, is_stopped;
};

/*
 * The older of the two requests that the kernel knows: it has no family, so that one walk over the table, which costs
 * milliseconds where the table is large, finds the sockets of both.
 */
static int
send_request(int fd, unsigned states)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req body;
	} request = {
		.head = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = TCPDIAG_GETSOCK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.body = { .idiag_family = AF_INET, .idiag_states = states },
	};

	return send(fd, &request, sizeof(request), 0) < 0 ? errno : 0;
}

/* NLMSG_DATA for a message that is only read. */
static const char *
payload(const struct nlmsghdr *head)
{
	return (const char *)head + NLMSG_HDRLEN;
}

static void
take_socket(struct listing *l, const struct nlmsghdr *head)
{
	struct inet_diag_msg m;

	memcpy(&m, payload(head), sizeof(m));
	struct diag_socket s = {
		.is_six = m.idiag_family == AF_INET6,
		.port = ntohs(m.id.idiag_sport),
		.state = m.idiag_state,
		.queue = m.idiag_rqueue,
		.limit = m.idiag_wqueue,
	};
	memcpy(s.address, m.id.idiag_src, s.is_six ? 16 : 4);
	l->is_stopped = !l->fn(l->arg, &s);
}

/* One datagram of the dump; 0 or an errno. */
static int
take_answer(struct listing *l, const char *data, size_t len)
{
	while (len >= sizeof(struct nlmsghdr) && !l->is_done && !l->is_stopped) {
		const struct nlmsghdr *head = (const void *)data;
		if (head->nlmsg_len < sizeof(*head) || head->nlmsg_len > len)
			return EBADMSG;
		if (head->nlmsg_type == NLMSG_DONE) {
			l->is_done = true;
		} else if (head->nlmsg_type == NLMSG_ERROR) {
			struct nlmsgerr e = { 0 };
			if (head->nlmsg_len >= NLMSG_LENGTH(sizeof(e)))
				memcpy(&e, payload(head), sizeof(e));
			return e.error != 0 ? -e.error : EBADMSG;
		} else if (head->nlmsg_len >= NLMSG_LENGTH(sizeof(struct inet_diag_msg))) {
			take_socket(l, head);
		}
		size_t step = NLMSG_ALIGN(head->nlmsg_len);
		if (step > len)
			step = len;
		data += step;
		len -= step;
	}
	return 0;
}

static int
list_all(struct fetch *f, int fd, unsigned states, struct listing *l)
{
	int sys_errno = send_request(fd, states);

	while (sys_errno == 0 && !l->is_done && !l->is_stopped) {
		buf_reset(&f->buf);
		char *p = buf_reserve(&f->buf, ANSWER_SIZE);
		if (p == NULL)
			return ENOMEM;
		ssize_t n = recv(fd, p, ANSWER_SIZE, 0);
		if (n < 0)
			sys_errno = errno == EINTR ? 0 : errno == EAGAIN ? ETIMEDOUT : errno;
		else
			sys_errno = take_answer(l, p, (size_t)n);
	}
	return sys_errno;
}

int
inet_diag_list(struct fetch *f, unsigned states, bool (*fn)(void *arg, const struct diag_socket *s), void *arg)
{
	uint64_t started_ns = clock_mono_ns();
	struct timeval deadline = { .tv_sec = DEADLINE_S };
	struct listing l = { .fn = fn, .arg = arg };
	int sys_errno = 0;

	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline)) != 0)
		sys_errno = errno;
	if (sys_errno == 0)
		sys_errno = list_all(f, fd, states, &l);
	if (fd >= 0)
		close(fd);
	int err = l.is_stopped ? HIWAT_E_NOMEM : fetch_err(sys_errno);
	/* Netlink or its protocol is not built in. */
	if (sys_errno == EPROTONOSUPPORT || sys_errno == ENOENT || sys_errno == EINVAL)
		err = HIWAT_E_MISSING;
	return fetch_done(f, "list", "tcp sockets by netlink", started_ns, err, sys_errno, 0);
}
