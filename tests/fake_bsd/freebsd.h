/*
 * What the os files for FreeBSD use of its kernel interfaces, for building them on another system against a kernel of the
 * tests' own making. layout_freebsd.c holds sizes, offsets and values to those of the real headers.
 */
#ifndef HIWAT_TESTS_FAKE_FREEBSD_H
#define HIWAT_TESTS_FAKE_FREEBSD_H

#include <ifaddrs.h>
#include <net/if.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>

#define CTL_KERN 1
#define KERN_PROC 14
#define KERN_PROC_PROC 8

int sysctl(const int *name, unsigned int namelen, void *oldp, size_t *oldlenp, const void *newp, size_t newlen);
int sysctlnametomib(const char *name, int *mibp, size_t *sizep);

enum { CP_USER, CP_NICE, CP_SYS, CP_INTR, CP_IDLE };
#define CPUSTATES 5

struct clockinfo {
	int hz, tick, spare, stathz, profhz;
};

struct bintime {
	time_t sec;
	uint64_t frac;
};

#define DEVSTAT_NAME_LEN 16
#define DEVSTAT_N_TRANS_FLAGS 4
#define DEVSTAT_TYPE_DIRECT 0x000
#define DEVSTAT_TYPE_CDROM 0x005
#define DEVSTAT_TYPE_STORARRAY 0x00c
#define DEVSTAT_TYPE_MASK 0x00f
#define DEVSTAT_TYPE_PASS 0x100

struct devstat {
	unsigned sequence0;
	int allocated;
	unsigned start_count, end_count;
	struct bintime busy_from;
	void *next;
	uint32_t device_number;
	char device_name[DEVSTAT_NAME_LEN];
	int unit_number;
	uint64_t bytes[DEVSTAT_N_TRANS_FLAGS], operations[DEVSTAT_N_TRANS_FLAGS];
	struct bintime duration[DEVSTAT_N_TRANS_FLAGS];
	struct bintime busy_time, creation_time;
	uint32_t block_size;
	uint64_t tag_types[3];
	int flags, device_type, priority;
	const void *id;
	unsigned sequence1;
};

struct vmtotal {
	uint64_t pages[9];
	int16_t t_rq, t_dw, t_pw, t_sl, t_sw;
	uint16_t t_pad[3];
};

#define XSWDEV_VERSION 2
struct xswdev {
	unsigned xsw_version;
	uint64_t xsw_dev;
	int xsw_flags, xsw_nblks, xsw_used;
};

#define MNT_RDONLY 0x1ULL
#define MNT_LOCAL 0x1000ULL
#undef MNT_NOWAIT
#define MNT_NOWAIT 2
#define MFSNAMELEN 16
#define MNAMELEN 1024

struct statfs {
	uint32_t f_version, f_type;
	uint64_t f_flags, counts[21];
	uint32_t f_namemax, f_owner;
	int32_t f_id[2];
	char f_charspare[80];
	char f_fstypename[MFSNAMELEN], f_mntfromname[MNAMELEN], f_mntonname[MNAMELEN];
};

int getfsstat(struct statfs *buf, long bufsize, int mode);

#define AF_LINK 18
#define LINK_STATE_DOWN 1
#define LINK_STATE_UP 2

struct if_data {
	uint8_t ifi_type, ifi_physical, ifi_addrlen, ifi_hdrlen, ifi_link_state, ifi_vhid;
	uint16_t ifi_datalen;
	uint32_t ifi_mtu, ifi_metric;
	uint64_t ifi_baudrate, ifi_ipackets, ifi_ierrors, ifi_opackets, ifi_oerrors, ifi_collisions, ifi_ibytes, ifi_obytes,
	    ifi_imcasts, ifi_omcasts, ifi_iqdrops, ifi_oqdrops, ifi_noproto, ifi_hwassist, epoch, lastchange[2];
};

#define IFM_ETHER 0x20
#define IFM_NMASK 0xe0
#define IFM_TMASK 0x1f
#define IFM_ETH_XTYPE 0x7800
#define IFM_AUTO 0
#define IFM_FDX 0x00100000
#define IFM_HDX 0x00200000
#define IFM_AVALID 1
#define IFM_ACTIVE 2
#define IFM_TYPE(x) ((x)&IFM_NMASK)
#define IFM_SUBTYPE(x) (IFM_TYPE(x) == IFM_ETHER ? ((x) & (IFM_TMASK | IFM_ETH_XTYPE)) : ((x)&IFM_TMASK))

struct ifmediareq {
	char ifm_name[16];
	int ifm_current, ifm_mask, ifm_status, ifm_active, ifm_count;
	int *ifm_ulist;
};

#define LAGG_PORT_ACTIVE 4
#define LAGG_PROTO_FAILOVER 2
#define LAGG_PROTO_LACP 4
struct lagg_reqport {
	char rp_ifname[16], rp_portname[16];
	uint32_t rp_prio, rp_flags;
	uint16_t lacp[16];
};
struct lagg_reqall {
	char ra_ifname[16];
	unsigned ra_proto;
	size_t ra_size;
	struct lagg_reqport *ra_port;
	int ra_ports;
	uint16_t lacp[16];
};

#define SIOCGIFMEDIA 0xc0306938UL
#define SIOCGIFXMEDIA 0xc030698bUL
#define SIOCGLAGG 0xc050698fUL

/* These exist here too: the files that are built against this header call the tests' own. */
#define ioctl fake_ioctl
#define getifaddrs fake_getifaddrs
#define freeifaddrs fake_freeifaddrs
int fake_ioctl(int fd, unsigned long request, void *arg);
int fake_getifaddrs(struct ifaddrs **list);
void fake_freeifaddrs(struct ifaddrs *list);

#endif
