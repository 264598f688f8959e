/* hiwat-collector run: wires the parts, then waits for signals and timers. */
#include "cmd.h"

#include <errno.h>
#include <getopt.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "auth.h"
#include "buf.h"
#include "clock.h"
#include "codec.h"
#include "config.h"
#include "diag.h"
#include "err.h"
#include "hours.h"
#include "log.h"
#include "notify.h"
#include "pipeline.h"
#include "record_queue.h"
#include "routes.h"
#include "rule.h"
#include "sd_notify.h"
#include "sinks.h"
#include "store.h"
#include "web.h"

#define TOPIC "run"
#define WEB_RESPONSE_MAX (256u << 20)
#define WEB_CONNECTIONS_MAX 256
#define OWN_FILES 48 /* store, snapshot, threads, routes */
#define CONNECTIONS_LEAST 16

const char cmd_run_usage[] =
    "usage: hiwat-collector run [-c FILE]\n"
    "Takes records from agents, judges them by the rules, keeps incidents and notifies. Runs until SIGTERM or SIGINT;\n"
    "SIGHUP reads the rules anew and keeps the state of those that did not change; mistakes in them are logged and\n"
    "change nothing.\n"
    "\n"
    "  -c FILE   the configuration (" COLLECTOR_CONFIG_DEFAULT ")\n"
    "\n"
    "exit status: 0 after SIGTERM or SIGINT, 1 when it could not start, 2 when the configuration is wrong.\n";

/* Everything that run() makes, so that one place undoes it. */
struct collector {
	struct collector_config config;
	char *store_path, *snapshot_path;
	struct store *store;
	struct record_queue *record; /* NULL: nothing is recorded */
	struct pipeline *pipeline;
	struct routes routes;
	struct zone zone;
	struct auth *auth;
	char *pagerduty_secret;
	size_t pagerduty_secret_len;
	struct notifier *notifier;
	struct http_server *ingest, *web_server;
	struct http_listener ingest_listener, web_listener;
	struct web web;
	pthread_t snapshot_thread;
	pthread_mutex_t stop_lock;
	pthread_cond_t stop_cond;
	bool stopping, snapshot_running;
	int64_t connections_max, web_connections_max; /* those that descriptors allow */
};

static char *
join_path(const char *dir, const char *name)
{
	char *path = NULL;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

/*
 * Connections are descriptors: as many as the configuration allows, as far as the system lets us. Where it does not, fewer
 * connections are taken: without a descriptor the server could neither take one nor stop trying, and nothing could be stored.
 */
static void
fit_connections(struct collector *c)
{
	int64_t want = c->config.connections_max + WEB_CONNECTIONS_MAX + OWN_FILES;
	struct rlimit limit;

	c->connections_max = c->config.connections_max;
	c->web_connections_max = WEB_CONNECTIONS_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= (rlim_t)want)
		return;
	struct rlimit raised = { (rlim_t)want < limit.rlim_max ? (rlim_t)want : limit.rlim_max, limit.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
		limit = raised;
	if (limit.rlim_cur >= (rlim_t)want)
		return;
	int64_t room = (int64_t)limit.rlim_cur - OWN_FILES;
	if (room < CONNECTIONS_LEAST)
		room = CONNECTIONS_LEAST;
	c->web_connections_max = room / 4 < WEB_CONNECTIONS_MAX ? room / 4 : WEB_CONNECTIONS_MAX;
	c->connections_max = room - c->web_connections_max;
	log_warn(TOPIC,
	    "ingest.connections_max is %lld but only %llu files may be open: %lld connections are taken; raise the "
	    "limit (LimitNOFILE)",
	    (long long)c->config.connections_max, (unsigned long long)limit.rlim_cur, (long long)c->connections_max);
}

static const char *
why_no_store(int err)
{
	switch (err) {
	case HIWAT_E_AGAIN:
		return "another collector is using it";
	case HIWAT_E_VERSION:
		return "a later release or another program wrote it";
	case HIWAT_E_SYS:
		return errno != 0 ? strerror(errno) : "it cannot be opened";
	default:
		return err_text(err);
	}
}

static int
open_state(struct collector *c)
{
	char *moved = NULL;

	if (mkdir(c->config.state_dir, 0750) != 0 && errno != EEXIST) {
		log_error(TOPIC, "state_dir %s: %s", c->config.state_dir, strerror(errno));
		return HIWAT_E_SYS;
	}
	c->store_path = join_path(c->config.state_dir, "incidents.db");
	c->snapshot_path = join_path(c->config.state_dir, "hosts.snapshot");
	if (c->store_path == NULL || c->snapshot_path == NULL)
		return HIWAT_E_NOMEM;
	int err = store_open(c->store_path, &c->store, &moved);
	if (err != HIWAT_OK)
		log_error(TOPIC, "%s: %s", c->store_path, why_no_store(err));
	if (moved != NULL)
		log_error(TOPIC, "%s was damaged; it was moved to %s and a new one begun", c->store_path, moved);
	free(moved);
	return err;
}

static int
load_tokens(struct collector *c)
{
	char *own = join_path(c->config.state_dir, "admin.token");
	struct buf why;

	if (!config_is_loopback(c->config.web.address) && c->config.web.cert_file == NULL) {
		log_info(TOPIC, "web: without TLS nothing can be changed through it, since tokens could be overheard");
		free(own);
		return HIWAT_OK;
	}
	buf_init(&why, 1024);
	int err = own != NULL ? auth_new(c->config.tokens_file, own, &c->auth, &why) : HIWAT_E_NOMEM;
	if (err != 0)
		log_error(TOPIC, "tokens: %s", why.len > 0 ? buf_str(&why) : err_text(err));
	buf_fini(&why);
	free(own);
	return err;
}

static int
load_pagerduty_secret(struct collector *c)
{
	struct buf why;

	if (c->config.pagerduty_secret_file == NULL)
		return HIWAT_OK;
	buf_init(&why, 1024);
	int err = secret_read(c->config.pagerduty_secret_file, &c->pagerduty_secret, &c->pagerduty_secret_len, &why);
	if (err != HIWAT_OK)
		log_error(TOPIC, "web.pagerduty_%s", buf_str(&why));
	buf_fini(&why);
	return err;
}

static struct rule_set *
load_rules(const struct collector *c)
{
	struct rule_set *rules = NULL;
	struct buf errors;

	buf_init(&errors, 1 << 20);
	if (collector_config_rules(&c->config, &rules, &errors) != HIWAT_OK) {
		const char *line = buf_str(&errors);
		for (size_t n; *line != '\0'; line += n + (line[n] == '\n')) {
			n = strcspn(line, "\n");
			log_error("rules", "%.*s", (int)n, line);
		}
		rules = NULL;
	} else {
		log_info("rules", "%zu rules from %s", rule_set_count(rules), c->config.rules_dir);
	}
	buf_fini(&errors);
	return rules;
}

static int
start_notifier(struct collector *c)
{
	struct buf why;

	buf_init(&why, 1024);
	int err = notifier_start(c->routes.out, (unsigned)c->routes.n, c->store, &c->notifier, &why);
	if (err != HIWAT_OK)
		log_error(TOPIC, "routes: %s", buf_str(&why));
	buf_fini(&why);
	return err;
}

static int
start_listener(const struct listener_config *l, const char *name, struct http_listener *listener, http_handler *handler,
    struct web *web, struct http_server **server)
{
	struct buf why;

	listener->address = l->address;
	listener->port = (uint16_t)l->port;
	listener->cert_file = l->cert_file;
	listener->key_file = l->key_file;
	listener->client_ca_file = l->client_ca_file;
	listener->require_client_certificate = l->client_ca_file != NULL;
	buf_init(&why, 1024);
	int err = http_start(listener, handler, web, server, &why);
	if (err != HIWAT_OK)
		log_error(TOPIC, "%s: %s", name, buf_str(&why));
	else
		log_info(TOPIC, "%s: listening on %s port %u%s", name, l->address, http_port(*server),
		    l->client_ca_file != NULL  ? ", TLS with client certificates"
			: l->cert_file != NULL ? ", TLS"
					       : "");
	buf_fini(&why);
	return err;
}

static int
start_http(struct collector *c)
{
	c->ingest_listener = (struct http_listener){
		.body_max = CODEC_BATCH_MAX,
		.body_total_max = c->config.body_total_max,
		.response_max = 4096,
		.threads = (unsigned)c->config.ingest_threads,
		.connections_max = (unsigned)c->connections_max,
		.connections_per_address = (unsigned)c->config.connections_per_address,
		.idle_s = 180,
		.deadline_ms = 30000,
	};
	c->web_listener = (struct http_listener){
		.body_max = 65536,
		.body_total_max = 1 << 20,
		.response_max = WEB_RESPONSE_MAX,
		.threads = 1,
		.connections_max = (unsigned)c->web_connections_max,
		.idle_s = 60,
		.deadline_ms = 30000,
	};
	c->web = (struct web){
		.pipeline = c->pipeline,
		.store = c->store,
		.notifier = c->notifier,
		.auth = c->auth,
		.pagerduty_secret = c->pagerduty_secret,
		.pagerduty_secret_len = c->pagerduty_secret_len,
		.routes = c->routes.out,
		.n_routes = (unsigned)c->routes.n,
		.record = c->record,
		.started_wall_ns = clock_wall_ns(),
	};
	int err = start_listener(&c->config.ingest, "ingest", &c->ingest_listener, records_handle, &c->web, &c->ingest);
	if (err != HIWAT_OK)
		return err;
	c->web.ingest = c->ingest;
	return start_listener(&c->config.web, "web", &c->web_listener, api_handle, &c->web, &c->web_server);
}

/* Snapshots have a thread of their own: their disk may be slow, timers must not be. */
static void *
snapshot_loop(void *arg)
{
	struct collector *c = arg;
	struct timespec until;

	pthread_mutex_lock(&c->stop_lock);
	while (!c->stopping) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		uint64_t ms = c->config.snapshot_interval_ms;
		until.tv_sec += (time_t)(ms / 1000);
		until.tv_nsec += (long)(ms % 1000 * NSEC_PER_MSEC);
		if (until.tv_nsec >= (long)NSEC_PER_SEC) {
			until.tv_nsec -= (long)NSEC_PER_SEC;
			until.tv_sec++;
		}
		int err = 0;
		while (!c->stopping && err != ETIMEDOUT)
			err = pthread_cond_timedwait(&c->stop_cond, &c->stop_lock, &until);
		pthread_mutex_unlock(&c->stop_lock);
		pipeline_snapshot(c->pipeline);
		pthread_mutex_lock(&c->stop_lock);
	}
	pthread_mutex_unlock(&c->stop_lock);
	return NULL;
}

static int
start_snapshots(struct collector *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&c->stop_lock, NULL);
	pthread_cond_init(&c->stop_cond, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&c->snapshot_thread, NULL, snapshot_loop, c) != 0)
		return HIWAT_E_SYS;
	c->snapshot_running = true;
	return HIWAT_OK;
}

static int
start_record(struct collector *c)
{
	struct recording_options options = recording_config_options(&c->config.record);

	return options.dir != NULL ? record_queue_new(&options, &c->record) : HIWAT_OK;
}

static int
start(struct collector *c)
{
	/* Before there are threads: time zones. */
	int err = zone_load(&c->zone, c->config.time_zone, clock_wall_ns());
	if (err == HIWAT_OK)
		err = routes_init(&c->routes, &c->config, clock_wall_ns());
	if (err == HIWAT_OK)
		err = open_state(c);
	if (err == HIWAT_OK)
		err = load_tokens(c);
	if (err == HIWAT_OK)
		err = load_pagerduty_secret(c);
	if (err != HIWAT_OK)
		return err;
	struct rule_set *rules = load_rules(c);
	if (rules == NULL)
		return HIWAT_E_CONFIG;
	err = start_record(c);
	if (err == HIWAT_OK)
		err = start_notifier(c);
	if (err != HIWAT_OK) {
		rule_set_free(rules);
		return err;
	}
	struct pipeline_config config = {
		.snapshot_path = c->snapshot_path,
		.judge = collector_config_judge(&c->config),
		.record = c->record,
	};
	config.judge.zone = &c->zone;
	c->pipeline = pipeline_new(&config, rules, c->store, c->routes.alert, c->routes.n);
	if (c->pipeline == NULL)
		return HIWAT_E_NOMEM;
	err = start_http(c);
	return err == HIWAT_OK ? start_snapshots(c) : err;
}

/* In this order nothing is taken that could not be kept: fronts first, then the last snapshot, then the rest. */
static void
stop(struct collector *c)
{
	http_stop(c->ingest);
	http_stop(c->web_server);
	if (c->snapshot_running) {
		pthread_mutex_lock(&c->stop_lock);
		c->stopping = true;
		pthread_cond_broadcast(&c->stop_cond);
		pthread_mutex_unlock(&c->stop_lock);
		pthread_join(c->snapshot_thread, NULL);
	}
	if (c->notifier != NULL)
		notifier_stop(c->notifier);
	pipeline_free(c->pipeline);
	record_queue_free(c->record);
	if (c->store != NULL)
		store_close(c->store);
	routes_fini(&c->routes);
	auth_free(c->auth);
	secret_free(c->pagerduty_secret, c->pagerduty_secret_len);
	free(c->store_path);
	free(c->snapshot_path);
	collector_config_free(&c->config);
}

static void
reload(struct collector *c)
{
	struct rule_set *rules = load_rules(c);

	if (rules != NULL)
		pipeline_reload(c->pipeline, rules);
	else
		log_error(TOPIC, "the rules in force stay as they are");
}

static void
serve(struct collector *c, const sigset_t *signals)
{
	uint64_t next_ns = clock_mono_ns();

	sd_notify_send("READY=1");
	for (;;) {
		uint64_t now = clock_mono_ns();
		if (now >= next_ns) {
			pipeline_tick(c->pipeline, now, clock_wall_ns());
			http_tick(c->ingest);
			http_tick(c->web_server);
			sd_notify_send("WATCHDOG=1");
			next_ns = now + NSEC_PER_SEC;
		}
		uint64_t left = next_ns > now ? next_ns - now : 0;
		struct timespec wait = { (time_t)(left / NSEC_PER_SEC), (long)(left % NSEC_PER_SEC) };
		int sig = sigtimedwait(signals, NULL, &wait);
		if (sig == SIGHUP)
			reload(c);
		else if (sig == SIGTERM || sig == SIGINT)
			break;
	}
	sd_notify_send("STOPPING=1");
	log_info(TOPIC, "stopping");
}

int
cmd_run(int argc, char **argv)
{
	struct collector c = { 0 };
	const char *path = COLLECTOR_CONFIG_DEFAULT;
	struct diag diag;
	sigset_t signals;
	int opt;

	while ((opt = getopt(argc, argv, "c:")) != -1) {
		if (opt != 'c')
			return cmd_usage_error(argv[0], "see the message above");
		path = optarg;
	}
	if (optind < argc)
		return cmd_usage_error(argv[0], "unexpected argument '%s'", argv[optind]);
	diag_init(&diag);
	int err = collector_config_load(path, &c.config, &diag);
	if (err != HIWAT_OK)
		fputs(diag_text(&diag), stderr);
	diag_fini(&diag);
	if (err != HIWAT_OK)
		return CMD_USAGE;
	log_set_level((enum log_level)c.config.log_level);
	/* Blocked before any thread is made, so that only serve() sees them. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	umask(077); /* incidents and names of hosts are nobody else's business */
	fit_connections(&c);
	err = start(&c);
	if (err == HIWAT_OK)
		serve(&c, &signals);
	stop(&c);
	return err == HIWAT_OK ? 0 : err == HIWAT_E_CONFIG ? CMD_USAGE : 1;
}
