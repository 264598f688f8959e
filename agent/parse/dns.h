/*
 * What DNS resolvers tell of themselves. Each parser fills one row of out->resolver->servers.
 */
#ifndef HIWAT_AGENT_DNS_H
#define HIWAT_AGENT_DNS_H

#include "parse.h"

/*
 * unbound-control stats_noreset, 1.4 to 1.24 (daemon/remote.c): the totals over threads, and with extended statistics the
 * caches and answers by response code.
 */
parse_fn unbound_stats_parse;
int unbound_stats_recognise(struct text text);

/*
 * BIND's named.stats (bin/named/statschannel.c, before 9.5 server.c): the last dump that has its closing line. Counters
 * are summed over views. Zeros are not printed: what a printed section leaves out is 0.
 */
parse_fn bind_stats_parse;
int bind_stats_recognise(struct text text);

/* BIND's statistics channel, /json/v1 and /json/v1/server, 9.10 and later. */
parse_fn bind_json_parse;
int bind_json_recognise(struct text text);

/* rndc status, 9.3 and later. A soft limit of 0 is none. */
parse_fn rndc_status_parse;
int rndc_status_recognise(struct text text);

/* resolvectl statistics (systemd-resolve --statistics), as text or as JSON. */
parse_fn resolved_statistics_parse;
int resolved_statistics_recognise(struct text text);

/*
 * named-checkconf -p: settings of options that are one number, or else of the views where these agree. Sizes in bytes, times
 * in the setting's own unit where they are plain numbers, in seconds where they carry one.
 */
parse_fn named_conf_parse;
int named_conf_recognise(struct text text);

#endif
