#include <stddef.h>

#include "sampler.h"

extern const struct sampler sampler_conntrack, sampler_disk, sampler_interrupts, sampler_net, sampler_system;

const struct sampler *const samplers[] = {
	&sampler_interrupts,
	&sampler_net,
	&sampler_conntrack,
	&sampler_disk,
	&sampler_system,
	NULL,
};
