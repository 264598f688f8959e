/*
 * ZFS pools, the same on every system that has them: zpool status, with exact counts where zpool can print such. It is not
 * run where there is no /dev/zfs, since on FreeBSD zpool would load the module to say that there is no pool.
 */
#include <stdlib.h>
#include <unistd.h>

#include "err.h"
#include "run_parse.h"
#include "source.h"
#include "zpool.h"

#define DEADLINE_MS 10000

static const char *const exact_argv[] = { "/sbin/zpool", "status", "-p", NULL };
static const char *const rounded_argv[] = { "/sbin/zpool", "status", NULL };

/* -p came with 0.7. */
static const struct program programs[] = {
	{ exact_argv, zpool_status_parse },
	{ rounded_argv, zpool_status_parse },
};

struct zpool {
	struct fetch fetch;
	const char *device;
	int chosen;
};

static void
zpool_close(void *state)
{
	struct zpool *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
zpool_open(const struct sampler_config *config, void **state)
{
	struct zpool *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 1 << 20);
	s->device = config->zfs_path;
	s->chosen = -1;
	*state = s;
	return HIWAT_OK;
}

static int
zpool_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	struct zpool *s = state;

	(void)now;
	if (s->device == NULL || access(s->device, F_OK) != 0)
		return sampler_fail(why, HIWAT_E_MISSING, "there is no /dev/zfs");
	int err = program_sample_first(programs, sizeof(programs) / sizeof(programs[0]), &s->chosen, &s->fetch, DEADLINE_MS,
	    arena, out, why);
	if (err == HIWAT_OK && (out->storage == NULL || out->storage->n_zpools == 0))
		return sampler_fail(why, HIWAT_E_MISSING, "zpool status: there is no pool");
	return err;
}

const struct sampler sampler_zpool = {
	.name = "zpool",
	.help = "state, errors and scrubs of ZFS pools",
	.interval_ms = 60000,
	.deadline_ms = DEADLINE_MS,
	.may_block = true,
	.open = zpool_open,
	.sample = zpool_sample,
	.close = zpool_close,
};
