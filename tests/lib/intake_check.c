#include "intake_check.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "catalogue.h"
#include "codec.h"
#include "err.h"
#include "intake.h"

#define SKELETONS_MAX 4096

/* The series of a record as text, and its numbers. */
struct walked {
	struct buf series;
	double *values;
	size_t n, room;
};

static struct {
	uint64_t skeleton;
	char *series;
} known[SKELETONS_MAX];
static size_t n_known;

void
intake_check_reset(void)
{
	for (size_t i = 0; i < n_known; i++)
		free(known[i].series);
	n_known = 0;
}

static bool
add_sample(void *arg, const struct sample *s)
{
	struct walked *w = arg;

	series_write(&w->series, catalogue_metrics[s->metric].name, s->labels, s->n_labels);
	buf_putc(&w->series, '\n');
	if (w->n < w->room)
		w->values[w->n] = s->value;
	w->n++;
	return true;
}

/* Whether the skeleton stood for these series before, where it is known. */
static bool
is_consistent(uint64_t skeleton, const char *series)
{
	for (size_t i = 0; i < n_known; i++) {
		if (known[i].skeleton == skeleton)
			return strcmp(known[i].series, series) == 0;
	}
	if (n_known < SKELETONS_MAX) {
		known[n_known].skeleton = skeleton;
		known[n_known++].series = strdup(series);
	}
	return true;
}

static const char *
record_differs(struct intake_batch *b, size_t i, const Hiwat__Record *whole, unsigned *n_not_unpacked)
{
	static double values[CODEC_SERIES_MAX];
	struct intake_record *r = &b->records[i];
	struct walked w = { .values = values, .room = CODEC_SERIES_MAX };
	const char *why = NULL;

	buf_init(&w.series, 64u << 20);
	catalogue_walk(whole, add_sample, &w);
	if (r->skeleton != 0) {
		Hiwat__Record data = *whole;
		struct walked half = { .values = NULL };
		buf_init(&half.series, 64u << 20);
		data.status = NULL;
		catalogue_walk(&data, add_sample, &half);
		if (r->unpacked == NULL && n_not_unpacked != NULL)
			++*n_not_unpacked;
		if (r->n_values != w.n || r->n_status != w.n - half.n)
			why = "another count of numbers";
		else if (memcmp(values, r->values, w.n * sizeof(values[0])) != 0)
			why = "other numbers";
		else if (!is_consistent(r->skeleton, buf_str(&w.series)))
			why = "one skeleton for other series";
		else if (strcmp(whole->status->verdict->verdict, "ok") != 0 || whole->status->has_reason)
			why = "a skeleton for what is not ok";
		buf_fini(&half.series);
	}
	const Hiwat__Record *again = intake_unpack(b, i);
	if (why == NULL && (again == NULL || hiwat__record__get_packed_size(again) != hiwat__record__get_packed_size(whole)))
		why = "unpacked otherwise";
	buf_fini(&w.series);
	return why;
}

const char *
intake_differs(struct intake *in, const uint8_t *data, size_t len, unsigned *n_not_unpacked)
{
	struct arena arena;
	Hiwat__Batch *whole = NULL;
	struct intake_batch *batch = NULL;
	const char *why[2] = { NULL, NULL }, *result = NULL;

	arena_init(&arena, CODEC_ARENA_MAX);
	int first = batch_decode(data, len, &arena, &whole, &why[0]);
	int second = intake_decode(in, data, len, &batch, &why[1]);
	if ((first == HIWAT_OK) != (second == HIWAT_OK))
		result = first == HIWAT_OK ? "refused, but only by intake_decode()" : "refused, but only by batch_decode()";
	else if (first != HIWAT_OK && (why[0] == NULL || why[1] == NULL))
		result = "refused without a reason";
	else if (first == HIWAT_OK &&
	    (batch->n_records != whole->n_records || batch->envelope->sequence != whole->sequence ||
		batch->envelope->wall_ns != whole->wall_ns ||
		memcmp(batch->envelope->host->uuid.data, whole->host->uuid.data, 16) != 0))
		result = "another envelope";
	for (size_t i = 0; first == HIWAT_OK && result == NULL && i < whole->n_records; i++)
		result = record_differs(batch, i, whole->records[i], n_not_unpacked);
	arena_fini(&arena);
	return result;
}
