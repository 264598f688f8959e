/*
 * Batches as a receiver takes them in, fast. From one batch to the next of a host only numbers change: a record that
 * protobuf-c made has a skeleton, a keyed hash of all but its numbers, and records of one skeleton have the same series in the
 * same order. Once a record with a skeleton was unpacked and checked, those that follow need neither: their numbers are taken
 * from the wire. What is not in that form, or seldom, is unpacked.
 */
#ifndef HIWAT_PROTO_INTAKE_H
#define HIWAT_PROTO_INTAKE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "buf.h"
#include "codec.h"

struct intake_record {
	/*
	 * 0: only the unpacked record will do. Else values hold its numbers in the order of catalogue_walk(), those of its
	 * status first; its verdict is ok and it has no reason.
	 */
	uint64_t skeleton;
	const double *values;
	uint32_t n_values, n_status;
	const uint8_t *data; /* on the wire */
	size_t len;
	const Hiwat__Record *unpacked; /* NULL: not yet */
};

/* Lives until the next batch of its intake; so do the bytes it was decoded from, which it borrows. */
struct intake_batch {
	const Hiwat__Batch *envelope; /* without its records */
	size_t n_records;
	struct intake_record records[CODEC_RECORDS_MAX];
	struct arena *arena;
};

/* One for each thread. */
struct intake {
	uint64_t key;
	struct arena arena;
	struct buf envelope;
	double *values;
	uint64_t *checked; /* skeletons, each at the place that its hash gives it */
	struct intake_batch batch;
};

/* key: random, the same for all whose batches meet in one place, known to no sender. Memory is taken with the first batch. */
void intake_init(struct intake *in, uint64_t key);
void intake_fini(struct intake *in);

/* Decodes and checks as batch_decode() does, with the same errors. *out is borrowed. */
int intake_decode(struct intake *in, const uint8_t *data, size_t len, struct intake_batch **out, const char **why);

/* The record in whole, unpacked on demand; NULL when memory is out. Borrowed from the batch. */
const Hiwat__Record *intake_unpack(struct intake_batch *b, size_t index);

#endif
