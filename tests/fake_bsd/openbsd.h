/*
 * What the os files for OpenBSD use of its kernel interfaces, for building them on another system against a kernel of the
 * tests' own making. layout_openbsd.c holds sizes, offsets and values to those of the real headers.
 */
#ifndef HIWAT_TESTS_FAKE_OPENBSD_H
#define HIWAT_TESTS_FAKE_OPENBSD_H

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>

#define CTL_KERN 1
#define CTL_VM 2
#define CTL_NET 4
#define CTL_HW 6
#define HW_NCPU 3
#define HW_DISKSTATS 9
#define HW_CPUSPEED 12
#define HW_PHYSMEM64 19
#define HW_NCPUONLINE 25
#define KERN_MAXVNODES 5
#define KERN_MAXPROC 6
#define KERN_MAXFILES 7
#define KERN_CLOCKRATE 12
#define KERN_BOOTTIME 21
#define KERN_MAXTHREAD 25
#define KERN_SOMAXCONN 28
#define KERN_SOMINCONN 29
#define KERN_CPTIME 40
#define KERN_NPROCS 47
#define KERN_MSGBUF 48
#define KERN_NFILES 56
#define KERN_NUMVNODES 58
#define KERN_INTRCNT 63
#define KERN_INTRCNT_NUM 1
#define KERN_INTRCNT_CNT 2
#define KERN_INTRCNT_NAME 3
#define KERN_INTRCNT_VECTOR 4
#define KERN_MAXCLUSTERS 67
#define KERN_CPTIME2 71
#define KERN_PFSTATUS 86
#define VM_METER 1
#define VM_UVMEXP 4
#define ICMPCTL_ERRPPSLIMIT 3
#define IPCTL_FORWARDING 1
#define IPCTL_IPPORT_FIRSTAUTO 7
#define IPCTL_IPPORT_LASTAUTO 8
#define IPCTL_IPPORT_HIFIRSTAUTO 9
#define IPCTL_IPPORT_HILASTAUTO 10
#define IPCTL_IFQUEUE 30
#define IFQCTL_MAXLEN 2
#define IFQCTL_DROPS 3
#define TCPCTL_RFC1323 1
#define TCPCTL_SYN_CACHE_LIMIT 15
#define TCPCTL_SYN_BUCKET_LIMIT 16
#define UDPCTL_RECVSPACE 3
#define UDPCTL_SENDSPACE 4

int sysctl(const int *name, unsigned int namelen, void *oldp, size_t *oldlenp, void *newp, size_t newlen);

#define CPUSTATES 6
#define CP_SPIN 3
#define CP_INTR 4
#define CP_IDLE 5

struct clockinfo {
	int hz, tick, stathz, profhz;
};

struct diskstats {
	char ds_name[16];
	int ds_busy;
	uint64_t ds_rxfer, ds_wxfer, ds_seek, ds_rbytes, ds_wbytes;
	struct timeval ds_attachtime, ds_timestamp, ds_time;
};

#define MSG_MAGIC 0x063061
struct msgbuf {
	long msg_magic, msg_bufx, msg_bufr, msg_bufs, msg_bufd;
	char msg_bufc[1];
};

struct uvmexp {
	int pagesize, others[25], swpages, swpginuse, more[58];
};

struct vmtotal {
	uint16_t t_rq, t_dw, t_pw, t_sl, t_sw;
	uint32_t pages[9];
};

#define MNT_RDONLY 0x1
#define MNT_LOCAL 0x1000
#undef MNT_NOWAIT
#define MNT_NOWAIT 2
#define MFSNAMELEN 16
#define MNAMELEN 90

struct statfs {
	uint32_t f_flags, f_bsize, f_iosize;
	uint64_t counts[10];
	int32_t f_id[2];
	uint32_t f_namemax, f_owner;
	uint64_t f_ctime;
	char f_fstypename[MFSNAMELEN], f_mntonname[MNAMELEN], f_mntfromname[MNAMELEN], f_mntfromspec[MNAMELEN];
	uint64_t mount_info[20];
};

int getfsstat(struct statfs *buf, size_t bufsize, int flags);

#define AF_LINK 18
#define LINK_STATE_DOWN 2
#define LINK_STATE_UP 4
#define LINK_STATE_IS_UP(s) ((s) >= LINK_STATE_UP || (s) == 0)

struct if_data {
	uint8_t ifi_type, ifi_addrlen, ifi_hdrlen, ifi_link_state;
	uint32_t ifi_mtu, ifi_metric, ifi_rdomain;
	uint64_t ifi_baudrate, ifi_ipackets, ifi_ierrors, ifi_opackets, ifi_oerrors, ifi_collisions, ifi_ibytes, ifi_obytes,
	    ifi_imcasts, ifi_omcasts, ifi_iqdrops, ifi_oqdrops, ifi_noproto;
	uint32_t ifi_capabilities;
	struct timeval ifi_lastchange;
};

#define IFM_ETHER 0x100ULL
#define IFM_NMASK 0xff00ULL
#define IFM_TMASK 0xffULL
#define IFM_AUTO 0ULL
#define IFM_FDX 0x10000000000ULL
#define IFM_HDX 0x20000000000ULL
#define IFM_AVALID 1ULL
#define IFM_ACTIVE 2ULL
#define IFM_TYPE(x) ((x)&IFM_NMASK)
#define IFM_SUBTYPE(x) ((x)&IFM_TMASK)

struct ifmediareq {
	char ifm_name[16];
	uint64_t ifm_current, ifm_mask, ifm_status, ifm_active;
	int ifm_count;
	uint64_t *ifm_ulist;
};

#define TRUNK_PORT_ACTIVE 4
#define TRUNK_PROTO_FAILOVER 2
#define TRUNK_PROTO_LACP 5
struct trunk_reqport {
	char rp_ifname[16], rp_portname[16];
	uint32_t rp_prio, rp_flags;
	uint16_t lacp[16];
};
struct trunk_reqall {
	char ra_ifname[16];
	unsigned ra_proto;
	size_t ra_size;
	struct trunk_reqport *ra_port;
	int ra_ports;
	uint16_t lacp[16];
};

#define SIOCGIFMEDIA 0xc0406938UL
#define SIOCGTRUNK 0xc050698fUL

#define PFRES_MAX 17
#define LCNT_MAX 10
#define FCNT_MAX 3
#define FCNT_STATE_SEARCH 0
#define FCNT_STATE_INSERT 1
#define FCNT_STATE_REMOVALS 2
#define SCNT_MAX 3
#define NCNT_MAX 3

#define PFRES_NAMES \
	{ \
		"match", "bad-offset", "fragment", "short", "normalize", "memory", "bad-timestamp", "congestion", \
		    "ip-option", "proto-cksum", "state-mismatch", "state-insert", "state-limit", "src-limit", "synproxy", \
		    "translate", "no-route", NULL \
	}
#define LCNT_NAMES \
	{ \
		"max states per rule", "max-src-states", "max-src-nodes", "max-src-conn", "max-src-conn-rate", \
		    "overload table insertion", "overload flush states", "synfloods detected", "syncookies sent", \
		    "syncookies validated", NULL \
	}

struct pf_status {
	uint64_t counters[PFRES_MAX], lcounters[LCNT_MAX], fcounters[FCNT_MAX], scounters[SCNT_MAX], ncounters[NCNT_MAX],
	    interface_counters[16], stateid, syncookies_inflight[2];
	time_t since;
	uint32_t running, states, states_halfopen, src_nodes, fragments, debug, hostid, reass;
	uint8_t flags[4];
	char ifname[16];
	uint8_t checksum[16];
};

/* These exist here too: the files that are built against this header call the tests' own. */
#define ioctl fake_ioctl
#define getifaddrs fake_getifaddrs
#define freeifaddrs fake_freeifaddrs
int fake_ioctl(int fd, unsigned long request, void *arg);
int fake_getifaddrs(struct ifaddrs **list);
void fake_freeifaddrs(struct ifaddrs *list);

#endif
