/* Writing recordings, within their bounds. */
#include "recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "bytes.h"
#include "clock.h"
#include "crc32c.h"
#include "err.h"
#include "recording_impl.h"
#include "scan.h"

#define FREE_CHECK_BYTES (256u << 10) /* written between two looks at what is free */

struct file {
	uint64_t number, bytes;
	char name[RECORDING_NAME_MAX];
};

struct recorder {
	struct recording_options options;
	int dir_fd, fd; /* fd: of the newest file; -1: the next entry begins one */
	struct file *files;
	unsigned n_files;
	uint64_t next_number, ordinal, begin_ns, total_bytes, unchecked_bytes;
	bool must_begin; /* something was lost, or nothing was written yet */
	struct recorder_counts counts;
	struct buf frame;
};

bool
recording_name_parse(const char *name, uint64_t *number)
{
	struct text t = text_of(name);

	return t.n < RECORDING_NAME_MAX && text_ends(t, ".rec") && text_u64(&t, number) == 0 && t.n > 0 && t.p[0] == '-';
}

static void
remove_file(struct recorder *r, unsigned index)
{
	if (index == r->n_files - 1 && r->fd >= 0) {
		close(r->fd);
		r->fd = -1;
	}
	unlinkat(r->dir_fd, r->files[index].name, 0);
	r->total_bytes -= r->files[index].bytes;
	r->n_files--;
	r->counts.removed++;
	memmove(&r->files[index], &r->files[index + 1], (r->n_files - index) * sizeof(r->files[0]));
}

/* In order of their numbers; what there is too many of goes, the oldest first. */
static int
list_files(struct recorder *r)
{
	int copy = dup(r->dir_fd);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	uint64_t number;

	if (dir == NULL) {
		if (copy >= 0)
			close(copy);
		return HIWAT_E_SYS;
	}
	while ((e = readdir(dir)) != NULL) {
		struct stat st;
		if (!recording_name_parse(e->d_name, &number) || fstatat(r->dir_fd, e->d_name, &st, 0) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (number >= r->next_number && number < UINT64_MAX)
			r->next_number = number + 1;
		if (r->n_files == r->options.max_files) {
			if (number < r->files[0].number) {
				unlinkat(r->dir_fd, e->d_name, 0);
				continue;
			}
			remove_file(r, 0);
		}
		unsigned at = r->n_files++;
		for (; at > 0 && r->files[at - 1].number > number; at--)
			r->files[at] = r->files[at - 1];
		r->files[at] = (struct file){ .number = number, .bytes = (uint64_t)st.st_size };
		memcpy(r->files[at].name, e->d_name, strlen(e->d_name) + 1);
		r->total_bytes += r->files[at].bytes;
	}
	closedir(dir);
	return HIWAT_OK;
}

/* The newest file is read through, cut behind its last whole frame and gone on with. Without one, or when it is none: -1. */
static void
resume_newest(struct recorder *r)
{
	struct recording *old = NULL;
	struct recording_entry entry;
	char path[4096];
	uint64_t end;
	bool gap;

	if (r->n_files == 0)
		return;
	struct file *f = &r->files[r->n_files - 1];
	int n = snprintf(path, sizeof(path), "%s/%s", r->options.dir, f->name);
	if (n < 0 || (size_t)n >= sizeof(path) || recording_open(path, &old) != HIWAT_OK)
		return;
	int err;
	while ((err = recording_next(old, &entry, &gap)) == HIWAT_OK)
		continue;
	recording_place(old, &end, &r->ordinal);
	r->begin_ns = recording_begin_ns(old);
	recording_close(old);
	if (err != HIWAT_E_NODATA)
		return;
	r->fd = openat(r->dir_fd, f->name, O_WRONLY | O_CLOEXEC);
	if (r->fd >= 0 && ftruncate(r->fd, (off_t)end) != 0) {
		close(r->fd);
		r->fd = -1;
	}
	if (r->fd >= 0) {
		r->total_bytes -= f->bytes - end;
		f->bytes = end;
	}
}

static int
open_dir(struct recorder *r)
{
	if (mkdir(r->options.dir, 0700) != 0 && errno != EEXIST)
		return HIWAT_E_SYS;
	int fd = open(r->options.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return HIWAT_E_SYS;
	int err = HIWAT_OK;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		err = errno == EWOULDBLOCK ? HIWAT_E_AGAIN : HIWAT_E_SYS;
	r->dir_fd = fd;
	if (err == HIWAT_OK)
		err = list_files(r);
	if (err != HIWAT_OK) {
		int saved = errno;
		close(fd);
		r->dir_fd = -1;
		r->n_files = 0;
		r->total_bytes = 0;
		errno = saved;
		return err;
	}
	resume_newest(r);
	return HIWAT_OK;
}

struct recorder *
recorder_new(const struct recording_options *options)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->options = *options;
	r->options.dir = strdup(options->dir);
	r->dir_fd = r->fd = -1;
	r->next_number = 1;
	r->must_begin = true;
	buf_init(&r->frame, FRAME_HEADER_BYTES + RECORDING_PREFIX_MAX + RECORDING_CONTENT_MAX);
	r->files = calloc(options->max_files, sizeof(r->files[0]));
	if (r->files == NULL || r->options.dir == NULL) {
		recorder_free(r);
		return NULL;
	}
	return r;
}

void
recorder_free(struct recorder *r)
{
	if (r == NULL)
		return;
	if (r->fd >= 0)
		close(r->fd);
	if (r->dir_fd >= 0)
		close(r->dir_fd);
	free((void *)(uintptr_t)r->options.dir);
	free(r->files);
	buf_fini(&r->frame);
	free(r);
}

static bool
has_free_space(struct recorder *r, uint64_t need)
{
	struct statvfs st;

	if (r->options.min_free_bytes == 0 || r->unchecked_bytes + need < FREE_CHECK_BYTES || fstatvfs(r->dir_fd, &st) != 0)
		return true;
	return (uint64_t)st.f_bavail * st.f_frsize >= r->options.min_free_bytes + need;
}

/* Removes files that are not being written to until there is room within the bounds. */
static int
make_room(struct recorder *r, uint64_t need)
{
	unsigned kept = r->fd >= 0;

	while (r->n_files > kept && r->total_bytes + need > r->options.max_bytes)
		remove_file(r, 0);
	while (!has_free_space(r, need)) {
		if (r->n_files <= kept)
			return HIWAT_E_FULL;
		remove_file(r, 0);
	}
	if (r->unchecked_bytes + need >= FREE_CHECK_BYTES)
		r->unchecked_bytes = 0;
	return HIWAT_OK;
}

static int
begin_file(struct recorder *r, uint64_t wall_ns)
{
	uint8_t header[FRAME_FILE_HEADER_BYTES];
	time_t seconds = (time_t)(wall_ns / NSEC_PER_SEC);
	struct tm tm = { 0 };
	char when[24] = "";

	while (r->n_files >= r->options.max_files)
		remove_file(r, 0);
	struct file *f = &r->files[r->n_files];
	*f = (struct file){ .number = r->next_number, .bytes = sizeof(header) };
	gmtime_r(&seconds, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(f->name, sizeof(f->name), "%08llu-%s.rec", (unsigned long long)f->number, when);
	int fd = openat(r->dir_fd, f->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return HIWAT_E_SYS;
	frame_file_encode(&recording_file, wall_ns, header);
	if (write_at(fd, header, sizeof(header), 0) != 0) {
		int saved = errno;
		close(fd);
		unlinkat(r->dir_fd, f->name, 0);
		errno = saved;
		return HIWAT_E_SYS;
	}
	r->fd = fd;
	r->n_files++;
	r->next_number++;
	r->ordinal = 0;
	r->begin_ns = wall_ns;
	r->total_bytes += sizeof(header);
	return HIWAT_OK;
}

/* A file that is full, or old enough, is closed. */
static void
rotate(struct recorder *r, uint64_t need, uint64_t wall_ns)
{
	if (r->fd < 0)
		return;
	if (r->files[r->n_files - 1].bytes + need <= r->options.file_bytes &&
	    (wall_ns < r->begin_ns || wall_ns - r->begin_ns < r->options.file_age_ns))
		return;
	fdatasync(r->fd);
	close(r->fd);
	r->fd = -1;
}

static int
make_frame(struct recorder *r, const struct recording_entry *entry)
{
	uint8_t head[FRAME_HEADER_BYTES] = { 0 }, prefix[RECORDING_PREFIX_MAX] = { (uint8_t)entry->type };
	size_t n_prefix = entry->type == RECORDING_BATCH ? sizeof(prefix) : 1;

	put_le64(prefix + 1, entry->sent_wall_ns);
	put_le64(prefix + 9, entry->oldest);
	buf_reset(&r->frame);
	buf_add(&r->frame, head, sizeof(head));
	buf_add(&r->frame, prefix, n_prefix);
	buf_add(&r->frame, entry->data, entry->len);
	if (!buf_ok(&r->frame))
		return HIWAT_E_NOMEM;
	struct frame_header h = {
		.stamp = entry->wall_ns,
		.length = (uint32_t)(n_prefix + entry->len),
		.crc = crc32c(0, r->frame.data + sizeof(head), n_prefix + entry->len),
	};
	h.ordinal = r->ordinal + 1;
	frame_header_encode(&h, (uint8_t *)r->frame.data);
	return HIWAT_OK;
}

static int
try_append(struct recorder *r, const struct recording_entry *entry)
{
	uint64_t need = FRAME_HEADER_BYTES + RECORDING_PREFIX_MAX + entry->len;

	rotate(r, need, entry->wall_ns);
	int err = make_room(r, need + FRAME_FILE_HEADER_BYTES);
	if (err == HIWAT_OK && r->fd < 0)
		err = begin_file(r, entry->wall_ns);
	if (err == HIWAT_OK)
		err = make_frame(r, entry);
	if (err != HIWAT_OK)
		return err;
	struct file *f = &r->files[r->n_files - 1];
	if (write_at(r->fd, r->frame.data, r->frame.len, f->bytes) != 0) {
		int saved = errno;
		/* What is left of it would be found by readers; another file follows if it cannot be cut. */
		if (ftruncate(r->fd, (off_t)f->bytes) != 0) {
			close(r->fd);
			r->fd = -1;
		}
		errno = saved;
		return HIWAT_E_SYS;
	}
	r->ordinal++;
	f->bytes += r->frame.len;
	r->total_bytes += r->frame.len;
	r->unchecked_bytes += r->frame.len;
	r->counts.bytes += r->frame.len;
	return HIWAT_OK;
}

static int
append(struct recorder *r, const struct recording_entry *entry)
{
	int err = try_append(r, entry);

	while (err == HIWAT_E_SYS && errno == ENOSPC && r->n_files > 1) {
		remove_file(r, 0);
		err = try_append(r, entry);
	}
	return err;
}

int
recorder_append(struct recorder *r, const struct recording_entry *entry)
{
	struct recording_entry begin = { .type = RECORDING_BEGIN, .wall_ns = entry->wall_ns };
	int err = entry->len > RECORDING_CONTENT_MAX ? HIWAT_E_TOOBIG : HIWAT_OK;

	if (err == HIWAT_OK && r->dir_fd < 0)
		err = open_dir(r);
	if (err == HIWAT_OK && r->must_begin)
		err = append(r, &begin);
	if (err == HIWAT_OK) {
		r->must_begin = false;
		err = append(r, entry);
	}
	if (err != HIWAT_OK) {
		r->must_begin = true;
		r->unchecked_bytes = FREE_CHECK_BYTES; /* look again at once */
		r->counts.lost += entry->type == RECORDING_BATCH;
		return err;
	}
	r->counts.batches += entry->type == RECORDING_BATCH;
	return HIWAT_OK;
}

void
recorder_count(const struct recorder *r, struct recorder_counts *out)
{
	*out = r->counts;
}

const char *
recorder_problem(int err)
{
	switch (err) {
	case HIWAT_E_SYS:
		return strerror(errno);
	case HIWAT_E_AGAIN:
		return "another recorder is using the directory";
	case HIWAT_E_FULL:
		return "less space is free than record.min_free_bytes";
	default:
		return err_text(err);
	}
}
