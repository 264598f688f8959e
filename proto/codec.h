/* Batches to and from wire bytes, with the limits that every receiver applies before it believes a word. */
#ifndef HIWAT_PROTO_CODEC_H
#define HIWAT_PROTO_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "hiwat.pb-c.h"

struct arena;
struct buf;

#define CODEC_VERSION 1
#define CODEC_BATCH_MAX (1u << 20)  /* bytes of one encoded batch */
#define CODEC_ARENA_MAX (16u << 20) /* bytes that decoding one batch may take */
#define CODEC_RECORDS_MAX 64        /* records of one batch */
#define CODEC_SERIES_MAX 20000      /* numbers of one batch */
#define CODEC_LABEL_MAX 255         /* bytes of one label value, host name or host label */
#define CODEC_HOST_LABELS_MAX 32
#define CODEC_REASON_MAX 1024

/* Lets protobuf-c unpack into an arena, which frees everything at once. Copy it; the arena must outlive what is unpacked. */
ProtobufCAllocator codec_allocator(struct arena *arena);

/* Appends the batch. HIWAT_E_TOOBIG when it exceeds CODEC_BATCH_MAX, HIWAT_E_NOMEM when the buffer is at its ceiling. */
int batch_encode(const Hiwat__Batch *batch, struct buf *out);

/*
 * Decodes and checks one batch; *out lives in the arena. On failure *why, when not NULL, is a static sentence for the
 * sender. HIWAT_E_TOOBIG: more bytes, records, numbers or label bytes than the limits above. HIWAT_E_FORMAT: not a batch,
 * an identity of the wrong length, text that is not UTF-8 or holds control characters, NaN or an infinity.
 * HIWAT_E_VERSION: a version that this build does not know. HIWAT_E_NOMEM: memory is out.
 */
int batch_decode(const uint8_t *data, size_t len, struct arena *arena, Hiwat__Batch **out, const char **why);

/* Acknowledgements; decoding gives HIWAT_E_FORMAT for anything else. */
int ack_encode(const Hiwat__Ack *ack, struct buf *out);
int ack_decode(const uint8_t *data, size_t len, struct arena *arena, Hiwat__Ack **out);

/* zstd; level 1. Appends. */
int codec_compress(const uint8_t *data, size_t len, struct buf *out);
/* Appends at most limit bytes: HIWAT_E_TOOBIG when the content is larger, HIWAT_E_FORMAT when it is not zstd. */
int codec_decompress(const uint8_t *data, size_t len, size_t limit, struct buf *out);

#endif
