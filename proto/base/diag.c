#include "diag.h"

#include <string.h>

#define TEXT_MAX_BYTES (256u << 10)
#define MESSAGE_MAX_BYTES 2000

void
diag_init(struct diag *d)
{
	*d = (struct diag){ 0 };
	buf_init(&d->text, TEXT_MAX_BYTES);
}

void
diag_fini(struct diag *d)
{
	buf_fini(&d->text);
	d->n = 0;
}

void
diag_vadd(struct diag *d, const char *file, unsigned line, unsigned column, const char *fmt, va_list ap)
{
	struct buf message;

	if (d->n++ >= DIAG_LINES_MAX)
		return;
	buf_init(&message, MESSAGE_MAX_BYTES);
	buf_vprintf(&message, fmt, ap);
	if (!buf_ok(&message)) {
		buf_reset(&message);
		buf_puts(&message, "value too long to be shown");
	}
	for (size_t i = 0; i < message.len; i++) {
		if ((unsigned char)message.data[i] < 0x20 || message.data[i] == 0x7f)
			message.data[i] = ' ';
	}
	if (line > 0)
		buf_printf(&d->text, "%s:%u:%u: %s\n", file, line, column, buf_str(&message));
	else
		buf_printf(&d->text, "%s: %s\n", file, buf_str(&message));
	buf_fini(&message);
}

void
diag_add(struct diag *d, const char *file, unsigned line, unsigned column, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_vadd(d, file, line, column, fmt, ap);
	va_end(ap);
}

const char *
diag_text(struct diag *d)
{
	if (d->n > DIAG_LINES_MAX) {
		buf_printf(&d->text, "and %u more\n", d->n - DIAG_LINES_MAX);
		d->n = DIAG_LINES_MAX;
	}
	return buf_str(&d->text);
}
