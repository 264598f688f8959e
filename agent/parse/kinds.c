#include "parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct parse_kind parse_kinds[] = {
	{ 0 },
};

const struct parse_kind *
parse_kind_find(const char *name)
{
	for (const struct parse_kind *k = parse_kinds; k->name != NULL; k++) {
		if (strcmp(k->name, name) == 0)
			return k;
	}
	return NULL;
}

int
parse_fail(struct parse_reason *why, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return err;
}
