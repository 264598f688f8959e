/*
 * Complaints about files that people write, collected so that all are shown at once, one line each:
 * FILE:LINE:COLUMN: message; allowed: ...
 */
#ifndef HIWAT_BASE_DIAG_H
#define HIWAT_BASE_DIAG_H

#include <stdarg.h>

#include "buf.h"

#define DIAG_LINES_MAX 100 /* further complaints are counted only */

struct diag {
	struct buf text; /* lines, each with its newline */
	unsigned n;      /* complaints, those beyond DIAG_LINES_MAX too */
};

void diag_init(struct diag *d);
void diag_fini(struct diag *d);
/* line, column: from 1; 0 leaves them out. Line breaks in the message become blanks. */
void diag_add(struct diag *d, const char *file, unsigned line, unsigned column, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void diag_vadd(struct diag *d, const char *file, unsigned line, unsigned column, const char *fmt, va_list ap)
    __attribute__((format(printf, 5, 0)));
/* All lines, and how many more there were. Borrowed until the next call. */
const char *diag_text(struct diag *d);

#endif
