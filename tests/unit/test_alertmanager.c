/* The sink alertmanager against Debian's Alertmanager, which is asked with amtool; and against receivers that misbehave. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bad_server.h"
#include "buf.h"
#include "clock.h"
#include "incident_json.h"
#include "log.h"
#include "sinks.h"
#include "store.h"

#define ROUTE "am"
#define REFRESH_OF_TEST_MS 500
#define PATIENCE_NS (30 * NSEC_PER_SEC)

struct member {
	pid_t pid;
	unsigned port; /* 0: not yet */
	char url[40];
};

static char dir[64];
static struct store *store;
static struct member members[2];
static struct notifier *running;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char logged[65536];

static void
keep(enum log_level level, const char *line)
{
	(void)level;
	pthread_mutex_lock(&log_lock);
	size_t n = strlen(logged);
	snprintf(logged + n, sizeof(logged) - n, "%s\n", line);
	pthread_mutex_unlock(&log_lock);
}

static bool
was_logged(const char *text)
{
	pthread_mutex_lock(&log_lock);
	bool found = strstr(logged, text) != NULL;
	pthread_mutex_unlock(&log_lock);
	return found;
}

static void
nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
}

/* Runs a shell command; what it wrote, owned. */
static char *
output(const char *command)
{
	FILE *f = popen(command, "r");
	struct buf out;

	ck_assert_ptr_nonnull(f);
	buf_init(&out, 1 << 20);
	ck_assert_int_eq(buf_read(&out, f), 0);
	pclose(f);
	char *text = strdup(buf_str(&out));
	buf_fini(&out);
	return text;
}

/* On its old port when it had one. */
static void
start(struct member *m, unsigned number)
{
	char log_path[128], config[128], storage[128], listen[64], command[256];
	posix_spawn_file_actions_t actions;
	sigset_t none;
	posix_spawnattr_t attr;

	snprintf(log_path, sizeof(log_path), "%s/log%u", dir, number);
	snprintf(config, sizeof(config), "--config.file=%s/config", dir);
	snprintf(storage, sizeof(storage), "--storage.path=%s/storage%u", dir, number);
	snprintf(listen, sizeof(listen), "--web.listen-address=127.0.0.1:%u", m->port);
	char name[] = "prometheus-alertmanager", alone[] = "--cluster.listen-address=";
	char *const argv[] = { name, config, storage, listen, alone, NULL };
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	ck_assert_int_eq(posix_spawnp(&m->pid, argv[0], &actions, &attr, argv, environ), 0);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	snprintf(command, sizeof(command), "sed -n 's/.*\"Listening on\" address=127.0.0.1:\\([0-9]*\\).*/\\1/p' %s",
	    log_path);
	uint64_t until = clock_mono_ns() + PATIENCE_NS;
	unsigned port = 0;
	while (port == 0 && clock_mono_ns() < until) {
		char *text = output(command);

		port = (unsigned)strtoul(text, NULL, 10);
		free(text);
		if (port == 0)
			nap();
	}
	ck_assert_uint_ne(port, 0);
	m->port = port;
	snprintf(m->url, sizeof(m->url), "http://127.0.0.1:%u", port);
}

static void
end(struct member *m)
{
	if (m->pid <= 0)
		return;
	kill(m->pid, SIGKILL); /* it keeps no alerts anyway */
	waitpid(m->pid, NULL, 0);
	m->pid = 0;
}

static void
setup(void)
{
	static const char config[] = "route: {receiver: none}\nreceivers: [{name: none}]\n";
	char path[96], *moved = NULL;

	log_set_hook(keep);
	logged[0] = '\0';
	snprintf(dir, sizeof(dir), "%s/hiwat-am-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/config", dir);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, config, sizeof(config) - 1), (ssize_t)(sizeof(config) - 1));
	close(fd);
	snprintf(path, sizeof(path), "%s/state.db", dir);
	ck_assert_int_eq(store_open(path, &store, &moved), 0);
}

static void
teardown(void)
{
	char command[128];

	notifier_stop(running); /* after a test that failed */
	running = NULL;
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		end(&members[i]);
	store_close(store);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	free(output(command));
	log_set_hook(NULL);
}

/* An open incident with names and texts that a host may think up. */
static struct incident
make_incident(enum rule_level level)
{
	static const uint8_t uuid[16] = { 7 };
	struct incident i = { .status = INCIDENT_OPEN, .level = level, .worst_level = level };
	struct incident_line *line = NULL;
	uint8_t key[16];

	ck_assert_int_eq(incident_hash(uuid, "zfs-fill", "pool=\"tank\"", key), 0);
	incident_key_text(key, i.key);
	i.opened_ns = i.changed_ns = clock_wall_ns() - 60 * NSEC_PER_SEC;
	ck_assert_int_eq(incident_add_line(&i, "zfs-pool-fills", "pool=\"tank\"", level, &line), 0);
	line->status = RULE_FIRING;
	line->since_ns = i.opened_ns;
	line->value = line->threshold = line->used = line->limit = line->seconds_to_limit = NAN;
	ck_assert(incident_set(&i.host_name, "db1.example.org") && incident_set(&i.host_os, "FreeBSD") &&
	    incident_set(&i.host_release, "14.1") && incident_set(&i.cause, "zfs-fill") &&
	    incident_set(&i.object, "pool=\"tank\"") && incident_set(&i.labels_json, "{\"pool\":\"tank\"}") &&
	    incident_set(&i.host_labels_json,
		"{\"role\":\"db\",\"pool\":\"of the "
		"host\",\"severity\":\"none\",\"host\":\"liar\",\"2nd-site\":\"K\\u00f6ln "
		"\\\"1\\\"\\n\",\"2nd_site\":\"later\",\"empty\":\"\",\"__\":\"u\"}") &&
	    incident_set(&i.by, "") && incident_set(&i.told_routes, ROUTE) &&
	    incident_set(&line->summary, "Pool tank: {{ .Labels }} 95 % full") &&
	    incident_set(&line->description, "two\nlines") && incident_set(&line->remedy, "zfs destroy <nothing>") &&
	    incident_set(&line->doc, "zfs.md") && incident_set(&line->threshold_source, "ours"));
	return i;
}

/* The incident and, when event is not NULL, its notification, as the alerts would put them. */
static void
put(struct incident *i, const char *event)
{
	uint64_t now = clock_wall_ns();
	char *stored = NULL, *payload = NULL;

	i->generation++;
	ck_assert_int_eq(incident_write(i, NULL, &stored), 0);
	if (event != NULL)
		ck_assert_int_eq(incident_write(i, event, &payload), 0);
	struct store_incident incident = { .json = stored, .closed = i->status != INCIDENT_OPEN };
	struct outbox_row row = {
		.generation = i->generation,
		.route = (char *)(uintptr_t)ROUTE,
		.event = (char *)(uintptr_t)event,
		.payload = payload,
		.created_ns = now,
		.next_try_ns = now,
		.expires_ns = now + 3600 * NSEC_PER_SEC,
	};
	memcpy(incident.key, i->key, sizeof(incident.key));
	memcpy(row.incident_key, i->key, sizeof(row.incident_key));
	struct store_change change = {
		.incidents = &incident,
		.n_incidents = 1,
		.notifications = &row,
		.n_notifications = event != NULL,
		.wall_ns = now,
	};
	ck_assert_int_eq(store_put(store, &change), 0);
	ck_assert_int_eq(store_flush(store), 0);
	free(stored);
	free(payload);
}

static void
put_end(struct incident *i)
{
	i->status = INCIDENT_RESOLVED;
	i->resolved_ns = i->changed_ns = clock_wall_ns();
	i->lines[0].status = RULE_OK;
	ck_assert(incident_set(&i->told_routes, ""));
	put(i, "resolve");
}

static size_t
waiting(void)
{
	size_t n = 0;
	uint64_t oldest;

	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_int_eq(store_outbox_stats(store, clock_wall_ns(), &n, &oldest), 0);
	return n;
}

static void
deliver_all(void)
{
	uint64_t until = clock_mono_ns() + PATIENCE_NS;

	while (waiting() > 0 && clock_mono_ns() < until)
		nap();
	ck_assert_uint_eq(waiting(), 0);
}

static struct notifier *
notifier(struct route *route, const char **urls, size_t n_members)
{
	struct notifier *n = NULL;
	struct buf why;

	for (size_t i = 0; i < n_members; i++)
		urls[i] = members[i].url;
	*route = (struct route){
		.name = ROUTE,
		.sink = "alertmanager",
		.url = n_members == 1 ? members[0].url : "",
		.urls = urls,
		.n_urls = n_members > 1 ? n_members : 0,
		.secret_file = "",
		.ca_file = "",
		.public_url = "https://hiwat.example.org",
		.timeout_ms = 10000,
		.retry_min_ms = 2,
		.retry_max_ms = 20,
		.refresh_ms = REFRESH_OF_TEST_MS,
	};
	buf_init(&why, 400);
	ck_assert_int_eq(notifier_start(route, 1, store, &n, &why), 0);
	buf_fini(&why);
	running = n;
	return n;
}

static void
stop(struct notifier *n)
{
	running = NULL;
	notifier_stop(n);
}

/* What amtool tells of the alerts; which: an option of its query. Owned. */
static json_t *
alerts_of(const struct member *m, const char *which)
{
	char command[256];

	snprintf(command, sizeof(command), "amtool --alertmanager.url=%s alert query %s -o json", m->url, which);
	char *text = output(command);
	json_t *alerts = json_loads(text, 0, NULL);
	ck_assert_msg(json_is_array(alerts), "amtool: %s", text);
	free(text);
	return alerts;
}

/* Until there are so many; false when that takes too long. */
static bool
come_to(const struct member *m, const char *which, size_t wanted)
{
	uint64_t until = clock_mono_ns() + PATIENCE_NS;
	size_t n;

	do {
		json_t *alerts = alerts_of(m, which);

		n = json_array_size(alerts);
		json_decref(alerts);
	} while (n != wanted && clock_mono_ns() < until);
	return n == wanted;
}

static const char *
member_text(const json_t *o, const char *object, const char *name)
{
	const char *s = json_string_value(json_object_get(json_object_get(o, object), name));

	return s != NULL ? s : "(none)";
}

static const char *const wanted_labels[][2] = {
	{ "alertname", "zfs-pool-fills" },
	{ "severity", "warning" },
	{ "host", "db1.example.org" },
	{ "cause", "zfs-fill" },
	{ "pool", "tank" },
	{ "role", "db" },
	{ "_2nd_site", "K\u00f6ln \"1\"\n" },
	{ "__", "u" },
};
static const char *const wanted_annotations[][2] = {
	{ "summary", "Pool tank: {{ .Labels }} 95 % full" },
	{ "description", "two\nlines" },
	{ "remedy", "zfs destroy <nothing>" },
	{ "document", "zfs.md" },
};

START_TEST(from_beginning_to_end)
{
	struct incident incident = make_incident(RULE_LEVEL_WARNING);
	const char *urls[2];
	struct route route;
	char command[256];

	start(&members[0], 0);
	struct notifier *n = notifier(&route, urls, 1);
	put(&incident, "trigger");
	ck_assert(come_to(&members[0], "", 1));
	json_t *alerts = alerts_of(&members[0], "");
	const json_t *alert = json_array_get(alerts, 0);
	for (size_t i = 0; i < ARRAY_LEN(wanted_labels); i++)
		ck_assert_str_eq(member_text(alert, "labels", wanted_labels[i][0]), wanted_labels[i][1]);
	ck_assert_uint_eq(json_object_size(json_object_get(alert, "labels")), ARRAY_LEN(wanted_labels));
	for (size_t i = 0; i < ARRAY_LEN(wanted_annotations); i++)
		ck_assert_str_eq(member_text(alert, "annotations", wanted_annotations[i][0]), wanted_annotations[i][1]);
	ck_assert_str_eq(member_text(alert, "annotations", "incident"), incident.key);
	snprintf(command, sizeof(command), "https://hiwat.example.org/api/v1/alerts/%s", incident.key);
	ck_assert_str_eq(json_string_value(json_object_get(alert, "generatorURL")), command);
	json_decref(alerts);

	/* What is silenced there is delivered all the same, and its new severity is another alert. */
	snprintf(command, sizeof(command),
	    "amtool --alertmanager.url=%s silence add host=db1.example.org -a test -c test -d 1h", members[0].url);
	free(output(command));
	ck_assert(come_to(&members[0], "", 0));
	incident.level = incident.worst_level = incident.lines[0].level = RULE_LEVEL_CRITICAL;
	put(&incident, "escalate");
	ck_assert(come_to(&members[0], "--silenced severity=critical", 1));
	deliver_all();
	/* Told no more as a warning, that one ends; told again, this one lasts longer than its life. */
	ck_assert(come_to(&members[0], "--silenced severity=warning", 0));
	ck_assert(come_to(&members[0], "--silenced severity=critical", 1));

	/* Taken over it lasts, too. */
	incident.acknowledged = true;
	ck_assert(incident_set(&incident.by, "ada"));
	put(&incident, NULL);
	nanosleep(&(struct timespec){ .tv_sec = 4 * REFRESH_OF_TEST_MS / 1000 + 1 }, NULL);
	alerts = alerts_of(&members[0], "--silenced");
	ck_assert_uint_eq(json_array_size(alerts), 1);
	ck_assert_str_eq(member_text(json_array_get(alerts, 0), "annotations", "acknowledged_by"), "ada");
	json_decref(alerts);

	put_end(&incident);
	deliver_all();
	alerts = alerts_of(&members[0], "--silenced");
	ck_assert_uint_eq(json_array_size(alerts), 0);
	json_decref(alerts);

	/* What was over when it was found shows for its life. */
	incident.status = INCIDENT_WAS;
	put(&incident, "was");
	ck_assert(come_to(&members[0], "--silenced", 1));
	ck_assert(come_to(&members[0], "--silenced", 0));
	stop(n);
	incident_fini(&incident);
}
END_TEST

START_TEST(members_come_and_go)
{
	struct incident incident = make_incident(RULE_LEVEL_CRITICAL);
	struct route_stats stats;
	const char *urls[2];
	struct route route;
	char down[64];

	start(&members[0], 0);
	start(&members[1], 1);
	end(&members[1]);
	snprintf(down, sizeof(down), "%s: Failed to connect", members[1].url);
	struct notifier *n = notifier(&route, urls, 2);
	put(&incident, "trigger");
	deliver_all();
	ck_assert(come_to(&members[0], "", 1));
	ck_assert_msg(was_logged("delivered: http://127.0.0.1:") && was_logged(down), "%s", logged);
	notifier_stats(n, 0, &stats);
	ck_assert_uint_eq(stats.delivered, 1);
	ck_assert_uint_eq(stats.failed, 0);

	/* It comes back, and the other, which forgets all, goes and comes. */
	start(&members[1], 1);
	ck_assert(come_to(&members[1], "", 1));
	end(&members[0]);
	start(&members[0], 0);
	ck_assert(come_to(&members[0], "", 1));

	/* While none is there the end waits; the alert is told again no more. */
	end(&members[0]);
	end(&members[1]);
	put_end(&incident);
	uint64_t until = clock_mono_ns() + PATIENCE_NS;
	do {
		nap();
		notifier_stats(n, 0, &stats);
	} while (stats.failed < 3 && clock_mono_ns() < until);
	ck_assert(stats.failing);
	ck_assert_uint_eq(waiting(), 1);
	start(&members[0], 0);
	deliver_all();
	ck_assert(come_to(&members[0], "", 0));
	notifier_stats(n, 0, &stats);
	ck_assert_uint_eq(stats.delivered, 2);
	stop(n);
	incident_fini(&incident);
}
END_TEST

/* A collector that is gone tells nothing again: what it told ends by itself, and comes back with it, more than one piece. */
START_TEST(collector_goes_and_comes)
{
	enum { N = 100 };
	const char *urls[2];
	struct route route;

	start(&members[0], 0);
	for (unsigned k = 0; k < N; k++) {
		struct incident incident = make_incident(RULE_LEVEL_WARNING);
		char name[32];

		snprintf(name, sizeof(name), "host%u", k);
		snprintf(incident.key, sizeof(incident.key), "%032x", k);
		ck_assert(incident_set(&incident.host_name, name));
		/* Of these only every second was told by this route. */
		ck_assert(incident_set(&incident.told_routes, k % 2 == 0 ? "pager," ROUTE ",x" : "pager,am2,xam"));
		put(&incident, NULL);
		incident_fini(&incident);
	}
	for (unsigned round = 0; round < 2; round++) {
		struct notifier *n = notifier(&route, urls, 1);

		ck_assert(come_to(&members[0], "", N / 2));
		stop(n);
		ck_assert(come_to(&members[0], "", 0));
	}
}
END_TEST

/* What two members answer, and what becomes of it. */
static const struct {
	enum behaviour first, second;
	enum delivery result;
	const char *why; /* with U for the URL */
} answers[] = {
	{ OK, OK, DELIVERY_DONE, "" },
	{ OK, STATUS_500, DELIVERY_DONE, "U: HTTP status 500" },
	{ STATUS_400, OK, DELIVERY_DONE, "U: HTTP status 400" },
	{ STATUS_500, STATUS_500, DELIVERY_RETRY, "U: HTTP status 500; U: HTTP status 500" },
	{ STATUS_400, STATUS_400, DELIVERY_REFUSED, "U: HTTP status 400; U: HTTP status 400" },
	{ STATUS_400, STATUS_429, DELIVERY_RETRY, "U: HTTP status 400; U: HTTP status 429" },
	{ ENDLESS, DROP, DELIVERY_DONE, NULL },
	{ HANG, OK, DELIVERY_DONE, NULL },
};

START_TEST(members_misbehave)
{
	const enum behaviour script[] = { answers[_i].first, answers[_i].second };
	struct incident incident = make_incident(RULE_LEVEL_WARNING);
	struct notice notice = { .incident_key = incident.key, .generation = 1, .event = "trigger" };
	uint64_t retry_after = 0;
	struct buf why, wanted;
	char *json = NULL;
	void *state = NULL;

	ck_assert(bad_server_start(NULL, NULL));
	server.script = script;
	server.n_script = 2;
	const char *urls[] = { server.url, server.url };
	struct route route = { .name = ROUTE,
		.sink = "alertmanager",
		.urls = urls,
		.n_urls = 2,
		.url = "",
		.ca_file = "",
		.public_url = "",
		.timeout_ms = 4000 };
	buf_init(&why, 400);
	buf_init(&wanted, 400);
	ck_assert_int_eq(incident_write(&incident, notice.event, &json), 0);
	notice.json = json;
	ck_assert_int_eq(sink_alertmanager.open(&route, &state, &why), 0);
	ck_assert_int_eq(sink_alertmanager.send(state, &route, &notice, &why, &retry_after), answers[_i].result);
	for (const char *s = answers[_i].why; s != NULL && *s != '\0'; s++)
		buf_printf(&wanted, *s == 'U' ? "%s" : "%.1s", *s == 'U' ? server.url : s);
	if (answers[_i].why != NULL)
		ck_assert_str_eq(buf_str(&why), buf_str(&wanted));
	ck_assert_uint_eq(retry_after, answers[_i].second == STATUS_429 ? 1000 : 0);
	sink_alertmanager.close(state);
	bad_server_stop();
	buf_fini(&why);
	buf_fini(&wanted);
	free(json);
	incident_fini(&incident);
}
END_TEST

static Suite *
alertmanager_suite(void)
{
	Suite *s = suite_create("alertmanager");
	TCase *t = tcase_create("alertmanager"), *bad = tcase_create("bad");

	tcase_set_timeout(t, 200);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, from_beginning_to_end);
	tcase_add_test(t, members_come_and_go);
	tcase_add_test(t, collector_goes_and_comes);
	suite_add_tcase(s, t);
	tcase_set_timeout(bad, 60);
	tcase_add_loop_test(bad, members_misbehave, 0, ARRAY_LEN(answers));
	suite_add_tcase(s, bad);
	return s;
}

UNIT_MAIN(alertmanager_suite)
