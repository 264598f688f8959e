#include "codec.h"

#include <math.h>
#include <string.h>
#include <zstd.h>

#include "arena.h"
#include "buf.h"
#include "catalogue.h"
#include "err.h"
#include "utf8.h"

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

/* A label value or name: bounded, UTF-8, no control characters. NULL is fine: the field is absent. */
static int
check_text(const char *s)
{
	size_t len = 0;

	if (s == NULL)
		return HIWAT_OK;
	while (s[len] != '\0') {
		size_t n = utf8_sequence((const unsigned char *)s + len);
		if (n == 0 || (n == 1 && ((unsigned char)s[len] < 0x20 || s[len] == 0x7f)))
			return HIWAT_E_FORMAT;
		len += n;
		if (len > CODEC_LABEL_MAX)
			return HIWAT_E_TOOBIG;
	}
	return HIWAT_OK;
}

struct check {
	unsigned n_samples;
	int err;
	const char *why;
};

static bool
check_fail(struct check *c, int err, const char *why)
{
	c->err = err;
	c->why = why;
	return false;
}

static bool
check_label(struct check *c, const char *value)
{
	int err = check_text(value);

	if (err == HIWAT_E_TOOBIG)
		return check_fail(c, err, "a label or name is longer than 255 bytes");
	if (err != HIWAT_OK)
		return check_fail(c, err, "a label or name is not UTF-8 text or holds control characters");
	return true;
}

static bool
check_sample(void *arg, const struct sample *s)
{
	struct check *c = arg;

	if (++c->n_samples > CODEC_SERIES_MAX)
		return check_fail(c, HIWAT_E_TOOBIG, "more than 20000 numbers in one batch");
	if (!isfinite(s->value))
		return check_fail(c, HIWAT_E_FORMAT, "a number is NaN or infinite");
	for (unsigned i = 0; i < s->n_labels; i++) {
		if (!check_label(c, s->labels[i].value))
			return false;
	}
	return true;
}

static bool
check_host(struct check *c, const Hiwat__Host *h)
{
	if (h == NULL)
		return check_fail(c, HIWAT_E_FORMAT, "the batch names no host");
	if (!h->has_uuid || h->uuid.len != 16 || !h->has_boot_id || h->boot_id.len != 16)
		return check_fail(c, HIWAT_E_FORMAT, "host.uuid and host.boot_id must be 16 bytes");
	if (h->n_labels > CODEC_HOST_LABELS_MAX)
		return check_fail(c, HIWAT_E_TOOBIG, "more than 32 host labels");
	if (!check_label(c, h->machine_id) || !check_label(c, h->name) || !check_label(c, h->os) ||
	    !check_label(c, h->release) || !check_label(c, h->agent_version))
		return false;
	for (size_t i = 0; i < h->n_labels; i++) {
		if (h->labels[i]->name == NULL || h->labels[i]->value == NULL)
			return check_fail(c, HIWAT_E_FORMAT, "a host label has no name or no value");
		if (!check_label(c, h->labels[i]->name) || !check_label(c, h->labels[i]->value))
			return false;
	}
	return true;
}

static bool
check_record(struct check *c, const Hiwat__Record *r)
{
	if (r->status == NULL || r->status->sampler == NULL || r->status->verdict == NULL ||
	    r->status->verdict->verdict == NULL)
		return check_fail(c, HIWAT_E_FORMAT, "a record names no sampler or no verdict");
	if (r->status->has_reason && r->status->reason.len > CODEC_REASON_MAX)
		return check_fail(c, HIWAT_E_TOOBIG, "a sampler's reason is longer than 1024 bytes");
	return catalogue_walk(r, check_sample, c);
}

static bool
check_batch(struct check *c, const Hiwat__Batch *b)
{
	if (!check_host(c, b->host))
		return false;
	if (!b->has_sequence || b->sequence == 0 || !b->has_wall_ns || !b->has_boot_ns)
		return check_fail(c, HIWAT_E_FORMAT, "the batch has no sequence, wall_ns or boot_ns");
	if (b->n_records > CODEC_RECORDS_MAX)
		return check_fail(c, HIWAT_E_TOOBIG, "more than 64 records in one batch");
	for (size_t i = 0; i < b->n_records; i++) {
		if (!check_record(c, b->records[i]))
			return false;
	}
	return true;
}

int
batch_decode(const uint8_t *data, size_t len, struct arena *arena, Hiwat__Batch **out, const char **why)
{
	ProtobufCAllocator allocator = codec_allocator(arena);
	struct check c = { .err = HIWAT_OK };
	Hiwat__Batch *batch = NULL;

	if (len > CODEC_BATCH_MAX) {
		check_fail(&c, HIWAT_E_TOOBIG, "the batch is larger than 1 MiB");
	} else if ((batch = hiwat__batch__unpack(&allocator, len, data)) == NULL) {
		if (arena->failed)
			check_fail(&c, HIWAT_E_TOOBIG, "decoding the batch takes too much memory");
		else
			check_fail(&c, HIWAT_E_FORMAT, "the body is not a hiwat batch, or it is cut off");
	} else if (!batch->has_version || batch->version != CODEC_VERSION) {
		check_fail(&c, HIWAT_E_VERSION, "the batch has an unknown version; this collector knows version 1");
	} else {
		check_batch(&c, batch);
	}
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
