/* What the two systems' ways to ask for an interface's medium and for the ports of an aggregate have in common. */
#ifndef HIWAT_AGENT_NETIF_MEDIA_H
#define HIWAT_AGENT_NETIF_MEDIA_H

#include "kernel_bsd.h"

/* Fills is_hardware, duplex and autoselect; a medium without link has no duplex. fd: any socket. */
void netif_media(int fd, struct netif_count *row);
/* Fills is_group and the ports. Ports that carry traffic, or would when another fails, are active. */
void netif_group(int fd, struct netif_count *row);

#endif
