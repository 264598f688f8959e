#include "trend.h"

#include <math.h>
#include <stdbool.h>

#define POINTS_MIN 5
#define STEPS_MIN 3

/* Keeps a list in order. */
static void
insert(double *list, unsigned n, double v)
{
	for (; n > 0 && list[n - 1] > v; n--)
		list[n] = list[n - 1];
	list[n] = v;
}

/* Pairwise slopes of the points; the median, or NAN with fewer than two points. */
static double
median_slope(const double *points)
{
	double slopes[TREND_POINTS * (TREND_POINTS - 1) / 2];
	unsigned n = 0;

	for (unsigned i = 0; i < TREND_POINTS; i++) {
		for (unsigned j = i + 1; j < TREND_POINTS; j++) {
			if (!isnan(points[i]) && !isnan(points[j]))
				insert(slopes, n++, (points[j] - points[i]) / (j - i));
		}
	}
	if (n == 0)
		return NAN;
	return n % 2 == 1 ? slopes[n / 2] : (slopes[n / 2 - 1] + slopes[n / 2]) / 2;
}

/*
 * The median step from one point of the newer half to the next; of an even number the one that says less. A single jump
 * shows in two steps at most and leaves 0. NAN when too few points are known.
 */
static double
typical_step(const double *points, bool up)
{
	double steps[TREND_POINTS];
	unsigned n = 0;

	for (unsigned i = TREND_POINTS / 2; i + 1 < TREND_POINTS; i++) {
		if (!isnan(points[i]) && !isnan(points[i + 1]))
			insert(steps, n++, points[i + 1] - points[i]);
	}
	if (n < STEPS_MIN)
		return NAN;
	return up ? steps[(n - 1) / 2] : steps[n / 2];
}

double
trend_step(const float given[TREND_POINTS])
{
	double points[TREND_POINTS];
	unsigned known = 0, level = 0;

	for (unsigned i = 0; i < TREND_POINTS; i++) {
		points[i] = (double)given[i];
		known += !isnan(given[i]);
		level += given[i] == given[TREND_POINTS - 1];
	}
	if (level == TREND_POINTS)
		return 0; /* most limits and many uses */
	if (known < POINTS_MIN)
		return NAN;
	double newer = typical_step(points, true), whole;
	if (isnan(newer))
		return NAN;
	whole = median_slope(points);
	if (whole < 0)
		newer = typical_step(points, false);
	if (whole > 0 && newer > 0)
		return whole < newer ? whole : newer;
	if (whole < 0 && newer < 0)
		return whole > newer ? whole : newer;
	return 0;
}
