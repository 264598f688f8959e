#include <string.h>
#include <sys/types.h>
#include <sys/msgbuf.h>
#include <sys/time.h>
#include <sys/vmmeter.h>
#include <uvm/uvmexp.h>

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "kernel_bsd.h"

/* A structure of another size is another release's. */
static int
read_struct(struct fetch *f, const char *name, void *out, size_t size)
{
	struct text raw;
	int err = sysctl_read(f, name, &raw);

	if (err != HIWAT_OK)
		return err;
	if (raw.n != size)
		return fetch_done(f, "sysctl", name, clock_mono_ns(), HIWAT_E_VERSION, 0, raw.n);
	memcpy(out, raw.p, size);
	return HIWAT_OK;
}

int
swap_usage(struct fetch *f, uint64_t *used, uint64_t *limit)
{
	struct uvmexp u;
	int err = read_struct(f, "vm.uvmexp", &u, sizeof(u));

	if (err != HIWAT_OK)
		return err;
	if (u.pagesize <= 0 || u.swpages < 0 || u.swpginuse < 0)
		return fetch_done(f, "sysctl", "vm.uvmexp", clock_mono_ns(), HIWAT_E_IMPLAUSIBLE, 0, sizeof(u));
	*used = (uint64_t)u.swpginuse * (uint64_t)u.pagesize;
	*limit = (uint64_t)u.swpages * (uint64_t)u.pagesize;
	return HIWAT_OK;
}

int
run_queue(struct fetch *f, uint64_t *length)
{
	struct vmtotal total;
	int err = read_struct(f, "vm.vmmeter", &total, sizeof(total));

	if (err == HIWAT_OK)
		*length = total.t_rq;
	return err;
}

int
process_count(struct fetch *f, uint64_t *count)
{
	return sysctl_u64(f, "kern.nprocs", count);
}

int
boot_time(struct fetch *f, double *seconds)
{
	struct timeval tv;
	int err = read_struct(f, "kern.boottime", &tv, sizeof(tv));

	if (err == HIWAT_OK)
		*seconds = (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
	return err;
}

/* A header and the ring as it is: unwound here, from behind the write position round to it. */
int
message_buffer(struct fetch *f, struct text *out)
{
	static const size_t head_size = offsetof(struct msgbuf, msg_bufc);
	struct msgbuf head;
	struct text raw;
	int err = sysctl_read(f, "kern.msgbuf", &raw);

	if (err != HIWAT_OK)
		return err;
	if (raw.n < head_size)
		return fetch_done(f, "sysctl", "kern.msgbuf", clock_mono_ns(), HIWAT_E_TRUNCATED, 0, raw.n);
	memcpy(&head, raw.p, head_size);
	if (head.msg_magic != MSG_MAGIC || head.msg_bufs < 0 || (size_t)head.msg_bufs > raw.n - head_size ||
	    head.msg_bufx < 0 || head.msg_bufx > head.msg_bufs)
		return fetch_done(f, "sysctl", "kern.msgbuf", clock_mono_ns(), HIWAT_E_VERSION, 0, raw.n);
	size_t size = (size_t)head.msg_bufs, next = (size_t)head.msg_bufx, n = 0;
	char *text = buf_reserve(&f->buf, size);
	if (text == NULL)
		return HIWAT_E_NOMEM;
	/* The buffer may have moved; the ring is in it, behind its header. */
	const char *ring = f->buf.data + head_size;
	for (size_t i = 0; i < size; i++) {
		char c = ring[(next + i) % size];
		if (c != '\0')
			text[n++] = c;
	}
	*out = (struct text){ text, n };
	return HIWAT_OK;
}
