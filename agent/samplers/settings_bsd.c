/* Settings of the kernel that the rules need or the audit compares, and facts of the machine. */
#include <stdlib.h>

#include "err.h"
#include "kernel_bsd.h"
#include "record.h"
#include "source.h"

/* Of all BSDs together: what a kernel does not have is absent. */
static const char *const names[] = {
	"hw.ata.to",
	"hw.ata.wc",
	"hw.intr_storm_threshold",
	"kern.cam.ada.default_timeout",
	"kern.cam.da.default_timeout",
	"kern.cam.nda.default_timeout",
	"kern.coredump",
	"kern.hz",
	"kern.ipc.maxmbufmem",
	"kern.ipc.maxsockbuf",
	"kern.ipc.maxsockets",
	"kern.ipc.nmbclusters",
	"kern.ipc.nmbjumbo16",
	"kern.ipc.nmbjumbo9",
	"kern.ipc.nmbjumbop",
	"kern.ipc.nmbufs",
	"kern.ipc.soacceptqueue",
	"kern.ipc.somaxconn",
	"kern.maxclusters",
	"kern.maxfiles",
	"kern.maxfilesperproc",
	"kern.maxproc",
	"kern.maxthread",
	"kern.maxusers",
	"kern.maxvnodes",
	"kern.polling.enable",
	"kern.random.sys.harvest.ethernet",
	"kern.random.sys.harvest.interrupt",
	"kern.somaxconn",
	"kern.sominconn",
	"net.inet.icmp.errppslimit",
	"net.inet.icmp.icmplim",
	"net.inet.ip.fastforwarding",
	"net.inet.ip.forwarding",
	"net.inet.ip.ifq.maxlen",
	"net.inet.ip.intr_queue_maxlen",
	"net.inet.ip.portfirst",
	"net.inet.ip.porthifirst",
	"net.inet.ip.porthilast",
	"net.inet.ip.portlast",
	"net.inet.ip.portrange.first",
	"net.inet.ip.portrange.last",
	"net.inet.tcp.blackhole",
	"net.inet.tcp.delayed_ack",
	"net.inet.tcp.hostcache.expire",
	"net.inet.tcp.inflight.enable",
	"net.inet.tcp.msl",
	"net.inet.tcp.path_mtu_discovery",
	"net.inet.tcp.recvbuf_auto",
	"net.inet.tcp.recvbuf_inc",
	"net.inet.tcp.recvbuf_max",
	"net.inet.tcp.recvspace",
	"net.inet.tcp.rfc1323",
	"net.inet.tcp.sendbuf_auto",
	"net.inet.tcp.sendbuf_inc",
	"net.inet.tcp.sendbuf_max",
	"net.inet.tcp.sendspace",
	"net.inet.tcp.synbucketlimit",
	"net.inet.tcp.syncache.bucketlimit",
	"net.inet.tcp.syncache.cachelimit",
	"net.inet.tcp.syncachelimit",
	"net.inet.tcp.syncookies",
	"net.inet.udp.blackhole",
	"net.inet.udp.maxdgram",
	"net.inet.udp.recvspace",
	"net.inet.udp.sendspace",
	"net.inet6.ip6.forwarding",
	"net.isr.maxqlimit",
	"net.local.stream.recvspace",
	"net.local.stream.sendspace",
	"vfs.vmiodirenable",
	"vfs.zfs.cache_flush_disable",
	"vfs.zfs.zil_disable",
	"vm.zone_warnings",
};

struct settings {
	struct fetch fetch;
};

static void
settings_close(void *state)
{
	struct settings *s = state;

	fetch_fini(&s->fetch);
	free(s);
}

static int
settings_open(const struct sampler_config *config, void **state)
{
	struct settings *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 64 << 10);
	*state = s;
	return HIWAT_OK;
}

static int
add_sysctls(struct settings *s, struct arena *arena, Hiwat__Settings *m, struct sampler_reason *why)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t value;
		int err = sysctl_u64(&s->fetch, names[i], &value);
		/* FORMAT and RANGE: of another release, where it is no number or -1 for none. */
		if (err == HIWAT_E_MISSING || err == HIWAT_E_FORMAT || err == HIWAT_E_RANGE)
			continue;
		if (err != HIWAT_OK)
			return sampler_fail_fetch(why, err, &s->fetch);
		Hiwat__Sysctl *row = RECORD_ADD(arena, m, sysctls, sysctl);
		if (row == NULL || (row->name = record_label(arena, text_of(names[i]))) == NULL ||
		    (row->index = record_label(arena, TEXT(""))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, value, (double)value);
	}
	return HIWAT_OK;
}

/* The first of these that the kernel has, times its unit; false when it has none. */
struct scaled_name {
	const char *name;
	uint64_t unit;
};

static bool
first_of(struct settings *s, const struct scaled_name *rows, size_t n, uint64_t *value)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t number;
		if (sysctl_u64(&s->fetch, rows[i].name, &number) == HIWAT_OK && number != 0 &&
		    number < UINT64_MAX / rows[i].unit) {
			*value = number * rows[i].unit;
			return true;
		}
	}
	return false;
}

static int
add_machine(struct settings *s, struct arena *arena, Hiwat__Settings *m, struct sampler_reason *why)
{
	static const struct scaled_name cpus[] = { { "hw.ncpuonline", 1 }, { "hw.ncpu", 1 } };
	/* The rate of the counter is the nominal one of the CPU; the present one moves with the load. */
	static const struct scaled_name hertz[] = { { "machdep.tsc_freq", 1 }, { "hw.clockrate", 1000000 },
		{ "hw.cpuspeed", 1000000 } };
	static const struct scaled_name memory[] = { { "hw.physmem64", 1 }, { "hw.physmem", 1 } };
	Hiwat__Cpu *cpu = RECORD_ONE(arena, m, cpu, cpu);
	Hiwat__Memory *mem = RECORD_ONE(arena, m, memory, memory);
	Hiwat__Boot *boot = RECORD_ONE(arena, m, boot, boot);
	uint64_t number;
	double seconds;

	if (cpu == NULL || mem == NULL || boot == NULL)
		return HIWAT_E_NOMEM;
	if (first_of(s, cpus, sizeof(cpus) / sizeof(cpus[0]), &number))
		RECORD_SET(cpu, count, number);
	if (first_of(s, hertz, sizeof(hertz) / sizeof(hertz[0]), &number))
		RECORD_SET(cpu, hertz, (double)number);
	if (first_of(s, memory, sizeof(memory) / sizeof(memory[0]), &number))
		RECORD_SET(mem, bytes, number);
	int err = boot_time(&s->fetch, &seconds);
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	RECORD_SET(boot, time_seconds, seconds);
	return HIWAT_OK;
}

static int
settings_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct settings *s = state;
	Hiwat__Settings *m = RECORD_ONE(arena, out, settings, settings);

	(void)now;
	if (m == NULL)
		return HIWAT_E_NOMEM;
	int err = add_sysctls(s, arena, m, why);
	if (err == HIWAT_OK)
		err = add_machine(s, arena, m, why);
	return err;
}

const struct sampler sampler_settings = {
	.name = "settings",
	.help = "kernel settings, memory, CPUs and boot time",
	.interval_ms = 3600000,
	.deadline_ms = 5000,
	.open = settings_open,
	.sample = settings_sample,
	.close = settings_close,
};
