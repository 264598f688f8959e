/* Walking over the batches, on disk and in memory, and settling those at the head. */
#include "spool_impl.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A descriptor to read (and mark) a segment; -1 when it cannot be opened. */
static int
segment_fd(struct spool *s, unsigned index)
{
	char name[SEGMENT_NAME_MAX];

	if (index == s->n_segments - 1 && s->write_fd >= 0)
		return s->write_fd;
	if (s->read_fd >= 0 && s->read_segment == s->segments[index].first)
		return s->read_fd;
	spool_close_fd(&s->read_fd);
	segment_name(s->segments[index].first, name);
	s->read_fd = openat(s->dir_fd, name, O_RDWR | O_CLOEXEC);
	s->read_segment = s->segments[index].first;
	return s->read_fd;
}

static bool
find_on_disk(struct spool *s, const struct place *at, struct found *f)
{
	for (unsigned i = 0; i < s->n_segments; i++) {
		const struct segment *seg = &s->segments[i];
		if (seg->last <= at->ordinal)
			continue;
		f->segment = seg->first;
		f->offset = seg->first == at->segment ? at->offset : FRAME_FILE_HEADER_BYTES;
		f->fd = segment_fd(s, i);
		if (f->fd >= 0 && frame_find(f->fd, &f->offset, seg->bytes, at->ordinal + 1, &f->h) == 0)
			return true;
	}
	return false;
}

bool
spool_find_next(struct spool *s, struct place *at, struct found *f)
{
	struct memory_batch *m = NULL;

	for (unsigned i = 0; i < s->n_memory && m == NULL; i++) {
		if (s->memory[i].h.ordinal > at->ordinal)
			m = &s->memory[i];
	}
	bool on_disk = find_on_disk(s, at, f);
	if (!on_disk && m == NULL)
		return false;
	f->memory = NULL;
	if (m != NULL && (!on_disk || m->h.ordinal < f->h.ordinal)) {
		f->memory = m;
		f->h = m->h;
	} else {
		at->segment = f->segment;
		at->offset = f->offset + FRAME_HEADER_BYTES + f->h.length;
	}
	at->ordinal = f->h.ordinal;
	at->sequence = f->h.stamp;
	return true;
}

void
spool_memory_remove(struct spool *s, unsigned index)
{
	s->memory_bytes -= s->memory[index].h.length;
	free(s->memory[index].data);
	s->n_memory--;
	memmove(&s->memory[index], &s->memory[index + 1], (s->n_memory - index) * sizeof(s->memory[0]));
}

static void
subtract(uint64_t *from, uint64_t n)
{
	*from -= n < *from ? n : *from;
}

void
spool_settle_missing(struct spool *s, uint64_t upto)
{
	uint64_t from = s->ledger.settled + 1, full = 0;

	if (upto < from)
		return;
	if (s->full_to >= from && s->full_from <= upto) {
		uint64_t low = s->full_from > from ? s->full_from : from, high = s->full_to < upto ? s->full_to : upto;
		full = high - low + 1;
	}
	s->ledger.dropped_full += full;
	subtract(&s->open_full, full);
	s->ledger.dropped_corrupt += upto - from + 1 - full;
	subtract(&s->open_corrupt, upto - from + 1 - full);
	s->ledger.settled = upto;
}

/* Settles the next batch: by its mark, or as *fate. */
static void
settle_batch(struct spool *s, const struct found *f, const struct place *behind, uint64_t *fate)
{
	spool_settle_missing(s, f->h.ordinal - 1);
	if (f->h.mark == MARK_REJECTED) {
		s->ledger.rejected++;
		subtract(&s->open_rejected, 1);
	} else if (f->h.mark == MARK_CORRUPT) {
		s->ledger.dropped_corrupt++;
		subtract(&s->open_corrupt, 1);
	} else {
		++*fate;
	}
	s->ledger.settled = f->h.ordinal;
	s->settled = *behind;
	if (f->memory != NULL)
		spool_memory_remove(s, (unsigned)(f->memory - s->memory));
}

void
spool_settle(struct spool *s, uint64_t ordinal, uint64_t sequence, uint64_t *fate)
{
	struct found f;

	for (;;) {
		struct place at = s->settled;
		if (!spool_find_next(s, &at, &f))
			break;
		bool is_marked = f.h.mark == MARK_REJECTED || f.h.mark == MARK_CORRUPT;
		if (!is_marked && (f.h.ordinal > ordinal || f.h.stamp > sequence))
			break;
		settle_batch(s, &f, &at, fate);
	}
	spool_save_ledger(s);
}
