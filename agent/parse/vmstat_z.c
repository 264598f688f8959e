/*
 * vmstat -z: "ITEM SIZE LIMIT USED FREE REQUESTS" and, from FreeBSD 8 on, FAILURES or FAIL and more; rows are a name, a colon
 * and numbers with commas between. The heading says which number is which; domemstat_zone() of FreeBSD 12 and later prints
 * no blank between FAIL and SLEEP. A limit of 0 is none.
 */
#include "vmstat.h"

#include "arena.h"
#include "err.h"
#include "last_dump.h"
#include "printed.h"
#include "refuse.h"
#include "record_row.h"

#define COLUMNS_MAX 16

enum column { LIMIT, USED, FAILURES, COLUMNS, OTHER };

struct table {
	unsigned n;
	enum column columns[COLUMNS_MAX];
};

struct row {
	struct text name;
	bool has[COLUMNS];
	uint64_t values[COLUMNS];
};

static bool
is_heading(struct text line, struct table *table)
{
	struct text word;
	bool has_used = false;

	*table = (struct table){ 0 };
	if (!text_word(&line, &word) || !text_eq(word, "ITEM"))
		return false;
	while (text_word(&line, &word) && table->n < COLUMNS_MAX) {
		enum column column = OTHER;
		bool is_two = text_eq(word, "FAILSLEEP");
		if (text_eq(word, "LIMIT"))
			column = LIMIT;
		else if (text_eq(word, "USED"))
			column = USED;
		else if (text_eq(word, "FAILURES") || text_eq(word, "FAIL") || is_two)
			column = FAILURES;
		has_used |= column == USED;
		table->columns[table->n++] = column;
		if (is_two && table->n < COLUMNS_MAX)
			table->columns[table->n++] = OTHER;
	}
	return has_used;
}

static bool
begins(struct text line)
{
	struct table table;

	return is_heading(line, &table);
}

static bool
split_row(struct text line, const struct table *table, bool cut, struct row *row)
{
	struct text numbers, number;
	uint64_t value;
	size_t colon = line.n;

	*row = (struct row){ 0 };
	while (colon > 0 && line.p[colon - 1] != ':')
		colon--;
	if (colon < 2)
		return false;
	row->name = text_trim((struct text){ line.p, colon - 1 });
	numbers = (struct text){ line.p + colon, line.n - colon };
	for (unsigned i = 0; i < table->n; i++) {
		bool more = text_until(&numbers, ',', &number);
		/* The last number of a line that breaks off may be half of it. */
		if (!more && cut)
			return i > 0;
		if (!printed_count(more ? number : numbers, &value))
			return false;
		if (table->columns[i] != OTHER) {
			row->has[table->columns[i]] = true;
			row->values[table->columns[i]] = value;
		}
		if (!more)
			break;
	}
	return row->name.n > 0;
}

static int
add_row(const struct row *row, struct record_index *index, Hiwat__Net *net)
{
	size_t n = net->n_zones;
	Hiwat__Zone *zone = RECORD_INDEX_ROW(index, net, zones, zone, row->name);

	if (zone == NULL)
		return HIWAT_E_NOMEM;
	/* Zones of one name, as of several network stacks, have a limit together only if each has one. */
	bool has_limit = row->has[LIMIT] && row->values[LIMIT] > 0 && (net->n_zones > n || zone->has_limit);
	zone->has_limit = has_limit;
	zone->limit = has_limit ? zone->limit + row->values[LIMIT] : 0;
	if (row->has[USED])
		RECORD_SET(zone, used, zone->used + row->values[USED]);
	if (row->has[FAILURES])
		RECORD_SET(zone, failures_total, zone->failures_total + row->values[FAILURES]);
	return HIWAT_OK;
}

int
vmstat_z_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = last_dump(in->text, begins), line;
	struct table table = { 0 };
	struct record_index index;
	struct row row;
	uint64_t n_unknown = 0;
	bool cut;
	int err = HIWAT_OK;

	if (rest.n == 0 || !text_line(&rest, &line, NULL) || !is_heading(line, &table))
		return refuse(in->text, "vmstat -z", why);
	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);
	if (net == NULL)
		return parse_fail(why, HIWAT_E_NOMEM, "too large");
	record_index_init(&index, arena);
	while (err == HIWAT_OK && text_line(&rest, &line, &cut)) {
		if (text_trim(line).n == 0)
			continue;
		if (split_row(line, &table, cut, &row))
			err = add_row(&row, &index, net);
		else
			n_unknown++;
	}
	if (err == HIWAT_OK && net->n_zones == 0)
		return parse_fail(why, HIWAT_E_NODATA, "vmstat -z printed no zone");
	if (err == HIWAT_OK && n_unknown > 0)
		err = record_count_unknown(arena, out, "vmstat-z", n_unknown);
	return err == HIWAT_OK ? err : parse_fail(why, err, "too large");
}

int
vmstat_z_recognise(struct text text)
{
	struct text line;

	text.n = text.n < RECOGNISE_MAX ? text.n : RECOGNISE_MAX;
	while (text_line(&text, &line, NULL)) {
		if (begins(line))
			return 95;
	}
	return 0;
}
