#include "last_dump.h"

#include <string.h>

/* How a line that holds something begins, and of how many words it is. */
struct ending {
	struct text word;
	size_t n_words;
};

#define ENDS 4

/* A dump's last such lines, the last one first, and the count of all. */
struct tail {
	struct ending ends[ENDS];
	size_t n_lines;
};

/* Of "key=value" and "label:value" the value differs from dump to dump: two words. */
static bool
next_word(struct text *line, struct text *word)
{
	while (line->n > 0 && (*line->p == '=' || *line->p == ':')) {
		line->p++;
		line->n--;
	}
	if (!text_word(line, word))
		return false;
	for (size_t i = 0; i < word->n; i++) {
		if (word->p[i] == '=' || word->p[i] == ':') {
			line->n += word->n - i;
			line->p -= word->n - i;
			word->n = i;
		}
	}
	return true;
}

static void
tail_add(struct tail *tail, struct text line)
{
	struct ending end = { 0 };
	struct text word;

	if (!next_word(&line, &end.word))
		return;
	for (end.n_words = 1; next_word(&line, &word);)
		end.n_words++;
	memmove(tail->ends + 1, tail->ends, sizeof(tail->ends) - sizeof(tail->ends[0]));
	tail->ends[0] = end;
	tail->n_lines++;
}

/*
 * Whether a dump ends as the one before did. cut: its last line has no newline, so that it may lack words. A prompt may
 * follow each dump, so that the line before the prompt is as good an end; more lines than that only where nothing is cut.
 */
static bool
is_whole(const struct tail *tail, const struct tail *before, bool cut)
{
	int n = cut ? 1 : 2, n_before = cut ? 2 : ENDS;

	if (!cut && tail->n_lines >= before->n_lines)
		return true;
	for (int i = 0; i < n * n_before; i++) {
		const struct ending *end = &tail->ends[i / n_before], *other = &before->ends[i % n_before];
		if (text_same(end->word, other->word) && (!cut || end->n_words >= other->n_words))
			return true;
	}
	return false;
}

struct text
last_dump(struct text text, bool (*begins)(struct text line))
{
	struct text rest = text, line, last = { text.p, 0 }, before = { text.p, 0 };
	struct tail tail = { 0 }, tail_before = { 0 };
	bool cut = false;

	while (text_line(&rest, &line, &cut)) {
		struct text trimmed = text_trim(line);
		if (trimmed.n > 0 && begins(trimmed)) {
			before = last;
			before.n = before.n > 0 ? (size_t)(line.p - before.p) : 0;
			tail_before = tail;
			last = (struct text){ line.p, text.n - (size_t)(line.p - text.p) };
			tail = (struct tail){ 0 };
		}
		tail_add(&tail, trimmed);
	}
	return before.n > 0 && !is_whole(&tail, &tail_before, cut) ? before : last;
}
