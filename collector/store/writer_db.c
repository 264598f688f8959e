/* The writer's statements, and one transaction over a group of jobs. */
#include <stdio.h>
#include <stdlib.h>

#include "err.h"
#include "internal.h"

#define DAY_NS (86400ULL * 1000000000)
#define KEEP_NS (30 * DAY_NS)
#define KEEP_ROWS "100000"
#define PRUNE_ROWS "1000" /* in one go, so that a commit stays short */

enum {
	BEGIN,
	COMMIT,
	ROLLBACK,
	PUT_INCIDENT,
	PUT_PROGRESS,
	PUT_SILENCE,
	MERGE,
	ADD_ROW,
	DONE,
	RETRY,
	EXPIRE,
	PRUNE_WAITING,
	PRUNE_OUTBOX,
	PRUNE_OUTBOX_ROWS,
	PRUNE_INCIDENTS,
	PRUNE_INCIDENT_ROWS,
	PRUNE_PROGRESS,
	PRUNE_SILENCES,
	N_STATEMENTS
};

static const char *const statements[N_STATEMENTS] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
	[PUT_INCIDENT] = "INSERT INTO incidents (key, closed, changed_ns, json) VALUES (?1, ?2, ?3, ?4)"
			 " ON CONFLICT (key) DO UPDATE SET closed = ?2, changed_ns = ?3, json = ?4",
	[PUT_PROGRESS] = "INSERT INTO progress (host, stream, late, sequence, changed_ns) VALUES (?1, ?2, ?3, ?4, ?5)"
			 " ON CONFLICT (host, stream, late) DO UPDATE SET sequence = max(sequence, ?4), changed_ns = ?5",
	[PUT_SILENCE] = "INSERT INTO silences (id, ends_ns, json) VALUES (?1, ?2, ?3)"
			" ON CONFLICT (id) DO UPDATE SET ends_ns = ?2, json = ?3",
	/* What only repeats or refines is obsolete once something newer of that incident waits for that route. */
	[MERGE] = "UPDATE outbox SET state = 3, finished_ns = ?3 WHERE state = 0 AND route = ?1 AND incident_key = ?2"
		  " AND event IN ('repeat', 'update', 'acknowledge')",
	[ADD_ROW] = "INSERT INTO outbox (state, incident_key, generation, route, event, payload, created_ns, next_try_ns,"
		    " expires_ns) VALUES (0, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[DONE] = "UPDATE outbox SET state = 1, finished_ns = ?2, receipt = ?3, last_error = NULL, tries = tries + 1"
		 " WHERE id = ?1 AND state <> 1",
	[RETRY] = "UPDATE outbox SET next_try_ns = ?2, last_error = ?3, tries = tries + 1 WHERE id = ?1 AND state = 0",
	[EXPIRE] = "UPDATE outbox SET state = 2, finished_ns = ?2, last_error = ?3 WHERE id = ?1 AND state = 0",
	/* Rows of routes that are configured no more: nobody gives them up. */
	[PRUNE_WAITING] =
	    "UPDATE outbox SET state = 2, finished_ns = expires_ns, last_error = 'no route took it' WHERE id IN"
	    " (SELECT id FROM outbox INDEXED BY outbox_waiting WHERE state = 0 AND expires_ns < ?1"
	    " LIMIT " PRUNE_ROWS ")",
	[PRUNE_OUTBOX] = "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE state <> 0 AND finished_ns < ?1"
			 " LIMIT " PRUNE_ROWS ")",
	[PRUNE_OUTBOX_ROWS] = "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE state <> 0"
			      " AND id < (SELECT max(id) FROM outbox) - " KEEP_ROWS " ORDER BY id LIMIT " PRUNE_ROWS ")",
	[PRUNE_INCIDENTS] = "DELETE FROM incidents WHERE id IN (SELECT id FROM incidents WHERE closed = 1"
			    " AND changed_ns < ?1 LIMIT " PRUNE_ROWS ")",
	[PRUNE_INCIDENT_ROWS] = "DELETE FROM incidents WHERE id IN (SELECT id FROM incidents WHERE closed = 1"
				" ORDER BY changed_ns LIMIT min(" PRUNE_ROWS ", max(0,"
				" (SELECT count(*) FROM incidents WHERE closed = 1) - " KEEP_ROWS ")))",
	[PRUNE_PROGRESS] = "DELETE FROM progress WHERE (host, stream, late) IN (SELECT host, stream, late FROM progress"
			   " WHERE changed_ns < ?1 LIMIT " PRUNE_ROWS ")",
	[PRUNE_SILENCES] = "DELETE FROM silences WHERE id IN (SELECT id FROM silences WHERE ends_ns < ?1"
			   " LIMIT " PRUNE_ROWS ")",
};

struct writer_db {
	sqlite3 *db;
	sqlite3_stmt *stmt[N_STATEMENTS];
};

int
writer_db_new(sqlite3 *db, struct writer_db **writer)
{
	struct writer_db *w = calloc(1, sizeof(*w));
	int err = w == NULL ? HIWAT_E_NOMEM : 0;

	for (int i = 0; err == 0 && i < N_STATEMENTS; i++)
		err = store_error(sqlite3_prepare_v3(db, statements[i], -1, SQLITE_PREPARE_PERSISTENT, &w->stmt[i], NULL));
	if (err != 0) {
		for (int i = 0; w != NULL && i < N_STATEMENTS; i++)
			sqlite3_finalize(w->stmt[i]);
		free(w);
		return err;
	}
	w->db = db;
	*writer = w;
	return 0;
}

void
writer_db_free(struct writer_db *w)
{
	if (w == NULL)
		return;
	for (int i = 0; i < N_STATEMENTS; i++)
		sqlite3_finalize(w->stmt[i]);
	sqlite3_close(w->db);
	free(w);
}

/* Unsigned 64-bit numbers are stored as the signed number of the same bits. */
static void
bind_u64(sqlite3_stmt *s, int at, uint64_t value)
{
	sqlite3_bind_int64(s, at, (sqlite3_int64)value);
}

static void
bind_text(sqlite3_stmt *s, int at, const char *text)
{
	sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC); /* NULL binds NULL */
}

static int
run(struct writer_db *w, int which)
{
	int code = sqlite3_step(w->stmt[which]);

	sqlite3_reset(w->stmt[which]);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int
write_change(struct writer_db *w, const struct store_change *c)
{
	int code = SQLITE_OK;

	for (size_t i = 0; code == SQLITE_OK && i < c->n_incidents; i++) {
		sqlite3_stmt *s = w->stmt[PUT_INCIDENT];

		bind_text(s, 1, c->incidents[i].key);
		sqlite3_bind_int(s, 2, c->incidents[i].closed);
		bind_u64(s, 3, c->wall_ns);
		bind_text(s, 4, c->incidents[i].json);
		code = run(w, PUT_INCIDENT);
	}
	for (size_t i = 0; code == SQLITE_OK && i < c->n_notifications; i++) {
		const struct outbox_row *row = &c->notifications[i];
		sqlite3_stmt *s = w->stmt[MERGE];

		bind_text(s, 1, row->route);
		bind_text(s, 2, row->incident_key);
		bind_u64(s, 3, c->wall_ns);
		code = run(w, MERGE);
		if (code != SQLITE_OK)
			break;
		s = w->stmt[ADD_ROW];
		bind_text(s, 1, row->incident_key);
		bind_u64(s, 2, row->generation);
		bind_text(s, 3, row->route);
		bind_text(s, 4, row->event);
		bind_text(s, 5, row->payload);
		bind_u64(s, 6, row->created_ns);
		bind_u64(s, 7, row->next_try_ns);
		bind_u64(s, 8, row->expires_ns);
		code = run(w, ADD_ROW);
	}
	if (code == SQLITE_OK && c->stream != 0) {
		sqlite3_stmt *s = w->stmt[PUT_PROGRESS];

		sqlite3_bind_blob(s, 1, c->host_uuid, sizeof(c->host_uuid), SQLITE_STATIC);
		bind_u64(s, 2, c->stream);
		sqlite3_bind_int(s, 3, c->late);
		bind_u64(s, 4, c->sequence);
		bind_u64(s, 5, c->wall_ns);
		code = run(w, PUT_PROGRESS);
	}
	if (code == SQLITE_OK && c->silence != NULL) {
		sqlite3_stmt *s = w->stmt[PUT_SILENCE];

		bind_text(s, 1, c->silence->id);
		bind_u64(s, 2, c->silence->ends_ns);
		bind_text(s, 3, c->silence->json);
		code = run(w, PUT_SILENCE);
	}
	return code;
}

static int
write_row(struct writer_db *w, int which, const struct job *job)
{
	sqlite3_stmt *s = w->stmt[which];

	sqlite3_bind_int64(s, 1, job->id);
	bind_u64(s, 2, job->at_ns);
	bind_text(s, 3, job->text);
	return run(w, which);
}

static int
prune(struct writer_db *w, uint64_t now_ns)
{
	uint64_t before = now_ns > KEEP_NS ? now_ns - KEEP_NS : 0;
	uint64_t waiting_before = now_ns > DAY_NS ? now_ns - DAY_NS : 0;
	int code = SQLITE_OK;

	for (int which = PRUNE_WAITING; code == SQLITE_OK && which <= PRUNE_SILENCES; which++) {
		if (sqlite3_bind_parameter_count(w->stmt[which]) > 0)
			bind_u64(w->stmt[which], 1, which == PRUNE_WAITING ? waiting_before : before);
		code = run(w, which);
	}
	return code;
}

static int
write_job(struct writer_db *w, const struct job *job)
{
	switch (job->kind) {
	case JOB_CHANGE:
		return write_change(w, &job->change);
	case JOB_DONE:
		return write_row(w, DONE, job);
	case JOB_RETRY:
		return write_row(w, RETRY, job);
	case JOB_EXPIRE:
		return write_row(w, EXPIRE, job);
	case JOB_PRUNE:
		return prune(w, job->at_ns);
	}
	return SQLITE_INTERNAL;
}

int
writer_db_commit(struct writer_db *w, const struct job *head, size_t n, bool *new_rows, char *why, size_t why_size)
{
	bool added = false;
	int code = run(w, BEGIN);

	for (const struct job *job = head; code == SQLITE_OK; job = job->next) {
		code = write_job(w, job);
		added = added || (job->kind == JOB_CHANGE && job->change.n_notifications > 0);
		/* The next pointer of the last job is not ours to read: somebody may be appending. */
		if (--n == 0)
			break;
	}
	if (code == SQLITE_OK)
		code = run(w, COMMIT);
	/* Bound strings belong to the jobs, which go after this. */
	for (int i = 0; i < N_STATEMENTS; i++)
		sqlite3_clear_bindings(w->stmt[i]);
	if (code != SQLITE_OK) {
		snprintf(why, why_size, "%s (SQLite code %d)", sqlite3_errmsg(w->db), code);
		if (!sqlite3_get_autocommit(w->db))
			run(w, ROLLBACK);
		return HIWAT_E_SYS;
	}
	*new_rows = added;
	return 0;
}
