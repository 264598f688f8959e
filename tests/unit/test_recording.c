/* Recordings: what was appended whole is read, whatever happened to the file behind or in between; bounds hold. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "frame.h"
#include "recording.h"

/* The linker sends the recorder's pwrite() here, so that a disk can refuse. */
ssize_t __real_pwrite(int fd, const void *data, size_t len, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t offset);

static int refuse_with;

ssize_t
__wrap_pwrite(int fd, const void *data, size_t len, off_t offset)
{
	if (refuse_with != 0) {
		if (len > 1)
			__real_pwrite(fd, data, len / 2, offset);
		errno = refuse_with;
		return -1;
	}
	return __real_pwrite(fd, data, len, offset);
}

#define SECOND 1000000000ull

static char parent[64], dir[96];
static struct recording_options options;
static uint8_t content[4000];

static void
setup(void)
{
	snprintf(parent, sizeof(parent), "%s/hiwat-recording-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(parent));
	snprintf(dir, sizeof(dir), "%s/recording", parent);
	options = (struct recording_options){
		.dir = dir,
		.max_bytes = 1 << 20,
		.file_bytes = 64 << 10,
		.file_age_ns = 3600 * SECOND,
		.max_files = 1000,
	};
	refuse_with = 0;
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * 7);
}

/* Names of the files in order; returns their number. */
static unsigned
files(char names[][RECORDING_NAME_MAX], unsigned max)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	unsigned n = 0;
	uint64_t number;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL) {
		if (!recording_name_parse(e->d_name, &number))
			continue;
		ck_assert_uint_lt(n, max);
		unsigned at = n++;
		for (; at > 0 && strcmp(names[at - 1], e->d_name) > 0; at--)
			memcpy(names[at], names[at - 1], RECORDING_NAME_MAX);
		memcpy(names[at], e->d_name, strlen(e->d_name) + 1); /* the name was parsed: it fits */
	}
	closedir(d);
	return n;
}

static const char *
path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%.100s", dir, name);
	return path;
}

static const char *
only_file(void)
{
	static char names[4][RECORDING_NAME_MAX];

	ck_assert_uint_eq(files(names, 4), 1);
	return path_of(names[0]);
}

static void
teardown(void)
{
	static char names[1000][RECORDING_NAME_MAX];
	unsigned n = access(dir, F_OK) == 0 ? files(names, 1000) : 0;

	for (unsigned i = 0; i < n; i++)
		unlink(path_of(names[i]));
	rmdir(dir);
	rmdir(parent);
}

/* Batch number n: its length and content follow from n. */
static struct recording_entry
batch(unsigned n)
{
	return (struct recording_entry){
		.type = RECORDING_BATCH,
		.wall_ns = n * SECOND,
		.sent_wall_ns = n * SECOND - 5,
		.oldest = n,
		.data = content,
		.len = n * 37 % sizeof(content),
	};
}

static void
append_batches(struct recorder *r, unsigned from, unsigned to)
{
	for (unsigned n = from; n < to; n++) {
		struct recording_entry e = batch(n);
		ck_assert_int_eq(recorder_append(r, &e), HIWAT_OK);
	}
}

static void
write_batches(unsigned from, unsigned to)
{
	struct recorder *r = recorder_new(&options);

	append_batches(r, from, to);
	recorder_free(r);
}

static void
is_batch(const struct recording_entry *e, unsigned n)
{
	struct recording_entry want = batch(n);

	ck_assert_int_eq(e->type, RECORDING_BATCH);
	ck_assert_uint_eq(e->wall_ns, want.wall_ns);
	ck_assert_uint_eq(e->sent_wall_ns, want.sent_wall_ns);
	ck_assert_uint_eq(e->oldest, want.oldest);
	ck_assert_uint_eq(e->len, want.len);
	ck_assert(e->len == 0 || memcmp(e->data, content, e->len) == 0);
}

struct tally {
	unsigned batches, begins, gaps;
	struct recording_damage damage;
};

/* Reads a file to its end; batches come in order, those that do not are not counted here. */
static struct tally
tally(const char *path)
{
	struct recording *r = NULL;
	struct recording_entry e;
	struct tally t = { 0 };
	bool gap;
	int err;

	ck_assert_int_eq(recording_open(path, &r), HIWAT_OK);
	while ((err = recording_next(r, &e, &gap)) == HIWAT_OK) {
		t.gaps += gap;
		t.begins += e.type == RECORDING_BEGIN;
		t.batches += e.type == RECORDING_BATCH;
		if (e.type == RECORDING_BATCH)
			is_batch(&e, (unsigned)(e.wall_ns / SECOND));
	}
	ck_assert_int_eq(err, HIWAT_E_NODATA);
	recording_damage(r, &t.damage);
	recording_close(r);
	return t;
}

START_TEST(what_is_written_is_read)
{
	write_batches(1, 30);
	struct tally t = tally(only_file());
	ck_assert_uint_eq(t.batches, 29);
	ck_assert_uint_eq(t.begins, 1);
	ck_assert_uint_eq(t.gaps, 0);
	ck_assert_uint_eq(t.damage.lost + t.damage.bytes + t.damage.torn + t.damage.others, 0);
	/* The next recorder goes on in the same file, and says that it began. */
	write_batches(30, 40);
	t = tally(only_file());
	ck_assert_uint_eq(t.batches, 39);
	ck_assert_uint_eq(t.begins, 2);
}
END_TEST

START_TEST(a_file_cut_anywhere_is_read_to_its_last_whole_entry)
{
	struct stat st;

	write_batches(1, 12);
	const char *path = only_file();
	ck_assert_int_eq(stat(path, &st), 0);
	unsigned before = 11;
	for (off_t len = st.st_size - 1; len >= FRAME_FILE_HEADER_BYTES; len--) {
		ck_assert_int_eq(truncate(path, len), 0);
		struct tally t = tally(path);
		ck_assert_uint_ge(t.batches + 1, before);
		ck_assert_uint_le(t.batches, before);
		ck_assert_uint_eq(t.damage.lost + t.damage.bytes, 0);
		before = t.batches;
	}
	ck_assert_uint_eq(before, 0);
}
END_TEST

START_TEST(a_torn_end_is_cut_before_more_is_written)
{
	write_batches(1, 12);
	const char *path = only_file();
	struct stat st;
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(truncate(path, st.st_size - 9), 0);
	write_batches(20, 23);
	struct tally t = tally(only_file());
	ck_assert_uint_eq(t.batches, 10 + 3);
	ck_assert_uint_eq(t.damage.lost + t.damage.bytes + t.damage.torn, 0);
}
END_TEST

START_TEST(damage_costs_what_is_damaged)
{
	struct stat st;
	uint8_t byte;

	write_batches(1, 12);
	const char *path = only_file();
	ck_assert_int_eq(stat(path, &st), 0);
	int fd = open(path, O_RDWR);
	/* The end of the last frame is known only when its header is whole; all but the last are followed by another. */
	for (off_t at = FRAME_FILE_HEADER_BYTES; at < st.st_size - FRAME_HEADER_BYTES - 11 * 37 - 17; at += 3) {
		ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
		byte ^= 0x55;
		ck_assert_int_eq(__real_pwrite(fd, &byte, 1, at), 1);
		struct tally t = tally(path);
		ck_assert_uint_ge(t.batches, 10);
		/* The mark is under no CRC, and means nothing in a recording. */
		if (t.batches + t.begins < 12) {
			ck_assert_uint_eq(t.damage.lost, 1);
			ck_assert_uint_gt(t.damage.bytes, 0);
			ck_assert_uint_eq(t.gaps, 1);
		}
		byte ^= 0x55;
		ck_assert_int_eq(__real_pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
}
END_TEST

START_TEST(other_files_are_refused)
{
	struct recording *r = NULL;
	uint8_t version = 2;

	ck_assert_int_eq(recording_open(path_of("none"), &r), HIWAT_E_SYS);
	write_batches(1, 2);
	const char *path = only_file();
	int fd = open(path, O_RDWR);
	ck_assert_int_eq(__real_pwrite(fd, &version, 1, 8), 1);
	ck_assert_int_eq(recording_open(path, &r), HIWAT_E_CORRUPT);
	/* With a right CRC it is a later version. */
	const struct frame_file later = { { 'h', 'i', 'w', 'a', 't', 'r', 'e', 'c' }, 2 };
	uint8_t header[FRAME_FILE_HEADER_BYTES];
	frame_file_encode(&later, 1, header);
	ck_assert_int_eq(__real_pwrite(fd, header, sizeof(header), 0), sizeof(header));
	ck_assert_int_eq(recording_open(path, &r), HIWAT_E_VERSION);
	ck_assert_int_eq(ftruncate(fd, 31), 0);
	ck_assert_int_eq(recording_open(path, &r), HIWAT_E_CORRUPT);
	close(fd);
}
END_TEST

START_TEST(size_and_number_of_files_have_bounds)
{
	static char names[1000][RECORDING_NAME_MAX];
	struct recorder_counts counts;
	struct stat st;

	options.max_bytes = 256 << 10;
	struct recorder *r = recorder_new(&options);
	for (unsigned n = 1; n < 2000; n++) {
		append_batches(r, n, n + 1);
		if (n % 50 != 0)
			continue;
		off_t sum = 0;
		unsigned n_files = files(names, 1000);
		for (unsigned i = 0; i < n_files; i++) {
			ck_assert_int_eq(stat(path_of(names[i]), &st), 0);
			ck_assert_int_le(st.st_size, 64 << 10);
			sum += st.st_size;
		}
		ck_assert_int_le(sum, 256 << 10);
	}
	recorder_count(r, &counts);
	ck_assert_uint_eq(counts.batches, 1999);
	ck_assert_uint_gt(counts.removed, 10);
	recorder_free(r);
	/* The newest stay, and can be read. */
	unsigned n = files(names, 1000);
	ck_assert_uint_ge(n, 4);
	ck_assert_uint_eq(tally(path_of(names[n - 1])).damage.lost, 0);

	options.max_files = 3;
	write_batches(2000, 2001);
	ck_assert_uint_eq(files(names, 1000), 3);
	write_batches(2001, 2200);
	ck_assert_uint_le(files(names, 1000), 3);
}
END_TEST

START_TEST(a_file_of_age_is_closed)
{
	char names[8][RECORDING_NAME_MAX];

	options.file_age_ns = 10 * SECOND;
	write_batches(1, 21);
	ck_assert_uint_eq(files(names, 8), 2);
	/* 1970-01-01T00:00:01Z */
	ck_assert_str_eq(names[0], "00000001-19700101T000001Z.rec");
	ck_assert_uint_eq(tally(path_of(names[0])).batches, 10);
	ck_assert_uint_eq(tally(path_of(names[1])).batches, 10);
}
END_TEST

START_TEST(a_disk_that_refuses_is_survived)
{
	struct recorder *r = recorder_new(&options);
	struct recorder_counts counts;
	struct recording_entry e = batch(6);

	append_batches(r, 1, 6);
	refuse_with = EIO;
	ck_assert_int_eq(recorder_append(r, &e), HIWAT_E_SYS);
	ck_assert_str_eq(recorder_problem(HIWAT_E_SYS), strerror(EIO));
	refuse_with = ENOSPC;
	ck_assert_int_eq(recorder_append(r, &e), HIWAT_E_SYS);
	refuse_with = 0;
	append_batches(r, 7, 9);
	recorder_count(r, &counts);
	ck_assert_uint_eq(counts.batches, 7);
	ck_assert_uint_eq(counts.lost, 2);
	recorder_free(r);
	/* Nothing is left of what was refused, and readers learn that something is missing. */
	struct tally t = tally(only_file());
	ck_assert_uint_eq(t.batches, 7);
	ck_assert_uint_eq(t.begins, 2);
	ck_assert_uint_eq(t.damage.lost + t.damage.bytes + t.damage.torn, 0);
}
END_TEST

START_TEST(space_is_left_free)
{
	struct recorder *r;
	struct recording_entry e = batch(1);

	options.min_free_bytes = UINT64_MAX / 2;
	r = recorder_new(&options);
	/* It is looked at now and then, not for each entry. */
	unsigned taken = 0;
	while (taken < 10000 && recorder_append(r, &e) == HIWAT_OK)
		taken++;
	ck_assert_uint_lt(taken, 10000);
	ck_assert_int_eq(recorder_append(r, &e), HIWAT_E_FULL);
	ck_assert_str_eq(recorder_problem(HIWAT_E_FULL), "less space is free than record.min_free_bytes");
	recorder_free(r);
}
END_TEST

START_TEST(a_directory_has_one_recorder)
{
	struct recorder *first = recorder_new(&options), *second = recorder_new(&options);
	struct recording_entry e = batch(1);

	append_batches(first, 1, 2);
	ck_assert_int_eq(recorder_append(second, &e), HIWAT_E_AGAIN);
	recorder_free(first);
	ck_assert_int_eq(recorder_append(second, &e), HIWAT_OK);
	recorder_free(second);
	/* A directory that cannot be made. */
	options.dir = "/proc/none/recording";
	first = recorder_new(&options);
	ck_assert_int_eq(recorder_append(first, &e), HIWAT_E_SYS);
	recorder_free(first);
}
END_TEST

START_TEST(what_is_too_large_is_refused)
{
	static uint8_t large[RECORDING_CONTENT_MAX + 1];
	struct recording_entry e = { .type = RECORDING_BATCH, .wall_ns = 1, .data = large, .len = sizeof(large) };

	options.file_bytes = 4 << 20;
	options.max_bytes = 8 << 20;
	struct recorder *r = recorder_new(&options);
	ck_assert_int_eq(recorder_append(r, &e), HIWAT_E_TOOBIG);
	e.len--;
	ck_assert_int_eq(recorder_append(r, &e), HIWAT_OK);
	recorder_free(r);
	struct recording *file = NULL;
	bool gap;
	ck_assert_int_eq(recording_open(only_file(), &file), HIWAT_OK);
	ck_assert_int_eq(recording_next(file, &e, &gap), HIWAT_OK);
	ck_assert_int_eq(recording_next(file, &e, &gap), HIWAT_OK);
	ck_assert_uint_eq(e.len, RECORDING_CONTENT_MAX);
	recording_close(file);
}
END_TEST

START_TEST(names_are_known)
{
	uint64_t number = 0;

	ck_assert(recording_name_parse("00000017-20261201T120000Z.rec", &number));
	ck_assert_uint_eq(number, 17);
	ck_assert(!recording_name_parse("00000017.rec", &number));
	ck_assert(!recording_name_parse("x-1.rec", &number));
	ck_assert(!recording_name_parse("00000017-20261201T120000Z.rec.zst", &number));
	ck_assert(!recording_name_parse("", &number));
}
END_TEST

static Suite *
recording_suite(void)
{
	Suite *s = suite_create("recording");
	TCase *tc = tcase_create("recording");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_is_written_is_read);
	tcase_add_test(tc, a_file_cut_anywhere_is_read_to_its_last_whole_entry);
	tcase_add_test(tc, a_torn_end_is_cut_before_more_is_written);
	tcase_add_test(tc, damage_costs_what_is_damaged);
	tcase_add_test(tc, other_files_are_refused);
	tcase_add_test(tc, size_and_number_of_files_have_bounds);
	tcase_add_test(tc, a_file_of_age_is_closed);
	tcase_add_test(tc, a_disk_that_refuses_is_survived);
	tcase_add_test(tc, space_is_left_free);
	tcase_add_test(tc, a_directory_has_one_recorder);
	tcase_add_test(tc, what_is_too_large_is_refused);
	tcase_add_test(tc, names_are_known);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(recording_suite)
