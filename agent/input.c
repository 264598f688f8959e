#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "err.h"

#define READ_STEP 65536

static int
read_all(int fd, struct buf *out)
{
	for (;;) {
		/* One byte at the ceiling tells a file that just fits from one that does not. */
		size_t room = out->limit - out->len < READ_STEP ? out->limit - out->len : READ_STEP;
		char spare;
		char *to = room > 0 ? buf_reserve(out, room) : &spare;
		if (to == NULL)
			return HIWAT_E_NOMEM;
		ssize_t n = read(fd, to, room > 0 ? room : 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return HIWAT_E_SYS;
		if (n == 0)
			return HIWAT_OK;
		if (room == 0)
			return HIWAT_E_TOOBIG;
		buf_advance(out, (size_t)n);
	}
}

int
input_read(const char *path, struct buf *out)
{
	if (strcmp(path, "-") == 0)
		return read_all(STDIN_FILENO, out);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return HIWAT_E_SYS;
	int err = read_all(fd, out), saved = errno;
	close(fd);
	errno = saved;
	return err;
}

/* FreeBSD promises not to change the pointers either. */
#if defined(__FreeBSD__)
static int
compare_names(const FTSENT *const *a, const FTSENT *const *b)
#else
static int
compare_names(const FTSENT **a, const FTSENT **b)
#endif
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* A fifo or a device that took the place of a file since the walk saw it must not block or never end. */
static int
read_regular(const char *path, struct buf *out)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return HIWAT_E_SYS;
	int err = fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ? HIWAT_E_SYS : read_all(fd, out), saved = errno;
	close(fd);
	errno = saved;
	return err;
}

int
input_walk_directory(const char *path, input_fn *fn, void *arg)
{
	char *const roots[] = { (char *)(uintptr_t)path, NULL };
	struct buf file;
	unsigned n_files = 0;
	int err = HIWAT_OK;

	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compare_names);
	if (fts == NULL)
		return HIWAT_E_SYS;
	buf_init(&file, INPUT_FILE_MAX);
	for (FTSENT *e; err == HIWAT_OK && (e = fts_read(fts)) != NULL;) {
		int file_err = HIWAT_OK;
		if (e->fts_info == FTS_D && e->fts_level > INPUT_DEPTH_MAX) {
			fts_set(fts, e, FTS_SKIP);
			file_err = HIWAT_E_TOOBIG;
		} else if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS) {
			errno = e->fts_errno;
			file_err = HIWAT_E_SYS;
		} else if (e->fts_info != FTS_F || !S_ISREG(e->fts_statp->st_mode)) {
			continue;
		} else if (++n_files > INPUT_FILES_MAX) {
			err = HIWAT_E_TOOBIG;
			break;
		} else {
			buf_reset(&file);
			file_err = read_regular(e->fts_accpath, &file);
		}
		if (file_err == HIWAT_E_SYS && e->fts_level == FTS_ROOTLEVEL)
			err = file_err;
		else
			fn(arg, e->fts_path, file_err == HIWAT_OK ? (struct text){ buf_str(&file), file.len } : TEXT(""),
			    file_err);
	}
	int saved = errno;
	buf_fini(&file);
	fts_close(fts);
	errno = saved;
	return err;
}

/* Offsets and lengths of a tar header's members: POSIX.1-1988 ustar, pax(1). */
enum {
	TAR_BLOCK = 512,
	TAR_NAME = 0,
	TAR_NAME_LEN = 100,
	TAR_SIZE = 124,
	TAR_SIZE_LEN = 12,
	TAR_SUM = 148,
	TAR_SUM_LEN = 8,
	TAR_TYPE = 156,
	TAR_MAGIC = 257,
	TAR_PREFIX = 345,
	TAR_PREFIX_LEN = 155,
};

/* Octal digits between blanks and NULs; false for anything else, GNU's binary sizes of 8 GiB and more included. */
static bool
octal(const char *p, size_t len, uint64_t *value)
{
	uint64_t v = 0;
	size_t i = 0;

	while (i < len && p[i] == ' ')
		i++;
	if (i == len || p[i] < '0' || p[i] > '7')
		return false;
	for (; i < len && p[i] >= '0' && p[i] <= '7'; i++)
		v = v * 8 + (uint64_t)(p[i] - '0');
	if (i < len && p[i] != ' ' && p[i] != '\0')
		return false;
	*value = v;
	return true;
}

static bool
header_is_sound(const char *h)
{
	uint64_t want, sum = 0;

	if (memcmp(h + TAR_MAGIC, "ustar", 5) != 0 || !octal(h + TAR_SUM, TAR_SUM_LEN, &want))
		return false;
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += i >= TAR_SUM && i < TAR_SUM + TAR_SUM_LEN ? ' ' : (unsigned char)h[i];
	return sum == want;
}

bool
input_is_tar(struct text archive)
{
	return archive.n >= TAR_BLOCK && header_is_sound(archive.p);
}

static void
member_name(const char *h, char *name, size_t size)
{
	size_t prefix = strnlen(h + TAR_PREFIX, TAR_PREFIX_LEN), base = strnlen(h + TAR_NAME, TAR_NAME_LEN);

	/* GNU's own format ("ustar  ") keeps times where POSIX has the prefix. */
	if (memcmp(h + TAR_MAGIC, "ustar\0", 6) != 0)
		prefix = 0;
	snprintf(name, size, "%.*s%s%.*s", (int)prefix, h + TAR_PREFIX, prefix > 0 ? "/" : "", (int)base, h + TAR_NAME);
}

int
input_walk_tar(struct text archive, input_fn *fn, void *arg)
{
	static const char zeros[TAR_BLOCK];
	char name[TAR_PREFIX_LEN + TAR_NAME_LEN + 2];
	unsigned n_files = 0;
	uint64_t size;

	while (archive.n >= TAR_BLOCK && memcmp(archive.p, zeros, TAR_BLOCK) != 0) {
		const char *h = archive.p;
		if (!header_is_sound(h) || !octal(h + TAR_SIZE, TAR_SIZE_LEN, &size))
			return HIWAT_E_CORRUPT;
		archive.p += TAR_BLOCK;
		archive.n -= TAR_BLOCK;
		if (size > archive.n)
			return HIWAT_E_TRUNCATED;
		if (h[TAR_TYPE] == '0' || h[TAR_TYPE] == '\0') {
			if (++n_files > INPUT_FILES_MAX)
				return HIWAT_E_TOOBIG;
			member_name(h, name, sizeof(name));
			bool fits = size <= INPUT_FILE_MAX;
			fn(arg, name, fits ? (struct text){ archive.p, (size_t)size } : TEXT(""),
			    fits ? HIWAT_OK : HIWAT_E_TOOBIG);
		}
		size_t step = ((size_t)size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
		if (step > archive.n)
			step = archive.n; /* the last member's padding may be missing */
		archive.p += step;
		archive.n -= step;
	}
	/* An archive may end without its blocks of zeros, but not inside a header. */
	return archive.n > 0 && archive.n < TAR_BLOCK ? HIWAT_E_TRUNCATED : HIWAT_OK;
}
