/*
 * /proc/interrupts and /proc/softirqs: a header of CPU columns, then rows "label: one number per column  text". The header
 * says how many numbers belong to a row; CPUs come and go, so nothing else does. ERR and MIS have one number for all CPUs.
 */
#include "proc.h"

#include "arena.h"
#include "err.h"
#include "last_dump.h"
#include "proc_wrap.h"
#include "record_row.h"

/* Order of the kernel's enum is of no use here: rows carry their names. */
static const char *const softirq_vectors[] = { "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "BLOCK_IOPOLL", "IRQ_POLL",
	"TASKLET", "SCHED", "HRTIMER", "RCU" };

/* Rows that hold one number whatever the number of CPUs, and end behind it. */
static const char *const single_rows[] = { "ERR", "MIS", "Err", "BAD" };

/* The last words of the texts of named rows. */
static const char *const final_words[] = { "interrupts", "interrupt", "event", "polls", "retries", "shootdowns",
	"exceptions", "exits", "timer" };

/* Flow types as the kernel names them behind a pin number: 2-edge, 16-fasteoi. */
static const char *const flows[] = { "edge", "fasteoi", "level", "simple", "percpu", "none" };

static bool
is_one_of(struct text t, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text_eq(t, words[i]))
			return true;
	}
	return false;
}

#define IS_ONE_OF(t, words) is_one_of((t), (words), sizeof(words) / sizeof((words)[0]))

/* Number of CPU columns of a header line, 0 when it is none. */
static unsigned
header_columns(struct text line)
{
	struct text word;
	unsigned n = 0;

	while (text_word(&line, &word)) {
		uint64_t cpu;
		if (!text_skip(&word, "CPU") || !text_is_u64(word, &cpu))
			return 0;
		n++;
	}
	return n;
}

static bool
is_header(struct text line)
{
	return line.p[0] == 'C' && header_columns(line) > 0;
}

/* What a live sampler needs to sum a row itself: the CPUs of the columns, and room for a row's numbers. */
struct live_columns {
	uint32_t *cpus;
	uint64_t *numbers;
};

static int
live_columns_read(struct arena *arena, struct text line, unsigned n, struct live_columns *live)
{
	struct text word;

	live->cpus = arena_calloc(arena, n, sizeof(*live->cpus));
	live->numbers = arena_calloc(arena, n, sizeof(*live->numbers));
	if (live->cpus == NULL || live->numbers == NULL)
		return HIWAT_E_NOMEM;
	for (unsigned i = 0; i < n && text_word(&line, &word); i++) {
		uint64_t cpu = 0;
		text_skip(&word, "CPU");
		live->cpus[i] = text_is_u64(word, &cpu) && cpu < UINT32_MAX ? (uint32_t)cpu : UINT32_MAX;
	}
	return HIWAT_OK;
}

struct row {
	struct text label, tail; /* tail: what follows the numbers, blanks included */
	uint64_t total;
	unsigned n_numbers;
	bool is_numeric; /* the label is an interrupt number: irq */
	uint64_t irq;
	uint64_t *numbers; /* room for those of the header's columns; NULL: nobody wants them one by one */
};

/* Adds up to max numbers; a word that is not wholly a number ends them. */
static void
add_numbers(struct row *row, unsigned max)
{
	while (row->n_numbers < max) {
		struct text t = row->tail;
		uint64_t v;
		text_skip_blanks(&t);
		if (text_u64(&t, &v) != HIWAT_OK || (t.n > 0 && *t.p != ' ' && *t.p != '\t'))
			return;
		if (row->numbers != NULL && row->n_numbers < max)
			row->numbers[row->n_numbers] = v;
		row->total += v;
		row->n_numbers++;
		row->tail = t;
	}
}

/*
 * At a cut end: the numbers are certain when something follows them, the text of a named row when it ends as such texts do.
 * The device of a numbered row is no more than a help, so that half of it is good enough.
 */
static bool
is_whole(const struct row *row, bool is_bare)
{
	struct text tail = row->tail, word;

	if (is_bare)
		return IS_ONE_OF(row->label, single_rows);
	return row->is_numeric || (text_last_word(&tail, &word) && IS_ONE_OF(word, final_words));
}

/* False when the line has no label or no numbers as the header wants them. */
static bool
row_read(struct text line, unsigned columns, bool cut, uint64_t *numbers, struct row *row)
{
	*row = (struct row){ .tail = line, .numbers = numbers };
	if (!text_until(&row->tail, ':', &row->label))
		return false;
	row->label = text_trim(row->label);
	if (row->label.n == 0)
		return false;
	row->is_numeric = text_is_u64(row->label, &row->irq);
	add_numbers(row, columns);
	bool is_bare = text_trim(row->tail).n == 0;
	if (row->n_numbers < columns) {
		/* Not a per-CPU row; at a cut end it must be one that is known to be like that. */
		return row->n_numbers == 1 && is_bare && !row->is_numeric && (!cut || IS_ONE_OF(row->label, single_rows));
	}
	if (cut)
		return is_whole(row, is_bare);
	/* Old ARM kernels print IPI and LOC for CPUs that are present but off line, too. */
	struct row more = *row;
	more.numbers = NULL;
	add_numbers(&more, UINT32_MAX);
	if (!row->is_numeric && text_trim(more.tail).n == 0)
		*row = more;
	return true;
}

/* A pin and its flow without any device behind: "2-edge", "29 Edge", "114688-edge". */
static bool
is_pin(struct text t)
{
	struct text word;
	uint64_t pin;

	if (!text_word(&t, &word) || text_u64(&word, &pin) != HIWAT_OK)
		return false;
	if (word.n > 0 && (!text_skip(&word, "-") || !IS_ONE_OF(word, flows)))
		return false;
	if (!text_word(&t, &word))
		return true;
	return (text_eq(word, "Edge") || text_eq(word, "Level")) && !text_word(&t, &word);
}

/* For a text that lost its double blanks: chip, pin and trigger are one word each, the device is the rest. */
static struct text
device_behind_chip(struct text t)
{
	struct text word, next;

	if (!text_word(&t, &word))
		return t;
	next = t;
	if (text_word(&next, &word) && is_pin(word))
		t = next;
	next = t;
	if (text_word(&next, &word) && (text_eq(word, "Edge") || text_eq(word, "Level")))
		t = next;
	return text_trim(t);
}

/* The kernel prints two blanks before the device or the text of a named row, and pads chip and flow with more. */
static struct text
device_of(const struct row *row)
{
	struct text t = text_trim(row->tail);

	for (size_t i = t.n; i >= 2; i--) {
		char a = t.p[i - 1], b = t.p[i - 2];
		if (a == '\t' || (a == ' ' && (b == ' ' || b == '\t'))) {
			struct text device = { t.p + i, t.n - i };
			return row->is_numeric && is_pin(device) ? (struct text){ t.p, 0 } : device;
		}
	}
	return row->is_numeric ? device_behind_chip(t) : t;
}

static int
row_add(struct record_index *index, Hiwat__Interrupt *out, const struct row *row, bool is_softirqs)
{
	if (is_softirqs) {
		Hiwat__SoftirqsByVector *vector = RECORD_INDEX_ROW(index, out, softirqs, softirqs_by_vector, row->label);
		if (vector == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(vector, total, vector->total + row->total);
	} else {
		Hiwat__InterruptsBySource *source =
		    RECORD_INDEX_ROW(index, out, sources, interrupts_by_source, row->label, device_of(row));
		if (source == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(source, total, source->total + row->total);
	}
	return HIWAT_OK;
}

/* A row of one number belongs to no CPU, also where there is but one. */
static bool
row_total_live(const struct parse_percpu *percpu, const struct live_columns *live, unsigned columns, struct row *row)
{
	static const uint32_t no_cpu = UINT32_MAX;

	if (row->n_numbers < columns || IS_ONE_OF(row->label, single_rows))
		return percpu->total(percpu->arg, row->label, &no_cpu, live->numbers, 1, &row->total);
	return percpu->total(percpu->arg, row->label, live->cpus, live->numbers, columns, &row->total);
}

static int
parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why, bool is_softirqs)
{
	struct text text = in->text, rest, line;
	const char *kind = is_softirqs ? "proc-softirqs" : "proc-interrupts";
	uint64_t unknown = 0;
	size_t n_rows = 0, n_vectors = 0;
	struct live_columns live = { 0 };
	struct record_index index;
	bool cut;

	if (proc_unwrap(arena, &text) != HIWAT_OK)
		return HIWAT_E_NOMEM;
	rest = last_dump(text, is_header);
	if (!text_line(&rest, &line, &cut))
		return parse_fail(why, HIWAT_E_NODATA, "no header of CPU columns");
	unsigned columns = header_columns(line);
	Hiwat__Interrupt *m = RECORD_ONE(arena, out, interrupt, interrupt);
	if (m == NULL || (in->percpu != NULL && live_columns_read(arena, line, columns, &live) != HIWAT_OK))
		return HIWAT_E_NOMEM;
	record_index_init(&index, arena);
	while (text_line(&rest, &line, &cut)) {
		struct row row;
		if (text_trim(line).n == 0)
			continue;
		if (!row_read(line, columns, cut, live.numbers, &row)) {
			/* FIQ: the name of its owner and no count, on ARM. */
			unknown += !cut && !text_eq(row.label, "FIQ");
			continue;
		}
		bool is_vector = IS_ONE_OF(row.label, softirq_vectors);
		if (is_softirqs && !is_vector && (row.is_numeric || text_trim(row.tail).n > 0)) {
			unknown++;
			continue;
		}
		if (in->percpu != NULL && !row_total_live(in->percpu, &live, columns, &row))
			return HIWAT_E_NOMEM;
		n_rows++;
		n_vectors += is_vector;
		int err = row_add(&index, m, &row, is_softirqs);
		if (err != HIWAT_OK)
			return err;
	}
	if (n_rows == 0)
		return parse_fail(why, HIWAT_E_NODATA, "a header of CPU columns and no rows of numbers");
	if (is_softirqs ? n_vectors == 0 : n_vectors == n_rows)
		return parse_fail(why, HIWAT_E_NODATA, "the rows are those of /proc/%s",
		    is_softirqs ? "interrupts" : "softirqs");
	return unknown > 0 ? record_count_unknown(arena, out, kind, unknown) : HIWAT_OK;
}

int
proc_interrupts_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	return parse(in, arena, out, why, false);
}

int
proc_softirqs_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	return parse(in, arena, out, why, true);
}

/* A header among the first lines, and whether the row behind it has the name of a softirq. */
static int
recognise(struct text text, bool is_softirqs)
{
	struct text line;
	unsigned columns = 0;

	for (int i = 0; i < 20 && text_line(&text, &line, NULL); i++) {
		struct row row;
		struct text trimmed = text_trim(line);
		if (trimmed.n == 0)
			continue;
		if (is_header(trimmed))
			columns = header_columns(trimmed);
		else if (columns > 0 && row_read(line, columns, false, NULL, &row))
			return IS_ONE_OF(row.label, softirq_vectors) == is_softirqs ? 95 : 0;
	}
	return 0;
}

int
proc_interrupts_recognise(struct text text)
{
	return recognise(text, false);
}

int
proc_softirqs_recognise(struct text text)
{
	return recognise(text, true);
}
