#include "catalogue.h"
#include "catalogue_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "err.h"

int
catalogue_find(const char *name, size_t len)
{
	unsigned low = 0, high = catalogue_n_metrics;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		const char *other = catalogue_metrics[middle].name;
		int order = strncmp(name, other, len);
		if (order == 0 && other[len] != '\0')
			order = -1;
		if (order == 0)
			return (int)middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return -1;
}

struct walk {
	bool (*fn)(void *arg, const struct sample *s);
	void *arg;
};

static void
push_label(struct sample_label *labels, unsigned *n, const char *name, const char *value)
{
	unsigned i = (*n)++;

	for (; i > 0 && strcmp(labels[i - 1].name, name) > 0; i--)
		labels[i] = labels[i - 1];
	labels[i] = (struct sample_label){ name, value };
}

static bool
emit_number(const struct walk *w, const struct sample_label *labels, unsigned n_labels, unsigned metric, ProtobufCType type,
    const void *member)
{
	struct sample s = { .metric = metric, .n_labels = n_labels, .labels = labels };

	switch (type) {
	case PROTOBUF_C_TYPE_UINT32:
		s.integer = *(const uint32_t *)member;
		s.is_integer = true;
		break;
	case PROTOBUF_C_TYPE_UINT64:
		s.integer = *(const uint64_t *)member;
		s.is_integer = true;
		break;
	default: /* catalogue_gen lets no other type than double through */
		s.value = *(const double *)member;
	}
	if (s.is_integer)
		s.value = (double)s.integer;
	return w->fn(w->arg, &s);
}

static bool
walk_message(const struct walk *w, unsigned index, const ProtobufCMessage *msg, const struct sample_label *outer,
    unsigned n_outer)
{
	const struct catalogue_message *m = &catalogue_messages[index];
	const ProtobufCFieldDescriptor *fields = m->desc->fields;
	struct sample_label labels[CATALOGUE_LABELS_MAX];
	unsigned n = n_outer;

	if (n_outer > 0)
		memcpy(labels, outer, sizeof(labels[0]) * n_outer);
	for (unsigned f = 0; f < m->desc->n_fields; f++) {
		if (m->fields[f].kind != CATALOGUE_LABEL)
			continue;
		const char *value = *(char *const *)(const void *)((const char *)msg + fields[f].offset);
		if (value != NULL)
			push_label(labels, &n, fields[f].name, value);
	}
	if (m->metric >= 0) {
		struct sample one = { .metric = (unsigned)m->metric,
			.n_labels = n,
			.labels = labels,
			.is_integer = true,
			.integer = 1,
			.value = 1 };
		return w->fn(w->arg, &one);
	}
	for (unsigned f = 0; f < m->desc->n_fields; f++) {
		const void *member = (const char *)msg + fields[f].offset;
		const void *quantifier = (const char *)msg + fields[f].quantifier_offset;
		unsigned target = (unsigned)m->fields[f].target;
		if (m->fields[f].kind == CATALOGUE_NUMBER) {
			if (*(const protobuf_c_boolean *)quantifier &&
			    !emit_number(w, labels, n, target, fields[f].type, member))
				return false;
		} else if (m->fields[f].kind == CATALOGUE_MESSAGE && fields[f].label == PROTOBUF_C_LABEL_REPEATED) {
			const ProtobufCMessage *const *rows = *(const ProtobufCMessage *const *const *)member;
			size_t n_rows = *(const size_t *)quantifier;
			for (size_t i = 0; i < n_rows; i++) {
				if (!walk_message(w, target, rows[i], labels, n))
					return false;
			}
		} else if (m->fields[f].kind == CATALOGUE_MESSAGE) {
			const ProtobufCMessage *one = *(const ProtobufCMessage *const *)member;
			if (one != NULL && !walk_message(w, target, one, labels, n))
				return false;
		}
	}
	return true;
}

bool
catalogue_walk(const Hiwat__Record *record, bool (*fn)(void *arg, const struct sample *s), void *arg)
{
	struct walk w = { fn, arg };

	return walk_message(&w, catalogue_root, &record->base, NULL, 0);
}

static void
put_escaped(struct buf *out, const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '\\' || *s == '"') {
			buf_putc(out, '\\');
			buf_putc(out, *s);
		} else if (*s == '\n') {
			buf_puts(out, "\\n");
		} else {
			buf_putc(out, *s);
		}
	}
}

void
series_write(struct buf *out, const char *name, const struct sample_label *labels, unsigned n_labels)
{
	buf_puts(out, name);
	for (unsigned i = 0; i < n_labels; i++) {
		buf_putc(out, i == 0 ? '{' : ',');
		buf_puts(out, labels[i].name);
		buf_puts(out, "=\"");
		put_escaped(out, labels[i].value);
		buf_putc(out, '"');
	}
	if (n_labels > 0)
		buf_putc(out, '}');
}

/* Where the lines of one metric stand in the scratch text, in the order they came. */
struct line {
	unsigned metric;
	size_t order, start, len;
};

struct line_list {
	struct buf *text;
	struct line *lines;
	size_t n, capacity;
	bool failed;
};

static bool
collect_line(void *arg, const struct sample *s)
{
	struct line_list *list = arg;

	if (list->n == list->capacity) {
		size_t capacity = list->capacity == 0 ? 256 : list->capacity * 2;
		struct line *bigger = realloc(list->lines, capacity * sizeof(*bigger));
		if (bigger == NULL) {
			list->failed = true;
			return false;
		}
		list->lines = bigger;
		list->capacity = capacity;
	}
	struct line *line = &list->lines[list->n];
	*line = (struct line){ s->metric, list->n, list->text->len, 0 };
	list->n++;
	series_write(list->text, catalogue_metrics[s->metric].name, s->labels, s->n_labels);
	buf_putc(list->text, ' ');
	if (s->is_integer)
		buf_printf(list->text, "%" PRIu64, s->integer);
	else
		buf_put_double(list->text, s->value);
	buf_putc(list->text, '\n');
	line->len = list->text->len - line->start;
	return buf_ok(list->text);
}

static int
compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

int
record_write_text(struct buf *out, const Hiwat__Record *const *records, size_t n_records)
{
	struct buf text;
	buf_init(&text, out->limit);
	struct line_list list = { .text = &text };

	for (size_t i = 0; i < n_records && !list.failed && buf_ok(&text); i++)
		catalogue_walk(records[i], collect_line, &list);
	bool failed = list.failed || !buf_ok(&text);
	if (!failed && list.n > 0)
		qsort(list.lines, list.n, sizeof(list.lines[0]), compare_lines);
	for (size_t i = 0; i < list.n && !failed; i++) {
		const struct metric *m = &catalogue_metrics[list.lines[i].metric];
		if (i == 0 || list.lines[i].metric != list.lines[i - 1].metric)
			buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name,
			    m->is_counter ? "counter" : "gauge");
		buf_add(out, text.data + list.lines[i].start, list.lines[i].len);
	}
	free(list.lines);
	buf_fini(&text);
	return failed || !buf_ok(out) ? HIWAT_E_NOMEM : HIWAT_OK;
}
