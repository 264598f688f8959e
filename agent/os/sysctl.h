/*
 * Variables of a BSD kernel by name. FreeBSD and NetBSD resolve names themselves; OpenBSD knows numbers only, so that the
 * names which hiwat uses stand in a table there.
 */
#ifndef HIWAT_AGENT_SYSCTL_READ_H
#define HIWAT_AGENT_SYSCTL_READ_H

#include "fetch.h"

#define SYSCTL_MIB_MAX 8

/*
 * The bytes of a variable as the kernel gives them, in f->buf until the next fetch; they begin at an address that suits any
 * type. HIWAT_E_MISSING: the kernel has no such variable. HIWAT_E_DENIED: not for this user. HIWAT_E_TOOBIG: larger than
 * the buffer's ceiling. HIWAT_E_SYS: others, such as a table that changed at every try.
 */
int sysctl_read(struct fetch *f, const char *name, struct text *out);
/* The same for one row of a table: the number is added to the variable's own. */
int sysctl_read_row(struct fetch *f, const char *name, int row, struct text *out);

/* By numbers, name being for people. */
int sysctl_read_mib(struct fetch *f, const char *name, const int *mib, unsigned n, struct text *out);

/*
 * A number of 4 or 8 bytes, as the kernel's length says; a negative one is HIWAT_E_RANGE. HIWAT_E_FORMAT: of another
 * length, as a structure or a word.
 */
int sysctl_u64(struct fetch *f, const char *name, uint64_t *value);

#endif
