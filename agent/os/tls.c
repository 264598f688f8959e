#include "tls.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "clock.h"
#include "err.h"
#include "http.h"

#define ANSWER_MIN ((size_t)4096)
#define FILE_MAX ((size_t)64 << 10) /* of a key or certificate */

/* Until there is something to read; HIWAT_E_TIMEOUT. */
static int
wait_to(CURL *c, short events, uint64_t deadline_ns)
{
	uint64_t now_ns = clock_mono_ns();
	curl_socket_t fd = CURL_SOCKET_BAD;

	if (now_ns >= deadline_ns)
		return HIWAT_E_TIMEOUT;
	if (curl_easy_getinfo(c, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK || fd == CURL_SOCKET_BAD)
		return HIWAT_E_TRUNCATED;
	struct pollfd p = { .fd = fd, .events = events };
	(void)poll(&p, 1, (int)((deadline_ns - now_ns) / NSEC_PER_MSEC + 1));
	return HIWAT_OK;
}

static int
send_all(CURL *c, struct text request, uint64_t deadline_ns)
{
	int err = HIWAT_OK;

	while (request.n > 0 && err == HIWAT_OK) {
		size_t n = 0;
		CURLcode code = curl_easy_send(c, request.p, request.n, &n);
		if (code == CURLE_AGAIN)
			err = wait_to(c, POLLOUT, deadline_ns);
		else if (code != CURLE_OK)
			return HIWAT_E_TRUNCATED;
		request.p += n;
		request.n -= n;
	}
	return err;
}

static int
receive_all(CURL *c, struct fetch *f, uint64_t deadline_ns)
{
	int err = HIWAT_OK;

	while (err == HIWAT_OK) {
		size_t n = 0, room = f->buf.limit - f->buf.len < ANSWER_MIN ? f->buf.limit - f->buf.len : ANSWER_MIN;
		if (room == 0)
			return HIWAT_E_TOOBIG;
		char *p = buf_reserve(&f->buf, room);
		if (p == NULL)
			return HIWAT_E_NOMEM;
		CURLcode code = curl_easy_recv(c, p, room, &n);
		if (code == CURLE_AGAIN)
			err = wait_to(c, POLLIN, deadline_ns);
		else if (code != CURLE_OK)
			return HIWAT_E_TRUNCATED;
		else if (n == 0)
			return HIWAT_OK;
		buf_advance(&f->buf, n);
	}
	return err;
}

/* libcurl names neither the file nor why it cannot be read. HIWAT_OK: all of them can. */
static int
check_files(struct fetch *f, const struct tls_peer *peer)
{
	const char *const files[] = { peer->ca_file, peer->cert_file, peer->key_file };
	struct fetch own;
	struct text content;
	int err = HIWAT_OK;

	fetch_init(&own, f->trace, FILE_MAX);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && err == HIWAT_OK; i++)
		err = fetch_path(&own, files[i], &content);
	/* A file that is missing is no resolver that is missing. */
	if (err == HIWAT_E_MISSING)
		err = HIWAT_E_REJECTED;
	if (err != HIWAT_OK)
		f->why = own.why;
	fetch_fini(&own);
	return err;
}

static CURLcode
connect_to(CURL *c, const struct tls_peer *peer, struct curl_slist *to, unsigned deadline_ms)
{
	char url[128];

	snprintf(url, sizeof(url), "https://%s:%u/", peer->name, peer->port);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_CONNECT_TO, to);
	curl_easy_setopt(c, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(c, CURLOPT_SSL_ENABLE_ALPN, 0L); /* what is spoken inside is no HTTP */
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)deadline_ms);
	curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(c, CURLOPT_CAINFO, peer->ca_file);
	curl_easy_setopt(c, CURLOPT_CAPATH, NULL);
	curl_easy_setopt(c, CURLOPT_SSLCERT, peer->cert_file);
	curl_easy_setopt(c, CURLOPT_SSLKEY, peer->key_file);
	return curl_easy_perform(c);
}

/* Why there is no connection; *sys_errno is 0 unless a system call failed. */
static int
judge(CURL *c, CURLcode code, struct fetch *f, const struct tls_peer *peer, int *sys_errno, bool *is_told)
{
	long os_errno = 0;

	if (code == CURLE_OUT_OF_MEMORY)
		return HIWAT_E_NOMEM;
	if (code == CURLE_OPERATION_TIMEDOUT)
		return HIWAT_E_TIMEOUT;
	if (code == CURLE_COULDNT_CONNECT) {
		curl_easy_getinfo(c, CURLINFO_OS_ERRNO, &os_errno);
		*sys_errno = (int)os_errno;
		return os_errno != 0 ? fetch_err((int)os_errno) : HIWAT_E_MISSING;
	}
	int err = check_files(f, peer);
	*is_told = err != HIWAT_OK;
	return err != HIWAT_OK ? err : HIWAT_E_REJECTED;
}

int
fetch_tls(struct fetch *f, const struct tls_peer *peer, struct text request, unsigned deadline_ms, struct text *out)
{
	uint64_t started_ns = clock_mono_ns(), deadline_ns = started_ns + deadline_ms * NSEC_PER_MSEC;
	bool is_six = strchr(peer->address, ':') != NULL, is_told = false;
	char where[INET6_ADDRSTRLEN + 8], to[INET6_ADDRSTRLEN + 16], said[CURL_ERROR_SIZE] = "";
	int sys_errno = 0, err = HIWAT_E_NOMEM;

	http_start();
	buf_reset(&f->buf);
	snprintf(where, sizeof(where), "%s#%u", peer->address, peer->port);
	snprintf(to, sizeof(to), is_six ? "::[%s]:%u" : "::%s:%u", peer->address, peer->port);
	struct curl_slist *list = curl_slist_append(NULL, to);
	CURL *c = list != NULL ? curl_easy_init() : NULL;
	if (c != NULL) {
		curl_easy_setopt(c, CURLOPT_ERRORBUFFER, said);
		CURLcode code = connect_to(c, peer, list, deadline_ms);
		err = code == CURLE_OK ? send_all(c, request, deadline_ns) : judge(c, code, f, peer, &sys_errno, &is_told);
		if (err == HIWAT_OK)
			err = receive_all(c, f, deadline_ns);
		if (err == HIWAT_E_REJECTED && said[0] == '\0')
			snprintf(said, sizeof(said), "%s", curl_easy_strerror(code));
		curl_easy_cleanup(c);
	}
	curl_slist_free_all(list);
	if (is_told)
		return err;
	(void)fetch_done(f, "connect", where, started_ns, err, sys_errno, f->buf.len);
	if (err == HIWAT_E_REJECTED)
		snprintf(f->why.text, sizeof(f->why.text), "connect %s: %s", where, said);
	if (err == HIWAT_OK)
		*out = (struct text){ buf_str(&f->buf), f->buf.len };
	return err;
}
