/* The newest values of a host's samplers, in flat arrays that a steady stream of records fills without allocating. */
#include "hosts.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "intake.h"

static const char *const verdict_words[] = {
	[VERDICT_OK] = "ok",
	[VERDICT_DENIED] = "denied",
	[VERDICT_MISSING] = "missing",
	[VERDICT_TIMEOUT] = "timeout",
	[VERDICT_TRUNCATED] = "truncated",
	[VERDICT_IMPLAUSIBLE] = "implausible",
	[VERDICT_UNKNOWN_FORMAT] = "unknown_format",
	[VERDICT_FAILED] = "failed",
};

enum verdict
verdict_of(const char *word)
{
	for (int v = VERDICT_OK; v < VERDICT_FAILED; v++) {
		if (strcmp(word, verdict_words[v]) == 0)
			return (enum verdict)v;
	}
	return VERDICT_FAILED;
}

const char *
verdict_word(enum verdict v)
{
	return verdict_words[v];
}

struct fill {
	struct labels *labels;
	struct sample_set *set;
	struct series_value *values; /* what the record has, once it does not look like the one before */
	uint32_t n, capacity;
	int err;
};

/* The record differs from the one before: what both have in common is copied, the rest follows it. */
static bool
make_room(struct fill *f)
{
	uint32_t capacity = f->n < 8 ? 16 : f->n * 2;
	struct series_value *values = realloc(f->values, capacity * sizeof(*values));

	if (values == NULL) {
		f->err = HIWAT_E_NOMEM;
		return false;
	}
	for (uint32_t i = 0; f->capacity == 0 && i < f->n; i++)
		values[i] = sample_value(f->set, i);
	f->values = values;
	f->capacity = capacity;
	return true;
}

static bool
labels_are(const struct labels *t, uint32_t set, const struct sample *s)
{
	unsigned n;
	const struct sample_label *labels = labels_get(t, set, &n);

	if (n != s->n_labels)
		return false;
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(labels[i].value, s->labels[i].value) != 0 || strcmp(labels[i].name, s->labels[i].name) != 0)
			return false;
	}
	return true;
}

static bool
fill_value(void *arg, const struct sample *s)
{
	struct fill *f = arg;
	struct sample_set *old = f->set;

	/* Records of a sampler look alike: nearly always the series is the one that stood here last time. */
	if (f->capacity == 0 && f->n < old->n_values && old->series->series[f->n].metric == s->metric &&
	    labels_are(f->labels, old->series->series[f->n].labels, s)) {
		old->values[f->n++] = s->value;
		return true;
	}
	if (f->n == f->capacity || f->capacity == 0) {
		if (!make_room(f))
			return false;
	}
	uint32_t set = labels_intern(f->labels, s->labels, s->n_labels);
	if (set == LABELS_FULL) {
		f->err = HIWAT_E_NOMEM;
		return true;
	}
	f->values[f->n++] = (struct series_value){ set, (uint16_t)s->metric, s->value };
	return true;
}

/* Place of the set of this name, made when new. */
static int
find_set(struct track *t, const char *sampler, size_t *index)
{
	for (size_t i = 0; i < t->n_sets; i++) {
		if (strcmp(t->sets[i].sampler, sampler) == 0) {
			*index = i;
			return HIWAT_OK;
		}
	}
	if (t->n_sets == TRACK_SETS_MAX)
		return HIWAT_E_FULL;
	size_t n = t->n_sets + 1;
	struct sample_set *sets = realloc(t->sets, n * sizeof(*sets));
	if (sets == NULL)
		return HIWAT_E_NOMEM;
	t->sets = sets;
	char *name = strdup(sampler), *reason = strdup("");
	if (name == NULL || reason == NULL) {
		free(name);
		free(reason);
		return HIWAT_E_NOMEM;
	}
	sets[n - 1] = (struct sample_set){ .sampler = name, .reason = reason };
	t->n_sets = n;
	*index = n - 1;
	return HIWAT_OK;
}

static void
set_reason(struct sample_set *set, const Hiwat__Sampler *status)
{
	size_t len = status->has_reason ? status->reason.len : 0;

	if (strlen(set->reason) == len && (len == 0 || memcmp(set->reason, status->reason.data, len) == 0))
		return;
	char *copy = malloc(len + 1);
	if (copy == NULL)
		return;
	for (size_t i = 0; i < len; i++) {
		/* Text for people from a stranger: a NUL would cut it, a control character would deceive. */
		uint8_t c = status->reason.data[i];
		copy[i] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
	}
	copy[len] = '\0';
	free((void *)(uintptr_t)set->reason);
	set->reason = copy;
}

int
sample_set_put(struct sample_set *set, struct labels *labels, const struct series_value *values, uint32_t n)
{
	size_t room = n > 0 ? n : 1;
	struct series_key *keys = malloc(room * sizeof(*keys));
	double *numbers = malloc(room * sizeof(*numbers));

	for (uint32_t i = 0; keys != NULL && numbers != NULL && i < n; i++) {
		keys[i] = (struct series_key){ values[i].labels, values[i].metric };
		numbers[i] = values[i].value;
	}
	struct series_list *list = keys != NULL && numbers != NULL ? series_share(labels, keys, n) : NULL;
	free(keys);
	set->shape++;
	if (list == NULL) {
		free(numbers);
		/* Nothing is better than values under other names. */
		set->n_values = 0;
		return HIWAT_E_NOMEM;
	}
	sample_set_clear(set);
	set->series = list;
	set->values = numbers;
	set->n_values = n;
	return HIWAT_OK;
}

void
sample_set_clear(struct sample_set *set)
{
	series_release(set->series);
	free(set->values);
	set->series = NULL;
	set->values = NULL;
	set->n_values = 0;
}

int
track_put(struct track *t, struct labels *labels, const Hiwat__Record *record, enum record_part part, uint64_t boot_ns,
    uint64_t wall_ns, size_t *index)
{
	/* A sampler's status is known even when its values are not: it has a set of its own. */
	char name[64] = "status.";
	Hiwat__Record half = HIWAT__RECORD__INIT;

	if (part == RECORD_STATUS) {
		half.status = record->status;
	} else {
		half = *record;
		half.status = NULL;
	}
	size_t prefix = part == RECORD_STATUS ? strlen(name) : 0;
	strncpy(name + prefix, record->status->sampler, sizeof(name) - prefix - 1);
	size_t i;
	int err = find_set(t, name, &i);
	if (err != HIWAT_OK)
		return err;
	struct sample_set *set = &t->sets[i];
	*index = i;
	set->verdict = part == RECORD_STATUS ? VERDICT_OK : verdict_of(record->status->verdict->verdict);
	set->boot_ns = boot_ns;
	set->wall_ns = wall_ns;
	if (part == RECORD_DATA)
		set_reason(set, record->status);
	if (set->verdict != VERDICT_OK)
		return HIWAT_OK;
	struct fill f = { .labels = labels, .set = set };
	catalogue_walk(&half, fill_value, &f);
	set->good_boot_ns = boot_ns;
	if (f.capacity == 0 && f.n == set->n_values && f.err == HIWAT_OK)
		return HIWAT_OK;
	/* A record that merely ends earlier, too. */
	if (f.capacity == 0 && !make_room(&f))
		f.n = 0;
	err = sample_set_put(set, labels, f.values, f.n);
	free(f.values);
	return f.err != HIWAT_OK ? f.err : err;
}

const struct track_shape *
track_find_shape(const struct track *t, const struct intake_record *record)
{
	for (size_t i = 0; record->skeleton != 0 && i < t->n_shapes; i++) {
		const struct track_shape *shape = &t->shapes[i];
		if (shape->skeleton == record->skeleton &&
		    t->sets[shape->sets[RECORD_STATUS]].n_values == record->n_status &&
		    t->sets[shape->sets[RECORD_DATA]].n_values == record->n_values - record->n_status)
			return shape;
	}
	return NULL;
}

void
track_put_values(struct track *t, const struct track_shape *shape, const struct intake_record *record, enum record_part part,
    uint64_t boot_ns, uint64_t wall_ns)
{
	struct sample_set *set = &t->sets[shape->sets[part]];
	const double *from = record->values + (part == RECORD_STATUS ? 0 : record->n_status);

	if (set->n_values > 0)
		memcpy(set->values, from, set->n_values * sizeof(from[0]));
	set->verdict = VERDICT_OK;
	set->boot_ns = set->good_boot_ns = boot_ns;
	set->wall_ns = wall_ns;
}

void
track_note_shape(struct track *t, const size_t sets[2], uint64_t skeleton)
{
	struct track_shape *free_shape = NULL;

	/* Names of samplers can be chosen so that two share a set. */
	for (size_t i = 0; i < t->n_shapes; i++) {
		struct track_shape *shape = &t->shapes[i];
		for (int k = 0; k < 2; k++) {
			if (shape->sets[k] == sets[RECORD_DATA] || shape->sets[k] == sets[RECORD_STATUS])
				shape->skeleton = 0;
		}
		if (shape->skeleton == 0)
			free_shape = shape;
	}
	if (skeleton == 0 || sets[RECORD_DATA] == SIZE_MAX || sets[RECORD_STATUS] == SIZE_MAX)
		return;
	if (free_shape == NULL) {
		struct track_shape *bigger = realloc(t->shapes, (t->n_shapes + 1) * sizeof(*bigger));
		if (bigger == NULL)
			return; /* only slower */
		t->shapes = bigger;
		free_shape = &bigger[t->n_shapes++];
	}
	*free_shape = (struct track_shape){ skeleton, { (uint16_t)sets[RECORD_DATA], (uint16_t)sets[RECORD_STATUS] } };
}

void
track_clear(struct track *t)
{
	for (size_t i = 0; i < t->n_sets; i++) {
		free((void *)(uintptr_t)t->sets[i].sampler);
		free((void *)(uintptr_t)t->sets[i].reason);
		sample_set_clear(&t->sets[i]);
	}
	free(t->sets);
	t->sets = NULL;
	t->n_sets = 0;
	free(t->shapes);
	t->shapes = NULL;
	t->n_shapes = 0;
}

void
track_mark(const struct track *t, struct labels *labels)
{
	for (size_t i = 0; i < t->n_sets; i++) {
		for (uint32_t v = 0; v < t->sets[i].n_values; v++)
			labels_mark(labels, t->sets[i].series->series[v].labels);
	}
}
