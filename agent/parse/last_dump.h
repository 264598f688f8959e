/* Several outputs of one program saved in one file: which one counts. */
#ifndef HIWAT_AGENT_LAST_DUMP_H
#define HIWAT_AGENT_LAST_DUMP_H

#include <stdbool.h>

#include "scan.h"

/*
 * The part of text from the last line that begins a dump on; the one before when the text breaks off inside the last one:
 * its final line starts with another word than those that the dump before ended with, and either has no newline or comes
 * after fewer lines; or it has no newline and fewer words. Empty when no line begins a dump. begins() sees lines without
 * newline, trimmed.
 */
struct text last_dump(struct text text, bool (*begins)(struct text line));

#endif
