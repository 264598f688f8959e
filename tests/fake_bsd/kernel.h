/*
 * A BSD kernel of the tests' own making, in place of sysctl(3), getifaddrs(3), getfsstat(2), ioctl(2), the programs that the
 * agent runs and geteuid(2). What is not set does not exist: ENOENT.
 */
#ifndef HIWAT_TESTS_KERNEL_H
#define HIWAT_TESTS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Forgets everything; the user is an ordinary one. Everything here aborts the test on failure. */
void kernel_reset(void);
void kernel_set_root(bool is_root);

/*
 * The bytes of a variable. name: as FreeBSD names it ("kern.cp_time", "vm.swap_info.0" for a row), or its numbers with dots
 * between, as OpenBSD's are ("1.40"). A second call replaces the first.
 */
void kernel_set(const char *name, const void *data, size_t n);
void kernel_set_int(const char *name, int value);
void kernel_set_u64(const char *name, uint64_t value);
void kernel_set_text(const char *name, const char *value);
void kernel_unset(const char *name);
/* Reading it fails so; times < 0: always, else so many times. */
void kernel_fail(const char *name, int sys_errno, int times);
/* How often a variable was read or tried to be read. */
unsigned kernel_reads(const char *name);

/* A program, named by its whole command line: its output, or the error of fetch_run() with its reason. */
void kernel_program(const char *command, int err, const char *text);
unsigned kernel_runs(const char *command);

struct kernel_netif {
	const char *name;
	bool is_up, has_medium, is_full_duplex, is_autoselect;
	uint64_t speed_bits, packets[2], bytes[2], errors[2], drops[2];
	uint32_t mtu;
	int ports, ports_active; /* of an aggregate */
	bool is_failover;        /* of its ports; else it speaks LACP */
	const char *port_names[4];
	bool is_off; /* set down by somebody, whatever its link */
};

struct kernel_mount {
	const char *device, *mount, *type;
	bool is_local, is_read_only;
	int sys_errno;                                                       /* of statvfs(2); 0: it answers */
	uint64_t blocks, blocks_free, blocks_available, inodes, inodes_free; /* blocks of 512 bytes */
};

/* Borrowed until the next reset. */
void kernel_netifs(const struct kernel_netif *netifs, size_t n);
void kernel_mounts(const struct kernel_mount *mounts, size_t n);

#endif
