/*
 * Slack's incoming webhooks (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks): a message per
 * notification, to the channel of the address that stands in secret_file; whoever knows the address may post.
 *
 * What came from hosts is escaped: & < > as Slack asks for, and the characters that mark bold, code, italics and struck text
 * become others that look like them, since Slack knows no way to quote them.
 *
 * 200 accepts. 400, 403, 404 and 410 refuse for good, and Slack's word says why: invalid_payload, action_prohibited,
 * no_service, channel_not_found, channel_is_archived. 429, after Retry-After, and everything else are tried again.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "card.h"
#include "err.h"
#include "http_post.h"
#include "sinks.h"
#include "utf8.h"

/* Documented limits, in characters: of the message's text, of a header and of a section; blocks of a message. */
#define TEXT_MAX 40000
#define HEADER_MAX 150
#define SECTION_MAX 3000
#define BLOCKS_MAX 50
#define ELEMENTS_MAX 10 /* of a context block */
/* Ours, so that a message stays readable, and well below what all of its blocks together may have. */
#define SUMMARY_MAX 1024
#define FACT_MAX 1000
#define OTHER_MAX 400 /* of each line that does not speak */
#define HOST_MAX 255

struct slack {
	struct http_post *post;
	char *url;
	size_t url_len;
};

static void
slack_close(void *state)
{
	struct slack *s = state;

	if (s == NULL)
		return;
	http_post_free(s->post);
	secret_free(s->url, s->url_len);
	free(s);
}

static int
slack_open(const struct route *route, void **state, struct buf *why)
{
	static const unsigned refusing[] = { 400, 403, 404, 410, 413, 0 };
	struct slack *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		buf_puts(why, "out of memory");
		return HIWAT_E_NOMEM;
	}
	int err = secret_read(route->secret_file, &s->url, &s->url_len, why);
	const char *host = err == 0 ? strstr(s->url, "://") : NULL;
	const char *path = host != NULL ? strchr(host + 3, '/') : NULL;
	if (err == 0 && (path == NULL || path[1] == '\0' || strcspn(s->url, " \t\r\n") != s->url_len)) {
		buf_printf(why, "secret_file %s: wanted the webhook's address, https://hooks.slack.com/services/...",
		    route->secret_file);
		err = HIWAT_E_CONFIG;
	}
	if (err == 0) {
		const struct http_post_setup setup = { .url = s->url, .hidden = path, .refusing = refusing };

		err = http_post_new(route, &setup, &s->post, why);
	}
	if (err != 0) {
		slack_close(s);
		return err;
	}
	*state = s;
	return 0;
}

/* Underscores inside of names mark nothing. */
static bool
is_at_edge(const char *begin, const char *p)
{
	return p == begin || !isalnum((unsigned char)p[-1]) || !isalnum((unsigned char)p[1]);
}

/* What stands for a character in Slack's text, NULL for itself. */
static const char *
harmless(const char *begin, const char *p)
{
	switch (*p) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '*':
		return "\xe2\x88\x97"; /* U+2217 */
	case '`':
		return "\xcb\x8b"; /* U+02CB */
	case '~':
		return "\xe2\x88\xbc"; /* U+223C */
	case '_':
		return is_at_edge(begin, p) ? "\xcb\x8d" : NULL; /* U+02CD */
	default:
		return NULL;
	}
}

/* Appends a stranger's text, at most max characters of it as Slack counts them; shortened with an ellipsis. */
static void
put(struct buf *out, const char *s, size_t max)
{
	struct buf clean;
	size_t used = 0;

	buf_init(&clean, 4 * strlen(s) + 4);
	card_put(&clean, s, max);
	const char *begin = buf_str(&clean);
	for (const char *p = begin; *p != '\0';) {
		const char *other = harmless(begin, p);
		size_t n = utf8_sequence((const unsigned char *)p);
		size_t characters = other != NULL ? card_characters(other) : 1;
		bool is_last = p[n] == '\0';

		if (used + characters + !is_last > max) {
			buf_puts(out, "\xe2\x80\xa6");
			break;
		}
		buf_add(out, other != NULL ? other : p, other != NULL ? strlen(other) : n);
		used += characters;
		p += n;
	}
	buf_fini(&clean);
}

/* "CRITICAL", "STILL CRITICAL", "TAKEN OVER by somebody": what has happened. */
static void
put_event(struct buf *out, const json_t *incident, const char *event)
{
	const char *level = card_text(incident, "level");
	const char *by = card_text(incident, "by");

	if (strcmp(event, "resolve") == 0) {
		buf_puts(out, "RESOLVED");
		return;
	}
	if (strcmp(event, "acknowledge") == 0) {
		buf_puts(out, "TAKEN OVER");
		if (by[0] != '\0') {
			buf_puts(out, " by ");
			put(out, by, 60);
		}
		return;
	}
	buf_puts(out,
	    strcmp(event, "escalate") == 0 || strcmp(event, "update") == 0 ? "NOW "
		: strcmp(event, "repeat") == 0                             ? "STILL "
		: strcmp(event, "was") == 0                                ? "WAS "
									   : "");
	for (; *level != '\0'; level++)
		buf_putc(out, (char)toupper((unsigned char)*level));
}

/* "CRITICAL db1: it is full" within max characters. */
static void
put_title(struct buf *out, const json_t *incident, const char *event, size_t max)
{
	size_t before = out->len;

	put_event(out, incident, event);
	buf_putc(out, ' ');
	put(out, card_text(json_object_get(incident, "host"), "name"), max / 3);
	buf_puts(out, ": ");
	put(out, card_text(incident, "summary"), max - card_characters(buf_str(out) + before));
}

struct rows {
	struct buf *out;
	size_t left; /* characters */
};

static void
put_row(void *arg, const char *name, const char *text)
{
	struct rows *r = arg;
	size_t own = strlen(name) + 5; /* asterisks, blanks, newline */
	size_t before = r->out->len;

	if (r->left < own + 2)
		return;
	buf_printf(r->out, "*%s*  ", name);
	put(r->out, text, r->left - own < FACT_MAX ? r->left - own : FACT_MAX);
	buf_putc(r->out, '\n');
	r->left -= card_characters(buf_str(r->out) + before);
}

/* All add a block; 0, or nonzero when memory is out. */
static int
add_section(json_t *blocks, const struct buf *text)
{
	return json_array_append_new(blocks,
	    json_pack("{s:s, s:{s:s, s:s, s:b}}", "type", "section", "text", "type", "mrkdwn", "text", buf_str(text),
		"verbatim", 1));
}

/* A line that does not speak: "also rule, warning since ...: summary". */
static int
add_other(json_t *blocks, const json_t *line)
{
	struct buf text;

	buf_init(&text, 4 * SECTION_MAX);
	buf_puts(&text, "*also*  ");
	put(&text, card_text(line, "rule"), 64);
	buf_printf(&text,
	    ", %s since %s: ", card_text(line, strcmp(card_text(line, "status"), "firing") == 0 ? "level" : "status"),
	    card_text(line, "since"));
	put(&text, card_text(line, "summary"), OTHER_MAX);
	int failed = buf_ok(&text) ? add_section(blocks, &text) : 1;
	buf_fini(&text);
	return failed;
}

static int
add_context(json_t *blocks, const struct route *route, const json_t *incident)
{
	const json_t *host = json_object_get(incident, "host");
	struct buf text;

	buf_init(&text, 4 * SECTION_MAX);
	put(&text, card_text(host, "name"), HOST_MAX);
	buf_puts(&text, ", ");
	put(&text, card_text(host, "os"), 64);
	buf_putc(&text, ' ');
	put(&text, card_text(host, "release"), 64);
	buf_printf(&text, "; since %s; ", card_text(incident, "opened"));
	if (route->public_url[0] != '\0') {
		buf_putc(&text, '<');
		card_put_link(&text, route, card_text(incident, "key"));
		buf_printf(&text, "|%s>", card_text(incident, "key"));
	} else {
		put(&text, card_text(incident, "key"), 64);
	}
	int failed = json_array_append_new(blocks,
	    json_pack("{s:s, s:[{s:s, s:s, s:b}]}", "type", "context", "elements", "type", "mrkdwn", "text", buf_str(&text),
		"verbatim", 1));
	buf_fini(&text);
	return failed;
}

static int
add_whole(json_t *blocks, const json_t *incident, const char *event)
{
	const json_t *lines = json_object_get(incident, "lines");
	struct buf text;
	int failed;

	buf_init(&text, 4 * SECTION_MAX);
	put_title(&text, incident, event, HEADER_MAX);
	failed = json_array_append_new(blocks,
	    json_pack("{s:s, s:{s:s, s:s, s:b}}", "type", "header", "text", "type", "plain_text", "text", buf_str(&text),
		"emoji", 0));
	buf_reset(&text);
	if (json_array_size(lines) > 0) {
		struct rows rows = { &text, SECTION_MAX };

		card_line(json_array_get(lines, 0), put_row, &rows);
		if (text.len > 0)
			failed |= add_section(blocks, &text);
	}
	for (size_t i = 1; i < json_array_size(lines); i++)
		failed |= add_other(blocks, json_array_get(lines, i));
	buf_fini(&text);
	return failed;
}

static int
slack_render(void *state, const struct route *route, const struct notice *notice, struct buf *out)
{
	json_t *incident = json_loads(notice->json, 0, NULL), *blocks = json_array();
	bool is_short = strcmp(notice->event, "resolve") == 0 || strcmp(notice->event, "acknowledge") == 0;
	struct buf title;
	char *text = NULL;
	int failed;

	(void)state;
	buf_init(&title, 4 * SECTION_MAX);
	if (incident == NULL) {
		json_decref(blocks);
		return HIWAT_E_FORMAT;
	}
	put_title(&title, incident, notice->event, SUMMARY_MAX);
	failed = is_short ? add_section(blocks, &title) : add_whole(blocks, incident, notice->event);
	failed |= add_context(blocks, route, incident);
	json_t *message = json_pack("{s:s, s:b, s:o}", "text", buf_str(&title), "mrkdwn", 0, "blocks", blocks);
	if (!failed && message != NULL)
		text = json_dumps(message, JSON_COMPACT);
	json_decref(message);
	json_decref(incident);
	buf_fini(&title);
	if (text == NULL)
		return HIWAT_E_NOMEM;
	buf_puts(out, text);
	free(text);
	return 0;
}

static bool
is_within(const json_t *text, size_t max)
{
	size_t n = card_characters(card_text(text, "text"));

	return n > 0 && n <= max;
}

static const char *
broken_block(const json_t *block)
{
	const char *type = card_text(block, "type");
	const json_t *text = json_object_get(block, "text"), *elements = json_object_get(block, "elements");

	if (strcmp(type, "header") == 0)
		return strcmp(card_text(text, "type"), "plain_text") == 0 && is_within(text, HEADER_MAX)
		    ? NULL
		    : "a header is plain text of 1 to 150 characters";
	if (strcmp(type, "section") == 0)
		return is_within(text, SECTION_MAX) ? NULL : "a section has 1 to 3000 characters";
	for (size_t i = 0; i < json_array_size(elements); i++)
		if (!is_within(json_array_get(elements, i), SECTION_MAX))
			return "a text of a context has 1 to 3000 characters";
	return json_array_size(elements) > 0 && json_array_size(elements) <= ELEMENTS_MAX ? NULL
											  : "a context has 1 to 10 elements";
}

static int
slack_validate(const char *rendered, struct buf *why)
{
	json_t *message = json_loads(rendered, 0, NULL);
	const json_t *blocks = json_object_get(message, "blocks");
	const char *broken = NULL;

	if (message == NULL)
		broken = "it is no JSON";
	else if (!is_within(message, TEXT_MAX))
		broken = "the text has 1 to 40000 characters";
	else if (json_array_size(blocks) > BLOCKS_MAX)
		broken = "a message has at most 50 blocks";
	for (size_t i = 0; broken == NULL && i < json_array_size(blocks); i++)
		broken = broken_block(json_array_get(blocks, i));
	json_decref(message);
	if (broken != NULL)
		buf_puts(why, broken);
	return broken != NULL ? HIWAT_E_CONFIG : 0;
}

static enum delivery
slack_send(void *state, const struct route *route, const struct notice *notice, struct buf *why, uint64_t *retry_after_ms)
{
	struct slack *s = state;
	enum delivery result;
	struct buf text;

	buf_init(&text, 1 << 20);
	int err = slack_render(s, route, notice, &text);
	if (err != 0 || !buf_ok(&text)) {
		buf_puts(why, err_text(err != 0 ? err : HIWAT_E_NOMEM));
		result = err == HIWAT_E_FORMAT ? DELIVERY_REFUSED : DELIVERY_RETRY;
	} else {
		result = http_post_send(s->post, NULL, buf_str(&text), text.len, why, retry_after_ms);
	}
	buf_fini(&text);
	return result;
}

const struct sink sink_slack = {
	.name = "slack",
	.help = "messages of a Slack incoming webhook",
	.takes = SINK_SECRET_FILE | SINK_CA_FILE,
	.needs = SINK_SECRET_FILE,
	.open = slack_open,
	.send = slack_send,
	.close = slack_close,
	.render = slack_render,
	.validate = slack_validate,
};
