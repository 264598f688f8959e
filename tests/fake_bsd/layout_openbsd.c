/*
 * Compiled twice: against OpenBSD's headers when building for it, and against openbsd.h for the tests. What holds in both is
 * alike in both. 64-bit systems.
 */
#include <sys/param.h>
#include <sys/disk.h>
#include <sys/mount.h>
#include <sys/msgbuf.h>
#include <sys/queue.h>
#include <sys/sched.h>
#include <sys/socket.h>
#include <sys/sockio.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <sys/timeout.h>
#include <sys/vmmeter.h>
#include <net/if.h>
#include <net/if_media.h>
#include <netinet/in.h>
#include <netinet/if_ether.h>
#include <net/if_trunk.h>
#include <net/pfvar.h>
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
#include <stddef.h>
#include <uvm/uvmexp.h>

#include "layout.h"

IS(CTL_KERN, 1);
IS(CTL_VM, 2);
IS(CTL_NET, 4);
IS(CTL_HW, 6);
IS(HW_NCPU, 3);
IS(HW_DISKSTATS, 9);
IS(HW_CPUSPEED, 12);
IS(HW_PHYSMEM64, 19);
IS(HW_NCPUONLINE, 25);
IS(KERN_MAXVNODES, 5);
IS(KERN_MAXPROC, 6);
IS(KERN_MAXFILES, 7);
IS(KERN_CLOCKRATE, 12);
IS(KERN_BOOTTIME, 21);
IS(KERN_MAXTHREAD, 25);
IS(KERN_SOMAXCONN, 28);
IS(KERN_SOMINCONN, 29);
IS(KERN_CPTIME, 40);
IS(KERN_NPROCS, 47);
IS(KERN_MSGBUF, 48);
IS(KERN_NFILES, 56);
IS(KERN_NUMVNODES, 58);
IS(KERN_INTRCNT, 63);
IS(KERN_INTRCNT_NUM, 1);
IS(KERN_INTRCNT_CNT, 2);
IS(KERN_INTRCNT_NAME, 3);
IS(KERN_INTRCNT_VECTOR, 4);
IS(KERN_MAXCLUSTERS, 67);
IS(KERN_CPTIME2, 71);
IS(KERN_PFSTATUS, 86);
IS(VM_METER, 1);
IS(VM_UVMEXP, 4);
IS(ICMPCTL_ERRPPSLIMIT, 3);
IS(IPCTL_FORWARDING, 1);
IS(IPCTL_IPPORT_FIRSTAUTO, 7);
IS(IPCTL_IPPORT_LASTAUTO, 8);
IS(IPCTL_IPPORT_HIFIRSTAUTO, 9);
IS(IPCTL_IPPORT_HILASTAUTO, 10);
IS(IPCTL_IFQUEUE, 30);
IS(IFQCTL_MAXLEN, 2);
IS(IFQCTL_DROPS, 3);
IS(TCPCTL_RFC1323, 1);
IS(TCPCTL_SYN_CACHE_LIMIT, 15);
IS(TCPCTL_SYN_BUCKET_LIMIT, 16);
IS(UDPCTL_RECVSPACE, 3);
IS(UDPCTL_SENDSPACE, 4);

IS(CPUSTATES, 6);
IS(CP_SPIN, 3);
IS(CP_INTR, 4);
IS(CP_IDLE, 5);
SIZE(clockinfo, 16);
FIELD(clockinfo, hz, 0, 4);
FIELD(clockinfo, stathz, 8, 4);
SIZE(timeval, 16);

SIZE(diskstats, 112);
FIELD(diskstats, ds_name, 0, 16);
FIELD(diskstats, ds_busy, 16, 4);
FIELD(diskstats, ds_rxfer, 24, 8);
FIELD(diskstats, ds_wxfer, 32, 8);
FIELD(diskstats, ds_time, 96, 16);

IS(MSG_MAGIC, 0x063061);
FIELD(msgbuf, msg_bufx, 8, 8);
FIELD(msgbuf, msg_bufs, 24, 8);
FIELD(msgbuf, msg_bufc, 40, 1);

SIZE(uvmexp, 344);
FIELD(uvmexp, pagesize, 0, 4);
FIELD(uvmexp, swpages, 104, 4);
FIELD(uvmexp, swpginuse, 108, 4);
SIZE(vmtotal, 48);
FIELD(vmtotal, t_rq, 0, 2);

IS(MNT_RDONLY, 1);
IS(MNT_LOCAL, 0x1000);
IS(MNT_NOWAIT, 2);
SIZE(statfs, 568);
FIELD(statfs, f_flags, 0, 4);
FIELD(statfs, f_fstypename, 120, 16);
FIELD(statfs, f_mntonname, 136, 90);
FIELD(statfs, f_mntfromname, 226, 90);

IS(AF_LINK, 18);
IS(LINK_STATE_DOWN, 2);
IS(LINK_STATE_UP, 4);
SIZE(if_data, 144);
FIELD(if_data, ifi_link_state, 3, 1);
FIELD(if_data, ifi_mtu, 4, 4);
FIELD(if_data, ifi_baudrate, 16, 8);
FIELD(if_data, ifi_ipackets, 24, 8);
FIELD(if_data, ifi_ierrors, 32, 8);
FIELD(if_data, ifi_opackets, 40, 8);
FIELD(if_data, ifi_oerrors, 48, 8);
FIELD(if_data, ifi_ibytes, 64, 8);
FIELD(if_data, ifi_obytes, 72, 8);
FIELD(if_data, ifi_iqdrops, 96, 8);
FIELD(if_data, ifi_oqdrops, 104, 8);

IS(IFM_ETHER, 0x100);
IS(IFM_AUTO, 0);
IS(IFM_FDX, 0x10000000000);
IS(IFM_HDX, 0x20000000000);
IS(IFM_AVALID, 1);
IS(IFM_ACTIVE, 2);
IS(IFM_TYPE(0xffffffffffff), 0xff00);
IS(IFM_SUBTYPE(0xffffffffffff), 0xff);
SIZE(ifmediareq, 64);
FIELD(ifmediareq, ifm_current, 16, 8);
FIELD(ifmediareq, ifm_status, 32, 8);
FIELD(ifmediareq, ifm_active, 40, 8);
FIELD(ifmediareq, ifm_count, 48, 4);
IS(SIOCGIFMEDIA, 0xc0406938);
IS(SIOCGTRUNK, 0xc050698f);
IS(TRUNK_PORT_ACTIVE, 4);
IS(TRUNK_PROTO_FAILOVER, 2);
IS(TRUNK_PROTO_LACP, 5);
SIZE(trunk_reqport, 72);
FIELD(trunk_reqport, rp_portname, 16, 16);
FIELD(trunk_reqport, rp_flags, 36, 4);
SIZE(trunk_reqall, 80);
FIELD(trunk_reqall, ra_proto, 16, 4);
FIELD(trunk_reqall, ra_size, 24, 8);
FIELD(trunk_reqall, ra_port, 32, 8);
FIELD(trunk_reqall, ra_ports, 40, 4);

IS(PFRES_MAX, 17);
IS(LCNT_MAX, 10);
IS(FCNT_MAX, 3);
IS(SCNT_MAX, 3);
IS(FCNT_STATE_SEARCH, 0);
IS(FCNT_STATE_INSERT, 1);
IS(FCNT_STATE_REMOVALS, 2);
SIZE(pf_status, 520);
FIELD(pf_status, counters, 0, 136);
FIELD(pf_status, lcounters, 136, 80);
FIELD(pf_status, fcounters, 216, 24);
FIELD(pf_status, scounters, 240, 24);
FIELD(pf_status, since, 440, 8);
FIELD(pf_status, running, 448, 4);
FIELD(pf_status, states, 452, 4);
FIELD(pf_status, states_halfopen, 456, 4);
FIELD(pf_status, src_nodes, 460, 4);
FIELD(pf_status, fragments, 464, 4);
