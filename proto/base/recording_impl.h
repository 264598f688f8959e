/* What the two sides of recordings share. */
#ifndef HIWAT_BASE_RECORDING_IMPL_H
#define HIWAT_BASE_RECORDING_IMPL_H

#include "frame.h"
#include "recording.h"

#define RECORDING_PREFIX_MAX 17 /* type, sent, oldest */

extern const struct frame_file recording_file;

/* Where the last entry that was read ends, and its ordinal; the file's header and 0 before the first. */
void recording_place(const struct recording *r, uint64_t *end, uint64_t *ordinal);

#endif
