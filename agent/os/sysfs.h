/* Directories and links of /sys. */
#ifndef HIWAT_AGENT_SYSFS_H
#define HIWAT_AGENT_SYSFS_H

#include <stdbool.h>

#include "fetch.h"

struct arena;

/*
 * The names in a directory, without those that begin with a dot, in the arena, in the system's order, at most max of them
 * (the rest is left out). Errors as in fetch.h.
 */
int sysfs_list(struct fetch *f, const char *path, struct arena *arena, size_t max, const char *const **names, size_t *n);

/* The last part of what a symbolic link points to: true when there is such a link and the name fits. */
bool sysfs_link_name(const char *path, char *name, size_t size);
/* The whole path behind links; true when it exists and fits. */
bool sysfs_real_path(const char *path, char *real, size_t size);

/* A file's first word, first number; false when it is absent, unreadable or says that it does not know. */
bool sysfs_word(struct fetch *f, char *word, size_t size, const char *path_fmt, ...) __attribute__((format(printf, 4, 5)));
bool sysfs_u64(struct fetch *f, uint64_t *value, const char *path_fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
