/*
 * Interrupts and CPU times: /proc/stat and /proc/interrupts. Of a host with many interrupt lines the busiest are sent one by
 * one, the others as one sum.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "busiest.h"
#include "err.h"
#include "live.h"
#include "proc.h"
#include "record.h"
#include "source.h"

enum { STAT, INTERRUPTS, N_SOURCES };

static const struct source_row rows[N_SOURCES] = {
	[STAT] = { .name = "stat", .parse = proc_stat_parse },
	/* Absent on systems without interrupts of their own, such as s390 guests and some containers. */
	[INTERRUPTS] = { .name = "interrupts", .parse = proc_interrupts_parse, .is_optional = true },
};

/* What tells of one CPU being busy with interrupts; the rest of its time is one sum, so that shares can be worked out. */
static const char *const core_modes[] = { "interrupt", "softirq", "idle" };
static const char other_modes[] = "other";

struct interrupts {
	struct fetch fetch;
	struct parse_input units;
	struct source sources[N_SOURCES];
	struct live *counts;    /* softirqs and totals */
	struct live *times;     /* CPU times in ticks */
	struct busiest busiest; /* with the rows of /proc/interrupts */
};

static void
interrupts_close(void *state)
{
	struct interrupts *s = state;

	sources_fini(s->sources, N_SOURCES);
	fetch_fini(&s->fetch);
	live_free(s->busiest.rows);
	live_free(s->counts);
	live_free(s->times);
	free(s);
}

static bool
row_total(void *arg, struct text name, const uint32_t *cpus, const uint64_t *numbers, size_t n, uint64_t *total)
{
	struct live_row *row = live_add(arg, name, cpus, numbers, n);

	if (row == NULL)
		return false;
	*total = row->total;
	return true;
}

static int
interrupts_open(const struct sampler_config *config, void **state)
{
	struct interrupts *s = calloc(1, sizeof(*s));
	int err = HIWAT_E_NOMEM;

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 16 << 20); /* CPUs times lines times 11 bytes */
	s->units = source_units();
	s->busiest.rows = live_new();
	s->counts = live_new();
	s->times = live_new();
	if (s->busiest.rows != NULL && s->counts != NULL && s->times != NULL)
		err = sources_init(s->sources, config->proc_dir, rows, N_SOURCES);
	if (err != HIWAT_OK) {
		interrupts_close(s);
		return err;
	}
	*state = s;
	return HIWAT_OK;
}

/* Idle times step back by a few ticks, and by more when a CPU came back. */
static int
steady_seconds(struct interrupts *s, const char *cpu, const char *mode, double *seconds)
{
	char name[LIVE_NAME_MAX + 1];
	double hz = (double)(s->units.hz != 0 ? s->units.hz : 100);

	snprintf(name, sizeof(name), "%s %s", cpu, mode);
	uint64_t ticks = (uint64_t)llround(*seconds * hz);
	struct live_row *row = live_add_wavering(s->times, text_of(name), ticks, (uint64_t)(10 * hz));
	if (row == NULL)
		return HIWAT_E_NOMEM;
	*seconds = (double)row->total / hz;
	return HIWAT_OK;
}

static bool
is_core_mode(const char *mode)
{
	for (size_t i = 0; i < sizeof(core_modes) / sizeof(core_modes[0]); i++) {
		if (strcmp(mode, core_modes[i]) == 0)
			return true;
	}
	return false;
}

/* Keeps the modes of interest and makes the others one. */
static int
steady_core(struct interrupts *s, struct arena *arena, Hiwat__CpuCore *core)
{
	size_t kept = 0;
	double others = 0;

	for (size_t i = 0; i < core->n_modes; i++) {
		Hiwat__CpuCoreByMode *m = core->modes[i];
		int err = steady_seconds(s, core->cpu, m->mode, &m->seconds_total);
		if (err != HIWAT_OK)
			return err;
		if (is_core_mode(m->mode))
			core->modes[kept++] = m;
		else
			others += m->seconds_total;
	}
	if (kept == core->n_modes)
		return HIWAT_OK;
	core->n_modes = kept;
	Hiwat__CpuCoreByMode *rest = RECORD_ADD(arena, core, modes, cpu_core_by_mode);
	if (rest == NULL || (rest->mode = record_label(arena, text_of(other_modes))) == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(rest, seconds_total, others);
	return HIWAT_OK;
}

static int
steady_times(struct interrupts *s, struct arena *arena, Hiwat__Interrupt *m)
{
	int err = HIWAT_OK;

	live_begin(s->times);
	for (size_t i = 0; i < m->n_cpu && err == HIWAT_OK; i++)
		err = steady_seconds(s, "", m->cpu[i]->mode, &m->cpu[i]->seconds_total);
	for (size_t i = 0; i < m->n_cores && err == HIWAT_OK; i++)
		err = steady_core(s, arena, m->cores[i]);
	return err;
}

static int
live_counts(struct interrupts *s, Hiwat__Interrupt *m)
{
	struct live_row *row;

	live_begin(s->counts);
	if (m->all != NULL) {
		/* 64 bits wide, made of parts of 32 bits: it falls when one of them wraps. */
		row = live_add_one(s->counts, TEXT("intr"), m->all->total);
		if (row == NULL)
			return HIWAT_E_NOMEM;
		m->all->total = row->total;
	}
	for (size_t i = 0; i < m->n_softirqs; i++) {
		row = live_add_one(s->counts, text_of(m->softirqs[i]->vector), m->softirqs[i]->total);
		if (row == NULL)
			return HIWAT_E_NOMEM;
		m->softirqs[i]->total = row->total;
	}
	return HIWAT_OK;
}

/* Its device text changes when drivers come and go. */
static struct text
irq_key(const Hiwat__InterruptsBySource *source, char *room)
{
	(void)room;
	return text_of(source->irq);
}

static int
interrupts_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct interrupts *s = state;
	struct parse_percpu percpu = { row_total, s->busiest.rows };
	struct parse_input units = s->units;

	(void)now;
	units.percpu = &percpu;
	live_begin(s->busiest.rows);
	int err = sources_sample(s->sources, N_SOURCES, &s->fetch, &units, arena, out, why);
	if (err != HIWAT_OK)
		return err;
	/* The same text tells of the run queue and the boot time, which other samplers send. */
	out->system = NULL;
	out->settings = NULL;
	Hiwat__Interrupt *m = out->interrupt;
	if (m == NULL || m->n_cpu == 0)
		return sampler_fail(why, HIWAT_E_NODATA, "%s holds no CPU times", s->sources[STAT].file.path);
	err = steady_times(s, arena, m);
	if (err == HIWAT_OK)
		err = live_counts(s, m);
	if (err == HIWAT_OK && m->n_sources > 0)
		err = busiest_keep(&s->busiest, irq_key, arena, m);
	return err;
}

const struct sampler sampler_interrupts = {
	.name = "interrupts",
	.help = "interrupts, softirqs and the CPU time they take",
	.interval_ms = 10000,
	.deadline_ms = 3000,
	.open = interrupts_open,
	.sample = interrupts_sample,
	.close = interrupts_close,
};
