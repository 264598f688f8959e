#include "mbuf_dump.h"

#include <string.h>

#include "err.h"
#include "record_row.h"

static const char *const row_names[MBUF_ANY + 1] = {
	[MBUF_MBUF] = "mbuf",
	[MBUF_CLUSTER] = "cluster",
	[MBUF_CLUSTER_PAGE] = "cluster_page",
	[MBUF_PACKET] = "packet",
	[MBUF_JUMBO] = "jumbo",
	[MBUF_JUMBO_PAGE] = "jumbo_page",
	[MBUF_JUMBO_9K] = "jumbo_9k",
	[MBUF_JUMBO_16K] = "jumbo_16k",
	[MBUF_MCL2K] = "mcl2k",
	[MBUF_MCL2K2] = "mcl2k2",
	[MBUF_MCL4K] = "mcl4k",
	[MBUF_MCL8K] = "mcl8k",
	[MBUF_MCL9K] = "mcl9k",
	[MBUF_MCL12K] = "mcl12k",
	[MBUF_MCL16K] = "mcl16k",
	[MBUF_MCL64K] = "mcl64k",
	[MBUF_ANY] = "any",
};

void
mbuf_dump_reset(struct mbuf_dump *d)
{
	memset(d->has, 0, sizeof(d->has));
	d->n_types = 0;
	d->has_ratio = d->has_sendfile_io = d->has_drain_calls = false;
}

bool
mbuf_dump_is_empty(const struct mbuf_dump *d)
{
	unsigned any = 0;

	for (unsigned row = 0; row < MBUF_ROWS; row++)
		any |= d->has[row];
	return any == 0 && d->n_types == 0 && !d->has_ratio && !d->has_sendfile_io && !d->has_drain_calls;
}

bool
mbuf_dump_has(const struct mbuf_dump *d, enum mbuf_row row, enum mbuf_column column)
{
	return (d->has[row] & 1u << column) != 0;
}

/* in use is one unsynchronised counter less another: a little below zero, at the width of the system's long. */
static bool
is_below_zero(uint64_t value)
{
	return value > INT64_MAX || (value <= UINT32_MAX && value > UINT32_MAX - 0x10000);
}

static bool
is_no_limit(enum mbuf_row row, uint64_t value)
{
	uint64_t most = row == MBUF_BYTES ? (uint64_t)UINT32_MAX << 10 : INT32_MAX;

	return value == 0 || value >= most;
}

void
mbuf_dump_set(struct mbuf_dump *d, enum mbuf_row row, enum mbuf_column column, uint64_t value)
{
	bool is_gauge = column == MBUF_IN_USE || column == MBUF_CACHED || column == MBUF_ALLOCATED;

	if (value > INT64_MAX || (is_gauge && row != MBUF_BYTES && is_below_zero(value)))
		value = 0;
	if (column == MBUF_LIMIT && is_no_limit(row, value)) {
		d->has[row] &= ~(1u << column);
		return;
	}
	d->has[row] |= 1u << column;
	d->values[row][column] = value;
}

bool
mbuf_dump_add_type(struct mbuf_dump *d, struct text name, uint64_t in_use)
{
	if (is_below_zero(in_use))
		in_use = 0;
	if (d->n_types == MBUF_TYPES_MAX)
		return false;
	d->types[d->n_types].name = name;
	d->types[d->n_types].in_use = in_use;
	d->n_types++;
	return true;
}

/* Sets a field of a message from a column of a row, if it has one. */
#define COPY(d, row, column, message, field) \
	do { \
		if (mbuf_dump_has((d), (row), (column))) \
			RECORD_SET((message), field, (d)->values[row][column]); \
	} while (0)

static int
write_pool(const struct mbuf_dump *d, enum mbuf_row row, struct arena *arena, Hiwat__Mbuf *mbuf)
{
	const unsigned requests = 1u << MBUF_DENIED | 1u << MBUF_DELAYED;

	if ((d->has[row] & ~requests) != 0) {
		Hiwat__MbufPool *pool = RECORD_ADD(arena, mbuf, pools, mbuf_pool);
		if (pool == NULL || (pool->pool = record_label(arena, text_of(row_names[row]))) == NULL)
			return HIWAT_E_NOMEM;
		COPY(d, row, MBUF_IN_USE, pool, in_use);
		COPY(d, row, MBUF_CACHED, pool, cached);
		COPY(d, row, MBUF_ALLOCATED, pool, allocated);
		COPY(d, row, MBUF_PEAK, pool, peak);
		COPY(d, row, MBUF_LIMIT, pool, limit);
		COPY(d, row, MBUF_ITEM_BYTES, pool, item_bytes);
	}
	if ((d->has[row] & requests) != 0) {
		Hiwat__MbufRequestsByPool *r = RECORD_ADD(arena, mbuf, requests, mbuf_requests_by_pool);
		if (r == NULL || (r->pool = record_label(arena, text_of(row_names[row]))) == NULL)
			return HIWAT_E_NOMEM;
		COPY(d, row, MBUF_DENIED, r, denied_total);
		COPY(d, row, MBUF_DELAYED, r, delayed_total);
	}
	return HIWAT_OK;
}

int
mbuf_dump_write(const struct mbuf_dump *d, struct arena *arena, Hiwat__Record *record)
{
	Hiwat__Mbuf *mbuf = RECORD_ONE(arena, record, mbuf, mbuf);

	if (mbuf == NULL)
		return HIWAT_E_NOMEM;
	for (unsigned row = 0; row <= MBUF_ANY; row++) {
		if (d->has[row] != 0 && write_pool(d, (enum mbuf_row)row, arena, mbuf) != HIWAT_OK)
			return HIWAT_E_NOMEM;
	}
	for (unsigned i = 0; i < d->n_types; i++) {
		Hiwat__MbufType *type = RECORD_ROW(arena, mbuf, types, mbuf_type, d->types[i].name);
		if (type == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(type, in_use, type->in_use + d->types[i].in_use);
	}
	COPY(d, MBUF_BYTES, MBUF_IN_USE, mbuf, bytes_in_use);
	COPY(d, MBUF_BYTES, MBUF_CACHED, mbuf, bytes_cached);
	COPY(d, MBUF_BYTES, MBUF_ALLOCATED, mbuf, bytes_allocated);
	COPY(d, MBUF_BYTES, MBUF_PEAK, mbuf, bytes_peak);
	COPY(d, MBUF_BYTES, MBUF_LIMIT, mbuf, bytes_limit);
	COPY(d, MBUF_SFBUFS, MBUF_IN_USE, mbuf, sfbufs_in_use);
	COPY(d, MBUF_SFBUFS, MBUF_PEAK, mbuf, sfbufs_peak);
	COPY(d, MBUF_SFBUFS, MBUF_LIMIT, mbuf, sfbufs_limit);
	COPY(d, MBUF_SFBUFS, MBUF_DENIED, mbuf, sfbuf_requests_denied_total);
	COPY(d, MBUF_SFBUFS, MBUF_DELAYED, mbuf, sfbuf_requests_delayed_total);
	if (d->has_ratio)
		RECORD_SET(mbuf, memory_used_ratio, d->ratio);
	if (d->has_sendfile_io)
		RECORD_SET(mbuf, sendfile_io_total, d->sendfile_io);
	if (d->has_drain_calls)
		RECORD_SET(mbuf, drain_calls_total, d->drain_calls);
	return HIWAT_OK;
}
