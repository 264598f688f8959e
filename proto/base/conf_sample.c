#include "conf.h"

#include <string.h>

#include "buf.h"

#define WIDTH 100 /* columns of help text */

/* Words of text behind "# ", wrapped. */
static void
write_help(struct buf *out, const char *text, unsigned indent)
{
	unsigned column = 0;

	while (*text != '\0') {
		size_t len = strcspn(text, " ");
		if (column > 0 && column + 1 + len > WIDTH) {
			buf_putc(out, '\n');
			column = 0;
		}
		if (column == 0) {
			buf_printf(out, "%*s#", (int)indent, "");
			column = indent + 1;
		}
		buf_putc(out, ' ');
		buf_add(out, text, len);
		column += 1 + (unsigned)len;
		text += len;
		text += strspn(text, " ");
	}
	buf_putc(out, '\n');
}

static void
write_value(struct buf *out, const struct conf_option *o)
{
	if (o->value == NULL)
		buf_printf(out, " %s\n", o->example != NULL ? o->example : o->type == CONF_MAP ? "{}" : "[]");
	else if (o->type == CONF_LIST)
		buf_printf(out, " [%s]\n", o->value);
	else
		buf_printf(out, " %s\n", o->value);
}

static void write_options(struct buf *out, const struct conf_schema *schema, unsigned indent, bool in_list);

/* Items are shown as one example item with every option of theirs. */
static void
write_items(struct buf *out, const struct conf_option *o, unsigned indent)
{
	buf_putc(out, '\n');
	write_options(out, o->items, indent + 2, true);
}

/*
 * The sections of key that were not open after previous are opened; returns the number of sections around key. They are
 * no comments, so that an option in them can be uncommented alone; without one they are empty, which is allowed.
 */
static unsigned
open_sections(struct buf *out, const char *previous, const char *key, unsigned indent, bool in_list)
{
	unsigned depth = 0;
	bool same = true;

	for (const char *dot = strchr(key, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
		size_t len = (size_t)(dot - key) + 1;
		const char *name = key;
		for (const char *p = key; p < dot; p++) {
			if (*p == '.')
				name = p + 1;
		}
		same = same && strncmp(previous, key, len) == 0;
		if (!same)
			buf_printf(out, "%*s%s%.*s:\n", (int)(indent + 2 * depth), "", in_list ? "#" : "", (int)(dot - name),
			    name);
		depth++;
	}
	return depth;
}

static void
write_options(struct buf *out, const struct conf_schema *schema, unsigned indent, bool in_list)
{
	const char *previous = "";

	for (const struct conf_option *o = schema->options; o->key != NULL; o++) {
		const char *name = strrchr(o->key, '.');
		bool opens_item = in_list && o == schema->options;
		if (!in_list)
			buf_putc(out, '\n');
		unsigned column = indent + (in_list && !opens_item ? 2 : 0);
		column += 2 * open_sections(out, previous, o->key, column, in_list);
		write_help(out, o->help, column);
		buf_printf(out, "%*s#%s%s:", (int)column, "", opens_item ? "- " : "", name != NULL ? name + 1 : o->key);
		if (o->type == CONF_ITEMS && o->example == NULL)
			write_items(out, o, column);
		else
			write_value(out, o);
		previous = o->key;
	}
}

void
conf_write_sample(const struct conf_schema *schema, struct buf *out)
{
	write_options(out, schema, 0, false);
}
