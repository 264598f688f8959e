/* Ten thousand cycles of the whole table over still files leave the heap as it was. */
#include "unit.h"

#include <malloc.h>
#include <stdio.h>

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "runner.h"
#include "tree.h"

#define CYCLES 10000

static void
write_proc(const struct tree *proc, const struct tree *sys)
{
	char mounts[256];

	tree_write(proc, "stat",
	    "cpu  100 0 200 5000 10 0 30 0 0 0\ncpu0 100 0 200 5000 10 0 30 0 0 0\nintr 1000 0 0\nbtime 1700000000\n"
	    "procs_running 1\nsoftirq 50 1 2 3 4 5 6 7 8 9 10\n");
	tree_write(proc, "interrupts",
	    "           CPU0       CPU1       \n  0:         10         20  IO-APIC   2-edge      timer\nERR:          3\n");
	tree_write(proc, "net/dev",
	    "Inter-|   Receive  |  Transmit\n face |bytes    packets|\n  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
	tree_write(proc, "net/netstat", "TcpExt: SyncookiesSent ListenOverflows\nTcpExt: 4 5\n");
	tree_write(proc, "net/sockstat", "sockets: used 12\nTCP: inuse 3 orphan 1 tw 2 alloc 5 mem 10\n");
	tree_write(proc, "net/softnet_stat",
	    "00000010 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000\n");
	tree_write(proc, "diskstats", "   8       0 sda 100 0 0 0 50 0 0 0 2 1000 0\n");
	tree_write(proc, "sys/fs/file-nr", "1000\t0\t65536\n");
	tree_write(proc, "meminfo", "MemTotal:       16000000 kB\nSwapTotal:      2000 kB\nSwapFree:       500 kB\n");
	tree_write(proc, "loadavg", "0.65 0.17 0.06 3/150 8133\n");
	tree_write(proc, "sys/net/netfilter/nf_conntrack_count", "70\n");
	snprintf(mounts, sizeof(mounts), "/dev/a %s ext4 rw 0 0\n", proc->dir);
	tree_write(proc, "self/mounts", mounts);
	tree_write(sys, "block/sda/queue/rotational", "1\n");
	tree_write(sys, "class/net/eth0/mtu", "1500\n");
}

START_TEST(no_growth)
{
	struct tree proc, sys, state;
	struct arena arena;
	struct runner *r;
	size_t after_warm_up = 0, n_records = 0;

	tree_make(&proc);
	tree_make(&sys);
	tree_make(&state);
	write_proc(&proc, &sys);
	tree_write(&proc, "kmsg", "");
	char kmsg[128];
	snprintf(kmsg, sizeof(kmsg), "%s/kmsg", proc.dir);
	struct sampler_config config = { .proc_dir = proc.dir,
		.sys_dir = sys.dir,
		.kmsg_path = kmsg,
		.state_dir = state.dir };
	ck_assert_int_eq(runner_new(&config, samplers, 0, &r), HIWAT_OK);
	/* The one that looks at the real system's sockets, which takes the kernel milliseconds. */
	ck_assert_int_eq(runner_set_interval(r, "tcp", 3600000), HIWAT_OK);
	arena_init(&arena, RUNNER_ARENA_MAX);
	for (unsigned i = 0; i < CYCLES; i++) {
		struct sampler_now now = { .wall_ns = 1, .boot_ns = (100 + 10 * (uint64_t)i) * NSEC_PER_SEC };
		Hiwat__Batch batch = HIWAT__BATCH__INIT;
		arena_reset(&arena);
		ck_assert_int_eq(runner_tick(r, &now, &arena, &batch), HIWAT_OK);
		n_records += batch.n_records;
		if (i == CYCLES / 10)
			after_warm_up = mallinfo2().uordblks;
	}
	size_t at_the_end = mallinfo2().uordblks;
	ck_assert_msg(at_the_end <= after_warm_up + 1024, "%zu bytes, then %zu", after_warm_up, at_the_end);
	/* interrupts, net, conntrack, disk, system and kernel_log at each; the others seldom. */
	ck_assert_uint_ge(n_records, 6 * CYCLES);
	runner_free(r);
	arena_fini(&arena);
	tree_remove(&proc);
	tree_remove(&sys);
	tree_remove(&state);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("sample_heap");
	TCase *tc = tcase_create("sample_heap");

	tcase_set_timeout(tc, 110);
	tcase_add_test(tc, no_growth);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
