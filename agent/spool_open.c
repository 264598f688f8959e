/* What is in the directory when the agent starts: every batch is read once, so that damage is known and counted. */
#include "spool_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "err.h"
#include "scan.h"

#define BAD_FILES_MAX 2

struct survey {
	struct spool *s;
	struct buf content;
	uint64_t stream; /* 0: not known yet */
	uint64_t last_ordinal, last_sequence;
	uint64_t waiting, rejected; /* intact batches behind the settled ones */
};

/* The ordinal in a file's name with this ending; false for any other name. */
static bool
name_ordinal(const char *name, const char *ending, uint64_t *ordinal)
{
	struct text t = text_of(name);

	return t.n == 16 + strlen(ending) && text_ends(t, ending) && text_hex(&t, ordinal) == 0 && text_eq(t, ending);
}

static void
move_aside(struct spool *s, uint64_t first)
{
	char from[SEGMENT_NAME_MAX], to[SEGMENT_NAME_MAX + 4];

	segment_name(first, from);
	snprintf(to, sizeof(to), "%s.bad", from);
	renameat(s->dir_fd, from, s->dir_fd, to);
}

/* Only the newest of the files that were moved aside stay. */
static void
limit_bad_files(struct spool *s, DIR *dir)
{
	uint64_t newest[BAD_FILES_MAX] = { 0 }, ordinal;
	const struct dirent *e;

	rewinddir(dir);
	while ((e = readdir(dir)) != NULL) {
		char name[SEGMENT_NAME_MAX + 4];
		if (!name_ordinal(e->d_name, ".seg.bad", &ordinal))
			continue;
		uint64_t drop = ordinal;
		for (unsigned i = 0; i < BAD_FILES_MAX; i++) {
			if (drop > newest[i]) {
				uint64_t lower = newest[i];
				newest[i] = drop;
				drop = lower;
			}
		}
		if (drop == 0)
			continue;
		snprintf(name, sizeof(name), "%016llx.seg.bad", (unsigned long long)drop);
		unlinkat(s->dir_fd, name, 0);
	}
}

/* The segments in order; should there be more files than the spool ever makes, the oldest are deleted. */
static void
list_segments(struct spool *s, DIR *dir)
{
	const struct dirent *e;
	uint64_t first;

	while ((e = readdir(dir)) != NULL) {
		if (!name_ordinal(e->d_name, ".seg", &first) || first == 0)
			continue;
		if (s->n_segments == SPOOL_FILES_MAX - 1) {
			if (first < s->segments[0].first) {
				unlinkat(s->dir_fd, e->d_name, 0);
				continue;
			}
			spool_delete_segment(s, 0);
		}
		unsigned at = s->n_segments++;
		for (; at > 0 && s->segments[at - 1].first > first; at--)
			s->segments[at] = s->segments[at - 1];
		s->segments[at] = (struct segment){ .first = first, .last = first - 1, .bytes = FRAME_FILE_HEADER_BYTES };
	}
}

/* The segment is of this spool. A damaged header decides nothing: the batches have their own. */
static bool
is_ours(struct survey *v, int fd)
{
	uint8_t header[FRAME_FILE_HEADER_BYTES];
	uint64_t stream;

	int err = read_at(fd, header, sizeof(header), 0);
	if (err == 0)
		err = frame_file_decode(&segment_file, header, &stream);
	if (err == HIWAT_E_VERSION)
		return false;
	if (err == 0 && v->stream == 0)
		v->stream = stream;
	return err != 0 || stream == v->stream;
}

static int
survey_batch(struct survey *v, int fd, uint64_t offset, const struct frame_header *h)
{
	bool is_open = h->ordinal > v->s->ledger.settled;

	v->last_ordinal = h->ordinal;
	if (h->stamp > v->last_sequence)
		v->last_sequence = h->stamp;
	if (h->mark == MARK_REJECTED) {
		v->rejected += is_open;
		return HIWAT_OK;
	}
	if (h->mark == MARK_CORRUPT)
		return HIWAT_OK;
	buf_reset(&v->content);
	int err = frame_read(fd, offset, h, &v->content);
	if (err == HIWAT_E_NOMEM)
		return err;
	if (err == 0)
		v->waiting += is_open;
	else
		frame_write_mark(fd, offset, MARK_CORRUPT);
	return HIWAT_OK;
}

/* Reads the segment through; *keep is false when there is nothing in it. */
static int
survey_segment(struct survey *v, struct segment *seg, int fd, bool *keep)
{
	struct frame_header h;
	struct stat st;
	uint64_t offset = FRAME_FILE_HEADER_BYTES;
	unsigned n = 0;
	int err;

	if (fstat(fd, &st) != 0)
		return HIWAT_E_SYS;
	uint64_t size = (uint64_t)st.st_size;
	while ((err = frame_find(fd, &offset, size, v->last_ordinal + 1, &h)) == 0) {
		err = survey_batch(v, fd, offset, &h);
		if (err != 0)
			return err;
		offset += FRAME_HEADER_BYTES + h.length;
		seg->last = h.ordinal;
		seg->last_sequence = v->last_sequence;
		seg->bytes = offset;
		n++;
	}
	/* Nothing intact follows: what is left is the batch that a crash cut short. */
	if (err == HIWAT_E_NODATA && n > 0 && size > seg->bytes && ftruncate(fd, (off_t)seg->bytes) != 0)
		err = HIWAT_E_SYS;
	*keep = n > 0;
	return HIWAT_OK;
}

static int
survey_segments(struct survey *v)
{
	struct spool *s = v->s;
	char name[SEGMENT_NAME_MAX];

	for (unsigned i = 0; i < s->n_segments;) {
		struct segment *seg = &s->segments[i];
		bool keep = false;
		segment_name(seg->first, name);
		int fd = openat(s->dir_fd, name, O_RDWR | O_CLOEXEC);
		if (fd < 0 && errno == EACCES)
			return HIWAT_E_SYS;
		int err = fd >= 0 && is_ours(v, fd) ? survey_segment(v, seg, fd, &keep) : HIWAT_OK;
		struct stat st = { 0 };
		bool is_empty = fd >= 0 && fstat(fd, &st) == 0 && st.st_size <= FRAME_FILE_HEADER_BYTES;
		if (fd >= 0)
			close(fd);
		if (err == HIWAT_E_NOMEM)
			return err;
		if (keep) {
			i++;
			continue;
		}
		/* A crash right after its making leaves one without a batch that was ever complete. */
		bool is_torn = s->ledger.generation > 0 && seg->first > s->ledger.produced;
		if (!is_empty && !is_torn)
			move_aside(s, seg->first);
		spool_delete_segment(s, i);
	}
	return HIWAT_OK;
}

static uint64_t
random_stream(void)
{
	uint64_t stream = 0;

	while (stream == 0) {
		if (getentropy(&stream, sizeof(stream)) != 0)
			return (uint64_t)getpid() << 32 | 1;
	}
	return stream;
}

/* Numbers and counts that follow from the ledger and from what was found. */
static void
take_stock(struct spool *s, const struct survey *v, bool has_ledger)
{
	struct ledger *l = &s->ledger;

	if (!has_ledger) {
		l->base = l->settled = s->n_segments > 0 ? s->segments[0].first - 1 : 0;
		l->next = v->last_sequence > 0 ? v->last_sequence + SPOOL_RESERVE + 1 : 1;
		l->stream = v->stream != 0 ? v->stream : random_stream();
	}
	if (v->last_ordinal > l->produced)
		l->produced = v->last_ordinal;
	if (l->settled > l->produced)
		l->produced = l->settled;
	if (v->last_sequence > l->previous)
		l->previous = v->last_sequence;
	if (l->previous >= l->next)
		l->next = l->previous + 1;
	if (has_ledger && l->boot != s->boot && l->reserved >= l->next)
		l->next = l->reserved + 1;
	l->boot = s->boot;
	l->reserved = l->next - 1 + SPOOL_RESERVE;
	s->next_ordinal = l->produced + 1;
	s->open_rejected = v->rejected;
	s->open_corrupt = l->produced - l->settled - v->waiting - v->rejected;
	s->settled.ordinal = l->settled;
	while (s->n_segments > 0 && s->segments[0].last <= l->settled)
		spool_delete_segment(s, 0);
}

/* The last segment is written on while it has room. */
static void
reopen_last(struct spool *s)
{
	char name[SEGMENT_NAME_MAX];

	if (s->n_segments == 0 || s->segments[s->n_segments - 1].bytes >= s->segment_bytes)
		return;
	segment_name(s->segments[s->n_segments - 1].first, name);
	s->write_fd = openat(s->dir_fd, name, O_RDWR | O_CLOEXEC);
}

static int
open_directory(struct spool *s, const char *dir)
{
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return HIWAT_E_SYS;
	s->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return HIWAT_E_SYS;
	s->ledger_fd = openat(s->dir_fd, "ledger", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->ledger_fd < 0)
		return HIWAT_E_SYS;
	if (flock(s->ledger_fd, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK ? HIWAT_E_AGAIN : HIWAT_E_SYS;
	return HIWAT_OK;
}

int
spool_recover(struct spool *s, const char *dir)
{
	int err = open_directory(s, dir);
	if (err != 0)
		return err;
	int list_fd = openat(s->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = list_fd >= 0 ? fdopendir(list_fd) : NULL;
	if (list == NULL) {
		if (list_fd >= 0)
			close(list_fd);
		return HIWAT_E_SYS;
	}
	list_segments(s, list);
	bool has_ledger = ledger_read(s->ledger_fd, &s->ledger) == 0;
	struct survey v = { .s = s, .stream = s->ledger.stream };
	buf_init(&v.content, SPOOL_BATCH_MAX);
	/* Without a ledger everything that is found waits. */
	err = survey_segments(&v);
	buf_fini(&v.content);
	limit_bad_files(s, list);
	closedir(list);
	if (err != 0)
		return err;
	take_stock(s, &v, has_ledger);
	reopen_last(s);
	spool_save_ledger(s);
	return fdatasync(s->ledger_fd) == 0 ? HIWAT_OK : HIWAT_E_SYS;
}

/* A spool is flat: files in one directory. */
static void
remove_flat(const char *dir)
{
	DIR *d = opendir(dir);

	if (d == NULL)
		return;
	for (const struct dirent *e; (e = readdir(d)) != NULL;) {
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	}
	closedir(d);
	rmdir(dir);
}

int
spool_set_aside(const char *dir)
{
	char aside[1024];

	if (access(dir, F_OK) != 0)
		return HIWAT_E_MISSING;
	if (snprintf(aside, sizeof(aside), "%s.other", dir) >= (int)sizeof(aside))
		return HIWAT_E_TOOBIG;
	remove_flat(aside);
	return rename(dir, aside) == 0 ? HIWAT_OK : HIWAT_E_SYS;
}
