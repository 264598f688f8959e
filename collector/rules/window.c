#include "window.h"

#include "bank.h"
#include "trend.h"

#define BUCKETS 6 /* of most windows */

struct window_shape
window_shape_of(enum window_kind kind, uint64_t window_ns)
{
	struct window_shape s = { .kind = kind, .counts = kind <= WINDOW_ACTIVE, .columns = 2 };
	uint32_t buckets = BUCKETS;

	if (kind == WINDOW_ACTIVE) {
		double minutes = ceil((double)window_ns / 60e9);
		buckets = minutes < WINDOW_MINUTES_MAX ? (uint32_t)minutes : WINDOW_MINUTES_MAX;
	} else if (kind == WINDOW_TREND) {
		buckets = TREND_POINTS;
	}
	if (kind != WINDOW_RATE_LAST && kind != WINDOW_GROWS) {
		s.cells = buckets + 1;
		s.columns = s.cells;
		if (kind == WINDOW_RATE || kind == WINDOW_AVG)
			s.columns += 1;
		if (kind == WINDOW_DELTA || kind == WINDOW_TREND)
			s.columns += 2;
		s.seconds = (double)window_ns / 1e9;
		s.width = kind == WINDOW_ACTIVE ? 60 : s.seconds / buckets;
		s.per_width = 1 / s.width;
	}
	_Static_assert(sizeof(struct window) + (WINDOW_CELLS_MAX + 3) * sizeof(float) <= WINDOW_BYTES_MAX, "any shape fits");
	s.size = (uint32_t)(sizeof(struct window) + (s.columns + 1) / 2 * 2 * sizeof(float));
	return s;
}

void
window_init(struct window *w, const struct window_shape *s)
{
	*w = (struct window){ .last = NAN };
	for (uint32_t c = 0; c < (s->size - sizeof(*w)) / sizeof(float); c++)
		w->cells[c] = NAN;
	if (s->kind == WINDOW_DELTA)
		w->cells[COLUMN_COVERED(s)] = 0;
	if (s->kind == WINDOW_RATE_LAST) {
		double none = NAN;
		memcpy(w->cells, &none, sizeof(none));
	}
}

void
window_push(struct window *w, const struct window_shape *s, double value, double now, const struct window_start *start)
{
	static const uint32_t from[] = { 0 };
	double sample = value;

	if (isnan(w->last) && s->counts && start->from_zero)
		window_begin_at_zero(w, s, start->from);
	else if (isnan(w->last))
		w->time = now;
	if (s->counts)
		sample = counter_increase(&w->last, value);
	else if (s->kind == WINDOW_CHANGES)
		sample = isnan(w->last) ? NAN : value != w->last;
	bank_push(s, &(struct bank){ w->cells, 1, w->time }, &sample, from, now);
	w->last = value;
	w->time = now;
}

double
window_read(const struct window *w, const struct window_shape *s, double now)
{
	/* Only read. */
	struct bank b = { (float *)(uintptr_t)w->cells, 1, w->time };
	double v;

	bank_read(s, &b, 0, 1, now, &v);
	return v;
}

void
window_begin_at_zero(struct window *w, const struct window_shape *s, double then)
{
	w->last = 0;
	w->time = then;
	bank_begin(s, &(struct bank){ w->cells, 1, then }, 0);
}

void
window_reboot(struct window *w, const struct window_shape *s)
{
	double last = w->last;

	window_init(w, s);
	if (s->counts && !isnan(last)) {
		window_begin_at_zero(w, s, 0);
		w->last = last < 0 ? last : -1 - last; /* below zero: of another boot */
	}
}

void
window_catch_up(struct window *w, const struct window_shape *s, double then, double value, double now)
{
	static const uint32_t from[] = { 0 };
	struct bank b = { w->cells, 1, w->time };
	double last = w->last;

	if (!(then > w->time) || !(now > then))
		return;
	if (!s->counts) {
		bank_open(s, &b, then);
		if (s->kind == WINDOW_DELTA && !isnan(w->cells[COLUMN_LAST(s)]))
			w->cells[COLUMN_COVERED(s)] += (float)(then - w->time);
	} else if (!isnan(last)) {
		double increase = counter_increase(&last, value), early = increase * (then - w->time) / (now - w->time);
		/* Of minutes with an increase only the one in which it shows counts. */
		double sample = s->kind == WINDOW_ACTIVE ? 0 : early;
		/* Growth that ends a long quiet belongs to a new count with all that came. */
		bank_push(s, &b, &sample, from, s->kind == WINDOW_GROWS && early > 0 ? now : then);
		w->last = value - (increase - early);
	}
	w->time = then;
}

bool
window_is_sane(const struct window *w, const struct window_shape *s)
{
	if (isinf(w->last) || !(w->time >= 0 && w->time < 1e12))
		return false;
	if (s->kind == WINDOW_RATE_LAST) {
		double rate;
		memcpy(&rate, w->cells, sizeof(rate));
		return !isinf(rate) && !(rate < 0);
	}
	for (uint32_t c = 0; c < s->columns; c++) {
		if (isinf(w->cells[c]) && !(s->kind == WINDOW_GROWS && c == COLUMN_AGE && w->cells[c] > 0))
			return false;
	}
	return true;
}
