/* What the driver of a network interface says of its link: SIOCETHTOOL of Linux, which anybody may ask. */
#ifndef HIWAT_AGENT_ETHTOOL_H
#define HIWAT_AGENT_ETHTOOL_H

#include "fetch.h"

/*
 * The answer to ETHTOOL_GLINKSETTINGS, as ethtool_link_parse() takes it, in f->buf until the next fetch. HIWAT_E_MISSING:
 * there is no such interface, or its driver or a kernel before 4.6 has no answer. HIWAT_E_SYS, HIWAT_E_NOMEM.
 */
int ethtool_link(struct fetch *f, const char *interface, struct text *out);

#endif
