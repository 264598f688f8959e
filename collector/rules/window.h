/*
 * What is remembered of series over time, in a few buckets: enough for increases, averages, extremes and trends, with a
 * size that does not depend on how often samples come. Times are seconds of the host's boot-time clock.
 */
#ifndef HIWAT_COLLECTOR_WINDOW_H
#define HIWAT_COLLECTOR_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "expr.h"

#define GROWS_WINDOW_SECONDS 300.0  /* how long one increase makes grows() true */
#define GROWS_EPISODE_SECONDS 600.0 /* without an increase for this long a new count begins */

#define WINDOW_BYTES_MAX 512 /* of any shape */

/* What all windows of one function call have in common; worked out when the rules are loaded. */
struct window_shape {
	enum window_kind kind;
	bool counts;    /* works on counters */
	uint32_t cells; /* buckets kept: one more than lie inside, since of the oldest only a part does; 0 without buckets */
	uint32_t columns; /* cells and what else a window keeps, in floats; even */
	uint32_t size;    /* bytes of a struct window, a multiple of 8 */
	double seconds;   /* length */
	double width;     /* of a bucket, seconds */
	double per_width; /* 1 / width */
};

/* A window by itself. */
struct window {
	double last; /* value of the last sample; NAN: none yet; of a counter before a boot: -1 less its value */
	double time; /* its time */
	float cells[];
};

/* How the first sample of a new window is to be taken. */
struct window_start {
	bool from_zero; /* the series is new, not only the window: a counter started at 0 ... */
	double from;    /* ... at this time */
};

struct window_shape window_shape_of(enum window_kind kind, uint64_t window_ns);
void window_init(struct window *w, const struct window_shape *shape);
/* Adds a sample. value is finite, now not before the last sample. */
void
window_push(struct window *w, const struct window_shape *shape, double value, double now, const struct window_start *start);
/* The function's value: UNKNOWN while there is not enough history, FALSE for grows() without growth. */
double window_read(const struct window *w, const struct window_shape *shape, double now);
/* The host booted: counters go on from 0 at time 0, all else is forgotten. */
void window_reboot(struct window *w, const struct window_shape *shape);
/*
 * The series was away since w->time and is back with this value; others of its kind had samples until then. What it counted
 * meanwhile came evenly: moves the window on to that time, so that the next sample continues from there.
 */
void window_catch_up(struct window *w, const struct window_shape *shape, double then, double value, double now);
/* A series that appears with its next sample: its counter stood at 0 at this time. */
void window_begin_at_zero(struct window *w, const struct window_shape *shape, double then);
/* Is this what a window of the shape can hold? For state read from a file. */
bool window_is_sane(const struct window *w, const struct window_shape *shape);

#endif
