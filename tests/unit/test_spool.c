#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "crc32c.h"
#include "err.h"
#include "spool.h"

/*
 * The linker sends the spool's pwrite() and unlinkat() here, so that a child process can die inside any of them, having
 * written half, and so that a disk can refuse.
 */
ssize_t __real_pwrite(int fd, const void *data, size_t len, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t offset);
int __real_unlinkat(int fd, const char *path, int flags);
int __wrap_unlinkat(int fd, const char *path, int flags);

static long calls_left = -1; /* -1: never */
static int refuse_with;

ssize_t
__wrap_pwrite(int fd, const void *data, size_t len, off_t offset)
{
	if (refuse_with != 0) {
		errno = refuse_with;
		return -1;
	}
	if (calls_left >= 0 && calls_left-- == 0) {
		__real_pwrite(fd, data, len / 2, offset);
		_exit(0);
	}
	return __real_pwrite(fd, data, len, offset);
}

int
__wrap_unlinkat(int fd, const char *path, int flags)
{
	if (calls_left >= 0 && calls_left-- == 0)
		_exit(0);
	return __real_unlinkat(fd, path, flags);
}

static char dir[64];
static uint64_t boot;
static struct buf content;

static void
empty_dir(void)
{
	char path[400];
	DIR *d = opendir(dir);
	const struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
	}
	if (d != NULL)
		closedir(d);
	rmdir(dir);
}

static void
setup(void)
{
	/* In memory where that is possible: thousands of syncs would wait for a disk that this test does not ask about. */
	snprintf(dir, sizeof(dir), "%s/hiwat-spool-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	buf_init(&content, SPOOL_BATCH_MAX);
	calls_left = -1;
	refuse_with = 0;
}

static void
teardown(void)
{
	refuse_with = 0;
	empty_dir();
	buf_fini(&content);
}

static struct spool *
reopen(struct spool *s, uint64_t max_bytes)
{
	struct spool_options options = { .dir = dir, .max_bytes = max_bytes, .boot = boot };

	spool_close(s);
	s = NULL;
	ck_assert_int_eq(spool_open(&options, &s), 0);
	return s;
}

/* A batch of len bytes that says its sequence. */
static int
append(struct spool *s, size_t len, uint64_t *sequence)
{
	static char data[100000];
	uint64_t next = spool_next_sequence(s);

	memset(data, (int)('a' + next % 26), len);
	memcpy(data, &next, sizeof(next));
	int err = spool_append(s, data, len);
	if (err == 0 && sequence != NULL)
		*sequence = next;
	return err;
}

static bool
is_whole(const struct buf *b, uint64_t sequence)
{
	if (b->len < sizeof(sequence) || memcmp(b->data, &sequence, sizeof(sequence)) != 0)
		return false;
	for (size_t i = sizeof(sequence); i < b->len; i++) {
		if (b->data[i] != (char)('a' + sequence % 26))
			return false;
	}
	return true;
}

/* Reads everything, checks each content and the equation of the ledger; returns the counts. */
static struct spool_counts
check(struct spool *s)
{
	struct spool_counts c;
	uint64_t at = 0, sequence, n = 0, first = 0;
	int err;

	while ((err = spool_read(s, at, &content, &sequence)) == 0) {
		ck_assert_uint_gt(sequence, at);
		ck_assert(is_whole(&content, sequence));
		if (n++ == 0)
			first = sequence;
		at = sequence;
	}
	ck_assert_int_eq(err, HIWAT_E_NODATA);
	spool_count(s, &c);
	ck_assert_uint_eq(c.in_spool, n);
	ck_assert_uint_eq(c.produced, c.acknowledged + c.in_spool + c.dropped_full + c.dropped_corrupt + c.rejected);
	if (n > 0)
		ck_assert_uint_eq(c.oldest, first);
	else
		ck_assert_uint_eq(c.oldest, c.newest + 1);
	return c;
}

static void
check_counts(struct spool *s, uint64_t produced, uint64_t acknowledged, uint64_t in_spool, uint64_t rejected)
{
	struct spool_counts c = check(s);

	ck_assert_uint_eq(c.produced, produced);
	ck_assert_uint_eq(c.acknowledged, acknowledged);
	ck_assert_uint_eq(c.in_spool, in_spool);
	ck_assert_uint_eq(c.rejected, rejected);
}

START_TEST(crc_is_castagnoli)
{
	uint8_t zeros[32] = { 0 }, data[600];

	ck_assert_uint_eq(crc32c(0, "123456789", 9), 0xe3069283);
	ck_assert_uint_eq(crc32c_portable(0, "123456789", 9), 0xe3069283);
	ck_assert_uint_eq(crc32c(0, zeros, sizeof(zeros)), 0x8a9136aa);
	ck_assert_uint_eq(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	for (size_t i = 0; i < 40; i++)
		ck_assert_uint_eq(crc32c(0, data + i, sizeof(data) - 3 * i),
		    crc32c_portable(0, data + i, sizeof(data) - 3 * i));
}
END_TEST

START_TEST(keeps_until_acknowledged)
{
	struct spool *s = reopen(NULL, 1 << 20);
	uint64_t stream = spool_stream(s), sequence;

	check_counts(s, 0, 0, 0, 0);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(append(s, 500, NULL), 0);
	check_counts(s, 10, 0, 10, 0);
	spool_acknowledge(s, 4);
	check_counts(s, 10, 4, 6, 0);
	spool_acknowledge(s, 2);
	check_counts(s, 10, 4, 6, 0);
	ck_assert_int_eq(spool_read(s, 7, &content, &sequence), 0);
	ck_assert_uint_eq(sequence, 8);
	s = reopen(s, 1 << 20);
	ck_assert_uint_eq(spool_stream(s), stream);
	ck_assert_uint_eq(spool_next_sequence(s), 11);
	check_counts(s, 10, 4, 6, 0);
	spool_acknowledge(s, 10);
	check_counts(s, 10, 10, 0, 0);
	ck_assert_int_eq(append(s, 500, &sequence), 0);
	ck_assert_uint_eq(sequence, 11);
	s = reopen(s, 1 << 20);
	check_counts(s, 11, 10, 1, 0);
	spool_close(s);
}
END_TEST

START_TEST(rejects_out_of_order)
{
	struct spool *s = reopen(NULL, 1 << 20);

	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(append(s, 100, NULL), 0);
	spool_reject(s, 10);
	spool_reject(s, 10);
	spool_reject(s, 5);
	spool_reject(s, 99);
	check_counts(s, 10, 0, 8, 2);
	s = reopen(s, 1 << 20);
	check_counts(s, 10, 0, 8, 2);
	spool_reject(s, 1);
	struct spool_counts c = check(s);
	ck_assert_uint_eq(c.oldest, 2);
	spool_acknowledge(s, 4);
	c = check(s);
	ck_assert_uint_eq(c.oldest, 6);
	check_counts(s, 10, 3, 4, 3);
	spool_acknowledge(s, 9);
	check_counts(s, 10, 7, 0, 3);
	s = reopen(s, 1 << 20);
	check_counts(s, 10, 7, 0, 3);
	spool_close(s);
}
END_TEST

START_TEST(full_drops_the_oldest)
{
	struct spool *s = reopen(NULL, SPOOL_BYTES_MIN);
	struct spool_counts c;

	for (int i = 0; i < 1000; i++) {
		ck_assert_int_eq(append(s, 5000, NULL), 0);
		spool_count(s, &c);
		ck_assert_uint_le(c.disk_bytes, SPOOL_BYTES_MIN);
		ck_assert_uint_le(c.files, 18);
	}
	c = check(s);
	ck_assert_uint_eq(c.produced, 1000);
	ck_assert_uint_eq(c.newest, 1000);
	ck_assert_uint_gt(c.in_spool, 180);
	ck_assert_uint_eq(c.dropped_full, 1000 - c.in_spool);
	ck_assert_uint_eq(c.oldest, 1001 - c.in_spool);
	uint64_t dropped = c.dropped_full;
	s = reopen(s, SPOOL_BYTES_MIN);
	c = check(s);
	ck_assert_uint_eq(c.dropped_full, dropped);
	/* The newest first, then from the oldest on. */
	uint64_t sequence;
	ck_assert_int_eq(spool_read(s, 999, &content, &sequence), 0);
	ck_assert_uint_eq(sequence, 1000);
	ck_assert_int_eq(spool_read(s, 0, &content, &sequence), 0);
	ck_assert_uint_eq(sequence, c.oldest);
	/* Batches larger than a segment. */
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(append(s, 90000, NULL), 0);
	c = check(s);
	ck_assert_uint_le(c.disk_bytes, SPOOL_BYTES_MIN);
	/* Acknowledged segments leave the disk with the next sync. */
	spool_acknowledge(s, c.newest);
	ck_assert_int_eq(spool_sync(s, 5000000000), 0);
	c = check(s);
	ck_assert_uint_eq(c.in_spool, 0);
	ck_assert_uint_eq(c.bytes, 0);
	ck_assert_uint_le(c.files, 1);
	spool_close(s);
}
END_TEST

START_TEST(refuses_what_it_cannot_hold)
{
	struct spool *s = reopen(NULL, 1 << 20), *other = NULL;
	struct spool_options options = { .dir = dir, .max_bytes = 1 << 20 };

	ck_assert_int_eq(spool_append(s, "", 0), HIWAT_E_TOOBIG);
	ck_assert_int_eq(spool_append(s, "x", SPOOL_BATCH_MAX + 1), HIWAT_E_TOOBIG);
	check_counts(s, 0, 0, 0, 0);
	ck_assert_int_eq(spool_open(&options, &other), HIWAT_E_AGAIN);
	ck_assert_ptr_null(other);
	spool_close(s);
}
END_TEST

/* A disk that refuses leaves the newest batches in memory; what then is lost with the process is counted. */
START_TEST(disk_refuses)
{
	struct spool *s = reopen(NULL, 1 << 20);

	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(append(s, 1000, NULL), 0);
	ck_assert_str_eq(spool_problem(s), "");
	refuse_with = EIO;
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(append(s, 1000, NULL), 0);
	ck_assert_ptr_nonnull(strstr(spool_problem(s), "Input/output error"));
	check_counts(s, 10, 0, 10, 0);
	spool_acknowledge(s, 6);
	spool_reject(s, 8);
	check_counts(s, 10, 6, 3, 1);
	refuse_with = 0;
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(append(s, 1000, NULL), 0);
	ck_assert_str_eq(spool_problem(s), "");
	check_counts(s, 15, 6, 8, 1);
	s = reopen(s, 1 << 20);
	struct spool_counts c = check(s);
	ck_assert_uint_eq(c.produced, 15);
	ck_assert_uint_eq(c.in_spool, 5);
	ck_assert_uint_eq(c.acknowledged, 6);
	ck_assert_uint_eq(c.dropped_corrupt, 4);
	spool_close(s);
}
END_TEST

/* Memory is bounded too, and no batch on disk goes for one in memory. */
START_TEST(memory_is_bounded)
{
	struct spool *s = reopen(NULL, 1 << 20);
	struct spool_counts c;

	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(append(s, 1000, NULL), 0);
	refuse_with = EROFS;
	for (int i = 0; i < SPOOL_MEMORY_BATCHES + 10; i++)
		ck_assert_int_eq(append(s, 1000, NULL), 0);
	spool_reject(s, 16);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(append(s, 1000, NULL), 0);
	c = check(s);
	ck_assert_uint_eq(c.in_spool, SPOOL_MEMORY_BATCHES + 5);
	ck_assert_uint_eq(c.dropped_full, 12);
	spool_acknowledge(s, 7);
	c = check(s);
	ck_assert_uint_eq(c.acknowledged, 5);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(append(s, 90000, NULL), 0);
	c = check(s);
	ck_assert_uint_le(c.bytes, SPOOL_MEMORY_BYTES + SPOOL_BATCH_MAX);
	spool_acknowledge(s, c.newest);
	c = check(s);
	ck_assert_uint_eq(c.in_spool, 0);
	ck_assert_uint_eq(c.dropped_corrupt, 0);
	refuse_with = 0;
	spool_close(s);
}
END_TEST

START_TEST(works_without_a_directory)
{
	struct spool_options options = { .dir = "/proc/none/spool", .max_bytes = 1 << 20 };
	struct spool *s;

	for (int round = 0; round < 2; round++) {
		ck_assert_int_eq(spool_open(&options, &s), 0);
		ck_assert(spool_problem(s)[0] != '\0');
		ck_assert(spool_stream(s) != 0);
		for (int i = 0; i < 3; i++)
			ck_assert_int_eq(append(s, 1000, NULL), 0);
		ck_assert_int_eq(spool_sync(s, 1), 0);
		spool_acknowledge(s, 1);
		check_counts(s, 3, 1, 2, 0);
		spool_close(s);
		options.dir = NULL;
	}
}
END_TEST

START_TEST(keeps_free_space)
{
	struct spool_options options = { .dir = dir, .max_bytes = 1 << 20, .min_free_bytes = UINT64_MAX / 2 };
	struct spool *s;

	ck_assert_int_eq(spool_open(&options, &s), 0);
	ck_assert_int_eq(append(s, 1000, NULL), 0);
	ck_assert_ptr_nonnull(strstr(spool_problem(s), "min_free_bytes"));
	struct spool_counts c = check(s);
	ck_assert_uint_eq(c.disk_bytes, 0);
	ck_assert_uint_eq(c.in_spool, 1);
	spool_close(s);
}
END_TEST

START_TEST(skips_what_the_collector_knows)
{
	struct spool *s = reopen(NULL, 1 << 20);
	uint64_t sequence;

	ck_assert_int_eq(append(s, 100, NULL), 0);
	spool_skip(s, 0);
	spool_skip(s, 1);
	ck_assert_int_eq(append(s, 100, &sequence), 0);
	ck_assert_uint_eq(sequence, 2);
	spool_skip(s, 5000);
	ck_assert_int_eq(append(s, 100, &sequence), 0);
	ck_assert_uint_eq(sequence, 5001);
	s = reopen(s, 1 << 20);
	ck_assert_int_eq(append(s, 100, &sequence), 0);
	ck_assert_uint_eq(sequence, 5002);
	check_counts(s, 4, 0, 4, 0);
	spool_close(s);
}
END_TEST

/* What the dying child had been told, in memory that outlives it. */
struct witness {
	uint64_t appended, acknowledged, rejected, last_sequence;
};

/* Appends, acknowledges and rejects so that segments are rotated, dropped and deleted; dies within call number k. */
static void
live_and_die(struct witness *w, long k)
{
	struct spool_options options = { .dir = dir, .max_bytes = SPOOL_BYTES_MIN };
	struct spool *s;

	calls_left = k;
	if (spool_open(&options, &s) != 0)
		_exit(1);
	for (int i = 0; i < 40; i++) {
		uint64_t sequence;
		if (append(s, 30000, &sequence) != 0)
			_exit(1);
		w->appended++;
		w->last_sequence = sequence;
		if (i % 7 == 3) {
			spool_reject(s, sequence - 1);
			w->rejected++;
		}
		if (i % 10 == 9 && i < 20) {
			spool_acknowledge(s, sequence - 4);
			w->acknowledged = sequence - 4;
			spool_sync(s, (uint64_t)(i + 1) * 2000000000);
		}
	}
	calls_left = -1;
	_exit(2);
}

/* Dies at every single write and delete; what was promised before holds afterwards. */
START_TEST(killed_at_any_write)
{
	struct witness *w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool survived = false;

	ck_assert(w != MAP_FAILED);
	for (long k = 0; !survived; k++) {
		int status;
		*w = (struct witness){ 0 };
		empty_dir();
		pid_t child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0)
			live_and_die(w, k);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 1);
		survived = WEXITSTATUS(status) == 2;
		struct spool *s = reopen(NULL, SPOOL_BYTES_MIN);
		struct spool_counts c = check(s);
		ck_assert_uint_ge(c.produced, w->appended);
		ck_assert_uint_le(c.produced, w->appended + 1);
		ck_assert_uint_eq(c.dropped_corrupt, 0);
		ck_assert_uint_ge(c.rejected, w->rejected);
		ck_assert_uint_le(c.rejected, w->rejected + 1);
		if (w->acknowledged > 0)
			ck_assert_uint_gt(c.oldest, w->acknowledged);
		ck_assert_uint_gt(spool_next_sequence(s), w->last_sequence);
		ck_assert_uint_le(spool_next_sequence(s), w->last_sequence + 2);
		ck_assert_int_eq(append(s, 30000, NULL), 0);
		check(s);
		spool_close(s);
	}
	munmap(w, sizeof(*w));
}
END_TEST

/* A small spool's files as bytes. */
struct file {
	char path[400];
	char *data;
	size_t len;
};

static size_t
take_files(struct file *files, size_t max)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL) {
		struct stat st;
		struct file *f = &files[n];
		snprintf(f->path, sizeof(f->path), "%s/%s", dir, e->d_name);
		if (e->d_name[0] == '.' || stat(f->path, &st) != 0)
			continue;
		ck_assert_uint_lt(n, max);
		f->len = (size_t)st.st_size;
		f->data = malloc(f->len);
		int fd = open(f->path, O_RDONLY);
		ck_assert_int_eq(read(fd, f->data, f->len), (long)f->len);
		close(fd);
		n++;
	}
	closedir(d);
	return n;
}

/* The directory as taken, but file `which` cut to len bytes, or with byte `at` changed. */
static void
put_files(const struct file *files, size_t n, size_t which, size_t len, size_t at, int flip)
{
	empty_dir();
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	for (size_t i = 0; i < n; i++) {
		size_t size = i == which ? len : files[i].len;
		int fd = open(files[i].path, O_WRONLY | O_CREAT, 0600);
		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(write(fd, files[i].data, size), (long)size);
		if (i == which && flip != 0) {
			char byte = (char)(files[i].data[at] ^ flip);
			ck_assert_int_eq(__real_pwrite(fd, &byte, 1, (off_t)at), 1);
		}
		close(fd);
	}
}

#define SMALL_BATCHES 6

static size_t
make_small(struct file *files, size_t max)
{
	struct spool *s = reopen(NULL, 1 << 20);

	for (int i = 0; i < SMALL_BATCHES; i++)
		ck_assert_int_eq(append(s, (size_t)(40 + i), NULL), 0);
	spool_acknowledge(s, 1);
	spool_reject(s, 4);
	spool_close(s);
	return take_files(files, max);
}

static void
free_files(struct file *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(files[i].data);
}

START_TEST(any_byte_flipped)
{
	struct file files[4];
	size_t n = make_small(files, 4);

	ck_assert_uint_eq(n, 2);
	for (size_t which = 0; which < n; which++) {
		bool is_ledger = strstr(files[which].path, "ledger") != NULL;
		for (size_t at = 0; at < files[which].len; at++) {
			for (int flip = 1; flip < 256; flip = flip == 1 ? 0x80 : flip == 0x80 ? 0xff : 256) {
				put_files(files, n, which, files[which].len, at, flip);
				struct spool *s = reopen(NULL, 1 << 20);
				struct spool_counts c = check(s);
				ck_assert_uint_eq(c.produced, SMALL_BATCHES);
				/* One batch at most; a flipped mark brings a rejected one back. */
				ck_assert_uint_le(c.dropped_corrupt, is_ledger ? 0 : 1);
				ck_assert_uint_ge(c.in_spool + c.dropped_corrupt, SMALL_BATCHES - 2);
				ck_assert_uint_eq(c.acknowledged, 1);
				ck_assert_int_eq(append(s, 50, NULL), 0);
				struct spool_counts again = check(s);
				ck_assert_uint_eq(again.in_spool, c.in_spool + 1);
				s = reopen(s, 1 << 20);
				again = check(s);
				ck_assert_uint_eq(again.dropped_corrupt, c.dropped_corrupt);
				ck_assert_uint_eq(again.in_spool, c.in_spool + 1);
				spool_close(s);
			}
		}
	}
	free_files(files, n);
}
END_TEST

START_TEST(cut_at_any_byte)
{
	struct file files[4];
	size_t n = make_small(files, 4);

	for (size_t which = 0; which < n; which++) {
		bool is_ledger = strstr(files[which].path, "ledger") != NULL;
		for (size_t len = 0; len < files[which].len; len++) {
			put_files(files, n, which, len, 0, 0);
			struct spool *s = reopen(NULL, 1 << 20);
			struct spool_counts c = check(s);
			if (!is_ledger) {
				ck_assert_uint_eq(c.produced, SMALL_BATCHES);
				ck_assert_uint_ge(c.dropped_corrupt, 1);
			}
			ck_assert_uint_gt(spool_next_sequence(s), SMALL_BATCHES);
			ck_assert_int_eq(append(s, 50, NULL), 0);
			check(s);
			spool_close(s);
		}
	}
	free_files(files, n);
}
END_TEST

/* After a power failure only what was synced is there, yet no number that was handed out is used again. */
START_TEST(power_fails)
{
	struct file files[4];
	uint64_t sequence = 0;
	struct spool *s = reopen(NULL, 1 << 20);

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(append(s, 100, NULL), 0);
	ck_assert_int_eq(spool_sync(s, 1000000000), 0);
	/* What follows fits into the reserve, so nothing of it needs to be on disk. */
	size_t n = take_files(files, 4);
	for (int i = 0; i < SPOOL_RESERVE - 3; i++)
		ck_assert_int_eq(append(s, 100, &sequence), 0);
	spool_acknowledge(s, 10);
	spool_close(s);
	put_files(files, n, n, 0, 0, 0);
	boot++;
	s = reopen(NULL, 1 << 20);
	ck_assert_uint_gt(spool_next_sequence(s), sequence);
	ck_assert_uint_eq(spool_previous_sequence(s), 3);
	/* Nor after the next start, even if nothing was added in between. */
	s = reopen(s, 1 << 20);
	ck_assert_uint_gt(spool_next_sequence(s), sequence);
	ck_assert_uint_eq(spool_previous_sequence(s), 3);
	check_counts(s, 3, 0, 3, 0);
	/* The gap in the numbers is no loss. */
	ck_assert_int_eq(append(s, 100, &sequence), 0);
	spool_acknowledge(s, sequence);
	ck_assert_uint_eq(spool_previous_sequence(s), sequence);
	check_counts(s, 4, 4, 0, 0);
	spool_close(s);
	free_files(files, n);
}
END_TEST

/* A ledger that is gone costs the totals, not a batch and not the uniqueness of numbers. */
START_TEST(ledger_lost)
{
	struct file files[4];
	size_t n = make_small(files, 4);
	struct spool *s = reopen(NULL, 1 << 20);
	uint64_t stream = spool_stream(s);

	spool_close(s);
	for (size_t i = 0; i < n; i++) {
		if (strstr(files[i].path, "ledger") != NULL)
			unlink(files[i].path);
	}
	s = reopen(NULL, 1 << 20);
	ck_assert_uint_eq(spool_stream(s), stream);
	ck_assert_uint_ge(spool_next_sequence(s), SMALL_BATCHES + SPOOL_RESERVE);
	check_counts(s, 6, 0, 5, 1);
	spool_close(s);
	free_files(files, n);
}
END_TEST

START_TEST(foreign_files)
{
	char path[200];
	struct spool *s;

	for (int i = 1; i <= 5; i++) {
		snprintf(path, sizeof(path), "%s/%016x.seg", dir, i);
		FILE *f = fopen(path, "w");
		for (int j = 0; j < 5000; j++)
			fputc(j * i & 0xff, f);
		fclose(f);
	}
	s = reopen(NULL, 1 << 20);
	check_counts(s, 0, 0, 0, 0);
	ck_assert_int_eq(append(s, 50, NULL), 0);
	check_counts(s, 1, 0, 1, 0);
	s = reopen(s, 1 << 20);
	check_counts(s, 1, 0, 1, 0);
	int bad = 0;
	DIR *d = opendir(dir);
	for (const struct dirent *e; (e = readdir(d)) != NULL;)
		bad += strstr(e->d_name, ".bad") != NULL;
	closedir(d);
	ck_assert_int_eq(bad, 2);
	spool_close(s);
}
END_TEST

/* Twice: the second takes the place of the first. */
START_TEST(set_aside)
{
	char inner[100], aside[110];

	snprintf(inner, sizeof(inner), "%s/spool", dir);
	snprintf(aside, sizeof(aside), "%s.other", inner);
	ck_assert_int_eq(spool_set_aside(inner), HIWAT_E_MISSING);
	for (int i = 0; i < 2; i++) {
		struct spool_options options = { .dir = inner, .max_bytes = SPOOL_BYTES_MIN, .boot = boot };
		struct spool *s = NULL;
		struct spool_counts counts;
		uint64_t sequence;
		ck_assert_int_eq(spool_open(&options, &s), 0);
		spool_count(s, &counts);
		ck_assert_uint_eq(counts.produced, 0);
		ck_assert_int_eq(append(s, 100, &sequence), 0);
		spool_close(s);
		ck_assert_int_eq(spool_set_aside(inner), 0);
		ck_assert_int_ne(access(inner, F_OK), 0);
		ck_assert_int_eq(access(aside, F_OK), 0);
	}
	/* The second batch alone is there; it goes with the directory. */
	struct spool_options options = { .dir = aside, .max_bytes = SPOOL_BYTES_MIN, .boot = boot };
	struct spool *s = NULL;
	struct spool_counts counts;
	ck_assert_int_eq(spool_open(&options, &s), 0);
	spool_count(s, &counts);
	ck_assert_uint_eq(counts.produced, 1);
	spool_close(s);
	DIR *d = opendir(aside);
	ck_assert_ptr_nonnull(d);
	for (const struct dirent *e; (e = readdir(d)) != NULL;)
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	ck_assert_int_eq(rmdir(aside), 0);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *s = suite_create("spool");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 100);
	tcase_add_test(tc, set_aside);
	tcase_add_test(tc, crc_is_castagnoli);
	tcase_add_test(tc, keeps_until_acknowledged);
	tcase_add_test(tc, rejects_out_of_order);
	tcase_add_test(tc, full_drops_the_oldest);
	tcase_add_test(tc, refuses_what_it_cannot_hold);
	tcase_add_test(tc, disk_refuses);
	tcase_add_test(tc, memory_is_bounded);
	tcase_add_test(tc, works_without_a_directory);
	tcase_add_test(tc, keeps_free_space);
	tcase_add_test(tc, skips_what_the_collector_knows);
	tcase_add_test(tc, killed_at_any_write);
	tcase_add_test(tc, any_byte_flipped);
	tcase_add_test(tc, cut_at_any_byte);
	tcase_add_test(tc, power_fails);
	tcase_add_test(tc, ledger_lost);
	tcase_add_test(tc, foreign_files);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
