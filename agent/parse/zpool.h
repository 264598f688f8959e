/* ZFS pools, as zpool tells of them on Linux, FreeBSD and Solaris. Out: out->storage->zpools. */
#ifndef HIWAT_AGENT_ZPOOL_H
#define HIWAT_AGENT_ZPOOL_H

#include "parse.h"

/*
 * zpool status, with or without -v, -x, -p, from pools of 2008 to OpenZFS 2.4 (cmd/zpool/zpool_main.c). Error counts are
 * rounded by zpool when they have a unit of base 1024. Times without a zone are those of in->tz_seconds. A device's log role
 * is counted by device, a mirror being two of them. A pool that occurs again begins a new output: the last whole one counts.
 */
parse_fn zpool_status_parse;
int zpool_status_recognise(struct text text);

/* zpool status -j, OpenZFS 2.3 and later, with or without -p and --json-int. */
parse_fn zpool_status_json_parse;
int zpool_status_json_recognise(struct text text);

#endif
