#include "record_check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "catalogue.h"
#include "codec.h"
#include "err.h"

struct names {
	struct buf text; /* NUL-terminated names, one after the other */
	size_t n;
};

static bool
collect(void *arg, const struct sample *s)
{
	struct names *names = arg;

	series_write(&names->text, catalogue_metrics[s->metric].name, s->labels, s->n_labels);
	buf_putc(&names->text, '\0');
	names->n++;
	return buf_ok(&names->text);
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *
check_once(const struct names *names, char **series)
{
	const char **sorted = calloc(names->n + 1, sizeof(*sorted));
	const char *p = buf_str(&names->text), *fault = NULL;

	if (sorted == NULL)
		return "out of memory";
	for (size_t i = 0; i < names->n; i++) {
		sorted[i] = p;
		p += strlen(p) + 1;
	}
	qsort(sorted, names->n, sizeof(*sorted), compare);
	for (size_t i = 1; i < names->n && fault == NULL; i++) {
		if (strcmp(sorted[i - 1], sorted[i]) == 0) {
			fault = "a series appears twice";
			if (series != NULL)
				*series = strdup(sorted[i]);
		}
	}
	free(sorted);
	return fault;
}

static const char *
check_codec(const Hiwat__Record *record)
{
	static unsigned char uuid[16] = { 1 }, boot_id[16] = { 2 };
	static char name[] = "host", sampler[] = "parser", verdict_ok[] = "ok";
	Hiwat__Host host = HIWAT__HOST__INIT;
	Hiwat__Batch batch = HIWAT__BATCH__INIT, *back;
	/* batch.records is no pointer to const; nothing writes through it. */
	Hiwat__Record copy = *record, *records[] = { &copy };
	Hiwat__SamplerVerdict verdict = HIWAT__SAMPLER_VERDICT__INIT;
	Hiwat__Sampler status = HIWAT__SAMPLER__INIT;
	struct buf wire;
	struct arena arena;
	const char *fault = NULL, *why = NULL;

	host.has_uuid = host.has_boot_id = host.has_stream = 1;
	host.uuid = (ProtobufCBinaryData){ sizeof(uuid), uuid };
	host.boot_id = (ProtobufCBinaryData){ sizeof(boot_id), boot_id };
	host.stream = 1;
	host.name = name;
	/* Parsers leave the status to the samplers. */
	verdict.verdict = verdict_ok;
	status.sampler = sampler;
	status.verdict = &verdict;
	if (copy.status == NULL)
		copy.status = &status;
	batch.has_version = batch.has_sequence = batch.has_wall_ns = batch.has_boot_ns = 1;
	batch.version = CODEC_VERSION;
	batch.sequence = 1;
	batch.host = &host;
	batch.n_records = 1;
	batch.records = records;
	buf_init(&wire, CODEC_BATCH_MAX);
	arena_init(&arena, CODEC_ARENA_MAX);
	int err = batch_encode(&batch, &wire);
	if (err == HIWAT_OK) {
		err = batch_decode((const uint8_t *)buf_str(&wire), wire.len, &arena, &back, &why);
		if (err != HIWAT_OK && err != HIWAT_E_TOOBIG && err != HIWAT_E_NOMEM)
			fault = why != NULL ? why : "the codec refuses it";
	} else if (err != HIWAT_E_TOOBIG && err != HIWAT_E_NOMEM) {
		fault = "cannot be encoded";
	}
	arena_fini(&arena);
	buf_fini(&wire);
	return fault;
}

const char *
record_check(const Hiwat__Record *record, char **series)
{
	const Hiwat__Record *records[] = { record };
	struct names names = { 0 };
	struct buf out;

	buf_init(&out, 64u << 20);
	const char *fault = record_write_text(&out, records, 1) == HIWAT_OK ? NULL : "cannot be written as text";
	buf_fini(&out);
	buf_init(&names.text, 64u << 20);
	if (fault == NULL)
		fault = catalogue_walk(record, collect, &names) ? check_once(&names, series) : "too many series";
	buf_fini(&names.text);
	return fault != NULL ? fault : check_codec(record);
}
