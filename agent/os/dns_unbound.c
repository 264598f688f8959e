#include "dns_unbound.h"

#include <stdio.h>
#include <unistd.h>

#include "err.h"
#include "tls.h"

/* Debian; the default of unbound's own example; FreeBSD's port and its base system; OpenBSD. */
static const char *const usual_sockets[] = {
	"/run/unbound.ctl",
	"/run/unbound/unbound.ctl",
	"/run/unbound/control.sock",
	"/var/run/unbound.ctl",
	"/var/run/unbound/unbound.ctl",
	"/var/run/local_unbound.ctl",
	"/var/run/unbound.sock",
};

/* Debian and RPMs; FreeBSD's port and its base system; OpenBSD. */
static const char *const usual_keys[] = {
	"/etc/unbound",
	"/usr/local/etc/unbound",
	"/var/unbound",
	"/var/unbound/etc",
};

#define N_SOCKETS (sizeof(usual_sockets) / sizeof(usual_sockets[0]))
#define N_KEYS (sizeof(usual_keys) / sizeof(usual_keys[0]))

static bool
file_in(char *path, size_t size, const char *dir, const char *name)
{
	int n = snprintf(path, size, "%s/%s", dir, name);

	return n > 0 && (size_t)n < size;
}

static int
ask_tls(struct fetch *f, const struct unbound *u, const char *keys, struct text line, unsigned deadline_ms, struct text *out)
{
	char ca[FETCH_PATH_MAX], cert[FETCH_PATH_MAX], key[FETCH_PATH_MAX];
	const struct tls_peer peer = {
		.address = u->address != NULL ? u->address : "127.0.0.1",
		.port = u->port != 0 ? u->port : UNBOUND_CONTROL_PORT,
		.name = "unbound", /* what unbound-control-setup(8) writes into the server's certificate */
		.ca_file = ca,
		.cert_file = cert,
		.key_file = key,
	};

	if (!file_in(ca, sizeof(ca), keys, "unbound_server.pem") ||
	    !file_in(cert, sizeof(cert), keys, "unbound_control.pem") ||
	    !file_in(key, sizeof(key), keys, "unbound_control.key"))
		return HIWAT_E_TOOBIG;
	return fetch_tls(f, &peer, line, deadline_ms, out);
}

static int
find(struct fetch *f, struct unbound *u, struct text line, unsigned deadline_ms, struct text *out)
{
	char ca[FETCH_PATH_MAX];

	for (size_t i = 0; u->address == NULL && i < N_SOCKETS; i++) {
		int err = fetch_unix(f, usual_sockets[i], line, deadline_ms, out);
		if (err != HIWAT_E_MISSING) {
			u->socket = usual_sockets[i];
			return err;
		}
	}
	for (size_t i = 0; i < N_KEYS; i++) {
		if (!file_in(ca, sizeof(ca), usual_keys[i], "unbound_server.pem") || access(ca, F_OK) != 0)
			continue;
		int err = ask_tls(f, u, usual_keys[i], line, deadline_ms, out);
		if (err != HIWAT_E_MISSING)
			u->keys = usual_keys[i];
		return err;
	}
	return HIWAT_E_MISSING;
}

int
unbound_control(struct fetch *f, struct unbound *u, const char *command, unsigned deadline_ms, struct text *out)
{
	char request[128];
	int err;

	int n = snprintf(request, sizeof(request), "UBCT1 %s\n", command);
	if (n < 0 || (size_t)n >= sizeof(request))
		return HIWAT_E_TOOBIG;
	struct text line = { request, (size_t)n };
	if (u->socket != NULL)
		err = fetch_unix(f, u->socket, line, deadline_ms, out);
	else if (u->keys != NULL)
		err = ask_tls(f, u, u->keys, line, deadline_ms, out);
	else
		err = find(f, u, line, deadline_ms, out);
	if (err == HIWAT_OK && out->n == 0) {
		snprintf(f->why.text, sizeof(f->why.text), "unbound answered nothing to %s", command);
		return HIWAT_E_NODATA;
	}
	return err;
}

const char *
unbound_where(const struct unbound *u)
{
	return u->socket != NULL ? u->socket : u->keys != NULL ? "unbound's control port" : "unbound";
}

bool
unbound_is_here(const struct unbound *u)
{
	bool is_here = u->socket != NULL || u->keys != NULL || u->address != NULL;

	for (size_t i = 0; !is_here && i < N_SOCKETS; i++)
		is_here = access(usual_sockets[i], F_OK) == 0;
	return is_here;
}
