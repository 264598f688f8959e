/*
 * vmstat -i. A row is a name, which may hold blanks, a total and a rate. A header begins a dump and the row "Total" ends it;
 * rows behind that, up to the next header, are the differences that -w prints. NetBSD's -e has a fourth column, the type.
 *
 * Numbers end below the end of their heading, which settles what a line that breaks off still says: without that, "que 0"
 * and half a total look like a total of 0 and a rate.
 */
#include "vmstat.h"

#include <string.h>

#include "err.h"
#include "interrupt_rows.h"
#include "printed.h"
#include "refuse.h"

#define JOINED_MAX 512

struct layout {
	bool has_types;   /* NetBSD's -e: a fourth column, and rows that are no interrupts */
	size_t total_end; /* offset behind the heading "total"; 0: unknown, or the blanks were squeezed */
};

struct row {
	struct text name;
	uint64_t total;
	bool is_total; /* the row of that name */
	bool is_other; /* no interrupt */
	bool is_aligned;
};

/* Lines of a text, those put together again that were broken before their numbers. */
struct lines {
	struct text rest;
	struct layout layout;
	bool has_numbered_names; /* some name ends in a number: two numbers at the end of a cut line prove nothing */
	char joined[JOINED_MAX];
};

static bool
is_header(struct text line, struct layout *layout)
{
	struct text t = line, word, first, total;

	if (!text_word(&t, &first) || !text_word(&t, &total) || !text_eq(total, "total") || !text_word(&t, &word) ||
	    !text_eq(word, "rate"))
		return false;
	bool is_event = text_eq(first, "event");
	if (!text_eq(first, "interrupt") && !is_event)
		return false;
	layout->has_types = text_word(&t, &word) && text_eq(word, "type");
	layout->total_end = total.p - (first.p + first.n) > 1 ? (size_t)(total.p + total.n - line.p) : 0;
	return layout->has_types || !is_event;
}

/* Whole rows: a name and two numbers at the end. */
static bool
split_row(struct text line, const struct layout *layout, struct row *row)
{
	struct text t = line, word;
	uint64_t rate;

	*row = (struct row){ 0 };
	if (layout->has_types) {
		if (!text_last_word(&t, &word))
			return false;
		if (!printed_count(word, &rate))
			row->is_other = !text_eq(word, "intr");
		else
			t = line; /* the total has no type */
	}
	if (!text_last_word(&t, &word) || !printed_count(word, &rate) || !text_last_word(&t, &word) ||
	    !printed_count(word, &row->total))
		return false;
	row->is_aligned = (size_t)(word.p + word.n - line.p) == layout->total_end;
	row->name = text_trim(t);
	row->is_total = text_eq(row->name, "Total");
	return row->name.n > 0;
}

/* What is certain of a line that breaks off. */
static bool
split_cut_row(struct text line, const struct lines *lines, struct row *row)
{
	struct text t = line, word;

	if (split_row(line, &lines->layout, row)) {
		if (lines->layout.has_types)
			return false;
		if (row->is_aligned || row->is_total || (lines->layout.total_end == 0 && !lines->has_numbered_names))
			return true;
	}
	*row = (struct row){ 0 };
	if (lines->layout.has_types || lines->layout.total_end == 0 || !text_last_word(&t, &word) ||
	    (size_t)(word.p + word.n - line.p) != lines->layout.total_end || !printed_count(word, &row->total))
		return false;
	row->name = text_trim(t);
	row->is_total = text_eq(row->name, "Total");
	return row->name.n > 0;
}

/* Nothing but one or two numbers: the end of a broken row. */
static bool
is_numbers(struct text t)
{
	struct text word;
	uint64_t value;
	unsigned n = 0;

	while (text_word(&t, &word)) {
		if (!printed_count(word, &value))
			return false;
		n++;
	}
	return n == 1 || n == 2;
}

enum line_kind { LINE_END, LINE_BLANK, LINE_HEADER, LINE_ROW, LINE_OTHER };

static enum line_kind
next_line(struct lines *lines, struct row *row)
{
	struct text line, more, after;
	bool cut;

	if (!text_line(&lines->rest, &line, &cut))
		return LINE_END;
	if (text_trim(line).n == 0)
		return LINE_BLANK;
	if (is_header(line, &lines->layout))
		return LINE_HEADER;
	if (cut)
		return split_cut_row(line, lines, row) ? LINE_ROW : LINE_OTHER;
	bool is_row = split_row(line, &lines->layout, row);
	after = lines->rest;
	if (!(is_row && row->is_aligned) && text_line(&after, &more, &cut) && !cut && is_numbers(more) &&
	    line.n + more.n < JOINED_MAX) {
		memcpy(lines->joined, line.p, line.n);
		lines->joined[line.n] = ' ';
		memcpy(lines->joined + line.n + 1, more.p, more.n);
		lines->rest = after;
		is_row = split_row((struct text){ lines->joined, line.n + 1 + more.n }, &lines->layout, row);
	}
	if (!is_row)
		return LINE_OTHER;
	struct text name = row->name, word;
	uint64_t number;
	lines->has_numbered_names |= text_last_word(&name, &word) && printed_count(word, &number);
	return LINE_ROW;
}

/* The last dump that its "Total" ends, else the last one, else the whole text; without the differences behind it. */
static struct text
find_dump(struct text text)
{
	struct lines lines = { .rest = text };
	struct text whole = { text.p, 0 };
	const char *begin = text.p;
	enum line_kind kind;
	struct row row;
	bool is_open = true, has_header = false;

	for (;;) {
		const char *line = lines.rest.p;
		kind = next_line(&lines, &row);
		if (kind == LINE_END)
			break;
		if (kind == LINE_HEADER) {
			begin = line;
			is_open = has_header = true;
		} else if (kind == LINE_ROW && row.is_total && is_open) {
			whole = (struct text){ begin, (size_t)(lines.rest.p - begin) };
			is_open = false;
		}
	}
	if (whole.n > 0)
		return whole;
	return has_header ? (struct text){ begin, text.n - (size_t)(begin - text.p) } : text;
}

/* Whether a name is an interrupt's without a header to say so. */
static bool
is_interrupt_name(struct text name)
{
	struct text irq, device;

	interrupt_name_split(name, &irq, &device);
	return irq.n > 0 || (text_starts(name, "cpu") && text_ends(name, "timer"));
}

int
vmstat_i_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct lines lines = { .rest = find_dump(in->text) };
	struct interrupt_rows rows;
	enum line_kind kind;
	struct row row;
	uint64_t n_unknown = 0;
	bool has_header = false, is_sure = false, has_rows = false;

	if (vmstat_i_json_recognise(in->text) > 0)
		return vmstat_i_json_parse(in, arena, out, why);
	int err = interrupt_rows_init(&rows, arena, out);

	while (err == HIWAT_OK && (kind = next_line(&lines, &row)) != LINE_END) {
		has_header |= kind == LINE_HEADER;
		if (kind == LINE_OTHER && (has_header || has_rows))
			n_unknown++;
		if (kind != LINE_ROW)
			continue;
		has_rows |= !row.is_total;
		is_sure |= is_interrupt_name(row.name);
		if (row.is_total)
			err = lines.layout.has_types ? HIWAT_OK : interrupt_rows_set_all(&rows, row.total);
		else if (!row.is_other)
			err = interrupt_rows_add(&rows, row.name, row.total);
	}
	if (err == HIWAT_OK && !has_header && !is_sure)
		return refuse(in->text, "vmstat -i", why);
	if (err == HIWAT_OK && rows.interrupt->n_sources == 0 && rows.interrupt->all == NULL)
		return parse_fail(why, HIWAT_E_NODATA, "vmstat -i printed no interrupts");
	if (err == HIWAT_OK && n_unknown > 0)
		err = record_count_unknown(arena, out, "vmstat-i", n_unknown);
	return err == HIWAT_OK ? err : parse_fail(why, err, "too large");
}

int
vmstat_i_recognise(struct text text)
{
	struct layout layout;
	struct text line;

	text.n = text.n < RECOGNISE_MAX ? text.n : RECOGNISE_MAX;
	while (text_line(&text, &line, NULL)) {
		if (is_header(line, &layout))
			return 95;
	}
	return 0;
}
