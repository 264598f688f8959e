#include "message_ring.h"

#include <stdlib.h>

#include "err.h"
#include "kernel_bsd.h"
#include "message_overlap.h"

void
message_ring_init(struct message_ring *r, size_t limit)
{
	*r = (struct message_ring){ .links = NULL };
	buf_init(&r->before, limit);
}

void
message_ring_fini(struct message_ring *r)
{
	buf_fini(&r->before);
	free(r->links);
}

int
message_ring_resume(struct message_ring *r, struct text end)
{
	buf_reset(&r->before);
	buf_add(&r->before, end.p, end.n);
	r->has_before = r->is_end_only = buf_ok(&r->before);
	return buf_ok(&r->before) ? HIWAT_OK : HIWAT_E_NOMEM;
}

struct text
message_ring_end(const struct message_ring *r, size_t max)
{
	size_t n = r->before.len < max ? r->before.len : max;

	return (struct text){ buf_str(&r->before) + r->before.len - n, n };
}

static bool
has_links(struct message_ring *r, size_t n)
{
	if (n <= r->n_links)
		return true;
	uint32_t *links = realloc(r->links, n * sizeof(*links));
	if (links == NULL)
		return false;
	r->links = links;
	r->n_links = n;
	return true;
}

int
message_ring_read(struct message_ring *r, struct fetch *f, struct text *out, bool *has_gap)
{
	struct text before = { buf_str(&r->before), r->before.len }, all;
	size_t from = 0;
	int err = message_buffer(f, &all);

	if (err != HIWAT_OK)
		return err;
	/* The last line may not be whole yet: it is taken with the next reading. */
	while (all.n > 0 && all.p[all.n - 1] != '\n')
		all.n--;
	if (r->has_before && r->is_end_only)
		from = message_resume(before, all);
	/* Of a kept end the ring may have lost the beginning meanwhile. */
	if (r->has_before && from == 0) {
		if (!has_links(r, all.n))
			return HIWAT_E_NOMEM;
		from = message_overlap(before, all, r->links);
	}
	/* A ring does not shrink: when there is less than before somebody emptied it (dmesg -c). */
	*has_gap = r->has_before && from == 0 && before.n > 0 && all.n >= before.n;
	*out = (struct text){ all.p + from, all.n - from };
	if (from == all.n && from == before.n)
		return HIWAT_OK;
	buf_reset(&r->before);
	buf_add(&r->before, all.p, all.n);
	if (!buf_ok(&r->before))
		return HIWAT_E_NOMEM;
	r->has_before = true;
	r->is_end_only = false;
	return HIWAT_OK;
}
