/* getifaddrs(3): one entry of family AF_LINK for each interface, with struct if_data. */
#include <errno.h>
#include <ifaddrs.h>
#include <string.h>
#include <sys/types.h>
#include <sys/time.h>
#include <sys/socket.h>
#include <net/if.h>
#include <unistd.h>

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "kernel_bsd.h"
#include "netif_media.h"

#define NETIFS_MAX 8192

static void
copy_counts(const struct ifaddrs *entry, struct netif_count *row)
{
	struct if_data d;

	memcpy(&d, entry->ifa_data, sizeof(d));
	memcpy(row->name, entry->ifa_name, strnlen(entry->ifa_name, sizeof(row->name) - 1));
	row->packets[NETIF_IN] = d.ifi_ipackets;
	row->packets[NETIF_OUT] = d.ifi_opackets;
	row->bytes[NETIF_IN] = d.ifi_ibytes;
	row->bytes[NETIF_OUT] = d.ifi_obytes;
	row->errors[NETIF_IN] = d.ifi_ierrors;
	row->errors[NETIF_OUT] = d.ifi_oerrors;
	row->drops[NETIF_IN] = d.ifi_iqdrops;
	row->drops[NETIF_OUT] = d.ifi_oqdrops;
	row->mtu = d.ifi_mtu;
	row->speed_bits = d.ifi_link_state == LINK_STATE_DOWN ? 0 : d.ifi_baudrate;
}

bool
netif_is_usable(const struct ifaddrs *all, const char *name)
{
	struct if_data d;

	for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
		if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_LINK || i->ifa_data == NULL ||
		    strcmp(i->ifa_name, name) != 0)
			continue;
		memcpy(&d, i->ifa_data, sizeof(d));
		return (i->ifa_flags & IFF_UP) != 0 && netif_has_link(&d);
	}
	return false;
}

int
netif_counts(struct fetch *f, struct arena *arena, struct netif_count **rows, size_t *n)
{
	uint64_t started_ns = clock_mono_ns();
	struct ifaddrs *list = NULL;
	int sys_errno = 0, err = HIWAT_OK, fd = -1;
	size_t total = 0, kept = 0;

	if (getifaddrs(&list) != 0) {
		sys_errno = errno;
		err = fetch_err(sys_errno);
		goto out;
	}
	for (const struct ifaddrs *i = list; i != NULL && total < NETIFS_MAX; i = i->ifa_next)
		total += i->ifa_addr != NULL && i->ifa_addr->sa_family == AF_LINK && i->ifa_data != NULL;
	struct netif_count *out = arena_calloc(arena, total, sizeof(*out));
	if (out == NULL) {
		err = HIWAT_E_NOMEM;
		goto out;
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	for (const struct ifaddrs *i = list; i != NULL && kept < total; i = i->ifa_next) {
		if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_LINK || i->ifa_data == NULL)
			continue;
		copy_counts(i, &out[kept]);
		if (fd >= 0) {
			netif_media(fd, &out[kept]);
			netif_group(fd, list, &out[kept]);
		}
		kept++;
	}
	*rows = out;
	*n = kept;
out:
	if (fd >= 0)
		close(fd);
	if (list != NULL)
		freeifaddrs(list);
	return fetch_done(f, "getifaddrs", "all", started_ns, err, sys_errno, kept);
}
