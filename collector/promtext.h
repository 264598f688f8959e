/* Prometheus text, as hiwat-agent parse and once print it, to the values that rules judge. */
#ifndef HIWAT_COLLECTOR_PROMTEXT_H
#define HIWAT_COLLECTOR_PROMTEXT_H

#include <stddef.h>

#include "labels.h"
#include "scan.h"
#include "view.h"

/* What was read; free() values. */
struct promtext {
	struct series_value *values;
	uint32_t n_values;
	unsigned unknown; /* series that are in no catalogue of this build */
	char os[16];      /* from a comment "# os NAME", which parse writes when it was told; else "" */
};

/*
 * HIWAT_E_FORMAT: a line is not Prometheus text, *bad_line is its number, from 1. HIWAT_E_NOMEM. Nothing is kept on
 * failure. Time stamps behind values are ignored.
 */
int promtext_read(struct text text, struct labels *labels, struct promtext *out, unsigned *bad_line);

#endif
