/* Programs as sources: started with posix_spawn(3), read with poll(2) until they end or their time is up. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "fetch.h"

#define READ_ROOM ((size_t)4096)
#define WORDS_MAX ((size_t)512) /* of what it says on standard error; the rest is read and dropped */
#define WHAT_MAX ((size_t)160)
#define KILL_WAIT_MS 200
#define POLL_MS 5 /* between looks at a program that closed its output and goes on */

struct child {
	pid_t pid;
	int out, err; /* -1: closed */
	char words[WORDS_MAX];
	size_t n_words;
};

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int
make_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) != 0)
		return errno;
	return fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
}

/* 0 or an errno. Its own process group, so that what it starts is killed with it; no signal blocked or ignored. */
static int
spawn(struct child *c, const char *const argv[], int out, int err)
{
	static char path[] = "PATH=/sbin:/usr/sbin:/bin:/usr/bin:/usr/local/sbin:/usr/local/bin", locale[] = "LC_ALL=C",
		    zone[] = "TZ=UTC";
	char *const environment[] = { path, locale, zone, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	union {
		const char *const *given;
		char *const *wanted;
	} arguments = { .given = argv };

	int e = posix_spawn_file_actions_init(&actions);
	if (e != 0)
		return e;
	e = posix_spawnattr_init(&attr);
	if (e != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return e;
	}
	sigemptyset(&none);
	sigemptyset(&all);
	sigaddset(&all, SIGPIPE);
	sigaddset(&all, SIGCHLD);
	sigaddset(&all, SIGHUP);
	sigaddset(&all, SIGINT);
	sigaddset(&all, SIGTERM);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	e = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (e == 0)
		e = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (e == 0)
		e = posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	if (e == 0)
		e = posix_spawn(&c->pid, argv[0], &actions, &attr, arguments.wanted, environment);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return e;
}

/* 0 or an errno; on success the caller owns the child and its two pipes. */
static int
start(struct child *c, const char *const argv[])
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 };

	int e = make_pipe(out);
	if (e == 0)
		e = make_pipe(err);
	if (e == 0)
		e = spawn(c, argv, out[1], err[1]);
	close_fd(&out[1]);
	close_fd(&err[1]);
	if (e != 0) {
		close_fd(&out[0]);
		close_fd(&err[0]);
	}
	c->out = out[0];
	c->err = err[0];
	return e;
}

/* Takes what there is. *error is set when the output cannot be kept. */
static void
drain_output(struct fetch *f, struct child *c, int *error)
{
	size_t room = f->buf.limit - f->buf.len;
	char *p = room > 0 ? buf_reserve(&f->buf, room < READ_ROOM ? room : READ_ROOM) : NULL;

	if (p == NULL) {
		*error = room == 0 ? HIWAT_E_TOOBIG : HIWAT_E_NOMEM;
		return;
	}
	ssize_t n = read(c->out, p, room < READ_ROOM ? room : READ_ROOM);
	if (n > 0)
		buf_advance(&f->buf, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_fd(&c->out);
}

static void
drain_words(struct child *c)
{
	char chunk[WORDS_MAX];
	ssize_t n = read(c->err, chunk, sizeof(chunk));

	if (n > 0) {
		size_t room = sizeof(c->words) - c->n_words, take = (size_t)n < room ? (size_t)n : room;
		memcpy(c->words + c->n_words, chunk, take);
		c->n_words += take;
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close_fd(&c->err);
	}
}

/* Until both pipes are closed and the program has ended; its wait status. */
static int
follow(struct fetch *f, struct child *c, uint64_t deadline_ns, int *status)
{
	int error = HIWAT_OK;

	while (error == HIWAT_OK) {
		uint64_t now_ns = clock_mono_ns();
		if (now_ns >= deadline_ns)
			return HIWAT_E_TIMEOUT;
		int wait_ms = (int)((deadline_ns - now_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
		if (c->out < 0 && c->err < 0) {
			pid_t ended = waitpid(c->pid, status, WNOHANG);
			if (ended == c->pid)
				return HIWAT_OK;
			if (ended < 0 && errno != EINTR)
				return HIWAT_E_SYS;
			if (wait_ms > POLL_MS)
				wait_ms = POLL_MS;
		}
		/* poll() skips what is negative. */
		struct pollfd fds[] = { { .fd = c->out, .events = POLLIN }, { .fd = c->err, .events = POLLIN } };
		if (poll(fds, 2, wait_ms) < 0 && errno != EINTR)
			return HIWAT_E_SYS;
		if (fds[0].revents != 0)
			drain_output(f, c, &error);
		if (fds[1].revents != 0)
			drain_words(c);
	}
	return error;
}

static bool
reap_within(pid_t pid, uint64_t wait_ms)
{
	uint64_t until_ns = clock_mono_ns() + wait_ms * NSEC_PER_MSEC;

	for (;;) {
		pid_t ended = waitpid(pid, NULL, WNOHANG);
		if (ended == pid || (ended < 0 && errno == ECHILD))
			return true;
		if (clock_mono_ns() >= until_ns)
			return false;
		poll(NULL, 0, POLL_MS);
	}
}

/* What runs as another user cannot be killed, nor what waits in the kernel for a disk: it is reaped when it ends. */
static void
end(struct fetch *f, const struct child *c)
{
	kill(-c->pid, SIGKILL);
	if (!reap_within(c->pid, KILL_WAIT_MS))
		f->stuck_pid = c->pid;
}

/* Its last line, since programs warn before they give up. */
static struct text
last_words(const struct child *c)
{
	struct text rest = { c->words, c->n_words }, line, last = { "", 0 };

	while (text_line(&rest, &line, NULL)) {
		if (text_trim(line).n > 0)
			last = text_trim(line);
	}
	return last;
}

/* The command as a person would type it, cut to fit. */
static void
join(const char *const argv[], char *what, size_t size)
{
	size_t len = 0;

	what[0] = '\0';
	for (size_t i = 0; argv[i] != NULL && len < size; i++)
		len += (size_t)snprintf(what + len, size - len, i > 0 ? " %s" : "%s", argv[i]);
}

static int
judge(struct fetch *f, const struct child *c, const char *program, int status)
{
	struct text words = last_words(c);
	int err = HIWAT_E_REJECTED;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return HIWAT_OK;
	if (text_ends(words, "Permission denied") || text_ends(words, "Operation not permitted"))
		err = HIWAT_E_DENIED;
	if (WIFSIGNALED(status))
		snprintf(f->why.text, sizeof(f->why.text), "%s: killed by signal %d", program, WTERMSIG(status));
	else if (words.n > 0)
		snprintf(f->why.text, sizeof(f->why.text), "%s: %.*s", program, (int)words.n, words.p);
	else
		snprintf(f->why.text, sizeof(f->why.text), "%s: exit status %d", program, WEXITSTATUS(status));
	return err;
}

int
fetch_run(struct fetch *f, const char *const argv[], unsigned deadline_ms, struct text *out)
{
	uint64_t started_ns = clock_mono_ns();
	struct child c = { .out = -1, .err = -1 };
	struct fetch_why why = { "" };
	char what[WHAT_MAX];
	int status = 0;

	join(argv, what, sizeof(what));
	buf_reset(&f->buf);
	if (f->stuck_pid != 0 && !reap_within(f->stuck_pid, 0))
		return fetch_done(f, "run", what, started_ns, HIWAT_E_AGAIN, 0, 0);
	f->stuck_pid = 0;
	int sys_errno = start(&c, argv);
	if (sys_errno != 0)
		return fetch_done(f, "run", what, started_ns, fetch_err(sys_errno), sys_errno, 0);
	int err = follow(f, &c, started_ns + deadline_ms * NSEC_PER_MSEC, &status);
	close_fd(&c.out);
	close_fd(&c.err);
	if (err != HIWAT_OK)
		end(f, &c);
	else if ((err = judge(f, &c, argv[0], status)) != HIWAT_OK)
		why = f->why;
	if (err == HIWAT_OK)
		*out = (struct text){ buf_str(&f->buf), f->buf.len };
	fetch_done(f, "run", what, started_ns, err, 0, f->buf.len);
	if (why.text[0] != '\0')
		f->why = why;
	return err;
}
