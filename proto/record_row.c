#include "record_row.h"

#include <string.h>

#include "arena.h"
#include "codec.h"

#define SLOTS_MIN 64 /* a power of two, as all sizes of the table */

/* The labels of a row as they are sent, and where its message keeps them. */
struct labels {
	unsigned n;
	size_t at[RECORD_LABELS_MAX];
	size_t len[RECORD_LABELS_MAX];
	char value[RECORD_LABELS_MAX][CODEC_LABEL_MAX + 1];
};

static void
labels_of(const ProtobufCMessageDescriptor *type, const struct text *names, struct labels *l)
{
	l->n = 0;
	for (unsigned i = 0; i < type->n_fields && l->n < RECORD_LABELS_MAX; i++) {
		if (type->fields[i].type != PROTOBUF_C_TYPE_STRING)
			continue;
		l->at[l->n] = type->fields[i].offset;
		l->len[l->n] = record_label_write(l->value[l->n], names[l->n]);
		l->n++;
	}
}

static char **
label_in(void *row, size_t at)
{
	return (char **)(void *)((char *)row + at);
}

static bool
is_row_of(void *row, const struct labels *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		if (strcmp(*label_in(row, l->at[i]), l->value[i]) != 0)
			return false;
	}
	return true;
}

static void *
find(void *const *rows, size_t n, const struct labels *l)
{
	for (size_t i = 0; i < n; i++) {
		if (is_row_of(rows[i], l))
			return rows[i];
	}
	return NULL;
}

static void *
add(struct arena *a, size_t *n, void *array, const ProtobufCMessageDescriptor *type, const struct labels *l)
{
	char *copies[RECORD_LABELS_MAX];

	for (unsigned i = 0; i < l->n; i++) {
		if ((copies[i] = arena_strndup(a, l->value[i], l->len[i])) == NULL)
			return NULL;
	}
	void *row = record_add(a, n, array, type);
	for (unsigned i = 0; i < l->n && row != NULL; i++)
		*label_in(row, l->at[i]) = copies[i];
	return row;
}

void *
record_find(const size_t *n, void *array, const ProtobufCMessageDescriptor *type, const struct text *names)
{
	struct labels l;

	labels_of(type, names, &l);
	return find(*(void **)array, *n, &l);
}

void *
record_row(struct arena *a, size_t *n, void *array, const ProtobufCMessageDescriptor *type, const struct text *names)
{
	struct labels l;

	labels_of(type, names, &l);
	void *row = find(*(void **)array, *n, &l);
	return row != NULL ? row : add(a, n, array, type, &l);
}

void
record_index_init(struct record_index *x, struct arena *arena)
{
	*x = (struct record_index){ .arena = arena };
}

/* FNV-1a, 64 bits, over a label and its end. */
static uint64_t
hash_label(uint64_t hash, const char *s)
{
	do {
		hash = (hash ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	} while (*s++ != '\0');
	return hash;
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* The slot of the row with these labels, or the free one where it belongs. */
static size_t
find_slot(const struct record_index *x, void *const *rows, const struct labels *l)
{
	uint64_t hash = HASH_START;

	for (unsigned i = 0; i < l->n; i++)
		hash = hash_label(hash, l->value[i]);
	size_t slot = hash & (x->n_slots - 1);
	while (x->slots[slot] != 0 && !is_row_of(rows[x->slots[slot] - 1], l))
		slot = (slot + 1) & (x->n_slots - 1);
	return slot;
}

/* Keeps the table of slots at most half full when the row after n is added. */
static bool
make_room(struct record_index *x, void *const *rows, size_t n, const struct labels *l)
{
	if (x->n_slots > 0 && n < x->n_slots / 2)
		return true;
	size_t n_slots = SLOTS_MIN;
	while (n_slots / 2 <= n && n_slots < UINT32_MAX / 4)
		n_slots *= 2;
	uint32_t *slots = n_slots / 2 > n ? arena_calloc(x->arena, n_slots, sizeof(*slots)) : NULL;
	if (slots == NULL)
		return false;
	for (size_t row = 0; row < n; row++) {
		uint64_t hash = HASH_START;
		for (unsigned i = 0; i < l->n; i++)
			hash = hash_label(hash, *label_in(rows[row], l->at[i]));
		size_t slot = hash & (n_slots - 1);
		while (slots[slot] != 0)
			slot = (slot + 1) & (n_slots - 1);
		slots[slot] = (uint32_t)row + 1;
	}
	x->slots = slots;
	x->n_slots = n_slots;
	return true;
}

void *
record_index_row(struct record_index *x, size_t *n, void *array, const ProtobufCMessageDescriptor *type,
    const struct text *names)
{
	struct labels l;

	labels_of(type, names, &l);
	if (!make_room(x, *(void **)array, *n, &l))
		return NULL;
	size_t slot = find_slot(x, *(void **)array, &l);
	if (x->slots[slot] != 0)
		return (*(void ***)array)[x->slots[slot] - 1];
	void *row = add(x->arena, n, array, type, &l);
	if (row != NULL)
		x->slots[slot] = (uint32_t)*n;
	return row;
}
