/*
 * Text that is written piece by piece, of which some pieces may not be known: a parenthesis with something unknown in it is
 * left out, and so is a sentence. Figures that nobody knows help nobody.
 */
#ifndef HIWAT_COLLECTOR_PROSE_H
#define HIWAT_COLLECTOR_PROSE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

struct prose {
	struct buf *out;    /* borrowed */
	bool keeps_unknown; /* sentences stay: better a gap than no text at all */
	/* Where the present ones begin; parenthesis SIZE_MAX: not inside one. */
	size_t sentence, parenthesis;
	bool sentence_unknown, parenthesis_unknown;
};

/* A new text at the end of out. */
void prose_begin(struct prose *p, struct buf *out, bool keeps_unknown);
/* Copies text; a sentence ends with a full stop and a blank. */
void prose_copy(struct prose *p, const char *text, size_t n);
/* What is written to out next is not known. */
void prose_unknown(struct prose *p);
/* The end of the text is the end of its last sentence. */
void prose_end(struct prose *p);
/* Takes away what lies behind len, and blanks before it. */
void prose_cut(struct prose *p, size_t len);

#endif
