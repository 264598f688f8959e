#include "card.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "buf.h"
#include "notify.h"
#include "units.h"
#include "utf8.h"

#define ROW_MAX 8192 /* characters of one row; texts of rules are shorter */
#define ELLIPSIS "\xe2\x80\xa6"

const char *
card_text(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s != NULL ? s : "";
}

double
card_number(const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

size_t
card_characters(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* U+202A to U+202E and U+2066 to U+2069 embed, override and isolate; U+200E, U+200F and U+061C are marks. */
static bool
turns(const unsigned char *s)
{
	return (s[0] == 0xe2 && s[1] == 0x80 && ((s[2] >= 0xaa && s[2] <= 0xae) || s[2] == 0x8e || s[2] == 0x8f)) ||
	    (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9) || (s[0] == 0xd8 && s[1] == 0x9c);
}

/* U+0000 to U+001F, U+007F to U+009F. */
static bool
controls(const unsigned char *s)
{
	return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] <= 0x9f);
}

void
card_put(struct buf *out, const char *s, size_t max)
{
	size_t left = card_characters(s) > max ? max - 1 : max;

	for (; left > 0 && *s != '\0'; left--) {
		const unsigned char *u = (const unsigned char *)s;
		size_t n = utf8_sequence(u);

		if (n == 0 || turns(u))
			buf_putc(out, '?');
		else if (controls(u))
			buf_putc(out, ' ');
		else
			buf_add(out, s, n);
		s += n > 0 ? n : 1;
	}
	if (*s != '\0')
		buf_puts(out, ELLIPSIS);
}

/* "36000 of 48000 (75.0 %), threshold 0.75 (ours)" from what is known of it. */
static void
put_value(struct buf *out, const json_t *line)
{
	double value = card_number(line, "value"), threshold = card_number(line, "threshold");
	double used = card_number(line, "used"), limit = card_number(line, "limit");

	if (isfinite(used) && isfinite(limit) && limit > 0)
		buf_printf(out, "%.15g of %.15g (%.1f %%)", used, limit, 100 * used / limit);
	else if (isfinite(value) && isfinite(limit))
		buf_printf(out, "%.6g, limit %.15g", value, limit);
	else if (isfinite(value))
		buf_printf(out, "%.6g", value);
	if (isfinite(threshold))
		buf_printf(out, "%sthreshold %.6g (%s)", out->len > 0 ? ", " : "", threshold,
		    strcmp(card_text(line, "threshold_source"), "ours") == 0 ? "ours" : "the document's");
}

void
card_put_time_left(struct buf *out, const json_t *line)
{
	double seconds = card_number(line, "seconds_to_limit");

	if (!isfinite(seconds) || seconds < 0 || seconds > 1e9)
		return;
	buf_puts(out, "full in ");
	units_put_duration(out, (uint64_t)seconds * 1000);
	buf_puts(out, " at the present trend");
}

void
card_put_link(struct buf *out, const struct route *route, const char *key)
{
	if (route->public_url[0] != '\0')
		buf_printf(out, "%s/api/v1/alerts/%s", route->public_url, key);
}

void
card_line(const json_t *line, card_row *row, void *arg)
{
	static const struct {
		const char *name, *member; /* member NULL: put makes it */
		void (*put)(struct buf *out, const json_t *line);
	} rows[] = {
		{ "what", "summary", NULL },
		{ "series", "labels", NULL },
		{ "value", NULL, put_value },
		{ "time left", NULL, card_put_time_left },
		{ "cleared", "cleared", NULL },
		{ "more", "description", NULL },
		{ "why", "reason", NULL },
		{ "document", "document", NULL },
		{ "to do", "remedy", NULL },
	};
	struct buf text;

	buf_init(&text, 4 * ROW_MAX);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_reset(&text);
		if (rows[i].put != NULL)
			rows[i].put(&text, line);
		else
			card_put(&text, card_text(line, rows[i].member), ROW_MAX);
		if (text.len > 0)
			row(arg, rows[i].name, buf_str(&text));
	}
	buf_fini(&text);
}
