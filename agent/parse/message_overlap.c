#include "message_overlap.h"

#include <string.h>

/* Knuth, Morris and Pratt: links[i] is the length of the longest proper end of later[0..i] that it also begins with. */
static void
make_links(struct text later, uint32_t *links)
{
	uint32_t k = 0;

	links[0] = 0;
	for (size_t i = 1; i < later.n; i++) {
		while (k > 0 && later.p[i] != later.p[k])
			k = links[k - 1];
		if (later.p[i] == later.p[k])
			k++;
		links[i] = k;
	}
}

size_t
message_overlap(struct text earlier, struct text later, uint32_t *links)
{
	size_t k = 0;

	/* Nothing was lost, as with every reading until the ring is full. */
	if (earlier.n <= later.n && (earlier.n == 0 || memcmp(earlier.p, later.p, earlier.n) == 0))
		return earlier.n;
	if (later.n == 0)
		return 0;
	make_links(later, links);
	for (size_t i = 0; i < earlier.n; i++) {
		/* All of later has been found, and more of earlier follows: it can only be a shorter beginning. */
		if (k == later.n)
			k = links[k - 1];
		while (k > 0 && earlier.p[i] != later.p[k])
			k = links[k - 1];
		if (earlier.p[i] == later.p[k])
			k++;
	}
	return k;
}

size_t
message_resume(struct text end, struct text later)
{
	if (end.n == 0)
		return 0;
	for (size_t at = later.n; at >= end.n; at--) {
		if (memcmp(later.p + at - end.n, end.p, end.n) == 0)
			return at;
	}
	return 0;
}
