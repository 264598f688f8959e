/* The program itself, against a collector on loopback over TLS. */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "fake_collector.h"
#include "pki.h"
#include "spool.h"

#define PATIENCE_NS (60 * NSEC_PER_SEC)

static char dir[64], config_path[100], log_path[100], state_dir[100], notify_path[100];
static struct fake_collector *fake;
static struct pki *pki;

static void
write_config(const char *more)
{
	FILE *f = fopen(config_path, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "state_dir: %s\ninterval: 1s\nspool: {min_free_bytes: 0}\n%s", state_dir, more);
	ck_assert_int_eq(fclose(f), 0);
}

static void
write_delivery(const char *more)
{
	char text[1000];

	snprintf(text, sizeof(text),
	    "collectors: ['%s']\ntls: {ca_file: %s/ca.crt, cert_file: %s/agent.crt, key_file: %s/agent.key}\n%s",
	    fake_collector_url(fake), dir, dir, dir, more);
	write_config(text);
}

static void
setup(void)
{
	char cert[100], key[100], ca[100];
	time_t now = time(NULL);

	snprintf(dir, sizeof(dir), "/tmp/hiwat-run-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(config_path, sizeof(config_path), "%s/agent.yaml", dir);
	snprintf(log_path, sizeof(log_path), "%s/log", dir);
	snprintf(state_dir, sizeof(state_dir), "%s/state", dir);
	snprintf(notify_path, sizeof(notify_path), "%s/notify", dir);
	pki = pki_new(dir);
	pki_issue(pki, "agent", now - 3600, now + 3600);
	pki_issue(pki, "collector", now - 3600, now + 3600);
	snprintf(cert, sizeof(cert), "%s/collector.crt", dir);
	snprintf(key, sizeof(key), "%s/collector.key", dir);
	snprintf(ca, sizeof(ca), "%s/ca.crt", dir);
	fake = fake_collector_new(cert, key, ca);
}

static void
empty(const char *path)
{
	DIR *d = opendir(path);
	char file[600];

	for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		unlink(file);
	}
	if (d != NULL)
		closedir(d);
	rmdir(path);
}

static void
teardown(void)
{
	char path[200];

	fake_collector_free(fake);
	pki_free(pki);
	snprintf(path, sizeof(path), "%s/spool", state_dir);
	empty(path);
	empty(state_dir);
	empty(dir);
}

static pid_t
start(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(fd, STDERR_FILENO);
		setenv("NOTIFY_SOCKET", notify_path, 1);
		setenv("WATCHDOG_USEC", "400000", 1);
		execl(AGENT_PROGRAM, "hiwat-agent", "run", "-c", config_path, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static int
end(pid_t pid, int signal_number)
{
	int status;

	ck_assert_int_eq(kill(pid, signal_number), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static bool
was_logged(const char *text)
{
	static char log[100000];
	int fd = open(log_path, O_RDONLY);
	ssize_t n = fd >= 0 ? read(fd, log, sizeof(log) - 1) : 0;

	if (fd >= 0)
		close(fd);
	log[n > 0 ? n : 0] = '\0';
	return strstr(log, text) != NULL;
}

#define UNTIL(condition) \
	do { \
		uint64_t give_up_ns = clock_mono_ns() + PATIENCE_NS; \
		while (!(condition)) { \
			ck_assert_msg(clock_mono_ns() < give_up_ns, "waited in vain for " #condition); \
			nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL); \
		} \
	} while (0)

static struct spool_counts
count_spool(void)
{
	struct spool_options options = { .max_bytes = 64 << 20 };
	struct spool_counts c;
	struct spool *s;
	char path[200];

	snprintf(path, sizeof(path), "%s/spool", state_dir);
	options.dir = path;
	ck_assert_int_eq(spool_open(&options, &s), 0);
	spool_count(s, &c);
	spool_close(s);
	ck_assert_uint_eq(c.produced, c.acknowledged + c.in_spool + c.dropped_full + c.dropped_corrupt + c.rejected);
	return c;
}

START_TEST(samples_and_delivers)
{
	write_delivery("name: first\n");
	pid_t pid = start();
	UNTIL(fake_collector_stats(fake)->received >= 3);
	ck_assert_str_eq(fake_collector_stats(fake)->host, "first");
	ck_assert_uint_ge(fake_collector_stats(fake)->n_records, 2);
	/* SIGHUP takes over name and labels; a file that is wrong changes nothing. */
	write_delivery("name: second\nlabels: {role: dns}\n");
	ck_assert_int_eq(kill(pid, SIGHUP), 0);
	UNTIL(strcmp(fake_collector_stats(fake)->host, "second") == 0);
	ck_assert_uint_eq(fake_collector_stats(fake)->n_labels, 1);
	write_delivery("nam: third\n");
	ck_assert_int_eq(kill(pid, SIGHUP), 0);
	UNTIL(was_logged("unknown key") && was_logged("the old one stays"));
	uint64_t received = fake_collector_stats(fake)->received;
	UNTIL(fake_collector_stats(fake)->received > received + 1);
	int status = end(pid, SIGTERM);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	struct spool_counts c = count_spool();
	ck_assert_uint_eq(c.produced, fake_collector_stats(fake)->received);
	ck_assert_uint_eq(c.acknowledged, c.produced);
}
END_TEST

/* Killed again and again: every batch that was produced is there once the last one has gone out. */
START_TEST(survives_kills)
{
	write_delivery("");
	for (int i = 0; i < 3; i++) {
		uint64_t received = fake_collector_stats(fake)->received;
		pid_t pid = start();
		UNTIL(fake_collector_stats(fake)->received > received);
		int status = end(pid, SIGKILL);
		ck_assert(WIFSIGNALED(status));
		count_spool();
	}
	uint64_t received = fake_collector_stats(fake)->received;
	pid_t pid = start();
	UNTIL(fake_collector_stats(fake)->received > received);
	end(pid, SIGTERM);
	struct spool_counts c = count_spool();
	ck_assert_uint_eq(c.in_spool, 0);
	ck_assert_uint_eq(c.acknowledged, c.produced);
	const struct fake_stats *f = fake_collector_stats(fake);
	for (uint64_t i = 1; i <= f->received; i++)
		ck_assert_msg(f->has[i], "%u of %u never came, oldest %u", (unsigned)i, (unsigned)f->received,
		    (unsigned)f->oldest);
}
END_TEST

START_TEST(works_without_collectors)
{
	write_config("");
	pid_t pid = start();
	UNTIL(was_logged("no collector is configured: samples are kept in"));
	nanosleep(&(struct timespec){ .tv_sec = 2 }, NULL);
	int status = end(pid, SIGTERM);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	struct spool_counts c = count_spool();
	ck_assert_uint_ge(c.in_spool, 1);
	ck_assert_uint_eq(fake_collector_stats(fake)->requests, 0);
}
END_TEST

START_TEST(refuses_to_run_twice)
{
	int status;

	write_delivery("");
	pid_t pid = start();
	UNTIL(fake_collector_stats(fake)->received >= 1);
	pid_t other = start();
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	ck_assert(was_logged("another agent is running"));
	end(pid, SIGTERM);
}
END_TEST

START_TEST(wrong_configuration)
{
	int status;

	write_config("interval: fast\n");
	pid_t pid = start();
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	ck_assert(was_logged("agent.yaml:4:1: key \"interval\" is given twice"));
}
END_TEST

START_TEST(tells_systemd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	bool is_ready = false, is_alive = false, is_stopping = false;
	char text[100];

	write_config("");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", notify_path);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	pid_t pid = start();
	while (!is_ready || !is_alive) {
		ssize_t n = recv(fd, text, sizeof(text) - 1, 0);
		ck_assert_int_gt(n, 0);
		text[n] = '\0';
		is_ready |= strcmp(text, "READY=1") == 0;
		is_alive |= strcmp(text, "WATCHDOG=1") == 0;
	}
	end(pid, SIGTERM);
	ssize_t n;
	while ((n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT)) > 0) {
		text[n] = '\0';
		is_stopping |= strcmp(text, "STOPPING=1") == 0;
	}
	ck_assert(is_stopping);
	close(fd);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *s = suite_create("run");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, samples_and_delivers);
	tcase_add_test(tc, survives_kills);
	tcase_add_test(tc, works_without_collectors);
	tcase_add_test(tc, refuses_to_run_twice);
	tcase_add_test(tc, wrong_configuration);
	tcase_add_test(tc, tells_systemd);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
