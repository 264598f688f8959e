#include "quoted.h"

#include "arena.h"
#include "err.h"

#define DEPTH_MAX 8

/* One level: a blank or none, the mark, and the blank that mailers set behind it. A tab behind it belongs to the text. */
static bool
skip_mark(struct text *line)
{
	struct text t = *line;

	text_skip(&t, " ");
	if (!text_skip(&t, ">"))
		return false;
	text_skip(&t, " ");
	*line = t;
	return true;
}

static bool
is_quoted(struct text text)
{
	struct text line;
	size_t with = 0, without = 0;

	while (text_line(&text, &line, NULL)) {
		if (text_trim(line).n == 0)
			continue;
		if (skip_mark(&line))
			with++;
		else
			without++;
	}
	return with > 0 && with >= without;
}

int
quoted_strip(struct arena *arena, struct text *text)
{
	struct text rest = *text, line;
	size_t len = 0;
	bool cut;

	if (!is_quoted(*text))
		return HIWAT_OK;
	char *out = arena_calloc(arena, text->n + 1, 1);
	if (out == NULL)
		return HIWAT_E_NOMEM;
	while (text_line(&rest, &line, &cut)) {
		for (int depth = 0; depth < DEPTH_MAX && skip_mark(&line); depth++)
			;
		memcpy(out + len, line.p, line.n);
		len += line.n;
		if (!cut)
			out[len++] = '\n';
	}
	*text = (struct text){ out, len };
	return HIWAT_OK;
}
