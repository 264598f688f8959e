/*
 * The parsers' contract. A parser turns the bytes of one source's output into a record and does nothing else: no I/O, no
 * clock, no globals, no log. It matches on labels, never on line numbers; parses what is certain; counts lines that no
 * known shape matched with record_count_unknown(); and refuses text that is not its kind at all. What the text does not
 * print stays absent.
 *
 * A new kind is one file and one row in kinds.c.
 */
#ifndef HIWAT_AGENT_PARSE_H
#define HIWAT_AGENT_PARSE_H

#include <stdbool.h>

#include "record.h"
#include "scan.h"

struct arena;

/* The system that a saved output comes from. UNKNOWN: the text decides, which every parser must be able to do. */
enum parse_os { PARSE_OS_UNKNOWN, PARSE_OS_FREEBSD, PARSE_OS_OPENBSD, PARSE_OS_NETBSD, PARSE_OS_DRAGONFLY, PARSE_OS_LINUX };

/*
 * How the numbers that a source keeps for each CPU become one. A live sampler has a memory of them: many are 32 bits wide,
 * and a CPU that goes off line takes its numbers with it.
 */
struct parse_percpu {
	/* The n numbers of one row, cpus[i] being the CPU of numbers[i]. False: memory is out, the parser gives up. */
	bool (*total)(void *arg, struct text row, const uint32_t *cpus, const uint64_t *numbers, size_t n, uint64_t *total);
	void *arg;
};

struct parse_input {
	struct text text;
	enum parse_os os;
	uint64_t page_size;                /* bytes of a page, for sources that count in pages */
	uint64_t hz;                       /* ticks per second of CPU times */
	int tz_seconds;                    /* east of UTC, for times that are printed without a zone */
	const struct parse_percpu *percpu; /* NULL: they are added up, as for a saved output */
};

/* Why a parser refused: a sentence for people, without the file's name. Written on failure only. */
struct parse_reason {
	char text[200];
};

/*
 * Fills *out, whose strings and messages live in the arena; unset on failure it may be half filled and must be dropped.
 * HIWAT_E_NODATA  nothing of this kind in the text: empty, binary, or another kind's output
 * HIWAT_E_FORMAT  a known line is malformed in a way that makes the rest doubtful
 * HIWAT_E_DENIED  the text is the program's own "permission denied"
 * HIWAT_E_MISSING  the text is the program's own word that the system has no such thing
 * HIWAT_E_IMPLAUSIBLE  the text contradicts itself
 * HIWAT_E_NOMEM   the arena is at its ceiling
 */
typedef int parse_fn(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why);

struct parse_kind {
	const char *name; /* as on the command line: netstat-m */
	const char *help;
	parse_fn *parse;
	/*
	 * How surely the first lines of a text are this kind, 0 (not) to 100 (no other kind looks like it), for parse auto.
	 * Looks at a few kilobytes at most. NULL: never guessed.
	 */
	int (*recognise)(struct text text);
};

/* All kinds, ended by a row without a name. */
extern const struct parse_kind parse_kinds[];

const struct parse_kind *parse_kind_find(const char *name);

/* The kind that is surest of the text, which parse_decode() has seen; NULL when none is. */
const struct parse_kind *parse_recognise(struct text text);

/* A system's name as people write it: freebsd, openbsd, netbsd, dragonfly, linux; false for any other word. */
bool parse_os_of(const char *word, enum parse_os *os);
/* And back; NULL for PARSE_OS_UNKNOWN. */
const char *parse_os_word(enum parse_os os);

/*
 * Turns a file's bytes into what parsers expect: a byte order mark is dropped, UTF-16 (as Windows saves text) becomes
 * UTF-8 in the arena, what is no code point becomes '?'. Escapes of terminals, the marks of a quoted
 * mail, numbers of lines and a common indentation come off. Other text stays as it is. HIWAT_E_NOMEM.
 */
int parse_decode(struct arena *arena, struct text *text);

/* Whether the text holds a NUL in its first kilobytes: a reason for people when a parser found nothing. */
bool parse_looks_binary(struct text text);

/* Writes the reason, cut to fit, and returns err, so that a parser can end in return parse_fail(...). */
int parse_fail(struct parse_reason *why, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
