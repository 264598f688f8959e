/* Several outputs of one program saved in one file: which one counts. */
#ifndef HIWAT_AGENT_LAST_DUMP_H
#define HIWAT_AGENT_LAST_DUMP_H

#include <stdbool.h>

#include "scan.h"

/*
 * The part of text from the last line that begins a dump on; the one before when the text breaks off inside the last one.
 * It counts as broken off when the final newline is missing and the final line starts with another word than the dump
 * before ended with. Empty when no line begins a dump. begins() sees lines without newline, trimmed.
 */
struct text last_dump(struct text text, bool (*begins)(struct text line));

#endif
