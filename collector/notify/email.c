/*
 * Mail by SMTP: one message per notification, as text and as HTML, to all recipients at once. TLS is required, by STARTTLS
 * or smtps, but on a loopback address where starttls says otherwise. The message is accepted when the server takes it for
 * one recipient at least; a status of 5xx refuses it, anything else is tried again, also a server that lets nobody in.
 *
 * Message-ID is made from key and generation: a message that arrives twice is known by it. All of one incident refer to
 * one identity, of key and time of opening, under which mail readers gather them; no message bears it itself, as the
 * first that a recipient gets need not be the first of the incident.
 */
#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "card.h"
#include "clock.h"
#include "err.h"
#include "sinks.h"

#define BODY_MAX (2u << 20)
#define SUBJECT_MAX 160 /* characters */
#define LINE_MAX_BYTES 4096
#define WORD_BYTES 45 /* of a text in one encoded word of RFC 2047, which has at most 75 characters: a multiple of 3 */

struct email {
	CURL *curl;
	struct curl_slist *to;
	char *secret;
	size_t secret_len;
	char error[CURL_ERROR_SIZE];
};

static void
email_close(void *state)
{
	struct email *e = state;

	if (e == NULL)
		return;
	curl_easy_cleanup(e->curl);
	curl_slist_free_all(e->to);
	secret_free(e->secret, e->secret_len);
	free(e);
}

/* Whether the host of a URL is this one by its name. */
static bool
is_loopback(const char *url)
{
	CURLU *u = curl_url();
	char *host = NULL;
	bool loopback = false;

	if (u != NULL && curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
	    curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK)
		loopback = strncmp(host, "127.", 4) == 0 || strcmp(host, "[::1]") == 0 || strcmp(host, "localhost") == 0;
	curl_free(host);
	curl_url_cleanup(u);
	return loopback;
}

/* False when memory is out. */
static bool
add_line(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);

	if (longer != NULL)
		*list = longer;
	return longer != NULL;
}

static CURLcode
set_up(struct email *e, const struct route *route)
{
	CURL *c = e->curl;
	CURLcode set = curl_easy_setopt(c, CURLOPT_URL, route->url);

	if (set == CURLE_OK)
		set = curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	if (set == CURLE_OK && !route->no_starttls)
		set = curl_easy_setopt(c, CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
	if (set == CURLE_OK)
		set = curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (set == CURLE_OK && route->ca_file[0] != '\0')
		set = curl_easy_setopt(c, CURLOPT_CAINFO, route->ca_file);
	if (set == CURLE_OK && route->user[0] != '\0')
		set = curl_easy_setopt(c, CURLOPT_USERNAME, route->user);
	if (set == CURLE_OK && route->user[0] != '\0')
		set = curl_easy_setopt(c, CURLOPT_PASSWORD, e->secret);
	if (set == CURLE_OK)
		set = curl_easy_setopt(c, CURLOPT_MAIL_FROM, route->from);
	for (size_t i = 0; set == CURLE_OK && i < route->n_to; i++)
		set = add_line(&e->to, route->to[i]) ? CURLE_OK : CURLE_OUT_OF_MEMORY;
	if (set == CURLE_OK)
		set = curl_easy_setopt(c, CURLOPT_MAIL_RCPT, e->to);
	curl_easy_setopt(c, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)route->timeout_ms);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)route->timeout_ms);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, e->error);
	return set;
}

static int
email_open(const struct route *route, void **state, struct buf *why)
{
	struct email *e = calloc(1, sizeof(*e));
	int err = 0;

	if (e == NULL || (e->curl = curl_easy_init()) == NULL) {
		email_close(e);
		buf_puts(why, "out of memory");
		return HIWAT_E_NOMEM;
	}
	if (strncmp(route->url, "smtp://", 7) != 0 && strncmp(route->url, "smtps://", 8) != 0) {
		buf_puts(why, "email needs a url that begins with smtp:// or smtps://");
		err = HIWAT_E_CONFIG;
	} else if (route->from[0] == '\0' || route->n_to == 0) {
		buf_puts(why, "email needs from and to");
		err = HIWAT_E_CONFIG;
	} else if ((route->user[0] == '\0') != (route->secret_file[0] == '\0')) {
		buf_puts(why, "user and secret_file, the file of its password, go together");
		err = HIWAT_E_CONFIG;
	} else if (route->no_starttls && !is_loopback(route->url)) {
		buf_puts(why, "starttls: false is for a server on a loopback address");
		err = HIWAT_E_CONFIG;
	} else if (route->secret_file[0] != '\0') {
		err = secret_read(route->secret_file, &e->secret, &e->secret_len, why);
	}
	CURLcode set = err == 0 ? set_up(e, route) : CURLE_OK;
	if (set != CURLE_OK) {
		buf_puts(why, curl_easy_strerror(set));
		err = HIWAT_E_CONFIG;
	}
	if (err != 0) {
		email_close(e);
		return err;
	}
	*state = e;
	return 0;
}

static void
put_base64(struct buf *out, const unsigned char *s, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		unsigned b = (unsigned)s[i] << 16 | (i + 1 < n ? (unsigned)s[i + 1] << 8 : 0) | (i + 2 < n ? s[i + 2] : 0u);

		buf_putc(out, digits[b >> 18]);
		buf_putc(out, digits[b >> 12 & 63]);
		buf_putc(out, i + 1 < n ? digits[b >> 6 & 63] : '=');
		buf_putc(out, i + 2 < n ? digits[b & 63] : '=');
	}
}

/* s is clean as card_put() makes it. Encoded words of RFC 2047, each of whole characters; plain where that is enough. */
static void
put_words(struct buf *out, const char *s)
{
	bool plain = strlen(s) < 60 && strstr(s, "=?") == NULL;

	for (const char *c = s; *c != '\0'; c++)
		plain = plain && (unsigned char)*c < 0x80;
	if (plain) {
		buf_puts(out, s);
		return;
	}
	for (size_t left = strlen(s); left > 0;) {
		size_t n = left < WORD_BYTES ? left : WORD_BYTES;

		while (n < left && ((unsigned char)s[n] & 0xc0) == 0x80)
			n--;
		buf_puts(out, "=?utf-8?B?");
		put_base64(out, (const unsigned char *)s, n);
		buf_puts(out, left > n ? "?=\r\n " : "?=");
		s += n;
		left -= n;
	}
}

static const char *
word_of(const json_t *incident, const char *event)
{
	bool over = strcmp(event, "resolve") == 0 || strcmp(event, "was") == 0;

	return strcmp(card_text(incident, "status"), "gave_up") == 0 ? "gave up"
	    : strcmp(event, "was") == 0                              ? "was critical"
	    : over                                                   ? "resolved"
								     : card_text(incident, "level");
}

/* One header of clean text. */
static bool
add_header(struct curl_slist **list, const char *name, const char *text)
{
	struct buf line, clean;

	buf_init(&clean, LINE_MAX_BYTES);
	buf_init(&line, 2 * LINE_MAX_BYTES);
	card_put(&clean, text, SUBJECT_MAX);
	buf_printf(&line, "%s: ", name);
	put_words(&line, buf_str(&clean));
	bool ok = buf_ok(&clean) && buf_ok(&line) && (clean.len == 0 || add_line(list, buf_str(&line)));
	buf_fini(&clean);
	buf_fini(&line);
	return ok;
}

__attribute__((format(printf, 2, 3))) static bool
add_printed(struct curl_slist **list, const char *fmt, ...)
{
	struct buf line;
	va_list ap;

	buf_init(&line, 16 * LINE_MAX_BYTES);
	va_start(ap, fmt);
	buf_vprintf(&line, fmt, ap);
	va_end(ap);
	bool ok = buf_ok(&line) && add_line(list, buf_str(&line));
	buf_fini(&line);
	return ok;
}

static bool
add_to(struct curl_slist **list, const struct route *route)
{
	struct buf line;

	buf_init(&line, 16 * LINE_MAX_BYTES);
	for (size_t i = 0; i < route->n_to; i++)
		buf_printf(&line, "%s%s", i == 0 ? "To: " : ",\r\n ", route->to[i]);
	bool ok = buf_ok(&line) && add_line(list, buf_str(&line));
	buf_fini(&line);
	return ok;
}

/* All headers; NULL when memory is out. */
static struct curl_slist *
headers(const struct route *route, const struct notice *notice, const json_t *incident)
{
	const char *at = strchr(route->from, '@'), *domain = at != NULL ? at + 1 : "localhost";
	json_int_t opened = json_integer_value(json_object_get(incident, "opened_unix"));
	const char *host = card_text(json_object_get(incident, "host"), "name");
	struct curl_slist *list = NULL;
	time_t now = (time_t)(clock_wall_ns() / NSEC_PER_SEC);
	char date[64] = "", root[256];
	struct buf subject;
	struct tm tm;

	if (gmtime_r(&now, &tm) != NULL)
		strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S +0000", &tm);
	snprintf(root, sizeof(root), "<%s.opened-%" JSON_INTEGER_FORMAT "@%.150s>", notice->incident_key, opened, domain);
	buf_init(&subject, LINE_MAX_BYTES);
	buf_printf(&subject, "[%s] ", word_of(incident, notice->event));
	card_put(&subject, host, 64);
	buf_puts(&subject, ": ");
	card_put(&subject, card_text(incident, "summary"), SUBJECT_MAX);
	bool ok = buf_ok(&subject) && add_printed(&list, "Date: %s", date) &&
	    add_printed(&list, "From: hiwat <%s>", route->from) && add_to(&list, route) &&
	    add_header(&list, "Subject", buf_str(&subject)) &&
	    add_printed(&list, "Message-ID: <%s.%u@%.150s>", notice->incident_key, notice->generation, domain) &&
	    add_printed(&list, "In-Reply-To: %s", root) && add_printed(&list, "References: %s", root) &&
	    add_line(&list, "MIME-Version: 1.0") && add_line(&list, "Auto-Submitted: auto-generated") &&
	    add_line(&list, "Precedence: bulk") && add_printed(&list, "X-Hiwat-Key: %s", notice->incident_key) &&
	    add_printed(&list, "X-Hiwat-Generation: %u", notice->generation) &&
	    add_printed(&list, "X-Hiwat-Event: %s", notice->event) &&
	    add_header(&list, "X-Hiwat-Level", card_text(incident, "level")) &&
	    add_header(&list, "X-Hiwat-Cause", card_text(incident, "cause")) && add_header(&list, "X-Hiwat-Host", host) &&
	    add_line(&list, "Content-Type: multipart/alternative");
	buf_fini(&subject);
	if (ok)
		return list;
	curl_slist_free_all(list);
	return NULL;
}

/* One message in its two forms. */
struct forms {
	struct buf text, html;
};

static void
put_html(struct buf *out, const char *s)
{
	for (; *s != '\0'; s++) {
		switch (*s) {
		case '&':
			buf_puts(out, "&amp;");
			break;
		case '<':
			buf_puts(out, "&lt;");
			break;
		case '>':
			buf_puts(out, "&gt;");
			break;
		case '"':
			buf_puts(out, "&quot;");
			break;
		default:
			buf_putc(out, *s);
		}
	}
}

/* text is one line, which readers wrap as wide as they are. A card_row. */
static void
put_row(void *arg, const char *name, const char *text)
{
	struct forms *f = arg;

	buf_printf(&f->text, "%s: %s\r\n\r\n", name, text);
	buf_printf(&f->html, "<p><b>%s</b><br>", name);
	put_html(&f->html, text);
	buf_puts(&f->html, "</p>\r\n");
}

/* A row of what strangers wrote; none for "". */
static void
put_clean(struct forms *f, const char *name, const char *text)
{
	struct buf clean;

	if (*text == '\0')
		return;
	buf_init(&clean, BODY_MAX);
	card_put(&clean, text, LINE_MAX_BYTES);
	put_row(f, name, buf_str(&clean));
	buf_fini(&clean);
}

static void
put_also(struct forms *f, const json_t *line)
{
	struct buf text;

	buf_init(&text, BODY_MAX);
	buf_printf(&text, "%s, %s since %s: %s", card_text(line, "rule"),
	    strcmp(card_text(line, "status"), "firing") == 0 ? card_text(line, "level") : card_text(line, "status"),
	    card_text(line, "since"), card_text(line, "summary"));
	put_clean(f, "also", buf_str(&text));
	buf_fini(&text);
}

static void
put_body(struct forms *f, const struct route *route, const struct notice *notice, const json_t *incident)
{
	const json_t *lines = json_object_get(incident, "lines");
	struct buf head;

	buf_init(&head, LINE_MAX_BYTES);
	buf_printf(&head, "%s on ", word_of(incident, notice->event));
	card_put(&head, card_text(json_object_get(incident, "host"), "name"), 255);
	buf_printf(&f->text, "%s\r\n\r\n", buf_str(&head));
	buf_puts(&f->html,
	    "<!DOCTYPE html><html><head><meta name=\"viewport\" content=\"width=device-width\"></head><body><h3>");
	put_html(&f->html, buf_str(&head));
	buf_puts(&f->html, "</h3>\r\n");
	put_clean(f, "since", card_text(incident, "opened"));
	put_clean(f, "until", card_text(incident, "resolved"));
	put_clean(f, json_is_true(json_object_get(incident, "acknowledged")) ? "taken over by" : "by",
	    card_text(incident, "by"));
	card_line(json_array_get(lines, 0), put_row, f);
	for (size_t i = 1; i < json_array_size(lines); i++)
		put_also(f, json_array_get(lines, i));
	buf_reset(&head);
	card_put_link(&head, route, notice->incident_key);
	if (head.len > 0)
		put_row(f, "incident", buf_str(&head));
	put_row(f, "key", notice->incident_key);
	buf_puts(&f->html, "</body></html>\r\n");
	buf_fini(&head);
}

static CURLcode
add_part(curl_mime *mime, const struct buf *body, const char *type)
{
	curl_mimepart *part = curl_mime_addpart(mime);
	CURLcode set = part != NULL && buf_ok(body) ? curl_mime_data(part, buf_str(body), body->len) : CURLE_OUT_OF_MEMORY;

	if (set == CURLE_OK)
		set = curl_mime_type(part, type);
	return set == CURLE_OK ? curl_mime_encoder(part, "quoted-printable") : set;
}

static enum delivery
judge(struct email *e, CURLcode code, struct buf *why)
{
	long status = 0;

	if (code == CURLE_OK)
		return DELIVERY_DONE;
	curl_easy_getinfo(e->curl, CURLINFO_RESPONSE_CODE, &status);
	card_put(why, e->error[0] != '\0' ? e->error : curl_easy_strerror(code), CURL_ERROR_SIZE);
	if (status >= 400 && status <= 599)
		buf_printf(why, " (SMTP status %ld)", status);
	/* Who is not let in, or finds no TLS, may be so tomorrow. */
	bool about_us = code == CURLE_LOGIN_DENIED || code == CURLE_USE_SSL_FAILED || code == CURLE_PEER_FAILED_VERIFICATION;
	return status >= 500 && status <= 599 && !about_us ? DELIVERY_REFUSED : DELIVERY_RETRY;
}

static enum delivery
transfer(struct email *e, const struct forms *f, struct curl_slist *list, struct buf *why)
{
	curl_mime *mime = curl_mime_init(e->curl);
	CURLcode code = mime != NULL && list != NULL ? CURLE_OK : CURLE_OUT_OF_MEMORY;

	if (code == CURLE_OK)
		code = add_part(mime, &f->text, "text/plain; charset=utf-8");
	if (code == CURLE_OK)
		code = add_part(mime, &f->html, "text/html; charset=utf-8");
	e->error[0] = '\0';
	curl_easy_setopt(e->curl, CURLOPT_HTTPHEADER, list);
	curl_easy_setopt(e->curl, CURLOPT_MIMEPOST, mime);
	if (code == CURLE_OK)
		code = curl_easy_perform(e->curl);
	curl_easy_setopt(e->curl, CURLOPT_MIMEPOST, NULL);
	curl_easy_setopt(e->curl, CURLOPT_HTTPHEADER, NULL);
	curl_mime_free(mime);
	return judge(e, code, why);
}

static enum delivery
email_send(void *state, const struct route *route, const struct notice *notice, struct buf *why, uint64_t *retry_after_ms)
{
	json_t *incident = json_loads(notice->json, 0, NULL);
	struct forms f;

	(void)retry_after_ms;
	if (incident == NULL) {
		buf_puts(why, "the incident cannot be read");
		return DELIVERY_REFUSED;
	}
	buf_init(&f.text, BODY_MAX);
	buf_init(&f.html, BODY_MAX);
	put_body(&f, route, notice, incident);
	struct curl_slist *list = headers(route, notice, incident);
	enum delivery result = transfer(state, &f, list, why);
	curl_slist_free_all(list);
	buf_fini(&f.text);
	buf_fini(&f.html);
	json_decref(incident);
	return result;
}

const struct sink sink_email = {
	.name = "email",
	.help = "mail by SMTP, as text and HTML",
	.takes = SINK_URL | SINK_SECRET_FILE | SINK_CA_FILE | SINK_MAIL | SINK_USER,
	.needs = SINK_URL | SINK_MAIL,
	.open = email_open,
	.send = email_send,
	.close = email_close,
};
