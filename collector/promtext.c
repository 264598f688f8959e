#include "promtext.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "err.h"

#define LINE_ARENA_MAX (256u << 10)

static size_t
name_length(struct text t)
{
	size_t n = 0;

	while (n < t.n &&
	    (t.p[n] == '_' || t.p[n] == ':' || (t.p[n] >= 'a' && t.p[n] <= 'z') || (t.p[n] >= 'A' && t.p[n] <= 'Z') ||
		(n > 0 && t.p[n] >= '0' && t.p[n] <= '9')))
		n++;
	return n;
}

static void
advance(struct text *t, size_t n)
{
	t->p += n;
	t->n -= n;
}

/* A quoted value with its escapes undone; NULL when it does not end. */
static char *
quoted(struct text *t, struct arena *a)
{
	char *value = arena_alloc(a, t->n + 1);
	size_t n = 0;

	if (value == NULL || !text_skip(t, "\""))
		return NULL;
	while (t->n > 0 && *t->p != '"') {
		if (*t->p == '\\' && t->n > 1) {
			advance(t, 1);
			value[n++] = *t->p == 'n' ? '\n' : *t->p;
		} else {
			value[n++] = *t->p;
		}
		advance(t, 1);
	}
	return text_skip(t, "\"") ? value : NULL;
}

static int
compare_labels(const void *a, const void *b)
{
	return strcmp(((const struct sample_label *)a)->name, ((const struct sample_label *)b)->name);
}

/* {a="b",c="d"}; the text goes on behind it. */
static int
read_labels(struct text *t, struct arena *a, struct sample_label labels[CATALOGUE_LABELS_MAX], unsigned *n)
{
	*n = 0;
	if (!text_skip(t, "{"))
		return HIWAT_OK;
	while (!text_skip(t, "}")) {
		size_t len = name_length(*t);
		if (len == 0 || *n == CATALOGUE_LABELS_MAX)
			return HIWAT_E_FORMAT;
		char *name = arena_strndup(a, t->p, len);
		advance(t, len);
		if (!text_skip(t, "="))
			return HIWAT_E_FORMAT;
		char *value = quoted(t, a);
		if (name == NULL || value == NULL)
			return HIWAT_E_FORMAT;
		labels[(*n)++] = (struct sample_label){ name, value };
		text_skip(t, ",");
	}
	qsort(labels, *n, sizeof(labels[0]), compare_labels);
	return HIWAT_OK;
}

static int
add_value(struct promtext *out, struct series_value value)
{
	if ((out->n_values & (out->n_values - 1)) == 0) {
		size_t capacity = out->n_values == 0 ? 1 : (size_t)out->n_values * 2;
		struct series_value *bigger = realloc(out->values, capacity * sizeof(*bigger));
		if (bigger == NULL)
			return HIWAT_E_NOMEM;
		out->values = bigger;
	}
	out->values[out->n_values++] = value;
	return HIWAT_OK;
}

static int
read_line(struct text line, struct arena *a, struct labels *labels, struct promtext *out)
{
	struct sample_label own[CATALOGUE_LABELS_MAX];
	unsigned n;
	double value;
	size_t len = name_length(line);
	int id = catalogue_find(line.p, len);

	if (len == 0)
		return HIWAT_E_FORMAT;
	advance(&line, len);
	int err = read_labels(&line, a, own, &n);
	if (err != HIWAT_OK)
		return err;
	text_skip_blanks(&line);
	if (text_double(&line, &value) != HIWAT_OK || (line.n > 0 && *line.p != ' ' && *line.p != '\t'))
		return HIWAT_E_FORMAT;
	if (id < 0) {
		out->unknown++;
		return HIWAT_OK;
	}
	uint32_t set = labels_intern(labels, own, n);
	if (set == LABELS_FULL)
		return HIWAT_E_NOMEM;
	return add_value(out, (struct series_value){ .labels = set, .metric = (uint16_t)id, .value = value });
}

/* Comments say nothing but which system it was. */
static void
read_comment(struct text line, struct promtext *out)
{
	if (text_skip(&line, "# os ") && line.n < sizeof(out->os))
		snprintf(out->os, sizeof(out->os), "%.*s", (int)line.n, line.p);
}

int
promtext_read(struct text text, struct labels *labels, struct promtext *out, unsigned *bad_line)
{
	struct promtext read = { 0 };
	struct arena arena;
	struct text line;
	unsigned number = 0;
	int err = HIWAT_OK;

	arena_init(&arena, LINE_ARENA_MAX);
	while (err == HIWAT_OK && text_line(&text, &line, NULL)) {
		number++;
		line = text_trim(line);
		if (line.n > 0 && *line.p == '#')
			read_comment(line, &read);
		if (line.n == 0 || *line.p == '#')
			continue;
		arena_reset(&arena);
		err = read_line(line, &arena, labels, &read);
	}
	arena_fini(&arena);
	if (err != HIWAT_OK) {
		*bad_line = number;
		free(read.values);
		return err;
	}
	*out = read;
	return HIWAT_OK;
}
