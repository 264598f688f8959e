/* Which batches of a stream have arrived. */
#include "hosts.h"

#include <string.h>

static void
remove_range(struct stream *s, unsigned i)
{
	memmove(&s->ranges[i], &s->ranges[i + 1], (s->n_ranges - i - 1) * sizeof(s->ranges[0]));
	s->n_ranges--;
}

/* Ranges that touch the contiguous part join it. */
static void
absorb(struct stream *s)
{
	while (s->n_ranges > 0 && s->ranges[0].first <= s->contiguous + 1) {
		if (s->ranges[0].last > s->contiguous)
			s->contiguous = s->ranges[0].last;
		remove_range(s, 0);
	}
}

static bool
has_arrived(const struct stream *s, uint64_t seq)
{
	if (seq <= s->contiguous)
		return true;
	for (unsigned i = 0; i < s->n_ranges; i++) {
		if (seq >= s->ranges[i].first && seq <= s->ranges[i].last)
			return true;
	}
	return false;
}

enum stream_arrival
stream_receive(struct stream *s, uint64_t first, uint64_t seq)
{
	unsigned i = 0;

	if (has_arrived(s, seq))
		return STREAM_DUPLICATE;
	if (first <= s->contiguous + 1) {
		s->contiguous = seq;
		absorb(s);
		return STREAM_NEW;
	}
	/* The first range that touches the new one or lies behind it. */
	while (i < s->n_ranges && s->ranges[i].last + 1 < first)
		i++;
	if (i == s->n_ranges || s->ranges[i].first > seq + 1) {
		if (s->n_ranges == STREAM_RANGES_MAX)
			return STREAM_TOO_MANY_GAPS;
		memmove(&s->ranges[i + 1], &s->ranges[i], (s->n_ranges - i) * sizeof(s->ranges[0]));
		s->ranges[i].first = first;
		s->ranges[i].last = seq;
		s->n_ranges++;
		return STREAM_NEW;
	}
	if (first < s->ranges[i].first)
		s->ranges[i].first = first;
	if (seq > s->ranges[i].last)
		s->ranges[i].last = seq;
	while (i + 1 < s->n_ranges && s->ranges[i].last + 1 >= s->ranges[i + 1].first) {
		if (s->ranges[i + 1].last > s->ranges[i].last)
			s->ranges[i].last = s->ranges[i + 1].last;
		remove_range(s, i + 1);
	}
	return STREAM_NEW;
}

uint64_t
stream_forget_below(struct stream *s, uint64_t oldest)
{
	uint64_t lost = 0;

	while (oldest > 0 && s->contiguous < oldest - 1) {
		uint64_t gap_end = s->n_ranges > 0 && s->ranges[0].first < oldest ? s->ranges[0].first : oldest;
		lost += gap_end - 1 - s->contiguous;
		s->contiguous = gap_end - 1;
		absorb(s);
	}
	return lost;
}
