/* Resolvers on loopback: real programs, each on a port of its own, ended by their process id. */
#ifndef HIWAT_TESTS_RESOLVER_H
#define HIWAT_TESTS_RESOLVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tree;

struct resolver {
	pid_t pid;                   /* 0: does not run */
	uint16_t port, control_port; /* the latter of an unbound with TLS, else 0 */
};

/* A port of 127.0.0.1 that is free now for UDP and TCP. Everything here aborts the test on failure. */
uint16_t resolver_free_port(void);

/*
 * Starts argv[0] (found in PATH, ended by NULL), its output going to dir/NAME.log, and waits until it answers at r->port,
 * which the caller has chosen. False when it ended or stays silent, since somebody else may have taken the port meanwhile.
 */
bool resolver_start(struct resolver *r, const struct tree *dir, const char *const argv[]);
void resolver_stop(struct resolver *r);

/* Runs a program to its end, which must be a good one; its output goes to dir/NAME.log. */
void resolver_run(const struct tree *dir, const char *const argv[]);

/* One query for the addresses of a name; whether it was answered. */
bool resolver_ask(const struct resolver *r, const char *name, unsigned *rcode);
/* The same, n times, each of which must be answered with this code. A %u in the name counts from 0. */
void resolver_ask_all(const struct resolver *r, const char *format, unsigned n, unsigned rcode);

/*
 * An unbound that answers all names below up.test and, with the name error, all below no.test; a control socket at
 * dir/control. extra: lines of its "server:" section.
 */
void resolver_start_unbound(struct resolver *r, const struct tree *dir, const char *extra);

/* The same with TLS on a control port instead of the socket, with what unbound-control-setup(8) made in dir before. */
void resolver_start_unbound_tls(struct resolver *r, const struct tree *dir);

/* For extra, as its end: what unbound answers below dead.example is SERVFAIL, since it forwards that to a closed port. */
#define RESOLVER_DEAD_ZONE \
	"\tdo-not-query-localhost: no\n\ttcp-upstream: yes\nforward-zone:\n\tname: \"dead.example\"\n\tforward-addr: " \
	"127.0.0.1@1\n"

/* Leaves the test program with the exit status that ctest counts as skipped when one of the programs (ended by NULL) is absent. */
void resolver_need(const char *const programs[]);
#define RESOLVER_SKIPPED 77

#endif
