#include "record.h"

#include <string.h>

#include "arena.h"
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

size_t
record_label_write(char out[CODEC_LABEL_MAX + 1], struct text value)
{
	/* Room for the rest of a sequence that begins within the label, and a NUL behind it. */
	char room[CODEC_LABEL_MAX + 4];
	size_t n = 0;

	value = text_trim(value);
	if (value.n > sizeof(room) - 1)
		value.n = sizeof(room) - 1;
	if (value.n > 0)
		memcpy(room, value.p, value.n);
	room[value.n] = '\0';
	while (n < value.n) {
		size_t len = utf8_sequence((const unsigned char *)room + n);
		if (len == 0 || (len == 1 && ((unsigned char)room[n] < 0x20 || room[n] == 0x7f))) {
			room[n] = '?';
			len = 1;
		}
		if (n + len > CODEC_LABEL_MAX)
			break;
		n += len;
	}
	struct text label = text_trim((struct text){ room, n });
	memcpy(out, label.p, label.n);
	out[label.n] = '\0';
	return label.n;
}

char *
record_label(struct arena *a, struct text value)
{
	char label[CODEC_LABEL_MAX + 1];

	return arena_strndup(a, label, record_label_write(label, value));
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
