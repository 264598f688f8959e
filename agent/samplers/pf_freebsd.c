/*
 * The packet filter of FreeBSD: pfctl. Its ioctls are no interface to compile against: DIOCGETSTATUS went with 14 in favour
 * of one that speaks nvlists, and 15 moves to netlink, both with their libraries private to the base system. pfctl comes
 * with the kernel that it talks to.
 */
#include <stdlib.h>

#include "err.h"
#include "pf_command.h"
#include "pfctl.h"
#include "record.h"
#include "source.h"

#define DEADLINE_MS 3000

struct pf {
	struct fetch fetch;
	struct pf_command command;
};

static void
pf_close(void *state)
{
	struct pf *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
pf_open(const struct sampler_config *config, void **state)
{
	struct pf *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 64 << 10);
	*state = s;
	return HIWAT_OK;
}

/* What pfctl prints when nothing ever went through the filter, and also, in 15.1, when it refuses an ordinary user. */
static bool
is_blank(const Hiwat__Pf *m)
{
	return m == NULL ||
	    ((!m->has_enabled || m->enabled == 0) && m->states == 0 && m->state_searches_total == 0 &&
		m->state_inserts_total == 0);
}

static int
pf_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	static const char *const args[] = { "-v", "-s", "info", NULL };
	static const struct pf_question question = { args, pfctl_info_parse, is_blank };
	struct pf *s = state;

	(void)now;
	return pf_command_sample(&s->command, &question, &s->fetch, DEADLINE_MS, arena, out, why);
}

const struct sampler sampler_pf = {
	.name = "pf",
	.help = "states and counters of the packet filter",
	.interval_ms = 10000,
	.deadline_ms = DEADLINE_MS,
	.may_block = true,
	.open = pf_open,
	.sample = pf_sample,
	.close = pf_close,
};
