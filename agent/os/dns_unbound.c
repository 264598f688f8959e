#include "dns_unbound.h"

#include <stdio.h>
#include <unistd.h>

#include "err.h"

/* Debian; the default of unbound's own example; FreeBSD and OpenBSD. */
static const char *const usual_sockets[] = {
	"/run/unbound.ctl",
	"/run/unbound/unbound.ctl",
	"/run/unbound/control.sock",
	"/var/run/unbound.ctl",
	"/var/run/unbound/unbound.ctl",
	"/var/run/unbound.sock",
};

int
unbound_control(struct fetch *f, const char *socket, const char *command, unsigned deadline_ms, struct text *out,
    const char **found)
{
	char request[128];
	int err = HIWAT_E_MISSING;

	int n = snprintf(request, sizeof(request), "UBCT1 %s\n", command);
	if (n < 0 || (size_t)n >= sizeof(request))
		return HIWAT_E_TOOBIG;
	struct text line = { request, (size_t)n };
	if (socket != NULL) {
		err = fetch_unix(f, socket, line, deadline_ms, out);
	} else {
		for (size_t i = 0; err == HIWAT_E_MISSING && i < sizeof(usual_sockets) / sizeof(usual_sockets[0]); i++) {
			err = fetch_unix(f, usual_sockets[i], line, deadline_ms, out);
			if (err != HIWAT_E_MISSING)
				*found = usual_sockets[i];
		}
	}
	if (err == HIWAT_OK && out->n == 0) {
		snprintf(f->why.text, sizeof(f->why.text), "unbound answered nothing to %s", command);
		return HIWAT_E_NODATA;
	}
	return err;
}

bool
unbound_is_here(const char *socket)
{
	if (socket != NULL)
		return true;
	for (size_t i = 0; i < sizeof(usual_sockets) / sizeof(usual_sockets[0]); i++) {
		if (access(usual_sockets[i], F_OK) == 0)
			return true;
	}
	return false;
}
