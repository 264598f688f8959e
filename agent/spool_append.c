/* Adding batches, and what waits for the disk: the side of the one thread that may write files. */
#include "spool_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "clock.h"
#include "crc32c.h"
#include "err.h"

#define SYNC_NS NSEC_PER_SEC

/* The oldest segment goes, settled before it is deleted. */
static void
drop_oldest(struct spool *s)
{
	uint64_t last = s->segments[0].last;

	spool_settle(s, last, UINT64_MAX, &s->ledger.dropped_full);
	if (s->ledger.settled < last) {
		spool_settle_missing(s, last);
		s->settled.ordinal = last;
		spool_save_ledger(s);
	}
	fdatasync(s->ledger_fd);
	spool_delete_segment(s, 0);
}

static bool
has_free_space(const struct spool *s, uint64_t need)
{
	struct statvfs st;

	if (s->min_free_bytes == 0 || fstatvfs(s->dir_fd, &st) != 0)
		return true;
	return (uint64_t)st.f_bavail * st.f_frsize >= s->min_free_bytes + need;
}

/* Drops segments until there is room within the spool's bounds. */
static int
make_room(struct spool *s, uint64_t need)
{
	while (s->n_segments > 0 && spool_disk_bytes(s) + need > s->max_bytes)
		drop_oldest(s);
	while (!has_free_space(s, need)) {
		if (s->n_segments == 0) {
			spool_set_problem(s, "less space free than spool.min_free_bytes");
			return HIWAT_E_FULL;
		}
		drop_oldest(s);
	}
	return HIWAT_OK;
}

/* A segment to write to that has room: the last one, or a new one. */
static int
writable_segment(struct spool *s, uint64_t need)
{
	uint8_t header[FRAME_FILE_HEADER_BYTES];
	char name[SEGMENT_NAME_MAX];

	if (s->write_fd >= 0 && s->segments[s->n_segments - 1].bytes + need <= s->segment_bytes)
		return HIWAT_OK;
	if (s->write_fd >= 0)
		fdatasync(s->write_fd);
	spool_close_fd(&s->write_fd);
	if (s->n_segments == SPOOL_FILES_MAX)
		drop_oldest(s);
	segment_name(s->next_ordinal, name);
	int fd = openat(s->dir_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return HIWAT_E_SYS;
	frame_file_encode(&segment_file, s->ledger.stream, header);
	if (write_at(fd, header, sizeof(header), 0) != 0) {
		int saved = errno;
		close(fd);
		unlinkat(s->dir_fd, name, 0);
		errno = saved;
		return HIWAT_E_SYS;
	}
	fsync(s->dir_fd);
	s->write_fd = fd;
	s->segments[s->n_segments++] = (struct segment){
		.first = s->next_ordinal,
		.last = s->next_ordinal - 1,
		.bytes = FRAME_FILE_HEADER_BYTES,
	};
	return HIWAT_OK;
}

static int
append_to_disk(struct spool *s, const struct frame_header *h, const void *data)
{
	uint8_t header[FRAME_HEADER_BYTES];
	uint64_t need = FRAME_HEADER_BYTES + h->length;

	int err = make_room(s, need + FRAME_FILE_HEADER_BYTES);
	if (err == 0)
		err = writable_segment(s, need);
	if (err != 0)
		return err;
	struct segment *seg = &s->segments[s->n_segments - 1];
	frame_header_encode(h, header);
	/* The content first: a header is there only when its content is. */
	err = write_at(s->write_fd, data, h->length, seg->bytes + FRAME_HEADER_BYTES);
	if (err == 0)
		err = write_at(s->write_fd, header, sizeof(header), seg->bytes);
	if (err != 0) {
		int saved = errno;
		/* Whatever is left there would be found at the next start; a new segment follows if it cannot be cut. */
		if (ftruncate(s->write_fd, (off_t)seg->bytes) != 0)
			spool_close_fd(&s->write_fd);
		if (seg->last < seg->first)
			spool_delete_segment(s, s->n_segments - 1);
		errno = saved;
		return err;
	}
	s->appended = (struct place){
		.ordinal = h->ordinal - 1,
		.sequence = h->stamp - 1,
		.segment = seg->first,
		.offset = seg->bytes,
	};
	seg->bytes += need;
	seg->last = h->ordinal;
	seg->last_sequence = h->stamp;
	s->data_dirty = true;
	return HIWAT_OK;
}

static int
keep_in_memory(struct spool *s, const struct frame_header *h, const void *data)
{
	char *copy = malloc(h->length);

	if (copy == NULL)
		return HIWAT_E_NOMEM;
	memcpy(copy, data, h->length);
	while (
	    s->n_memory > 0 && (s->n_memory == SPOOL_MEMORY_BATCHES || s->memory_bytes + h->length > SPOOL_MEMORY_BYTES)) {
		const struct frame_header *oldest = &s->memory[0].h;
		if (s->full_to <= s->ledger.settled)
			s->full_from = oldest->ordinal;
		s->full_to = oldest->ordinal;
		s->open_full++;
		if (oldest->mark == MARK_REJECTED)
			s->open_rejected--;
		spool_memory_remove(s, 0);
	}
	s->memory[s->n_memory++] = (struct memory_batch){ .h = *h, .data = copy };
	s->memory_bytes += h->length;
	return HIWAT_OK;
}

int
spool_append(struct spool *s, const void *data, size_t len)
{
	if (len == 0 || len > SPOOL_BATCH_MAX)
		return HIWAT_E_TOOBIG;
	pthread_mutex_lock(&s->lock);
	struct frame_header h = {
		.ordinal = s->next_ordinal,
		.stamp = s->ledger.next,
		.length = (uint32_t)len,
		.crc = crc32c(0, data, len),
	};
	if (s->ledger_fd >= 0 && h.stamp > s->ledger.reserved) {
		s->ledger.reserved = h.stamp + SPOOL_RESERVE - 1;
		spool_save_ledger(s);
		fdatasync(s->ledger_fd);
	}
	int err = s->dir_fd < 0 ? HIWAT_E_FULL : append_to_disk(s, &h, data);
	while (err == HIWAT_E_SYS && errno == ENOSPC && s->n_segments > 0) {
		drop_oldest(s);
		err = append_to_disk(s, &h, data);
	}
	if (err == 0)
		s->problem[0] = '\0';
	else if (err == HIWAT_E_SYS)
		spool_set_problem(s, strerror(errno));
	if (err != 0)
		err = keep_in_memory(s, &h, data);
	if (err == 0) {
		s->ledger.produced = s->next_ordinal++;
		s->ledger.previous = s->ledger.next++;
		spool_save_ledger(s);
	}
	pthread_mutex_unlock(&s->lock);
	return err;
}

/* Deletes segments whose end was settled when the ledger was last synced. */
static void
delete_settled(struct spool *s, uint64_t settled)
{
	pthread_mutex_lock(&s->lock);
	while (s->n_segments > 0 && s->segments[0].last <= settled && (s->n_segments > 1 || s->write_fd < 0))
		spool_delete_segment(s, 0);
	pthread_mutex_unlock(&s->lock);
}

int
spool_sync(struct spool *s, uint64_t now_ns)
{
	int err = HIWAT_OK;

	if (s->has_synced && now_ns - s->synced_ns < SYNC_NS)
		return HIWAT_OK;
	s->has_synced = true;
	s->synced_ns = now_ns;
	pthread_mutex_lock(&s->lock);
	if (s->ledger_fd >= 0 && s->ledger.reserved - (s->ledger.next - 1) < SPOOL_RESERVE / 2) {
		s->ledger.reserved = s->ledger.next - 1 + SPOOL_RESERVE;
		spool_save_ledger(s);
	}
	bool data_dirty = s->data_dirty && s->write_fd >= 0, ledger_dirty = s->ledger_dirty;
	uint64_t settled = s->ledger.settled;
	s->data_dirty = s->ledger_dirty = false;
	pthread_mutex_unlock(&s->lock);
	if (data_dirty && fdatasync(s->write_fd) != 0)
		err = HIWAT_E_SYS;
	if (ledger_dirty && fdatasync(s->ledger_fd) != 0)
		err = HIWAT_E_SYS;
	if (err == 0)
		delete_settled(s, settled);
	return err;
}
