/*
 * Rows of a repeated field by their labels. Whether two names are one row is decided by the labels as they are sent: names
 * from outside may become the same label when they are cut and when what is no UTF-8 is replaced, and a series that is there
 * twice is refused. So whoever adds a row under a name that is not his own adds it here. Labels are the strings of a message
 * in the order of hiwat.proto.
 */
#ifndef HIWAT_PROTO_RECORD_ROW_H
#define HIWAT_PROTO_RECORD_ROW_H

#include "record.h"

#define RECORD_LABELS_MAX 2 /* of one row */

/* Arguments that tell a repeated field and, as struct text, the labels of a row; one that is not given is "". */
#define RECORD_FIELD(parent, field, type) &(parent)->n_##field, (void *)&(parent)->field, &hiwat__##type##__descriptor
#define RECORD_LABELS(...) \
	(const struct text[RECORD_LABELS_MAX]) \
	{ \
		__VA_ARGS__ \
	}

/* The row of these labels, NULL when there is none: RECORD_FIND(net, zones, zone, name). */
#define RECORD_FIND(parent, field, type, ...) record_find(RECORD_FIELD(parent, field, type), RECORD_LABELS(__VA_ARGS__))

/* The same, and the row is added when there is none; NULL when the arena is at its ceiling. For fields of few rows. */
#define RECORD_ROW(arena, parent, field, type, ...) \
	record_row((arena), RECORD_FIELD(parent, field, type), RECORD_LABELS(__VA_ARGS__))

/* The same for fields of many rows: while the index is in use, it alone adds to the field. */
#define RECORD_INDEX_ROW(index, parent, field, type, ...) \
	record_index_row((index), RECORD_FIELD(parent, field, type), RECORD_LABELS(__VA_ARGS__))

/* Finds the rows of one field fast. */
struct record_index {
	struct arena *arena; /* borrowed */
	uint32_t *slots;     /* number of the row + 1, open addressing; 0: free */
	size_t n_slots;
};

void record_index_init(struct record_index *x, struct arena *arena);

void *record_find(const size_t *n, void *array, const ProtobufCMessageDescriptor *type, const struct text *names);
void *record_row(struct arena *a, size_t *n, void *array, const ProtobufCMessageDescriptor *type, const struct text *names);
void *record_index_row(struct record_index *x, size_t *n, void *array, const ProtobufCMessageDescriptor *type,
    const struct text *names);

#endif
