#include "last_dump.h"

/* The first words of the last two lines that hold something. */
struct tail {
	struct text words[2];
};

static void
tail_add(struct tail *tail, struct text line)
{
	struct text word;

	if (!text_word(&line, &word))
		return;
	/* Of "key=value" and "label:value" the value differs from dump to dump. */
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] == '=' || word.p[i] == ':')
			word.n = i;
	}
	tail->words[0] = tail->words[1];
	tail->words[1] = word;
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
	/* A prompt may follow each dump, so that the word before the prompt is as good an end as the prompt. */
	bool same = text_same(tail.words[1], tail_before.words[1]) || text_same(tail.words[1], tail_before.words[0]);
	return cut && before.n > 0 && !same ? before : last;
}
