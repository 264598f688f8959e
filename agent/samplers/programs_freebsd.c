/* What FreeBSD has a program for and no structure that lasts from one release to the next. */
#include <stdlib.h>

#include "err.h"
#include "netstat.h"
#include "run_parse.h"
#include "source.h"
#include "vmstat.h"

#define DEADLINE_MS 5000

static const char *const queues_argv[] = { "/usr/bin/netstat", "-L", "-a", "-n", NULL };
static const char *const zones_argv[] = { "/usr/bin/vmstat", "-z", NULL };
static const struct program queues = { queues_argv, netstat_listen_parse };
static const struct program zones = { zones_argv, vmstat_z_parse };

struct programs {
	struct fetch fetch;
	const struct program *program;
};

static void
programs_close(void *state)
{
	struct programs *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
programs_open(const struct sampler_config *config, const struct program *program, void **state)
{
	struct programs *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 1 << 20);
	s->program = program;
	*state = s;
	return HIWAT_OK;
}

static int
queues_open(const struct sampler_config *config, void **state)
{
	return programs_open(config, &queues, state);
}

static int
zones_open(const struct sampler_config *config, void **state)
{
	return programs_open(config, &zones, state);
}

static int
programs_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct programs *s = state;

	(void)now;
	return program_sample(s->program, &s->fetch, DEADLINE_MS, arena, out, why);
}

const struct sampler sampler_listen_queues = {
	.name = "listen_queues",
	.help = "accept queues and their limits",
	.interval_ms = 10000,
	.deadline_ms = DEADLINE_MS,
	.may_block = true,
	.open = queues_open,
	.sample = programs_sample,
	.close = programs_close,
};

const struct sampler sampler_zones = {
	.name = "zones",
	.help = "zones of kernel memory and their limits",
	.interval_ms = 30000,
	.deadline_ms = DEADLINE_MS,
	.may_block = true,
	.open = zones_open,
	.sample = programs_sample,
	.close = programs_close,
};
