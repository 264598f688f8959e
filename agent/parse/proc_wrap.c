/*
 * /proc/interrupts as a mailer wrapped it. A header that goes on in a second line of CPUs tells so; then each line that has no
 * label of its own goes on with the row before it.
 */
#include "proc_wrap.h"

#include "arena.h"
#include "err.h"

/* Nothing but CPU0, CPU1, ...: the first one's number. */
static bool
is_cpus(struct text line, uint64_t *first)
{
	struct text word;
	uint64_t cpu;
	size_t n = 0;

	while (text_word(&line, &word)) {
		if (!text_skip(&word, "CPU") || !text_is_u64(word, &cpu))
			return false;
		if (n++ == 0)
			*first = cpu;
	}
	return n > 0;
}

static bool
has_wrapped_header(struct text text)
{
	struct text line, last = { 0 };
	uint64_t first, before;

	while (text_line(&text, &line, NULL)) {
		if (is_cpus(line, &first) && first > 0 && is_cpus(last, &before) && before < first)
			return true;
		last = line;
	}
	return false;
}

static bool
has_label(struct text line)
{
	struct text word;

	return text_word(&line, &word) &&
	    (text_ends(word, ":") || *word.p == '[' || text_eq(word, "$") || text_eq(word, "#"));
}

int
proc_unwrap(struct arena *arena, struct text *text)
{
	struct text rest = *text, line;
	size_t len = 0;
	bool cut, may_go_on = false, is_header = false;
	uint64_t first;

	if (!has_wrapped_header(*text))
		return HIWAT_OK;
	char *out = arena_calloc(arena, text->n + 1, 1);
	if (out == NULL)
		return HIWAT_E_NOMEM;
	while (text_line(&rest, &line, &cut)) {
		bool is_blank = text_trim(line).n == 0, are_cpus = is_cpus(line, &first);
		bool goes_on = are_cpus ? is_header && first > 0 : may_go_on && !is_header && !has_label(line);
		if (goes_on && !is_blank)
			out[len - 1] = ' ';
		memcpy(out + len, line.p, line.n);
		len += line.n;
		if (!cut)
			out[len++] = '\n';
		is_header = are_cpus;
		may_go_on = !is_blank && !are_cpus && (goes_on || has_label(line));
	}
	*text = (struct text){ out, len };
	return HIWAT_OK;
}
