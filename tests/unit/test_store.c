#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "store.h"

#define NOW (1700000000ULL * NSEC_PER_SEC)

static char dir[64], path[96];

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "%s/hiwat-store-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/state.db", dir);
}

static void
teardown(void)
{
	glob_t found;
	char pattern[128];

	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

static struct store *
open_store(void)
{
	struct store *store = NULL;
	char *moved = NULL;

	ck_assert_int_eq(store_open(path, &store, &moved), 0);
	ck_assert_ptr_null(moved);
	return store;
}

/* One change: an incident, a notification for each of two routes, and the host's progress. */
static int
put(struct store *store, unsigned host, unsigned key, unsigned generation, uint64_t sequence, const char *event)
{
	char json[256], route_a[] = "a", route_b[] = "b";
	struct store_incident incident = { .json = json };
	struct outbox_row rows[2] = { { .generation = generation, .route = route_a },
		{ .generation = generation, .route = route_b } };
	struct store_change change = {
		.incidents = &incident,
		.n_incidents = 1,
		.notifications = rows,
		.n_notifications = 2,
		.wall_ns = NOW,
		.host_uuid = { (uint8_t)host },
		.stream = UINT64_MAX - 1,
		.sequence = sequence,
	};

	snprintf(incident.key, sizeof(incident.key), "%032x", key);
	snprintf(json, sizeof(json), "{\"key\":\"%032x\",\"generation\":%u,\"sequence\":%llu}", key, generation,
	    (unsigned long long)sequence);
	for (int i = 0; i < 2; i++) {
		memcpy(rows[i].incident_key, incident.key, sizeof(incident.key));
		rows[i].event = (char *)(uintptr_t)event;
		rows[i].payload = json;
		rows[i].created_ns = rows[i].next_try_ns = NOW;
		rows[i].expires_ns = NOW + 3600 * NSEC_PER_SEC;
	}
	return store_put(store, &change);
}

static size_t
due(struct store *store, const char *route, uint64_t now, int64_t ids[], unsigned generations[], size_t max)
{
	struct outbox_row *rows = NULL;
	size_t n = 0;

	ck_assert_int_eq(store_outbox_due(store, route, now, max, &rows, &n), 0);
	for (size_t i = 0; i < n; i++) {
		ids[i] = rows[i].id;
		generations[i] = rows[i].generation;
		ck_assert_str_eq(rows[i].route, route);
		ck_assert(i == 0 || rows[i].id > rows[i - 1].id);
	}
	store_outbox_free(rows, n);
	return n;
}

struct seen {
	size_t n;
	char key[40], json[256];
	uint64_t stream, sequence;
};

static bool
see_incident(void *arg, const char *key, const char *json)
{
	struct seen *seen = arg;

	seen->n++;
	snprintf(seen->key, sizeof(seen->key), "%s", key);
	snprintf(seen->json, sizeof(seen->json), "%s", json);
	return true;
}

static bool
see_progress(void *arg, const uint8_t uuid[16], uint64_t stream, bool late, uint64_t sequence)
{
	struct seen *seen = arg;

	seen->n += uuid[0] == 7 && !late;
	seen->stream = stream;
	seen->sequence = sequence;
	return true;
}

START_TEST(what_is_put_is_there_after_reopening)
{
	struct store *store = open_store();
	struct seen seen = { 0 };
	struct store *second = NULL;
	char *moved = NULL;

	ck_assert_int_eq(put(store, 7, 1, 1, 10, "trigger"), 0);
	ck_assert_int_eq(put(store, 7, 1, 2, 12, "escalate"), 0);
	ck_assert_int_eq(put(store, 7, 1, 3, 11, "update"), 0);
	ck_assert_int_eq(store_open(path, &second, &moved), HIWAT_E_AGAIN);
	store_close(store);
	store = open_store();
	ck_assert_int_eq(store_each_incident(store, 0, see_incident, &seen), 0);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_str_eq(seen.key, "00000000000000000000000000000001");
	ck_assert_str_eq(seen.json, "{\"key\":\"00000000000000000000000000000001\",\"generation\":3,\"sequence\":11}");
	seen.n = 0;
	ck_assert_int_eq(store_each_progress(store, see_progress, &seen), 0);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert(seen.stream == UINT64_MAX - 1);
	ck_assert_uint_eq(seen.sequence, 12); /* it never goes back */
	store_close(store);
}
END_TEST

START_TEST(outbox_keeps_order_within_an_incident)
{
	struct store *store = open_store();
	int64_t ids[8] = { 0 };
	unsigned g[8];
	size_t waiting;
	uint64_t oldest;

	for (unsigned i = 1; i <= 3; i++) {
		ck_assert_int_eq(put(store, 7, 1, i, i, "trigger"), 0);
		ck_assert_int_eq(put(store, 7, 2, i, i, "trigger"), 0);
	}
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_uint_eq(due(store, "a", NOW - 1, ids, g, 8), 0);
	ck_assert_uint_eq(due(store, "c", NOW, ids, g, 8), 0);
	ck_assert_uint_eq(due(store, "a", NOW, ids, g, 1), 1);
	ck_assert_uint_eq(due(store, "a", NOW, ids, g, 8), 2);
	ck_assert(g[0] == 1 && g[1] == 1);
	/* The first waits for its retry: nothing behind it of that incident goes ahead. */
	ck_assert_int_eq(store_outbox_retry(store, ids[0], NOW + 5, "500"), 0);
	ck_assert_int_eq(store_outbox_done(store, ids[1], NOW, "ok"), 0);
	/* Whether or not it is committed already, no result is asked for twice. */
	for (int64_t first = ids[0], second = ids[1], k = 0; k < 20; k++) {
		size_t n = due(store, "a", NOW, ids, g, 8);

		for (size_t i = 0; i < n; i++)
			ck_assert(ids[i] != first && ids[i] != second);
	}
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_uint_eq(due(store, "a", NOW, ids, g, 8), 1);
	ck_assert_uint_eq(g[0], 2);
	ck_assert_uint_eq(due(store, "a", NOW + 5, ids, g, 8), 2);
	ck_assert(g[0] == 1 && g[1] == 2);
	ck_assert_int_eq(store_outbox_expire(store, ids[0], NOW, "too late"), 0);
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_uint_eq(due(store, "a", NOW + 5, ids, g, 8), 2);
	ck_assert(g[0] == 2 && g[1] == 2);
	ck_assert_uint_eq(due(store, "b", NOW, ids, g, 8), 2); /* the other route is not touched */
	ck_assert_int_eq(store_outbox_stats(store, NOW + 9, &waiting, &oldest), 0);
	ck_assert_uint_eq(waiting, 12 - 2);
	ck_assert_uint_eq(oldest, 9);
	store_close(store);
}
END_TEST

START_TEST(newer_rows_make_repeats_obsolete)
{
	static const char *const events[] = { "trigger", "repeat", "repeat", "update", "escalate", "repeat", "resolve" };
	static const unsigned left[] = { 1, 5, 7 };
	struct store *store = open_store();
	int64_t ids[8];
	unsigned g[8];

	for (unsigned i = 0; i < ARRAY_LEN(events); i++)
		ck_assert_int_eq(put(store, 7, 1, i + 1, i + 1, events[i]), 0);
	for (unsigned i = 0; i < ARRAY_LEN(left); i++) {
		ck_assert_int_eq(store_flush(store), 0);
		ck_assert_uint_eq(due(store, "a", NOW, ids, g, 8), 1);
		ck_assert_uint_eq(g[0], left[i]);
		ck_assert_int_eq(store_outbox_done(store, ids[0], NOW, NULL), 0);
	}
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_uint_eq(due(store, "a", NOW, ids, g, 8), 0);
	store_close(store);
}
END_TEST

START_TEST(old_rows_are_pruned)
{
	const uint64_t day = 86400ULL * NSEC_PER_SEC, month = 30 * day;
	struct store *store = open_store();
	struct seen seen = { 0 };
	int64_t ids[8];
	unsigned g[8];
	char json[] = "{}";
	struct store_incident incident = { .key = "00000000000000000000000000000002", .json = json, .closed = true };
	struct store_change closed = { .incidents = &incident, .n_incidents = 1, .wall_ns = NOW };

	ck_assert_int_eq(put(store, 7, 1, 1, 1, "trigger"), 0);
	ck_assert_int_eq(store_put(store, &closed), 0);
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_uint_eq(due(store, "a", NOW, ids, g, 8), 1);
	ck_assert_int_eq(store_outbox_done(store, ids[0], NOW, NULL), 0);
	/* What waits is given up a day after its time, should its route be gone. */
	ck_assert_int_eq(store_prune(store, NOW + day + 3600 * NSEC_PER_SEC), 0);
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_uint_eq(due(store, "b", NOW, ids, g, 8), 1);
	ck_assert_int_eq(store_prune(store, NOW + day + 3601 * NSEC_PER_SEC), 0);
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_uint_eq(due(store, "b", NOW, ids, g, 8), 0);
	ck_assert_int_eq(store_prune(store, NOW + month), 0);
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_int_eq(store_each_incident(store, NOW, see_incident, &seen), 0);
	ck_assert_uint_eq(seen.n, 2);
	ck_assert_int_eq(store_prune(store, NOW + month + 1), 0);
	ck_assert_int_eq(store_flush(store), 0);
	seen.n = 0;
	ck_assert_int_eq(store_each_incident(store, 0, see_incident, &seen), 0);
	ck_assert_uint_eq(seen.n, 1); /* the open one stays, however old */
	seen.n = 0;
	ck_assert_int_eq(store_each_progress(store, see_progress, &seen), 0);
	ck_assert_uint_eq(seen.n, 0);
	store_close(store);
}
END_TEST

static void
write_file(const char *name, const void *data, size_t len, off_t at)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, data, len, at), (ssize_t)len);
	close(fd);
}

/* What is done to a sound file before it is opened again. */
static const struct {
	off_t at; /* -1: behind the first page, all that follows */
	size_t len;
	bool remove_first;
} damage[] = {
	{ .at = 0, .len = 8192 },                      /* the header */
	{ .at = -1 },                                  /* every page but the first */
	{ .at = 0, .len = 700, .remove_first = true }, /* no database at all */
	{ .at = 100, .len = 200 },                     /* the root page of the schema */
};

START_TEST(damaged_file_is_moved_aside)
{
	struct store *store = open_store();
	char *moved = NULL;
	static char noise[1 << 20];
	struct stat st;
	struct seen seen = { 0 };

	memset(noise, 0xa5, sizeof(noise));
	for (unsigned i = 0; i < 200; i++)
		ck_assert_int_eq(put(store, 7, i, 1, i + 1, "trigger"), 0);
	store_close(store);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert(st.st_size > 8192 && (size_t)st.st_size < sizeof(noise));
	if (damage[_i].remove_first)
		unlink(path);
	if (damage[_i].at < 0)
		write_file(path, noise, (size_t)st.st_size - 4096, 4096);
	else
		write_file(path, noise, damage[_i].len, damage[_i].at);
	ck_assert_int_eq(store_open(path, &store, &moved), 0);
	ck_assert_ptr_nonnull(moved);
	ck_assert_int_eq(strncmp(moved, path, strlen(path)), 0);
	ck_assert_int_eq(strncmp(moved + strlen(path), ".damaged-", 9), 0);
	ck_assert_int_eq(stat(moved, &st), 0);
	free(moved);
	ck_assert_int_eq(store_each_incident(store, 0, see_incident, &seen), 0);
	ck_assert_uint_eq(seen.n, 0);
	ck_assert_int_eq(put(store, 7, 1, 1, 1, "trigger"), 0);
	ck_assert_int_eq(store_flush(store), 0);
	store_close(store);
}
END_TEST

START_TEST(files_of_others_are_left_alone)
{
	sqlite3 *db = NULL;
	struct store *store = NULL;
	char *moved = NULL;
	static const char *const marks[] = { "PRAGMA user_version = 7", "PRAGMA application_id = 1",
		"PRAGMA application_id = 1752396660; PRAGMA user_version = 1000" };

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, marks[_i], NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	ck_assert_int_eq(store_open(path, &store, &moved), HIWAT_E_VERSION);
	ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(unusable_directory)
{
	struct store *store = NULL;
	char *moved = NULL;

	ck_assert_int_eq(store_open("/nonexistent/state.db", &store, &moved), HIWAT_E_SYS);
}
END_TEST

/* For children: Check's own macros speak over a channel that belongs to the parent. */
#define NEED(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			_exit(1); \
		} \
	} while (0)

static void
ignore(int sig)
{
	(void)sig;
}

/* In a child, as a limit on file size holds for the whole process. */
static void
full_disk(void)
{
	struct store *store = NULL;
	char *moved = NULL;
	const char *why = NULL;
	struct rlimit limit;
	struct seen seen = { 0 };

	NEED(store_open(path, &store, &moved) == 0 && moved == NULL);
	NEED(put(store, 7, 1, 1, 1, "trigger") == 0);
	NEED(store_flush(store) == 0);
	NEED(store_healthy(store, &why));
	NEED(*why == '\0');
	signal(SIGXFSZ, ignore);
	NEED(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	rlim_t before = limit.rlim_cur;
	limit.rlim_cur = 4096;
	NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	for (unsigned i = 2; i < 500; i++)
		NEED(put(store, 7, i, 1, i, "trigger") == 0);
	NEED(store_flush(store) == HIWAT_E_SYS);
	NEED(store_flush(store) == HIWAT_E_SYS);
	NEED(!store_healthy(store, &why));
	NEED(*why != '\0');
	/* What was committed before can still be read, and what was not is not to be seen. */
	NEED(store_each_incident(store, 0, see_incident, &seen) == 0);
	NEED(seen.n == 1);
	limit.rlim_cur = before;
	NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	while (store_flush(store) != 0)
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	NEED(store_healthy(store, &why));
	seen.n = 0;
	NEED(store_each_incident(store, 0, see_incident, &seen) == 0);
	NEED(seen.n == 499);
	store_close(store);
}

START_TEST(full_disk_keeps_what_is_queued)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		full_disk();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

/* The queue has a bound: with a disk that takes nothing, changes are refused before memory grows. */
static void
full_queue(void)
{
	struct store *store = NULL;
	char *moved = NULL;
	struct rlimit limit;
	unsigned i = 0;
	int err = 0;

	NEED(store_open(path, &store, &moved) == 0 && moved == NULL);
	signal(SIGXFSZ, ignore);
	NEED(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	limit.rlim_cur = 4096;
	NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	while (err == 0 && i < 100000)
		err = put(store, 7, ++i, 1, 1, "trigger");
	NEED(err == HIWAT_E_FULL);
	NEED(i > 10000);
	/* Results of deliveries still find room. */
	NEED(store_outbox_retry(store, 1, NOW, "x") == 0);
	store_close(store);
}

START_TEST(queue_is_bounded)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		full_queue();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

/*
 * A child writes until it is killed and says through a pipe what it was promised. Incident, notifications and progress of
 * one change carry the same number, so that a half change shows.
 */
static void
write_until_killed(int out)
{
	struct store *store = NULL;
	char *moved = NULL;

	if (store_open(path, &store, &moved) != 0 || moved != NULL)
		_exit(1);
	struct seen seen = { 0 };
	store_each_progress(store, see_progress, &seen);
	for (uint64_t sequence = seen.sequence + 1;; sequence++) {
		/* Five incidents take turns. */
		if (put(store, 7, (unsigned)(sequence % 5), (unsigned)sequence, sequence, "trigger") != 0)
			_exit(1);
		if (sequence % 7 != 0)
			continue;
		if (store_flush(store) != 0 || write(out, &sequence, sizeof(sequence)) != sizeof(sequence))
			_exit(1);
	}
}

static void
check_whole(uint64_t promised)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	struct store *store = open_store();
	struct seen seen = { 0 };

	ck_assert_int_eq(store_each_progress(store, see_progress, &seen), 0);
	ck_assert_uint_ge(seen.sequence, promised);
	store_close(store);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	/* Per change: one row for each route, no gap, none beyond the progress; the incidents are the last of theirs. */
	ck_assert_int_eq(sqlite3_prepare_v2(db,
			     "SELECT (SELECT count(*) FROM outbox), (SELECT count(DISTINCT generation) FROM outbox),"
			     " (SELECT max(generation) FROM outbox), (SELECT count(*) FROM incidents i WHERE"
			     " (SELECT max(generation) FROM outbox o WHERE o.incident_key = i.key)"
			     " <> json_extract(i.json, '$.generation'))",
			     -1, &s, NULL),
	    SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
	ck_assert_uint_eq((uint64_t)sqlite3_column_int64(s, 0), 2 * seen.sequence);
	ck_assert_uint_eq((uint64_t)sqlite3_column_int64(s, 1), seen.sequence);
	ck_assert_uint_eq((uint64_t)sqlite3_column_int64(s, 2), seen.sequence);
	ck_assert_int_eq(sqlite3_column_int(s, 3), 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
}

START_TEST(kill_and_reopen)
{
	unsigned seed = 12345;
	uint64_t promised = 0;

	for (int round = 0; round < 25; round++) {
		int fds[2], status;

		ck_assert_int_eq(pipe(fds), 0);
		pid_t pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			close(fds[0]);
			write_until_killed(fds[1]);
		}
		close(fds[1]);
		/* Killed at some instant after some promises, so that slow machines get as far as fast ones. */
		seed = seed * 1103515245 + 12345;
		for (unsigned n = 1 + (seed >> 16) % 20; n > 0; n--)
			ck_assert_int_eq(read(fds[0], &promised, sizeof(promised)), sizeof(promised));
		nanosleep(&(struct timespec){ .tv_nsec = (long)(seed >> 8) % 3000000 }, NULL);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		while (read(fds[0], &promised, sizeof(promised)) == sizeof(promised))
			continue;
		close(fds[0]);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		check_whole(promised);
	}
}
END_TEST

static Suite *
store_suite(void)
{
	Suite *s = suite_create("store");
	TCase *t = tcase_create("store");

	tcase_set_timeout(t, 100);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_is_put_is_there_after_reopening);
	tcase_add_test(t, outbox_keeps_order_within_an_incident);
	tcase_add_test(t, newer_rows_make_repeats_obsolete);
	tcase_add_test(t, old_rows_are_pruned);
	tcase_add_loop_test(t, damaged_file_is_moved_aside, 0, ARRAY_LEN(damage));
	tcase_add_loop_test(t, files_of_others_are_left_alone, 0, 3);
	tcase_add_test(t, unusable_directory);
	tcase_add_test(t, full_disk_keeps_what_is_queued);
	tcase_add_test(t, queue_is_bounded);
	tcase_add_test(t, kill_and_reopen);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(store_suite)
