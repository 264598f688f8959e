/* Limits of the host outside the network: files, inodes in core, swap, processes. */
#include <stdlib.h>

#include "err.h"
#include "proc.h"
#include "record.h"
#include "source.h"

enum { FILE_NR, INODE_STATE, MEMINFO, LOADAVG, THREADS_MAX, PID_MAX, N_SOURCES };

static const struct source_row rows[N_SOURCES] = {
	[FILE_NR] = { .name = "sys/fs/file-nr", .parse = proc_file_nr_parse },
	[INODE_STATE] = { .name = "sys/fs/inode-state", .is_optional = true },
	[MEMINFO] = { .name = "meminfo", .parse = proc_meminfo_parse },
	[LOADAVG] = { .name = "loadavg", .parse = proc_loadavg_parse },
	[THREADS_MAX] = { .name = "sys/kernel/threads-max", .is_optional = true },
	[PID_MAX] = { .name = "sys/kernel/pid_max", .is_optional = true },
};

struct system {
	struct fetch fetch;
	struct parse_input units;
	struct source sources[N_SOURCES];
};

static void
system_close(void *state)
{
	struct system *s = state;

	sources_fini(s->sources, N_SOURCES);
	fetch_fini(&s->fetch);
	free(s);
}

static int
system_open(const struct sampler_config *config, void **state)
{
	struct system *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 1 << 20);
	s->units = source_units();
	int err = sources_init(s->sources, config->proc_dir, rows, N_SOURCES);
	if (err != HIWAT_OK) {
		system_close(s);
		return err;
	}
	*state = s;
	return HIWAT_OK;
}

/* inode-state: how many there are, how many of them are free, and numbers without a meaning today. Linux has no limit. */
static int
add_inodes(struct system *s, struct arena *arena, Hiwat__System *m, struct sampler_reason *why)
{
	struct text text, all, free_ones;
	uint64_t n_all, n_free;
	int err = source_text(&s->sources[INODE_STATE], &s->fetch, &text, why);

	if (err != HIWAT_OK || text.n == 0)
		return err;
	if (!text_word(&text, &all) || !text_is_u64(all, &n_all) || !text_word(&text, &free_ones) ||
	    !text_is_u64(free_ones, &n_free))
		return sampler_fail(why, HIWAT_E_FORMAT, "%s: no two numbers", s->sources[INODE_STATE].file.path);
	Hiwat__Vnodes *vnodes = RECORD_ONE(arena, m, vnodes, vnodes);
	if (vnodes == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(vnodes, value, n_all);
	RECORD_SET(vnodes, free, n_free);
	return HIWAT_OK;
}

/* Threads count against threads-max, and each needs a number below pid_max: the lower one ends the growth. */
static int
add_process_limit(struct system *s, Hiwat__System *m, struct sampler_reason *why)
{
	uint64_t threads_max, pid_max;
	bool has_threads, has_pids;
	int err = source_u64(&s->sources[THREADS_MAX], &s->fetch, &threads_max, &has_threads, why);

	if (err == HIWAT_OK)
		err = source_u64(&s->sources[PID_MAX], &s->fetch, &pid_max, &has_pids, why);
	if (err != HIWAT_OK || m->processes == NULL)
		return err;
	if (has_pids && (!has_threads || pid_max < threads_max))
		RECORD_SET(m->processes, limit, pid_max);
	else if (has_threads)
		RECORD_SET(m->processes, limit, threads_max);
	return HIWAT_OK;
}

static int
system_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct system *s = state;

	(void)now;
	int err = sources_sample(s->sources, N_SOURCES, &s->fetch, &s->units, arena, out, why);
	if (err != HIWAT_OK)
		return err;
	out->settings = NULL; /* memory: of the settings sampler */
	Hiwat__System *m = RECORD_ONE(arena, out, system, system);
	if (m == NULL)
		return HIWAT_E_NOMEM;
	err = add_inodes(s, arena, m, why);
	if (err == HIWAT_OK)
		err = add_process_limit(s, m, why);
	return err;
}

const struct sampler sampler_system = {
	.name = "system",
	.help = "open files, inodes in core, swap and processes",
	.interval_ms = 10000,
	.deadline_ms = 3000,
	.open = system_open,
	.sample = system_sample,
	.close = system_close,
};
