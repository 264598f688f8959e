/*
 * Outputs of netstat(1) and ifconfig(8). Shapes as printed by usr.bin/netstat/{mbuf,inet,if}.c of FreeBSD 2.x to 15 (Junos
 * and pfSense alike), OpenBSD 3.x to 7.x, NetBSD, DragonFly and macOS. Of several dumps in one text the last complete one
 * counts; a text that breaks off loses only what its last line leaves uncertain.
 */
#ifndef HIWAT_AGENT_NETSTAT_H
#define HIWAT_AGENT_NETSTAT_H

#include "parse.h"

/* netstat -m: out->mbuf. */
parse_fn netstat_m_parse;
int netstat_m_recognise(struct text text);

/* netstat --libxo json -m, FreeBSD 11 and later: out->mbuf. Containers need not balance. */
parse_fn netstat_m_json_parse;
int netstat_m_json_recognise(struct text text);

#endif
