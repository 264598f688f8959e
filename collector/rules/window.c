#include "window.h"

#define BUCKETS 6 /* of most windows */
#define BUCKETS_TREND 10
#define MINUTES_MAX 120
#define TREND_POINTS_MIN 5
#define TREND_STEPS_MIN 3

/* Behind the cells. */
#define CELL_COUNT(shape) ((shape)->cells)
#define CELL_SLOPE(shape) ((shape)->cells + 1)

struct window_shape
window_shape_of(enum window_kind kind, uint64_t window_ns)
{
	struct window_shape s = { .kind = kind, .counts = kind <= WINDOW_ACTIVE };
	uint32_t buckets = BUCKETS, extra = kind == WINDOW_TREND ? 2 : kind == WINDOW_AVG ? 1 : 0;

	if (kind == WINDOW_ACTIVE) {
		double minutes = ceil((double)window_ns / 60e9);
		buckets = minutes < MINUTES_MAX ? (uint32_t)minutes : MINUTES_MAX;
	} else if (kind == WINDOW_TREND) {
		buckets = BUCKETS_TREND;
	}
	if (kind == WINDOW_RATE_LAST || kind == WINDOW_GROWS) {
		s.size = sizeof(struct window);
		return s;
	}
	s.cells = buckets + 1;
	s.size = (uint32_t)(sizeof(struct window) + ((s.cells + extra + 1) / 2 * 2) * sizeof(float));
	s.seconds = (double)window_ns / 1e9;
	s.width = kind == WINDOW_ACTIVE ? 60 : s.seconds / buckets;
	s.per_width = 1 / s.width;
	return s;
}

/* A cell that no sample has touched. */
static float
empty_cell(const struct window_shape *s)
{
	return s->counts || s->kind == WINDOW_CHANGES ? 0 : NAN;
}

void
window_init(struct window *w, const struct window_shape *s)
{
	*w = (struct window){ .last = NAN };
	if (s->cells == 0) {
		w->amount = s->kind == WINDOW_RATE_LAST ? NAN : 0;
		return;
	}
	for (uint32_t i = 0; i < s->cells; i++)
		w->cells[i] = empty_cell(s);
	if (s->kind == WINDOW_AVG || s->kind == WINDOW_TREND)
		w->cells[CELL_COUNT(s)] = 0;
	if (s->kind == WINDOW_TREND)
		w->cells[CELL_SLOPE(s)] = NAN;
}

static uint32_t
bucket_of(const struct window_shape *s, double now)
{
	double b = now * s->per_width;

	return b < 4e9 ? (uint32_t)b : 4000000000u;
}

/* Pairwise slopes of the points; the median, or NAN with fewer than two points. */
static double
median_slope(const double *points)
{
	double slopes[BUCKETS_TREND * (BUCKETS_TREND - 1) / 2];
	unsigned n = 0;

	for (unsigned i = 0; i < BUCKETS_TREND; i++) {
		for (unsigned j = i + 1; j < BUCKETS_TREND; j++) {
			if (isnan(points[i]) || isnan(points[j]))
				continue;
			double slope = (points[j] - points[i]) / (j - i);
			unsigned k = n++;
			for (; k > 0 && slopes[k - 1] > slope; k--)
				slopes[k] = slopes[k - 1];
			slopes[k] = slope;
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
	double steps[BUCKETS_TREND];
	unsigned n = 0;

	for (unsigned i = BUCKETS_TREND / 2; i + 1 < BUCKETS_TREND; i++) {
		if (isnan(points[i]) || isnan(points[i + 1]))
			continue;
		double step = points[i + 1] - points[i];
		unsigned k = n++;
		for (; k > 0 && steps[k - 1] > step; k--)
			steps[k] = steps[k - 1];
		steps[k] = step;
	}
	if (n < TREND_STEPS_MIN)
		return NAN;
	return up ? steps[(n - 1) / 2] : steps[n / 2];
}

/*
 * The slope of the complete buckets, per second: the median of all pairs (Theil and Sen), which noise does not move, or
 * the typical step of the newer half, which a jump does not move; whichever is smaller, and 0 when they disagree.
 */
static void
update_slope(struct window *w, const struct window_shape *s)
{
	double points[BUCKETS_TREND];
	unsigned known = 0;

	for (uint32_t i = 0; i < BUCKETS_TREND; i++) {
		uint32_t back = BUCKETS_TREND - i;
		points[i] = back <= w->bucket ? (double)w->cells[(w->bucket - back) % s->cells] : NAN;
		known += !isnan(points[i]);
	}
	w->cells[CELL_SLOPE(s)] = NAN;
	if (known < TREND_POINTS_MIN)
		return;
	double whole = median_slope(points), newer = typical_step(points, whole > 0), slope = 0;
	if (isnan(newer))
		return;
	if (whole > 0 && newer > 0)
		slope = whole < newer ? whole : newer;
	else if (whole < 0 && newer < 0)
		slope = whole > newer ? whole : newer;
	w->cells[CELL_SLOPE(s)] = (float)(slope * s->per_width);
}

/* Opens the bucket of this time, after the last one; those that were skipped are empty. Its place in cells. */
static uint32_t
open_bucket(struct window *w, const struct window_shape *s, uint32_t bucket)
{
	uint32_t moved = bucket - w->bucket;

	if (moved == 0)
		return bucket % s->cells;
	for (uint32_t i = 0; i < moved && i < s->cells; i++)
		w->cells[(bucket - i) % s->cells] = empty_cell(s);
	w->bucket = bucket;
	w->first += (float)(moved * s->width);
	if (s->kind == WINDOW_AVG || s->kind == WINDOW_TREND)
		w->cells[CELL_COUNT(s)] = 0;
	if (s->kind == WINDOW_TREND)
		update_slope(w, s);
	return bucket % s->cells;
}

/* Shares an increase among the buckets between the last sample and this one, as if it had come evenly. */
static void
spread_increase(struct window *w, const struct window_shape *s, double increase, double now)
{
	double from = w->time;
	uint32_t newest = bucket_of(s, now), at = open_bucket(w, s, newest);

	if (increase <= 0 || now <= from)
		return;
	if (from >= newest * s->width) {
		w->cells[at] += (float)increase;
		return;
	}
	double per_second = increase / (now - from);
	for (uint32_t back = 0; back < s->cells && back <= newest; back++) {
		double start = (newest - back) * s->width, end = start + s->width;
		double a = start > from ? start : from, b = end < now ? end : now;
		if (b > a)
			w->cells[(newest - back) % s->cells] += (float)((b - a) * per_second);
		if (start <= from)
			break;
	}
}

static void
push_counter(struct window *w, const struct window_shape *s, double increase, double now)
{
	switch (s->kind) {
	case WINDOW_RATE_LAST:
		if (now > w->time)
			w->amount = increase / (now - w->time);
		break;
	case WINDOW_GROWS:
		if (increase > 0) {
			if (w->time == 0 || now - w->time >= GROWS_EPISODE_SECONDS)
				w->amount = 0;
			w->amount += increase;
			w->time = now;
		}
		break;
	case WINDOW_ACTIVE: {
		uint32_t at = open_bucket(w, s, bucket_of(s, now));
		if (increase > 0)
			w->cells[at] = 1;
		break;
	}
	default:
		spread_increase(w, s, increase, now);
	}
}

static void
push_gauge(struct window *w, const struct window_shape *s, double value, double now)
{
	float *cell = &w->cells[open_bucket(w, s, bucket_of(s, now))], *count;
	bool is_first = isnan(*cell);

	switch (s->kind) {
	case WINDOW_CHANGES:
		*cell += !isnan(w->last) && value != w->last ? 1 : 0;
		break;
	case WINDOW_DELTA:
		if (is_first)
			*cell = (float)value;
		break;
	case WINDOW_MAX:
		if (is_first || value > (double)*cell)
			*cell = (float)value;
		break;
	case WINDOW_MIN:
		if (is_first || value < (double)*cell)
			*cell = (float)value;
		break;
	default: /* a mean */
		count = &w->cells[CELL_COUNT(s)];
		*count = is_first ? 1 : *count + 1;
		*cell = is_first ? (float)value : *cell + ((float)value - *cell) / *count;
	}
}

/* Samples begin at this time. */
static void
begin(struct window *w, const struct window_shape *s, double at)
{
	w->time = s->kind == WINDOW_GROWS ? 0 : at;
	if (s->cells == 0)
		return;
	w->bucket = bucket_of(s, at);
	w->first = (float)(w->bucket * s->width - at);
}

void
window_push(struct window *w, const struct window_shape *s, double value, double now, const struct window_start *start)
{
	bool is_new = isnan(w->last);

	if (is_new)
		begin(w, s, s->counts && start->from_zero ? start->from : now);
	if (!s->counts)
		push_gauge(w, s, value, now);
	else if (!is_new || start->from_zero) {
		double last = is_new ? 0 : w->last;
		/*
		 * The first of a new boot. Counts of the kernel began anew; what an agent keeps on disk did not: a value that
		 * is no lower than before the boot goes on from there.
		 */
		if (last < 0)
			last = value >= -1 - last ? -1 - last : 0;
		/* Stepping back without a new boot is somebody's reset: nothing is known to have happened. */
		push_counter(w, s, value > last ? value - last : 0, now);
	}
	w->last = value;
	if (s->kind != WINDOW_GROWS)
		w->time = now;
}

/* Sum over the window; of the oldest bucket only the part that lies inside. */
static double
sum_cells(const struct window *w, const struct window_shape *s, double now)
{
	uint32_t newest = bucket_of(s, now), oldest_at = (newest + 1) % s->cells;
	double sum = 0;

	if (newest == w->bucket) {
		for (uint32_t i = 0; i < s->cells; i++)
			sum += (double)w->cells[i];
	} else {
		/* Not fed by this record: buckets have left the window since. */
		for (uint32_t back = newest - w->bucket; back < s->cells && back <= newest; back++)
			sum += (double)w->cells[(newest - back) % s->cells];
		if (newest - w->bucket >= s->cells)
			return 0;
	}
	if (newest < s->cells - 1)
		return sum;
	double oldest = (double)w->cells[oldest_at];
	switch (s->kind) {
	case WINDOW_ACTIVE:
		return sum - oldest;
	case WINDOW_CHANGES:
		return sum;
	default:
		return sum - oldest * (now * s->per_width - newest);
	}
}

static double
covered_seconds(const struct window *w, const struct window_shape *s, double now)
{
	double covered = now - w->bucket * s->width + (double)w->first;

	return covered < s->seconds ? covered : s->seconds;
}

static double
read_gauge(const struct window *w, const struct window_shape *s)
{
	double v = NAN;
	unsigned n = 0;

	for (uint32_t back = 0, at = w->bucket % s->cells; back < s->cells; back++) {
		double cell = (double)w->cells[at];
		at = at == 0 ? s->cells - 1 : at - 1;
		if (isnan(cell))
			continue;
		n++;
		if (s->kind == WINDOW_AVG)
			v = n == 1 ? cell : v + (cell - v) / n;
		else if (n == 1 || s->kind == WINDOW_DELTA || (s->kind == WINDOW_MAX ? cell > v : cell < v))
			v = cell;
	}
	/* Both as exact as the cells are: a value that stands still has not changed. */
	return s->kind == WINDOW_DELTA ? (double)(float)w->last - v : v;
}

double
window_read(const struct window *w, const struct window_shape *s, double now)
{
	double covered;

	if (isnan(w->last))
		return NAN;
	switch (s->kind) {
	case WINDOW_RATE_LAST:
		return w->amount;
	case WINDOW_TREND:
		return (double)w->cells[CELL_SLOPE(s)];
	case WINDOW_GROWS:
		return w->time != 0 && now - w->time < GROWS_WINDOW_SECONDS ? w->amount : value_false();
	case WINDOW_RATE:
		covered = covered_seconds(w, s, now);
		return covered > 0 ? sum_cells(w, s, now) / covered : NAN;
	case WINDOW_INCREASE:
	case WINDOW_ACTIVE:
	case WINDOW_CHANGES:
		return sum_cells(w, s, now);
	case WINDOW_DELTA:
		if (covered_seconds(w, s, now) < s->seconds / 2)
			return NAN;
		break;
	default:
		break;
	}
	return read_gauge(w, s);
}

void
window_reboot(struct window *w, const struct window_shape *s)
{
	double last = w->last;
	bool goes_on = s->counts && !isnan(last);

	window_init(w, s);
	if (goes_on) {
		begin(w, s, 0);
		w->last = last < 0 ? last : -1 - last; /* below zero: of another boot */
	}
}

bool
window_is_sane(const struct window *w, const struct window_shape *s)
{
	if (isinf(w->last) || !(w->time >= 0 && w->time < 1e12))
		return false;
	if (s->cells == 0)
		return !isinf(w->amount);
	for (uint32_t i = 0; i < s->cells; i++) {
		if (isinf(w->cells[i]))
			return false;
	}
	return isfinite(w->first) && w->bucket <= bucket_of(s, w->time);
}
