/* Opening, closing, and moving a damaged file aside. */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "err.h"
#include "internal.h"

/* path + suffix; owned, NULL when memory is out. */
static char *
with_suffix(const char *path, const char *suffix)
{
	size_t size = strlen(path) + strlen(suffix) + 1;
	char *name = malloc(size);

	if (name != NULL)
		snprintf(name, size, "%s%s", path, suffix);
	return name;
}

/* Keeps a second process out until this one ends, however it ends. */
static int
take_lock(const char *path, int *fd)
{
	char *name = with_suffix(path, ".lock");
	if (name == NULL)
		return HIWAT_E_NOMEM;
	int opened = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	free(name);
	if (opened < 0)
		return HIWAT_E_SYS;
	if (flock(opened, LOCK_EX | LOCK_NB) != 0) {
		int err = errno == EWOULDBLOCK ? HIWAT_E_AGAIN : HIWAT_E_SYS;
		close(opened);
		return err;
	}
	*fd = opened;
	return 0;
}

/*
 * PATH becomes PATH.damaged-YYYYMMDDTHHMMSSZ, a number behind it when that exists. Its write-ahead log goes along: left
 * behind it would be replayed into the new file.
 */
static int
move_aside(const char *path, char **moved)
{
	static const char *const parts[] = { "-wal", "-shm", "" };
	char stamp[64];
	time_t now = time(NULL);
	struct tm tm;
	char *target = NULL;
	struct stat st;

	if (gmtime_r(&now, &tm) == NULL || strftime(stamp, sizeof(stamp), ".damaged-%Y%m%dT%H%M%SZ", &tm) == 0)
		return HIWAT_E_SYS;
	for (unsigned i = 1; i < 100; i++) {
		char suffix[80];

		snprintf(suffix, sizeof(suffix), i == 1 ? "%s" : "%s-%u", stamp, i);
		free(target);
		target = with_suffix(path, suffix);
		if (target == NULL)
			return HIWAT_E_NOMEM;
		if (lstat(target, &st) != 0)
			break;
	}
	int err = 0;
	for (size_t i = 0; err == 0 && i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *from = with_suffix(path, parts[i]), *to = with_suffix(target, parts[i]);

		if (from == NULL || to == NULL)
			err = HIWAT_E_NOMEM;
		else if (rename(from, to) != 0 && errno != ENOENT)
			err = HIWAT_E_SYS;
		free(from);
		free(to);
	}
	if (err != 0) {
		free(target);
		return err;
	}
	*moved = target;
	return 0;
}

/* A writer's connection to a sound file of this version. */
static int
open_writer(const char *path, struct writer_db **writer)
{
	sqlite3 *db = NULL;
	int err = store_connect(path, true, &db);

	if (err != 0)
		return err;
	err = store_migrate(db);
	if (err == 0) {
		err = writer_db_new(db, writer);
		/* Its version says that the tables are there, yet the statements do not fit them. */
		if (err == HIWAT_E_SYS)
			err = HIWAT_E_CORRUPT;
	}
	if (err != 0)
		sqlite3_close(db);
	return err;
}

static int
init_locks(struct store *store)
{
	pthread_condattr_t monotonic;

	if (pthread_condattr_init(&monotonic) != 0)
		return HIWAT_E_NOMEM;
	int failed = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	failed |= pthread_mutex_init(&store->lock, NULL);
	failed |= pthread_mutex_init(&store->read_lock, NULL);
	failed |= pthread_cond_init(&store->work, &monotonic);
	failed |= pthread_cond_init(&store->done, NULL);
	pthread_condattr_destroy(&monotonic);
	return failed == 0 ? 0 : HIWAT_E_NOMEM;
}

/* Everything but the thread. */
static void
release(struct store *store)
{
	for (int i = 0; i < READ_N; i++)
		sqlite3_finalize(store->read[i]);
	sqlite3_close(store->read_db);
	writer_db_free(store->writer);
	while (store->head != NULL) {
		struct job *job = store->head;
		store->head = job->next;
		job_free(job);
	}
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	pthread_cond_destroy(&store->done);
	pthread_cond_destroy(&store->work);
	pthread_mutex_destroy(&store->read_lock);
	pthread_mutex_destroy(&store->lock);
	free(store->path);
	free(store);
}

int
store_open(const char *path, struct store **out, char **moved_aside)
{
	struct store *store = calloc(1, sizeof(*store));
	char *moved = NULL;

	if (store == NULL)
		return HIWAT_E_NOMEM;
	store->lock_fd = -1;
	store->healthy = true;
	int err = init_locks(store);
	if (err != 0)
		goto fail;
	store->path = with_suffix(path, "");
	err = store->path == NULL ? HIWAT_E_NOMEM : take_lock(path, &store->lock_fd);
	if (err != 0)
		goto fail;
	err = open_writer(path, &store->writer);
	if (err == HIWAT_E_CORRUPT) {
		err = move_aside(path, &moved);
		if (err == 0)
			err = open_writer(path, &store->writer);
	}
	if (err == 0)
		err = store_connect(path, false, &store->read_db);
	if (err == 0 && pthread_create(&store->thread, NULL, store_write_loop, store) != 0)
		err = HIWAT_E_NOMEM;
	if (err != 0)
		goto fail;
	*out = store;
	*moved_aside = moved;
	return 0;
fail:
	free(moved);
	int saved_errno = errno;
	release(store);
	errno = saved_errno;
	return err;
}

void
store_close(struct store *store)
{
	if (store == NULL)
		return;
	pthread_mutex_lock(&store->lock);
	store->stopping = true;
	pthread_cond_signal(&store->work);
	pthread_mutex_unlock(&store->lock);
	pthread_join(store->thread, NULL);
	release(store);
}

void
store_on_outbox(struct store *store, void (*fn)(void *arg), void *arg)
{
	pthread_mutex_lock(&store->lock);
	store->on_outbox = fn;
	store->on_outbox_arg = arg;
	pthread_mutex_unlock(&store->lock);
}

int
store_put(struct store *store, const struct store_change *change)
{
	return store_queue(store, job_new_change(change), true);
}

int
store_prune(struct store *store, uint64_t now_ns)
{
	return store_queue(store, job_new_row(JOB_PRUNE, 0, now_ns, NULL), true);
}
