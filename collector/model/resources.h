/*
 * Limited resources of a host: which value is used up against which limit, how much is free, and when it will be used up
 * at the present trend. A new resource is a row of the table in resources.c.
 */
#ifndef HIWAT_COLLECTOR_RESOURCES_H
#define HIWAT_COLLECTOR_RESOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "view.h"

struct track;

/* One resource of one host: where its use and its limit stand among the host's values, and its trend. */
struct resource {
	const char *name; /* mbuf_pool, files, ...; static */
	uint32_t labels;  /* of the use */
	uint16_t use_set, limit_set;
	uint32_t use_index, limit_index;
	uint32_t n_seen;
	double use, limit; /* the newest */
	double slope;      /* units a second, smoothed */
	uint64_t boot_ns;  /* of the newest use */
};

struct resources {
	struct resource *rows; /* owned */
	size_t n;
	uint64_t shapes; /* of the sets that the rows point into */
};

/*
 * Reads uses and limits from the track and moves the trends. Allocates only when the host's series changed. HIWAT_E_NOMEM
 * leaves the rows as they were.
 */
int resources_update(struct resources *r, const struct track *t, const struct labels *labels, uint64_t boot_ns);
void resources_fini(struct resources *r);

/* Share still free, 0 to 1; below 0 when more is used than the limit allows. */
double resource_headroom(const struct resource *r);
/* Seconds until the limit at the present trend; NaN when it does not approach, or is more than 30 days away. */
double resource_exhaustion(const struct resource *r);

#endif
