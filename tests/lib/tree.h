/* A directory of files that stands in for /proc, /sys or a state directory. */
#ifndef HIWAT_TESTS_TREE_H
#define HIWAT_TESTS_TREE_H

struct tree {
	char dir[64];
};

/* A fresh directory below /tmp; everything here aborts the test on failure. */
void tree_make(struct tree *t);
/* With everything in it. */
void tree_remove(struct tree *t);
/* Writes a file, its directories made as needed. */
void tree_write(const struct tree *t, const char *path, const char *content);
/* Makes a symbolic link. */
void tree_link(const struct tree *t, const char *path, const char *target);
void tree_unlink(const struct tree *t, const char *path);

#endif
