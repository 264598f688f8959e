#include "row_index.h"

#include <string.h>

#include "arena.h"

#define SLOTS_MIN 64 /* a power of two, as all sizes of the table */

struct row_key {
	const char *first, *second;
	uint64_t hash;
};

/* FNV-1a, 64 bits. */
static uint64_t
hash_string(uint64_t hash, const char *s)
{
	do {
		hash = (hash ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	} while (*s++ != '\0');
	return hash;
}

void
row_index_init(struct row_index *x, struct arena *arena)
{
	*x = (struct row_index){ .arena = arena };
}

/* The slot of a key, or the free one where it belongs. */
static size_t
find_slot(const struct row_index *x, const struct row_key *key)
{
	size_t i = key->hash & (x->n_slots - 1);

	for (; x->slots[i] != 0; i = (i + 1) & (x->n_slots - 1)) {
		const struct row_key *other = &x->keys[x->slots[i] - 1];
		if (other->hash == key->hash && strcmp(other->first, key->first) == 0 &&
		    strcmp(other->second, key->second) == 0)
			break;
	}
	return i;
}

/* Keeps the table at most half full. */
static bool
make_room(struct row_index *x)
{
	if (x->n_slots > 0 && x->n < x->n_slots / 2)
		return true;
	if (x->n >= UINT32_MAX / 4)
		return false;
	size_t n_slots = x->n_slots == 0 ? SLOTS_MIN : x->n_slots * 2;
	uint32_t *slots = arena_calloc(x->arena, n_slots, sizeof(*slots));
	if (slots == NULL)
		return false;
	x->slots = slots;
	x->n_slots = n_slots;
	for (size_t i = 0; i < x->n; i++)
		slots[find_slot(x, &x->keys[i])] = (uint32_t)i + 1;
	return true;
}

size_t
row_index_get(struct row_index *x, const char *first, const char *second, bool *is_new)
{
	struct row_key key = { first != NULL ? first : "", second != NULL ? second : "", 0 };

	key.hash = hash_string(hash_string(UINT64_C(0xcbf29ce484222325), key.first), key.second);
	if (!make_room(x))
		return SIZE_MAX;
	size_t slot = find_slot(x, &key);
	*is_new = x->slots[slot] == 0;
	if (!*is_new)
		return x->slots[slot] - 1;
	void *keys = x->keys;
	struct row_key *added = arena_grow(x->arena, &keys, x->n, sizeof(*added));
	if (added == NULL)
		return SIZE_MAX;
	x->keys = keys;
	*added = key;
	x->slots[slot] = (uint32_t)++x->n;
	return x->n - 1;
}
