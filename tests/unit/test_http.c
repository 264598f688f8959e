/* Plain HTTP from servers that behave and that do not. */
#include "unit.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "err.h"
#include "http.h"

#define LIMIT 100000

static const struct {
	const char *what, *answer;
	size_t filler; /* bytes more */
	int err;
	const char *why; /* in the reason, or the body */
} rows[] = {
	{ "good", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 0, HIWAT_OK, "abc" },
	{ "to the end of the connection", "HTTP/1.0 200 OK\r\n\r\nabc", 0, HIWAT_OK, "abc" },
	{ "empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0, HIWAT_OK, "" },
	{ "not found", "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", 0, HIWAT_E_REJECTED, "HTTP status 404" },
	{ "forbidden", "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", 0, HIWAT_E_DENIED, "HTTP status 403" },
	{ "elsewhere", "HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", 0, HIWAT_E_REJECTED,
	    "HTTP status 302" },
	{ "breaks off", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", 0, HIWAT_E_TRUNCATED, "" },
	{ "nothing", "", 0, HIWAT_E_TRUNCATED, "" },
	{ "at the limit", "HTTP/1.0 200 OK\r\n\r\n", LIMIT, HIWAT_OK, "x" },
	{ "too much", "HTTP/1.0 200 OK\r\n\r\n", LIMIT + 1, HIWAT_E_TOOBIG, "" },
	{ "another protocol", "SSH-2.0-x\r\n\r\n", 0, HIWAT_E_REJECTED, "" },
};

static int
listen_here(char url[64])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);

	int fd = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	snprintf(url, 64, "http://127.0.0.1:%u/x", ntohs(a.sin_port));
	return fd;
}

/* Reads the request first: closing with unread bytes would reset the connection. */
static void
serve(int fd, int row)
{
	char request[2048], filler[1024];
	size_t n = 0, left = rows[row].filler;
	int c = accept(fd, NULL, NULL);

	memset(filler, 'x', sizeof(filler));
	signal(SIGPIPE, SIG_IGN);
	while (n < sizeof(request) - 1 && (n < 4 || memcmp(request + n - 4, "\r\n\r\n", 4) != 0)) {
		if (read(c, request + n, 1) != 1)
			_exit(1);
		n++;
	}
	ssize_t sent = write(c, rows[row].answer, strlen(rows[row].answer));
	while (sent >= 0 && left > 0) {
		sent = write(c, filler, left < sizeof(filler) ? left : sizeof(filler));
		left -= sent > 0 ? (size_t)sent : 0;
	}
	close(c);
	_exit(0);
}

START_TEST(answers)
{
	char url[64];
	struct fetch f;
	struct text out = TEXT("untouched");

	int fd = listen_here(url);
	pid_t server = fork();
	if (server == 0)
		serve(fd, _i);
	fetch_init(&f, NULL, LIMIT);
	int err = fetch_http(&f, url, 20000, &out);
	ck_assert_msg(err == rows[_i].err, "%s: %s: %s", rows[_i].what, err_text(err), f.why.text);
	if (err == HIWAT_OK) {
		ck_assert_uint_eq(out.n, rows[_i].filler > 0 ? rows[_i].filler : strlen(rows[_i].why));
		ck_assert(text_starts(out, rows[_i].why));
	} else {
		ck_assert(text_eq(out, "untouched"));
		ck_assert_msg(strstr(f.why.text, url) != NULL && strstr(f.why.text, rows[_i].why) != NULL, "%s", f.why.text);
	}
	fetch_fini(&f);
	close(fd);
	ck_assert_int_eq(waitpid(server, NULL, 0), server);
}
END_TEST

START_TEST(nobody_answers)
{
	char url[64];
	struct fetch f;
	struct text out;

	int fd = listen_here(url);
	fetch_init(&f, NULL, LIMIT);
	ck_assert_int_eq(fetch_http(&f, url, 50, &out), HIWAT_E_TIMEOUT);
	close(fd);
	ck_assert_int_eq(fetch_http(&f, url, 2000, &out), HIWAT_E_MISSING);
	ck_assert_ptr_nonnull(strstr(f.why.text, "Connection refused"));
	fetch_fini(&f);
}
END_TEST

/* A proxy of the environment is for others. */
START_TEST(no_proxy)
{
	char url[64];
	struct fetch f;
	struct text out;

	ck_assert_int_eq(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
	int fd = listen_here(url);
	pid_t server = fork();
	if (server == 0)
		serve(fd, 0);
	fetch_init(&f, NULL, LIMIT);
	ck_assert_int_eq(fetch_http(&f, url, 20000, &out), HIWAT_OK);
	fetch_fini(&f);
	close(fd);
	ck_assert_int_eq(waitpid(server, NULL, 0), server);
	unsetenv("http_proxy");
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("http");
	TCase *tc = tcase_create("http");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, answers, 0, ARRAY_LEN(rows));
	tcase_add_test(tc, nobody_answers);
	tcase_add_test(tc, no_proxy);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
