#include "units.h"

#include <inttypes.h>

#include "buf.h"
#include "err.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* Larger first; "ms" before "m" in matching is seen to by taking whole words of letters. */
static const struct unit duration_units[] = {
	{ "w", 7 * 86400000ULL },
	{ "d", 86400000 },
	{ "h", 3600000 },
	{ "m", 60000 },
	{ "s", 1000 },
	{ "ms", 1 },
	{ NULL, 0 },
};
static const struct unit size_units[] = {
	{ "TiB", 1ULL << 40 },
	{ "GiB", 1ULL << 30 },
	{ "MiB", 1ULL << 20 },
	{ "KiB", 1ULL << 10 },
	{ "B", 1 },
	{ NULL, 0 },
};

/* The letters at the start of *t as one of the units; NULL when they are none. */
static const struct unit *
unit_of(struct text *t, const struct unit *units)
{
	size_t n = 0;

	while (n < t->n && ((t->p[n] >= 'a' && t->p[n] <= 'z') || (t->p[n] >= 'A' && t->p[n] <= 'Z')))
		n++;
	for (const struct unit *u = units; u->name != NULL; u++) {
		if (text_eq((struct text){ t->p, n }, u->name)) {
			t->p += n;
			t->n -= n;
			return u;
		}
	}
	return NULL;
}

int
units_parse_duration(struct text t, uint64_t *ms)
{
	uint64_t sum = 0, value, largest = UINT64_MAX;

	if (text_eq(t, "0")) {
		*ms = 0;
		return HIWAT_OK;
	}
	if (t.n == 0)
		return HIWAT_E_FORMAT;
	while (t.n > 0) {
		int err = text_u64(&t, &value);
		if (err != 0)
			return err;
		const struct unit *u = unit_of(&t, duration_units);
		if (u == NULL || u->factor >= largest)
			return HIWAT_E_FORMAT;
		if (value > (UINT64_MAX - sum) / u->factor)
			return HIWAT_E_RANGE;
		sum += value * u->factor;
		largest = u->factor;
	}
	*ms = sum;
	return HIWAT_OK;
}

int
units_parse_size(struct text t, uint64_t *bytes)
{
	uint64_t value, factor = 1;

	int err = text_u64(&t, &value);
	if (err != 0)
		return err;
	if (t.n > 0) {
		const struct unit *u = unit_of(&t, size_units);
		if (u == NULL || t.n > 0)
			return HIWAT_E_FORMAT;
		factor = u->factor;
	}
	if (value > UINT64_MAX / factor)
		return HIWAT_E_RANGE;
	*bytes = value * factor;
	return HIWAT_OK;
}

void
units_put_duration(struct buf *out, uint64_t ms)
{
	if (ms == 0) {
		buf_puts(out, "0");
		return;
	}
	for (const struct unit *u = duration_units; u->name != NULL; u++) {
		if (ms >= u->factor) {
			buf_printf(out, "%" PRIu64 "%s", ms / u->factor, u->name);
			ms %= u->factor;
		}
	}
}

void
units_put_size(struct buf *out, uint64_t bytes)
{
	for (const struct unit *u = size_units; u->factor > 1; u++) {
		if (bytes >= u->factor && bytes % u->factor == 0) {
			buf_printf(out, "%" PRIu64 "%s", bytes / u->factor, u->name);
			return;
		}
	}
	buf_printf(out, "%" PRIu64, bytes);
}
