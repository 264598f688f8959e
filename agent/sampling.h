/* What `once` and `doctor` have in common: the configuration, as far as samplers need it. */
#ifndef HIWAT_AGENT_SAMPLING_H
#define HIWAT_AGENT_SAMPLING_H

#include "config.h"
#include "sampler.h"

struct runner;

struct sampling {
	struct agent_config config;
	bool has_config; /* else the defaults: a user that may not read the file can still sample */
	struct sampler_config sampler;
};

/*
 * path NULL: the default file, if there is one and this user may read it. Nothing is kept between samples. 0, or the exit
 * status after a message.
 */
int sampling_init(struct sampling *s, const char *command, const char *path);
void sampling_fini(struct sampling *s);
/* Whether the configuration lets this sampler run. */
bool sampling_has(const struct sampling *s, const char *sampler);

#endif
