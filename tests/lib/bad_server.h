/*
 * A webhook receiver that misbehaves as its script says, request by request, and remembers what it has seen. One at a time;
 * its threads touch it under its lock.
 */
#ifndef HIWAT_TESTS_BAD_SERVER_H
#define HIWAT_TESTS_BAD_SERVER_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define BAD_SERVER_SECRET "not a secret\xff"
#define BAD_SERVER_SEEN 4096

/* CUT, DROP and ENDLESS have taken the notification, whatever becomes of the answer. */
enum behaviour {
	OK,
	STATUS_500,
	STATUS_429,
	CUT,
	DROP,
	HANG,
	STATUS_400,
	ENDLESS,
	REDIRECT,
	STATUS_403,
	STATUS_404,
	STATUS_410
};

/* One delivery that the server has seen whole. */
struct seen {
	char key[33], event[24];
	unsigned generation;
};

/* Whether a receiver of another kind than webhook would take a body; seen is what it says. */
typedef bool body_rules(const char *body, size_t len, struct seen *seen);

struct bad_server {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const enum behaviour *script; /* what happens to the n-th request; OK after its end */
	size_t n_script, n_requests;
	const char *reason; /* what statuses above 400 and it say */
	body_rules *rules;  /* NULL: of a webhook. What they do not take is answered by 400 */
	char *last;         /* the last body that was taken, owned */
	struct seen seen[BAD_SERVER_SEEN];
	size_t n_seen;
	unsigned bad;     /* requests with a wrong signature, key or header */
	unsigned hanging; /* requests that hang now */
	bool release;
	struct MHD_Daemon *daemon;
	char url[64];
};
extern struct bad_server server;

/* On a free port of 127.0.0.1; cert and key: PEM for TLS, NULL for plain HTTP. False when it cannot listen. */
bool bad_server_start(const char *cert, const char *key);
/* Lets go what hangs. */
void bad_server_release(void);
/* Releases and stops. */
void bad_server_stop(void);

#endif
