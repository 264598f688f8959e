/*
 * netstat --libxo json -m: flat members of "mbuf-statistics". The page-size pool is "jumbo-" among the pools and "jumbop-"
 * among the requests; "bytes" are kilobytes; failures are requests denied and sleeps requests delayed. Text without any
 * member is tried as the lines that netstat prints by itself.
 */
#include "netstat.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "json_scan.h"
#include "mbuf_dump.h"
#include "printed.h"
#include "refuse.h"

#define KEY_MAX 63

struct member {
	const char *key;
	enum mbuf_row row;
	enum mbuf_column column;
	uint64_t unit;
};

/* By key, for bsearch(). */
static const struct member members[] = {
	{ "bytes-in-cache", MBUF_BYTES, MBUF_CACHED, 1024 },
	{ "bytes-in-use", MBUF_BYTES, MBUF_IN_USE, 1024 },
	{ "bytes-total", MBUF_BYTES, MBUF_ALLOCATED, 1024 },
	{ "cluster-cache", MBUF_CLUSTER, MBUF_CACHED, 1 },
	{ "cluster-current", MBUF_CLUSTER, MBUF_IN_USE, 1 },
	{ "cluster-failures", MBUF_CLUSTER, MBUF_DENIED, 1 },
	{ "cluster-max", MBUF_CLUSTER, MBUF_LIMIT, 1 },
	{ "cluster-sleeps", MBUF_CLUSTER, MBUF_DELAYED, 1 },
	{ "cluster-total", MBUF_CLUSTER, MBUF_ALLOCATED, 1 },
	{ "jumbo-cache", MBUF_JUMBO_PAGE, MBUF_CACHED, 1 },
	{ "jumbo-count", MBUF_JUMBO_PAGE, MBUF_IN_USE, 1 },
	{ "jumbo-max", MBUF_JUMBO_PAGE, MBUF_LIMIT, 1 },
	{ "jumbo-page-size", MBUF_JUMBO_PAGE, MBUF_ITEM_BYTES, 1024 },
	{ "jumbo-total", MBUF_JUMBO_PAGE, MBUF_ALLOCATED, 1 },
	{ "jumbo16-cache", MBUF_JUMBO_16K, MBUF_CACHED, 1 },
	{ "jumbo16-count", MBUF_JUMBO_16K, MBUF_IN_USE, 1 },
	{ "jumbo16-failures", MBUF_JUMBO_16K, MBUF_DENIED, 1 },
	{ "jumbo16-limit", MBUF_JUMBO_16K, MBUF_LIMIT, 1 },
	{ "jumbo16-max", MBUF_JUMBO_16K, MBUF_LIMIT, 1 },
	{ "jumbo16-sleeps", MBUF_JUMBO_16K, MBUF_DELAYED, 1 },
	{ "jumbo16-total", MBUF_JUMBO_16K, MBUF_ALLOCATED, 1 },
	{ "jumbo9-cache", MBUF_JUMBO_9K, MBUF_CACHED, 1 },
	{ "jumbo9-count", MBUF_JUMBO_9K, MBUF_IN_USE, 1 },
	{ "jumbo9-failures", MBUF_JUMBO_9K, MBUF_DENIED, 1 },
	{ "jumbo9-max", MBUF_JUMBO_9K, MBUF_LIMIT, 1 },
	{ "jumbo9-sleeps", MBUF_JUMBO_9K, MBUF_DELAYED, 1 },
	{ "jumbo9-total", MBUF_JUMBO_9K, MBUF_ALLOCATED, 1 },
	{ "jumbop-failures", MBUF_JUMBO_PAGE, MBUF_DENIED, 1 },
	{ "jumbop-sleeps", MBUF_JUMBO_PAGE, MBUF_DELAYED, 1 },
	{ "mbuf-cache", MBUF_MBUF, MBUF_CACHED, 1 },
	{ "mbuf-current", MBUF_MBUF, MBUF_IN_USE, 1 },
	{ "mbuf-failures", MBUF_MBUF, MBUF_DENIED, 1 },
	{ "mbuf-sleeps", MBUF_MBUF, MBUF_DELAYED, 1 },
	{ "mbuf-total", MBUF_MBUF, MBUF_ALLOCATED, 1 },
	{ "nsfbufs", MBUF_SFBUFS, MBUF_LIMIT, 1 },
	{ "nsfbufs-current", MBUF_SFBUFS, MBUF_IN_USE, 1 },
	{ "nsfbufs-peak", MBUF_SFBUFS, MBUF_PEAK, 1 },
	{ "packet-count", MBUF_PACKET, MBUF_IN_USE, 1 },
	{ "packet-failures", MBUF_PACKET, MBUF_DENIED, 1 },
	{ "packet-free", MBUF_PACKET, MBUF_CACHED, 1 },
	{ "packet-sleeps", MBUF_PACKET, MBUF_DELAYED, 1 },
	{ "sfbufs-alloc-failed", MBUF_SFBUFS, MBUF_DENIED, 1 },
	{ "sfbufs-alloc-wait", MBUF_SFBUFS, MBUF_DELAYED, 1 },
};

struct state {
	struct mbuf_dump dump, last; /* last: the latest complete one before dump */
	bool has_last;
};

static int
compare(const void *key, const void *row)
{
	return strcmp(key, ((const struct member *)row)->key);
}

/* Whether the last member that netstat prints is there. */
static bool
is_complete(const struct mbuf_dump *d)
{
	return mbuf_dump_has(d, MBUF_SFBUFS, MBUF_DELAYED);
}

static void
begin_dump(struct state *s)
{
	if (is_complete(&s->dump)) {
		s->last = s->dump;
		s->has_last = true;
	}
	mbuf_dump_reset(&s->dump);
}

static bool
number_of(const struct json_member *m, uint64_t *value)
{
	return (m->type == JSON_NUMBER || m->type == JSON_STRING) && printed_count(m->value, value);
}

static void
take_member(struct state *s, const struct json_member *m)
{
	char key[KEY_MAX + 1];
	uint64_t value;

	if (m->type == JSON_CONTAINER && text_eq(m->key, "mbuf-statistics"))
		begin_dump(s);
	if (m->key.n > KEY_MAX || !number_of(m, &value))
		return;
	memcpy(key, m->key.p, m->key.n);
	key[m->key.n] = '\0';
	if (strcmp(key, "sendfile-io-count") == 0) {
		s->dump.sendfile_io = value;
		s->dump.has_sendfile_io = true;
		return;
	}
	const struct member *row = bsearch(key, members, sizeof(members) / sizeof(members[0]), sizeof(members[0]), compare);
	if (row == NULL || value > UINT64_MAX / row->unit)
		return;
	if (mbuf_dump_has(&s->dump, row->row, row->column) && row->row == MBUF_MBUF && row->column == MBUF_IN_USE)
		begin_dump(s);
	/* A page of 4 is in kilobytes; one of 4096 could not be. */
	bool is_bytes = row->column == MBUF_ITEM_BYTES && value >= 1024;
	mbuf_dump_set(&s->dump, row->row, row->column, is_bytes ? value : value * row->unit);
}

int
netstat_m_json_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct json_scan scan = { .rest = in->text };
	struct json_member member;
	struct state s;

	if (json_unwrap(arena, &scan.rest) != HIWAT_OK)
		return parse_fail(why, HIWAT_E_NOMEM, "too large");
	s.has_last = false;
	mbuf_dump_reset(&s.dump);
	while (json_next(&scan, &member))
		take_member(&s, &member);
	struct mbuf_dump *dump = is_complete(&s.dump) || !s.has_last ? &s.dump : &s.last;
	if (mbuf_dump_is_empty(dump) && netstat_m_json_recognise(in->text) == 0 && netstat_m_recognise(in->text) > 0)
		return netstat_m_parse(in, arena, out, why);
	if (mbuf_dump_is_empty(dump))
		return refuse(in->text, "netstat --libxo json -m", why);
	if (mbuf_dump_has(dump, MBUF_JUMBO_9K, MBUF_IN_USE))
		mbuf_dump_set(dump, MBUF_JUMBO_9K, MBUF_ITEM_BYTES, 9216);
	if (mbuf_dump_has(dump, MBUF_JUMBO_16K, MBUF_IN_USE))
		mbuf_dump_set(dump, MBUF_JUMBO_16K, MBUF_ITEM_BYTES, 16384);
	int err = mbuf_dump_write(dump, arena, out);
	return err == HIWAT_OK ? err : parse_fail(why, err, "too large");
}

int
netstat_m_json_recognise(struct text text)
{
	text.n = text.n < RECOGNISE_MAX ? text.n : RECOGNISE_MAX;
	return text_find(text, "\"mbuf-statistics\"") >= 0 || text_find(text, "\"mbuf-current\"") >= 0 ? 100 : 0;
}
