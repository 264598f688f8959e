/* Tables of /proc out of mails. */
#ifndef HIWAT_AGENT_PROC_WRAP_H
#define HIWAT_AGENT_PROC_WRAP_H

#include "scan.h"

struct arena;

/* Joins the lines of a /proc/interrupts that was wrapped; other text is left as it is. HIWAT_E_NOMEM. */
int proc_unwrap(struct arena *arena, struct text *text);

#endif
