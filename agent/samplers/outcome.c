#include "outcome.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "clock.h"
#include "codec.h"
#include "err.h"
#include "record.h"

void
outcome_take(const struct sampler *sampler, void *state, const struct sampler_now *now, struct arena *arena,
    struct outcome *out)
{
	uint64_t started_ns = clock_mono_ns();

	*out = (struct outcome){ .err = HIWAT_E_NOMEM };
	out->record = arena_alloc(arena, sizeof(*out->record));
	if (out->record != NULL) {
		hiwat__record__init(out->record);
		out->err = sampler->sample(state, now, arena, out->record, &out->why);
	}
	out->duration_ns = clock_mono_ns() - started_ns;
	if (out->err == HIWAT_OK && out->duration_ns > sampler->deadline_ms * NSEC_PER_MSEC) {
		out->err = HIWAT_E_TIMEOUT;
		snprintf(out->why.text, sizeof(out->why.text), "the sample took %llu ms, allowed are %u",
		    (unsigned long long)(out->duration_ns / NSEC_PER_MSEC), sampler->deadline_ms);
	}
	if (out->err == HIWAT_OK)
		return;
	out->record = NULL;
	if (out->why.text[0] == '\0')
		snprintf(out->why.text, sizeof(out->why.text), "%s", err_text(out->err));
}

const char *
outcome_verdict(int err)
{
	switch (err) {
	case HIWAT_OK:
		return "ok";
	case HIWAT_E_DENIED:
		return "denied";
	case HIWAT_E_MISSING:
		return "missing";
	case HIWAT_E_TIMEOUT:
		return "timeout";
	case HIWAT_E_TRUNCATED:
		return "truncated";
	case HIWAT_E_IMPLAUSIBLE:
		return "implausible";
	case HIWAT_E_FORMAT:
	case HIWAT_E_NODATA:
		return "unknown_format";
	default:
		return "failed";
	}
}

Hiwat__Record *
outcome_record(const struct outcome *o, const struct sampler *sampler, uint64_t last_success_wall_ns, struct arena *arena)
{
	Hiwat__Record *record = o->record;

	if (record == NULL) {
		record = arena_alloc(arena, sizeof(*record));
		if (record == NULL)
			return NULL;
		hiwat__record__init(record);
	}
	Hiwat__Sampler *status = RECORD_ONE(arena, record, status, sampler);
	if (status == NULL)
		return NULL;
	Hiwat__SamplerVerdict *verdict = RECORD_ONE(arena, status, verdict, sampler_verdict);
	if (verdict == NULL || (status->sampler = record_label(arena, text_of(sampler->name))) == NULL ||
	    (verdict->verdict = record_label(arena, text_of(outcome_verdict(o->err)))) == NULL)
		return NULL;
	RECORD_SET(status, up, o->err == HIWAT_OK);
	RECORD_SET(status, duration_seconds, (double)o->duration_ns / (double)NSEC_PER_SEC);
	if (last_success_wall_ns != 0)
		RECORD_SET(status, last_success_time_seconds, (double)last_success_wall_ns / (double)NSEC_PER_SEC);
	if (o->err != HIWAT_OK || o->why.is_note) {
		size_t len = strlen(o->why.text);
		char *reason = arena_strndup(arena, o->why.text, len);
		if (reason == NULL)
			return NULL;
		status->has_reason = 1;
		status->reason = (ProtobufCBinaryData){ .len = len, .data = (uint8_t *)reason };
	}
	return record;
}
