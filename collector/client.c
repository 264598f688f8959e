#include "client.h"

#include <curl/curl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "buf.h"

#define ANSWER_MAX (256u << 20)

struct client {
	const char *command, *base;
	CURL *curl;
};

struct client *
client_new(const char *command, const char *base)
{
	struct client *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	*c = (struct client){ command, base, curl_easy_init() };
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

json_t *
client_get(struct client *c, const char *path)
{
	struct buf url, answer;
	char error[CURL_ERROR_SIZE] = "";
	json_error_t where;
	json_t *result = NULL;
	long status = 0;

	buf_init(&url, 8192);
	buf_init(&answer, ANSWER_MAX);
	buf_printf(&url, "%s%s", c->base, path);
	curl_easy_setopt(c->curl, CURLOPT_URL, buf_str(&url));
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take_bytes);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &answer);
	curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, error);
	curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, 30L);
	CURLcode code = curl_easy_perform(c->curl);
	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK)
		fprintf(stderr, "hiwat-collector %s: %s: %s\n", c->command, buf_str(&url),
		    error[0] != '\0' ? error : curl_easy_strerror(code));
	else if (status != 200)
		fprintf(stderr, "hiwat-collector %s: %s: %s", c->command, buf_str(&url), buf_str(&answer));
	else if ((result = json_loads(buf_str(&answer), 0, &where)) == NULL)
		fprintf(stderr, "hiwat-collector %s: %s: not JSON: %s\n", c->command, buf_str(&url), where.text);
	buf_fini(&url);
	buf_fini(&answer);
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
