/* hiwat-collector routes: where an incident would go, and a test incident on its way. */
#include "cmd.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "config.h"
#include "diag.h"
#include "doc.h"
#include "err.h"
#include "hours.h"
#include "incident_json.h"
#include "match.h"
#include "routes.h"
#include "scan.h"

#define TEST_CAUSE "test"

const char cmd_routes_usage[] =
    "usage: hiwat-collector routes [-c FILE] test [--at TIME] NAME=VALUE ...\n"
    "       hiwat-collector routes [-c FILE] send-test ROUTE\n"
    "test tells which routes an incident would take, and why it does not take the others. A name is level (critical when "
    "not\n"
    "given), rule, cause, host, os, release or a label. send-test sends a made-up incident by a route, and its end.\n"
    "\n"
    "  -c FILE    the configuration (" COLLECTOR_CONFIG_DEFAULT ")\n"
    "  --at TIME  when: YYYY-MM-DDTHH:MM:SSZ, or seconds since 1970; now when not given\n"
    "\n"
    "exit status: 0 it takes a route, or the test was delivered; 1 it takes none, or was not delivered; 2 mistakes in the\n"
    "configuration, or wrong usage.\n";

/* NAME=VALUE arguments as the facts of an incident. */
struct facts {
	char **args;
	int n;
};

static const char *
fact(const void *arg, const char *name)
{
	const struct facts *f = arg;
	size_t len = strlen(name);

	for (int i = 0; i < f->n; i++)
		if (strncmp(f->args[i], name, len) == 0 && f->args[i][len] == '=')
			return f->args[i] + len + 1;
	return strcmp(name, "level") == 0 ? "critical" : NULL;
}

/* Why the incident does not take the route; "" when it does. */
static void
explain(const struct route_config *config, const struct alert_route *route, const struct facts *facts, uint64_t wall_ns,
    struct buf *why)
{
	if (strcmp(fact(facts, "level"), "critical") != 0 && route->min_level == RULE_LEVEL_CRITICAL)
		buf_printf(why, "its min_level is critical");
	for (size_t i = 0; i < config->match.n; i++) {
		struct match *one = NULL;

		if (match_new((const char *const *)&config->match.items[i], 1, &one) == 0 && !match_names(one, fact, facts))
			buf_printf(why, "%s%s does not hold", why->len > 0 ? "; " : "", config->match.items[i]);
		match_free(one);
	}
	if (!hours_contain(route->hours, wall_ns))
		buf_printf(why, "%snot within its hours", why->len > 0 ? "; " : "");
}

static int
test(const struct collector_config *config, const struct routes *routes, const struct facts *facts, uint64_t wall_ns)
{
	const char *level = fact(facts, "level");
	int status = 1;

	if (strcmp(level, "critical") != 0 && strcmp(level, "warning") != 0)
		return cmd_usage_error("routes", "a level is warning or critical; advice takes no route");
	for (int i = 0; i < facts->n; i++)
		if (strchr(facts->args[i], '=') == NULL)
			return cmd_usage_error("routes", "'%s' is not NAME=VALUE", facts->args[i]);
	for (size_t i = 0; i < routes->n; i++) {
		const struct route_config *from = (const struct route_config *)config->routes.items + i;
		struct buf why;

		buf_init(&why, 4096);
		explain(from, &routes->alert[i], facts, wall_ns, &why);
		printf("%-20s %-12s %s%s\n", from->name, config_sink_words[from->sink], why.len > 0 ? "no: " : "yes",
		    buf_str(&why));
		if (why.len == 0)
			status = 0;
		buf_fini(&why);
	}
	if (routes->n == 0)
		fputs("hiwat-collector routes: the configuration has no routes: nothing would be told to anybody\n", stderr);
	return cmd_finish_output("routes") != 0 ? 1 : status;
}

/* A whole incident that says that it is none. */
static int
make_incident(struct incident *i, uint64_t wall_ns)
{
	static const uint8_t nobody[16] = { 0 };
	char host[256] = "";
	struct incident_line *line = NULL;
	uint8_t key[16];

	*i = (struct incident){ .status = INCIDENT_OPEN, .level = RULE_LEVEL_WARNING, .worst_level = RULE_LEVEL_WARNING };
	if (gethostname(host, sizeof(host) - 1) != 0)
		host[0] = '\0';
	i->opened_ns = i->changed_ns = wall_ns;
	i->generation = (unsigned)(wall_ns / NSEC_PER_SEC);
	int err = incident_hash(nobody, TEST_CAUSE, host, key);
	if (err != 0)
		return err;
	incident_key_text(key, i->key);
	err = incident_add_line(i, TEST_CAUSE, "", RULE_LEVEL_WARNING, &line);
	if (err != 0)
		return err;
	line->status = RULE_FIRING;
	line->since_ns = wall_ns;
	line->value = line->threshold = line->used = line->limit = line->seconds_to_limit = NAN;
	return incident_set(&i->host_name, host) && incident_set(&i->host_os, "") && incident_set(&i->host_release, "") &&
		incident_set(&i->host_labels_json, "{}") && incident_set(&i->cause, TEST_CAUSE) &&
		incident_set(&i->object, "") && incident_set(&i->labels_json, "{}") && incident_set(&i->by, "") &&
		incident_set(&i->told_routes, "") && incident_set(&line->summary, "Test of a route: nothing is wrong") &&
		incident_set(&line->description, "Somebody asked the collector to try this way.") &&
		incident_set(&line->remedy, "Nothing is to be done.") && incident_set(&line->threshold_source, "ours")
	    ? 0
	    : HIWAT_E_NOMEM;
}

static enum delivery
send(const struct sink *sink, void *state, const struct route *route, const struct incident *i, const char *event,
    struct buf *why)
{
	struct notice notice = { .incident_key = i->key, .generation = i->generation, .event = event };
	char *json = NULL;
	uint64_t retry_after_ms = 0;

	if (incident_write(i, event, &json) != 0) {
		buf_puts(why, "out of memory");
		return DELIVERY_RETRY;
	}
	notice.json = json;
	enum delivery result = sink->send(state, route, &notice, why, &retry_after_ms);
	free(json);
	return result;
}

static int
send_test(const struct routes *routes, const char *name, uint64_t wall_ns)
{
	size_t k = 0;

	while (k < routes->n && strcmp(routes->out[k].name, name) != 0)
		k++;
	if (k == routes->n)
		return cmd_usage_error("routes", "the configuration has no route %s", name);
	const struct route *route = &routes->out[k];
	const struct sink *sink = sink_find(route->sink);
	struct incident incident;
	struct buf why;
	void *state = NULL;
	int status = 1;

	buf_init(&why, 1024);
	int err = make_incident(&incident, wall_ns);
	if (err != 0)
		buf_puts(&why, err_text(err));
	else if (sink->open(route, &state, &why) != 0)
		status = CMD_USAGE;
	else if (send(sink, state, route, &incident, "trigger", &why) == DELIVERY_DONE) {
		incident.status = INCIDENT_RESOLVED;
		incident.resolved_ns = clock_wall_ns();
		incident.lines[0].status = RULE_OK;
		incident.generation++;
		buf_reset(&why);
		if (send(sink, state, route, &incident, "resolve", &why) == DELIVERY_DONE)
			status = 0;
		else
			buf_puts(&why, " (the test was delivered, its end was not)");
	}
	if (status == 0)
		printf("route %s: the test incident %s and its end were delivered%s%s\n", name, incident.key,
		    why.len > 0 ? ", but not everywhere: " : "", buf_str(&why));
	else
		fprintf(stderr, "hiwat-collector routes: route %s: %s\n", name, buf_str(&why));
	if (state != NULL)
		sink->close(state);
	incident_fini(&incident);
	buf_fini(&why);
	return cmd_finish_output("routes") != 0 ? 1 : status;
}

static bool
parse_time(const char *text, uint64_t *wall_ns)
{
	uint64_t seconds;

	if (!text_is_u64(text_of(text), &seconds))
		return doc_parse_time(text, wall_ns);
	if (seconds > INT64_MAX / NSEC_PER_SEC)
		return false;
	*wall_ns = seconds * NSEC_PER_SEC;
	return true;
}

int
cmd_routes(int argc, char **argv)
{
	static const struct option long_options[] = { { "at", required_argument, NULL, 'a' }, { 0 } };
	const char *path = COLLECTOR_CONFIG_DEFAULT;
	uint64_t wall_ns = clock_wall_ns();
	struct collector_config config;
	struct routes routes;
	struct diag diag;
	int c;

	while ((c = getopt_long(argc, argv, "c:", long_options, NULL)) != -1) {
		if (c == 'c')
			path = optarg;
		else if (c != 'a')
			return cmd_usage_error(argv[0], "see the message above");
		else if (!parse_time(optarg, &wall_ns))
			return cmd_usage_error(argv[0], "--at %s: wanted YYYY-MM-DDTHH:MM:SSZ or seconds since 1970",
			    optarg);
	}
	const char *what = optind < argc ? argv[optind] : "";
	bool is_test = strcmp(what, "test") == 0, is_send = strcmp(what, "send-test") == 0 && optind + 2 == argc;
	if (!is_test && !is_send)
		return cmd_usage_error(argv[0], "what to do: test NAME=VALUE ..., or send-test ROUTE");
	diag_init(&diag);
	int err = collector_config_load(path, &config, &diag);
	if (err != HIWAT_OK)
		fputs(diag_text(&diag), stderr);
	diag_fini(&diag);
	if (err != HIWAT_OK)
		return CMD_USAGE;
	err = routes_init(&routes, &config, wall_ns);
	if (err != HIWAT_OK) {
		fprintf(stderr, "hiwat-collector routes: %s\n", err_text(err));
		collector_config_free(&config);
		return 1;
	}
	struct facts facts = { argv + optind + 1, argc - optind - 1 };
	int status = is_test ? test(&config, &routes, &facts, wall_ns) : send_test(&routes, argv[optind + 1], wall_ns);
	routes_fini(&routes);
	collector_config_free(&config);
	return status;
}
