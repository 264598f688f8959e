/*
 * Windows of one shape that take their samples together: they are worked on cell by cell, all windows at once. A window by
 * itself is a bank of one.
 */
#ifndef HIWAT_COLLECTOR_BANK_H
#define HIWAT_COLLECTOR_BANK_H

#include "window.h"

#define WINDOW_MINUTES_MAX 120
#define WINDOW_CELLS_MAX (WINDOW_MINUTES_MAX + 1)

/* Columns behind the cells. */
#define COLUMN_COVERED(s) ((s)->cells)   /* rate, delta: seconds that samples cover, up to the window's length */
#define COLUMN_LAST(s) ((s)->cells + 1)  /* delta: the last value */
#define COLUMN_COUNT(s) ((s)->cells)     /* avg, trend: samples in the newest bucket */
#define COLUMN_SLOPE(s) ((s)->cells + 1) /* trend */
#define COLUMN_AMOUNT 0                  /* grows: increase since growth began */
#define COLUMN_AGE 1                     /* grows: seconds since the last increase, infinite without one, NAN: no sample */

/* Windows side by side: cells[column * n + i] is of the i-th. */
struct bank {
	float *cells;
	uint32_t n;
	double time; /* of their last sample */
};

/*
 * What a counter increased by since *last, which becomes value: NAN when there was no sample before. After a boot counts of
 * the kernel began anew; what an agent keeps on disk did not: a value that is no lower than before goes on from there.
 * Stepping back without a boot is somebody's reset: nothing is known to have happened.
 */
static inline double
counter_increase(double *last, double value)
{
	double before = *last, increase;

	if (!(value - value == 0))
		return 0; /* not a number to count with */
	if (before < 0)
		before = value >= -1 - before ? -1 - before : 0;
	increase = value - before;
	*last = value;
	return increase < 0 ? 0 : increase;
}

/*
 * Adds samples[from[i]] to the i-th window: a counter's increase, a gauge's value. b->time is still that of the samples
 * before; the caller moves it on. now is later.
 */
void
bank_push(const struct window_shape *shape, const struct bank *b, const double *samples, const uint32_t *from, double now);
/* Reads n windows from the first on. */
void bank_read(const struct window_shape *shape, const struct bank *b, uint32_t first, uint32_t n, double now, double *out);
/* Copies a window out of or into a bank; last and time stay. */
void bank_get(const struct window_shape *shape, const struct bank *b, uint32_t i, struct window *w);
void bank_set(const struct window_shape *shape, const struct bank *b, uint32_t i, const struct window *w);

/* Makes a window one that has no increase yet: its sums are known to be 0. */
void bank_begin(const struct window_shape *shape, const struct bank *b, uint32_t i);
/* Opens the bucket of this time; those between the last sample and this one are empty. Its number. */
uint32_t bank_open(const struct window_shape *shape, const struct bank *b, double now);

#endif
