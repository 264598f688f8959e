#include "batch_check.h"

#include <math.h>

#include "arena.h"
#include "catalogue.h"
#include "codec.h"
#include "err.h"
#include "utf8.h"

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

bool
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

bool
check_count(struct check *c, size_t n_samples)
{
	c->n_samples += n_samples;
	return c->n_samples <= CODEC_SERIES_MAX || check_fail(c, HIWAT_E_TOOBIG, "more than 20000 numbers in one batch");
}

static bool
check_sample(void *arg, const struct sample *s)
{
	struct check *c = arg;

	if (!check_count(c, 1))
		return false;
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

bool
check_envelope(struct check *c, const Hiwat__Batch *b, size_t n_records)
{
	if (!b->has_version || b->version != CODEC_VERSION)
		return check_fail(c, HIWAT_E_VERSION, "the batch has an unknown version; this collector knows version 1");
	if (!check_host(c, b->host))
		return false;
	if (!b->has_sequence || b->sequence == 0 || !b->has_wall_ns || !b->has_boot_ns)
		return check_fail(c, HIWAT_E_FORMAT, "the batch has no sequence, wall_ns or boot_ns");
	if (n_records > CODEC_RECORDS_MAX)
		return check_fail(c, HIWAT_E_TOOBIG, "more than 64 records in one batch");
	return true;
}

bool
check_unpacked(struct check *c, const struct arena *arena)
{
	if (arena->failed)
		return check_fail(c, HIWAT_E_TOOBIG, "decoding the batch takes too much memory");
	return check_fail(c, HIWAT_E_FORMAT, "the body is not a hiwat batch, or it is cut off");
}

bool
check_record(struct check *c, const Hiwat__Record *r)
{
	if (r->status == NULL || r->status->sampler == NULL || r->status->verdict == NULL ||
	    r->status->verdict->verdict == NULL)
		return check_fail(c, HIWAT_E_FORMAT, "a record names no sampler or no verdict");
	if (r->status->has_reason && r->status->reason.len > CODEC_REASON_MAX)
		return check_fail(c, HIWAT_E_TOOBIG, "a sampler's reason is longer than 1024 bytes");
	return catalogue_walk(r, check_sample, c);
}
