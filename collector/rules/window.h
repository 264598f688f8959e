/*
 * What is remembered of one series over time, in a few buckets: enough for increases, averages, extremes and trends, with
 * a size that does not depend on how often samples come. Times are of the host's boot-time clock.
 */
#ifndef HIWAT_COLLECTOR_WINDOW_H
#define HIWAT_COLLECTOR_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "expr.h"

#define GROWS_WINDOW_NS (300 * 1000000000ULL) /* how long one increase makes grows() true */
#define GROWS_EPISODE_NS (600 * 1000000000ULL) /* without an increase for this long a new count begins */

struct window {
	double last;      /* value of the last sample */
	uint64_t last_ns; /* its time; of grows(): time of the last increase, 0 none */
	uint32_t bucket;  /* number of the bucket last written */
	uint32_t first_ds; /* tenths of seconds: time of the first sample */
	float aux;        /* last rate, present slope, or the sum of an episode of growth */
	uint16_t count;   /* samples in this bucket */
	uint16_t flags;
	float cells[];    /* by bucket number, in turn */
};

/* How the first sample of a new window is to be taken. */
struct window_start {
	bool from_zero;   /* the series is new, not only the window: a counter started at 0 ... */
	uint64_t from_ns; /* ... at this time */
};

/* Bytes of a window, a multiple of 8. */
size_t window_size(enum window_kind kind, uint64_t window_ns);
/* Adds a sample. w starts zeroed. value is finite. */
void window_push(struct window *w, enum window_kind kind, uint64_t window_ns, double value, uint64_t now_ns,
    const struct window_start *start);
/* The function's value: UNKNOWN while there is not enough history, FALSE for grows() without growth. */
double window_read(const struct window *w, enum window_kind kind, uint64_t window_ns, uint64_t now_ns);
/* The host booted: counters go on from 0 at time 0, all else is forgotten. */
void window_reboot(struct window *w, enum window_kind kind, uint64_t window_ns);

#endif
