#include <string.h>
#include <sys/types.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "kernel_bsd.h"

_Static_assert(CPUSTATES == 5, "user, nice, system, interrupt, idle");

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

static void
copy_ticks(const char *raw, struct cpu_ticks *out)
{
	unsigned long ticks[CPUSTATES];

	memcpy(ticks, raw, sizeof(ticks));
	out->ticks[CPU_USER] = ticks[CP_USER];
	out->ticks[CPU_NICE] = ticks[CP_NICE];
	out->ticks[CPU_SYSTEM] = ticks[CP_SYS];
	out->ticks[CPU_INTERRUPT] = ticks[CP_INTR];
	out->ticks[CPU_IDLE] = ticks[CP_IDLE];
}

int
cpu_ticks_all(struct fetch *f, struct cpu_ticks *out)
{
	struct text raw;
	int err = sysctl_read(f, "kern.cp_time", &raw);

	if (err != HIWAT_OK)
		return err;
	if (raw.n != CPUSTATES * sizeof(long))
		return fetch_done(f, "sysctl", "kern.cp_time", clock_mono_ns(), HIWAT_E_FORMAT, 0, raw.n);
	*out = (struct cpu_ticks){ 0 };
	copy_ticks(raw.p, out);
	return HIWAT_OK;
}

/* Five numbers for each CPU number up to the highest; a number without a CPU has five zeros. */
int
cpu_ticks_each(struct fetch *f, struct arena *arena, struct cpu_ticks **rows, size_t *n)
{
	static const size_t row_size = CPUSTATES * sizeof(long);
	struct text raw;
	size_t kept = 0;
	int err = sysctl_read(f, "kern.cp_times", &raw);

	if (err == HIWAT_E_MISSING) {
		*n = 0; /* before 7.1 */
		return HIWAT_OK;
	}
	if (err != HIWAT_OK)
		return err;
	if (raw.n % row_size != 0)
		return fetch_done(f, "sysctl", "kern.cp_times", clock_mono_ns(), HIWAT_E_FORMAT, 0, raw.n);
	struct cpu_ticks *out = arena_calloc(arena, raw.n / row_size, sizeof(*out));
	if (out == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < raw.n / row_size; i++) {
		struct cpu_ticks *row = &out[kept];
		row->cpu = (uint32_t)i;
		copy_ticks(raw.p + i * row_size, row);
		for (int mode = 0; mode < CPU_MODES; mode++) {
			if (row->ticks[mode] != 0) {
				kept++;
				break;
			}
		}
	}
	*rows = out;
	*n = kept;
	return HIWAT_OK;
}
