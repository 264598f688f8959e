/*
 * Which series a sampler delivers, in the record's order, without their values. Hosts that deliver the same share one list.
 * Lists live in the table of the label sets that they name. Not thread-safe: the pipeline's lock guards them.
 */
#ifndef HIWAT_COLLECTOR_SERIES_H
#define HIWAT_COLLECTOR_SERIES_H

#include <stdint.h>

struct labels;

struct series_key {
	uint32_t labels; /* label set */
	uint16_t metric; /* id in the catalogue */
};

struct series_list {
	struct series_list *next, **at; /* in its bucket; at NULL: the table is gone */
	uint64_t hash;
	uint32_t users;
	uint32_t n;
	struct series_key series[];
};

#define SERIES_BUCKETS 4096

/* The list of these series, for one more user. NULL when memory is out. */
struct series_list *series_share(struct labels *t, const struct series_key *series, uint32_t n);
/* One more user of a list, which may be NULL. */
struct series_list *series_use(struct series_list *list);
/* One user less; the last one frees it. Fine with NULL. */
void series_release(struct series_list *list);

#endif
