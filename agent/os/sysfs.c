#include "sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "clock.h"
#include "err.h"

int
sysfs_list(struct fetch *f, const char *path, struct arena *arena, size_t max, const char *const **names, size_t *n)
{
	uint64_t started_ns = clock_mono_ns();
	void *rows = NULL;
	size_t count = 0;
	int err = HIWAT_OK;
	const struct dirent *entry;

	DIR *dir = opendir(path);
	if (dir == NULL)
		return fetch_done(f, "list", path, started_ns, fetch_err(errno), errno, 0);
	errno = 0;
	while (count < max && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		char **slot = arena_grow(arena, &rows, count, sizeof(*slot));
		char *name = slot != NULL ? arena_strndup(arena, entry->d_name, strlen(entry->d_name)) : NULL;
		if (name == NULL) {
			err = HIWAT_E_NOMEM;
			errno = 0;
			break;
		}
		*slot = name;
		count++;
	}
	int sys_errno = count < max ? errno : 0;
	closedir(dir);
	if (err == HIWAT_OK)
		err = fetch_err(sys_errno);
	if (err == HIWAT_OK) {
		*names = rows;
		*n = count;
	}
	return fetch_done(f, "list", path, started_ns, err, sys_errno, 0);
}

bool
sysfs_link_name(const char *path, char *name, size_t size)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';
	const char *last = strrchr(target, '/');
	last = last != NULL ? last + 1 : target;
	if (*last == '\0' || strlen(last) >= size)
		return false;
	memcpy(name, last, strlen(last) + 1);
	return true;
}

bool
sysfs_real_path(const char *path, char *real, size_t size)
{
	char target[PATH_MAX];

	if (realpath(path, target) == NULL || strlen(target) >= size)
		return false;
	memcpy(real, target, strlen(target) + 1);
	return true;
}

static bool __attribute__((format(printf, 3, 0)))
read_fmt(struct fetch *f, struct text *out, const char *path_fmt, va_list ap)
{
	char path[PATH_MAX];
	int n = vsnprintf(path, sizeof(path), path_fmt, ap);

	return n > 0 && (size_t)n < sizeof(path) && fetch_path(f, path, out) == HIWAT_OK;
}

bool
sysfs_word(struct fetch *f, char *word, size_t size, const char *path_fmt, ...)
{
	struct text text, line, first;
	va_list ap;

	va_start(ap, path_fmt);
	bool ok = read_fmt(f, &text, path_fmt, ap);
	va_end(ap);
	if (!ok || !text_line(&text, &line, NULL) || !text_word(&line, &first) || first.n >= size)
		return false;
	memcpy(word, first.p, first.n);
	word[first.n] = '\0';
	return true;
}

bool
sysfs_u64(struct fetch *f, uint64_t *value, const char *path_fmt, ...)
{
	struct text text, line;
	va_list ap;

	va_start(ap, path_fmt);
	bool ok = read_fmt(f, &text, path_fmt, ap);
	va_end(ap);
	return ok && text_line(&text, &line, NULL) && text_is_u64(line, value);
}
