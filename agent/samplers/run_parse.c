#include "run_parse.h"

#include "err.h"
#include "source.h"

int
program_sample(const struct program *p, struct fetch *f, unsigned deadline_ms, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct parse_input in = source_units();
	struct parse_reason reason = { "" };

	in.os = PARSE_OS_UNKNOWN;
	int err = fetch_run(f, p->argv, deadline_ms, &in.text);
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, f);
	if (in.text.n > 0 && in.text.p[in.text.n - 1] != '\n' && in.text.p[in.text.n - 1] != '}')
		return sampler_fail(why, HIWAT_E_TRUNCATED, "%s: the output ends within a line", p->argv[0]);
	err = p->parse(&in, arena, out, &reason);
	if (err == HIWAT_OK)
		return HIWAT_OK;
	return sampler_fail(why, err, "%s: %s", p->argv[0], reason.text[0] != '\0' ? reason.text : err_text(err));
}

int
program_sample_first(const struct program *programs, int n, int *chosen, struct fetch *f, unsigned deadline_ms,
    struct arena *arena, Hiwat__Record *out, struct sampler_reason *why)
{
	Hiwat__Record before = *out;
	int err = HIWAT_E_MISSING;

	if (*chosen >= 0)
		return program_sample(&programs[*chosen], f, deadline_ms, arena, out, why);
	for (int i = 0; i < n; i++) {
		*out = before;
		err = program_sample(&programs[i], f, deadline_ms, arena, out, why);
		if (err == HIWAT_OK)
			*chosen = i;
		/* No other way leads round a full arena or a used-up deadline. */
		if (err == HIWAT_OK || err == HIWAT_E_NOMEM || err == HIWAT_E_TIMEOUT)
			return err;
	}
	return err;
}
