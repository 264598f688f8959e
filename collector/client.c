#include "client.h"

#include <curl/curl.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "command.h"
#include "err.h"

#define ANSWER_MAX (256u << 20)
#define TOKEN_FILE_MAX 4096

struct client {
	const char *command, *base;
	CURL *curl;
	long http; /* of the last answer */
};

struct client *
client_new(const char *command, const char *base)
{
	struct client *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	*c = (struct client){ .command = command, .base = base, .curl = curl_easy_init() };
	if (c->curl == NULL) {
		client_free(c);
		return NULL;
	}
	return c;
}

void
client_free(struct client *c)
{
	if (c == NULL)
		return;
	curl_easy_cleanup(c->curl);
	curl_global_cleanup();
	free(c);
}

static size_t
take_bytes(char *data, size_t size, size_t n, void *arg)
{
	struct buf *out = arg;

	buf_add(out, data, size * n);
	return buf_ok(out) ? size * n : 0;
}

/* One request as the handle is set up. */
static json_t *
perform(struct client *c, const char *path)
{
	struct buf url, answer;
	char error[CURL_ERROR_SIZE] = "";
	json_error_t where;
	json_t *result = NULL;

	buf_init(&url, 8192);
	buf_init(&answer, ANSWER_MAX);
	buf_printf(&url, "%s%s", c->base, path);
	curl_easy_setopt(c->curl, CURLOPT_URL, buf_str(&url));
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take_bytes);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &answer);
	curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, error);
	curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, 30L);
	CURLcode code = curl_easy_perform(c->curl);
	c->http = 0;
	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &c->http);
	if (code != CURLE_OK)
		fprintf(stderr, "hiwat-collector %s: %s: %s\n", c->command, buf_str(&url),
		    error[0] != '\0' ? error : curl_easy_strerror(code));
	else if (c->http != 200)
		fprintf(stderr, "hiwat-collector %s: %s: %s", c->command, buf_str(&url), buf_str(&answer));
	else if ((result = json_loads(buf_str(&answer), 0, &where)) == NULL)
		fprintf(stderr, "hiwat-collector %s: %s: not JSON: %s\n", c->command, buf_str(&url), where.text);
	buf_fini(&url);
	buf_fini(&answer);
	return result;
}

json_t *
client_get(struct client *c, const char *path)
{
	return perform(c, path);
}

long
client_status(const struct client *c)
{
	return c->http;
}

/* "Authorization: Bearer TOKEN" with the token that the file holds. */
static bool
authorize(const struct client *c, const char *token_file, struct buf *header)
{
	struct buf content;
	FILE *f = fopen(token_file, "re");

	buf_init(&content, TOKEN_FILE_MAX);
	int err = f == NULL ? HIWAT_E_SYS : buf_read(&content, f);
	if (err != 0)
		fprintf(stderr, "hiwat-collector %s: token: %s: %s\n", c->command, token_file,
		    err == HIWAT_E_SYS ? strerror(errno) : err_text(err));
	if (f != NULL)
		fclose(f);
	buf_printf(header, "Authorization: Bearer %.*s", (int)strcspn(buf_str(&content), "\r\n"), buf_str(&content));
	buf_fini(&content);
	return err == 0;
}

json_t *
client_send(struct client *c, const char *method, const char *path, const json_t *body, const char *token_file, int *status)
{
	struct curl_slist *headers = NULL;
	struct buf header;
	char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
	json_t *result = NULL;

	c->http = 0;
	buf_init(&header, TOKEN_FILE_MAX + 64);
	if (authorize(c, token_file, &header)) {
		headers = curl_slist_append(NULL, buf_str(&header));
		curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, method);
		curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, text != NULL ? text : "");
		result = perform(c, path);
		curl_easy_reset(c->curl);
	}
	*status = result != NULL ? 0 : c->http >= 400 && c->http < 500 ? 1 : CMD_UNUSABLE;
	curl_slist_free_all(headers);
	buf_fini(&header);
	free(text);
	return result;
}

double
client_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

const char *
client_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	/* A terminal obeys control characters, and these strings come from strangers. */
	for (const char *p = s; p != NULL && *p != '\0'; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return "?";
	}
	return s != NULL ? s : "-";
}
