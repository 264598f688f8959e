/*
 * The kernel's answer to ETHTOOL_GLINKSETTINGS (struct ethtool_link_settings and the bitmaps behind it, Linux'
 * include/uapi/linux/ethtool.h): what an interface could do, and whether it negotiates.
 */
#ifndef HIWAT_AGENT_ETHTOOL_LINK_H
#define HIWAT_AGENT_ETHTOOL_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "scan.h"

#define ETHTOOL_LINK_HEAD 48       /* bytes before the bitmaps */
#define ETHTOOL_LINK_WORDS_MAX 127 /* of each of the three bitmaps, in the kernel's signed byte */
#define ETHTOOL_LINK_MAX (ETHTOOL_LINK_HEAD + 3 * 4 * ETHTOOL_LINK_WORDS_MAX)

struct ethtool_link {
	uint64_t max_speed_mbits; /* of the modes that are supported; 0: none of those known here is */
	bool has_autonegotiation, is_autonegotiating;
};

/*
 * Both facts stay absent when the driver names no mode: a virtual interface then has made-up settings. HIWAT_E_TRUNCATED:
 * fewer bytes than their own lengths say. HIWAT_E_FORMAT: no bitmaps.
 */
int ethtool_link_parse(struct text answer, struct ethtool_link *out);

#endif
