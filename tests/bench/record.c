/*
 * Makes a recording of simulated hosts, as a collector would have made it.
 * usage: record DIRECTORY [HOSTS [MINUTES [VALUES]]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "codec.h"
#include "recording.h"
#include "sim_host.h"

#define START_NS (1780000000 * NSEC_PER_SEC)

static unsigned
argument(int argc, char **argv, int n, unsigned otherwise)
{
	return argc > n ? (unsigned)strtoul(argv[n], NULL, 10) : otherwise;
}

int
main(int argc, char **argv)
{
	unsigned hosts = argument(argc, argv, 2, 1000), minutes = argument(argc, argv, 3, 10);
	unsigned values = argument(argc, argv, 4, 125);
	struct recording_options options = {
		.dir = argc > 1 ? argv[1] : "",
		.max_bytes = UINT64_MAX / 2,
		.file_bytes = 64 << 20,
		.file_age_ns = 86400 * NSEC_PER_SEC,
		.max_files = 10000,
	};
	struct recorder *recorder = recorder_new(&options);
	struct arena arena;
	struct buf body;
	int err = recorder == NULL;

	arena_init(&arena, CODEC_ARENA_MAX);
	buf_init(&body, CODEC_BATCH_MAX);
	for (uint64_t second = 0; err == 0 && second < minutes * 60ull; second++) {
		uint64_t now = START_NS + second * NSEC_PER_SEC;
		/* A tenth of the hosts speaks in each second. */
		for (unsigned h = (unsigned)(second % 10); err == 0 && h < hosts; h += 10) {
			const struct sim_host host = { h, 1000 + h, values };
			arena_reset(&arena);
			buf_reset(&body);
			err = sim_host_batch(&host, second / 10 + 1, now, &arena, &body);
			const struct recording_entry e = {
				.type = RECORDING_BATCH,
				.wall_ns = now + h,
				.sent_wall_ns = now,
				.oldest = second / 10 + 1,
				.data = (const uint8_t *)body.data,
				.len = body.len,
			};
			err = err == 0 ? recorder_append(recorder, &e) : err;
		}
		const struct recording_entry tick = { .type = RECORDING_TICK, .wall_ns = now + NSEC_PER_SEC / 2 };
		err = err == 0 ? recorder_append(recorder, &tick) : err;
	}
	if (err != 0)
		fprintf(stderr, "record: %s: %s\n", options.dir, recorder_problem(err));
	recorder_free(recorder);
	arena_fini(&arena);
	buf_fini(&body);
	return err != 0;
}
