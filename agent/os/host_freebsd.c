#include <string.h>
#include <sys/types.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <sys/vmmeter.h>
#include <unistd.h>
#include <vm/vm_param.h>

#include "clock.h"
#include "err.h"
#include "kernel_bsd.h"

#define SWAP_DEVICES_MAX 64

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
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), in_use = 0, all = 0;
	struct xswdev device;
	struct text raw;

	/* Rows end where the kernel says that there is no such one. */
	for (int i = 0; i < SWAP_DEVICES_MAX; i++) {
		int err = sysctl_read_row(f, "vm.swap_info", i, &raw);
		if (err == HIWAT_E_MISSING)
			break;
		if (err != HIWAT_OK)
			return err;
		if (raw.n != sizeof(device))
			return fetch_done(f, "sysctl", "vm.swap_info", clock_mono_ns(), HIWAT_E_VERSION, 0, raw.n);
		memcpy(&device, raw.p, sizeof(device));
		if (device.xsw_version != XSWDEV_VERSION)
			return fetch_done(f, "sysctl", "vm.swap_info", clock_mono_ns(), HIWAT_E_VERSION, 0, raw.n);
		all += (uint64_t)(device.xsw_nblks > 0 ? device.xsw_nblks : 0) * page;
		in_use += (uint64_t)(device.xsw_used > 0 ? device.xsw_used : 0) * page;
	}
	*used = in_use;
	*limit = all;
	return HIWAT_OK;
}

int
run_queue(struct fetch *f, uint64_t *length)
{
	struct vmtotal total;
	int err = read_struct(f, "vm.vmtotal", &total, sizeof(total));

	if (err == HIWAT_OK)
		*length = total.t_rq > 0 ? (uint64_t)total.t_rq : 0;
	return err;
}

/* The list of processes itself: FreeBSD keeps their number to itself. Each row begins with its size. */
int
process_count(struct fetch *f, uint64_t *count)
{
	static const int mib[] = { CTL_KERN, KERN_PROC, KERN_PROC_PROC };
	uint64_t see_others;
	struct text raw;
	int size;

	if (geteuid() != 0 && sysctl_u64(f, "security.bsd.see_other_uids", &see_others) == HIWAT_OK && see_others == 0)
		return fetch_done(f, "sysctl", "kern.proc", clock_mono_ns(), HIWAT_E_DENIED, 0, 0);
	int err = sysctl_read_mib(f, "kern.proc", mib, sizeof(mib) / sizeof(mib[0]), &raw);
	if (err != HIWAT_OK)
		return err;
	if (raw.n < sizeof(size))
		return fetch_done(f, "sysctl", "kern.proc", clock_mono_ns(), HIWAT_E_TRUNCATED, 0, raw.n);
	memcpy(&size, raw.p, sizeof(size));
	if (size <= 0 || raw.n % (size_t)size != 0)
		return fetch_done(f, "sysctl", "kern.proc", clock_mono_ns(), HIWAT_E_VERSION, 0, raw.n);
	*count = raw.n / (size_t)size;
	return HIWAT_OK;
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

/* Unwound by the kernel. Releases before 8 begin with the NULs of a buffer that is not full, later ones end in one. */
int
message_buffer(struct fetch *f, struct text *out)
{
	struct text raw;
	int err = sysctl_read(f, "kern.msgbuf", &raw);

	if (err != HIWAT_OK)
		return err;
	while (raw.n > 0 && raw.p[0] == '\0') {
		raw.p++;
		raw.n--;
	}
	while (raw.n > 0 && raw.p[raw.n - 1] == '\0')
		raw.n--;
	*out = raw;
	return HIWAT_OK;
}
