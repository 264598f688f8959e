#include <string.h>
#include <sys/types.h>
#include <sys/sched.h>
#include <sys/time.h>

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "kernel_bsd.h"

/*
 * The order of a vector of states by its length (sys/sys/sched.h): spin came in between with 6.4. Both are accepted, so
 * that a vector of another length is refused and never misread.
 */
static const enum cpu_mode five[] = { CPU_USER, CPU_NICE, CPU_SYSTEM, CPU_INTERRUPT, CPU_IDLE };
static const enum cpu_mode six[] = { CPU_USER, CPU_NICE, CPU_SYSTEM, CPU_SPIN, CPU_INTERRUPT, CPU_IDLE };

_Static_assert(CPUSTATES == 6 && CP_SPIN == 3 && CP_INTR == 4 && CP_IDLE == 5, "the order of six states");

int
cpu_hertz(struct fetch *f, uint64_t *hertz)
{
	struct clockinfo clock;
	struct text raw;
	int err = sysctl_read(f, "kern.clockrate", &raw);

	if (err != HIWAT_OK)
		return err;
	if (raw.n < sizeof(clock))
		return fetch_done(f, "sysctl", "kern.clockrate", clock_mono_ns(), HIWAT_E_FORMAT, 0, raw.n);
	memcpy(&clock, raw.p, sizeof(clock));
	int rate = clock.stathz > 0 ? clock.stathz : clock.hz;
	if (rate <= 0)
		return fetch_done(f, "sysctl", "kern.clockrate", clock_mono_ns(), HIWAT_E_IMPLAUSIBLE, 0, raw.n);
	*hertz = (uint64_t)rate;
	return HIWAT_OK;
}

static bool
copy_ticks(struct text raw, size_t width, struct cpu_ticks *out)
{
	size_t n = raw.n / width;

	if (raw.n % width != 0 || (n != 5 && n != 6))
		return false;
	*out = (struct cpu_ticks){ .has_spin = n == 6 };
	for (size_t i = 0; i < n; i++) {
		uint64_t wide = 0;
		uint32_t narrow;
		if (width == sizeof(wide)) {
			memcpy(&wide, raw.p + i * width, sizeof(wide));
		} else {
			memcpy(&narrow, raw.p + i * width, sizeof(narrow));
			wide = narrow;
		}
		out->ticks[n == 5 ? five[i] : six[i]] = wide;
	}
	return true;
}

int
cpu_ticks_all(struct fetch *f, struct cpu_ticks *out)
{
	struct text raw;
	int err = sysctl_read(f, "kern.cp_time", &raw);

	if (err == HIWAT_OK && !copy_ticks(raw, sizeof(long), out))
		err = fetch_done(f, "sysctl", "kern.cp_time", clock_mono_ns(), HIWAT_E_FORMAT, 0, raw.n);
	return err;
}

int
cpu_ticks_each(struct fetch *f, struct arena *arena, struct cpu_ticks **rows, size_t *n)
{
	uint64_t cpus;
	size_t kept = 0;
	int err = sysctl_u64(f, "hw.ncpu", &cpus);

	if (err != HIWAT_OK)
		return err;
	struct cpu_ticks *out = arena_calloc(arena, (size_t)cpus, sizeof(*out));
	if (out == NULL)
		return HIWAT_E_NOMEM;
	for (uint64_t i = 0; i < cpus; i++) {
		struct text raw;
		err = sysctl_read_row(f, "kern.cp_time2", (int)i, &raw);
		if (err == HIWAT_E_MISSING)
			continue; /* no such CPU, or a kernel without this table */
		if (err != HIWAT_OK)
			return err;
		if (!copy_ticks(raw, sizeof(uint64_t), &out[kept]))
			return fetch_done(f, "sysctl", "kern.cp_time2", clock_mono_ns(), HIWAT_E_FORMAT, 0, raw.n);
		out[kept++].cpu = (uint32_t)i;
	}
	*rows = out;
	*n = kept;
	return HIWAT_OK;
}
