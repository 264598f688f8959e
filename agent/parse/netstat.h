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

/* netstat -s: out->net->{listen,syn_cookies,syncache,tcp_connections}; Linux's netstat -s, too. */
parse_fn netstat_s_parse;
int netstat_s_recognise(struct text text);

/* netstat -L of FreeBSD, NetBSD and macOS: out->net->listen_queues. */
parse_fn netstat_listen_parse;
int netstat_listen_recognise(struct text text);

/* netstat -i, with any of -b, -d, -n and -W: out->net->interfaces; Linux's netstat -i, too. */
parse_fn netstat_i_parse;
int netstat_i_recognise(struct text text);

/*
 * ifconfig, with -m: out->net->interfaces (mtu, speed, max_speed, full_duplex, autoselect) and out->net->link_groups of
 * lagg(4), trunk(4) and aggr(4). An interface without link has no speed. Of a fail-over group those ports are active that
 * are up and have a carrier; not known where the text shows the group alone. Of several dumps the last says what counts.
 */
parse_fn ifconfig_parse;
int ifconfig_recognise(struct text text);

#endif
