#include "log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "crc32c.h"
#include "err.h"

#define SUMMED_MAX 256               /* bytes before the position: two or three lines with their stamps */
#define CHUNK_MAX ((size_t)64 << 10) /* of one call: far more than syslogd(8) writes in a line */

void
log_file_init(struct log_file *l, const char *path, const struct log_file_at *at)
{
	*l = (struct log_file){ .path = path, .fd = -1, .at = *at };
}

void
log_file_fini(struct log_file *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	l->is_left = false;
}

/* How many bytes; less than n at the end of the file. -1 with errno. */
static ssize_t
read_at(int fd, char *p, size_t n, uint64_t offset)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = pread(fd, p + got, n - got, (off_t)(offset + got));
		if (r == 0)
			break;
		if (r < 0 && errno != EINTR)
			return -1;
		got += r > 0 ? (size_t)r : 0;
	}
	return (ssize_t)got;
}

static bool
sum_before(int fd, uint64_t offset, uint32_t *sum)
{
	char bytes[SUMMED_MAX];
	size_t n = offset < SUMMED_MAX ? (size_t)offset : SUMMED_MAX;

	if (read_at(fd, bytes, n, offset - n) != (ssize_t)n)
		return false;
	*sum = crc32c(0, bytes, n);
	return true;
}

static bool
is_where_we_were(int fd, const struct log_file_at *at)
{
	struct stat st;
	uint32_t sum;

	return fstat(fd, &st) == 0 && st.st_ino == at->inode && sum_before(fd, at->offset, &sum) && sum == at->sum;
}

/* 0 or an errno; a path that is no regular file is ENOTSUP. */
static int
open_regular(const char *path, int *fd)
{
	struct stat st;

	*fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0)
		return errno;
	int sys_errno = fstat(*fd, &st) != 0 ? errno : S_ISREG(st.st_mode) ? 0 : ENOTSUP;
	if (sys_errno != 0) {
		close(*fd);
		*fd = -1;
	}
	return sys_errno;
}

static bool
begin_here(struct log_file *l)
{
	struct stat st;

	if (fstat(l->fd, &st) != 0)
		return false;
	l->at = (struct log_file_at){ .inode = st.st_ino };
	return sum_before(l->fd, 0, &l->at.sum);
}

/* After a restart the file may have been renamed meanwhile. 0 or an errno. */
static int
find_file(struct log_file *l, bool *has_gap)
{
	char rotated[FETCH_PATH_MAX];
	bool is_first = l->at.inode == 0;
	int old, sys_errno = open_regular(l->path, &l->fd);

	if (sys_errno != 0)
		return sys_errno;
	if (!is_first && is_where_we_were(l->fd, &l->at))
		return 0;
	int n = snprintf(rotated, sizeof(rotated), "%s.0", l->path);
	if (!is_first && n > 0 && (size_t)n < sizeof(rotated) && open_regular(rotated, &old) == 0) {
		if (is_where_we_were(old, &l->at)) {
			close(l->fd);
			l->fd = old;
			return 0;
		}
		close(old);
	}
	*has_gap |= !is_first;
	return begin_here(l) ? 0 : errno;
}

static bool
was_replaced(const struct log_file *l)
{
	struct stat st;

	return stat(l->path, &st) == 0 && st.st_ino != l->at.inode;
}

/* 0 or an errno. */
static int
read_lines(struct log_file *l, struct fetch *f, bool *more)
{
	size_t room = f->buf.limit < CHUNK_MAX ? f->buf.limit : CHUNK_MAX;
	char *p = buf_reserve(&f->buf, room);
	if (p == NULL)
		return ENOMEM;
	ssize_t n = read_at(l->fd, p, room, l->at.offset);
	if (n < 0)
		return errno;
	size_t whole = (size_t)n;
	while (whole > 0 && p[whole - 1] != '\n')
		whole--;
	*more = (size_t)n == room;
	l->at.offset += *more && whole == 0 ? room : whole;
	buf_advance(&f->buf, whole);
	return sum_before(l->fd, l->at.offset, &l->at.sum) ? 0 : EIO;
}

static int
read_file(struct log_file *l, struct fetch *f, bool *more, bool *has_gap)
{
	int sys_errno = l->fd < 0 ? find_file(l, has_gap) : 0;

	if (sys_errno != 0)
		return sys_errno;
	if (!is_where_we_were(l->fd, &l->at)) {
		*has_gap = true;
		if (!begin_here(l))
			return EIO;
	}
	sys_errno = read_lines(l, f, more);
	if (sys_errno != 0 || *more)
		return sys_errno;
	if (!l->is_left) {
		l->is_left = was_replaced(l);
		return 0;
	}
	log_file_fini(l);
	l->at = (struct log_file_at){ 0 };
	*more = true;
	return 0;
}

int
log_file_read(struct log_file *l, struct fetch *f, struct text *out, bool *more, bool *has_gap)
{
	uint64_t started_ns = clock_mono_ns();

	buf_reset(&f->buf);
	*more = *has_gap = false;
	int sys_errno = read_file(l, f, more, has_gap);
	int err = sys_errno == ENOTSUP ? HIWAT_E_FORMAT : fetch_err(sys_errno);
	if (err != HIWAT_OK)
		log_file_fini(l);
	else
		*out = (struct text){ buf_str(&f->buf), f->buf.len };
	return fetch_done(f, "read", l->path, started_ns, err, err == HIWAT_E_FORMAT ? 0 : sys_errno, f->buf.len);
}
