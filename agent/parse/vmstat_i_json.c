/*
 * vmstat --libxo json -i: a list of objects with name, total and rate, then "total-interrupts". With -w more lists follow in
 * the same "interrupt-statistics": differences, which do not count. A vmstat without libxo has answered in its table.
 */
#include "vmstat.h"

#include "arena.h"
#include "err.h"
#include "interrupt_rows.h"
#include "json_scan.h"
#include "printed.h"
#include "refuse.h"

static bool
number_of(const struct json_member *m, uint64_t *value)
{
	return (m->type == JSON_NUMBER || m->type == JSON_STRING) && printed_count(m->value, value);
}

/* The last document that has its end, else the last one; up to its "total-interrupts". */
static struct text
find_document(struct text text)
{
	struct json_scan scan = { .rest = text };
	struct json_member m;
	struct text whole = { text.p, 0 };
	const char *begin = text.p;
	bool is_open = true;

	while (json_next(&scan, &m)) {
		if (m.type == JSON_CONTAINER && text_eq(m.key, "interrupt-statistics")) {
			begin = m.key.p - 1;
			is_open = true;
		} else if (text_eq(m.key, "total-interrupts") && is_open) {
			/* One byte more, since a number must be seen to end. */
			whole = (struct text){ begin, (size_t)(scan.rest.p - begin) + (scan.rest.n > 0) };
			is_open = false;
		}
	}
	return whole.n > 0 ? whole : (struct text){ begin, text.n - (size_t)(begin - text.p) };
}

static int
add_row(struct interrupt_rows *rows, struct text escaped, uint64_t total)
{
	char *name = arena_alloc(rows->arena, escaped.n + 1);

	if (name == NULL)
		return HIWAT_E_NOMEM;
	size_t n = json_unescape(escaped, name);
	return interrupt_rows_add(rows, (struct text){ name, n }, total);
}

int
vmstat_i_json_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text text = in->text;
	struct interrupt_rows rows;
	struct json_member m;
	struct text name = { 0 };
	uint64_t value;
	bool has_name = false, is_ours = false;
	int err = interrupt_rows_init(&rows, arena, out);

	if (err == HIWAT_OK)
		err = json_unwrap(arena, &text);
	struct json_scan scan = { .rest = find_document(text) };
	while (err == HIWAT_OK && json_next(&scan, &m)) {
		is_ours |= text_eq(m.key, "interrupt-statistics") || text_eq(m.key, "total-interrupts") ||
		    text_eq(m.key, "interrupt");
		if (text_eq(m.key, "name")) {
			has_name = m.type == JSON_STRING;
			name = m.value;
		} else if (is_ours && text_eq(m.key, "total-interrupts") && number_of(&m, &value)) {
			err = interrupt_rows_set_all(&rows, value);
		} else if (is_ours && has_name && text_eq(m.key, "total") && number_of(&m, &value)) {
			err = add_row(&rows, name, value);
			has_name = false;
		}
	}
	if (err != HIWAT_OK)
		return parse_fail(why, err, "too large");
	bool is_empty = rows.interrupt->n_sources == 0 && rows.interrupt->all == NULL;
	if (is_empty && vmstat_i_json_recognise(in->text) == 0 && vmstat_i_recognise(in->text) > 0)
		return vmstat_i_parse(in, arena, out, why);
	if (is_empty)
		return refuse(in->text, "vmstat --libxo json -i", why);
	return HIWAT_OK;
}

int
vmstat_i_json_recognise(struct text text)
{
	text.n = text.n < RECOGNISE_MAX ? text.n : RECOGNISE_MAX;
	return text_find(text, "\"interrupt-statistics\"") >= 0 ? 100 : 0;
}
