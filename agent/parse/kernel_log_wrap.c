/*
 * Lines that a mailer wrapped, in a text where none is long. What goes on has no stamp, names no device and does not begin as
 * any line known here does, and its first word would have reached over the margin. Lines that a kernel or a logger breaks
 * itself begin with blanks.
 */
#include "kernel_log_state.h"

#include "arena.h"
#include "err.h"

/* Columns that mailers wrap at, quote marks taken off. A text with longer lines was not wrapped, or not everywhere. */
#define MARGIN_MIN 60
#define MARGIN_USUAL 72
#define MARGIN_MAX 100
#define WORD_MAX 24  /* the longest word that goes to the next line */
#define JOINED_MIN 2 /* one line without a stamp proves nothing */

/* "ad4:", "(da0:mps0:0:3:0):", "sd 0:0:3:0:" and the like: what a kernel's own line begins with. */
static bool
names_device(struct text t)
{
	struct text word;
	size_t colons = 0;

	if (!text_word(&t, &word))
		return false;
	if (text_ends(word, ":") && word.n > 2)
		return true;
	for (size_t i = 0; i < word.n; i++)
		colons += word.p[i] == ':';
	if (*word.p == '(')
		return colons >= 2;
	return (text_eq(word, "sd") || text_eq(word, "scsi") || text_eq(word, "nvme")) && text_word(&t, &word) &&
	    text_ends(word, ":");
}

/* Whether a line of the kernel may go on in the next one. */
static bool
may_go_on(struct text line)
{
	struct kl_stripped s;

	kl_strip(line, &s);
	return s.form == KL_FORM_KERNEL || (s.form == KL_FORM_BARE && names_device(line));
}

static size_t
longest(struct text text)
{
	struct text line;
	size_t n = 0;

	while (text_line(&text, &line, NULL)) {
		text_trim_right(&line);
		n = line.n > n ? line.n : n;
	}
	return n;
}

static bool
goes_on(const struct kernel_log *k, struct text last, struct text line, size_t margin)
{
	struct kl_stripped s;
	struct text t = line, word;

	/* The stamps that most lines have are the quickest to tell. */
	if (line.n == 0 || *line.p == ' ' || *line.p == '\t' || *line.p == '[' || last.n <= MARGIN_MIN - WORD_MAX ||
	    kl_month_stamp(&t, &s))
		return false;
	if (!text_word(&t, &word) || last.n + 1 + word.n <= (margin < MARGIN_USUAL ? margin : MARGIN_USUAL))
		return false;
	kl_strip(line, &s);
	return s.form == KL_FORM_BARE && !s.has_stamp && !names_device(line) &&
	    (!kl_is_known(k, line) || text_eq(word, "timeout,"));
}

/* line: the whole of the last one; piece: what of it stood on the last line of the text. */
int
kl_unwrap(const struct kernel_log *k, struct arena *arena, struct text *text)
{
	struct text rest = *text, line, piece = { 0 };
	size_t len = 0, start = 0, margin = longest(*text), n_joined = 0;
	bool cut;

	if (margin < MARGIN_MIN || margin > MARGIN_MAX)
		return HIWAT_OK;
	char *out = arena_calloc(arena, text->n + 1, 1);
	if (out == NULL)
		return HIWAT_E_NOMEM;
	while (text_line(&rest, &line, &cut)) {
		text_trim_right(&line); /* format=flowed leaves the blank that it breaks at */
		struct text whole = { out + start, len - start };
		if (whole.n > 0 && goes_on(k, piece, line, margin) && may_go_on((struct text){ whole.p, whole.n - 1 })) {
			out[len - 1] = ' ';
			n_joined++;
		} else {
			start = len;
		}
		memcpy(out + len, line.p, line.n);
		len += line.n;
		if (!cut)
			out[len++] = '\n';
		piece = line;
	}
	if (n_joined >= JOINED_MIN)
		*text = (struct text){ out, len };
	return HIWAT_OK;
}
