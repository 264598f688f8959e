/*
 * Series for tests that hold the engine against Prometheus, made from a file of lines:
 *
 *	group NAME            what follows rises and falls together, by a curve of its own for each host
 *	KIND SERIES NUMBERS   with s, the height of the curve, mostly 0 to 1.1:
 *	  gauge A B           A + B s, whole
 *	  real A B            A + B s
 *	  count A B           a counter, A + B s a second when that is above 0
 *	  pulse X N           a counter that grows by N with each record while s >= X
 *	  birth X N           the same, but not there before
 *	  flip X A B          A, and B while s >= X
 *	  age A B             the time A + B s seconds ago
 *	  moment X A B        this second of the test, A, and B while s >= X; 0 is never
 *
 * Now and then a group vanishes while it is high.
 */
#ifndef HIWAT_TESTS_PROMETHEUS_SERIES_H
#define HIWAT_TESTS_PROMETHEUS_SERIES_H

#include <stdbool.h>

#define SERIES_MAX 400
#define GROUPS_MAX 120
#define SERIES_TICKS_MAX 2000

enum series_kind {
	SERIES_GAUGE,
	SERIES_REAL,
	SERIES_COUNT,
	SERIES_PULSE,
	SERIES_BIRTH,
	SERIES_FLIP,
	SERIES_AGE,
	SERIES_MOMENT
};

struct series {
	enum series_kind kind;
	unsigned group;
	char name[200];
	double args[3];
};

struct series_file {
	struct series series[SERIES_MAX];
	unsigned n, n_groups;
};

/* False after a complaint on standard error. */
bool series_load(const char *path, struct series_file *f);
/* The curve of a group on a host, one height for each tick; NAN: vanished. The same for the same numbers. */
void series_curve(unsigned group, unsigned host, double *heights, unsigned n_ticks);
/* The series' values along a curve; NAN: none. */
void series_values(const struct series *s, const double *heights, unsigned n_ticks, double tick_seconds, double *values);

#endif
