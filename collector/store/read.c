/* What others read: at start everything that is open, later the outbox. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "internal.h"

static const char *const reads[READ_N] = {
	/* The first waiting row of each incident, when it is due. */
	[READ_DUE] =
	    "SELECT id, incident_key, generation, route, event, payload, created_ns, next_try_ns, expires_ns, tries,"
	    " last_error FROM outbox AS o WHERE state = 0 AND route = ?1 AND next_try_ns <= ?2"
	    " AND NOT EXISTS (SELECT 1 FROM outbox AS e WHERE e.state = 0 AND e.route = o.route"
	    " AND e.incident_key = o.incident_key AND e.id < o.id) ORDER BY id LIMIT ?3",
	[READ_STATS] = "SELECT count(*), min(created_ns) FROM outbox INDEXED BY outbox_waiting WHERE state = 0",
	[READ_OPEN] =
	    "SELECT id, json FROM incidents INDEXED BY incidents_open WHERE closed = 0 AND id > ?1 ORDER BY id LIMIT ?2",
};

/* Prepared on first use; call with read_lock held. */
static sqlite3_stmt *
reader(struct store *store, int which)
{
	if (store->read[which] == NULL)
		sqlite3_prepare_v3(store->read_db, reads[which], -1, SQLITE_PREPARE_PERSISTENT, &store->read[which], NULL);
	return store->read[which];
}

int
store_each_incident(struct store *store, uint64_t closed_since_ns, bool (*fn)(void *arg, const char *key, const char *json),
    void *arg)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	int code = SQLITE_DONE;
	int err = store_connect(store->path, false, &db);

	if (err != 0)
		return err;
	err = store_error(sqlite3_prepare_v2(db,
	    "SELECT key, json FROM incidents WHERE closed = 0 UNION ALL"
	    " SELECT key, json FROM incidents WHERE closed = 1 AND changed_ns >= ?1",
	    -1, &s, NULL));
	if (err == 0) {
		sqlite3_bind_int64(s, 1, (sqlite3_int64)closed_since_ns);
		while ((code = sqlite3_step(s)) == SQLITE_ROW) {
			const char *key = (const char *)sqlite3_column_text(s, 0);
			const char *json = (const char *)sqlite3_column_text(s, 1);

			if (key == NULL || json == NULL) {
				code = SQLITE_NOMEM;
				break;
			}
			if (!fn(arg, key, json))
				break;
		}
		err = store_error(code);
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
	return err;
}

int
store_each_silence(struct store *store, bool (*fn)(void *arg, const char *json), void *arg)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	int code = SQLITE_DONE;
	int err = store_connect(store->path, false, &db);

	if (err != 0)
		return err;
	err = store_error(sqlite3_prepare_v2(db, "SELECT json FROM silences ORDER BY ends_ns", -1, &s, NULL));
	if (err == 0) {
		while ((code = sqlite3_step(s)) == SQLITE_ROW) {
			const char *json = (const char *)sqlite3_column_text(s, 0);

			if (json == NULL) {
				code = SQLITE_NOMEM;
				break;
			}
			if (!fn(arg, json))
				break;
		}
		err = store_error(code);
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
	return err;
}

int
store_each_progress(struct store *store,
    bool (*fn)(void *arg, const uint8_t uuid[16], uint64_t stream, bool late, uint64_t sequence), void *arg)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	int code = SQLITE_DONE;
	int err = store_connect(store->path, false, &db);

	if (err != 0)
		return err;
	err = store_error(
	    sqlite3_prepare_v2(db, "SELECT host, stream, late, sequence FROM progress ORDER BY changed_ns", -1, &s, NULL));
	if (err == 0) {
		while ((code = sqlite3_step(s)) == SQLITE_ROW) {
			const uint8_t *uuid = sqlite3_column_blob(s, 0);

			if (uuid == NULL || sqlite3_column_bytes(s, 0) != 16)
				continue;
			if (!fn(arg, uuid, (uint64_t)sqlite3_column_int64(s, 1), sqlite3_column_int(s, 2) != 0,
				(uint64_t)sqlite3_column_int64(s, 3)))
				break;
		}
		err = store_error(code);
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
	return err;
}

/* Ids whose result waits in the queue. *ids is owned by the caller. */
static int
queued_results(struct store *store, int64_t **ids, size_t *n)
{
	size_t count = 0;
	int err = 0;

	pthread_mutex_lock(&store->lock);
	for (const struct job *job = store->head; job != NULL; job = job->next)
		count += job->kind == JOB_DONE || job->kind == JOB_RETRY || job->kind == JOB_EXPIRE;
	*ids = NULL;
	*n = 0;
	if (count > 0) {
		*ids = malloc(count * sizeof(**ids));
		if (*ids == NULL)
			err = HIWAT_E_NOMEM;
		for (const struct job *job = store->head; err == 0 && job != NULL; job = job->next)
			if (job->kind == JOB_DONE || job->kind == JOB_RETRY || job->kind == JOB_EXPIRE)
				(*ids)[(*n)++] = job->id;
	}
	pthread_mutex_unlock(&store->lock);
	return err;
}

static bool
column_copy(sqlite3_stmt *s, int column, char **out)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	*out = strdup(text == NULL ? "" : text);
	return *out != NULL;
}

static bool
read_row(sqlite3_stmt *s, struct outbox_row *row)
{
	const char *key = (const char *)sqlite3_column_text(s, 1);

	*row = (struct outbox_row){
		.id = sqlite3_column_int64(s, 0),
		.generation = (unsigned)sqlite3_column_int64(s, 2),
		.created_ns = (uint64_t)sqlite3_column_int64(s, 6),
		.next_try_ns = (uint64_t)sqlite3_column_int64(s, 7),
		.expires_ns = (uint64_t)sqlite3_column_int64(s, 8),
		.tries = (unsigned)sqlite3_column_int64(s, 9),
	};
	snprintf(row->incident_key, sizeof(row->incident_key), "%s", key == NULL ? "" : key);
	return column_copy(s, 3, &row->route) && column_copy(s, 4, &row->event) && column_copy(s, 5, &row->payload) &&
	    (sqlite3_column_type(s, 10) == SQLITE_NULL || column_copy(s, 10, &row->last_error));
}

int
store_outbox_due(struct store *store, const char *route, uint64_t now_ns, size_t max, struct outbox_row **rows, size_t *n)
{
	int64_t *busy = NULL;
	size_t n_busy = 0, count = 0;
	struct outbox_row *found = calloc(max + 1, sizeof(*found));
	/* Before the query: a result that is committed in between has then left the rows, or the list still names it. */
	int err = found == NULL ? HIWAT_E_NOMEM : queued_results(store, &busy, &n_busy);
	if (err != 0) {
		free(found);
		return err;
	}
	pthread_mutex_lock(&store->read_lock);
	sqlite3_stmt *s = reader(store, READ_DUE);
	int code = s == NULL ? sqlite3_errcode(store->read_db) : SQLITE_ROW;
	if (s != NULL) {
		sqlite3_bind_text(s, 1, route, -1, SQLITE_STATIC);
		sqlite3_bind_int64(s, 2, (sqlite3_int64)now_ns);
		sqlite3_bind_int64(s, 3, (sqlite3_int64)(max + n_busy));
	}
	while (code == SQLITE_ROW && count < max && (code = sqlite3_step(s)) == SQLITE_ROW) {
		bool is_busy = false;

		for (size_t i = 0; i < n_busy && !is_busy; i++)
			is_busy = busy[i] == sqlite3_column_int64(s, 0);
		if (is_busy)
			continue;
		if (!read_row(s, &found[count++]))
			code = SQLITE_NOMEM;
	}
	err = store_error(code);
	if (s != NULL) {
		sqlite3_reset(s);
		sqlite3_clear_bindings(s);
	}
	pthread_mutex_unlock(&store->read_lock);
	free(busy);
	if (err != 0) {
		store_outbox_free(found, count);
		return err;
	}
	*rows = found;
	*n = count;
	return 0;
}

void
store_outbox_free(struct outbox_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(rows[i].route);
		free(rows[i].event);
		free(rows[i].payload);
		free(rows[i].last_error);
	}
	free(rows);
}

int
store_open_incidents(struct store *store, int64_t after, size_t max, bool (*fn)(void *arg, const char *json), void *arg,
    int64_t *last)
{
	int64_t id = 0;
	size_t n = 0;
	int err = 0;

	pthread_mutex_lock(&store->read_lock);
	sqlite3_stmt *s = reader(store, READ_OPEN);
	int code = s == NULL ? sqlite3_errcode(store->read_db) : SQLITE_ROW;
	if (s != NULL) {
		sqlite3_bind_int64(s, 1, after);
		sqlite3_bind_int64(s, 2, (sqlite3_int64)max);
	}
	while (err == 0 && code == SQLITE_ROW && (code = sqlite3_step(s)) == SQLITE_ROW) {
		const char *json = (const char *)sqlite3_column_text(s, 1);

		id = sqlite3_column_int64(s, 0);
		n++;
		if (json == NULL || !fn(arg, json))
			err = HIWAT_E_NOMEM;
	}
	if (err == 0)
		err = store_error(code);
	if (s != NULL) {
		sqlite3_reset(s);
		sqlite3_clear_bindings(s);
	}
	pthread_mutex_unlock(&store->read_lock);
	if (err == 0)
		*last = n == max ? id : 0;
	return err;
}

int
store_outbox_done(struct store *store, int64_t id, uint64_t now_ns, const char *receipt)
{
	return store_queue(store, job_new_row(JOB_DONE, id, now_ns, receipt), false);
}

int
store_outbox_retry(struct store *store, int64_t id, uint64_t next_try_ns, const char *error)
{
	return store_queue(store, job_new_row(JOB_RETRY, id, next_try_ns, error), false);
}

int
store_outbox_expire(struct store *store, int64_t id, uint64_t now_ns, const char *error)
{
	return store_queue(store, job_new_row(JOB_EXPIRE, id, now_ns, error), false);
}

int
store_outbox_stats(struct store *store, uint64_t now_ns, size_t *waiting, uint64_t *oldest_ns)
{
	int err = 0;

	pthread_mutex_lock(&store->read_lock);
	sqlite3_stmt *s = reader(store, READ_STATS);
	int code = s == NULL ? sqlite3_errcode(store->read_db) : sqlite3_step(s);
	if (code == SQLITE_ROW) {
		uint64_t created = (uint64_t)sqlite3_column_int64(s, 1);

		*waiting = (size_t)sqlite3_column_int64(s, 0);
		*oldest_ns = *waiting > 0 && created < now_ns ? now_ns - created : 0;
	} else {
		err = code == SQLITE_DONE ? HIWAT_E_SYS : store_error(code);
	}
	if (s != NULL)
		sqlite3_reset(s);
	pthread_mutex_unlock(&store->read_lock);
	return err;
}
