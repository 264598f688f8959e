/* Texts through parsers, compared as lines "series number" that `hiwat-agent parse` would print. */
#ifndef HIWAT_TESTS_PARSED_H
#define HIWAT_TESTS_PARSED_H

#include <stdbool.h>

#include "buf.h"
#include "parse.h"

/*
 * Parses the text, read from a block of memory of exactly its size, with pages of 4096 bytes, 100 ticks and UTC. Writes
 * the record as lines into out, and fails the test when record_check() finds fault. Returns the parser's error.
 */
int parsed_by(parse_fn *parse, struct text text, struct buf *out);

/*
 * Compares with expected lines: "series number" must be there; "!series" must not, whatever its number. A message in out's
 * place, NULL when all holds.
 */
const char *parsed_mismatch(const struct buf *lines, const char *expected);

/* One text and what it must yield, in a table of cases. */
struct parsed_row {
	const char *name;
	parse_fn *parse;
	const char *text;
	int err;
	const char *expected; /* as for parsed_mismatch() */
};

/* Fails the test when the row does not hold. */
void parsed_row_check(const struct parsed_row *row);

/*
 * What must hold for any output: each text that breaks off anywhere gives a sound record or an error, and a line of an
 * unknown shape put between any two lines of the first 32 KiB changes no number but the count of unknown lines. Fails the
 * test when not. step: prefixes whose length is a multiple of it are tried.
 */
void parsed_properties(parse_fn *parse, struct text text, size_t step);

/*
 * For parsers of which no number depends on a later line: each text that breaks off gives numbers of the whole text only,
 * or an error. Over every saved output of one kind in tests/corpus.
 */
void parsed_corpus_prefixes_agree(const char *kind);

/* parsed_properties() over every saved output of one kind in tests/corpus; their number, at least 1 is checked. */
unsigned parsed_corpus_properties(const char *kind);

#endif
