/* /proc/net/softnet_stat and /proc/net/stat/nf_conntrack: tables of hexadecimal numbers, a row for each CPU. */
#include "proc.h"

#include <string.h>

#include "arena.h"
#include "err.h"
#include "record_row.h"

#define HEX_DIGITS 8 /* the kernel prints %08x */

/* The whole word is a number of at least eight hexadecimal digits. */
static bool
is_hex_word(struct text word, uint64_t *value)
{
	return word.n >= HEX_DIGITS && text_hex(&word, value) == HIWAT_OK && word.n == 0;
}

/* ----------------------------------------------------------------------------------------------- net/softnet_stat */

#define SOFTNET_USED 3 /* processed, dropped, time_squeeze lead in every release */
#define SOFTNET_MIN 9  /* 2.6.32 */
#define SOFTNET_CPU 12 /* column of the CPU's number, since 5.10 */
#define SOFTNET_MAX 64 /* more columns than any release has */

/* Columns of a row, 0 when a word is no such number. At a cut end a last word of fewer digits is left out. */
static size_t
softnet_row(struct text line, bool cut, uint64_t columns[SOFTNET_MAX])
{
	struct text word;
	size_t n = 0;

	while (n < SOFTNET_MAX && text_word(&line, &word)) {
		if (!is_hex_word(word, &columns[n])) {
			uint64_t half;
			bool is_half = cut && line.n == 0 && text_hex(&word, &half) == HIWAT_OK && word.n == 0;
			return is_half ? n : 0;
		}
		n++;
	}
	return n;
}

/* The columns in use, by CPU, for a live sampler that sums them itself. */
struct softnet_live {
	void *cpus;
	void *columns[SOFTNET_USED];
	size_t n;
};

/* cpu: its number, or the row's place where rows hold none. */
static int
softnet_live_add(struct arena *arena, struct softnet_live *live, uint64_t cpu, const uint64_t *columns)
{
	uint32_t *id = arena_grow(arena, &live->cpus, live->n, sizeof(*id));

	if (id == NULL)
		return HIWAT_E_NOMEM;
	*id = cpu < UINT32_MAX ? (uint32_t)cpu : UINT32_MAX;
	for (size_t i = 0; i < SOFTNET_USED; i++) {
		uint64_t *number = arena_grow(arena, &live->columns[i], live->n, sizeof(*number));
		if (number == NULL)
			return HIWAT_E_NOMEM;
		*number = columns[i];
	}
	live->n++;
	return HIWAT_OK;
}

static bool
softnet_live_sum(const struct parse_percpu *percpu, const struct softnet_live *live, uint64_t sums[SOFTNET_USED])
{
	static const char *const names[SOFTNET_USED] = { "processed", "dropped", "squeezed" };

	for (size_t i = 0; i < SOFTNET_USED; i++) {
		if (!percpu->total(percpu->arg, text_of(names[i]), live->cpus, live->columns[i], live->n, &sums[i]))
			return false;
	}
	return true;
}

int
proc_softnet_stat_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = in->text, line;
	uint64_t sums[SOFTNET_USED] = { 0 }, before[SOFTNET_USED], columns[SOFTNET_MAX], unknown = 0, next_cpu = 0;
	struct softnet_live live = { 0 };
	size_t n_rows = 0, n_before = 0;
	bool cut = false, is_apart = false;

	while (text_line(&rest, &line, &cut)) {
		if (text_trim(line).n == 0)
			continue;
		size_t n = softnet_row(line, cut, columns);
		if (n < (cut ? SOFTNET_USED : SOFTNET_MIN)) {
			unknown += !cut;
			is_apart = is_apart || (n_rows > 0 && text_find(line, "softnet_stat") >= 0);
			continue;
		}
		/*
		 * CPU numbers rise; where they fall, another dump begins. Rows without them are told apart by a prompt. What
		 * breaks off begins nothing.
		 */
		bool is_another = n > SOFTNET_CPU ? columns[SOFTNET_CPU] < next_cpu : is_apart;
		if (is_another && !cut) {
			memcpy(before, sums, sizeof(sums));
			n_before = n_rows;
			memset(sums, 0, sizeof(sums));
			live = (struct softnet_live){ 0 };
			n_rows = 0;
		}
		is_apart = false;
		if (n > SOFTNET_CPU)
			next_cpu = columns[SOFTNET_CPU] + 1;
		for (size_t i = 0; i < SOFTNET_USED; i++)
			sums[i] += columns[i];
		uint64_t cpu = n > SOFTNET_CPU ? columns[SOFTNET_CPU] : n_rows;
		if (in->percpu != NULL && softnet_live_add(arena, &live, cpu, columns) != HIWAT_OK)
			return HIWAT_E_NOMEM;
		n_rows++;
	}
	if (cut && n_rows < n_before) /* the last dump breaks off */
		memcpy(sums, before, sizeof(sums));
	else if (n_rows > 0 && in->percpu != NULL && !softnet_live_sum(in->percpu, &live, sums))
		return HIWAT_E_NOMEM;
	if (n_rows == 0)
		return parse_fail(why, HIWAT_E_NODATA, "no row of hexadecimal numbers");
	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);
	Hiwat__Softnet *m = net != NULL ? RECORD_ONE(arena, net, softnet, softnet) : NULL;
	if (m == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(m, processed_total, sums[0]);
	RECORD_SET(m, dropped_total, sums[1]);
	RECORD_SET(m, squeezed_total, sums[2]);
	return unknown > 0 ? record_count_unknown(arena, out, "softnet-stat", unknown) : HIWAT_OK;
}

int
proc_softnet_stat_recognise(struct text text)
{
	struct text line;
	uint64_t columns[SOFTNET_MAX];

	for (int i = 0; i < 10 && text_line(&text, &line, NULL); i++) {
		if (softnet_row(line, false, columns) >= SOFTNET_MIN)
			return 80;
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------ net/stat/nf_conntrack */

#define CONNTRACK_MAX 48

struct conntrack {
	struct text names[CONNTRACK_MAX];
	uint64_t sums[CONNTRACK_MAX];
	uint64_t entries;
	size_t n_names, n_columns, n_rows; /* n_columns: the fewest that a row had */
};

/*
 * The header names the columns. Others of /proc/net/stat begin with "entries", too; conntrack's is the one that counts
 * insertions that failed.
 */
static bool
conntrack_header(struct text line, struct conntrack *table)
{
	struct text word;
	bool is_conntrack = false;

	*table = (struct conntrack){ .n_columns = CONNTRACK_MAX };
	while (table->n_names < CONNTRACK_MAX && text_word(&line, &word)) {
		is_conntrack |= text_eq(word, "insert_failed");
		table->names[table->n_names++] = word;
	}
	return is_conntrack && text_eq(table->names[0], "entries");
}

/* False when a word is no number or there are fewer than the three columns of the shortest table. */
static bool
conntrack_row(struct text line, bool cut, struct conntrack *table)
{
	uint64_t numbers[CONNTRACK_MAX];
	struct text word;
	size_t n = 0;

	while (n < table->n_names && text_word(&line, &word)) {
		if (!is_hex_word(word, &numbers[n]))
			return false;
		n++;
	}
	/* A row that breaks off belongs to no sum: the others are whole. */
	if (n < 3 || (cut && n < table->n_names && n < table->n_columns))
		return false;
	if (table->n_rows == 0)
		table->entries = numbers[0];
	for (size_t i = 0; i < n; i++)
		table->sums[i] += numbers[i];
	if (n < table->n_columns)
		table->n_columns = n;
	table->n_rows++;
	return true;
}

/* A name that occurs twice counts at its first place. */
static int
add_event(struct arena *arena, Hiwat__Conntrack *m, struct text name, uint64_t total)
{
	Hiwat__ConntrackEvents *event = RECORD_ROW(arena, m, events, conntrack_events, name);

	if (event == NULL)
		return HIWAT_E_NOMEM;
	if (!event->has_total)
		RECORD_SET(event, total, total);
	return HIWAT_OK;
}

int
proc_nf_conntrack_stat_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = in->text, line;
	struct conntrack table = { 0 }, before = { 0 }, next;
	uint64_t unknown = 0;
	bool cut = false;

	while (text_line(&rest, &line, &cut)) {
		if (text_trim(line).n == 0)
			continue;
		if (conntrack_header(line, &next)) {
			before = table;
			table = next;
		} else if (table.n_names == 0 || !conntrack_row(line, cut, &table)) {
			unknown += !cut;
		}
	}
	/* The last dump, unless it breaks off. */
	if (cut && table.n_rows < before.n_rows)
		table = before;
	if (table.n_rows == 0)
		return parse_fail(why, HIWAT_E_NODATA, "no header of conntrack columns with rows behind it");
	Hiwat__Conntrack *m = RECORD_ONE(arena, out, conntrack, conntrack);
	if (m == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(m, entries, table.entries);
	for (size_t i = 1; i < table.n_names && i < table.n_columns; i++) {
		int err = add_event(arena, m, table.names[i], table.sums[i]);
		if (err != HIWAT_OK)
			return err;
	}
	return unknown > 0 ? record_count_unknown(arena, out, "nf-conntrack-stat", unknown) : HIWAT_OK;
}

int
proc_nf_conntrack_stat_recognise(struct text text)
{
	struct text line;
	struct conntrack table;

	for (int i = 0; i < 10 && text_line(&text, &line, NULL); i++) {
		if (conntrack_header(line, &table))
			return 95;
	}
	return 0;
}
