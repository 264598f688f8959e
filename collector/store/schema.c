/* The tables, release by release: a file of any earlier release is brought up to date when it is opened. */
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "internal.h"

#define APPLICATION_ID 0x68777374 /* "hwst", so that file(1) and we can tell it from other databases */

/* Step n leads from version n to n + 1. Steps are only ever added. */
static const char *const migrations[] = {
	/* incidents.json is the collector's own document; closed rows are history. */
	"CREATE TABLE incidents ("
	" id INTEGER PRIMARY KEY,"
	" key TEXT NOT NULL UNIQUE,"
	" closed INTEGER NOT NULL,"
	" changed_ns INTEGER NOT NULL,"
	" json TEXT NOT NULL);"
	"CREATE INDEX incidents_open ON incidents (id) WHERE closed = 0;"
	"CREATE INDEX incidents_closed ON incidents (changed_ns) WHERE closed = 1;"
	/* state: enum outbox_state. AUTOINCREMENT: ids keep growing when old rows are gone. */
	"CREATE TABLE outbox ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" state INTEGER NOT NULL,"
	" incident_key TEXT NOT NULL,"
	" generation INTEGER NOT NULL,"
	" route TEXT NOT NULL,"
	" event TEXT NOT NULL,"
	" payload TEXT NOT NULL,"
	" created_ns INTEGER NOT NULL,"
	" next_try_ns INTEGER NOT NULL,"
	" expires_ns INTEGER NOT NULL,"
	" tries INTEGER NOT NULL DEFAULT 0,"
	" finished_ns INTEGER NOT NULL DEFAULT 0,"
	" last_error TEXT,"
	" receipt TEXT);"
	"CREATE INDEX outbox_waiting ON outbox (route, id, created_ns, expires_ns) WHERE state = 0;"
	"CREATE INDEX outbox_order ON outbox (route, incident_key, id) WHERE state = 0;"
	"CREATE INDEX outbox_finished ON outbox (finished_ns) WHERE state <> 0;"
	/* The last batch of each host and stream that changed something here; late: of those that came as backlog. */
	"CREATE TABLE progress ("
	" host BLOB NOT NULL,"
	" stream INTEGER NOT NULL,"
	" late INTEGER NOT NULL,"
	" sequence INTEGER NOT NULL,"
	" changed_ns INTEGER NOT NULL,"
	" PRIMARY KEY (host, stream, late)) WITHOUT ROWID;"
	"CREATE INDEX progress_changed ON progress (changed_ns);",
	"CREATE TABLE silences ("
	" id TEXT NOT NULL PRIMARY KEY,"
	" ends_ns INTEGER NOT NULL,"
	" json TEXT NOT NULL);"
	"CREATE INDEX silences_ends ON silences (ends_ns);",
};

#define SCHEMA_VERSION ((int)(sizeof(migrations) / sizeof(migrations[0])))

int
store_error(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_NOMEM:
		return HIWAT_E_NOMEM;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return HIWAT_E_CORRUPT;
	default:
		return HIWAT_E_SYS;
	}
}

int
store_connect(const char *path, bool writable, sqlite3 **db)
{
	sqlite3 *opened = NULL;
	int flags = SQLITE_OPEN_NOMUTEX | (writable ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
	int err = store_error(sqlite3_open_v2(path, &opened, flags, NULL));
	if (err != 0)
		goto out;
	sqlite3_extended_result_codes(opened, 1);
	sqlite3_busy_timeout(opened, 5000);
	err = store_error(sqlite3_exec(opened,
	    writable ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;"
		     : "PRAGMA query_only = 1;",
	    NULL, NULL, NULL));
	if (err != 0)
		goto out;
	*db = opened;
	return 0;
out:
	sqlite3_close(opened);
	return err;
}

/* The one number that a PRAGMA answers. */
static int
pragma_int(sqlite3 *db, const char *sql, int *value)
{
	sqlite3_stmt *stmt = NULL;
	int err = store_error(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL));
	if (err == 0) {
		int code = sqlite3_step(stmt);
		if (code == SQLITE_ROW)
			*value = sqlite3_column_int(stmt, 0);
		else
			err = code == SQLITE_DONE ? HIWAT_E_CORRUPT : store_error(code);
	}
	sqlite3_finalize(stmt);
	return err;
}

/* quick_check reads every page once; it leaves out only the comparison of indexes with their tables. */
static int
look_for_damage(sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;
	int err = store_error(sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &stmt, NULL));
	if (err == 0) {
		int code = sqlite3_step(stmt);
		if (code == SQLITE_ROW) {
			const char *word = (const char *)sqlite3_column_text(stmt, 0);
			err = word == NULL ? HIWAT_E_NOMEM : strcmp(word, "ok") == 0 ? 0 : HIWAT_E_CORRUPT;
		} else {
			err = code == SQLITE_DONE ? HIWAT_E_CORRUPT : store_error(code);
		}
	}
	sqlite3_finalize(stmt);
	return err;
}

int
store_migrate(sqlite3 *db)
{
	int version = 0, application = 0;
	int err = look_for_damage(db);
	if (err == 0)
		err = pragma_int(db, "PRAGMA user_version", &version);
	if (err == 0)
		err = pragma_int(db, "PRAGMA application_id", &application);
	if (err != 0)
		return err;
	bool ours = application == APPLICATION_ID || (application == 0 && version == 0);
	if (!ours || version < 0 || version > SCHEMA_VERSION)
		return HIWAT_E_VERSION;
	for (; version < SCHEMA_VERSION; version++) {
		char end[96];
		snprintf(end, sizeof(end), "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", APPLICATION_ID,
		    version + 1);
		err = store_error(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL));
		if (err == 0)
			err = store_error(sqlite3_exec(db, migrations[version], NULL, NULL, NULL));
		if (err == 0)
			err = store_error(sqlite3_exec(db, end, NULL, NULL, NULL));
		if (err != 0) {
			sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
			return err;
		}
	}
	return 0;
}
