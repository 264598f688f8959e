/*
 * Batches are found by walking headers from a known place, so that memory does not grow with the backlog: three places are
 * kept (the settled end, the newest batch, where the reader was), and each segment's first and last numbers.
 */
#include "spool_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "err.h"

#define SEGMENT_BYTES_MIN (64u << 10)
#define SEGMENT_BYTES_MAX (4u << 20)
#define SEGMENTS 16 /* that max_bytes is divided into: what is dropped at once when the spool is full */

void
segment_name(uint64_t first, char out[SEGMENT_NAME_MAX])
{
	snprintf(out, SEGMENT_NAME_MAX, "%016" PRIx64 ".seg", first);
}

void
spool_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void
spool_set_problem(struct spool *s, const char *what)
{
	snprintf(s->problem, sizeof(s->problem), "%s: %s", s->dir, what);
}

void
spool_delete_segment(struct spool *s, unsigned index)
{
	char name[SEGMENT_NAME_MAX];

	segment_name(s->segments[index].first, name);
	if (s->read_segment == s->segments[index].first)
		spool_close_fd(&s->read_fd);
	if (index == s->n_segments - 1)
		spool_close_fd(&s->write_fd);
	unlinkat(s->dir_fd, name, 0);
	s->n_segments--;
	memmove(&s->segments[index], &s->segments[index + 1], (s->n_segments - index) * sizeof(s->segments[0]));
}

void
spool_save_ledger(struct spool *s)
{
	if (s->ledger_fd >= 0 && ledger_write(s->ledger_fd, &s->ledger) == 0)
		s->ledger_dirty = true;
}

int
spool_open(const struct spool_options *options, struct spool **out)
{
	struct spool *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	s->dir_fd = s->ledger_fd = s->write_fd = s->read_fd = -1;
	s->max_bytes = options->max_bytes < SPOOL_BYTES_MIN ? SPOOL_BYTES_MIN : options->max_bytes;
	s->min_free_bytes = options->min_free_bytes;
	s->boot = options->boot;
	s->segment_bytes = s->max_bytes / SEGMENTS;
	if (s->segment_bytes < SEGMENT_BYTES_MIN)
		s->segment_bytes = SEGMENT_BYTES_MIN;
	if (s->segment_bytes > SEGMENT_BYTES_MAX)
		s->segment_bytes = SEGMENT_BYTES_MAX;
	s->dir = strdup(options->dir != NULL ? options->dir : "(no directory)");
	if (s->dir == NULL || pthread_mutex_init(&s->lock, NULL) != 0) {
		free(s->dir);
		free(s);
		return HIWAT_E_NOMEM;
	}
	int err = HIWAT_E_SYS;
	errno = ENOENT;
	if (options->dir != NULL)
		err = spool_recover(s, options->dir);
	if (err == HIWAT_E_SYS) {
		spool_set_problem(s, strerror(errno));
		spool_close_fd(&s->write_fd);
		spool_close_fd(&s->ledger_fd);
		spool_close_fd(&s->dir_fd);
		s->n_segments = 0;
		s->ledger = (struct ledger){ 0 };
		s->open_rejected = s->open_corrupt = 0;
		s->settled = (struct place){ 0 };
		s->next_ordinal = s->ledger.next = 1;
		while (s->ledger.stream == 0 && getentropy(&s->ledger.stream, sizeof(s->ledger.stream)) == 0)
			continue;
		err = HIWAT_OK;
	}
	if (err != 0) {
		spool_close(s);
		return err;
	}
	*out = s;
	return HIWAT_OK;
}

void
spool_close(struct spool *s)
{
	if (s == NULL)
		return;
	if (s->write_fd >= 0)
		fdatasync(s->write_fd);
	if (s->ledger_fd >= 0 && s->ledger.next > 0) {
		s->ledger.reserved = s->ledger.next - 1;
		spool_save_ledger(s);
		fdatasync(s->ledger_fd);
	}
	spool_close_fd(&s->write_fd);
	spool_close_fd(&s->read_fd);
	spool_close_fd(&s->ledger_fd);
	spool_close_fd(&s->dir_fd);
	for (unsigned i = 0; i < s->n_memory; i++)
		free(s->memory[i].data);
	pthread_mutex_destroy(&s->lock);
	free(s->dir);
	free(s);
}

const char *
spool_problem(const struct spool *s)
{
	return s->problem;
}

uint64_t
spool_stream(const struct spool *s)
{
	return s->ledger.stream;
}

uint64_t
spool_next_sequence(struct spool *s)
{
	pthread_mutex_lock(&s->lock);
	uint64_t sequence = s->ledger.next;
	pthread_mutex_unlock(&s->lock);
	return sequence;
}

uint64_t
spool_previous_sequence(struct spool *s)
{
	pthread_mutex_lock(&s->lock);
	uint64_t sequence = s->ledger.previous;
	pthread_mutex_unlock(&s->lock);
	return sequence;
}

/* The latest known place before the batches with a sequence above the given one. */
static struct place
place_before(const struct spool *s, uint64_t above)
{
	const struct place *const known[] = { &s->appended, &s->read };
	struct place best = s->settled;

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i]->sequence <= above && known[i]->ordinal > best.ordinal)
			best = *known[i];
	}
	for (unsigned i = 0; i < s->n_segments && s->segments[i].last_sequence <= above; i++) {
		if (s->segments[i].last > best.ordinal)
			best = (struct place){ .ordinal = s->segments[i].last, .sequence = s->segments[i].last_sequence };
	}
	return best;
}

/* The content of a batch that was found; false when it is damaged, which is noted. */
static bool
take_content(struct spool *s, const struct found *f, struct buf *out, int *err)
{
	buf_reset(out);
	if (f->memory != NULL) {
		buf_add(out, f->memory->data, f->h.length);
		*err = buf_ok(out) ? HIWAT_OK : HIWAT_E_NOMEM;
		return true;
	}
	*err = frame_read(f->fd, f->offset, &f->h, out);
	if (*err == HIWAT_E_CORRUPT && frame_write_mark(f->fd, f->offset, MARK_CORRUPT) == 0)
		s->open_corrupt++;
	return *err == HIWAT_OK || *err == HIWAT_E_NOMEM;
}

/* The first waiting batch behind a place with a sequence above the given one. */
static bool
find_waiting(struct spool *s, struct place *at, uint64_t above, struct found *f)
{
	while (spool_find_next(s, at, f)) {
		if (f->h.stamp > above && f->h.mark != MARK_REJECTED && f->h.mark != MARK_CORRUPT)
			return true;
	}
	return false;
}

uint64_t
spool_next(struct spool *s, uint64_t above)
{
	struct found f;

	pthread_mutex_lock(&s->lock);
	struct place at = place_before(s, above);
	uint64_t sequence = find_waiting(s, &at, above, &f) ? f.h.stamp : 0;
	pthread_mutex_unlock(&s->lock);
	return sequence;
}

int
spool_read(struct spool *s, uint64_t above, struct buf *out, uint64_t *sequence)
{
	struct found f;
	int err = HIWAT_E_NODATA;

	pthread_mutex_lock(&s->lock);
	struct place at = place_before(s, above);
	bool from_end = at.ordinal == s->appended.ordinal && at.ordinal != s->read.ordinal;
	while (find_waiting(s, &at, above, &f)) {
		if (take_content(s, &f, out, &err)) {
			if (err == 0)
				*sequence = f.h.stamp;
			/* Reading the newest one must not lose the place in the backlog. */
			if (!from_end)
				s->read = at;
			break;
		}
		err = HIWAT_E_NODATA;
	}
	pthread_mutex_unlock(&s->lock);
	return err;
}

void
spool_acknowledge(struct spool *s, uint64_t sequence)
{
	pthread_mutex_lock(&s->lock);
	spool_settle(s, UINT64_MAX, sequence, &s->ledger.acknowledged);
	pthread_mutex_unlock(&s->lock);
}

void
spool_reject(struct spool *s, uint64_t sequence)
{
	struct found f;

	pthread_mutex_lock(&s->lock);
	struct place at = place_before(s, sequence - 1);
	bool found;
	while ((found = spool_find_next(s, &at, &f)) && f.h.stamp < sequence)
		continue;
	if (found && f.h.stamp == sequence && f.h.mark == MARK_NONE) {
		if (f.memory != NULL)
			f.memory->h.mark = MARK_REJECTED;
		if (f.memory != NULL || frame_write_mark(f.fd, f.offset, MARK_REJECTED) == 0)
			s->open_rejected++;
		spool_settle(s, 0, 0, &s->ledger.rejected);
	}
	pthread_mutex_unlock(&s->lock);
}

void
spool_skip(struct spool *s, uint64_t sequence)
{
	pthread_mutex_lock(&s->lock);
	if (sequence >= s->ledger.next && sequence < UINT64_MAX - SPOOL_RESERVE) {
		s->ledger.next = sequence + 1;
		s->ledger.previous = sequence;
		s->ledger.reserved = sequence + SPOOL_RESERVE;
		spool_save_ledger(s);
	}
	pthread_mutex_unlock(&s->lock);
}

uint64_t
spool_disk_bytes(const struct spool *s)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < s->n_segments; i++)
		sum += s->segments[i].bytes;
	return sum;
}

/* Bytes on disk of batches that are not settled. */
static uint64_t
waiting_bytes(const struct spool *s)
{
	uint64_t sum = s->memory_bytes;

	for (unsigned i = 0; i < s->n_segments; i++) {
		const struct segment *seg = &s->segments[i];
		if (seg->last > s->ledger.settled)
			sum += seg->bytes - (seg->first == s->settled.segment ? s->settled.offset : FRAME_FILE_HEADER_BYTES);
	}
	return sum;
}

void
spool_count(struct spool *s, struct spool_counts *out)
{
	struct found f;

	pthread_mutex_lock(&s->lock);
	const struct ledger *l = &s->ledger;
	uint64_t left = s->next_ordinal - 1 - l->settled;
	struct place at = s->settled;
	*out = (struct spool_counts){
		.produced = s->next_ordinal - 1 - l->base,
		.acknowledged = l->acknowledged,
		.dropped_full = l->dropped_full + s->open_full,
		.dropped_corrupt = l->dropped_corrupt + s->open_corrupt,
		.rejected = l->rejected + s->open_rejected,
		.in_spool = left - s->open_rejected - s->open_corrupt - s->open_full,
		.bytes = waiting_bytes(s),
		.disk_bytes = spool_disk_bytes(s),
		.oldest = find_waiting(s, &at, 0, &f) ? f.h.stamp : s->ledger.next,
		.newest = s->ledger.next - 1,
		.files = s->n_segments,
	};
	pthread_mutex_unlock(&s->lock);
}
