/* A growing byte buffer with a ceiling. Failure is sticky: write as much as needed, then ask buf_ok() once. */
#ifndef HIWAT_BASE_BUF_H
#define HIWAT_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf {
	char *data; /* owned; always NUL-terminated once something was written */
	size_t len, capacity, limit;
	bool failed; /* the ceiling or memory ran out: data holds what came before */
};

/* limit: bytes of content, the terminating NUL not counted. */
void buf_init(struct buf *b, size_t limit);
void buf_fini(struct buf *b);
/* Empty it, keep the memory, clear the failure. */
void buf_reset(struct buf *b);
static inline bool
buf_ok(const struct buf *b)
{
	return !b->failed;
}
void buf_add(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Shortest decimal that reads back as v: integers without a fraction, NaN and infinities as Prometheus writes them. */
void buf_put_double(struct buf *b, double v);
/* len bytes of room after the content for a reader to fill; NULL on failure. Follow with buf_advance(). */
char *buf_reserve(struct buf *b, size_t len);
void buf_advance(struct buf *b, size_t len);
/*
 * Appends what is left of the stream. HIWAT_E_TOOBIG: it does not fit below the ceiling; HIWAT_E_NOMEM; HIWAT_E_SYS with
 * errno: reading failed. What was read before stays.
 */
int buf_read(struct buf *b, FILE *f);
/* The content as a string, "" when empty. Borrowed until the next write. */
const char *buf_str(const struct buf *b);

#endif
