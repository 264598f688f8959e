#include "keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "buf.h"
#include "err.h"
#include "fetch.h"

int
keep_read(const char *dir, const char *name, struct buf *out)
{
	struct fetch_file file;
	struct fetch f;
	struct text text;

	if (dir == NULL)
		return HIWAT_E_MISSING;
	int err = fetch_file_init(&file, dir, name);
	if (err != HIWAT_OK)
		return err;
	fetch_init(&f, NULL, out->limit);
	err = fetch_path(&f, file.path, &text);
	if (err == HIWAT_OK) {
		buf_add(out, text.p, text.n);
		err = buf_ok(out) ? HIWAT_OK : HIWAT_E_NOMEM;
	}
	fetch_fini(&f);
	return err;
}

static int
write_all(int fd, struct text content)
{
	while (content.n > 0) {
		ssize_t n = write(fd, content.p, content.n);
		if (n < 0 && errno != EINTR)
			return fetch_err(errno);
		if (n > 0) {
			content.p += n;
			content.n -= (size_t)n;
		}
	}
	return fsync(fd) == 0 ? HIWAT_OK : HIWAT_E_SYS;
}

int
keep_write(const char *dir, const char *name, struct text content)
{
	char temporary[64];

	if (dir == NULL)
		return HIWAT_OK;
	int n = snprintf(temporary, sizeof(temporary), "%s.new", name);
	if (n < 0 || (size_t)n >= sizeof(temporary))
		return HIWAT_E_TOOBIG;
	int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return fetch_err(errno);
	int fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
	int err = fd < 0 ? fetch_err(errno) : write_all(fd, content);
	if (fd >= 0)
		close(fd);
	if (err == HIWAT_OK && renameat(dir_fd, temporary, dir_fd, name) != 0)
		err = fetch_err(errno);
	/* The rename itself reaches the disk with the directory. */
	if (err == HIWAT_OK && fsync(dir_fd) != 0)
		err = HIWAT_E_SYS;
	close(dir_fd);
	return err;
}
