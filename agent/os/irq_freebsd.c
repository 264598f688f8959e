/* hw.intrcnt, an array of unsigned long, and hw.intrnames, as many strings one after the other (sys/kern/kern_intr.c). */
#include <string.h>

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "kernel_bsd.h"

int
irq_counts(struct fetch *f, struct arena *arena, struct irq_count **rows, size_t *n)
{
	struct text raw, names;
	size_t kept = 0;
	int err = sysctl_read(f, "hw.intrcnt", &raw);

	if (err != HIWAT_OK)
		return err;
	size_t total = raw.n / sizeof(unsigned long);
	struct irq_count *out = arena_calloc(arena, total, sizeof(*out));
	if (out == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < total; i++) {
		unsigned long count;
		memcpy(&count, raw.p + i * sizeof(count), sizeof(count));
		out[i].count = count;
	}
	err = sysctl_read(f, "hw.intrnames", &names);
	if (err != HIWAT_OK)
		return err;
	for (size_t i = 0; i < total && names.n > 0; i++) {
		const char *end = memchr(names.p, '\0', names.n);
		if (end == NULL)
			return fetch_done(f, "sysctl", "hw.intrnames", clock_mono_ns(), HIWAT_E_TRUNCATED, 0, names.n);
		struct text name = text_trim((struct text){ names.p, (size_t)(end - names.p) });
		names.n -= (size_t)(end - names.p) + 1;
		names.p = end + 1;
		if (name.n == 0)
			continue;
		out[kept] = out[i];
		out[kept++].name = name;
	}
	*rows = out;
	*n = kept;
	return HIWAT_OK;
}
