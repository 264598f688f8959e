/* The notifier against a real HTTP server that misbehaves. */
#include "unit.h"

#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bad_server.h"
#include "buf.h"
#include "clock.h"
#include "err.h"
#include "log.h"
#include "notify.h"
#include "store.h"

static char dir[64], db_path[96], secret_path[96];
static struct store *store;

static void
quiet(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
}

static void
write_file(const char *path, const char *data, size_t len, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	close(fd);
}

static void
open_store(void)
{
	char *moved = NULL;

	ck_assert_int_eq(store_open(db_path, &store, &moved), 0);
	ck_assert_ptr_null(moved);
}

static void
setup(void)
{
	log_set_hook(quiet);
	snprintf(dir, sizeof(dir), "%s/hiwat-notify-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(db_path, sizeof(db_path), "%s/state.db", dir);
	snprintf(secret_path, sizeof(secret_path), "%s/secret", dir);
	write_file(secret_path, BAD_SERVER_SECRET, sizeof(BAD_SERVER_SECRET) - 1, 0600);
	open_store();
	ck_assert(bad_server_start(NULL, NULL));
}

static void
teardown(void)
{
	char pattern[96];
	glob_t found;

	bad_server_stop();
	store_close(store);
	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	rmdir(dir);
	log_set_hook(NULL);
}

static struct route
webhook_route(const char *name)
{
	return (struct route){
		.name = name,
		.sink = "webhook",
		.url = server.url,
		.secret_file = secret_path,
		.ca_file = "",
		.timeout_ms = 10000,
		.retry_min_ms = 2,
		.retry_max_ms = 20,
	};
}

/* A notification of incident number i for one route. */
static void
add(const char *route, unsigned i, unsigned generation, const char *event, uint64_t expires_ns)
{
	char json[128];
	uint64_t now = clock_wall_ns();
	struct outbox_row row = {
		.generation = generation,
		.route = (char *)(uintptr_t)route,
		.event = (char *)(uintptr_t)event,
		.payload = json,
		.created_ns = now,
		.next_try_ns = now,
		.expires_ns = expires_ns != 0 ? expires_ns : now + 3600 * NSEC_PER_SEC,
	};
	struct store_change change = { .notifications = &row, .n_notifications = 1, .wall_ns = now };

	snprintf(row.incident_key, sizeof(row.incident_key), "%032x", i);
	snprintf(json, sizeof(json), "{\"key\":\"%032x\",\"generation\":%u}", i, generation);
	ck_assert_int_eq(store_put(store, &change), 0);
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
nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

/* Every notification of incidents 0..n with these generations was seen, none else, and in order. */
static void
check_seen(unsigned n_incidents, unsigned n_generations)
{
	static struct seen seen[ARRAY_LEN(server.seen)];
	size_t distinct = 0;

	/* A failed assertion jumps: none while the lock is held. */
	pthread_mutex_lock(&server.lock);
	unsigned bad = server.bad;
	size_t n_seen = server.n_seen;
	memcpy(seen, server.seen, n_seen * sizeof(seen[0]));
	pthread_mutex_unlock(&server.lock);
	ck_assert_uint_eq(bad, 0);
	for (unsigned i = 0; i < n_incidents; i++) {
		char key[33];
		unsigned last = 0;

		snprintf(key, sizeof(key), "%032x", i);
		for (size_t k = 0; k < n_seen; k++) {
			if (strcmp(seen[k].key, key) != 0)
				continue;
			ck_assert_uint_ge(seen[k].generation, last);
			distinct += seen[k].generation != last;
			last = seen[k].generation;
			ck_assert_uint_le(last, n_generations);
		}
		ck_assert_uint_eq(last, n_generations);
	}
	ck_assert_uint_eq(distinct, n_incidents * n_generations);
	for (size_t k = 0; k < n_seen; k++)
		ck_assert_uint_lt(strtoul(seen[k].key, NULL, 16), n_incidents);
}

static const enum behaviour scripts[][16] = {
	{ OK },
	{ STATUS_500, STATUS_500, OK, STATUS_500, OK, OK, STATUS_500 },
	{ CUT, OK, CUT, CUT, CUT, OK },
	{ DROP, DROP, OK, DROP, OK, OK, DROP, DROP, DROP },
	{ STATUS_429, OK },
	{ REDIRECT, REDIRECT, OK },
	{ ENDLESS, ENDLESS, OK },
	{ HANG, OK, STATUS_500, CUT, HANG, DROP, STATUS_500, OK, CUT, HANG, DROP },
};

START_TEST(misbehaving_receiver)
{
	struct route route = webhook_route("pager");
	struct notifier *n = NULL;
	struct route_stats stats;
	struct buf why;
	static const char *const events[] = { "trigger", "escalate", "resolve" };

	server.script = scripts[_i];
	server.n_script = ARRAY_LEN(scripts[0]);
	route.timeout_ms = 300; /* how long a request that hangs is waited for */
	buf_init(&why, 200);
	ck_assert_int_eq(notifier_start(&route, 1, store, &n, &why), 0);
	for (unsigned g = 1; g <= 3; g++)
		for (unsigned i = 0; i < 7; i++)
			add("pager", i, g, events[g - 1], 0);
	while (waiting() > 0)
		nap();
	notifier_stats(n, 0, &stats);
	bad_server_release();
	notifier_stop(n);
	buf_fini(&why);
	ck_assert_uint_eq(stats.delivered, 21);
	ck_assert_uint_eq(stats.expired, 0);
	ck_assert(!stats.failing);
	check_seen(7, 3);
}
END_TEST

START_TEST(hanging_route_delays_no_other)
{
	static const enum behaviour script[] = { HANG };
	struct route routes[] = { webhook_route("slow"), webhook_route("quick") };
	struct notifier *n = NULL;
	struct route_stats stats;
	struct buf why;

	server.script = script;
	server.n_script = 1;
	routes[0].timeout_ms = routes[1].timeout_ms = 60000;
	buf_init(&why, 200);
	ck_assert_int_eq(notifier_start(routes, 2, store, &n, &why), 0);
	add("slow", 0, 1, "trigger", 0);
	pthread_mutex_lock(&server.lock);
	while (server.hanging == 0)
		pthread_cond_wait(&server.changed, &server.lock);
	pthread_mutex_unlock(&server.lock);
	for (unsigned i = 0; i < 50; i++)
		add("quick", i, 1, "trigger", 0);
	while (waiting() > 1)
		nap();
	pthread_mutex_lock(&server.lock);
	unsigned hanging = server.hanging;
	pthread_mutex_unlock(&server.lock);
	ck_assert_uint_eq(hanging, 1);
	notifier_stats(n, 1, &stats);
	ck_assert_uint_eq(stats.delivered, 50);
	notifier_stats(n, 0, &stats);
	ck_assert_uint_eq(stats.delivered, 0);
	bad_server_release();
	while (waiting() > 0)
		nap();
	notifier_stop(n);
	buf_fini(&why);
	check_seen(50, 1);
}
END_TEST

START_TEST(refused_and_expired_make_room)
{
	static const enum behaviour script[] = { STATUS_400 };
	struct route route = webhook_route("pager");
	struct notifier *n = NULL;
	struct route_stats stats;
	struct buf why;

	server.script = script;
	server.n_script = 1;
	add("pager", 0, 1, "trigger", 0);                              /* refused for good */
	add("pager", 0, 2, "resolve", 0);                              /* and what follows goes on */
	add("pager", 1, 1, "trigger", clock_wall_ns() - NSEC_PER_SEC); /* too late already */
	ck_assert_int_eq(store_flush(store), 0);
	buf_init(&why, 200);
	ck_assert_int_eq(notifier_start(&route, 1, store, &n, &why), 0);
	while (waiting() > 0)
		nap();
	notifier_stats(n, 0, &stats);
	notifier_stop(n);
	buf_fini(&why);
	ck_assert_uint_eq(stats.delivered, 1);
	ck_assert_uint_eq(stats.expired, 2);
	ck_assert_uint_eq(server.n_seen, 1);
	ck_assert_uint_eq(server.seen[0].generation, 2);
	ck_assert_str_eq(server.seen[0].event, "resolve");
}
END_TEST

START_TEST(sink_down_then_up)
{
	struct route route = webhook_route("pager");
	struct notifier *n = NULL;
	struct route_stats stats;
	struct buf why;

	route.url = "http://127.0.0.1:1/"; /* nobody listens on tcpmux */
	buf_init(&why, 200);
	ck_assert_int_eq(notifier_start(&route, 1, store, &n, &why), 0);
	add("pager", 0, 1, "trigger", 0);
	do {
		nap();
		notifier_stats(n, 0, &stats);
	} while (stats.failed < 3);
	ck_assert(stats.failing);
	add("pager", 0, 2, "repeat", 0);
	add("pager", 0, 3, "repeat", 0);
	add("pager", 0, 4, "resolve", 0);
	notifier_stop(n);
	route.url = server.url;
	ck_assert_int_eq(notifier_start(&route, 1, store, &n, &why), 0);
	while (waiting() > 0)
		nap();
	notifier_stop(n);
	buf_fini(&why);
	ck_assert_uint_eq(server.n_seen, 2);
	ck_assert_str_eq(server.seen[0].event, "trigger");
	ck_assert_str_eq(server.seen[1].event, "resolve");
	ck_assert_uint_eq(server.seen[1].generation, 4);
}
END_TEST

/* A child delivers until it is killed; the next goes on. The server lives in the parent. */
START_TEST(kill_and_go_on)
{
	unsigned seed = 99;
	size_t left = 1;

	for (unsigned g = 1; g <= 3; g++)
		for (unsigned i = 0; i < 100; i++)
			add("pager", i, g, g == 3 ? "resolve" : "trigger", 0);
	store_close(store);
	store = NULL;
	unsigned kills = 0;
	while (left > 0) {
		int status;

		pthread_mutex_lock(&server.lock);
		size_t before = server.n_seen;
		pthread_mutex_unlock(&server.lock);
		pid_t pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			struct route route = webhook_route("pager");
			struct notifier *n = NULL;
			struct buf why;
			char *moved = NULL;

			buf_init(&why, 200);
			if (store_open(db_path, &store, &moved) != 0 || moved != NULL ||
			    notifier_start(&route, 1, store, &n, &why) != 0)
				_exit(1);
			for (;;)
				pause();
		}
		seed = seed * 1103515245 + 12345;
		pthread_mutex_lock(&server.lock);
		/* Some deliveries later, or all of them. */
		size_t until = before + 1 + (seed >> 16) % 25;
		struct timespec patience = { .tv_sec = time(NULL) + 2 };
		while (server.n_seen < until)
			if (pthread_cond_timedwait(&server.changed, &server.lock, &patience) != 0)
				break;
		pthread_mutex_unlock(&server.lock);
		nanosleep(&(struct timespec){ .tv_nsec = (long)(seed >> 8) % 2000000 }, NULL);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status));
		kills++;
		open_store();
		left = waiting();
		store_close(store);
		store = NULL;
	}
	open_store();
	ck_assert_uint_gt(kills, 5);
	ck_assert_uint_le(server.n_seen, 300 + kills); /* one that was under way each time */
	check_seen(100, 3);
}
END_TEST

static const char *const relative[] = { "page" }, *const missing[] = { "/nonexistent/page" };

static const struct {
	struct route route;
	const char *why;
} bad_routes[] = {
	{ { .name = "r", .sink = "pigeon" }, "route r: no such sink: pigeon" },
	{ { .name = "r", .sink = "webhook", .url = "ftp://x/", .secret_file = "", .ca_file = "" },
	    "route r: a webhook needs a url that begins with https:// or http://" },
	{ { .name = "r", .sink = "webhook", .url = "http://x/", .secret_file = "/nonexistent/key", .ca_file = "" },
	    "route r: secret_file /nonexistent/key: No such file or directory" },
	{ { .name = "r", .sink = "webhook", .url = "http://x/", .secret_file = "/dev/null", .ca_file = "" },
	    "route r: secret_file /dev/null: empty" },
	{ { .name = "r", .sink = "webhook", .url = "http://x/", .secret_file = "/dev/zero", .ca_file = "" },
	    "route r: secret_file /dev/zero: more than 4096 bytes" },
	{ { .name = "r", .sink = "command" }, "route r: command needs a program by its absolute path" },
	{ { .name = "r", .sink = "command", .command = relative, .n_command = 1 },
	    "route r: command needs a program by its absolute path" },
	{ { .name = "r", .sink = "command", .command = missing, .n_command = 1 },
	    "route r: command /nonexistent/page: No such file or directory" },
};

START_TEST(route_that_cannot_work)
{
	struct route routes[] = { webhook_route("good"), bad_routes[_i].route };
	struct notifier *n = NULL;
	struct buf why;

	buf_init(&why, 400);
	ck_assert_int_eq(notifier_start(routes, 2, store, &n, &why), HIWAT_E_CONFIG);
	ck_assert_ptr_null(n);
	ck_assert_str_eq(buf_str(&why), bad_routes[_i].why);
	buf_fini(&why);
}
END_TEST

static Suite *
notify_suite(void)
{
	Suite *s = suite_create("notify");
	TCase *t = tcase_create("notify");

	tcase_set_timeout(t, 100);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, misbehaving_receiver, 0, ARRAY_LEN(scripts));
	tcase_add_test(t, hanging_route_delays_no_other);
	tcase_add_test(t, refused_and_expired_make_room);
	tcase_add_test(t, sink_down_then_up);
	tcase_add_test(t, kill_and_go_on);
	tcase_add_loop_test(t, route_that_cannot_work, 0, ARRAY_LEN(bad_routes));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(notify_suite)
