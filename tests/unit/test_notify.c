/* The notifier against a real HTTP server that misbehaves. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "log.h"
#include "notify.h"
#include "sinks.h"
#include "store.h"

static const char secret[] = "not a secret\xff";

enum behaviour { OK, STATUS_500, STATUS_429, CUT, DROP, HANG, STATUS_400, ENDLESS, REDIRECT };

/* One delivery that the server has seen whole. */
struct seen {
	char key[33], event[24];
	unsigned generation;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const enum behaviour *script; /* what happens to the n-th request; OK after its end */
	size_t n_script, n_requests;
	struct seen seen[4096];
	size_t n_seen;
	unsigned bad;      /* requests with a wrong signature, key or header */
	unsigned hanging;  /* requests that hang now */
	bool release;
	struct MHD_Daemon *daemon;
	char url[64];
} server = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static const char *
header(struct MHD_Connection *c, const char *name)
{
	const char *value = MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);

	return value == NULL ? "" : value;
}

static bool
signature_holds(const char *value, const char *body, size_t len)
{
	char stamp[32] = "", given[65] = "", hex[65];
	uint8_t digest[32];
	char *text = NULL;

	if (sscanf(value, "t=%31[0-9],v1=%64[0-9a-f]", stamp, given) != 2)
		return false;
	size_t n = strlen(stamp);
	text = malloc(n + 1 + len);
	memcpy(text, stamp, n);
	text[n] = '.';
	memcpy(text + n + 1, body, len);
	gnutls_hmac_fast(GNUTLS_MAC_SHA256, secret, sizeof(secret) - 1, text, n + 1 + len, digest);
	free(text);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	return strcmp(hex, given) == 0;
}

/* Bodies are made by add(): {"key":"...","generation":N}. */
static void
note(struct MHD_Connection *c, const struct buf *body)
{
	struct seen *s = &server.seen[server.n_seen];
	char in_body[33], idempotency[64];
	unsigned generation;

	if (server.n_seen == ARRAY_LEN(server.seen) ||
	    sscanf(buf_str(body), "{\"key\":\"%32[0-9a-f]\",\"generation\":%u", in_body, &generation) != 2) {
		server.bad++;
		return;
	}
	snprintf(idempotency, sizeof(idempotency), "%s-%u", in_body, generation);
	if (strcmp(idempotency, header(c, "Idempotency-Key")) != 0 ||
	    strcmp(header(c, "Content-Type"), "application/json") != 0 ||
	    !signature_holds(header(c, "Hiwat-Signature"), body->data, body->len)) {
		server.bad++;
		return;
	}
	snprintf(s->key, sizeof(s->key), "%s", in_body);
	snprintf(s->event, sizeof(s->event), "%s", header(c, "Hiwat-Event"));
	s->generation = generation;
	server.n_seen++;
}

static ssize_t
cut_answer(void *arg, uint64_t pos, char *data, size_t max)
{
	(void)arg;
	(void)max;
	if (pos > 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	*data = 'x';
	return 1;
}

static ssize_t
endless_answer(void *arg, uint64_t pos, char *data, size_t max)
{
	(void)arg;
	(void)pos;
	memset(data, 'x', max);
	return (ssize_t)max;
}

static enum MHD_Result
reply(struct MHD_Connection *c, unsigned status, const char *name, const char *value)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

	if (name != NULL)
		MHD_add_response_header(r, name, value);
	enum MHD_Result result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result
stream(struct MHD_Connection *c, uint64_t size, MHD_ContentReaderCallback reader)
{
	struct MHD_Response *r = MHD_create_response_from_callback(size, 1024, reader, NULL, NULL);
	enum MHD_Result result = MHD_queue_response(c, 200, r);

	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result
finish(struct MHD_Connection *c, const struct buf *body)
{
	pthread_mutex_lock(&server.lock);
	size_t at = server.n_requests++;
	enum behaviour what = at < server.n_script ? server.script[at] : OK;
	/* Whoever loses the answer has seen the notification all the same. */
	if (what == OK || what == CUT || what == DROP || what == ENDLESS)
		note(c, body);
	if (what == HANG) {
		server.hanging++;
		pthread_cond_broadcast(&server.changed);
		while (!server.release)
			pthread_cond_wait(&server.changed, &server.lock);
		server.hanging--;
	}
	pthread_cond_broadcast(&server.changed);
	pthread_mutex_unlock(&server.lock);
	switch (what) {
	case OK:
		return reply(c, 204, NULL, NULL);
	case STATUS_500:
		return reply(c, 500, NULL, NULL);
	case STATUS_429:
		return reply(c, 429, "Retry-After", "1");
	case STATUS_400:
		return reply(c, 400, NULL, NULL);
	case REDIRECT:
		return reply(c, 302, "Location", server.url);
	case CUT:
		return stream(c, 100, cut_answer);
	case ENDLESS:
		return stream(c, MHD_SIZE_UNKNOWN, endless_answer);
	case DROP:
	case HANG:
		break;
	}
	return MHD_NO;
}

static enum MHD_Result
answer(void *arg, struct MHD_Connection *c, const char *url, const char *method, const char *version, const char *data,
    size_t *size, void **state)
{
	struct buf *body = *state;

	(void)arg;
	(void)url;
	(void)version;
	(void)method;
	if (body == NULL) {
		*state = body = malloc(sizeof(*body));
		buf_init(body, 1 << 20);
		return MHD_YES;
	}
	if (*size > 0) {
		buf_add(body, data, *size);
		*size = 0;
		return MHD_YES;
	}
	return finish(c, body);
}

static void
completed(void *arg, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode code)
{
	struct buf *body = *state;

	(void)arg;
	(void)c;
	(void)code;
	if (body != NULL)
		buf_fini(body);
	free(body);
	*state = NULL;
}

static char dir[64], db_path[96], secret_path[96], program[96], out_path[96];
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
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };

	log_set_hook(quiet);
	snprintf(dir, sizeof(dir), "%s/hiwat-notify-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(db_path, sizeof(db_path), "%s/state.db", dir);
	snprintf(secret_path, sizeof(secret_path), "%s/secret", dir);
	snprintf(program, sizeof(program), "%s/program", dir);
	snprintf(out_path, sizeof(out_path), "%s/out", dir);
	write_file(secret_path, secret, sizeof(secret) - 1, 0600);
	open_store();
	server.script = NULL;
	server.n_script = server.n_requests = server.n_seen = 0;
	server.bad = 0;
	server.release = false;
	server.daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0, NULL, NULL, answer,
	    NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_END);
	ck_assert_ptr_nonnull(server.daemon);
	snprintf(server.url, sizeof(server.url), "http://127.0.0.1:%u/hook",
	    MHD_get_daemon_info(server.daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
}

static void
release(void)
{
	pthread_mutex_lock(&server.lock);
	server.release = true;
	pthread_cond_broadcast(&server.changed);
	pthread_mutex_unlock(&server.lock);
}

static void
teardown(void)
{
	char pattern[96];
	glob_t found;

	release();
	MHD_stop_daemon(server.daemon);
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
	release();
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
	release();
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
	add("pager", 0, 1, "trigger", 0);                          /* refused for good */
	add("pager", 0, 2, "resolve", 0);                          /* and what follows goes on */
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

/* What a program does with a notification, and what becomes of it. */
static const struct {
	const char *script;
	enum delivery result;
	const char *why;
} programs[] = {
	{ "cat > \"$1\"; printf ' %s %s %s' \"$HIWAT_EVENT\" \"$HIWAT_KEY\" \"$HIWAT_GENERATION\" >> \"$1\"", DELIVERY_DONE, "" },
	{ "exec <&-; exit 0", DELIVERY_DONE, "" },
	{ "cat > /dev/null; echo no such pager >&2; echo more >&2; exit 1", DELIVERY_RETRY, "exit status 1: no such pager" },
	{ "exit 65", DELIVERY_REFUSED, "exit status 65" },
	{ "kill -TERM $$", DELIVERY_RETRY, "killed by signal 15" },
	{ "sleep 600", DELIVERY_RETRY, "not done after 300 ms, killed" },
	{ "sleep 1 & exit 0", DELIVERY_DONE, "" },
};

START_TEST(command_sink)
{
	const struct sink *sink = sink_find("command");
	const char *command[] = { program, out_path };
	struct route route = { .name = "p", .command = command, .n_command = 2, .timeout_ms = 300 };
	size_t size = _i == 0 || _i == 1 ? 300000 : 10; /* more than a pipe holds */
	char *json = malloc(size + 1);
	struct notice notice = { "00000000000000000000000000000007", 3, "trigger", json };
	struct buf why, text;
	void *state = NULL;
	uint64_t retry_after = 0;
	sigset_t pipe_signal, before;

	/* As in the notifier's threads. */
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
	memset(json, 'j', size);
	json[size] = '\0';
	if (_i == 0)
		route.timeout_ms = 60000;
	buf_init(&why, 400);
	buf_init(&text, 1000);
	buf_printf(&text, "#!/bin/sh\n%s\n", programs[_i].script);
	write_file(program, text.data, text.len, 0700);
	ck_assert_int_eq(sink->open(&route, &state, &why), 0);
	ck_assert_int_eq(sink->send(state, &route, &notice, &why, &retry_after), programs[_i].result);
	ck_assert_str_eq(buf_str(&why), programs[_i].why);
	sink->close(state);
	if (_i == 0) {
		static const char rest[] = " trigger 00000000000000000000000000000007 3";
		char *got = malloc(size + 100);
		int fd = open(out_path, O_RDONLY);
		ssize_t n = read(fd, got, size + 100);

		close(fd);
		ck_assert_int_eq(n, (ssize_t)(size + sizeof(rest) - 1));
		ck_assert_int_eq(memcmp(got, json, size), 0);
		ck_assert_int_eq(memcmp(got + size, rest, sizeof(rest) - 1), 0);
		free(got);
	}
	const struct timespec no_time = { 0 };
	sigtimedwait(&pipe_signal, NULL, &no_time);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	buf_fini(&why);
	buf_fini(&text);
	free(json);
}
END_TEST

/* What one answer means. */
static const struct {
	enum behaviour what;
	enum delivery result;
	uint64_t retry_after_ms;
	const char *why;
} answers[] = {
	{ OK, DELIVERY_DONE, 0, "" },
	{ STATUS_500, DELIVERY_RETRY, 0, "HTTP status 500" },
	{ STATUS_429, DELIVERY_RETRY, 1000, "HTTP status 429" },
	{ STATUS_400, DELIVERY_REFUSED, 0, "HTTP status 400" },
	{ REDIRECT, DELIVERY_RETRY, 0, "HTTP status 302, redirects are not followed" },
	{ ENDLESS, DELIVERY_DONE, 0, "" },
};

static enum delivery
send_one(const struct route *route, struct buf *why, uint64_t *retry_after)
{
	static const char json[] = "{\"key\":\"00000000000000000000000000000007\",\"generation\":3}";
	struct notice notice = { "00000000000000000000000000000007", 3, "trigger", json };
	void *state = NULL;

	ck_assert_int_eq(sink_webhook.open(route, &state, why), 0);
	enum delivery result = sink_webhook.send(state, route, &notice, why, retry_after);
	sink_webhook.close(state);
	return result;
}

START_TEST(webhook_answers)
{
	struct route route = webhook_route("r");
	uint64_t retry_after = 0;
	struct buf why;

	server.script = &answers[_i].what;
	server.n_script = 1;
	buf_init(&why, 400);
	ck_assert_int_eq(send_one(&route, &why, &retry_after), answers[_i].result);
	ck_assert_str_eq(buf_str(&why), answers[_i].why);
	ck_assert_uint_eq(retry_after, answers[_i].retry_after_ms);
	buf_fini(&why);
}
END_TEST

/* A certificate for 127.0.0.1, or another address, signed by itself; as PEM. */
static void
make_certificate(const char *address, char *cert, char *key, size_t size)
{
	gnutls_x509_crt_t crt;
	gnutls_x509_privkey_t private;
	uint8_t ip[4] = { 127, 0, 0, (uint8_t)atol(address) };
	size_t n = size;

	gnutls_x509_crt_init(&crt);
	gnutls_x509_privkey_init(&private);
	gnutls_x509_privkey_generate(private, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
	    0);
	gnutls_x509_crt_set_version(crt, 3);
	gnutls_x509_crt_set_serial(crt, "\1", 1);
	gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, address, (unsigned)strlen(address));
	gnutls_x509_crt_set_activation_time(crt, time(NULL) - 3600);
	gnutls_x509_crt_set_expiration_time(crt, time(NULL) + 3600);
	gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, ip, sizeof(ip), GNUTLS_FSAN_SET);
	gnutls_x509_crt_set_basic_constraints(crt, 1, -1);
	gnutls_x509_crt_set_key(crt, private);
	ck_assert_int_eq(gnutls_x509_crt_sign2(crt, crt, private, GNUTLS_DIG_SHA256, 0), 0);
	ck_assert_int_eq(gnutls_x509_crt_export(crt, GNUTLS_X509_FMT_PEM, cert, &n), 0);
	n = size;
	ck_assert_int_eq(gnutls_x509_privkey_export(private, GNUTLS_X509_FMT_PEM, key, &n), 0);
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(private);
}

static const struct {
	const char *address; /* last byte of the one in the server's certificate */
	bool trusted;
	enum delivery result;
} tls_rows[] = { { "1", true, DELIVERY_DONE }, { "1", false, DELIVERY_RETRY }, { "2", true, DELIVERY_RETRY } };

START_TEST(webhook_verifies_tls)
{
	static char cert[4096], key[4096], other[4096], other_key[4096];
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct route route = webhook_route("r");
	char ca[96], url[64];
	uint64_t retry_after = 0;
	struct buf why;

	make_certificate(tls_rows[_i].address, cert, key, sizeof(cert));
	make_certificate("1", other, other_key, sizeof(other));
	struct MHD_Daemon *d = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS, 0, NULL, NULL, answer, NULL,
	    MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_HTTPS_MEM_CERT, cert,
	    MHD_OPTION_HTTPS_MEM_KEY, key, MHD_OPTION_END);
	ck_assert_ptr_nonnull(d);
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/", MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT)->port);
	snprintf(ca, sizeof(ca), "%s/ca.pem", dir);
	const char *trusted = tls_rows[_i].trusted ? cert : other;
	write_file(ca, trusted, strlen(trusted), 0600);
	route.url = url;
	route.ca_file = ca;
	buf_init(&why, 400);
	enum delivery result = send_one(&route, &why, &retry_after);
	MHD_stop_daemon(d);
	ck_assert_int_eq(result, tls_rows[_i].result);
	ck_assert_uint_eq(server.n_seen, result == DELIVERY_DONE);
	ck_assert_int_eq(buf_str(&why)[0] == '\0', result == DELIVERY_DONE);
	buf_fini(&why);
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
	tcase_add_loop_test(t, webhook_answers, 0, ARRAY_LEN(answers));
	tcase_add_loop_test(t, webhook_verifies_tls, 0, ARRAY_LEN(tls_rows));
	tcase_add_loop_test(t, command_sink, 0, ARRAY_LEN(programs));
	tcase_add_loop_test(t, route_that_cannot_work, 0, ARRAY_LEN(bad_routes));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(notify_suite)
