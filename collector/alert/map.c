#include <stdlib.h>
#include <string.h>

#include "internal.h"

static size_t
bucket_of(const struct map *m, const uint8_t key[16])
{
	uint64_t a, b;

	memcpy(&a, key, sizeof(a));
	memcpy(&b, key + sizeof(a), sizeof(b));
	a = (a ^ b) * 0x9e3779b97f4a7c15ULL; /* 2^64 / golden ratio: spreads uuids that differ in few bits */
	return (size_t)(a >> 32) & (m->n_buckets - 1);
}

struct map_node *
map_find(const struct map *m, const uint8_t key[16])
{
	if (m->n_buckets == 0)
		return NULL;
	struct map_node *node = m->buckets[bucket_of(m, key)];
	while (node != NULL && memcmp(node->key, key, 16) != 0)
		node = node->next;
	return node;
}

bool
map_add(struct map *m, struct map_node *node)
{
	if (m->n >= m->n_buckets) {
		struct map bigger = { .n_buckets = m->n_buckets == 0 ? 64 : m->n_buckets * 2, .n = m->n };

		bigger.buckets = calloc(bigger.n_buckets, sizeof(*bigger.buckets));
		if (bigger.buckets == NULL && m->n_buckets == 0)
			return false;
		for (size_t i = 0; bigger.buckets != NULL && i < m->n_buckets; i++) {
			while (m->buckets[i] != NULL) {
				struct map_node *moved = m->buckets[i];
				struct map_node **to = &bigger.buckets[bucket_of(&bigger, moved->key)];

				m->buckets[i] = moved->next;
				moved->next = *to;
				*to = moved;
			}
		}
		/* Without memory for more buckets the old ones get fuller. */
		if (bigger.buckets != NULL) {
			free(m->buckets);
			*m = bigger;
		}
	}
	struct map_node **to = &m->buckets[bucket_of(m, node->key)];
	node->next = *to;
	*to = node;
	m->n++;
	return true;
}

void
map_remove(struct map *m, struct map_node *node)
{
	struct map_node **at = &m->buckets[bucket_of(m, node->key)];

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	m->n--;
}

struct map_node *
map_next(const struct map *m, const struct map_node *node)
{
	size_t i = 0;

	if (node != NULL) {
		if (node->next != NULL)
			return node->next;
		i = bucket_of(m, node->key) + 1;
	}
	for (; i < m->n_buckets; i++)
		if (m->buckets[i] != NULL)
			return m->buckets[i];
	return NULL;
}

void
map_fini(struct map *m)
{
	free(m->buckets);
	*m = (struct map){ 0 };
}
