/*
 * CPU time of a sample cycle through the encoding of its batch, all threads of this process together, on the running
 * system. usage: hiwat-bench-sample [CYCLES]. Time is made to pass 10 s from cycle to cycle, so that what is read once a minute
 * or once an hour counts as often as it does in service.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "codec.h"
#include "err.h"
#include "runner.h"

struct bench {
	struct runner *runner;
	struct arena arena;
	struct buf wire;
	size_t n_records, n_bytes;
};

/* CPU nanoseconds of one cycle at this boot time. */
static uint64_t
cycle(struct bench *b, uint64_t boot_ns)
{
	struct sampler_now now = { .wall_ns = clock_wall_ns(), .boot_ns = boot_ns };
	Hiwat__Batch batch = HIWAT__BATCH__INIT;
	uint64_t started_ns = clock_cpu_ns();

	arena_reset(&b->arena);
	buf_reset(&b->wire);
	if (runner_tick(b->runner, &now, &b->arena, &batch) != HIWAT_OK || batch_encode(&batch, &b->wire) != HIWAT_OK) {
		fprintf(stderr, "hiwat-bench-sample: a cycle failed\n");
		exit(1);
	}
	b->n_records = batch.n_records;
	b->n_bytes = b->wire.len;
	return clock_cpu_ns() - started_ns;
}

static void
bench(const char *name, const struct sampler *const *list, unsigned cycles)
{
	struct sampler_config config = SAMPLER_DEFAULTS;
	struct bench b = { 0 };
	uint64_t boot_ns = clock_boot_ns(), sum_ns = 0, least_ns = UINT64_MAX;

	if (runner_new(&config, list, 0, &b.runner) != HIWAT_OK) {
		fprintf(stderr, "hiwat-bench-sample: no runner\n");
		exit(1);
	}
	arena_init(&b.arena, RUNNER_ARENA_MAX);
	buf_init(&b.wire, CODEC_BATCH_MAX);
	uint64_t first_ns = cycle(&b, boot_ns);
	for (unsigned i = 1; i <= cycles; i++) {
		uint64_t ns = cycle(&b, boot_ns + i * 10 * NSEC_PER_SEC);
		sum_ns += ns;
		if (ns < least_ns)
			least_ns = ns;
	}
	printf("%-20s mean %7.1f us, least %7.1f us, first %7.1f us; last cycle %zu records, %zu bytes\n", name,
	    (double)sum_ns / cycles / 1000, (double)least_ns / 1000, (double)first_ns / 1000, b.n_records, b.n_bytes);
	runner_free(b.runner);
	arena_fini(&b.arena);
	buf_fini(&b.wire);
}

int
main(int argc, char **argv)
{
	unsigned long cycles = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;

	if (cycles == 0 || cycles > 1000000) {
		fprintf(stderr, "usage: hiwat-bench-sample [CYCLES]\n");
		return 2;
	}
	bench("all", samplers, (unsigned)cycles);
	for (const struct sampler *const *s = samplers; *s != NULL; s++) {
		const struct sampler *const one[] = { *s, NULL };
		bench((*s)->name, one, (unsigned)cycles);
	}
	return 0;
}
