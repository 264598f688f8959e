#include "ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "ethtool_link.h"

_Static_assert(sizeof(struct ethtool_link_settings) == ETHTOOL_LINK_HEAD, "the head of the answer");
_Static_assert(offsetof(struct ethtool_link_settings, autoneg) == 11, "place of autoneg");
_Static_assert(offsetof(struct ethtool_link_settings, link_mode_masks_nwords) == 15, "place of link_mode_masks_nwords");

/* The kernel is first asked how long its bitmaps are: it answers no words with their number, negated. 0 or an errno. */
static int
ask(int fd, const char *interface, char *answer, size_t *n)
{
	struct ethtool_link_settings head = { .cmd = ETHTOOL_GLINKSETTINGS };
	struct ifreq request = { .ifr_data = answer };

	memcpy(request.ifr_name, interface, strnlen(interface, sizeof(request.ifr_name) - 1));
	memcpy(answer, &head, sizeof(head));
	if (ioctl(fd, SIOCETHTOOL, &request) != 0)
		return errno;
	memcpy(&head, answer, sizeof(head));
	if (head.cmd != ETHTOOL_GLINKSETTINGS || head.link_mode_masks_nwords >= 0)
		return EOPNOTSUPP;
	head = (struct ethtool_link_settings){ .cmd = ETHTOOL_GLINKSETTINGS,
		.link_mode_masks_nwords = (__s8)-head.link_mode_masks_nwords };
	if (head.link_mode_masks_nwords <= 0)
		return EOPNOTSUPP;
	*n = ETHTOOL_LINK_HEAD + (size_t)head.link_mode_masks_nwords * 3 * sizeof(__u32);
	memcpy(answer, &head, sizeof(head));
	return ioctl(fd, SIOCETHTOOL, &request) == 0 ? 0 : errno;
}

int
ethtool_link(struct fetch *f, const char *interface, struct text *out)
{
	uint64_t started_ns = clock_mono_ns();
	size_t n = 0;

	buf_reset(&f->buf);
	char *answer = buf_reserve(&f->buf, ETHTOOL_LINK_MAX);
	if (answer == NULL)
		return fetch_done(f, "ethtool", interface, started_ns, HIWAT_E_NOMEM, 0, 0);
	memset(answer, 0, ETHTOOL_LINK_MAX);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int sys_errno = fd < 0 ? errno : ask(fd, interface, answer, &n);
	if (fd >= 0)
		close(fd);
	int err = sys_errno == EOPNOTSUPP ? HIWAT_E_MISSING : fetch_err(sys_errno);
	if (err == HIWAT_OK) {
		buf_advance(&f->buf, n);
		*out = (struct text){ buf_str(&f->buf), n };
	}
	return fetch_done(f, "ethtool", interface, started_ns, err, sys_errno, n);
}
