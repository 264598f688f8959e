/*
 * What dnsmasq writes to its log on SIGUSR1 (src/cache.c dump_cache(), src/forward.c), in syslog, a journal or bare:
 *
 *	dnsmasq[712]: time 1772500300
 *	dnsmasq[712]: cache size 150, 3/2041 cache insertions re-used unexpired cache entries.
 *	dnsmasq[712]: queries forwarded 812, queries answered locally 4711
 *	dnsmasq[712]: server 192.0.2.1#53: queries sent 700, retried or failed 2	up to 2.86
 *	dnsmasq[712]: server 192.0.2.1#53: queries sent 700, retried 1, failed 2, nxdomain replies 9, avg. latency 12ms
 *
 * The last complete dump counts. What was answered locally are hits, what was forwarded misses. Its cache is one of records:
 * cache="rrset". Other lines of a log are normal and not counted as unknown.
 */
#ifndef HIWAT_AGENT_DNSMASQ_LOG_H
#define HIWAT_AGENT_DNSMASQ_LOG_H

#include "parse.h"

parse_fn dnsmasq_log_parse;
int dnsmasq_log_recognise(struct text text);

#endif
