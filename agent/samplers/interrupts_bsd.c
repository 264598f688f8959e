/* Interrupts and CPU times as the kernels of the BSDs count them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "busiest.h"
#include "err.h"
#include "interrupt_rows.h"
#include "kernel_bsd.h"
#include "record.h"
#include "source.h"

static const char *const mode_names[CPU_MODES] = {
	[CPU_USER] = "user",
	[CPU_NICE] = "nice",
	[CPU_SYSTEM] = "system",
	[CPU_SPIN] = "spin",
	[CPU_INTERRUPT] = "interrupt",
	[CPU_IDLE] = "idle",
};

/* What tells of one CPU being busy with interrupts; the rest of its time is one sum, so that shares can be worked out. */
static const struct core_mode {
	const char *name;
	unsigned modes; /* bit 1 << mode */
} core_modes[] = {
	{ "interrupt", 1u << CPU_INTERRUPT },
	{ "idle", 1u << CPU_IDLE },
	{ "other", 1u << CPU_USER | 1u << CPU_NICE | 1u << CPU_SYSTEM | 1u << CPU_SPIN },
};

struct interrupts {
	struct fetch fetch;
	struct live *times; /* CPU times in ticks */
	struct live *all;   /* the sum of all sources */
	struct busiest busiest;
};

static void
interrupts_close(void *state)
{
	struct interrupts *s = state;

	fetch_fini(&s->fetch);
	live_free(s->times);
	live_free(s->all);
	live_free(s->busiest.rows);
	free(s);
}

static int
interrupts_open(const struct sampler_config *config, void **state)
{
	struct interrupts *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 1 << 20);
	s->times = live_new();
	s->all = live_new();
	s->busiest.rows = live_new();
	if (s->times == NULL || s->all == NULL || s->busiest.rows == NULL) {
		interrupts_close(s);
		return HIWAT_E_NOMEM;
	}
	*state = s;
	return HIWAT_OK;
}

/* Numbers and devices together: on OpenBSD several sources have one number. */
static struct text
source_key(const Hiwat__InterruptsBySource *source, char *room)
{
	size_t irq = strlen(source->irq), device = strlen(source->device);

	if (irq > LIVE_NAME_MAX)
		irq = LIVE_NAME_MAX;
	memcpy(room, source->irq, irq);
	room[irq] = ' ';
	if (device > LIVE_NAME_MAX - irq)
		device = LIVE_NAME_MAX - irq;
	memcpy(room + irq, source->device, device);
	return (struct text){ room, irq + device };
}

static int
add_sources(struct interrupts *s, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct irq_count *counts;
	struct interrupt_rows rows;
	char room[LIVE_NAME_MAX + 1];
	uint64_t sum = 0;
	size_t n;

	int err = irq_counts(&s->fetch, arena, &counts, &n);
	if (err == HIWAT_E_MISSING)
		return HIWAT_OK; /* a kernel or a jail that does not count them by source */
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	err = interrupt_rows_init(&rows, arena, out);
	for (size_t i = 0; i < n && err == HIWAT_OK; i++) {
		sum += counts[i].count;
		if (counts[i].count != 0)
			err = interrupt_rows_add(&rows, counts[i].name, counts[i].count);
	}
	if (err != HIWAT_OK)
		return err;
	Hiwat__Interrupt *m = out->interrupt;
	live_begin(s->busiest.rows);
	for (size_t i = 0; i < m->n_sources; i++) {
		struct live_row *row = live_add_one(s->busiest.rows, source_key(m->sources[i], room), m->sources[i]->total);
		if (row == NULL)
			return HIWAT_E_NOMEM;
		m->sources[i]->total = row->total;
	}
	live_begin(s->all);
	struct live_row *all = live_add_one(s->all, TEXT("all"), sum);
	if (all == NULL)
		return HIWAT_E_NOMEM;
	err = interrupt_rows_set_all(&rows, all->total);
	if (err == HIWAT_OK && m->n_sources > 0)
		err = busiest_keep(&s->busiest, source_key, arena, m);
	return err;
}

/* A number that steps back by less than ten seconds waits: OpenBSD gives the mean of the CPUs that are on line. */
static int
steady_seconds(struct interrupts *s, const char *cpu, const char *mode, uint64_t ticks, uint64_t hertz, double *seconds)
{
	char key[LIVE_NAME_MAX + 1];
	size_t cpu_len = strlen(cpu), mode_len = strlen(mode);

	memcpy(key, cpu, cpu_len);
	key[cpu_len] = ' ';
	memcpy(key + cpu_len + 1, mode, mode_len);
	struct live_row *row = live_add_wavering(s->times, (struct text){ key, cpu_len + 1 + mode_len }, ticks, 10 * hertz);
	if (row == NULL)
		return HIWAT_E_NOMEM;
	*seconds = (double)row->total / (double)hertz;
	return HIWAT_OK;
}

static int
add_all_cpus(struct interrupts *s, uint64_t hertz, struct arena *arena, Hiwat__Interrupt *m, struct sampler_reason *why)
{
	struct cpu_ticks all;
	int err = cpu_ticks_all(&s->fetch, &all);

	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	for (int mode = 0; mode < CPU_MODES && err == HIWAT_OK; mode++) {
		if (mode == CPU_SPIN && !all.has_spin)
			continue;
		Hiwat__CpuByMode *row = RECORD_ADD(arena, m, cpu, cpu_by_mode);
		if (row == NULL || (row->mode = record_label(arena, text_of(mode_names[mode]))) == NULL)
			return HIWAT_E_NOMEM;
		row->has_seconds_total = 1;
		err = steady_seconds(s, "", mode_names[mode], all.ticks[mode], hertz, &row->seconds_total);
	}
	return err;
}

static int
add_cores(struct interrupts *s, uint64_t hertz, struct arena *arena, Hiwat__Interrupt *m, struct sampler_reason *why)
{
	struct cpu_ticks *each;
	char number[12];
	size_t n;
	int err = cpu_ticks_each(&s->fetch, arena, &each, &n);

	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	for (size_t i = 0; i < n; i++) {
		Hiwat__CpuCore *core = RECORD_ADD(arena, m, cores, cpu_core);
		snprintf(number, sizeof(number), "%u", each[i].cpu);
		if (core == NULL || (core->cpu = record_label(arena, text_of(number))) == NULL)
			return HIWAT_E_NOMEM;
		for (size_t j = 0; j < sizeof(core_modes) / sizeof(core_modes[0]); j++) {
			const struct core_mode *mode = &core_modes[j];
			uint64_t ticks = 0;
			for (int k = 0; k < CPU_MODES; k++)
				ticks += (mode->modes >> k & 1) != 0 ? each[i].ticks[k] : 0;
			Hiwat__CpuCoreByMode *row = RECORD_ADD(arena, core, modes, cpu_core_by_mode);
			if (row == NULL || (row->mode = record_label(arena, text_of(mode->name))) == NULL)
				return HIWAT_E_NOMEM;
			row->has_seconds_total = 1;
			err = steady_seconds(s, number, mode->name, ticks, hertz, &row->seconds_total);
			if (err != HIWAT_OK)
				return err;
		}
	}
	return HIWAT_OK;
}

static int
interrupts_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct interrupts *s = state;
	uint64_t hertz, threshold;

	(void)now;
	int err = add_sources(s, arena, out, why);
	if (err != HIWAT_OK)
		return err;
	Hiwat__Interrupt *m = RECORD_ONE(arena, out, interrupt, interrupt);
	if (m == NULL)
		return HIWAT_E_NOMEM;
	err = cpu_hertz(&s->fetch, &hertz);
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	live_begin(s->times);
	err = add_all_cpus(s, hertz, arena, m, why);
	if (err == HIWAT_OK)
		err = add_cores(s, hertz, arena, m, why);
	/* FreeBSD only; 0: the kernel does not look for storms. */
	if (err == HIWAT_OK && sysctl_u64(&s->fetch, "hw.intr_storm_threshold", &threshold) == HIWAT_OK && threshold != 0)
		RECORD_SET(m, storm_threshold, threshold);
	return err;
}

const struct sampler sampler_interrupts = {
	.name = "interrupts",
	.help = "interrupts and the CPU time they take",
	.interval_ms = 10000,
	.deadline_ms = 3000,
	.open = interrupts_open,
	.sample = interrupts_sample,
	.close = interrupts_close,
};
