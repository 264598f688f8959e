#include "sampling.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "diag.h"
#include "err.h"

int
sampling_init(struct sampling *s, const char *command, const char *path)
{
	struct diag diag;

	*s = (struct sampling){ .sampler = SAMPLER_DEFAULTS };
	if (path == NULL && access(AGENT_CONFIG_DEFAULT, R_OK) != 0 && errno == EACCES) {
		fprintf(stderr, "hiwat-agent %s: %s cannot be read by this user, using defaults\n", command,
		    AGENT_CONFIG_DEFAULT);
		return 0;
	}
	diag_init(&diag);
	int err = agent_config_load(path, &s->config, &diag);
	if (err != HIWAT_OK)
		fputs(diag.n > 0 ? diag_text(&diag) : err_text(err), stderr);
	diag_fini(&diag);
	if (err != HIWAT_OK)
		return CMD_USAGE;
	s->has_config = true;
	agent_config_sampler(&s->config, &s->sampler);
	return 0;
}

void
sampling_fini(struct sampling *s)
{
	if (s->has_config)
		agent_config_free(&s->config);
}

bool
sampling_has(const struct sampling *s, const char *sampler)
{
	for (size_t i = 0; s->has_config && i < s->config.samplers_disabled.n; i++) {
		if (strcmp(s->config.samplers_disabled.items[i], sampler) == 0)
			return false;
	}
	return true;
}
