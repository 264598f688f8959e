/* The slope of a noisy line of points. */
#ifndef HIWAT_COLLECTOR_TREND_H
#define HIWAT_COLLECTOR_TREND_H

#define TREND_POINTS 10

/*
 * The step from one point to the next: the median of the slopes of all pairs (Theil and Sen), which noise does not move, or
 * the typical step of the newer half, which a jump does not move; whichever is smaller, and 0 when they disagree. A point
 * that is NAN is not known; NAN when too few are.
 */
double trend_step(const float points[TREND_POINTS]);

#endif
