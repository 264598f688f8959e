/*
 * What BSD kernels count, copied from their structures into fixed widths: one contract, a file per system behind it
 * (cpu, irq, disk, netif, mount and host, each _freebsd.c and _openbsd.c). Rows live in the arena; errors are those of
 * sysctl.h and fetch.h.
 */
#ifndef HIWAT_AGENT_KERNEL_BSD_H
#define HIWAT_AGENT_KERNEL_BSD_H

#include <stdbool.h>

#include "fetch.h"
#include "sysctl.h"

struct arena;

enum cpu_mode { CPU_USER, CPU_NICE, CPU_SYSTEM, CPU_SPIN, CPU_INTERRUPT, CPU_IDLE, CPU_MODES };

/* Ticks since boot. has_spin: the system tells the time spent waiting for locks from the rest of system. */
struct cpu_ticks {
	uint32_t cpu;
	bool has_spin;
	uint64_t ticks[CPU_MODES];
};

/* Ticks a second of what follows. */
int cpu_hertz(struct fetch *f, uint64_t *hertz);
/* All CPUs together: as a sum or, OpenBSD since 6.4, as the mean of those on line. */
int cpu_ticks_all(struct fetch *f, struct cpu_ticks *out);
/* One row for each CPU that there is. *n is 0 where the system does not tell them apart. */
int cpu_ticks_each(struct fetch *f, struct arena *arena, struct cpu_ticks **rows, size_t *n);

/* An interrupt source as vmstat -i names it. */
struct irq_count {
	struct text name; /* in the arena or in f->buf until the next fetch */
	uint64_t count;
};

int irq_counts(struct fetch *f, struct arena *arena, struct irq_count **rows, size_t *n);

struct disk_count {
	char name[32];
	uint64_t in_flight, completed, busy_us;
};

/* Disks only: no memory disks, tapes, pass-through devices. */
int disk_counts(struct fetch *f, struct arena *arena, struct disk_count **rows, size_t *n);

enum { NETIF_IN, NETIF_OUT };

struct netif_count {
	char name[32];
	uint64_t packets[2], bytes[2], errors[2], drops[2];
	uint64_t mtu;
	uint64_t speed_bits; /* 0: not known, or no link */
	bool is_hardware;    /* has a medium: not a tunnel, a bridge or the loopback */
	bool has_duplex, is_full_duplex, has_autoselect, is_autoselect;
	bool is_group; /* lagg(4), trunk(4) or aggr(4) */
	uint64_t ports, ports_active;
};

int netif_counts(struct fetch *f, struct arena *arena, struct netif_count **rows, size_t *n);

struct mount_row {
	const char *device, *mount, *type;
	bool is_local, is_read_only;
};

/* Never asks a file system, so that it does not hang on one; see mount.h for how full they are. */
int mount_rows(struct fetch *f, struct arena *arena, struct mount_row **rows, size_t *n);

/* Bytes; *limit is 0 where there is no swap space. */
int swap_usage(struct fetch *f, uint64_t *used, uint64_t *limit);
int run_queue(struct fetch *f, uint64_t *length);
/* How many processes there are; HIWAT_E_DENIED where the system shows a user only its own. */
int process_count(struct fetch *f, uint64_t *count);
/* Seconds since 1970. */
int boot_time(struct fetch *f, double *seconds);

/*
 * The kernel's message buffer in the order of time, without the NULs of a buffer that is not yet full; its first line may
 * have lost its beginning. In f->buf until the next fetch.
 */
int message_buffer(struct fetch *f, struct text *out);

#endif
