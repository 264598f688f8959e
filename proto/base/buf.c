#include "buf.h"
#include "err.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_CHUNK ((size_t)65536)

void
buf_init(struct buf *b, size_t limit)
{
	*b = (struct buf){ .limit = limit < SIZE_MAX ? limit : SIZE_MAX - 1 };
}

void
buf_fini(struct buf *b)
{
	free(b->data);
	buf_init(b, b->limit);
}

void
buf_reset(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data != NULL)
		b->data[0] = '\0';
}

char *
buf_reserve(struct buf *b, size_t len)
{
	if (b->failed || len > b->limit - b->len) {
		b->failed = true;
		return NULL;
	}
	size_t need = b->len + len + 1;
	if (need > b->capacity) {
		size_t capacity = b->capacity < 128 ? 128 : b->capacity;
		while (capacity < need)
			capacity = capacity > SIZE_MAX / 2 ? need : capacity * 2;
		char *bigger = realloc(b->data, capacity);
		if (bigger == NULL) {
			b->failed = true;
			return NULL;
		}
		b->data = bigger;
		b->capacity = capacity;
	}
	return b->data + b->len;
}

void
buf_advance(struct buf *b, size_t len)
{
	b->len += len;
	b->data[b->len] = '\0';
}

void
buf_add(struct buf *b, const void *data, size_t len)
{
	char *room = buf_reserve(b, len);

	if (room == NULL)
		return;
	if (len > 0)
		memcpy(room, data, len);
	buf_advance(b, len);
}

void
buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void
buf_putc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void
buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	char *room = n < 0 ? NULL : buf_reserve(b, (size_t)n);
	if (room != NULL) {
		vsnprintf(room, (size_t)n + 1, fmt, again);
		buf_advance(b, (size_t)n);
	}
	va_end(again);
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void
buf_put_double(struct buf *b, double v)
{
	char text[40];

	if (isnan(v)) {
		buf_puts(b, "NaN");
		return;
	}
	if (isinf(v)) {
		buf_puts(b, v > 0 ? "+Inf" : "-Inf");
		return;
	}
	if (v == floor(v) && fabs(v) < 9007199254740992.0) {
		buf_printf(b, "%" PRId64, (int64_t)v);
		return;
	}
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(text, sizeof(text), "%.*g", precision, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_puts(b, text);
}

int
buf_read(struct buf *b, FILE *f)
{
	while (!feof(f) && !ferror(f)) {
		size_t left = b->limit - b->len, want = left < READ_CHUNK ? left : READ_CHUNK;
		if (want == 0) {
			/* Full to the last byte: that fits, if this is the end. */
			if (getc(f) != EOF)
				return HIWAT_E_TOOBIG;
			break;
		}
		char *room = buf_reserve(b, want);
		if (room == NULL)
			return HIWAT_E_NOMEM;
		buf_advance(b, fread(room, 1, want, f));
	}
	return ferror(f) ? HIWAT_E_SYS : HIWAT_OK;
}

const char *
buf_str(const struct buf *b)
{
	return b->data != NULL ? b->data : "";
}
