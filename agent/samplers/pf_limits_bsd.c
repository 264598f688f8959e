/*
 * The packet filter's limits and timeouts: pfctl, which must be able to open /dev/pf. Where that is denied doas(1) is tried
 * once, for hosts whose doas.conf lets the agent's user run just these commands.
 */
#include <stdlib.h>

#include "err.h"
#include "pf_command.h"
#include "pfctl.h"
#include "record.h"
#include "source.h"

#define DEADLINE_MS 3000

static bool
has_no_limits(const Hiwat__Pf *m)
{
	for (size_t i = 0; m != NULL && i < m->n_limits; i++) {
		if (m->limits[i]->value != 0)
			return false;
	}
	return true;
}

static bool
has_no_timeouts(const Hiwat__Pf *m)
{
	for (size_t i = 0; m != NULL && i < m->n_timeouts; i++) {
		if (m->timeouts[i]->seconds != 0)
			return false;
	}
	return true;
}

static const char *const memory_args[] = { "-s", "memory", NULL };
static const char *const timeouts_args[] = { "-s", "timeouts", NULL };
static const struct pf_question memory = { memory_args, pfctl_memory_parse, has_no_limits };
static const struct pf_question timeouts = { timeouts_args, pfctl_timeouts_parse, has_no_timeouts };

struct pf_limits {
	struct fetch fetch;
	struct pf_command command;
};

static void
pf_limits_close(void *state)
{
	struct pf_limits *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
pf_limits_open(const struct sampler_config *config, void **state)
{
	struct pf_limits *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 64 << 10);
	*state = s;
	return HIWAT_OK;
}

static int
pf_limits_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct pf_limits *s = state;
	int err = pf_command_sample(&s->command, &memory, &s->fetch, DEADLINE_MS, arena, out, why);

	(void)now;
	if (err != HIWAT_OK)
		return err;
	/* Each parser makes a message of its own. */
	const Hiwat__Pf *limits = out->pf;
	err = pf_command_sample(&s->command, &timeouts, &s->fetch, DEADLINE_MS, arena, out, why);
	if (err != HIWAT_OK)
		return err;
	out->pf->n_limits = limits->n_limits;
	out->pf->limits = limits->limits;
	return HIWAT_OK;
}

const struct sampler sampler_pf_limits = {
	.name = "pf_limits",
	.help = "limits and timeouts of the packet filter",
	.interval_ms = 60000,
	.deadline_ms = 2 * DEADLINE_MS,
	.may_block = true,
	.open = pf_limits_open,
	.sample = pf_limits_sample,
	.close = pf_limits_close,
};
