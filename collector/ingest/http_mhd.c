/*
 * http.h on libmicrohttpd. A thread pool with epoll; the memory of a connection is held low because idle connections are
 * what a collector has most of. The library caps no body and its idle timer does not stop a client that sends one byte a
 * second, so both are done here: while a body comes in, in take_body(); before that, in http_tick(), which ends connections
 * that have been without a whole request for longer than an honest client needs.
 */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "err.h"

#define CONNECTION_MEMORY 8192
#define FILE_MAX_BYTES 65536
#define NAME_MAX_BYTES 256

/* Kept for the life of a connection. */
struct connection {
	struct connection *next, *previous; /* in the server's list, under its lock */
	int fd;
	bool busy;                     /* a request's headers have come in and its answer has not gone out */
	bool ended;                    /* by http_tick() */
	uint64_t limit_ns;             /* while not busy: when it is ended */
	bool checked;                  /* the certificate was looked at */
	char identity[NAME_MAX_BYTES]; /* "" when there is none or it does not verify */
	char refused[160];             /* why it does not verify */
	char address[INET6_ADDRSTRLEN];
};

struct exchange {
	struct buf body;
	uint64_t started_ns;
	size_t counted; /* bytes added to body_total */
	unsigned early_status;
};

struct http_server {
	struct MHD_Daemon *daemon;
	const struct http_listener *listener;
	http_handler *handler;
	void *arg;
	char *cert, *key, *ca;
	uint16_t port;
	_Atomic(size_t) body_total;
	pthread_mutex_t lock; /* guards the list and what of its members http_tick() reads */
	struct connection *connections;
};

const char *
http_header(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *
http_query(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

void
http_fail(struct http_response *r, unsigned status, const char *fmt, ...)
{
	va_list ap;

	r->status = status;
	r->content_type = "text/plain; charset=utf-8";
	buf_reset(&r->body);
	va_start(ap, fmt);
	buf_vprintf(&r->body, fmt, ap);
	va_end(ap);
	buf_putc(&r->body, '\n');
}

/* The certificate's first DNS name, once it is verified against the configured authority. */
static void
read_identity(struct connection *c, gnutls_session_t session)
{
	unsigned status = 0, n = 0;
	gnutls_x509_crt_t cert = NULL;
	gnutls_datum_t text = { 0 };
	size_t len = sizeof(c->identity);

	const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &n);
	if (chain == NULL || n == 0) {
		snprintf(c->refused, sizeof(c->refused), "no client certificate");
		return;
	}
	if (gnutls_certificate_verify_peers2(session, &status) < 0 || status != 0) {
		if ((status & (GNUTLS_CERT_EXPIRED | GNUTLS_CERT_NOT_ACTIVATED)) != 0)
			snprintf(c->refused, sizeof(c->refused), "client certificate is %s by this collector's clock",
			    (status & GNUTLS_CERT_EXPIRED) != 0 ? "expired" : "not valid yet");
		else if (gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &text, 0) == 0)
			snprintf(c->refused, sizeof(c->refused), "client certificate: %s", (char *)text.data);
		else
			snprintf(c->refused, sizeof(c->refused), "client certificate does not verify");
		gnutls_free(text.data);
		return;
	}
	if (gnutls_x509_crt_init(&cert) < 0)
		return;
	if (gnutls_x509_crt_import(cert, &chain[0], GNUTLS_X509_FMT_DER) < 0 ||
	    gnutls_x509_crt_get_subject_alt_name(cert, 0, c->identity, &len, NULL) != GNUTLS_SAN_DNSNAME ||
	    strlen(c->identity) != len) {
		c->identity[0] = '\0';
		snprintf(c->refused, sizeof(c->refused), "client certificate names no host (subjectAltName DNS)");
	}
	gnutls_x509_crt_deinit(cert);
}

static void
list(struct http_server *s, struct connection *c)
{
	pthread_mutex_lock(&s->lock);
	c->next = s->connections;
	if (c->next != NULL)
		c->next->previous = c;
	s->connections = c;
	pthread_mutex_unlock(&s->lock);
}

static void
unlist(struct http_server *s, struct connection *c)
{
	pthread_mutex_lock(&s->lock);
	if (c->previous != NULL)
		c->previous->next = c->next;
	else
		s->connections = c->next;
	if (c->next != NULL)
		c->next->previous = c->previous;
	pthread_mutex_unlock(&s->lock);
}

static struct connection *
connection_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

/* A request begins, or has its answer. Between requests the library's idle timer comes first with an idle client. */
static void
set_busy(struct http_server *s, struct MHD_Connection *connection, bool busy)
{
	struct connection *c = connection_of(connection);

	if (c == NULL)
		return;
	pthread_mutex_lock(&s->lock);
	c->busy = busy;
	c->limit_ns = clock_mono_ns() + s->listener->idle_s * NSEC_PER_SEC + s->listener->deadline_ms * NSEC_PER_MSEC;
	pthread_mutex_unlock(&s->lock);
}

static void
note_connection(void *arg, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code)
{
	struct http_server *s = arg;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		/* The library closes the descriptor after this. */
		if (*context != NULL)
			unlist(s, *context);
		free(*context);
		*context = NULL;
		return;
	}
	struct connection *c = calloc(1, sizeof(*c));
	if (c == NULL)
		return;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	if (info != NULL && info->client_addr->sa_family == AF_INET)
		inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)info->client_addr)->sin_addr, c->address,
		    sizeof(c->address));
	else if (info != NULL && info->client_addr->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)(void *)info->client_addr)->sin6_addr, c->address,
		    sizeof(c->address));
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	c->fd = info != NULL ? info->connect_fd : -1;
	c->limit_ns = clock_mono_ns() + s->listener->deadline_ms * NSEC_PER_MSEC;
	list(s, c);
	*context = c;
}

static enum MHD_Result
reply(struct MHD_Connection *connection, struct http_response *response)
{
	struct MHD_Response *r;
	char seconds[16];

	if (!buf_ok(&response->body))
		http_fail(response, 500, "the answer is larger than this server's limit");
	/* The body's memory goes over to the response; nothing is copied. */
	if (response->body.data != NULL)
		r = MHD_create_response_from_buffer(response->body.len, response->body.data, MHD_RESPMEM_MUST_FREE);
	else
		r = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	if (r == NULL) {
		buf_fini(&response->body);
		return MHD_NO;
	}
	response->body = (struct buf){ 0 };
	MHD_add_response_header(r, "Content-Type",
	    response->content_type != NULL ? response->content_type : "text/plain; charset=utf-8");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	if (response->retry_after_s > 0) {
		snprintf(seconds, sizeof(seconds), "%u", response->retry_after_s);
		MHD_add_response_header(r, "Retry-After", seconds);
	}
	enum MHD_Result result = MHD_queue_response(connection, response->status, r);
	MHD_destroy_response(r);
	return result;
}

static const char too_large[] = "the body is larger than this collector takes";

static enum MHD_Result
refuse(struct MHD_Connection *connection, unsigned status, const char *why)
{
	struct http_response response = { 0 };

	buf_init(&response.body, 1024);
	http_fail(&response, status, "%s", why);
	response.retry_after_s = status == 503 ? 5 : 0;
	return reply(connection, &response);
}

static void
uncount(struct http_server *s, struct exchange *x)
{
	atomic_fetch_sub(&s->body_total, x->counted);
	x->counted = 0;
}

static void
end_exchange(void *arg, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
	struct exchange *x = *state;

	(void)code;
	set_busy(arg, connection, false);
	if (x == NULL)
		return;
	uncount(arg, x);
	buf_fini(&x->body);
	free(x);
	*state = NULL;
}

/* First call for a request: its headers are known, its body is not. */
static enum MHD_Result
begin_exchange(struct http_server *s, struct MHD_Connection *connection, void **state)
{
	struct exchange *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return MHD_NO;
	*state = x;
	set_busy(s, connection, true);
	buf_init(&x->body, s->listener->body_max);
	x->started_ns = clock_mono_ns();
	const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
	unsigned long long bytes = length != NULL ? strtoull(length, NULL, 10) : 0;
	if (bytes > s->listener->body_max)
		x->early_status = 413;
	/*
	 * What is a little too large is read and thrown away: an answer in the middle of a body ends the connection, and the
	 * client may never see why.
	 */
	if (bytes / 8 > s->listener->body_max)
		return refuse(connection, 413, too_large);
	return MHD_YES;
}

static enum MHD_Result
take_body(struct http_server *s, struct exchange *x, const char *data, size_t *size)
{
	if (clock_mono_ns() - x->started_ns > s->listener->deadline_ms * NSEC_PER_MSEC)
		return MHD_NO; /* slower than any honest client: the connection is closed */
	if (x->early_status == 0 && atomic_fetch_add(&s->body_total, *size) + *size > s->listener->body_total_max) {
		atomic_fetch_sub(&s->body_total, *size);
		x->early_status = 503;
	} else if (x->early_status == 0) {
		x->counted += *size;
		buf_add(&x->body, data, *size);
		if (!buf_ok(&x->body))
			x->early_status = 413;
	}
	if (x->early_status != 0)
		buf_fini(&x->body);
	*size = 0;
	return MHD_YES;
}

static enum MHD_Result
answer(void *arg, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
    const char *upload, size_t *upload_size, void **state)
{
	struct http_server *s = arg;
	const struct http_listener *l = s->listener;
	struct exchange *x = *state;
	struct http_response response = { .status = 200 };

	(void)version;
	if (x == NULL)
		return begin_exchange(s, connection, state);
	if (*upload_size > 0)
		return take_body(s, x, upload, upload_size);
	if (x->early_status == 413)
		return refuse(connection, 413, too_large);
	if (x->early_status == 503)
		return refuse(connection, 503, "too many requests at once");
	struct connection *c = connection_of(connection);
	if (c == NULL)
		return MHD_NO;
	if (l->client_ca_file != NULL && !c->checked) {
		const union MHD_ConnectionInfo *info =
		    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
		if (info != NULL)
			read_identity(c, info->tls_session);
		c->checked = true;
	}
	if (l->require_client_certificate && c->identity[0] == '\0')
		return refuse(connection, 401, c->refused[0] != '\0' ? c->refused : "no client certificate");
	struct http_request request = {
		.method = method,
		.path = url,
		.body = (const uint8_t *)x->body.data,
		.body_len = x->body.len,
		.identity = c->identity[0] != '\0' ? c->identity : NULL,
		.address = c->address,
		.connection = connection,
	};
	buf_init(&response.body, l->response_max);
	s->handler(s->arg, &request, &response);
	/* What was received is no longer needed while a slow client takes its time to read the answer. */
	uncount(s, x);
	buf_fini(&x->body);
	return reply(connection, &response);
}

static int
read_file(const char *path, char **text, struct buf *why)
{
	struct buf b;

	*text = NULL;
	FILE *f = fopen(path, "r");
	if (f == NULL) {
		buf_printf(why, "cannot read %s: %s", path, strerror(errno));
		return HIWAT_E_CONFIG;
	}
	buf_init(&b, FILE_MAX_BYTES);
	int err = buf_read(&b, f), sys_errno = errno;
	fclose(f);
	if (err != HIWAT_OK || b.len == 0) {
		buf_printf(why, "%s: %s", path,
		    err == HIWAT_E_SYS    ? strerror(sys_errno)
			: err != HIWAT_OK ? err_text(err)
					  : "the file is empty");
		buf_fini(&b);
		return HIWAT_E_CONFIG;
	}
	*text = b.data;
	return HIWAT_OK;
}

static int
read_tls_files(struct http_server *s, struct buf *why)
{
	const struct http_listener *l = s->listener;
	int err = HIWAT_OK;

	if (l->cert_file != NULL)
		err = read_file(l->cert_file, &s->cert, why);
	if (err == HIWAT_OK && l->key_file != NULL)
		err = read_file(l->key_file, &s->key, why);
	if (err == HIWAT_OK && l->client_ca_file != NULL)
		err = read_file(l->client_ca_file, &s->ca, why);
	return err;
}

static void
server_free(struct http_server *s)
{
	free(s->cert);
	if (s->key != NULL)
		explicit_bzero(s->key, strlen(s->key));
	free(s->key);
	free(s->ca);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int
http_start(const struct http_listener *l, http_handler *handler, void *arg, struct http_server **server, struct buf *why)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST, .ai_socktype = SOCK_STREAM }, *address = NULL;
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD;
	struct MHD_OptionItem options[16];
	size_t n = 0;
	char port[8];

	struct http_server *s = calloc(1, sizeof(*s));
	if (s == NULL)
		return HIWAT_E_NOMEM;
	s->listener = l;
	s->handler = handler;
	s->arg = arg;
	pthread_mutex_init(&s->lock, NULL);
	int err = read_tls_files(s, why);
	if (err != HIWAT_OK)
		goto fail;
	snprintf(port, sizeof(port), "%u", l->port);
	int gai = getaddrinfo(l->address, port, &hints, &address);
	if (gai != 0) {
		buf_printf(why, "listen address %s: %s", l->address, gai_strerror(gai));
		err = HIWAT_E_CONFIG;
		goto fail;
	}
	if (address->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	if (s->cert != NULL) {
		flags |= MHD_USE_TLS;
		options[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_CERT, 0, s->cert };
		options[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_KEY, 0, s->key };
		options[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0,
			(void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2" };
	}
	if (s->ca != NULL)
		options[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_TRUST, 0, s->ca };
	if (l->threads > 1)
		options[n++] = (struct MHD_OptionItem){ MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)l->threads, NULL };
	if (l->connections_per_address > 0)
		options[n++] = (struct MHD_OptionItem){ MHD_OPTION_PER_IP_CONNECTION_LIMIT,
			(intptr_t)l->connections_per_address, NULL };
	options[n] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
	s->daemon = MHD_start_daemon(flags, l->port, NULL, NULL, answer, s, MHD_OPTION_SOCK_ADDR, address->ai_addr,
	    MHD_OPTION_CONNECTION_LIMIT, l->connections_max, MHD_OPTION_CONNECTION_TIMEOUT, l->idle_s,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_NOTIFY_COMPLETED, end_exchange, s,
	    MHD_OPTION_NOTIFY_CONNECTION, note_connection, s, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
	if (s->daemon == NULL) {
		buf_printf(why, "cannot listen on %s port %u: %s", l->address, l->port,
		    errno != 0 ? strerror(errno) : "the TLS certificate or key cannot be used");
		err = HIWAT_E_SYS;
		goto fail;
	}
	freeaddrinfo(address);
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
	s->port = info != NULL ? info->port : l->port;
	*server = s;
	return HIWAT_OK;
fail:
	if (address != NULL)
		freeaddrinfo(address);
	server_free(s);
	return err;
}

uint16_t
http_port(const struct http_server *s)
{
	return s->port;
}

unsigned
http_connections(const struct http_server *s)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info != NULL ? info->num_connections : 0;
}

void
http_tick(struct http_server *s)
{
	uint64_t now = clock_mono_ns();

	pthread_mutex_lock(&s->lock);
	for (struct connection *c = s->connections; c != NULL; c = c->next) {
		if (c->busy || c->ended || now < c->limit_ns)
			continue;
		c->ended = true;
		shutdown(c->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&s->lock);
}

void
http_stop(struct http_server *s)
{
	if (s == NULL)
		return;
	MHD_stop_daemon(s->daemon);
	server_free(s);
}
