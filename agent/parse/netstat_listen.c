/*
 * netstat -L: "tcp4  0/0/128  *.22", queued, incomplete and limit; macOS prints no protocol. One address may appear for
 * several protocols: the fuller queue speaks for it.
 */
#include "netstat.h"

#include "arena.h"
#include "err.h"
#include "last_dump.h"
#include "printed.h"
#include "refuse.h"
#include "record_row.h"

struct queue {
	uint64_t length, limit;
	struct text address;
};

static bool
is_title(struct text line)
{
	return text_starts(line, "Current listen queue sizes");
}

/* "0/0/128" */
static bool
is_sizes(struct text word, struct queue *q)
{
	struct text length, incomplete;
	uint64_t ignored;

	return text_until(&word, '/', &length) && text_until(&word, '/', &incomplete) && printed_count(length, &q->length) &&
	    printed_count(incomplete, &ignored) && printed_count(word, &q->limit);
}

static bool
split_row(struct text line, struct queue *q)
{
	struct text word;

	while (text_word(&line, &word)) {
		if (is_sizes(word, q)) {
			q->address = text_trim(line);
			return q->address.n > 0;
		}
	}
	return false;
}

static bool
is_fuller(const struct queue *q, const Hiwat__ListenQueue *row)
{
	return (double)q->length * (double)row->limit > (double)row->value * (double)q->limit;
}

static int
add_row(const struct queue *q, struct record_index *index, Hiwat__Net *net)
{
	Hiwat__ListenQueue *row = RECORD_INDEX_ROW(index, net, listen_queues, listen_queue, q->address);

	if (row == NULL)
		return HIWAT_E_NOMEM;
	if (!row->has_value || is_fuller(q, row)) {
		RECORD_SET(row, value, q->length);
		RECORD_SET(row, limit, q->limit);
	}
	return HIWAT_OK;
}

int
netstat_listen_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = last_dump(in->text, is_title), line;
	struct record_index index;
	struct queue q;
	bool has_title = rest.n > 0, cut;

	/* The rows speak for themselves where the title is missing. */
	if (!has_title)
		rest = in->text;
	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);
	if (net == NULL)
		return parse_fail(why, HIWAT_E_NOMEM, "too large");
	record_index_init(&index, arena);
	while (text_line(&rest, &line, &cut)) {
		/* An address that breaks off is another address. */
		if (!cut && split_row(line, &q) && add_row(&q, &index, net) != HIWAT_OK)
			return parse_fail(why, HIWAT_E_NOMEM, "too large");
	}
	if (net->n_listen_queues == 0 && !has_title)
		return refuse(in->text, "netstat -L", why);
	if (net->n_listen_queues == 0)
		return parse_fail(why, HIWAT_E_NODATA, "netstat -L printed no queue");
	return HIWAT_OK;
}

int
netstat_listen_recognise(struct text text)
{
	text.n = text.n < RECOGNISE_MAX ? text.n : RECOGNISE_MAX;
	return text_find(text, "Current listen queue sizes") >= 0 ? 100 : 0;
}
