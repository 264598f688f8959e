/* Routes as the configuration tells them: for the alerts, which choose, and for the notifier, which delivers. */
#ifndef HIWAT_COLLECTOR_ROUTES_H
#define HIWAT_COLLECTOR_ROUTES_H

#include "alert.h"
#include "notify.h"

struct collector_config;

struct routes {
	size_t n;
	struct route *out;         /* n */
	struct alert_route *alert; /* n */
	struct match **matches;    /* n; borrowed by alert */
	struct hours **hours;      /* likewise */
};

/*
 * Strings are borrowed from the configuration. Time zones are looked up: only while no other thread runs.
 * HIWAT_E_NOMEM; HIWAT_E_CONFIG for what the check of the configuration lets through no more than by mistake.
 */
int routes_init(struct routes *r, const struct collector_config *config, uint64_t wall_ns);
void routes_fini(struct routes *r);

#endif
