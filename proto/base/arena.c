#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_MIN ((size_t)8192)
#define ALIGN sizeof(max_align_t)

struct arena_chunk {
	struct arena_chunk *next;
	size_t size, used;
	max_align_t data[];
};

void
arena_init(struct arena *a, size_t limit)
{
	*a = (struct arena){ .limit = limit };
}

void
arena_fini(struct arena *a)
{
	struct arena_chunk *c = a->first;

	while (c != NULL) {
		struct arena_chunk *next = c->next;
		free(c);
		c = next;
	}
	a->first = a->current = NULL;
	a->used = 0;
}

void
arena_reset(struct arena *a)
{
	for (struct arena_chunk *c = a->first; c != NULL; c = c->next)
		c->used = 0;
	a->current = a->first;
	a->used = 0;
	a->failed = 0;
}

/* The next chunk with room for size bytes: one kept from before a reset, or a new one. */
static struct arena_chunk *
chunk_with_room(struct arena *a, size_t size)
{
	struct arena_chunk *c = a->current, *last = NULL;

	for (; c != NULL; last = c, c = c->next) {
		if (c->size - c->used >= size)
			return c;
	}
	size_t want = last != NULL && last->size <= SIZE_MAX / 4 ? last->size * 2 : CHUNK_MIN;
	if (want > a->limit)
		want = a->limit;
	if (want < size)
		want = size;
	if (want > SIZE_MAX - sizeof(*c))
		return NULL;
	c = malloc(sizeof(*c) + want);
	if (c == NULL)
		return NULL;
	c->next = NULL;
	c->size = want;
	c->used = 0;
	if (last != NULL)
		last->next = c;
	else
		a->first = c;
	return c;
}

void *
arena_alloc(struct arena *a, size_t size)
{
	struct arena_chunk *c = NULL;

	if (size <= a->limit) {
		size = size == 0 ? ALIGN : (size + ALIGN - 1) / ALIGN * ALIGN;
		if (size <= a->limit - a->used)
			c = chunk_with_room(a, size);
	}
	if (c == NULL) {
		a->failed = 1;
		return NULL;
	}
	void *p = (char *)c->data + c->used;
	c->used += size;
	a->used += size;
	a->current = c;
	return memset(p, 0, size);
}

void *
arena_calloc(struct arena *a, size_t n, size_t size)
{
	if (size != 0 && n > SIZE_MAX / size) {
		a->failed = 1;
		return NULL;
	}
	return arena_alloc(a, n * size);
}

char *
arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *copy = len < SIZE_MAX ? arena_alloc(a, len + 1) : NULL;

	if (copy != NULL && len > 0)
		memcpy(copy, s, len);
	return copy;
}

void *
arena_grow(struct arena *a, void **array, size_t count, size_t size)
{
	/* The capacity is the next power of two, at least 4: it needs no field of its own. */
	if (count == 0 || (count >= 4 && (count & (count - 1)) == 0)) {
		size_t capacity = count == 0 ? 4 : count * 2;
		void *bigger = arena_calloc(a, capacity, size);
		if (bigger == NULL)
			return NULL;
		if (count > 0)
			memcpy(bigger, *array, count * size);
		*array = bigger;
	}
	return (char *)*array + count * size;
}
