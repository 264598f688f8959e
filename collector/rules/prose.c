#include "prose.h"

#include <stdint.h>

#include "buf.h"

void
prose_begin(struct prose *p, struct buf *out, bool keeps_unknown)
{
	*p = (struct prose){ .out = out, .keeps_unknown = keeps_unknown, .sentence = out->len, .parenthesis = SIZE_MAX };
}

void
prose_cut(struct prose *p, size_t len)
{
	if (!buf_ok(p->out) || len > p->out->len)
		return;
	while (len > 0 && p->out->data[len - 1] == ' ')
		len--;
	if (p->out->data != NULL)
		p->out->data[len] = '\0';
	p->out->len = len;
}

void
prose_end(struct prose *p)
{
	if (p->sentence_unknown && !p->keeps_unknown && p->out->len > p->sentence)
		prose_cut(p, p->sentence);
	p->sentence_unknown = false;
	p->sentence = p->out->len;
}

void
prose_unknown(struct prose *p)
{
	if (p->parenthesis != SIZE_MAX)
		p->parenthesis_unknown = true;
	else
		p->sentence_unknown = true;
}

static void
close_parenthesis(struct prose *p)
{
	if (p->parenthesis_unknown)
		prose_cut(p, p->parenthesis);
	p->parenthesis = SIZE_MAX;
	p->parenthesis_unknown = false;
}

void
prose_copy(struct prose *p, const char *text, size_t n)
{
	for (size_t from = 0, i = 0; i < n; i++) {
		bool opens = text[i] == '(' && p->parenthesis == SIZE_MAX;
		bool closes = text[i] == ')' && p->parenthesis != SIZE_MAX;
		bool ends = text[i] == '.' && i + 1 < n && text[i + 1] == ' ' && p->parenthesis == SIZE_MAX;

		if (!opens && !closes && !ends && i + 1 < n)
			continue;
		/* A parenthesis goes with its sign, so it begins behind what is copied now. */
		buf_add(p->out, text + from, (opens ? i : i + 1) - from);
		from = opens ? i : i + 1;
		if (opens)
			p->parenthesis = p->out->len;
		else if (closes)
			close_parenthesis(p);
		else if (ends)
			prose_end(p);
		if (opens && i + 1 == n)
			buf_putc(p->out, '(');
	}
}
