#include "live.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WRAP (UINT64_C(1) << 32)

struct entry {
	char name[LIVE_NAME_MAX + 1];
	struct live_row row;
	uint64_t reading; /* the last one in which it was asked for */
	uint64_t *before; /* owned; by place of the CPU in live.cpus */
	bool *was_seen;   /* owned; the same */
	size_t n_cells;
};

struct live {
	uint64_t reading;
	size_t next; /* where the row after the last one asked for should be */
	struct entry *entries;
	size_t n_entries, capacity;
	uint32_t *cpus; /* ids in the order of their appearance */
	size_t n_cpus, cpu_capacity;
};

struct live *
live_new(void)
{
	return calloc(1, sizeof(struct live));
}

static void
entry_fini(struct entry *e)
{
	free(e->before);
	free(e->was_seen);
}

void
live_free(struct live *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->n_entries; i++)
		entry_fini(&l->entries[i]);
	free(l->entries);
	free(l->cpus);
	free(l);
}

void
live_begin(struct live *l)
{
	l->reading++;
	l->next = 0;
}

uint64_t
live_growth(uint64_t before, uint64_t now)
{
	if (now >= before)
		return now - before;
	uint64_t back = before - now;
	return back < WRAP && WRAP - back < WRAP / 2 ? WRAP - back : now;
}

/* Drops rows that the reading before this one did not have: interrupts of devices that are gone. */
static void
forget(struct live *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n_entries; i++) {
		if (l->entries[i].reading + 1 < l->reading)
			entry_fini(&l->entries[i]);
		else
			l->entries[kept++] = l->entries[i];
	}
	l->n_entries = kept;
}

static struct entry *
entry_new(struct live *l, struct text name)
{
	if (name.n > LIVE_NAME_MAX)
		name.n = LIVE_NAME_MAX;
	if (l->n_entries == l->capacity)
		forget(l);
	if (l->n_entries == l->capacity) {
		size_t capacity = l->capacity == 0 ? 64 : l->capacity * 2;
		if (capacity > LIVE_ROWS_MAX)
			return NULL;
		struct entry *bigger = realloc(l->entries, capacity * sizeof(*bigger));
		if (bigger == NULL)
			return NULL;
		l->entries = bigger;
		l->capacity = capacity;
	}
	struct entry *e = &l->entries[l->n_entries++];
	*e = (struct entry){ .reading = 0 };
	memcpy(e->name, name.p, name.n);
	return e;
}

/* The next entry of this name that was, or was not, asked for in this reading. */
static struct entry *
entry_find(struct live *l, struct text name, bool was_asked_for)
{
	if (name.n > LIVE_NAME_MAX)
		name.n = LIVE_NAME_MAX;
	for (size_t i = 0; i < l->n_entries; i++) {
		size_t at = l->next + i < l->n_entries ? l->next + i : l->next + i - l->n_entries;
		struct entry *e = &l->entries[at];
		if ((e->reading == l->reading) == was_asked_for && text_eq(name, e->name)) {
			l->next = at + 1 < l->n_entries ? at + 1 : 0;
			return e;
		}
	}
	return NULL;
}

static struct entry *
entry_get(struct live *l, struct text name, bool *is_new)
{
	struct entry *e = entry_find(l, name, false);

	*is_new = e == NULL;
	return e != NULL ? e : entry_new(l, name);
}

/* The place of a CPU: mostly the column it stood in before. -1: too many, or no memory. */
static long
cpu_place(struct live *l, uint32_t cpu, size_t guess)
{
	if (guess < l->n_cpus && l->cpus[guess] == cpu)
		return (long)guess;
	for (size_t i = 0; i < l->n_cpus; i++) {
		if (l->cpus[i] == cpu)
			return (long)i;
	}
	if (l->n_cpus == l->cpu_capacity) {
		size_t capacity = l->cpu_capacity == 0 ? 8 : l->cpu_capacity * 2;
		uint32_t *bigger = capacity > LIVE_CPUS_MAX ? NULL : realloc(l->cpus, capacity * sizeof(*bigger));
		if (bigger == NULL)
			return -1;
		l->cpus = bigger;
		l->cpu_capacity = capacity;
	}
	l->cpus[l->n_cpus] = cpu;
	return (long)l->n_cpus++;
}

static bool
entry_reserve(struct entry *e, size_t n)
{
	if (n <= e->n_cells)
		return true;
	uint64_t *before = realloc(e->before, n * sizeof(*before));
	if (before == NULL)
		return false;
	e->before = before;
	bool *was_seen = realloc(e->was_seen, n * sizeof(*was_seen));
	if (was_seen == NULL)
		return false;
	e->was_seen = was_seen;
	memset(e->before + e->n_cells, 0, (n - e->n_cells) * sizeof(*before));
	memset(e->was_seen + e->n_cells, 0, (n - e->n_cells) * sizeof(*was_seen));
	e->n_cells = n;
	return true;
}

struct live_row *
live_add(struct live *l, struct text name, const uint32_t *cpus, const uint64_t *raw, size_t n)
{
	bool is_new;
	struct entry *e = entry_get(l, name, &is_new);
	uint64_t grown = 0;

	if (e == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		long place = cpu_place(l, cpus[i], i);
		if (place < 0 || !entry_reserve(e, l->n_cpus))
			return NULL;
		if (is_new)
			e->row.total += raw[i];
		else if (e->was_seen[place])
			grown += live_growth(e->before[place], raw[i]);
		e->before[place] = raw[i];
		e->was_seen[place] = true;
	}
	e->row.total += grown;
	/* A row that comes later than the first reading began at 0 meanwhile. */
	e->row.grown = is_new && l->reading > 1 ? e->row.total : grown;
	e->reading = l->reading;
	return &e->row;
}

struct live_row *
live_add_one(struct live *l, struct text name, uint64_t raw)
{
	static const uint32_t none = UINT32_MAX;

	return live_add(l, name, &none, &raw, 1);
}

struct live_row *
live_add_wavering(struct live *l, struct text name, uint64_t raw, uint64_t slack)
{
	bool is_new;
	struct entry *e = entry_get(l, name, &is_new);

	if (e == NULL || !entry_reserve(e, 1))
		return NULL;
	uint64_t before = is_new ? 0 : e->before[0];
	e->row.grown = raw > before ? raw - before : 0;
	e->row.total += e->row.grown;
	if (is_new)
		e->row.grown = 0;
	if (raw >= before || before - raw > slack)
		e->before[0] = raw;
	e->reading = l->reading;
	return &e->row;
}

struct live_row *
live_find(struct live *l, struct text name)
{
	struct entry *e = entry_find(l, name, true);

	return e != NULL ? &e->row : NULL;
}

void
live_rewind(struct live *l)
{
	l->next = 0;
}
