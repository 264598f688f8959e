/*
 * Compiled twice: against FreeBSD's headers when building for it, and against freebsd.h for the tests. What holds in both
 * is alike in both. 64-bit systems.
 */
#include <sys/param.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sockio.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <sys/devicestat.h>
#include <sys/vmmeter.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_lagg.h>
#include <net/if_media.h>
#include <stddef.h>
#include <vm/vm_param.h>

#include "layout.h"

IS(CTL_KERN, 1);
IS(KERN_PROC, 14);
IS(KERN_PROC_PROC, 8);
IS(CPUSTATES, 5);
IS(CP_USER, 0);
IS(CP_NICE, 1);
IS(CP_SYS, 2);
IS(CP_INTR, 3);
IS(CP_IDLE, 4);
SIZE(clockinfo, 20);
FIELD(clockinfo, hz, 0, 4);
FIELD(clockinfo, stathz, 12, 4);
SIZE(timeval, 16);
SIZE(bintime, 16);
FIELD(bintime, sec, 0, 8);
FIELD(bintime, frac, 8, 8);

IS(DEVSTAT_N_TRANS_FLAGS, 4);
IS(DEVSTAT_TYPE_DIRECT, 0);
IS(DEVSTAT_TYPE_CDROM, 5);
IS(DEVSTAT_TYPE_STORARRAY, 0xc);
IS(DEVSTAT_TYPE_MASK, 0xf);
IS(DEVSTAT_TYPE_PASS, 0x100);
SIZE(devstat, 288);
FIELD(devstat, start_count, 8, 4);
FIELD(devstat, end_count, 12, 4);
FIELD(devstat, device_name, 44, 16);
FIELD(devstat, unit_number, 60, 4);
FIELD(devstat, operations, 96, 32);
FIELD(devstat, busy_time, 192, 16);
FIELD(devstat, device_type, 260, 4);

SIZE(vmtotal, 88);
FIELD(vmtotal, t_rq, 72, 2);
IS(XSWDEV_VERSION, 2);
SIZE(xswdev, 32);
FIELD(xswdev, xsw_version, 0, 4);
FIELD(xswdev, xsw_nblks, 20, 4);
FIELD(xswdev, xsw_used, 24, 4);

IS(MNT_RDONLY, 1);
IS(MNT_LOCAL, 0x1000);
IS(MNT_NOWAIT, 2);
SIZE(statfs, 2344);
FIELD(statfs, f_flags, 8, 8);
FIELD(statfs, f_fstypename, 280, 16);
FIELD(statfs, f_mntfromname, 296, 1024);
FIELD(statfs, f_mntonname, 1320, 1024);

IS(AF_LINK, 18);
IS(LINK_STATE_DOWN, 1);
IS(LINK_STATE_UP, 2);
SIZE(if_data, 152);
FIELD(if_data, ifi_link_state, 4, 1);
FIELD(if_data, ifi_mtu, 8, 4);
FIELD(if_data, ifi_baudrate, 16, 8);
FIELD(if_data, ifi_ipackets, 24, 8);
FIELD(if_data, ifi_ierrors, 32, 8);
FIELD(if_data, ifi_opackets, 40, 8);
FIELD(if_data, ifi_oerrors, 48, 8);
FIELD(if_data, ifi_ibytes, 64, 8);
FIELD(if_data, ifi_obytes, 72, 8);
FIELD(if_data, ifi_iqdrops, 96, 8);
FIELD(if_data, ifi_oqdrops, 104, 8);

IS(IFM_ETHER, 0x20);
IS(IFM_AUTO, 0);
IS(IFM_FDX, 0x100000);
IS(IFM_HDX, 0x200000);
IS(IFM_AVALID, 1);
IS(IFM_ACTIVE, 2);
IS(IFM_TYPE(0xffffffff), 0xe0);
IS(IFM_SUBTYPE(0xffffff3f), 0x781f);
SIZE(ifmediareq, 48);
FIELD(ifmediareq, ifm_current, 16, 4);
FIELD(ifmediareq, ifm_status, 24, 4);
FIELD(ifmediareq, ifm_active, 28, 4);
FIELD(ifmediareq, ifm_count, 32, 4);
IS(SIOCGIFMEDIA, 0xc0306938);
IS(SIOCGIFXMEDIA, 0xc030698b);
IS(SIOCGLAGG, 0xc050698f);
IS(LAGG_PORT_ACTIVE, 4);
IS(LAGG_PROTO_FAILOVER, 2);
IS(LAGG_PROTO_LACP, 4);
SIZE(lagg_reqport, 72);
FIELD(lagg_reqport, rp_portname, 16, 16);
FIELD(lagg_reqport, rp_flags, 36, 4);
SIZE(lagg_reqall, 80);
FIELD(lagg_reqall, ra_proto, 16, 4);
FIELD(lagg_reqall, ra_size, 24, 8);
FIELD(lagg_reqall, ra_port, 32, 8);
FIELD(lagg_reqall, ra_ports, 40, 4);
