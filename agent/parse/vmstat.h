/*
 * Outputs of vmstat(8) of the BSDs. Shapes as printed by usr.bin/vmstat/vmstat.c of FreeBSD 4 to 15, OpenBSD 3.x to 7.x,
 * NetBSD and DragonFly. Of several dumps in one text the last complete one counts.
 */
#ifndef HIWAT_AGENT_VMSTAT_H
#define HIWAT_AGENT_VMSTAT_H

#include "parse.h"

/* vmstat -i: out->interrupt->{sources,all}. Repeated blocks of -w are differences: only the first one counts. */
parse_fn vmstat_i_parse;
int vmstat_i_recognise(struct text text);

/* vmstat --libxo json -i, FreeBSD 11 and later: the same. */
parse_fn vmstat_i_json_parse;
int vmstat_i_json_recognise(struct text text);

/* vmstat -z of FreeBSD: out->net->zones. */
parse_fn vmstat_z_parse;
int vmstat_z_recognise(struct text text);

#endif
