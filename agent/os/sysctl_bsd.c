#include "sysctl.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <sys/sysctl.h>

#include "clock.h"
#include "err.h"

#define FIRST_ROOM ((size_t)4096)
#define TRIES 4 /* of a table that changes while it is copied (FreeBSD: EBUSY) */

/*
 * Asks with the room there is and grows it for as long as the kernel says that it is too small. The length is not asked
 * for first: tables change between two calls, and OpenBSD's kern.msgbuf answers that question with nothing.
 */
static int
read_growing(struct fetch *f, const int *mib, unsigned n, int *sys_errno)
{
	size_t room = FIRST_ROOM; /* not all there is: OpenBSD wires the memory that it is given */

	for (int tries = 0; tries < TRIES;) {
		if (room > f->buf.limit)
			room = f->buf.limit;
		char *p = buf_reserve(&f->buf, room);
		if (p == NULL)
			return HIWAT_E_NOMEM;
		size_t len = room;
		if (sysctl(mib, n, p, &len, NULL, 0) == 0) {
			buf_advance(&f->buf, len < room ? len : room);
			return HIWAT_OK;
		}
		*sys_errno = errno;
		if (errno == ENOMEM) {
			*sys_errno = 0;
			if (room == f->buf.limit)
				return HIWAT_E_TOOBIG;
			room *= 2;
		} else if (errno == EBUSY || errno == EINTR) {
			tries++;
		} else if (errno == EOPNOTSUPP || errno == ENOPROTOOPT || errno == EINVAL) {
			return HIWAT_E_MISSING; /* how OpenBSD and NetBSD name what was not built into the kernel */
		} else {
			return fetch_err(errno);
		}
	}
	return HIWAT_E_AGAIN;
}

int
sysctl_read_mib(struct fetch *f, const char *name, const int *mib, unsigned n, struct text *out)
{
	uint64_t started_ns = clock_mono_ns();
	int sys_errno = 0;

	buf_reset(&f->buf);
	int err = read_growing(f, mib, n, &sys_errno);
	if (err == HIWAT_OK) {
		sys_errno = 0;
		*out = (struct text){ f->buf.data, f->buf.len };
	}
	return fetch_done(f, "sysctl", name, started_ns, err, sys_errno, f->buf.len);
}

int
sysctl_u64(struct fetch *f, const char *name, uint64_t *value)
{
	struct text raw;
	int64_t wide;
	int32_t narrow;
	int err = sysctl_read(f, name, &raw);

	if (err != HIWAT_OK)
		return err;
	if (raw.n == sizeof(wide)) {
		memcpy(&wide, raw.p, sizeof(wide));
	} else if (raw.n == sizeof(narrow)) {
		memcpy(&narrow, raw.p, sizeof(narrow));
		wide = narrow;
	} else {
		return fetch_done(f, "sysctl", name, clock_mono_ns(), HIWAT_E_FORMAT, 0, raw.n);
	}
	if (wide < 0)
		return fetch_done(f, "sysctl", name, clock_mono_ns(), HIWAT_E_RANGE, 0, raw.n);
	*value = (uint64_t)wide;
	return HIWAT_OK;
}
