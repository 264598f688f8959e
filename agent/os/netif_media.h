/* What the two systems' ways to ask for an interface's medium and for the ports of an aggregate have in common. */
#ifndef HIWAT_AGENT_NETIF_MEDIA_H
#define HIWAT_AGENT_NETIF_MEDIA_H

#include "kernel_bsd.h"

struct ifaddrs;
struct if_data;

/* Fills is_hardware, duplex and autoselect; a medium without link has no duplex. fd: any socket. */
void netif_media(int fd, struct netif_count *row);
/*
 * Fills is_group and the ports. Ports that carry traffic, or would when another fails, are active: of a fail-over group the
 * kernel calls only that one active which carries the traffic now, so that the others are judged by their own link. all: as
 * of getifaddrs(3).
 */
void netif_group(int fd, const struct ifaddrs *all, struct netif_count *row);

/* Whether an aggregate may use the interface as a port: up, and with a link in the words of the system. */
bool netif_is_usable(const struct ifaddrs *all, const char *name);
/* What the system's aggregates take for a link. */
bool netif_has_link(const struct if_data *data);

#endif
