/*
 * Lines by which kernels report a limit reached, an interrupt storm, a full accept queue or answers held back.
 * FreeBSD: kern_mbuf.c, pf.c, pf_norm.c, kern_descrip.c, kern_fork.c, kern_intr.c, uipc_socket.c, ip_icmp.c; OpenBSD and
 * NetBSD: uipc_mbuf.c, subr_prf.c (tablefull); Linux: nf_conntrack_core.c, tcp.c, tcp_minisocks.c, file_table.c.
 */
#include "kernel_log_state.h"

#include "err.h"

/* How a line begins and what it must say further on. */
static const struct {
	const char *begin, *then;
	enum kl_limit limit;
} phrases[] = {
	{ "[zone: ", "kern.ipc.nmbufs limit reached", KL_LIMIT_MBUF },
	{ "[zone: ", "kern.ipc.nmbclusters limit reached", KL_LIMIT_CLUSTER },
	{ "[zone: ", "kern.ipc.nmbjumbop limit reached", KL_LIMIT_JUMBO_PAGE },
	{ "[zone: ", "kern.ipc.nmbjumbo9 limit reached", KL_LIMIT_JUMBO_9K },
	{ "[zone: ", "kern.ipc.nmbjumbo16 limit reached", KL_LIMIT_JUMBO_16K },
	{ "[zone: ", "kern.ipc.maxsockets limit reached", KL_LIMIT_SOCKETS },
	{ "[zone: ", "PF states limit reached", KL_LIMIT_PF_STATES },
	{ "[zone: ", "PF source nodes limit reached", KL_LIMIT_PF_SOURCE_NODES },
	{ "[zone: ", "PF frag entries limit reached", KL_LIMIT_PF_FRAGMENTS },
	{ "kern.ipc.nmbufs limit reached", "", KL_LIMIT_MBUF },
	{ "kern.ipc.nmbclusters limit reached", "", KL_LIMIT_CLUSTER },
	{ "kern.ipc.nmbjumbop limit reached", "", KL_LIMIT_JUMBO_PAGE },
	{ "kern.ipc.nmbjumbo9 limit reached", "", KL_LIMIT_JUMBO_9K },
	{ "kern.ipc.nmbjumbo16 limit reached", "", KL_LIMIT_JUMBO_16K },
	{ "kern.ipc.maxsockets limit reached", "", KL_LIMIT_SOCKETS },
	{ "kern.maxfiles limit exceeded", "", KL_LIMIT_FILES },
	{ "All mbufs or mbuf clusters exhausted", "", KL_LIMIT_CLUSTER },
	{ "All mbuf clusters exhausted", "", KL_LIMIT_CLUSTER },
	{ "All mbufs exhausted", "", KL_LIMIT_MBUF },
	{ "Out of mbuf clusters", "", KL_LIMIT_CLUSTER },
	{ "Out of mbufs", "", KL_LIMIT_MBUF },
	{ "Out of socket memory", "", KL_LIMIT_TCP_MEMORY },
	{ "mb_map full", "", KL_LIMIT_CLUSTER },
	{ "WARNING: mclpool limit reached", "", KL_LIMIT_CLUSTER },
	{ "WARNING: mclpools limit reached", "", KL_LIMIT_CLUSTER },
	{ "maxproc limit exceeded", "", KL_LIMIT_PROCESSES },
	{ "proc: table is full", "", KL_LIMIT_PROCESSES },
	{ "process: table is full", "", KL_LIMIT_PROCESSES },
	{ "thread: table is full", "", KL_LIMIT_PROCESSES },
	{ "file: table is full", "", KL_LIMIT_FILES },
	{ "VFS: file-max limit ", " reached", KL_LIMIT_FILES },
	{ "TCP: out of memory", "", KL_LIMIT_TCP_MEMORY },
	{ "TCP: too many of orphaned sockets", "", KL_LIMIT_ORPHANS },
	{ "TCP: too many orphaned sockets", "", KL_LIMIT_ORPHANS },
	{ "TCP: time wait bucket table overflow", "", KL_LIMIT_TIME_WAIT },
	{ "nf_conntrack: table full", "", KL_LIMIT_CONNTRACK },
	{ "nf_conntrack: nf_conntrack: table full", "", KL_LIMIT_CONNTRACK },
	{ "ip_conntrack: table full", "", KL_LIMIT_CONNTRACK },
};

bool
kl_limit_line(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text;

	/* Newer kernels prefix a few of these with their subsystem twice. */
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		if (*t.p != *phrases[i].begin || !text_starts(t, phrases[i].begin))
			continue;
		if (*phrases[i].then != '\0' && !kl_contains(t, phrases[i].then))
			continue;
		kl_limit(k, phrases[i].limit);
		return true;
	}
	return false;
}

/* interrupt storm detected on "irq19: myfirst0:legacy"; throttling interrupt source */
bool
kl_interrupt_storm(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, name, irq = TEXT(""), device, number;

	if (!kl_skip_case(&t, "interrupt storm detected ") || (!text_skip(&t, "on \"") && !text_skip(&t, "against \"")) ||
	    !text_until(&t, '"', &name))
		return false;
	device = name = text_trim(name);
	struct text rest = name;
	if (text_skip(&rest, "irq")) {
		number = rest;
		size_t n = 0;
		while (n < rest.n && rest.p[n] >= '0' && rest.p[n] <= '9')
			n++;
		if (n > 0 && (n == rest.n || rest.p[n] == ':' || rest.p[n] == ' ')) {
			irq = (struct text){ number.p, n };
			device = (struct text){ rest.p + n, rest.n - n };
			text_skip(&device, ":");
			device = text_trim(device);
		}
	} else if (text_ends(device, ":")) {
		device.n--;
	}
	kl_storm(k, irq, device);
	return true;
}

/* Limiting closed port RST response from 690 to 50 packets/sec; "per second" on macOS */
bool
kl_limiting(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text, before;
	uint64_t from, to;

	if (!text_skip(&t, "Limiting "))
		return false;
	before = t;
	if (!kl_after(&t, " response from "))
		return false;
	struct text kind = { before.p, before.n - t.n - 15 };
	if (text_u64(&t, &from) != 0 || !text_skip(&t, " to ") || text_u64(&t, &to) != 0 || !text_starts(t, " packets"))
		return false;
	if (line->cut && !text_ends(t, "/sec") && !text_ends(t, "second"))
		return true;
	kl_response(k, kind);
	return true;
}

/* sonewconn: pcb 0x...: Listen queue overflow: 193 already in queue awaiting acceptance (34 occurrences), ... */
bool
kl_sonewconn(struct kernel_log *k, const struct kl_line *line)
{
	struct text t = line->text;
	uint64_t queued, occurrences = 1;

	if (!kl_after(&t, "Listen queue overflow: ") || text_u64(&t, &queued) != 0 ||
	    !text_skip(&t, " already in queue awaiting acceptance"))
		return kl_contains(line->text, "New socket allocation failure");
	if (text_skip(&t, " (")) {
		if (text_u64(&t, &occurrences) != 0 || !text_starts(t, " occurrence"))
			return true;
	} else if (line->cut) {
		return true;
	}
	if (occurrences <= UINT64_MAX / k->times)
		k->listen_overflows += occurrences * k->times;
	return true;
}
