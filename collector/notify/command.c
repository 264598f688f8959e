/*
 * A program of the operator's choice, run once per notification: fixed arguments, no shell, the incident on its standard
 * input, HIWAT_EVENT, HIWAT_KEY and HIWAT_GENERATION in an otherwise clean environment. Exit status 0 accepts, 65
 * (EX_DATAERR) refuses for good, anything else is tried again; the first line of its standard error says why. At the
 * deadline the program's whole process group is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "sinks.h"

#define WHY_MAX 512 /* bytes of standard error that are kept */
#define POLL_MS 20  /* how soon the end of a program is noticed that leaves its pipes to a child */

struct command {
	char **argv;
};

static void
command_close(void *state)
{
	struct command *c = state;

	if (c == NULL)
		return;
	free(c->argv);
	free(c);
}

static int
command_open(const struct route *route, void **state, struct buf *why)
{
	if (route->n_command == 0 || route->command[0][0] != '/') {
		buf_puts(why, "command needs a program by its absolute path");
		return HIWAT_E_CONFIG;
	}
	if (access(route->command[0], X_OK) != 0) {
		buf_printf(why, "command %s: %s", route->command[0], strerror(errno));
		return HIWAT_E_CONFIG;
	}
	struct command *c = calloc(1, sizeof(*c));
	if (c != NULL)
		c->argv = calloc(route->n_command + 1, sizeof(*c->argv));
	if (c == NULL || c->argv == NULL) {
		command_close(c);
		buf_puts(why, "out of memory");
		return HIWAT_E_NOMEM;
	}
	for (size_t i = 0; i < route->n_command; i++)
		c->argv[i] = (char *)(uintptr_t)route->command[i]; /* posix_spawn() only reads them */
	*state = c;
	return 0;
}

/* in: the child's standard input; err: its standard error. Returns 0 or an errno. */
static int
spawn(const struct command *c, const struct notice *notice, int in, int err, pid_t *pid)
{
	char event[64], key[64], generation[64],
	    path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", locale[] = "LC_ALL=C";
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;

	snprintf(event, sizeof(event), "HIWAT_EVENT=%s", notice->event);
	snprintf(key, sizeof(key), "HIWAT_KEY=%s", notice->incident_key);
	snprintf(generation, sizeof(generation), "HIWAT_GENERATION=%u", notice->generation);
	char *const environment[] = { path, locale, event, key, generation, NULL };
	int failed = posix_spawn_file_actions_init(&actions);
	if (failed != 0)
		return failed;
	failed = posix_spawnattr_init(&attr);
	if (failed != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return failed;
	}
	sigemptyset(&none);
	sigfillset(&all);
	sigdelset(&all, SIGKILL); /* these two cannot be set, and some systems say so */
	sigdelset(&all, SIGSTOP);
	failed = posix_spawn_file_actions_adddup2(&actions, in, 0);
	if (failed == 0)
		failed = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	if (failed == 0)
		failed = posix_spawn_file_actions_adddup2(&actions, err, 2);
	if (failed == 0)
		failed = posix_spawnattr_setpgroup(&attr, 0);
	if (failed == 0)
		failed = posix_spawnattr_setsigmask(&attr, &none);
	if (failed == 0)
		failed = posix_spawnattr_setsigdefault(&attr, &all);
	if (failed == 0)
		failed =
		    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (failed == 0)
		failed = posix_spawn(pid, c->argv[0], &actions, &attr, c->argv, environment);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

struct run {
	pid_t pid;
	int in, err; /* our ends, -1 once closed */
	const char *json;
	size_t len;
	char said[WHY_MAX + 1];
	size_t n_said;
};

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Feeds and listens until something happened or POLL_MS passed. */
static void
exchange(struct run *r)
{
	struct pollfd fds[2] = { { .fd = r->in, .events = POLLOUT }, { .fd = r->err, .events = POLLIN } };
	char rest[4096];

	if (poll(fds, 2, POLL_MS) <= 0)
		return;
	if (fds[0].revents != 0) {
		/* A program that does not want its input closes it; SIGPIPE is blocked in this thread. */
		ssize_t n = write(r->in, r->json, r->len);

		if (n > 0) {
			r->json += n;
			r->len -= (size_t)n;
		}
		if (r->len == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			close_fd(&r->in);
	}
	if (fds[1].revents != 0) {
		ssize_t n = read(r->err, rest, sizeof(rest));

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			close_fd(&r->err);
		} else if (n > 0) {
			size_t keep = (size_t)n < WHY_MAX - r->n_said ? (size_t)n : WHY_MAX - r->n_said;

			memcpy(r->said + r->n_said, rest, keep);
			r->n_said += keep;
		}
	}
}

/* Until the program ended or the deadline passed; false for the latter. */
static bool
wait_for(struct run *r, uint64_t deadline_ns, int *status)
{
	for (;;) {
		pid_t ended = waitpid(r->pid, status, WNOHANG);

		if (ended == r->pid) {
			exchange(r); /* its last words */
			return true;
		}
		if (clock_mono_ns() >= deadline_ns) {
			kill(-r->pid, SIGKILL);
			while (waitpid(r->pid, status, 0) < 0 && errno == EINTR)
				continue;
			return false;
		}
		exchange(r);
	}
}

static enum delivery
judge(const struct run *r, int status, struct buf *why)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return DELIVERY_DONE;
	if (WIFEXITED(status))
		buf_printf(why, "exit status %d", WEXITSTATUS(status));
	else
		buf_printf(why, "killed by signal %d", WTERMSIG(status));
	if (r->said[0] != '\0')
		buf_printf(why, ": %.*s", (int)strcspn(r->said, "\r\n"), r->said);
	return WIFEXITED(status) && WEXITSTATUS(status) == EX_DATAERR ? DELIVERY_REFUSED : DELIVERY_RETRY;
}

static enum delivery
command_send(void *state, const struct route *route, const struct notice *notice, struct buf *why, uint64_t *retry_after_ms)
{
	struct run r = { .in = -1, .err = -1, .json = notice->json, .len = strlen(notice->json) };
	int in[2] = { -1, -1 }, err[2] = { -1, -1 }, status = 0;
	enum delivery result = DELIVERY_RETRY;

	(void)retry_after_ms;
	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 || fcntl(in[1], F_SETFL, O_NONBLOCK) != 0 ||
	    fcntl(err[0], F_SETFL, O_NONBLOCK) != 0) {
		buf_puts(why, strerror(errno));
		goto out;
	}
	int failed = spawn(state, notice, in[0], err[1], &r.pid);
	if (failed != 0) {
		buf_printf(why, "%s: %s", route->command[0], strerror(failed));
		goto out;
	}
	close_fd(&in[0]);
	close_fd(&err[1]);
	r.in = in[1];
	r.err = err[0];
	in[1] = err[0] = -1;
	if (wait_for(&r, clock_mono_ns() + route->timeout_ms * NSEC_PER_MSEC, &status))
		result = judge(&r, status, why);
	else
		buf_printf(why, "not done after %llu ms, killed", (unsigned long long)route->timeout_ms);
	close_fd(&r.in);
	close_fd(&r.err);
out:
	close_fd(&in[0]);
	close_fd(&in[1]);
	close_fd(&err[0]);
	close_fd(&err[1]);
	return result;
}

const struct sink sink_command = {
	.name = "command",
	.help = "a program with the incident on its standard input",
	.takes = SINK_COMMAND,
	.needs = SINK_COMMAND,
	.open = command_open,
	.send = command_send,
	.close = command_close,
};
