/* Batches of simulated hosts, for benchmarks. */
#ifndef HIWAT_BENCH_SIM_HOST_H
#define HIWAT_BENCH_SIM_HOST_H

#include <stdint.h>

struct arena;
struct buf;

struct sim_host {
	unsigned number;
	uint64_t stream;
	unsigned values; /* about 70 at least */
};

/* Appends the encoded batch of this number, from 1; 10 seconds lie between two. Errors are those of batch_encode(). */
int sim_host_batch(const struct sim_host *h, uint64_t sequence, uint64_t wall_ns, struct arena *a, struct buf *out);

#endif
