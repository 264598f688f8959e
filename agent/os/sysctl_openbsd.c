/* The variables that hiwat reads on OpenBSD, which has no names in its kernel: as sysctl(8) writes them. */
#include <string.h>
#include <sys/types.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <sys/timeout.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/in_systm.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/icmp_var.h>
#include <netinet/ip_var.h>
#include <netinet/tcp.h>
#include <netinet/tcp_timer.h>
#include <netinet/tcp_var.h>
#include <netinet/udp.h>
#include <netinet/udp_var.h>
#include <uvm/uvmexp.h>

#include "clock.h"
#include "err.h"
#include "sysctl.h"

struct row {
	const char *name;
	unsigned n;
	int mib[6];
};

static const struct row rows[] = {
	{ "hw.cpuspeed", 2, { CTL_HW, HW_CPUSPEED } },
	{ "hw.diskstats", 2, { CTL_HW, HW_DISKSTATS } },
	{ "hw.ncpu", 2, { CTL_HW, HW_NCPU } },
	{ "hw.ncpuonline", 2, { CTL_HW, HW_NCPUONLINE } },
	{ "hw.physmem", 2, { CTL_HW, HW_PHYSMEM64 } },
	{ "kern.boottime", 2, { CTL_KERN, KERN_BOOTTIME } },
	{ "kern.clockrate", 2, { CTL_KERN, KERN_CLOCKRATE } },
	{ "kern.cp_time", 2, { CTL_KERN, KERN_CPTIME } },
	{ "kern.cp_time2", 2, { CTL_KERN, KERN_CPTIME2 } },
	{ "kern.intrcnt.cnt", 3, { CTL_KERN, KERN_INTRCNT, KERN_INTRCNT_CNT } },
	{ "kern.intrcnt.name", 3, { CTL_KERN, KERN_INTRCNT, KERN_INTRCNT_NAME } },
	{ "kern.intrcnt.nintrcnt", 3, { CTL_KERN, KERN_INTRCNT, KERN_INTRCNT_NUM } },
	{ "kern.intrcnt.vector", 3, { CTL_KERN, KERN_INTRCNT, KERN_INTRCNT_VECTOR } },
	{ "kern.maxclusters", 2, { CTL_KERN, KERN_MAXCLUSTERS } },
	{ "kern.maxfiles", 2, { CTL_KERN, KERN_MAXFILES } },
	{ "kern.maxproc", 2, { CTL_KERN, KERN_MAXPROC } },
	{ "kern.maxthread", 2, { CTL_KERN, KERN_MAXTHREAD } },
	{ "kern.maxvnodes", 2, { CTL_KERN, KERN_MAXVNODES } },
	{ "kern.msgbuf", 2, { CTL_KERN, KERN_MSGBUF } },
	{ "kern.nfiles", 2, { CTL_KERN, KERN_NFILES } },
	{ "kern.nprocs", 2, { CTL_KERN, KERN_NPROCS } },
	{ "kern.numvnodes", 2, { CTL_KERN, KERN_NUMVNODES } },
	{ "kern.pfstatus", 2, { CTL_KERN, KERN_PFSTATUS } },
	{ "kern.somaxconn", 2, { CTL_KERN, KERN_SOMAXCONN } },
	{ "kern.sominconn", 2, { CTL_KERN, KERN_SOMINCONN } },
	{ "net.inet.icmp.errppslimit", 4, { CTL_NET, PF_INET, IPPROTO_ICMP, ICMPCTL_ERRPPSLIMIT } },
	{ "net.inet.ip.forwarding", 4, { CTL_NET, PF_INET, IPPROTO_IP, IPCTL_FORWARDING } },
	{ "net.inet.ip.ifq.drops", 5, { CTL_NET, PF_INET, IPPROTO_IP, IPCTL_IFQUEUE, IFQCTL_DROPS } },
	{ "net.inet.ip.ifq.maxlen", 5, { CTL_NET, PF_INET, IPPROTO_IP, IPCTL_IFQUEUE, IFQCTL_MAXLEN } },
	{ "net.inet.ip.portfirst", 4, { CTL_NET, PF_INET, IPPROTO_IP, IPCTL_IPPORT_FIRSTAUTO } },
	{ "net.inet.ip.porthifirst", 4, { CTL_NET, PF_INET, IPPROTO_IP, IPCTL_IPPORT_HIFIRSTAUTO } },
	{ "net.inet.ip.porthilast", 4, { CTL_NET, PF_INET, IPPROTO_IP, IPCTL_IPPORT_HILASTAUTO } },
	{ "net.inet.ip.portlast", 4, { CTL_NET, PF_INET, IPPROTO_IP, IPCTL_IPPORT_LASTAUTO } },
	{ "net.inet.tcp.rfc1323", 4, { CTL_NET, PF_INET, IPPROTO_TCP, TCPCTL_RFC1323 } },
	{ "net.inet.tcp.synbucketlimit", 4, { CTL_NET, PF_INET, IPPROTO_TCP, TCPCTL_SYN_BUCKET_LIMIT } },
	{ "net.inet.tcp.syncachelimit", 4, { CTL_NET, PF_INET, IPPROTO_TCP, TCPCTL_SYN_CACHE_LIMIT } },
	{ "net.inet.udp.recvspace", 4, { CTL_NET, PF_INET, IPPROTO_UDP, UDPCTL_RECVSPACE } },
	{ "net.inet.udp.sendspace", 4, { CTL_NET, PF_INET, IPPROTO_UDP, UDPCTL_SENDSPACE } },
	{ "vm.uvmexp", 2, { CTL_VM, VM_UVMEXP } },
	{ "vm.vmmeter", 2, { CTL_VM, VM_METER } },
};

static const struct row *
row_find(const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	}
	return NULL;
}

static int
read_row(struct fetch *f, const char *name, bool has_row, int number, struct text *out)
{
	const struct row *row = row_find(name);
	int mib[SYSCTL_MIB_MAX];

	if (row == NULL)
		return fetch_done(f, "sysctl", name, clock_mono_ns(), HIWAT_E_MISSING, 0, 0);
	memcpy(mib, row->mib, sizeof(row->mib));
	mib[row->n] = number;
	return sysctl_read_mib(f, name, mib, row->n + (has_row ? 1 : 0), out);
}

int
sysctl_read(struct fetch *f, const char *name, struct text *out)
{
	return read_row(f, name, false, 0, out);
}

int
sysctl_read_row(struct fetch *f, const char *name, int row, struct text *out)
{
	return read_row(f, name, true, row, out);
}
