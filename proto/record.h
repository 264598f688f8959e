/*
 * Building records in an arena: what parsers and samplers use to fill messages. Everything returns NULL when the arena is
 * at its ceiling; callers then return HIWAT_E_NOMEM.
 */
#ifndef HIWAT_PROTO_RECORD_H
#define HIWAT_PROTO_RECORD_H

#include "codec.h"
#include "hiwat.pb-c.h"
#include "scan.h"

struct arena;

/* Set an optional number. */
#define RECORD_SET(message, field, number) ((message)->has_##field = 1, (message)->field = (number))

/* A new message at the end of a repeated field: RECORD_ADD(arena, mbuf, pools, mbuf_pool). */
#define RECORD_ADD(arena, parent, field, type) \
	record_add((arena), &(parent)->n_##field, (void *)&(parent)->field, &hiwat__##type##__descriptor)

/* The message in an optional field, made when absent: RECORD_ONE(arena, record, mbuf, mbuf). */
#define RECORD_ONE(arena, parent, field, type) record_one((arena), (void *)&(parent)->field, &hiwat__##type##__descriptor)

void *record_add(struct arena *a, size_t *n, void *array, const ProtobufCMessageDescriptor *type);
void *record_one(struct arena *a, void *member, const ProtobufCMessageDescriptor *type);

/*
 * A label value: trimmed, cut behind the last character that fits CODEC_LABEL_MAX bytes, control characters and what is not
 * UTF-8 replaced by '?', so that no collector refuses it. Rows under names from outside are for record_row.h.
 */
char *record_label(struct arena *a, struct text value);
/* The same into a caller's room, with a NUL; its length. */
size_t record_label_write(char out[CODEC_LABEL_MAX + 1], struct text value);

/* Counts lines that no known shape matched, in record->unknown_lines under this source. 0 or HIWAT_E_NOMEM. */
int record_count_unknown(struct arena *a, Hiwat__Record *record, const char *source, uint64_t lines);

#endif
