#include "pf_command.h"

#include <unistd.h>

#include "err.h"
#include "run_parse.h"
#include "source.h"

#define ARGS_MAX 4

/* Of the base system and of FreeBSD's packages. */
static const char *const doas_paths[] = { "/usr/bin/doas", "/usr/local/bin/doas" };

/* doas: NULL to run pfctl itself. */
static int
ask(const char *doas, const struct pf_question *q, struct fetch *f, unsigned deadline_ms, struct arena *arena,
    Hiwat__Record *out, struct sampler_reason *why)
{
	const char *argv[ARGS_MAX + 4];
	size_t n = 0;

	if (doas != NULL) {
		argv[n++] = doas;
		argv[n++] = "-n";
	}
	argv[n++] = "/sbin/pfctl";
	for (size_t i = 0; q->args[i] != NULL && i < ARGS_MAX; i++)
		argv[n++] = q->args[i];
	argv[n] = NULL;
	struct program program = { argv, q->parse };
	return program_sample(&program, f, deadline_ms, arena, out, why);
}

static int
ask_itself(const struct pf_question *q, struct fetch *f, unsigned deadline_ms, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	int err = ask(NULL, q, f, deadline_ms, arena, out, why);

	if (geteuid() == 0 || (err != HIWAT_OK && err != HIWAT_E_NODATA) || (err == HIWAT_OK && !q->is_blank(out->pf)))
		return err;
	return sampler_fail(why, HIWAT_E_DENIED, "/sbin/pfctl gives no numbers, as it also does to a user whom it refuses");
}

static int
ask_by_doas(const struct pf_question *q, struct fetch *f, unsigned deadline_ms, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	int err = HIWAT_E_MISSING;

	for (size_t i = 0; err == HIWAT_E_MISSING && i < sizeof(doas_paths) / sizeof(doas_paths[0]); i++)
		err = ask(doas_paths[i], q, f, deadline_ms, arena, out, why);
	return err;
}

int
pf_command_sample(struct pf_command *c, const struct pf_question *q, struct fetch *f, unsigned deadline_ms,
    struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	Hiwat__Record before = *out;
	struct sampler_reason direct_why;

	if (c->is_chosen && c->by_doas)
		return ask_by_doas(q, f, deadline_ms, arena, out, why);
	int err = ask_itself(q, f, deadline_ms, arena, out, why);
	if (err == HIWAT_OK)
		c->is_chosen = true;
	if (err != HIWAT_E_DENIED || c->is_chosen || c->doas_refused)
		return err;
	/* What pfctl itself says is the better reason: most hosts have no doas. */
	direct_why = *why;
	*out = before;
	err = ask_by_doas(q, f, deadline_ms, arena, out, why);
	c->is_chosen = c->by_doas = err == HIWAT_OK;
	if (err == HIWAT_OK)
		return HIWAT_OK;
	c->doas_refused = true;
	*out = before;
	*why = direct_why;
	return HIWAT_E_DENIED;
}
