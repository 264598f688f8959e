/* Time as values: callers read the clock once and hand the result down, so that tests can hand down another. */
#ifndef HIWAT_BASE_CLOCK_H
#define HIWAT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

/* Nanoseconds of one of clock_gettime(2)'s clocks; these never fail for the clocks below. */
static inline uint64_t
clock_ns(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* Wall time since 1970. */
static inline uint64_t
clock_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* Since boot, suspended time included where the system can tell; steps of the wall clock do not touch it. */
static inline uint64_t
clock_boot_ns(void)
{
#if defined(CLOCK_BOOTTIME)
	return clock_ns(CLOCK_BOOTTIME);
#else
	return clock_ns(CLOCK_MONOTONIC);
#endif
}

static inline uint64_t
clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* CPU time used by this process. */
static inline uint64_t
clock_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* CPU time used by the calling thread. */
static inline uint64_t
clock_thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
