#include "fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"

#define READ_MIN ((size_t)4096) /* sequence files give up to a page at a time */

void
fetch_init(struct fetch *f, const struct fetch_trace *trace, size_t limit)
{
	*f = (struct fetch){ .trace = trace };
	buf_init(&f->buf, limit);
}

void
fetch_fini(struct fetch *f)
{
	buf_fini(&f->buf);
}

int
fetch_err(int sys_errno)
{
	switch (sys_errno) {
	case 0:
		return HIWAT_OK;
	case ENOENT:
	case ENOTDIR:
	case ENXIO:
	case ENODEV:
	case ECONNREFUSED:
		return HIWAT_E_MISSING;
	case EACCES:
	case EPERM:
		return HIWAT_E_DENIED;
	case ENOMEM:
		return HIWAT_E_NOMEM;
	case ETIMEDOUT:
		return HIWAT_E_TIMEOUT;
	default:
		return HIWAT_E_SYS;
	}
}

int
fetch_done(struct fetch *f, const char *verb, const char *what, uint64_t started_ns, int err, int sys_errno, size_t bytes)
{
	if (f->trace != NULL) {
		struct fetch_call call = {
			.verb = verb,
			.what = what,
			.err = err,
			.sys_errno = sys_errno,
			.bytes = bytes,
			.ns = clock_mono_ns() - started_ns,
		};
		f->trace->call(f->trace->arg, &call);
	}
	if (err != HIWAT_OK)
		snprintf(f->why.text, sizeof(f->why.text), "%s %s: %s", verb, what,
		    sys_errno != 0 ? strerror(sys_errno) : err_text(err));
	return err;
}

/* Reads from the start to the end. *sys_errno is set with the error. */
static int
read_all(struct fetch *f, int fd, int *sys_errno)
{
	buf_reset(&f->buf);
	for (;;) {
		size_t room = f->buf.capacity > f->buf.len + READ_MIN ? f->buf.capacity - f->buf.len - 1 : READ_MIN;
		if (room > f->buf.limit - f->buf.len)
			room = f->buf.limit - f->buf.len;
		if (room == 0)
			return HIWAT_E_TOOBIG;
		char *p = buf_reserve(&f->buf, room);
		if (p == NULL)
			return HIWAT_E_NOMEM;
		ssize_t n = pread(fd, p, room, (off_t)f->buf.len);
		if (n == 0)
			return HIWAT_OK;
		if (n > 0) {
			buf_advance(&f->buf, (size_t)n);
		} else if (errno != EINTR) {
			*sys_errno = errno;
			return fetch_err(errno);
		}
	}
}

static int
open_file(const char *path, int *fd, int *sys_errno)
{
	/* O_NONBLOCK: nothing that stands where a file should, such as a FIFO, can hold up the open. */
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*fd >= 0)
		return HIWAT_OK;
	*sys_errno = errno;
	return fetch_err(errno);
}

int
fetch_file_init(struct fetch_file *file, const char *dir, const char *name)
{
	file->fd = -1;
	int n = snprintf(file->path, sizeof(file->path), "%s/%s", dir, name);
	if (n < 0 || (size_t)n >= sizeof(file->path))
		return HIWAT_E_TOOBIG;
	return HIWAT_OK;
}

void
fetch_file_fini(struct fetch_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

static uint64_t
start(const struct fetch *f)
{
	return f->trace != NULL ? clock_mono_ns() : 0;
}

int
fetch_file_read(struct fetch *f, struct fetch_file *file, struct text *out)
{
	uint64_t started_ns = start(f);
	bool was_open = file->fd >= 0;
	int sys_errno = 0, err = HIWAT_E_SYS;

	if (was_open) {
		err = read_all(f, file->fd, &sys_errno);
		if (err != HIWAT_OK && sys_errno != 0)
			fetch_file_fini(file);
	}
	if (file->fd < 0) {
		sys_errno = 0;
		err = open_file(file->path, &file->fd, &sys_errno);
		if (err == HIWAT_OK)
			err = read_all(f, file->fd, &sys_errno);
	}
	if (err != HIWAT_OK)
		fetch_file_fini(file);
	else
		*out = (struct text){ buf_str(&f->buf), f->buf.len };
	return fetch_done(f, "read", file->path, started_ns, err, sys_errno, f->buf.len);
}

int
fetch_path(struct fetch *f, const char *path, struct text *out)
{
	uint64_t started_ns = start(f);
	int sys_errno = 0, fd;

	buf_reset(&f->buf);
	int err = open_file(path, &fd, &sys_errno);
	if (err == HIWAT_OK) {
		err = read_all(f, fd, &sys_errno);
		close(fd);
	}
	if (err == HIWAT_OK)
		*out = (struct text){ buf_str(&f->buf), f->buf.len };
	return fetch_done(f, "read", path, started_ns, err, sys_errno, f->buf.len);
}

static int
first_u64(struct fetch *f, const char *path, struct text text, uint64_t *value)
{
	uint64_t number;

	text_skip_blanks(&text);
	if (text_u64(&text, &number) != HIWAT_OK) {
		snprintf(f->why.text, sizeof(f->why.text), "read %s: not a number", path);
		return HIWAT_E_FORMAT;
	}
	*value = number;
	return HIWAT_OK;
}

int
fetch_file_u64(struct fetch *f, struct fetch_file *file, uint64_t *value)
{
	struct text text;
	int err = fetch_file_read(f, file, &text);

	return err != HIWAT_OK ? err : first_u64(f, file->path, text, value);
}

int
fetch_path_u64(struct fetch *f, const char *path, uint64_t *value)
{
	struct text text;
	int err = fetch_path(f, path, &text);

	return err != HIWAT_OK ? err : first_u64(f, path, text, value);
}
