#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "err.h"
#include "fetch.h"
#include "keep.h"
#include "tree.h"

static struct tree dir;
static struct fetch fetch;
static unsigned n_calls;
static struct fetch_call last_call;

static void
hear(void *arg, const struct fetch_call *call)
{
	(void)arg;
	n_calls++;
	last_call = *call;
}

static const struct fetch_trace trace = { .call = hear };

static void
setup(void)
{
	tree_make(&dir);
	fetch_init(&fetch, &trace, 10000);
	n_calls = 0;
}

static void
teardown(void)
{
	fetch_fini(&fetch);
	tree_remove(&dir);
}

START_TEST(files_of_any_size_below_the_limit)
{
	static const struct {
		size_t size;
		int err;
	} rows[] = { { 0, 0 }, { 1, 0 }, { 4095, 0 }, { 4096, 0 }, { 4097, 0 }, { 9999, 0 }, { 10000, HIWAT_E_TOOBIG },
		{ 20000, HIWAT_E_TOOBIG } };
	static char content[20001];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fetch_file file;
		struct text text = TEXT("untouched");
		memset(content, 'x', rows[i].size);
		content[rows[i].size] = '\0';
		tree_write(&dir, "file", content);
		ck_assert_int_eq(fetch_file_init(&file, dir.dir, "file"), HIWAT_OK);
		for (int again = 0; again < 2; again++) {
			ck_assert_int_eq(fetch_file_read(&fetch, &file, &text), rows[i].err);
			ck_assert(rows[i].err != HIWAT_OK ? text_eq(text, "untouched") : text_eq(text, content));
		}
		ck_assert_int_eq(fetch_path(&fetch, file.path, &text), rows[i].err);
		fetch_file_fini(&file);
	}
}
END_TEST

START_TEST(what_is_no_file)
{
	struct text text;

	ck_assert_int_eq(fetch_path(&fetch, "/nonexistent/file", &text), HIWAT_E_MISSING);
	ck_assert_str_eq(fetch.why.text, "read /nonexistent/file: No such file or directory");
	ck_assert_int_eq(fetch_path(&fetch, dir.dir, &text), HIWAT_E_SYS);
	ck_assert_uint_eq(n_calls, 2);
	ck_assert_str_eq(last_call.verb, "read");
	ck_assert_str_eq(last_call.what, dir.dir);
	ck_assert_int_eq(last_call.sys_errno, EISDIR);
}
END_TEST

/* A descriptor that has gone bad, as of a device that was replaced, is given up for a new one. */
START_TEST(a_bad_descriptor_is_opened_anew)
{
	struct fetch_file file;
	struct text text;

	tree_write(&dir, "file", "42\n");
	ck_assert_int_eq(fetch_file_init(&file, dir.dir, "file"), HIWAT_OK);
	ck_assert_int_eq(fetch_file_read(&fetch, &file, &text), HIWAT_OK);
	int directory = open(dir.dir, O_RDONLY);
	ck_assert_int_eq(dup2(directory, file.fd), file.fd);
	close(directory);
	ck_assert_int_eq(fetch_file_read(&fetch, &file, &text), HIWAT_OK);
	ck_assert(text_eq(text, "42\n"));
	fetch_file_fini(&file);
}
END_TEST

START_TEST(numbers)
{
	struct fetch_file file;
	uint64_t value = 7;

	tree_write(&dir, "number", " 123\t4\n");
	tree_write(&dir, "word", "many\n");
	ck_assert_int_eq(fetch_file_init(&file, dir.dir, "number"), HIWAT_OK);
	ck_assert_int_eq(fetch_file_u64(&fetch, &file, &value), HIWAT_OK);
	ck_assert_uint_eq(value, 123);
	fetch_file_fini(&file);
	ck_assert_int_eq(fetch_file_init(&file, dir.dir, "word"), HIWAT_OK);
	ck_assert_int_eq(fetch_file_u64(&fetch, &file, &value), HIWAT_E_FORMAT);
	ck_assert_uint_eq(value, 123);
	fetch_file_fini(&file);
	char name[FETCH_PATH_MAX];
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(fetch_file_init(&file, dir.dir, name), HIWAT_E_TOOBIG);
}
END_TEST

/* ---------------------------------------------------------------------------------------------------------- sockets */

static int listener;
static char socket_path[100];
static size_t answer_size;

static void
listen_on_unix(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(socket_path, sizeof(socket_path), "%s/socket", dir.dir);
	memcpy(a.sun_path, socket_path, strlen(socket_path) + 1);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
}

/* Reads a line, answers answer_size bytes in pieces, closes. */
static void *
serve(void *arg)
{
	char byte = 0;
	int fd = accept(listener, NULL, NULL);

	(void)arg;
	while (byte != '\n' && read(fd, &byte, 1) == 1)
		;
	for (size_t sent = 0; sent < answer_size; sent++) {
		if (send(fd, "y", 1, MSG_NOSIGNAL) != 1)
			break;
	}
	close(fd);
	return NULL;
}

START_TEST(unix_answers)
{
	static const struct {
		size_t size;
		int err;
	} rows[] = { { 0, HIWAT_OK }, { 1, HIWAT_OK }, { 9000, HIWAT_OK }, { 20000, HIWAT_E_TOOBIG } };

	listen_on_unix();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct text text = TEXT("untouched");
		pthread_t server;
		answer_size = rows[i].size;
		ck_assert_int_eq(pthread_create(&server, NULL, serve, NULL), 0);
		ck_assert_int_eq(fetch_unix(&fetch, socket_path, TEXT("hello\n"), 10000, &text), rows[i].err);
		ck_assert_int_eq(pthread_join(server, NULL), 0);
		if (rows[i].err == HIWAT_OK)
			ck_assert_uint_eq(text.n, rows[i].size);
		else
			ck_assert(text_eq(text, "untouched"));
	}
	close(listener);
	/* The file is still there, nobody behind it. */
	struct text text;
	ck_assert_int_eq(fetch_unix(&fetch, socket_path, TEXT("hello\n"), 10000, &text), HIWAT_E_MISSING);
	ck_assert_ptr_nonnull(strstr(fetch.why.text, "Connection refused"));
	ck_assert_int_eq(fetch_unix(&fetch, "/nonexistent/socket", TEXT("x\n"), 10000, &text), HIWAT_E_MISSING);
}
END_TEST

/* A full backlog and a server that is silent cost the deadline and no more. */
START_TEST(unix_deadlines)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct text text;
	int waiting[4];

	listen_on_unix();
	ck_assert_int_eq(fetch_unix(&fetch, socket_path, TEXT("x\n"), 20, &text), HIWAT_E_TIMEOUT);
	memcpy(a.sun_path, socket_path, strlen(socket_path) + 1);
	for (size_t i = 0; i < ARRAY_LEN(waiting); i++) {
		waiting[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)connect(waiting[i], (struct sockaddr *)&a, sizeof(a));
	}
	ck_assert_int_eq(fetch_unix(&fetch, socket_path, TEXT("x\n"), 20, &text), HIWAT_E_TIMEOUT);
	for (size_t i = 0; i < ARRAY_LEN(waiting); i++)
		close(waiting[i]);
	close(listener);
}
END_TEST

START_TEST(datagrams)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	struct text text;

	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	uint16_t port = ntohs(a.sin_port);
	ck_assert_int_eq(fetch_datagram(&fetch, "127.0.0.1", port, TEXT("abc"), 20, &text), HIWAT_E_TIMEOUT);
	close(fd);
	ck_assert_int_eq(fetch_datagram(&fetch, "127.0.0.1", port, TEXT("abc"), 5000, &text), HIWAT_E_MISSING);
	ck_assert_int_eq(fetch_datagram(&fetch, "localhost", port, TEXT("abc"), 5000, &text), HIWAT_E_SYS);
}
END_TEST

/* ------------------------------------------------------------------------------------------------------------- keep */

START_TEST(kept_files)
{
	struct stat st;
	struct buf b;
	char path[128];

	buf_init(&b, 100);
	ck_assert_int_eq(keep_read(NULL, "name", &b), HIWAT_E_MISSING);
	ck_assert_int_eq(keep_read(dir.dir, "name", &b), HIWAT_E_MISSING);
	ck_assert_int_eq(keep_write(NULL, "name", TEXT("one")), HIWAT_OK);
	ck_assert_int_eq(keep_write(dir.dir, "name", TEXT("one")), HIWAT_OK);
	ck_assert_int_eq(keep_write(dir.dir, "name", TEXT("second")), HIWAT_OK);
	ck_assert_int_eq(keep_read(dir.dir, "name", &b), HIWAT_OK);
	ck_assert_str_eq(buf_str(&b), "second");
	snprintf(path, sizeof(path), "%s/name.new", dir.dir);
	ck_assert_int_ne(stat(path, &st), 0);
	ck_assert_int_eq(keep_write("/nonexistent", "name", TEXT("x")), HIWAT_E_MISSING);
	buf_fini(&b);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("fetch");
	TCase *tc = tcase_create("fetch");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, files_of_any_size_below_the_limit);
	tcase_add_test(tc, what_is_no_file);
	tcase_add_test(tc, a_bad_descriptor_is_opened_anew);
	tcase_add_test(tc, numbers);
	tcase_add_test(tc, unix_answers);
	tcase_add_test(tc, unix_deadlines);
	tcase_add_test(tc, datagrams);
	tcase_add_test(tc, kept_files);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
