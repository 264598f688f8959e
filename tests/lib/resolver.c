#include "resolver.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dns_message.h"
#include "err.h"
#include "fetch.h"
#include "tree.h"

#define SEARCHED "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

uint16_t
resolver_free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);

	for (int i = 0; i < 100; i++) {
		int udp = socket(AF_INET, SOCK_DGRAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);
		a.sin_port = 0;
		ck_assert_int_eq(bind(udp, (struct sockaddr *)&a, sizeof(a)), 0);
		ck_assert_int_eq(getsockname(udp, (struct sockaddr *)&a, &len), 0);
		bool is_free = bind(tcp, (struct sockaddr *)&a, sizeof(a)) == 0;
		close(udp);
		close(tcp);
		if (is_free)
			return ntohs(a.sin_port);
	}
	ck_abort_msg("no free port");
}

static void
become(const char *log, const char *const argv[])
{
	union {
		const char *const *given;
		char *const *wanted;
	} arguments = { .given = argv };

	int in = open("/dev/null", O_RDONLY), out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(in, 0);
	dup2(out, 1);
	dup2(out, 2);
	setenv("PATH", SEARCHED, 1);
	execvp(argv[0], arguments.wanted);
	_exit(127);
}

bool
resolver_start(struct resolver *r, const struct tree *dir, const char *const argv[])
{
	char log[128];
	unsigned rcode;

	snprintf(log, sizeof(log), "%s/%s.log", dir->dir, argv[0]);
	r->pid = fork();
	ck_assert_int_ge(r->pid, 0);
	if (r->pid == 0)
		become(log, argv);
	for (int i = 0; i < 3000; i++) {
		if (waitpid(r->pid, NULL, WNOHANG) != 0) {
			r->pid = 0;
			return false;
		}
		if (resolver_ask(r, "localhost", &rcode))
			return true;
		poll(NULL, 0, 10);
	}
	resolver_stop(r);
	return false;
}

void
resolver_stop(struct resolver *r)
{
	if (r->pid <= 0)
		return;
	kill(r->pid, SIGTERM);
	waitpid(r->pid, NULL, 0);
	r->pid = 0;
}

bool
resolver_ask(const struct resolver *r, const char *name, unsigned *rcode)
{
	static uint16_t id;
	struct fetch f;
	char query[DNS_QUERY_MAX];
	struct text answer, request = { query, dns_query_write(query, ++id, name) };

	ck_assert_uint_gt(request.n, 0);
	fetch_init(&f, NULL, 8192);
	bool is_answered = fetch_datagram(&f, "127.0.0.1", r->port, request, 5000, &answer) == HIWAT_OK &&
	    dns_answer_read(answer, request, rcode);
	fetch_fini(&f);
	return is_answered;
}

void
resolver_ask_all(const struct resolver *r, const char *format, unsigned n, unsigned rcode)
{
	const char *mark = strstr(format, "%u");
	char name[128];
	unsigned got;

	for (unsigned i = 0; i < n; i++) {
		if (mark != NULL)
			snprintf(name, sizeof(name), "%.*s%u%s", (int)(mark - format), format, i, mark + 2);
		else
			snprintf(name, sizeof(name), "%s", format);
		ck_assert_msg(resolver_ask(r, name, &got), "%s: no answer", name);
		ck_assert_msg(got == rcode, "%s: code %u, not %u", name, got, rcode);
	}
}

/* "remote-control:" without or with TLS, as unbound-control-setup(8) prepares it. */
static void
control_lines(const struct tree *dir, uint16_t port, char *out, size_t size)
{
	const char *d = dir->dir;

	if (port == 0)
		snprintf(out, size, "\tcontrol-use-cert: no\n\tcontrol-interface: \"%s/control\"\n", d);
	else
		snprintf(out, size,
		    "\tcontrol-use-cert: yes\n\tcontrol-interface: 127.0.0.1\n\tcontrol-port: %u\n"
		    "\tserver-key-file: \"%s/unbound_server.key\"\n\tserver-cert-file: \"%s/unbound_server.pem\"\n"
		    "\tcontrol-key-file: \"%s/unbound_control.key\"\n\tcontrol-cert-file: \"%s/unbound_control.pem\"\n",
		    port, d, d, d, d);
}

static void
start_unbound(struct resolver *r, const struct tree *dir, const char *extra, bool with_tls)
{
	char conf[3072], path[128], control[1024];
	const char *const argv[] = { "unbound", "-d", "-c", path, NULL };

	for (int tries = 0; tries < 5; tries++) {
		r->port = resolver_free_port();
		r->control_port = with_tls ? resolver_free_port() : 0;
		control_lines(dir, r->control_port, control, sizeof(control));
		snprintf(conf, sizeof(conf),
		    "server:\n\tinterface: 127.0.0.1@%u\n\tdo-daemonize: no\n\tchroot: \"\"\n\tusername: \"\"\n"
		    "\tdirectory: \"%s\"\n\tpidfile: \"\"\n\tuse-syslog: no\n\tlogfile: \"\"\n\tnum-threads: 2\n"
		    "\textended-statistics: yes\n\tmodule-config: \"iterator\"\n"
		    "\tlocal-zone: \"up.test.\" redirect\n\tlocal-data: \"up.test. 3600 A 192.0.2.1\"\n"
		    "\tlocal-zone: \"no.test.\" static\n%s"
		    "remote-control:\n\tcontrol-enable: yes\n%s",
		    r->port, dir->dir, extra, control);
		tree_write(dir, "unbound.conf", conf);
		snprintf(path, sizeof(path), "%s/unbound.conf", dir->dir);
		if (resolver_start(r, dir, argv))
			return;
	}
	ck_abort_msg("unbound does not answer");
}

void
resolver_start_unbound(struct resolver *r, const struct tree *dir, const char *extra)
{
	start_unbound(r, dir, extra, false);
}

void
resolver_run(const struct tree *dir, const char *const argv[])
{
	char log[128];
	int status = 0;

	snprintf(log, sizeof(log), "%s/%s.log", dir->dir, argv[0]);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		become(log, argv);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

void
resolver_start_unbound_tls(struct resolver *r, const struct tree *dir)
{
	start_unbound(r, dir, "", true);
}

static bool
is_there(const char *program)
{
	static const char *const places[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin",
		"/bin" };
	char path[128];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", places[i], program);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

void
resolver_need(const char *const programs[])
{
	for (size_t i = 0; programs[i] != NULL; i++) {
		if (is_there(programs[i]))
			continue;
		printf("skipped: %s is not installed\n", programs[i]);
		exit(RESOLVER_SKIPPED);
	}
}
