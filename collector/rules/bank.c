#include "bank.h"

#include "trend.h"

static bool
is_sum(const struct window_shape *s)
{
	return s->kind == WINDOW_RATE || s->kind == WINDOW_INCREASE || s->kind == WINDOW_ACTIVE || s->kind == WINDOW_CHANGES;
}

static void
fill(float *column, uint32_t n, float v)
{
	for (uint32_t i = 0; i < n; i++)
		column[i] = v;
}

void
bank_begin(const struct window_shape *s, const struct bank *b, uint32_t i)
{
	for (uint32_t c = 0; is_sum(s) && c < s->cells; c++)
		b->cells[(size_t)c * b->n + i] = 0;
	if (s->kind == WINDOW_RATE)
		b->cells[(size_t)COLUMN_COVERED(s) * b->n + i] = 0;
	if (s->kind == WINDOW_GROWS)
		b->cells[(size_t)COLUMN_AGE * b->n + i] = INFINITY;
}

static uint32_t
bucket_of(const struct window_shape *s, double now)
{
	double b = now * s->per_width;

	return b < 4e9 ? (uint32_t)b : 4000000000u;
}

/* The slopes of all windows anew; of the buckets before this one. */
static void
update_slopes(const struct window_shape *s, const struct bank *b, uint32_t bucket)
{
	const float *cells = b->cells;

	for (uint32_t i = 0; i < b->n; i++) {
		float points[TREND_POINTS];
		for (uint32_t p = 0; p < TREND_POINTS; p++) {
			uint32_t back = TREND_POINTS - p;
			points[p] = back <= bucket ? cells[(size_t)((bucket - back) % s->cells) * b->n + i] : NAN;
		}
		b->cells[(size_t)COLUMN_SLOPE(s) * b->n + i] = (float)(trend_step(points) * s->per_width);
	}
}

uint32_t
bank_open(const struct window_shape *s, const struct bank *b, double now)
{
	uint32_t bucket = bucket_of(s, now), moved = bucket - bucket_of(s, b->time);

	if (moved == 0)
		return bucket;
	for (uint32_t i = 0; i < moved && i < s->cells; i++)
		fill(&b->cells[(size_t)((bucket - i) % s->cells) * b->n], b->n, is_sum(s) ? 0 : NAN);
	if (s->kind == WINDOW_AVG || s->kind == WINDOW_TREND)
		fill(&b->cells[(size_t)COLUMN_COUNT(s) * b->n], b->n, 0);
	if (s->kind == WINDOW_TREND)
		update_slopes(s, b, bucket);
	return bucket;
}

/* Shares increases among the buckets between the last samples and these, as if they had come evenly. */
static void
spread_increases(const struct window_shape *s, const struct bank *b, const double *samples, const uint32_t *from, double now)
{
	uint32_t newest = bank_open(s, b, now), n = b->n;
	double then = b->time;

	for (uint32_t back = 0; back < s->cells && back <= newest; back++) {
		double start = (newest - back) * s->width, end = start + s->width, share = 1;
		float *column = &b->cells[(size_t)((newest - back) % s->cells) * n];
		if (start > then || back > 0)
			share = ((end < now ? end : now) - (start > then ? start : then)) / (now - then);
		for (uint32_t i = 0; share > 0 && i < n; i++) {
			double increase = samples[from[i]];
			column[i] += increase > 0 ? (float)(increase * share) : 0;
		}
		if (start <= then)
			break;
	}
	if (s->kind != WINDOW_RATE)
		return;
	float *covered = &b->cells[(size_t)COLUMN_COVERED(s) * n], all = (float)s->seconds, more = (float)(now - then);
	for (uint32_t i = 0; i < n; i++) {
		float sum = covered[i] + (isnan(samples[from[i]]) ? 0 : more);
		covered[i] = sum < all ? sum : all;
	}
}

static void
push_growth(const struct bank *b, const double *samples, const uint32_t *from, float passed)
{
	float *amount = &b->cells[(size_t)COLUMN_AMOUNT * b->n], *age = &b->cells[(size_t)COLUMN_AGE * b->n];

	for (uint32_t i = 0; i < b->n; i++) {
		double increase = samples[from[i]];
		age[i] += passed;
		if (increase > 0) {
			amount[i] = (float)increase + (age[i] < (float)GROWS_EPISODE_SECONDS ? amount[i] : 0);
			age[i] = 0;
		}
	}
}

static void
push_counters(const struct window_shape *s, const struct bank *b, const double *samples, const uint32_t *from, double now)
{
	for (uint32_t i = 0; i < b->n; i++) {
		if (isnan(samples[from[i]]))
			bank_begin(s, b, i);
	}
	switch (s->kind) {
	case WINDOW_RATE_LAST:
		for (uint32_t i = 0; now > b->time && i < b->n; i++) {
			double rate = samples[from[i]] / (now - b->time);
			memcpy(&b->cells[(size_t)i * 2], &rate, sizeof(rate));
		}
		break;
	case WINDOW_GROWS:
		push_growth(b, samples, from, (float)(now - b->time));
		break;
	case WINDOW_ACTIVE:
	case WINDOW_CHANGES: {
		float *column = &b->cells[(size_t)(bank_open(s, b, now) % s->cells) * b->n];
		for (uint32_t i = 0; i < b->n; i++) {
			if (samples[from[i]] > 0)
				column[i] = s->kind == WINDOW_ACTIVE ? 1 : column[i] + 1;
		}
		break;
	}
	default:
		spread_increases(s, b, samples, from, now);
	}
}

static void
push_mean(float *cell, float *count, double value)
{
	if (isnan(*cell)) {
		*cell = (float)value;
		*count = 1;
	} else {
		*count += 1;
		*cell += ((float)value - *cell) / *count;
	}
}

static void
push_gauges(const struct window_shape *s, const struct bank *b, const double *samples, const uint32_t *from, double now)
{
	float *column = &b->cells[(size_t)(bank_open(s, b, now) % s->cells) * b->n];
	float *behind = &b->cells[(size_t)s->cells * b->n];

	for (uint32_t i = 0; i < b->n; i++) {
		double value = samples[from[i]];
		float *cell = &column[i];
		if (!isfinite(value))
			continue;
		switch (s->kind) {
		case WINDOW_DELTA: {
			float all = (float)s->seconds, *last = &behind[b->n + i];
			behind[i] += isnan(*last) ? 0 : (float)(now - b->time);
			behind[i] = behind[i] < all ? behind[i] : all;
			*last = (float)value;
			if (isnan(*cell))
				*cell = (float)value;
			break;
		}
		case WINDOW_MAX:
			if (!((float)value <= *cell))
				*cell = (float)value;
			break;
		case WINDOW_MIN:
			if (!((float)value >= *cell))
				*cell = (float)value;
			break;
		default: /* a mean */
			push_mean(cell, &behind[i], value);
		}
	}
}

void
bank_push(const struct window_shape *s, const struct bank *b, const double *samples, const uint32_t *from, double now)
{
	if (s->counts || s->kind == WINDOW_CHANGES)
		push_counters(s, b, samples, from, now);
	else
		push_gauges(s, b, samples, from, now);
}

/* What each cell counts for in a sum: buckets inside the window in full, of the oldest the part that is inside. */
static void
sum_shares(const struct window_shape *s, double then, double now, double shares[WINDOW_CELLS_MAX])
{
	uint32_t newest = bucket_of(s, now), last = bucket_of(s, then);

	for (uint32_t c = 0; c < s->cells; c++)
		shares[c] = 0;
	for (uint32_t back = 0; back < s->cells && back <= newest; back++)
		shares[(newest - back) % s->cells] = newest - back <= last;
	if (newest < s->cells - 1 || s->kind == WINDOW_CHANGES)
		return;
	double *oldest = &shares[(newest + 1) % s->cells];
	*oldest *= s->kind == WINDOW_ACTIVE ? 0 : 1 - (now * s->per_width - newest);
}

static void
read_sums(const struct window_shape *s, const struct bank *b, uint32_t first, uint32_t n, double now, double *out)
{
	double shares[WINDOW_CELLS_MAX];

	sum_shares(s, b->time, now, shares);
	for (uint32_t i = 0; i < n; i++)
		out[i] = 0;
	for (uint32_t c = 0; c < s->cells; c++) {
		const float *column = &b->cells[(size_t)c * b->n + first];
		double share = shares[c];
		for (uint32_t i = 0; i < n; i++)
			out[i] += share * (double)column[i];
	}
	if (s->kind != WINDOW_RATE)
		return;
	const float *covered = &b->cells[(size_t)COLUMN_COVERED(s) * b->n + first];
	for (uint32_t i = 0; i < n; i++) {
		double seconds = (double)covered[i] + (now - b->time);
		seconds = seconds < s->seconds ? seconds : s->seconds;
		out[i] = seconds > 0 ? out[i] / seconds : NAN;
	}
}

/* The mean or an extreme of a window's buckets, or for delta the oldest one. */
static double
read_cells(const struct window_shape *s, const struct bank *b, uint32_t i)
{
	double v = NAN;
	unsigned n = 0;

	for (uint32_t back = 0, at = bucket_of(s, b->time) % s->cells; back < s->cells; back++) {
		double cell = (double)b->cells[(size_t)at * b->n + i];
		at = at == 0 ? s->cells - 1 : at - 1;
		if (isnan(cell))
			continue;
		n++;
		if (s->kind == WINDOW_AVG)
			v = n == 1 ? cell : v + (cell - v) / n;
		else if (n == 1 || s->kind == WINDOW_DELTA || (s->kind == WINDOW_MAX ? cell > v : cell < v))
			v = cell;
	}
	return v;
}

static double
read_delta(const struct window_shape *s, const struct bank *b, uint32_t i, double now)
{
	double covered = (double)b->cells[(size_t)COLUMN_COVERED(s) * b->n + i] + (now - b->time);

	if (covered < s->seconds / 2)
		return NAN;
	return (double)b->cells[(size_t)COLUMN_LAST(s) * b->n + i] - read_cells(s, b, i);
}

static double
read_growth(const struct bank *b, uint32_t i, double now)
{
	double age = (double)b->cells[(size_t)COLUMN_AGE * b->n + i] + (now - b->time);

	if (isnan(age))
		return NAN;
	return age < GROWS_WINDOW_SECONDS ? (double)b->cells[(size_t)COLUMN_AMOUNT * b->n + i] : value_false();
}

void
bank_read(const struct window_shape *s, const struct bank *b, uint32_t first, uint32_t n, double now, double *out)
{
	if (is_sum(s)) {
		read_sums(s, b, first, n, now, out);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		switch (s->kind) {
		case WINDOW_RATE_LAST:
			memcpy(&out[i], &b->cells[(size_t)(first + i) * 2], sizeof(out[i]));
			break;
		case WINDOW_GROWS:
			out[i] = read_growth(b, first + i, now);
			break;
		case WINDOW_TREND:
			out[i] = (double)b->cells[(size_t)COLUMN_SLOPE(s) * b->n + first + i];
			break;
		case WINDOW_DELTA:
			out[i] = read_delta(s, b, first + i, now);
			break;
		default:
			out[i] = read_cells(s, b, first + i);
		}
	}
}

/* Pairs of floats that are one double stay together. */
static uint32_t
width_of(const struct window_shape *s)
{
	return s->kind == WINDOW_RATE_LAST ? 2 : 1;
}

void
bank_get(const struct window_shape *s, const struct bank *b, uint32_t i, struct window *w)
{
	uint32_t width = width_of(s);

	for (uint32_t c = 0; c < s->columns; c += width)
		memcpy(&w->cells[c], &b->cells[(size_t)c * b->n + (size_t)i * width], width * sizeof(float));
}

void
bank_set(const struct window_shape *s, const struct bank *b, uint32_t i, const struct window *w)
{
	uint32_t width = width_of(s);

	for (uint32_t c = 0; c < s->columns; c += width)
		memcpy(&b->cells[(size_t)c * b->n + (size_t)i * width], &w->cells[c], width * sizeof(float));
}
