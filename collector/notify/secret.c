#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "err.h"
#include "sinks.h"

int
secret_read(const char *path, char **secret, size_t *len, struct buf *why)
{
	char *data = calloc(1, SECRET_MAX + 1);
	size_t n = 0;
	ssize_t got = -1;
	int err = HIWAT_E_NOMEM;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (data == NULL)
		goto out;
	err = HIWAT_E_CONFIG;
	while (fd >= 0 && n <= SECRET_MAX && (got = read(fd, data + n, SECRET_MAX + 1 - n)) != 0) {
		if (got < 0 && errno != EINTR)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	if (fd < 0 || (got < 0 && n <= SECRET_MAX)) {
		buf_printf(why, "secret_file %s: %s", path, strerror(errno));
		goto out;
	}
	if (n > SECRET_MAX) {
		buf_printf(why, "secret_file %s: more than %d bytes", path, SECRET_MAX);
		goto out;
	}
	if (n > 0 && data[n - 1] == '\n')
		n--;
	if (n > 0 && data[n - 1] == '\r')
		n--;
	if (n == 0) {
		buf_printf(why, "secret_file %s: empty", path);
		goto out;
	}
	data[n] = '\0';
	*secret = data;
	*len = n;
	data = NULL;
	err = 0;
out:
	if (fd >= 0)
		close(fd);
	secret_free(data, SECRET_MAX + 1);
	return err;
}

void
secret_free(char *secret, size_t len)
{
	if (secret == NULL)
		return;
	explicit_bzero(secret, len);
	free(secret);
}
