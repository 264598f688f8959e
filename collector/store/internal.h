/* What the store's files share. Nothing outside this folder includes it. */
#ifndef HIWAT_COLLECTOR_STORE_INTERNAL_H
#define HIWAT_COLLECTOR_STORE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>

#include "store.h"

/* States of an outbox row, as stored. Numbers are never reused. */
enum outbox_state { OUTBOX_WAITING = 0, OUTBOX_DELIVERED = 1, OUTBOX_GIVEN_UP = 2, OUTBOX_MERGED = 3 };

enum job_kind { JOB_CHANGE, JOB_DONE, JOB_RETRY, JOB_EXPIRE, JOB_PRUNE };

/* One piece of the writer's work, with copies of all it needs. */
struct job {
	struct job *next;
	enum job_kind kind;
	size_t bytes;               /* what it counts for in the queue's bound */
	struct store_change change; /* JOB_CHANGE; its arrays and strings are owned by the job */
	int64_t id;                 /* of the outbox row */
	uint64_t at_ns;             /* when it was delivered, is tried next, was given up; now when pruning */
	char *text;                 /* receipt or error, or NULL */
};

/* NULL when memory is out. */
struct job *job_new_change(const struct store_change *change);
struct job *job_new_row(enum job_kind kind, int64_t id, uint64_t at_ns, const char *text);
void job_free(struct job *job);

/* The writer's connection with its statements, prepared once. */
struct writer_db;

enum { READ_DUE, READ_STATS, READ_OPEN, READ_N };

struct store {
	char *path;
	int lock_fd;
	struct writer_db *writer; /* the thread's alone once it runs */
	pthread_t thread;

	pthread_mutex_t read_lock; /* guards the two below */
	sqlite3 *read_db;
	sqlite3_stmt *read[READ_N];

	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t work;  /* to the writer: there is work, or somebody waits for it */
	pthread_cond_t done;  /* from the writer: an attempt ended */
	struct job *head, *tail;
	size_t n_jobs, n_bytes;
	uint64_t queued, committed; /* jobs so far */
	uint64_t attempt;           /* commits begun so far */
	uint64_t failed_attempt;    /* the last that failed */
	bool urgent, stopping, healthy;
	char why[256], why_out[256];
	void (*on_outbox)(void *arg);
	void *on_outbox_arg;
};

/*
 * A connection ready for use: busy time-out, WAL, synchronous=FULL. HIWAT_E_CORRUPT when the file is damaged or not a
 * database, HIWAT_E_SYS otherwise.
 */
int store_connect(const char *path, bool writable, sqlite3 **db);
/* Looks through the file for damage and brings its tables up to date. HIWAT_E_CORRUPT, HIWAT_E_VERSION, HIWAT_E_SYS. */
int store_migrate(sqlite3 *db);
/* SQLite's code as ours. */
int store_error(int sqlite_code);

/* Takes over db on success. */
int writer_db_new(sqlite3 *db, struct writer_db **writer);
void writer_db_free(struct writer_db *w);
/*
 * One transaction over the first n jobs from head on, at least one. *new_rows: notifications were added. HIWAT_E_SYS:
 * nothing was written, why says what the disk said.
 */
int writer_db_commit(struct writer_db *w, const struct job *head, size_t n, bool *new_rows, char *why, size_t why_size);

/* Takes the job over. bounded: refuse it with HIWAT_E_FULL when the queue is at its bound. NULL is HIWAT_E_NOMEM. */
int store_queue(struct store *store, struct job *job, bool bounded);
/* The writer thread. */
void *store_write_loop(void *store);

#endif
