/*
 * Files of Linux's /proc. Shapes from the kernel's own printers, 2.6.32 to 6.x: kernel/irq/proc.c, arch/.../irq.c,
 * fs/proc/{stat,meminfo,loadavg,softirqs}.c, net/ipv4/proc.c, net/core/net-procfs.c, block/genhd.c,
 * net/netfilter/nf_conntrack_standalone.c. Of several dumps in one text the last one counts.
 */
#ifndef HIWAT_AGENT_PROC_H
#define HIWAT_AGENT_PROC_H

#include <stdbool.h>

#include "parse.h"

/* interrupts: out->interrupt->sources, summed over CPUs; device is what stands behind the last two or more blanks. */
parse_fn proc_interrupts_parse;
int proc_interrupts_recognise(struct text text);

/* softirqs: out->interrupt->softirqs, summed over CPUs, named as printed. */
parse_fn proc_softirqs_parse;
int proc_softirqs_recognise(struct text text);

/*
 * stat: out->interrupt->{cpu,cores,all,softirqs} in seconds by in->hz (0: 100), out->system->run_queue and
 * out->settings->boot; a sampler keeps what is its own.
 */
parse_fn proc_stat_parse;
int proc_stat_recognise(struct text text);

/* net/netstat: out->net->{listen,syn_cookies,tcp_events}; of TcpExt only the counters that tell of exhaustion. */
parse_fn proc_net_netstat_parse;
int proc_net_netstat_recognise(struct text text);

/* net/sockstat, net/sockstat6: out->net->{sockets,socket_memory}; pages become bytes by in->page_size (0: 4096). */
parse_fn proc_sockstat_parse;
int proc_sockstat_recognise(struct text text);

/* net/softnet_stat: out->net->softnet, summed over CPUs. */
parse_fn proc_softnet_stat_parse;
int proc_softnet_stat_recognise(struct text text);

/* net/stat/nf_conntrack, net/stat/ip_conntrack: out->conntrack->{entries,events}, events summed over CPUs. */
parse_fn proc_nf_conntrack_stat_parse;
int proc_nf_conntrack_stat_recognise(struct text text);

/* net/dev: out->net->interfaces. drops of "in" are drop and fifo together as printed under "drop". */
parse_fn proc_net_dev_parse;

/*
 * diskstats: out->storage->disks with in_flight, completed_total (reads, writes, discards, flushes) and
 * busy_seconds_total, one row a block device, partitions included (rows of 2.6.24 and older partitions hold too little and
 * are skipped): only the caller can tell a disk from a partition.
 */
parse_fn proc_diskstats_parse;

/* meminfo: out->settings->memory, and out->system->swap where there is swap space. */
parse_fn proc_meminfo_parse;

/* sys/fs/file-nr: out->system->files; the limit is absent where it is the largest number there is. */
parse_fn proc_file_nr_parse;

/* loadavg: out->system->run_queue, and out->system->processes: threads, which kernel.threads-max limits. */
parse_fn proc_loadavg_parse;

/* One row of /proc/mounts, octal escapes resolved; in the arena. */
struct proc_mount {
	const char *device, *mount, *type, *options;
};

/*
 * The next row of *rest, which goes on behind it; rows of another shape are skipped. 1: *mount is filled, 0: end of the
 * text, HIWAT_E_NOMEM.
 */
int proc_mounts_next(struct text *rest, struct arena *arena, struct proc_mount *mount);

#endif
