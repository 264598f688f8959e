/* /proc/stat: CPU times in ticks, interrupts and softirqs handled, boot time. */
#include "proc.h"

#include "arena.h"
#include "err.h"
#include "last_dump.h"
#include "record_row.h"

/* Columns of a cpu row; guest times behind them are already in user and nice. Old kernels print fewer. */
static const char *const modes[] = { "user", "nice", "system", "idle", "iowait", "interrupt", "softirq", "steal" };
#define N_MODES (sizeof(modes) / sizeof(modes[0]))

/* Numbers of the softirq row behind its total, since 2.6.31. */
static const char *const vectors[] = { "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER",
	"RCU" };
#define N_VECTORS (sizeof(vectors) / sizeof(vectors[0]))

#define MAX_NUMBERS 32 /* of a cpu or softirq row; later kernels may add some to the 10 and 11 there are */

struct state {
	struct arena *arena;
	Hiwat__Record *out;
	Hiwat__Interrupt *interrupt;
	double hz;
	size_t n_columns;           /* numbers of the first cpu row, as all rows have */
	char *mode_labels[N_MODES]; /* shared by all rows */
	struct record_index cores;
	uint64_t unknown;
	bool has_data;
};

/* "cpu" or "cpu" and digits; *core is the digits, empty for the row of all CPUs. */
static bool
is_cpu(struct text word, struct text *core)
{
	uint64_t n;

	*core = word;
	return text_skip(core, "cpu") && (core->n == 0 || text_is_u64(*core, &n));
}

static bool
is_first_line(struct text line)
{
	struct text word, core;
	uint64_t ticks;

	return text_starts(line, "cpu") && text_word(&line, &word) && is_cpu(word, &core) && core.n == 0 &&
	    text_word(&line, &word) && text_is_u64(word, &ticks);
}

/*
 * The numbers of a row; at a cut end without the last one, which may lack digits, unless it is the full-th. -1 when a word
 * is no number.
 */
static int
read_numbers(struct text line, bool cut, size_t full, uint64_t numbers[MAX_NUMBERS])
{
	struct text word;
	size_t n = 0;

	while (n < MAX_NUMBERS && text_word(&line, &word)) {
		if (!text_is_u64(word, &numbers[n]))
			return -1;
		if (cut && line.n == 0 && n + 1 != full)
			break;
		n++;
	}
	return (int)n;
}

static int
add_core(struct state *s, struct text core, const uint64_t *numbers, size_t n)
{
	Hiwat__CpuCore *row = RECORD_INDEX_ROW(&s->cores, s->interrupt, cores, cpu_core, core);

	if (row == NULL)
		return HIWAT_E_NOMEM;
	if (row->n_modes > 0) {
		s->unknown++;
		return HIWAT_OK;
	}
	for (size_t i = 0; i < n; i++) {
		Hiwat__CpuCoreByMode *m = RECORD_ADD(s->arena, row, modes, cpu_core_by_mode);
		if (m == NULL)
			return HIWAT_E_NOMEM;
		m->mode = s->mode_labels[i];
		RECORD_SET(m, seconds_total, (double)numbers[i] / s->hz);
	}
	return HIWAT_OK;
}

static int
add_all_cpus(struct state *s, const uint64_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		Hiwat__CpuByMode *m = RECORD_ADD(s->arena, s->interrupt, cpu, cpu_by_mode);
		if (m == NULL)
			return HIWAT_E_NOMEM;
		m->mode = s->mode_labels[i];
		RECORD_SET(m, seconds_total, (double)numbers[i] / s->hz);
	}
	return HIWAT_OK;
}

static int
cpu_line(struct state *s, struct text core, struct text line, bool cut)
{
	uint64_t numbers[MAX_NUMBERS];
	int n = read_numbers(line, cut, s->n_columns, numbers);

	if (n <= 0 || (core.n == 0 && s->interrupt->n_cpu > 0)) {
		s->unknown += !cut;
		return HIWAT_OK;
	}
	s->has_data = true;
	if (s->n_columns == 0)
		s->n_columns = (size_t)n;
	size_t n_modes = (size_t)n < N_MODES ? (size_t)n : N_MODES;
	return core.n > 0 ? add_core(s, core, numbers, n_modes) : add_all_cpus(s, numbers, n_modes);
}

static int
softirq_line(struct state *s, struct text line, bool cut)
{
	uint64_t numbers[MAX_NUMBERS];
	int n = read_numbers(line, cut, N_VECTORS + 1, numbers);

	/* Another number of vectors than the one we know: they cannot be told apart. A cut row starts as a whole one does. */
	if (n < 1 || (!cut && n != (int)N_VECTORS + 1) || n > (int)N_VECTORS + 1 || s->interrupt->n_softirqs > 0) {
		s->unknown += !cut;
		return HIWAT_OK;
	}
	for (int i = 1; i < n; i++) {
		Hiwat__SoftirqsByVector *v = RECORD_ADD(s->arena, s->interrupt, softirqs, softirqs_by_vector);
		if (v == NULL || (v->vector = record_label(s->arena, text_of(vectors[i - 1]))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(v, total, numbers[i]);
	}
	return HIWAT_OK;
}

/* Rows of one number of interest, the first. */
static int
number_line(struct state *s, struct text key, uint64_t value)
{
	if (text_eq(key, "intr")) {
		Hiwat__InterruptsAll *all = RECORD_ONE(s->arena, s->interrupt, all, interrupts_all);
		if (all == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(all, total, value);
		s->has_data = true;
	} else if (text_eq(key, "btime")) {
		Hiwat__Settings *settings = RECORD_ONE(s->arena, s->out, settings, settings);
		Hiwat__Boot *boot = settings != NULL ? RECORD_ONE(s->arena, settings, boot, boot) : NULL;
		if (boot == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(boot, time_seconds, (double)value);
	} else if (text_eq(key, "procs_running")) {
		Hiwat__System *system = RECORD_ONE(s->arena, s->out, system, system);
		Hiwat__RunQueue *queue = system != NULL ? RECORD_ONE(s->arena, system, run_queue, run_queue) : NULL;
		if (queue == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(queue, value, value);
	} else if (!text_eq(key, "ctxt") && !text_eq(key, "processes") && !text_eq(key, "procs_blocked") &&
	    !text_eq(key, "page") && !text_eq(key, "swap")) { /* page, swap: 2.4 */
		s->unknown++;
	}
	return HIWAT_OK;
}

static int
stat_line(struct state *s, struct text line, bool cut)
{
	struct text key, word, core;
	uint64_t value;

	if (!text_word(&line, &key))
		return HIWAT_OK;
	if (is_cpu(key, &core))
		return cpu_line(s, core, line, cut);
	if (text_eq(key, "softirq"))
		return softirq_line(s, line, cut);
	if (!text_word(&line, &word) || !text_is_u64(word, &value)) {
		s->unknown += !cut;
		return HIWAT_OK;
	}
	/* Behind intr's total there are always more numbers. */
	return cut && line.n == 0 && text_eq(key, "intr") ? HIWAT_OK : number_line(s, key, value);
}

int
proc_stat_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct state s = { .arena = arena, .out = out, .hz = in->hz > 0 ? (double)in->hz : 100 };
	struct text rest = last_dump(in->text, is_first_line), line;
	bool cut;

	record_index_init(&s.cores, arena);
	s.interrupt = RECORD_ONE(arena, out, interrupt, interrupt);
	if (s.interrupt == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < N_MODES; i++) {
		if ((s.mode_labels[i] = record_label(arena, text_of(modes[i]))) == NULL)
			return HIWAT_E_NOMEM;
	}
	while (text_line(&rest, &line, &cut)) {
		int err = stat_line(&s, line, cut);
		if (err != HIWAT_OK)
			return err;
	}
	if (!s.has_data)
		return parse_fail(why, HIWAT_E_NODATA, "no cpu row");
	return s.unknown > 0 ? record_count_unknown(arena, out, "proc-stat", s.unknown) : HIWAT_OK;
}

int
proc_stat_recognise(struct text text)
{
	struct text line;

	for (int i = 0; i < 20 && text_line(&text, &line, NULL); i++) {
		if (is_first_line(text_trim(line)))
			return 95;
	}
	return 0;
}
