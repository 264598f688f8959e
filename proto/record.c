#include "record.h"

#include <string.h>

#include "arena.h"
#include "codec.h"
#include "err.h"
#include "utf8.h"

static void *
new_message(struct arena *a, const ProtobufCMessageDescriptor *type)
{
	ProtobufCMessage *msg = arena_alloc(a, type->sizeof_message);

	if (msg != NULL)
		type->message_init(msg);
	return msg;
}

void *
record_add(struct arena *a, size_t *n, void *array, const ProtobufCMessageDescriptor *type)
{
	void *rows = *(void **)array;
	void *msg = new_message(a, type);
	void **slot = msg != NULL ? arena_grow(a, &rows, *n, sizeof(void *)) : NULL;

	if (slot == NULL)
		return NULL;
	*slot = msg;
	*(void **)array = rows;
	(*n)++;
	return msg;
}

void *
record_one(struct arena *a, void *member, const ProtobufCMessageDescriptor *type)
{
	void **slot = member;

	if (*slot == NULL)
		*slot = new_message(a, type);
	return *slot;
}

char *
record_label(struct arena *a, struct text value)
{
	value = text_trim(value);
	if (value.n > CODEC_LABEL_MAX)
		value.n = CODEC_LABEL_MAX;
	char *label = arena_strndup(a, value.p, value.n);
	if (label == NULL)
		return NULL;
	/* strndup keeps a NUL inside; the loop replaces it, too. */
	for (size_t i = 0; i < value.n;) {
		size_t n = utf8_sequence((const unsigned char *)label + i);
		if (n == 0 || (n == 1 && ((unsigned char)label[i] < 0x20 || label[i] == 0x7f))) {
			label[i] = '?';
			n = 1;
		}
		i += n;
	}
	return label;
}

int
record_count_unknown(struct arena *a, Hiwat__Record *record, const char *source, uint64_t lines)
{
	Hiwat__ParseUnknownLines *row;

	for (size_t i = 0; i < record->n_unknown_lines; i++) {
		row = record->unknown_lines[i];
		if (strcmp(row->source, source) == 0) {
			row->total += lines;
			return HIWAT_OK;
		}
	}
	row = RECORD_ADD(a, record, unknown_lines, parse_unknown_lines);
	if (row == NULL || (row->source = record_label(a, text_of(source))) == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(row, total, lines);
	return HIWAT_OK;
}
