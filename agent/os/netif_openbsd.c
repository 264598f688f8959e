#include <string.h>
#include <sys/types.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sockio.h>
#include <net/if.h>
#include <net/if_media.h>
#include <netinet/in.h>
#include <netinet/if_ether.h>
#include <net/if_trunk.h>

#include "netif_media.h"

#define PORTS_MAX 64

void
netif_media(int fd, struct netif_count *row)
{
	struct ifmediareq request = { .ifm_count = 0 };

	memcpy(request.ifm_name, row->name, strnlen(row->name, sizeof(request.ifm_name) - 1));
	if (ioctl(fd, SIOCGIFMEDIA, &request) != 0)
		return;
	row->is_hardware = true;
	row->has_autoselect = IFM_TYPE(request.ifm_current) == IFM_ETHER;
	row->is_autoselect = IFM_SUBTYPE(request.ifm_current) == IFM_AUTO;
	row->has_duplex = (request.ifm_status & IFM_AVALID) != 0 && (request.ifm_status & IFM_ACTIVE) != 0 &&
	    (request.ifm_active & (IFM_FDX | IFM_HDX)) != 0;
	row->is_full_duplex = (request.ifm_active & IFM_FDX) != 0;
}

/* TRUNK_PORTACTIVE() in the kernel. */
bool
netif_has_link(const struct if_data *data)
{
	return LINK_STATE_IS_UP(data->ifi_link_state);
}

/* aggr(4) answers the requests of trunk(4). */
void
netif_group(int fd, const struct ifaddrs *all, struct netif_count *row)
{
	struct trunk_reqport ports[PORTS_MAX];
	struct trunk_reqall request = { .ra_size = sizeof(ports), .ra_port = ports };

	if (strncmp(row->name, "trunk", 5) != 0 && strncmp(row->name, "aggr", 4) != 0)
		return;
	memcpy(request.ra_ifname, row->name, strnlen(row->name, sizeof(request.ra_ifname) - 1));
	if (ioctl(fd, SIOCGTRUNK, &request) != 0 || request.ra_ports < 0 || request.ra_ports > PORTS_MAX)
		return;
	row->is_group = true;
	row->is_hardware = true;
	row->ports = (uint64_t)request.ra_ports;
	for (int i = 0; i < request.ra_ports; i++) {
		ports[i].rp_portname[sizeof(ports[i].rp_portname) - 1] = '\0';
		row->ports_active += (ports[i].rp_flags & TRUNK_PORT_ACTIVE) != 0 ||
		    (request.ra_proto == TRUNK_PROTO_FAILOVER && netif_is_usable(all, ports[i].rp_portname));
	}
}
