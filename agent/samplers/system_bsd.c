/* Limits of the host outside the network: files, inodes in core, swap, processes. */
#include <stdlib.h>

#include "err.h"
#include "kernel_bsd.h"
#include "record.h"
#include "source.h"

struct system {
	struct fetch fetch;
};

static void
system_close(void *state)
{
	struct system *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
system_open(const struct sampler_config *config, void **state)
{
	struct system *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 64 << 20); /* the list of processes of FreeBSD */
	*state = s;
	return HIWAT_OK;
}

/* The first of several names that the kernel has; *has is false when it has none of them. */
static int
first_u64(struct system *s, const char *const *names, size_t n, uint64_t *value, bool *has, struct sampler_reason *why)
{
	*has = false;
	for (size_t i = 0; i < n; i++) {
		int err = sysctl_u64(&s->fetch, names[i], value);
		if (err == HIWAT_E_MISSING)
			continue;
		*has = err == HIWAT_OK;
		return err == HIWAT_OK ? err : sampler_fail_fetch(why, err, &s->fetch);
	}
	return HIWAT_OK;
}

#define FIRST_U64(s, names, value, has, why) first_u64(s, names, sizeof(names) / sizeof((names)[0]), value, has, why)

static int
add_files(struct system *s, struct arena *arena, Hiwat__System *m, struct sampler_reason *why)
{
	static const char *const open[] = { "kern.openfiles", "kern.nfiles" }, *const most[] = { "kern.maxfiles" };
	uint64_t value, limit;
	bool has, has_limit;
	int err = FIRST_U64(s, open, &value, &has, why);

	if (err == HIWAT_OK)
		err = FIRST_U64(s, most, &limit, &has_limit, why);
	if (err != HIWAT_OK)
		return err;
	Hiwat__Files *files = RECORD_ONE(arena, m, files, files);
	if (files == NULL)
		return HIWAT_E_NOMEM;
	if (has)
		RECORD_SET(files, open, value);
	if (has_limit)
		RECORD_SET(files, limit, limit);
	return HIWAT_OK;
}

static int
add_vnodes(struct system *s, struct arena *arena, Hiwat__System *m, struct sampler_reason *why)
{
	static const char *const all[] = { "vfs.numvnodes", "kern.numvnodes" };
	static const char *const unused[] = { "vfs.freevnodes" }, *const most[] = { "kern.maxvnodes" };
	uint64_t value, n_free, limit;
	bool has, has_free, has_limit;
	int err = FIRST_U64(s, all, &value, &has, why);

	if (err == HIWAT_OK)
		err = FIRST_U64(s, unused, &n_free, &has_free, why);
	if (err == HIWAT_OK)
		err = FIRST_U64(s, most, &limit, &has_limit, why);
	if (err != HIWAT_OK)
		return err;
	Hiwat__Vnodes *vnodes = RECORD_ONE(arena, m, vnodes, vnodes);
	if (vnodes == NULL)
		return HIWAT_E_NOMEM;
	if (has)
		RECORD_SET(vnodes, value, value);
	if (has_free)
		RECORD_SET(vnodes, free, n_free);
	if (has_limit)
		RECORD_SET(vnodes, limit, limit);
	return HIWAT_OK;
}

static int
add_processes(struct system *s, struct arena *arena, Hiwat__System *m, struct sampler_reason *why)
{
	uint64_t count, limit, length;
	int err = process_count(&s->fetch, &count);
	bool has_count = err == HIWAT_OK;

	/* Where a user sees but its own processes their number is not known; that is no failure of all the rest. */
	if (err != HIWAT_OK && err != HIWAT_E_DENIED)
		return sampler_fail_fetch(why, err, &s->fetch);
	err = sysctl_u64(&s->fetch, "kern.maxproc", &limit);
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	Hiwat__Processes *processes = RECORD_ONE(arena, m, processes, processes);
	Hiwat__RunQueue *queue = RECORD_ONE(arena, m, run_queue, run_queue);
	if (processes == NULL || queue == NULL)
		return HIWAT_E_NOMEM;
	if (has_count)
		RECORD_SET(processes, value, count);
	RECORD_SET(processes, limit, limit);
	err = run_queue(&s->fetch, &length);
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	RECORD_SET(queue, value, length);
	return HIWAT_OK;
}

static int
add_swap(struct system *s, struct arena *arena, Hiwat__System *m, struct sampler_reason *why)
{
	uint64_t used, limit;
	int err = swap_usage(&s->fetch, &used, &limit);

	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	if (limit == 0)
		return HIWAT_OK;
	Hiwat__Swap *swap = RECORD_ONE(arena, m, swap, swap);
	if (swap == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(swap, bytes_used, used);
	RECORD_SET(swap, bytes_limit, limit);
	return HIWAT_OK;
}

static int
system_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct system *s = state;
	Hiwat__System *m = RECORD_ONE(arena, out, system, system);

	(void)now;
	if (m == NULL)
		return HIWAT_E_NOMEM;
	int err = add_files(s, arena, m, why);
	if (err == HIWAT_OK)
		err = add_vnodes(s, arena, m, why);
	if (err == HIWAT_OK)
		err = add_processes(s, arena, m, why);
	if (err == HIWAT_OK)
		err = add_swap(s, arena, m, why);
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
