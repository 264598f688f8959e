/*
 * A webhook receiver for tests and the demonstration: checks the signature, except of paths below /open/, appends each body
 * to a file, one a line, and misbehaves on demand.
 * usage: receiver -o FILE [-p PORT] [-s SECRET_FILE] [-m MODE] [-n COUNT] [-t SECONDS]
 *   MODE for the first COUNT requests: ok (default), 500, 429 (Retry-After 1), hang, drop (accepted, the answer is lost)
 * Prints "listening PORT" once it is ready. Ends after SECONDS (600) or at SIGTERM.
 */
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BODY_MAX (1u << 20)
#define SECRET_MAX 4096

static char secret[SECRET_MAX];
static size_t secret_len;
static int out_fd = -1;
static const char *mode = "ok";
static unsigned long misbehave;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct body {
	size_t len;
	char data[BODY_MAX];
};

/* "t=SECONDS,v1=HEX": HMAC-SHA-256 over SECONDS, a dot and the body. */
static bool
signature_holds(const char *header, const struct body *b)
{
	char stamp[32], given[65], hex[65] = "";
	unsigned char digest[32];
	gnutls_hmac_hd_t hmac;

	if (secret_len == 0)
		return true;
	if (header == NULL || sscanf(header, "t=%31[0-9],v1=%64[0-9a-f]", stamp, given) != 2)
		return false;
	long long age = (long long)time(NULL) - atoll(stamp);
	if (age > 300 || age < -300 || gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, secret, secret_len) < 0)
		return false;
	gnutls_hmac(hmac, stamp, strlen(stamp));
	gnutls_hmac(hmac, ".", 1);
	gnutls_hmac(hmac, b->data, b->len);
	gnutls_hmac_deinit(hmac, digest);
	for (int i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	return strcmp(hex, given) == 0;
}

static enum MHD_Result
reply(struct MHD_Connection *c, unsigned status, const char *retry_after)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

	if (retry_after != NULL)
		MHD_add_response_header(r, "Retry-After", retry_after);
	enum MHD_Result result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

static bool
keep(struct body *b)
{
	for (size_t i = 0; i < b->len; i++) {
		if (b->data[i] == '\n')
			b->data[i] = ' ';
	}
	b->data[b->len] = '\n';
	return write(out_fd, b->data, b->len + 1) == (ssize_t)(b->len + 1);
}

static enum MHD_Result
finish(struct MHD_Connection *c, const char *url, struct body *b)
{
	pthread_mutex_lock(&lock);
	bool bad = misbehave > 0;
	if (bad)
		misbehave--;
	pthread_mutex_unlock(&lock);
	if (bad && strcmp(mode, "500") == 0)
		return reply(c, 500, NULL);
	if (bad && strcmp(mode, "429") == 0)
		return reply(c, 429, "1");
	if (bad && strcmp(mode, "hang") == 0) {
		sleep(60);
		return MHD_NO;
	}
	if (strncmp(url, "/open/", 6) != 0 &&
	    !signature_holds(MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Hiwat-Signature"), b)) {
		fprintf(stderr, "receiver: the signature does not hold\n");
		return reply(c, 401, NULL);
	}
	pthread_mutex_lock(&lock);
	bool kept = keep(b);
	pthread_mutex_unlock(&lock);
	if (bad && strcmp(mode, "drop") == 0)
		return MHD_NO;
	return reply(c, kept ? 204 : 500, NULL);
}

static enum MHD_Result
answer(void *arg, struct MHD_Connection *c, const char *url, const char *method, const char *version, const char *upload,
    size_t *size, void **state)
{
	struct body *b = *state;

	(void)arg;
	(void)version;
	if (strcmp(method, "POST") != 0)
		return reply(c, 405, NULL);
	if (b == NULL) {
		*state = b = calloc(1, sizeof(*b));
		return b != NULL ? MHD_YES : MHD_NO;
	}
	if (*size > 0) {
		if (*size >= BODY_MAX - b->len)
			return MHD_NO;
		memcpy(b->data + b->len, upload, *size);
		b->len += *size;
		*size = 0;
		return MHD_YES;
	}
	return finish(c, url, b);
}

static void
completed(void *arg, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode code)
{
	(void)arg;
	(void)c;
	(void)code;
	free(*state);
	*state = NULL;
}

static bool
read_secret(const char *path)
{
	FILE *f = fopen(path, "r");

	if (f == NULL)
		return false;
	secret_len = fread(secret, 1, sizeof(secret), f);
	fclose(f);
	while (secret_len > 0 && secret[secret_len - 1] == '\n')
		secret_len--;
	return secret_len > 0;
}

int
main(int argc, char **argv)
{
	unsigned port = 0, seconds = 600;
	int c;
	sigset_t signals;

	while ((c = getopt(argc, argv, "o:p:s:m:n:t:")) != -1) {
		switch (c) {
		case 'o':
			out_fd = open(optarg, O_WRONLY | O_CREAT | O_APPEND, 0600);
			break;
		case 'p':
			port = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 's':
			if (!read_secret(optarg)) {
				fprintf(stderr, "receiver: cannot read %s\n", optarg);
				return 1;
			}
			break;
		case 'm':
			mode = optarg;
			break;
		case 'n':
			misbehave = strtoul(optarg, NULL, 10);
			break;
		case 't':
			seconds = (unsigned)strtoul(optarg, NULL, 10);
			break;
		default:
			return 2;
		}
	}
	if (out_fd < 0) {
		fprintf(stderr, "receiver: -o FILE: %s\n", strerror(errno));
		return 2;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct MHD_Daemon *d =
	    MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0, NULL, NULL, answer, NULL,
		MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_END);
	if (d == NULL) {
		fprintf(stderr, "receiver: cannot listen on port %u\n", port);
		return 1;
	}
	printf("listening %u\n", MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT)->port);
	fflush(stdout);
	struct timespec wait = { .tv_sec = seconds };
	sigtimedwait(&signals, NULL, &wait);
	/* Requests that hang would keep MHD_stop_daemon() waiting; there is nothing left to save. */
	_exit(0);
}
