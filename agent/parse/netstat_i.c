/*
 * netstat -i: one table, whose columns the heading names, read from the right since an address may be missing. An interface
 * has a row for each address; only its <Link> row holds all counters. Linux prints one row each and no addresses.
 */
#include "netstat.h"

#include <string.h>

#include "arena.h"
#include "err.h"
#include "last_dump.h"
#include "printed.h"
#include "refuse.h"
#include "record_row.h"

#define COLUMNS_MAX 16
#define JOINED_MAX 512

enum column { IN_PACKETS, IN_ERRORS, IN_DROPS, IN_BYTES, OUT_PACKETS, OUT_ERRORS, OUT_DROPS, OUT_BYTES, COLUMNS, OTHER };

static const struct {
	const char *heading;
	enum column column;
} headings[] = {
	{ "Ipkts", IN_PACKETS },
	{ "Ierrs", IN_ERRORS },
	{ "Ifail", IN_ERRORS },
	{ "Idrop", IN_DROPS },
	{ "Idrops", IN_DROPS },
	{ "Ibytes", IN_BYTES },
	{ "Opkts", OUT_PACKETS },
	{ "Oerrs", OUT_ERRORS },
	{ "Ofail", OUT_ERRORS },
	{ "Odrop", OUT_DROPS },
	{ "Odrops", OUT_DROPS },
	{ "Drop", OUT_DROPS },
	{ "Drops", OUT_DROPS },
	{ "Obytes", OUT_BYTES },
	{ "Oqdrop", OUT_DROPS },
	{ "Oqdrops", OUT_DROPS },
	{ "RX-OK", IN_PACKETS },
	{ "RX-ERR", IN_ERRORS },
	{ "RX-DRP", IN_DROPS },
	{ "TX-OK", OUT_PACKETS },
	{ "TX-ERR", OUT_ERRORS },
	{ "TX-DRP", OUT_DROPS },
};

struct table {
	bool is_linux;
	unsigned n; /* columns of numbers, those at the right */
	enum column columns[COLUMNS_MAX];
};

struct row {
	struct text name;
	bool has_mtu, has[COLUMNS];
	uint64_t mtu, values[COLUMNS];
};

static enum column
column_of(struct text heading)
{
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++) {
		if (text_eq(heading, headings[i].heading))
			return headings[i].column;
	}
	return OTHER;
}

static bool
is_heading(struct text line, struct table *table)
{
	struct text word;
	bool is_counting = false;

	*table = (struct table){ 0 };
	if (!text_word(&line, &word) || (!text_eq(word, "Name") && !text_eq(word, "Iface")))
		return false;
	table->is_linux = text_eq(word, "Iface");
	if (!text_word(&line, &word) || (!text_eq(word, "Mtu") && !text_eq(word, "MTU")))
		return false;
	while (text_word(&line, &word) && table->n < COLUMNS_MAX) {
		is_counting |= table->is_linux && text_starts(word, "RX-");
		if (is_counting)
			table->columns[table->n++] = column_of(word);
		is_counting |= text_eq(word, "Address");
	}
	return table->n > 0;
}

/* A heading that was too wide goes on in a line of its other columns. */
static void
take_more_headings(struct text *rest, struct table *table)
{
	struct text after = *rest, line, word;
	struct table more = *table;

	if (!text_line(&after, &line, NULL))
		return;
	while (text_word(&line, &word)) {
		bool is_heading = column_of(word) != OTHER || text_eq(word, "Coll") || text_eq(word, "Colls") ||
		    text_eq(word, "TX-OVR") || text_eq(word, "Flg");
		if (!is_heading || more.n == COLUMNS_MAX)
			return;
		more.columns[more.n++] = column_of(word);
	}
	if (more.n == table->n)
		return;
	*table = more;
	*rest = after;
}

static bool
begins(struct text line)
{
	struct table table;

	return is_heading(line, &table);
}

/* Takes the numbers at the right off the line; the last one is no number to trust when the line breaks off. */
static bool
take_numbers(struct text *line, const struct table *table, bool cut, struct row *row)
{
	struct text word;
	uint64_t value;

	for (unsigned i = table->n; i-- > 0;) {
		enum column column = table->columns[i];
		if (!text_last_word(line, &word))
			return false;
		bool is_number = printed_count(word, &value);
		if (!is_number && !text_eq(word, "-") && !(table->is_linux && column == OTHER))
			return false;
		if (!is_number || column == OTHER || (cut && i + 1 == table->n))
			continue;
		row->has[column] = true;
		row->values[column] = value;
	}
	return true;
}

/* A row of the interface itself. */
static bool
split_row(struct text line, const struct table *table, bool cut, struct row *row)
{
	struct text word;

	memset(row, 0, sizeof(*row));
	if (!take_numbers(&line, table, cut, row) || !text_word(&line, &row->name) || !text_word(&line, &word))
		return false;
	row->has_mtu = printed_count(word, &row->mtu) && row->mtu > 0;
	if (!table->is_linux && (!text_word(&line, &word) || !text_starts(word, "<Link")))
		return false;
	/* A star marks an interface that is down. */
	if (row->name.n > 1 && row->name.p[row->name.n - 1] == '*')
		row->name.n--;
	return true;
}

static bool
is_numbers(struct text line)
{
	struct text word;
	uint64_t value;
	unsigned n = 0;

	for (; text_word(&line, &word); n++) {
		if (!text_eq(word, "-") && !printed_count(word, &value))
			return false;
	}
	return n > 0;
}

#define ADD(row, column, message, field) \
	do { \
		if ((row)->has[column]) \
			RECORD_SET((message), field, (message)->field + (row)->values[column]); \
	} while (0)

static int
add_row(const struct row *row, struct record_index *index, Hiwat__Net *net)
{
	Hiwat__Netif *netif = RECORD_INDEX_ROW(index, net, interfaces, netif, row->name);

	if (netif == NULL)
		return HIWAT_E_NOMEM;
	Hiwat__NetifByDirection *in = RECORD_ROW(index->arena, netif, directions, netif_by_direction, TEXT("in"));
	Hiwat__NetifByDirection *out = RECORD_ROW(index->arena, netif, directions, netif_by_direction, TEXT("out"));
	if (in == NULL || out == NULL)
		return HIWAT_E_NOMEM;
	ADD(row, IN_PACKETS, in, packets_total);
	ADD(row, IN_ERRORS, in, errors_total);
	ADD(row, IN_DROPS, in, drops_total);
	ADD(row, IN_BYTES, in, bytes_total);
	ADD(row, OUT_PACKETS, out, packets_total);
	ADD(row, OUT_ERRORS, out, errors_total);
	ADD(row, OUT_DROPS, out, drops_total);
	ADD(row, OUT_BYTES, out, bytes_total);
	if (row->has_mtu)
		RECORD_SET(netif, mtu_bytes, row->mtu);
	return HIWAT_OK;
}

/* The row that a line is, or a line and the next one that it was broken before. */
static bool
next_row(struct text *rest, struct text line, bool cut, const struct table *table, char *joined, struct row *row)
{
	struct text after = *rest, more;
	bool more_cut;

	if (split_row(line, table, cut, row))
		return true;
	if (cut || !text_line(&after, &more, &more_cut) || !is_numbers(more) || line.n + more.n >= JOINED_MAX)
		return false;
	memcpy(joined, line.p, line.n);
	joined[line.n] = ' ';
	memcpy(joined + line.n + 1, more.p, more.n);
	if (!split_row((struct text){ joined, line.n + 1 + more.n }, table, more_cut, row))
		return false;
	*rest = after;
	return true;
}

int
netstat_i_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = last_dump(in->text, begins), line;
	struct table table = { 0 };
	struct record_index index;
	struct row row;
	char joined[JOINED_MAX];
	bool cut;

	if (rest.n == 0 || !text_line(&rest, &line, NULL) || !is_heading(text_trim(line), &table))
		return refuse(in->text, "netstat -i", why);
	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);
	if (net == NULL)
		return parse_fail(why, HIWAT_E_NOMEM, "too large");
	record_index_init(&index, arena);
	take_more_headings(&rest, &table);
	while (text_line(&rest, &line, &cut)) {
		if (next_row(&rest, line, cut, &table, joined, &row) && add_row(&row, &index, net) != HIWAT_OK)
			return parse_fail(why, HIWAT_E_NOMEM, "too large");
	}
	if (net->n_interfaces == 0)
		return parse_fail(why, HIWAT_E_NODATA, "netstat -i printed no interface");
	return HIWAT_OK;
}

int
netstat_i_recognise(struct text text)
{
	struct text line;

	text.n = text.n < RECOGNISE_MAX ? text.n : RECOGNISE_MAX;
	while (text_line(&text, &line, NULL)) {
		if (begins(line))
			return 95;
	}
	return 0;
}
