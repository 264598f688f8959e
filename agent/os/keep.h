/* Small files of the agent's own in its state directory: read whole, replaced whole. */
#ifndef HIWAT_AGENT_KEEP_H
#define HIWAT_AGENT_KEEP_H

#include "scan.h"

struct buf;

/*
 * Appends the file to *out. HIWAT_E_MISSING when there is none or dir is NULL, HIWAT_E_TOOBIG when it exceeds the buffer's
 * ceiling, HIWAT_E_DENIED, HIWAT_E_SYS.
 */
int keep_read(const char *dir, const char *name, struct buf *out);

/*
 * Writes a new file beside the old one, syncs it and renames it over: after a crash there is the old content or the new.
 * Does nothing when dir is NULL.
 */
int keep_write(const char *dir, const char *name, struct text content);

#endif
