/*
 * The snapshot file: for each host its identity, which batches have arrived, its newest values and the state of its rules.
 * Written aside, synced, renamed: a crash leaves the old one or the new one, whole. The last 32 bytes are the SHA-256 of
 * what stands before them.
 */
#ifndef HIWAT_COLLECTOR_SNAPSHOT_H
#define HIWAT_COLLECTOR_SNAPSHOT_H

#include <stdint.h>

#include "hosts.h"
#include "rule.h"

struct snapshot_writer;

/*
 * Begins a new file beside path. Then one call per host, in short pieces under whatever lock guards the hosts, and a finish
 * that makes the file the valid one, or an abandon. HIWAT_E_SYS with errno, HIWAT_E_NOMEM.
 */
int snapshot_begin(const char *path, struct snapshot_writer **writer);
int
snapshot_host(struct snapshot_writer *w, const struct host *host, const struct rule_set *rules, const struct labels *labels);
int snapshot_finish(struct snapshot_writer *w);
void snapshot_abandon(struct snapshot_writer *w);

/*
 * Fills an empty host table. HIWAT_E_NODATA: there is no file, a first start. HIWAT_E_CORRUPT: the file is damaged or of
 * another build and was renamed to path.damaged; what hosts holds then is to be dropped. HIWAT_E_NOMEM, HIWAT_E_SYS.
 */
int snapshot_load(const char *path, struct hosts *hosts, const struct rule_set *rules, struct labels *labels);

#endif
