/* What the rules and the API see of one host: its newest values, sampler by sampler. Everything here is borrowed. */
#ifndef HIWAT_COLLECTOR_VIEW_H
#define HIWAT_COLLECTOR_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "catalogue.h"
#include "labels.h"
#include "series.h"

/* Outcome of a sample; the words stand in hiwat.proto at SamplerVerdict. */
enum verdict {
	VERDICT_OK,
	VERDICT_DENIED,
	VERDICT_MISSING,
	VERDICT_TIMEOUT,
	VERDICT_TRUNCATED,
	VERDICT_IMPLAUSIBLE,
	VERDICT_UNKNOWN_FORMAT,
	VERDICT_FAILED,
};

/* FAILED for a word that this build does not know. */
enum verdict verdict_of(const char *word);
const char *verdict_word(enum verdict v);

/* The last record of one sampler. */
struct sample_set {
	const char *sampler;
	enum verdict verdict;      /* other than ok: values are those of the last good record and count as unknown */
	const char *reason;        /* why, or "" */
	uint64_t boot_ns, wall_ns; /* of the last record, good or not */
	uint64_t good_boot_ns;     /* of the last good record */
	uint32_t shape;            /* changes when, and only when, series does */
	uint32_t n_values;
	struct series_list *series; /* what the values are; NULL before the first */
	double *values;             /* in the record's order */
};

/* One number of a record and what it is. */
struct series_value {
	uint32_t labels; /* label set */
	uint16_t metric; /* id in the catalogue */
	double value;
};

static inline struct series_value
sample_value(const struct sample_set *s, uint32_t i)
{
	const struct series_key *key = &s->series->series[i];

	return (struct series_value){ key->labels, key->metric, s->values[i] };
}

/*
 * Puts these series and values, which are copied, into a set; to be cleared in the end. shape tells of the change.
 * HIWAT_E_NOMEM leaves it without values.
 */
int sample_set_put(struct sample_set *set, struct labels *labels, const struct series_value *values, uint32_t n);
void sample_set_clear(struct sample_set *set);

struct host_view {
	const struct labels *labels;
	const char *name, *os, *release;
	const struct sample_label *host_labels; /* from the agent's configuration: role, site, ... */
	unsigned n_host_labels;
	uint64_t boot_time; /* Unix seconds */
	size_t n_sets;
	const struct sample_set *sets;
};

#endif
