/*
 * The catalogue of metrics: names, labels, types, units and help of every number in a Record, made at build time from
 * hiwat.proto and its comments (catalogue_gen.c). The naming rules stand at the head of hiwat.proto.
 */
#ifndef HIWAT_PROTO_CATALOGUE_H
#define HIWAT_PROTO_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hiwat.pb-c.h"

struct buf;

#define CATALOGUE_LABELS_MAX 6 /* labels of one series; catalogue_gen refuses more */

struct metric {
	const char *name;
	const char *help;
	const char *unit; /* "seconds", "bytes", ..., or "" */
	bool is_counter;  /* else a gauge */
	unsigned n_labels;
	const char *labels[CATALOGUE_LABELS_MAX]; /* alphabetical */
};

/* All metrics, by name in alphabetical order; an index into this array is a metric's id. */
extern const struct metric catalogue_metrics[];
extern const unsigned catalogue_n_metrics;

/* Id of the metric with this name, or -1. name need not end in NUL. */
int catalogue_find(const char *name, size_t len);

struct sample_label {
	const char *name;  /* static */
	const char *value; /* borrowed from the record */
};

/* One number of a record with its full series name. */
struct sample {
	unsigned metric;
	unsigned n_labels;
	const struct sample_label *labels; /* by name, alphabetical; valid during the call */
	bool is_integer;                   /* the exact value is in integer, else in value alone */
	uint64_t integer;
	double value;
};

/*
 * Calls fn for each number of the record, in the order of the record's fields. Stops and returns false as soon as fn does;
 * true when all were visited. Absent fields are not visited.
 */
bool catalogue_walk(const Hiwat__Record *record, bool (*fn)(void *arg, const struct sample *s), void *arg);

/* Appends name{label="value",...} with values escaped as Prometheus text wants it; no braces without labels. */
void series_write(struct buf *out, const char *name, const struct sample_label *labels, unsigned n_labels);

/*
 * Appends a record as Prometheus text with HELP and TYPE lines, grouped by metric, no time stamps. Memory comes from the
 * heap for the time of the call. HIWAT_E_NOMEM when memory or the buffer's ceiling runs out.
 */
int record_write_text(struct buf *out, const Hiwat__Record *const *records, size_t n_records);

#endif
