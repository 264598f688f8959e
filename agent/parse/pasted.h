/* What terminals, pagers and forums put into a saved output. */
#ifndef HIWAT_AGENT_PASTED_H
#define HIWAT_AGENT_PASTED_H

#include "scan.h"

struct arena;

/*
 * Takes out escape sequences (ECMA-48: colours, erasures, titles), bells, what backspaces undo and CRs before a newline's
 * own; makes blanks of no-break spaces and newlines of CRs where there is no newline. The text is borrowed as it is, or a
 * copy in the arena. HIWAT_E_NOMEM.
 */
int pasted_plain(struct arena *arena, struct text *text);

/*
 * Takes off the numbers of cat -n, nl and editors, which rise by one from line to line, and an indentation of four blanks
 * and more that all lines have. The same as above.
 */
int pasted_margin(struct arena *arena, struct text *text);

#endif
