/* Finds the row of a repeated field by its labels, so that a parser adds up rows of the same name and prints no series twice. */
#ifndef HIWAT_AGENT_ROW_INDEX_H
#define HIWAT_AGENT_ROW_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct row_key;

/* Rows are numbered from 0 in the order they came: the index of the row in the repeated field, if that is filled alike. */
struct row_index {
	struct arena *arena; /* borrowed */
	struct row_key *keys;
	size_t n;
	uint32_t *slots; /* number + 1, open addressing; 0: free */
	size_t n_slots;
};

void row_index_init(struct row_index *x, struct arena *arena);
/*
 * The number of the row with these two labels, which live as long as the arena; NULL counts as "". *is_new: there was none,
 * and the number is the next one. SIZE_MAX when the arena is at its ceiling.
 */
size_t row_index_get(struct row_index *x, const char *first, const char *second, bool *is_new);

#endif
