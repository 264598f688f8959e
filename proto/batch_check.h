/* What a receiver asks of a batch before it believes a word; the limits stand in codec.h. Inside proto alone. */
#ifndef HIWAT_PROTO_BATCH_CHECK_H
#define HIWAT_PROTO_BATCH_CHECK_H

#include <stdbool.h>

#include "hiwat.pb-c.h"

struct arena;

/* Of one batch. Zero-initialise. */
struct check {
	size_t n_samples;
	int err;
	const char *why; /* static */
};

/* Notes the error; false. */
bool check_fail(struct check *c, int err, const char *why);
/* Notes why protobuf-c refused to unpack into the arena; false. */
bool check_unpacked(struct check *c, const struct arena *arena);
/* The following are false when something is wrong, which then stands in c. */
/* All but the records. */
bool check_envelope(struct check *c, const Hiwat__Batch *b, size_t n_records);
/* So many numbers more. */
bool check_count(struct check *c, size_t n_samples);
bool check_record(struct check *c, const Hiwat__Record *r);

#endif
