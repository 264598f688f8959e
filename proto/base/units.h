/* Durations and sizes as people write them. */
#ifndef HIWAT_BASE_UNITS_H
#define HIWAT_BASE_UNITS_H

#include <stdint.h>

#include "scan.h"

struct buf;

#define UNITS_DURATION_FORM "a duration such as 500ms, 10s, 5m, 1h30m, 7d"
#define UNITS_SIZE_FORM "a size such as 4096, 512KiB, 64MiB, 2GiB"

/*
 * Whole numbers with ms, s, m, h, d or w, larger units first, each at most once: "1h30m"; "0" needs no unit. The whole
 * text must match: HIWAT_E_FORMAT otherwise, HIWAT_E_RANGE beyond 64 bits of milliseconds.
 */
int units_parse_duration(struct text t, uint64_t *ms);
/* A whole number of bytes, or of B, KiB, MiB, GiB, TiB. Errors as above. */
int units_parse_size(struct text t, uint64_t *bytes);
/* The shortest form that reads back. */
void units_put_duration(struct buf *out, uint64_t ms);
void units_put_size(struct buf *out, uint64_t bytes);

#endif
