#include "intake.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "catalogue_table.h"
#include "batch_check.h"
#include "err.h"

#define CHECKED (1u << 16) /* skeletons that are remembered as checked, 512 KiB */
/* Bytes, as protobuf-c takes them. */
#define VARINT_MAX 10
#define TAG_MAX 5
#define LENGTH_MAX 5
#define RECORDS_FIELD 7

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct cursor {
	const uint8_t *p, *end;
};

static bool
take_varint(struct cursor *c, unsigned max, uint64_t *value)
{
	uint64_t v = 0;

	if (c->p < c->end && *c->p < 0x80) {
		*value = *c->p++;
		return true;
	}
	for (unsigned shift = 0; shift < 7 * max && c->p < c->end; shift += 7) {
		uint8_t byte = *c->p++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*value = v;
			return true;
		}
	}
	return false;
}

static bool
take_bytes(struct cursor *c, struct cursor *inside)
{
	uint64_t len;

	if (!take_varint(c, LENGTH_MAX, &len) || len > (uint64_t)(c->end - c->p))
		return false;
	*inside = (struct cursor){ c->p, c->p + len };
	c->p += len;
	return true;
}

static bool
skip_field(struct cursor *c, unsigned wire)
{
	struct cursor inside;
	uint64_t ignored;
	size_t fixed = wire == WIRE_64 ? 8 : 4;

	switch (wire) {
	case WIRE_VARINT:
		return take_varint(c, VARINT_MAX, &ignored);
	case WIRE_BYTES:
		return take_bytes(c, &inside);
	case WIRE_64:
	case WIRE_32:
		if ((size_t)(c->end - c->p) < fixed)
			return false;
		c->p += fixed;
		return true;
	default:
		return false;
	}
}

/* One record being looked at. */
struct look {
	uint64_t hash, factor; /* both secret: nobody can choose what collides */
	double *values;
	size_t n, room;
};

static inline void
mix(struct look *l, uint64_t word)
{
#if defined(__SIZEOF_INT128__)
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)(l->hash ^ word) * l->factor;

	l->hash = (uint64_t)product ^ (uint64_t)(product >> 64);
#else
	uint64_t product = (l->hash ^ word) * l->factor;

	product = (product ^ product >> 32) * l->factor;
	l->hash = product ^ product >> 29;
#endif
}

/* The length stands in the top byte; of what is longer than seven bytes, in a word of its own. */
static void
mix_bytes(struct look *l, const struct cursor *c)
{
	const uint8_t *p = c->p;
	size_t len = (size_t)(c->end - p);
	uint64_t word = 0;

	if (len < sizeof(word)) {
		for (size_t i = 0; i < len; i++)
			word = word << 8 | p[i];
		mix(l, (uint64_t)len << 56 | word);
		return;
	}
	mix(l, UINT64_C(8) << 56 | len);
	for (; len > sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		mix(l, word);
	}
	/* The last eight bytes; some of them for the second time. */
	memcpy(&word, p + len - sizeof(word), sizeof(word));
	mix(l, word);
}

static bool
put_value(struct look *l, double value)
{
	if (l->n == l->room || !isfinite(value))
		return false;
	l->values[l->n++] = value;
	return true;
}

static bool
take_number(struct look *l, struct cursor *c, ProtobufCType type, unsigned wire)
{
	uint64_t integer;
	double value;

	if (type == PROTOBUF_C_TYPE_DOUBLE) {
		if (wire != WIRE_64 || (size_t)(c->end - c->p) < sizeof(value))
			return false;
		/* Little-endian on the wire. */
		integer = get_le64(c->p);
		memcpy(&value, &integer, sizeof(value));
		c->p += sizeof(value);
		return put_value(l, value);
	}
	if (wire != WIRE_VARINT || !take_varint(c, VARINT_MAX, &integer))
		return false;
	return put_value(l, (double)(type == PROTOBUF_C_TYPE_UINT32 ? (uint32_t)integer : integer));
}

/*
 * False when what is left of the message is not as protobuf-c packs it, field by field in order after the last one, or has
 * more than labels and numbers.
 */
static bool
look_at(struct look *l, unsigned index, struct cursor c, unsigned last)
{
	const struct catalogue_message *m = &catalogue_messages[index];
	const ProtobufCMessageDescriptor *desc = m->desc;
	uint64_t present = last;

	while (c.p < c.end) {
		struct cursor inside;
		uint64_t tag;
		if (!take_varint(&c, TAG_MAX, &tag))
			return false;
		uint64_t number = tag >> 3;
		unsigned wire = (unsigned)tag & 7;
		if (number == 0 || number > desc->n_fields || number > 63 || desc->fields[number - 1].id != number)
			return false;
		const ProtobufCFieldDescriptor *field = &desc->fields[number - 1];
		if (number < last || (number == last && field->label != PROTOBUF_C_LABEL_REPEATED))
			return false;
		last = (unsigned)number;
		present |= UINT64_C(1) << (number & 63);
		switch (m->fields[number - 1].kind) {
		case CATALOGUE_NUMBER:
			if (!take_number(l, &c, field->type, wire))
				return false;
			break;
		case CATALOGUE_LABEL:
			if (wire != WIRE_BYTES || !take_bytes(&c, &inside))
				return false;
			mix_bytes(l, &inside);
			break;
		case CATALOGUE_MESSAGE:
			mix(l, (uint64_t)index << 32 | number);
			if (wire != WIRE_BYTES || !take_bytes(&c, &inside) ||
			    !look_at(l, (unsigned)m->fields[number - 1].target, inside, 0))
				return false;
			break;
		case CATALOGUE_TEXT:
			return false;
		}
	}
	/* Which fields there were says, in their order, what the numbers are; and rows of two messages are not those of one. */
	mix(l, present);
	return m->metric < 0 || put_value(l, 1);
}

/* The status says ok and no more than its numbers. */
static bool
is_ok(const struct cursor *status)
{
	static const uint8_t ok[] = { 5 << 3 | WIRE_BYTES, 4, 1 << 3 | WIRE_BYTES, 2, 'o', 'k' };

	/* Nothing but a reason may follow the verdict, and look_at() refuses that. */
	return status->end - status->p >= (ptrdiff_t)sizeof(ok) && memcmp(status->end - sizeof(ok), ok, sizeof(ok)) == 0;
}

static void
look_at_record(struct intake *in, struct intake_record *r, size_t used)
{
	struct look l = { .hash = in->key,
		.factor = (in->key * 0x9e3779b97f4a7c15ull) | 1,
		.values = in->values + used,
		.room = CODEC_SERIES_MAX - used };
	struct cursor c = { r->data, r->data + r->len }, status;
	const struct catalogue_message *root = &catalogue_messages[catalogue_root];
	uint64_t tag;

	r->values = l.values;
	if (!take_varint(&c, TAG_MAX, &tag) || tag != (1 << 3 | WIRE_BYTES) || !take_bytes(&c, &status) || !is_ok(&status) ||
	    !look_at(&l, (unsigned)root->fields[0].target, status, 0))
		return;
	r->n_status = (uint32_t)l.n;
	if (!look_at(&l, catalogue_root, c, 1))
		return;
	r->n_values = (uint32_t)l.n;
	r->skeleton = l.hash != 0 ? l.hash : 1;
}

void
intake_init(struct intake *in, uint64_t key)
{
	*in = (struct intake){ .key = key };
	arena_init(&in->arena, CODEC_ARENA_MAX);
	buf_init(&in->envelope, CODEC_BATCH_MAX);
}

void
intake_fini(struct intake *in)
{
	arena_fini(&in->arena);
	buf_fini(&in->envelope);
	free(in->values);
	free(in->checked);
	in->values = NULL;
	in->checked = NULL;
}

/* Finds the records; everything else goes to the envelope. */
static bool
split(struct intake *in, const uint8_t *data, size_t len)
{
	/* An empty body has no address to count from. */
	struct cursor c = { data, len > 0 ? data + len : data }, inside;
	struct intake_batch *b = &in->batch;
	uint64_t tag;

	b->n_records = 0;
	while (c.p < c.end) {
		const uint8_t *start = c.p;
		if (!take_varint(&c, TAG_MAX, &tag))
			return false;
		if (tag != (RECORDS_FIELD << 3 | WIRE_BYTES)) {
			if (!skip_field(&c, (unsigned)tag & 7))
				return false;
			buf_add(&in->envelope, start, (size_t)(c.p - start));
			continue;
		}
		if (!take_bytes(&c, &inside))
			return false;
		/* Those beyond are counted, and with them the batch is refused. */
		if (b->n_records < CODEC_RECORDS_MAX)
			b->records[b->n_records] =
			    (struct intake_record){ .data = inside.p, .len = (size_t)(inside.end - inside.p) };
		b->n_records++;
	}
	return buf_ok(&in->envelope);
}

const Hiwat__Record *
intake_unpack(struct intake_batch *b, size_t index)
{
	struct intake_record *r = &b->records[index];
	ProtobufCAllocator allocator = codec_allocator(b->arena);

	if (r->unpacked == NULL)
		r->unpacked = hiwat__record__unpack(&allocator, r->len, r->data);
	return r->unpacked;
}

static bool
take_record(struct intake *in, struct check *c, size_t index)
{
	struct intake_record *r = &in->batch.records[index];
	uint64_t *checked = NULL;

	look_at_record(in, r, c->n_samples);
	if (r->skeleton != 0) {
		checked = &in->checked[r->skeleton % CHECKED];
		if (*checked == r->skeleton)
			return check_count(c, r->n_values);
	}
	if (intake_unpack(&in->batch, index) == NULL)
		return check_unpacked(c, &in->arena);
	if (!check_record(c, r->unpacked))
		return false;
	if (checked != NULL)
		*checked = r->skeleton;
	return true;
}

static bool
prepare(struct intake *in)
{
	arena_reset(&in->arena);
	buf_reset(&in->envelope);
	in->batch.arena = &in->arena;
	if (in->values == NULL)
		in->values = malloc(CODEC_SERIES_MAX * sizeof(in->values[0]));
	if (in->checked == NULL)
		in->checked = calloc(CHECKED, sizeof(in->checked[0]));
	return in->values != NULL && in->checked != NULL;
}

int
intake_decode(struct intake *in, const uint8_t *data, size_t len, struct intake_batch **out, const char **why)
{
	ProtobufCAllocator allocator = codec_allocator(&in->arena);
	struct check c = { .err = HIWAT_OK };
	Hiwat__Batch *envelope = NULL;

	if (!prepare(in))
		check_fail(&c, HIWAT_E_NOMEM, "out of memory");
	else if (len > CODEC_BATCH_MAX)
		check_fail(&c, HIWAT_E_TOOBIG, "the batch is larger than 1 MiB");
	else if (!split(in, data, len) ||
	    (envelope = hiwat__batch__unpack(&allocator, in->envelope.len, (const uint8_t *)buf_str(&in->envelope))) == NULL)
		check_unpacked(&c, &in->arena);
	else
		check_envelope(&c, envelope, in->batch.n_records);
	for (size_t i = 0; c.err == HIWAT_OK && i < in->batch.n_records; i++)
		take_record(in, &c, i);
	if (c.err != HIWAT_OK) {
		if (why != NULL)
			*why = c.why;
		return c.err;
	}
	in->batch.envelope = envelope;
	*out = &in->batch;
	return HIWAT_OK;
}
