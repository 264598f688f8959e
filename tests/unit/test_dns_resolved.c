/* systemd-resolved's sampler against a socket that answers as one does: the program itself needs a system bus. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "err.h"
#include "sampled.h"
#include "scan.h"
#include "tree.h"

#define REQUEST "{\"method\":\"io.systemd.Resolve.Monitor.DumpStatistics\"}"
#define GOOD \
	"{\"parameters\":{\"transactions\":{\"currentTransactions\":0,\"totalTransactions\":9,\"totalTimeouts\":0," \
	"\"totalTimeoutsServedStale\":0,\"totalFailedResponses\":0,\"totalFailedResponsesServedStale\":0}," \
	"\"cache\":{\"size\":7,\"hits\":40,\"misses\":5}," \
	"\"dnssec\":{\"secure\":0,\"insecure\":0,\"bogus\":0,\"indeterminate\":0}}}"

static const struct {
	const char *what;
	struct text answer;
	bool stays_open; /* until the sample is taken, as the program does */
	int err;
	const char *expected; /* series, or in the reason */
} rows[] = {
	{ "good", { GOOD, sizeof(GOOD) }, true, HIWAT_OK,
	    "hiwat_dns_cache_hits_total{server=\"resolved\"} 40\nhiwat_dns_cache_misses_total{server=\"resolved\"} 5\n"
	    "hiwat_dns_cache_entries{cache=\"rrset\",server=\"resolved\"} 7\n" },
#define BYTES(literal) \
	{ \
		literal, sizeof(literal) \
	}
	{ "an older release", BYTES("{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":{}}"), true,
	    HIWAT_E_MISSING, "tells no statistics" },
	{ "not allowed", BYTES("{\"error\":\"org.varlink.service.PermissionDenied\",\"parameters\":{}}"), true,
	    HIWAT_E_DENIED, "permission denied" },
	{ "some other error", BYTES("{\"error\":\"io.systemd.Busy\",\"parameters\":{}}"), true, HIWAT_E_REJECTED,
	    "io.systemd.Busy" },
	{ "to root alone", { "", 0 }, false, HIWAT_E_DENIED, "closed without an answer" },
	{ "breaks off", { GOOD, 150 }, false, HIWAT_E_FORMAT, "breaks off" },
	{ "another object", BYTES("{\"parameters\":{}}"), true, HIWAT_E_NODATA, "" },
};

static struct tree dir;

static void
serve(int fd, int row)
{
	char request[sizeof(REQUEST)], byte;
	size_t n = 0;
	int c = accept(fd, NULL, NULL);

	while (n < sizeof(request)) {
		ssize_t got = read(c, request + n, sizeof(request) - n);
		if (got <= 0)
			_exit(1);
		n += (size_t)got;
	}
	if (memcmp(request, REQUEST, sizeof(request)) != 0)
		_exit(2);
	if (write(c, rows[row].answer.p, rows[row].answer.n) != (ssize_t)rows[row].answer.n)
		_exit(3);
	if (rows[row].stays_open && read(c, &byte, 1) != 0)
		_exit(4);
	_exit(0);
}

START_TEST(answers)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct sampler_config config = SAMPLER_DEFAULTS;
	struct sampled sampled;
	char path[100];
	int status;

	tree_make(&dir);
	snprintf(path, sizeof(path), "%s/monitor", dir.dir);
	memcpy(a.sun_path, path, strlen(path) + 1);
	config.resolved_socket = path;
	sampled_open(&sampled, "dns_resolved", &config);
	ck_assert_int_eq(sampled_take(&sampled, 1), HIWAT_E_MISSING);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	pid_t server = fork();
	if (server == 0)
		serve(fd, _i);
	if (rows[_i].err == HIWAT_OK) {
		sampled_expect(&sampled, 10, rows[_i].expected);
	} else {
		int err = sampled_take(&sampled, 10);
		ck_assert_msg(err == rows[_i].err, "%s: %s: %s", rows[_i].what, err_text(err), sampled.why.text);
		ck_assert_msg(strstr(sampled.why.text, path) != NULL && strstr(sampled.why.text, rows[_i].expected) != NULL,
		    "%s", sampled.why.text);
	}
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	ck_assert_int_eq(status, 0);
	close(fd);
	sampled_close(&sampled);
	tree_remove(&dir);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("dns_resolved");
	TCase *tc = tcase_create("dns_resolved");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, answers, 0, ARRAY_LEN(rows));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
