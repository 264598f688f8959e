/* kern.intrcnt: four questions a source; a source without a vector has no number (sys/kern/subr_evcount.c). */
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "err.h"
#include "kernel_bsd.h"

#define SOURCES_MAX 4096

static int
read_name(struct fetch *f, struct arena *arena, int i, struct text *name)
{
	char joined[96];
	struct text raw;
	int vector;
	int err = sysctl_read_row(f, "kern.intrcnt.name", i, &raw);

	if (err != HIWAT_OK)
		return err;
	char device[64] = "";
	memcpy(device, raw.p, raw.n < sizeof(device) ? raw.n : sizeof(device) - 1);
	err = sysctl_read_row(f, "kern.intrcnt.vector", i, &raw);
	if (err != HIWAT_OK && err != HIWAT_E_MISSING)
		return err;
	if (err == HIWAT_OK && raw.n == sizeof(vector)) {
		memcpy(&vector, raw.p, sizeof(vector));
		snprintf(joined, sizeof(joined), "irq%d/%s", vector, device);
	} else {
		snprintf(joined, sizeof(joined), "%s", device);
	}
	const char *copy = arena_strndup(arena, joined, strlen(joined));
	if (copy == NULL)
		return HIWAT_E_NOMEM;
	*name = text_of(copy);
	return HIWAT_OK;
}

int
irq_counts(struct fetch *f, struct arena *arena, struct irq_count **rows, size_t *n)
{
	uint64_t total;
	size_t kept = 0;
	int err = sysctl_u64(f, "kern.intrcnt.nintrcnt", &total);

	if (err != HIWAT_OK)
		return err;
	if (total > SOURCES_MAX)
		total = SOURCES_MAX;
	struct irq_count *out = arena_calloc(arena, (size_t)total, sizeof(*out));
	if (out == NULL)
		return HIWAT_E_NOMEM;
	for (uint64_t i = 0; i < total; i++) {
		struct text raw;
		err = sysctl_read_row(f, "kern.intrcnt.cnt", (int)i, &raw);
		if (err == HIWAT_OK && raw.n == sizeof(out->count)) {
			memcpy(&out[kept].count, raw.p, sizeof(out->count));
			err = read_name(f, arena, (int)i, &out[kept].name);
			kept += err == HIWAT_OK;
		}
		/* A source that went while they were asked. */
		if (err != HIWAT_OK && err != HIWAT_E_MISSING)
			return err;
	}
	*rows = out;
	*n = kept;
	return HIWAT_OK;
}
