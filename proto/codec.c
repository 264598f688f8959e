#include "codec.h"

#include <string.h>
#include <zstd.h>

#include "arena.h"
#include "buf.h"
#include "batch_check.h"
#include "err.h"

static void *
allocate(void *arena, size_t size)
{
	return arena_alloc(arena, size);
}

/* The arena frees everything at once. */
static void
keep(void *arena, void *pointer)
{
	(void)arena;
	(void)pointer;
}

ProtobufCAllocator
codec_allocator(struct arena *arena)
{
	return (ProtobufCAllocator){ allocate, keep, arena };
}

static int
pack(const ProtobufCMessage *msg, size_t limit, struct buf *out)
{
	size_t size = protobuf_c_message_get_packed_size(msg);

	if (size > limit)
		return HIWAT_E_TOOBIG;
	char *room = buf_reserve(out, size);
	if (room == NULL)
		return HIWAT_E_NOMEM;
	protobuf_c_message_pack(msg, (uint8_t *)room);
	buf_advance(out, size);
	return HIWAT_OK;
}

int
batch_encode(const Hiwat__Batch *batch, struct buf *out)
{
	return pack(&batch->base, CODEC_BATCH_MAX, out);
}

int
ack_encode(const Hiwat__Ack *ack, struct buf *out)
{
	return pack(&ack->base, 1024, out);
}

int
batch_decode(const uint8_t *data, size_t len, struct arena *arena, Hiwat__Batch **out, const char **why)
{
	ProtobufCAllocator allocator = codec_allocator(arena);
	struct check c = { .err = HIWAT_OK };
	Hiwat__Batch *batch = NULL;

	if (len > CODEC_BATCH_MAX)
		check_fail(&c, HIWAT_E_TOOBIG, "the batch is larger than 1 MiB");
	else if ((batch = hiwat__batch__unpack(&allocator, len, data)) == NULL)
		check_unpacked(&c, arena);
	else
		check_envelope(&c, batch, batch->n_records);
	for (size_t i = 0; c.err == HIWAT_OK && i < batch->n_records; i++)
		check_record(&c, batch->records[i]);
	if (c.err == HIWAT_OK)
		*out = batch;
	else if (why != NULL)
		*why = c.why;
	return c.err;
}

int
ack_decode(const uint8_t *data, size_t len, struct arena *arena, Hiwat__Ack **out)
{
	ProtobufCAllocator allocator = codec_allocator(arena);
	Hiwat__Ack *ack = hiwat__ack__unpack(&allocator, len, data);

	if (ack == NULL)
		return HIWAT_E_FORMAT;
	*out = ack;
	return HIWAT_OK;
}

int
codec_compress(const uint8_t *data, size_t len, struct buf *out)
{
	size_t bound = ZSTD_compressBound(len);
	char *room = buf_reserve(out, bound);

	if (room == NULL)
		return HIWAT_E_NOMEM;
	size_t n = ZSTD_compress(room, bound, data, len, 1);
	if (ZSTD_isError(n))
		return HIWAT_E_NOMEM;
	buf_advance(out, n);
	return HIWAT_OK;
}

int
codec_decompress(const uint8_t *data, size_t len, size_t limit, struct buf *out)
{
	unsigned long long size = ZSTD_getFrameContentSize(data, len);

	/* The size stands in the frame; what does not announce it is refused, so nothing can swell unseen. */
	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
		return HIWAT_E_FORMAT;
	if (size > limit)
		return HIWAT_E_TOOBIG;
	char *room = buf_reserve(out, (size_t)size);
	if (room == NULL)
		return HIWAT_E_NOMEM;
	size_t n = ZSTD_decompress(room, (size_t)size, data, len);
	if (ZSTD_isError(n) || n != size)
		return HIWAT_E_FORMAT;
	buf_advance(out, n);
	return HIWAT_OK;
}
