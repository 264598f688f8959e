#include "tree.h"

#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
tree_make(struct tree *t)
{
	snprintf(t->dir, sizeof(t->dir), "/tmp/hiwat-tree-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(t->dir));
	ck_assert_int_eq(chmod(t->dir, 0755), 0);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void
tree_remove(struct tree *t)
{
	ck_assert_int_eq(nftw(t->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void
full_path(const struct tree *t, const char *path, char *out, size_t size)
{
	int n = snprintf(out, size, "%s/%s", t->dir, path);

	ck_assert(n > 0 && (size_t)n < size);
	for (char *slash = out + strlen(t->dir) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		ck_assert(mkdir(out, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

void
tree_write(const struct tree *t, const char *path, const char *content)
{
	char full[512];

	full_path(t, path, full, sizeof(full));
	FILE *f = fopen(full, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(content, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

void
tree_link(const struct tree *t, const char *path, const char *target)
{
	char full[512];

	full_path(t, path, full, sizeof(full));
	ck_assert_int_eq(symlink(target, full), 0);
}

void
tree_unlink(const struct tree *t, const char *path)
{
	char full[512];

	full_path(t, path, full, sizeof(full));
	ck_assert_int_eq(unlink(full), 0);
}
