/*
 * Label sets, each kept once and known by a number: series of all hosts share them, and comparing labels is comparing
 * numbers. Bounded; sets that nothing uses any more are found by marking. Not thread-safe: the pipeline's lock guards it.
 */
#ifndef HIWAT_COLLECTOR_LABELS_H
#define HIWAT_COLLECTOR_LABELS_H

#include <stdint.h>

#include "catalogue.h"

struct labels;
struct series_list;

#define LABELS_EMPTY 0u        /* the set without labels; always there */
#define LABELS_FULL UINT32_MAX /* no room for a new set */

/* max_sets: ceiling of sets. NULL when memory is out. */
struct labels *labels_new(uint32_t max_sets);
void labels_free(struct labels *t);

/*
 * The number of this set; labels by name, alphabetical, as catalogue_walk() gives them; strings are copied.
 * LABELS_FULL at the ceiling or when memory is out.
 */
uint32_t labels_intern(struct labels *t, const struct sample_label *labels, unsigned n);
/* The labels of a set, by name, alphabetical; borrowed until the set is swept. */
const struct sample_label *labels_get(const struct labels *t, uint32_t set, unsigned *n);
/* Value of one label of a set, or NULL. */
const char *labels_value(const struct labels *t, uint32_t set, const char *name);
/* Where the lists of series with this hash begin, see series.h; NULL when memory is out. */
struct series_list **labels_series(struct labels *t, uint64_t hash);
/* Sets now held. */
uint32_t labels_count(const struct labels *t);

/* Freeing: begin, mark each set still in use, sweep the rest. */
void labels_mark_begin(struct labels *t);
void labels_mark(struct labels *t, uint32_t set);
void labels_sweep(struct labels *t);

#endif
