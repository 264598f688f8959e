/*
 * A region with a ceiling: allocations are freed together. One arena serves one sampling tick or one received batch and
 * is reset whole, keeping its first chunks, so that a steady load allocates nothing.
 */
#ifndef HIWAT_BASE_ARENA_H
#define HIWAT_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *first, *current;
	size_t used;  /* bytes handed out since the last reset, alignment included */
	size_t limit; /* ceiling for used */
	_Bool failed; /* an allocation was refused since the last reset */
};

/* No memory is taken before the first allocation. limit: bytes, at least one. */
void arena_init(struct arena *a, size_t limit);
void arena_fini(struct arena *a);
/* Forget all allocations, keep the memory. Pointers into the arena become invalid. */
void arena_reset(struct arena *a);
/* Zeroed memory aligned for any type, owned by the arena; NULL when the ceiling is reached or memory is out. */
void *arena_alloc(struct arena *a, size_t size);
/* n * size bytes, NULL also when the product overflows. */
void *arena_calloc(struct arena *a, size_t n, size_t size);
/* Copy of s[0..len) with a NUL added; NULL as above. */
char *arena_strndup(struct arena *a, const char *s, size_t len);
/*
 * Room for one more element in an array kept in the arena: grows *array (of count elements of size bytes) by doubling.
 * Returns the address of the new, zeroed element and leaves count to the caller; NULL as above, array unchanged.
 */
void *arena_grow(struct arena *a, void **array, size_t count, size_t size);

#endif
