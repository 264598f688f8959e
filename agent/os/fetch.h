/*
 * Getting bytes from the system: files kept open, files read once, sockets asked once. Everything is bounded by the buffer's
 * ceiling and, where the source may hang, by a deadline. Nothing here looks at the bytes.
 *
 * One struct fetch per sampler: it owns the buffer that the answers live in and tells a listener of every call made, which
 * is how `hiwat-agent doctor` shows exactly what a sampler does.
 */
#ifndef HIWAT_AGENT_FETCH_H
#define HIWAT_AGENT_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"
#include "scan.h"

/* One call as it was made. */
struct fetch_call {
	const char *verb; /* read, connect, query, statvfs, list */
	const char *what; /* path or address */
	int err;          /* HIWAT_OK or what the caller got */
	int sys_errno;    /* 0 when it worked or no system call failed */
	size_t bytes;
	uint64_t ns;
};

struct fetch_trace {
	void (*call)(void *arg, const struct fetch_call *call);
	void *arg;
};

/* What failed, for the reason of a sample. Written on failure only. */
struct fetch_why {
	char text[320];
};

struct fetch {
	const struct fetch_trace *trace; /* borrowed; NULL: nobody listens */
	struct buf buf;                  /* owned; what the last fetch returned points into it */
	struct fetch_why why;            /* of the last call that failed */
	pid_t stuck_pid;                 /* a program that outlived its deadline and could not be killed; 0: none */
};

/* limit: bytes of the largest answer that is believed. */
void fetch_init(struct fetch *f, const struct fetch_trace *trace, size_t limit);
void fetch_fini(struct fetch *f);

/* errno to an error: ENOENT and the like HIWAT_E_MISSING, EACCES and EPERM HIWAT_E_DENIED, else HIWAT_E_SYS. */
int fetch_err(int sys_errno);

/*
 * Ends a call that a caller made itself: tells the listener, keeps the sentence "VERB WHAT: reason" in f->why, returns err.
 * started_ns: CLOCK_MONOTONIC before the call. sys_errno 0: the text of err is the reason.
 */
int
fetch_done(struct fetch *f, const char *verb, const char *what, uint64_t started_ns, int err, int sys_errno, size_t bytes);

#define FETCH_PATH_MAX 256

/* A file that is read again and again: opened at the first read, then read from its start with pread(2). */
struct fetch_file {
	int fd; /* -1: not open */
	char path[FETCH_PATH_MAX];
};

/* dir and name are joined by a slash. HIWAT_E_TOOBIG: longer than FETCH_PATH_MAX. */
int fetch_file_init(struct fetch_file *file, const char *dir, const char *name);
void fetch_file_fini(struct fetch_file *file);

/*
 * The whole content; *out points into f->buf until the next fetch. A file that fails when read is opened anew once, which
 * heals descriptors of a device or module that was replaced. HIWAT_E_MISSING, HIWAT_E_DENIED, HIWAT_E_SYS as in fetch_err;
 * HIWAT_E_TOOBIG: larger than the limit.
 */
int fetch_file_read(struct fetch *f, struct fetch_file *file, struct text *out);

/* The same for a file read too seldom to keep open. */
int fetch_path(struct fetch *f, const char *path, struct text *out);

/* The first number of a file, as sysctl and sysfs files hold; errors as above, HIWAT_E_FORMAT when there is none. */
int fetch_file_u64(struct fetch *f, struct fetch_file *file, uint64_t *value);
int fetch_path_u64(struct fetch *f, const char *path, uint64_t *value);

/*
 * Connects to a Unix socket, sends the request and reads until the other side closes. HIWAT_E_MISSING: no such socket, or
 * nobody listens on it; HIWAT_E_TIMEOUT: the deadline passed; others as above.
 */
int fetch_unix(struct fetch *f, const char *path, struct text request, unsigned deadline_ms, struct text *out);

/* The same for one answer that a NUL ends, which is not part of *out. */
int fetch_unix_message(struct fetch *f, const char *path, struct text request, unsigned deadline_ms, struct text *out);

/*
 * Sends one datagram from a fresh port to an IP address and waits for one datagram that starts with the same two bytes,
 * as answers of DNS do. address is numeric, IPv4 or IPv6. HIWAT_E_MISSING: the port is closed.
 */
int fetch_datagram(struct fetch *f, const char *address, uint16_t port, struct text request, unsigned deadline_ms,
    struct text *out);

/*
 * Runs a program without a shell: argv[0] is its absolute path, a NULL ends the arguments. It finds an environment of PATH,
 * LC_ALL=C and TZ=UTC, nothing on its standard input, and no descriptor of the agent's; *out is what it wrote on its
 * standard output. HIWAT_E_MISSING: there is no such program. HIWAT_E_TIMEOUT: it was killed at the deadline, with what it
 * had started. HIWAT_E_TOOBIG: it wrote more than the limit and was killed. When it exits with another status than 0 its
 * own words are the reason: HIWAT_E_DENIED if they end in "Permission denied" or "Operation not permitted", else
 * HIWAT_E_REJECTED. HIWAT_E_AGAIN: a program of an earlier call still cannot be killed, so that none is started.
 */
int fetch_run(struct fetch *f, const char *const argv[], unsigned deadline_ms, struct text *out);

#endif
