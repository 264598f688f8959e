#include "kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"

void
kmsg_init(struct kmsg *k, const char *path)
{
	*k = (struct kmsg){ .fd = -1, .path = path };
}

void
kmsg_fini(struct kmsg *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

/* 0 or an errno. */
static int
read_records(struct kmsg *k, struct fetch *f, bool *more)
{
	*more = false;
	while (f->buf.limit - f->buf.len >= KMSG_RECORD_MAX) {
		char *p = buf_reserve(&f->buf, KMSG_RECORD_MAX);
		if (p == NULL)
			return ENOMEM;
		ssize_t n = read(k->fd, p, KMSG_RECORD_MAX);
		if (n > 0) {
			buf_advance(&f->buf, (size_t)n);
		} else if (n == 0 || errno == EAGAIN) {
			return 0;
		} else if (errno == EPIPE) {
			*more = true;
			return 0;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	*more = true;
	return 0;
}

int
kmsg_read(struct kmsg *k, struct fetch *f, struct text *out, bool *more)
{
	uint64_t started_ns = clock_mono_ns();
	int sys_errno = 0;

	buf_reset(&f->buf);
	if (k->fd < 0) {
		k->fd = open(k->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		sys_errno = k->fd < 0 ? errno : 0;
	}
	if (sys_errno == 0)
		sys_errno = read_records(k, f, more);
	if (sys_errno != 0)
		kmsg_fini(k);
	else
		*out = (struct text){ buf_str(&f->buf), f->buf.len };
	return fetch_done(f, "read", k->path, started_ns, fetch_err(sys_errno), sys_errno, f->buf.len);
}
