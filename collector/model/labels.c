#include "labels.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "series.h"

#define NO_SET UINT32_MAX

/* One allocation holds the labels and, behind them, their strings. */
struct set {
	struct sample_label *labels; /* NULL: free */
	uint32_t hash;
	uint16_t n;
	bool marked;
	uint32_t next_free;
};

struct labels {
	struct set *sets; /* index is the set's number; 0 is the empty set */
	uint32_t n_sets, capacity, max_sets, n_used;
	uint32_t first_free;
	uint32_t *slots; /* open addressing, a power of two, NO_SET when empty */
	uint32_t n_slots;
	struct series_list **series; /* SERIES_BUCKETS; NULL before the first */
};

/* FNV-1a over names and values; a byte that occurs in neither stands between them. */
static uint32_t
hash_bytes(uint32_t h, const char *s)
{
	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return (h ^ 0xffu) * 16777619u;
}

static uint32_t
hash_labels(const struct sample_label *labels, unsigned n)
{
	uint32_t h = 2166136261u;

	for (unsigned i = 0; i < n; i++)
		h = hash_bytes(hash_bytes(h, labels[i].name), labels[i].value);
	return h;
}

static bool
same_labels(const struct set *set, const struct sample_label *labels, unsigned n)
{
	if (set->n != n)
		return false;
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(set->labels[i].value, labels[i].value) != 0 || strcmp(set->labels[i].name, labels[i].name) != 0)
			return false;
	}
	return true;
}

static void
place(struct labels *t, uint32_t set)
{
	uint32_t i = t->sets[set].hash & (t->n_slots - 1);

	while (t->slots[i] != NO_SET)
		i = (i + 1) & (t->n_slots - 1);
	t->slots[i] = set;
}

static void
place_all(struct labels *t)
{
	memset(t->slots, 0xff, t->n_slots * sizeof(t->slots[0]));
	for (uint32_t i = 0; i < t->n_sets; i++) {
		if (t->sets[i].labels != NULL)
			place(t, i);
	}
}

static bool
grow_slots(struct labels *t)
{
	uint32_t n = t->n_slots == 0 ? 256 : t->n_slots * 2;
	uint32_t *slots = malloc(n * sizeof(*slots));

	if (slots == NULL)
		return false;
	free(t->slots);
	t->slots = slots;
	t->n_slots = n;
	place_all(t);
	return true;
}

static struct sample_label *
copy_labels(const struct sample_label *labels, unsigned n)
{
	size_t size = (n > 0 ? n : 1) * sizeof(labels[0]);
	for (unsigned i = 0; i < n; i++)
		size += strlen(labels[i].name) + strlen(labels[i].value) + 2;
	struct sample_label *copy = malloc(size);
	if (copy == NULL)
		return NULL;
	char *at = (char *)(copy + (n > 0 ? n : 1));
	for (unsigned i = 0; i < n; i++) {
		size_t len = strlen(labels[i].name) + 1;
		copy[i].name = memcpy(at, labels[i].name, len);
		at += len;
		len = strlen(labels[i].value) + 1;
		copy[i].value = memcpy(at, labels[i].value, len);
		at += len;
	}
	return copy;
}

/* A free number, or NO_SET. */
static uint32_t
take_number(struct labels *t)
{
	if (t->first_free != NO_SET) {
		uint32_t set = t->first_free;
		t->first_free = t->sets[set].next_free;
		return set;
	}
	if (t->n_sets == t->max_sets)
		return NO_SET;
	if (t->n_sets == t->capacity) {
		uint32_t capacity = t->capacity == 0 ? 128 : t->capacity * 2;
		struct set *bigger = realloc(t->sets, capacity * sizeof(*bigger));
		if (bigger == NULL)
			return NO_SET;
		t->sets = bigger;
		t->capacity = capacity;
	}
	return t->n_sets++;
}

static void
give_number(struct labels *t, uint32_t set)
{
	t->sets[set] = (struct set){ .next_free = t->first_free };
	t->first_free = set;
}

struct labels *
labels_new(uint32_t max_sets)
{
	struct labels *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->max_sets = max_sets < (1u << 30) ? max_sets : 1u << 30;
	t->first_free = NO_SET;
	if (labels_intern(t, NULL, 0) != LABELS_EMPTY) {
		labels_free(t);
		return NULL;
	}
	return t;
}

void
labels_free(struct labels *t)
{
	if (t == NULL)
		return;
	for (uint32_t i = 0; i < t->n_sets; i++)
		free(t->sets[i].labels);
	/* Users of lists may outlive the table. */
	for (uint32_t i = 0; t->series != NULL && i < SERIES_BUCKETS; i++) {
		for (struct series_list *l = t->series[i]; l != NULL; l = l->next)
			l->at = NULL;
	}
	free(t->series);
	free(t->sets);
	free(t->slots);
	free(t);
}

uint32_t
labels_intern(struct labels *t, const struct sample_label *labels, unsigned n)
{
	uint32_t hash = hash_labels(labels, n);

	if (n > UINT16_MAX || (t->n_used + 1 > t->n_slots / 2 && !grow_slots(t)))
		return LABELS_FULL;
	for (uint32_t i = hash & (t->n_slots - 1); t->slots[i] != NO_SET; i = (i + 1) & (t->n_slots - 1)) {
		uint32_t set = t->slots[i];
		if (t->sets[set].hash == hash && same_labels(&t->sets[set], labels, n))
			return set;
	}
	uint32_t set = take_number(t);
	if (set == NO_SET)
		return LABELS_FULL;
	struct sample_label *copy = copy_labels(labels, n);
	if (copy == NULL) {
		give_number(t, set);
		return LABELS_FULL;
	}
	t->sets[set] = (struct set){ .labels = copy, .hash = hash, .n = (uint16_t)n };
	place(t, set);
	t->n_used++;
	return set;
}

const struct sample_label *
labels_get(const struct labels *t, uint32_t set, unsigned *n)
{
	*n = t->sets[set].n;
	return t->sets[set].labels;
}

const char *
labels_value(const struct labels *t, uint32_t set, const char *name)
{
	unsigned n;
	const struct sample_label *labels = labels_get(t, set, &n);

	for (unsigned i = 0; i < n; i++) {
		if (strcmp(labels[i].name, name) == 0)
			return labels[i].value;
	}
	return NULL;
}

struct series_list **
labels_series(struct labels *t, uint64_t hash)
{
	if (t->series == NULL)
		t->series = calloc(SERIES_BUCKETS, sizeof(struct series_list *));
	return t->series != NULL ? &t->series[hash % SERIES_BUCKETS] : NULL;
}

uint32_t
labels_count(const struct labels *t)
{
	return t->n_used;
}

void
labels_mark_begin(struct labels *t)
{
	for (uint32_t i = 0; i < t->n_sets; i++)
		t->sets[i].marked = false;
	labels_mark(t, LABELS_EMPTY);
}

void
labels_mark(struct labels *t, uint32_t set)
{
	if (set < t->n_sets)
		t->sets[set].marked = true;
}

void
labels_sweep(struct labels *t)
{
	for (uint32_t i = 0; i < t->n_sets; i++) {
		if (t->sets[i].labels == NULL || t->sets[i].marked)
			continue;
		free(t->sets[i].labels);
		give_number(t, i);
		t->n_used--;
	}
	place_all(t);
}
