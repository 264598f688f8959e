#include "window.h"

#define BUCKETS 6        /* of most windows; one more is kept, of which only a part lies inside */
#define BUCKETS_TREND 10
#define MINUTE_NS (60 * 1000000000ULL)
#define DECISECOND_NS 100000000ULL
#define TREND_POINTS_MIN 5

#define FLAG_STARTED 1u /* last is a sample */
#define FLAG_KNOWN 2u   /* aux is a rate or a slope */

static bool
counts(enum window_kind kind)
{
	return kind == WINDOW_RATE_LAST || kind == WINDOW_GROWS || kind == WINDOW_RATE || kind == WINDOW_INCREASE ||
	    kind == WINDOW_ACTIVE;
}

static unsigned
bucket_count(enum window_kind kind, uint64_t window_ns)
{
	switch (kind) {
	case WINDOW_RATE_LAST:
	case WINDOW_GROWS:
		return 0;
	case WINDOW_ACTIVE: {
		uint64_t minutes = (window_ns + MINUTE_NS - 1) / MINUTE_NS;
		return minutes < 120 ? (unsigned)minutes : 120;
	}
	case WINDOW_TREND:
		return BUCKETS_TREND;
	default:
		return BUCKETS;
	}
}

static unsigned
cell_count(enum window_kind kind, uint64_t window_ns)
{
	unsigned n = bucket_count(kind, window_ns);

	return n == 0 ? 0 : n + 1;
}

static uint64_t
bucket_width(enum window_kind kind, uint64_t window_ns)
{
	return kind == WINDOW_ACTIVE ? MINUTE_NS : window_ns / bucket_count(kind, window_ns);
}

size_t
window_size(enum window_kind kind, uint64_t window_ns)
{
	return sizeof(struct window) + (cell_count(kind, window_ns) + 1) / 2 * 2 * sizeof(float);
}

/* A cell that no sample has touched. */
static float
empty_cell(enum window_kind kind)
{
	return counts(kind) || kind == WINDOW_CHANGES ? 0 : NAN;
}

/* Pairwise slopes of the points from..to, oldest first; the median, or NAN with fewer than two points. */
static double
median_slope(const double *points, unsigned from, unsigned to)
{
	double slopes[BUCKETS_TREND * (BUCKETS_TREND - 1) / 2];
	unsigned n = 0;

	for (unsigned i = from; i < to; i++) {
		for (unsigned j = i + 1; j < to; j++) {
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
 * The slope of the complete buckets by Theil and Sen, per second. A single step moves the median of all pairs or that of
 * the newer half, never both: the smaller of the two counts, and nothing when they disagree on the direction.
 */
static void
update_slope(struct window *w, uint64_t window_ns)
{
	double points[BUCKETS_TREND];
	unsigned known = 0, cells = BUCKETS_TREND + 1;

	for (unsigned i = 0; i < BUCKETS_TREND; i++) {
		uint32_t back = BUCKETS_TREND - i;
		points[i] = back <= w->bucket ? (double)w->cells[(w->bucket - back) % cells] : NAN;
		known += !isnan(points[i]);
	}
	w->flags &= (uint16_t)~FLAG_KNOWN;
	if (known < TREND_POINTS_MIN)
		return;
	double whole = median_slope(points, 0, BUCKETS_TREND);
	double newer = median_slope(points, BUCKETS_TREND / 2, BUCKETS_TREND);
	if (isnan(newer))
		return;
	double slope = 0;
	if (whole > 0 && newer > 0)
		slope = whole < newer ? whole : newer;
	else if (whole < 0 && newer < 0)
		slope = whole > newer ? whole : newer;
	w->aux = (float)(slope * 1e9 / (double)bucket_width(WINDOW_TREND, window_ns));
	w->flags |= FLAG_KNOWN;
}

/* Opens the bucket of this time; those that were skipped are empty. */
static float *
open_bucket(struct window *w, enum window_kind kind, uint64_t window_ns, uint64_t now_ns)
{
	unsigned cells = cell_count(kind, window_ns);
	uint32_t bucket = (uint32_t)(now_ns / bucket_width(kind, window_ns));

	if (!(w->flags & FLAG_STARTED) || bucket - w->bucket >= cells) {
		for (unsigned i = 0; i < cells; i++)
			w->cells[i] = empty_cell(kind);
		w->count = 0;
	} else {
		for (uint32_t b = w->bucket + 1; b <= bucket; b++) {
			w->cells[b % cells] = empty_cell(kind);
			w->count = 0;
		}
	}
	bool moved = bucket != w->bucket;
	w->bucket = bucket;
	if (kind == WINDOW_TREND && moved)
		update_slope(w, window_ns);
	return &w->cells[bucket % cells];
}

/* Shares an increase among the buckets between the last sample and this one, as if it had come evenly. */
static void
spread_increase(struct window *w, enum window_kind kind, uint64_t window_ns, double increase, uint64_t now_ns)
{
	uint64_t width = bucket_width(kind, window_ns), from = w->last_ns;
	unsigned cells = cell_count(kind, window_ns);

	open_bucket(w, kind, window_ns, now_ns);
	if (increase <= 0 || now_ns <= from)
		return;
	double per_ns = increase / (double)(now_ns - from);
	for (unsigned back = 0; back < cells && back <= w->bucket; back++) {
		uint64_t start = (uint64_t)(w->bucket - back) * width, end = start + width;
		uint64_t a = start > from ? start : from, b = end < now_ns ? end : now_ns;
		if (b > a)
			w->cells[(w->bucket - back) % cells] += (float)((double)(b - a) * per_ns);
		if (start <= from)
			break;
	}
}

static void
push_counter(struct window *w, enum window_kind kind, uint64_t window_ns, double increase, uint64_t now_ns)
{
	switch (kind) {
	case WINDOW_RATE_LAST:
		if (now_ns > w->last_ns) {
			w->aux = (float)(increase * 1e9 / (double)(now_ns - w->last_ns));
			w->flags |= FLAG_KNOWN;
		}
		break;
	case WINDOW_GROWS:
		if (increase > 0) {
			if (w->last_ns == 0 || now_ns - w->last_ns >= GROWS_EPISODE_NS)
				w->aux = 0;
			w->aux += (float)increase;
			w->last_ns = now_ns;
		}
		break;
	case WINDOW_ACTIVE: {
		float *cell = open_bucket(w, kind, window_ns, now_ns);
		if (increase > 0)
			*cell = 1;
		break;
	}
	default:
		spread_increase(w, kind, window_ns, increase, now_ns);
	}
}

static void
push_gauge(struct window *w, enum window_kind kind, uint64_t window_ns, double value, uint64_t now_ns)
{
	bool started = w->flags & FLAG_STARTED;
	float *cell = open_bucket(w, kind, window_ns, now_ns);

	if (w->count < UINT16_MAX)
		w->count++;
	switch (kind) {
	case WINDOW_CHANGES:
		*cell += started && value != w->last ? 1 : 0;
		break;
	case WINDOW_DELTA:
		if (w->count == 1)
			*cell = (float)value;
		break;
	case WINDOW_MAX:
		if (w->count == 1 || value > (double)*cell)
			*cell = (float)value;
		break;
	case WINDOW_MIN:
		if (w->count == 1 || value < (double)*cell)
			*cell = (float)value;
		break;
	default: /* a mean */
		*cell = w->count == 1 ? (float)value : *cell + ((float)value - *cell) / (float)w->count;
	}
}

void
window_push(struct window *w, enum window_kind kind, uint64_t window_ns, double value, uint64_t now_ns,
    const struct window_start *start)
{
	if (!counts(kind)) {
		if (!(w->flags & FLAG_STARTED))
			w->first_ds = (uint32_t)(now_ns / DECISECOND_NS);
		push_gauge(w, kind, window_ns, value, now_ns);
	} else if (w->flags & FLAG_STARTED || start->from_zero) {
		bool is_new = !(w->flags & FLAG_STARTED);
		if (is_new) {
			w->first_ds = (uint32_t)(start->from_ns / DECISECOND_NS);
			w->last_ns = kind == WINDOW_GROWS ? 0 : start->from_ns;
		}
		/* Stepping back without a new boot is somebody's reset: nothing is known to have happened. */
		push_counter(w, kind, window_ns, value > w->last ? value - w->last : 0, now_ns);
	} else {
		w->first_ds = (uint32_t)(now_ns / DECISECOND_NS);
		if (kind != WINDOW_RATE_LAST && kind != WINDOW_GROWS)
			open_bucket(w, kind, window_ns, now_ns);
	}
	w->flags |= FLAG_STARTED;
	w->last = value;
	if (kind != WINDOW_GROWS)
		w->last_ns = now_ns;
}

/* Sum over the window; of the oldest bucket only the part that lies inside. */
static double
sum_cells(const struct window *w, enum window_kind kind, uint64_t window_ns, uint64_t now_ns)
{
	unsigned cells = cell_count(kind, window_ns);
	uint64_t width = bucket_width(kind, window_ns);
	uint32_t newest = (uint32_t)(now_ns / width);
	double inside = 1 - (double)(now_ns % width) / (double)width, sum = 0;

	for (unsigned back = 0; back < cells && back <= newest; back++) {
		uint32_t b = newest - back;
		if (b > w->bucket || w->bucket - b >= cells)
			continue;
		double cell = (double)w->cells[b % cells];
		if (kind == WINDOW_ACTIVE)
			sum += back + 1 < cells ? cell : 0;
		else
			sum += back + 1 < cells || kind == WINDOW_CHANGES ? cell : cell * inside;
	}
	return sum;
}

static double
covered_seconds(const struct window *w, uint64_t window_ns, uint64_t now_ns)
{
	uint64_t first = (uint64_t)w->first_ds * DECISECOND_NS;
	uint64_t covered = now_ns > first ? now_ns - first : 0;

	return (double)(covered < window_ns ? covered : window_ns) / 1e9;
}

static double
read_gauge(const struct window *w, enum window_kind kind, uint64_t window_ns)
{
	unsigned cells = cell_count(kind, window_ns), n = 0;
	double v = NAN;

	for (unsigned back = 0; back < cells && back <= w->bucket; back++) {
		double cell = (double)w->cells[(w->bucket - back) % cells];
		if (isnan(cell))
			continue;
		n++;
		if (kind == WINDOW_AVG)
			v = n == 1 ? cell : v + (cell - v) / n;
		else if (n == 1 || kind == WINDOW_DELTA || (kind == WINDOW_MAX ? cell > v : cell < v))
			v = cell;
	}
	return kind == WINDOW_DELTA ? w->last - v : v;
}

double
window_read(const struct window *w, enum window_kind kind, uint64_t window_ns, uint64_t now_ns)
{
	double covered;

	if (!(w->flags & FLAG_STARTED))
		return NAN;
	switch (kind) {
	case WINDOW_RATE_LAST:
	case WINDOW_TREND:
		return w->flags & FLAG_KNOWN ? (double)w->aux : NAN;
	case WINDOW_GROWS:
		return w->last_ns != 0 && now_ns - w->last_ns < GROWS_WINDOW_NS ? (double)w->aux : value_false();
	case WINDOW_RATE:
		covered = covered_seconds(w, window_ns, now_ns);
		return covered > 0 ? sum_cells(w, kind, window_ns, now_ns) / covered : NAN;
	case WINDOW_INCREASE:
	case WINDOW_ACTIVE:
	case WINDOW_CHANGES:
		return sum_cells(w, kind, window_ns, now_ns);
	case WINDOW_DELTA:
		if (covered_seconds(w, window_ns, now_ns) < (double)window_ns / 2e9)
			return NAN;
		break;
	default:
		break;
	}
	return read_gauge(w, kind, window_ns);
}

void
window_reboot(struct window *w, enum window_kind kind, uint64_t window_ns)
{
	unsigned cells = cell_count(kind, window_ns);
	bool started = w->flags & FLAG_STARTED && counts(kind);

	*w = (struct window){ .flags = started ? FLAG_STARTED : 0 };
	for (unsigned i = 0; i < cells; i++)
		w->cells[i] = empty_cell(kind);
}
