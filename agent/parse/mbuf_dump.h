/*
 * What one dump of netstat -m says, before it becomes a record: a fixed table, so that a file with a thousand dumps costs
 * no more memory than one, and so that text and JSON end in the same record.
 */
#ifndef HIWAT_AGENT_MBUF_DUMP_H
#define HIWAT_AGENT_MBUF_DUMP_H

#include <stdbool.h>

#include "record.h"

struct arena;

/* Rows of the table. The last two are no pools but have the same columns. */
enum mbuf_row {
	MBUF_MBUF,
	MBUF_CLUSTER,
	MBUF_CLUSTER_PAGE,
	MBUF_PACKET,
	MBUF_JUMBO,
	MBUF_JUMBO_PAGE,
	MBUF_JUMBO_9K,
	MBUF_JUMBO_16K,
	MBUF_MCL2K,
	MBUF_MCL2K2,
	MBUF_MCL4K,
	MBUF_MCL8K,
	MBUF_MCL9K,
	MBUF_MCL12K,
	MBUF_MCL16K,
	MBUF_MCL64K,
	MBUF_ANY,    /* requests that name no pool */
	MBUF_BYTES,  /* memory of the network, in bytes */
	MBUF_SFBUFS, /* sendfile buffers */
	MBUF_ROWS,
};

enum mbuf_column {
	MBUF_IN_USE,
	MBUF_CACHED,
	MBUF_ALLOCATED,
	MBUF_PEAK,
	MBUF_LIMIT,
	MBUF_ITEM_BYTES,
	MBUF_DENIED,
	MBUF_DELAYED,
	MBUF_COLUMNS,
};

#define MBUF_TYPES_MAX 64 /* 15 to 30 types exist */

struct mbuf_dump {
	unsigned has[MBUF_ROWS]; /* bit 1 << column */
	uint64_t values[MBUF_ROWS][MBUF_COLUMNS];
	unsigned n_types;
	struct {
		struct text name; /* borrowed from the text */
		uint64_t in_use;
	} types[MBUF_TYPES_MAX]; /* as they come, one perhaps twice */
	bool has_ratio, has_sendfile_io, has_drain_calls;
	double ratio;
	uint64_t sendfile_io, drain_calls;
};

void mbuf_dump_reset(struct mbuf_dump *d);
bool mbuf_dump_is_empty(const struct mbuf_dump *d);
bool mbuf_dump_has(const struct mbuf_dump *d, enum mbuf_row row, enum mbuf_column column);
/*
 * Stores a value as printed, a later one for an earlier one. Differences that went below zero become 0, whether printed
 * signed or as nearly 2^32 or 2^64. A limit of 0 and one beyond any machine (the product of UINT_MAX pages) mean none: not
 * stored.
 */
void mbuf_dump_set(struct mbuf_dump *d, enum mbuf_row row, enum mbuf_column column, uint64_t value);
/* False when there is no room for another type. */
bool mbuf_dump_add_type(struct mbuf_dump *d, struct text name, uint64_t in_use);
/* Adds record->mbuf; types of one name add up. 0 or HIWAT_E_NOMEM. */
int mbuf_dump_write(const struct mbuf_dump *d, struct arena *arena, Hiwat__Record *record);

#endif
