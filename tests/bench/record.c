/*
 * Makes a recording of simulated hosts, as a collector would have made it, then runs a command on it, such as hiwat-collector
 * replay, and prints the CPU time that it took.
 * usage: record DIRECTORY HOSTS MINUTES VALUES [COMMAND ARGUMENT ...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "codec.h"
#include "recording.h"
#include "sim_host.h"

#define START_NS (1780000000 * NSEC_PER_SEC)

/* argv ends in a place for the directory. */
static int
run(char **argv, char *dir, uint64_t batches, uint64_t bytes)
{
	struct rusage usage;
	int status, n = 0;

	while (argv[n] != NULL)
		n++;
	char **with_dir = calloc((size_t)n + 2, sizeof(char *));
	if (with_dir == NULL)
		return 1;
	for (int i = 0; i < n; i++)
		with_dir[i] = argv[i];
	with_dir[n] = dir;
	pid_t pid = fork();
	if (pid == 0) {
		if (freopen("/dev/null", "w", stdout) != NULL)
			execvp(with_dir[0], with_dir);
		_exit(127);
	}
	free(with_dir);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "record: %s failed\n", argv[0]);
		return 1;
	}
	getrusage(RUSAGE_CHILDREN, &usage);
	double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	printf("%llu batches of %llu bytes: %.2f s of CPU, %.2f us a batch, %.0f batches/s on one core\n",
	    (unsigned long long)batches, (unsigned long long)(bytes / batches), seconds, seconds * 1e6 / (double)batches,
	    (double)batches / seconds);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc < 5) {
		fputs("usage: record DIRECTORY HOSTS MINUTES VALUES [COMMAND ARGUMENT ...]\n", stderr);
		return 2;
	}
	unsigned hosts = (unsigned)strtoul(argv[2], NULL, 10), minutes = (unsigned)strtoul(argv[3], NULL, 10);
	unsigned values = (unsigned)strtoul(argv[4], NULL, 10);
	struct recording_options options = {
		.dir = argv[1],
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
	struct recorder_counts counts = { 0 };
	if (recorder != NULL)
		recorder_count(recorder, &counts);
	recorder_free(recorder);
	arena_fini(&arena);
	buf_fini(&body);
	if (err != 0 || argc == 5 || counts.batches == 0)
		return err != 0;
	return run(argv + 5, argv[1], counts.batches, counts.bytes);
}
