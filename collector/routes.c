#include "routes.h"

#include <stdlib.h>

#include "clock.h"
#include "config.h"
#include "err.h"
#include "hours.h"
#include "match.h"

static const char *
or_empty(const char *s)
{
	return s != NULL ? s : "";
}

static int
set(struct routes *r, size_t i, const struct route_config *from, const struct collector_config *config, uint64_t wall_ns)
{
	const struct sink *sink = sink_find(config_sink_words[from->sink]);

	r->out[i] = (struct route){
		.name = from->name,
		.sink = config_sink_words[from->sink],
		.url = or_empty(from->url),
		.urls = (const char *const *)from->urls.items,
		.n_urls = from->urls.n,
		.user = or_empty(from->user),
		.from = or_empty(from->from),
		.to = (const char *const *)from->to.items,
		.n_to = from->to.n,
		.no_starttls = !from->starttls,
		.secret_file = or_empty(from->secret_file),
		.ca_file = or_empty(from->ca_file),
		.command = (const char *const *)from->command.items,
		.n_command = from->command.n,
		.min_level = config_level_words[from->min_level],
		.updates = from->updates,
		.timeout_ms = from->timeout_ms,
		.expire_ms = from->expire_ms,
		.repeat_ms = from->repeat_ms,
		.public_url = or_empty(config->public_url),
	};
	int err = match_new((const char *const *)from->match.items, from->match.n, &r->matches[i]);
	if (err == 0 && from->hours.n > 0) {
		struct zone zone = { 0 };

		err = zone_load(&zone, from->time_zone != NULL ? from->time_zone : config->time_zone, wall_ns);
		if (err == 0)
			err = hours_new((const char *const *)from->hours.items, from->hours.n, &zone, &r->hours[i]);
	}
	r->alert[i] = (struct alert_route){
		.name = from->name,
		.min_level = from->min_level == 0 ? RULE_LEVEL_WARNING : RULE_LEVEL_CRITICAL,
		.match = r->matches[i],
		.hours = r->hours[i],
		.updates = from->updates,
		.repeat_ns = sink->refresh != NULL ? 0 : from->repeat_ms * NSEC_PER_MSEC,
		.expire_ns = from->expire_ms * NSEC_PER_MSEC,
	};
	return err;
}

int
routes_init(struct routes *r, const struct collector_config *config, uint64_t wall_ns)
{
	const struct route_config *from = config->routes.items;
	size_t n = config->routes.n;

	*r = (struct routes){
		.n = n,
		.out = calloc(n + 1, sizeof(*r->out)),
		.alert = calloc(n + 1, sizeof(*r->alert)),
		.matches = calloc(n + 1, sizeof(struct match *)),
		.hours = calloc(n + 1, sizeof(struct hours *)),
	};
	int err = r->out == NULL || r->alert == NULL || r->matches == NULL || r->hours == NULL ? HIWAT_E_NOMEM : 0;
	for (size_t i = 0; err == 0 && i < n; i++)
		err = set(r, i, &from[i], config, wall_ns);
	if (err != 0)
		routes_fini(r);
	return err;
}

void
routes_fini(struct routes *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->matches != NULL)
			match_free(r->matches[i]);
		if (r->hours != NULL)
			hours_free(r->hours[i]);
	}
	free(r->out);
	free(r->alert);
	free(r->matches);
	free(r->hours);
	*r = (struct routes){ 0 };
}
