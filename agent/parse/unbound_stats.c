/* unbound-control stats: lines of key=value, once for each thread, once in total, then once for the whole program. */
#include "dns.h"

#include "arena.h"
#include "dns_record.h"
#include "err.h"
#include "last_dump.h"

/* The first letters of keys that hold nothing for us. */
static const char *const known_prefixes[] = { "thread", "total.", "time.", "mem.", "histogram.", "num.", "unwanted." };

struct state {
	struct arena *arena;
	Hiwat__Dns *dns;
	uint64_t unknown;
	bool has_data;
};

static bool
begins_thread(struct text line)
{
	return text_starts(line, "thread0.num.queries=");
}

static bool
begins_total(struct text line)
{
	return text_starts(line, "total.num.queries=");
}

static bool
key_value(struct text line, struct text *key, struct text *value)
{
	*value = text_trim(line);
	return text_until(value, '=', key) && key->n > 0 && text_find(*key, " ") < 0 && value->n > 0;
}

/*
 * A count. Hits are a difference that may fall below zero for a moment, printed as a number near 2^64 or with a sign: 0.
 */
static bool
is_count(struct text value, uint64_t *n)
{
	int64_t i;
	struct text t = value;

	if (text_is_u64(value, n)) {
		if (*n > INT64_MAX)
			*n = 0;
		return true;
	}
	if (!text_starts(value, "-") || text_i64(&t, &i) != HIWAT_OK || t.n > 0)
		return false;
	*n = 0;
	return true;
}

static int
total_line(struct state *s, struct text key, struct text value)
{
	Hiwat__Dns *dns = s->dns;
	uint64_t n;
	double d;

	if (text_eq(key, "recursion.time.avg")) {
		if (text_is_double(value, &d))
			RECORD_SET(dns, recursion_average_seconds, d);
	} else if (text_eq(key, "recursion.time.median")) {
		if (text_is_double(value, &d))
			RECORD_SET(dns, recursion_median_seconds, d);
	} else if (is_count(value, &n)) {
		if (text_eq(key, "num.queries"))
			RECORD_SET(dns, queries_total, n);
		else if (text_eq(key, "num.cachehits"))
			RECORD_SET(dns, cache_hits_total, n);
		else if (text_eq(key, "num.cachemiss"))
			RECORD_SET(dns, cache_misses_total, n);
		else if (text_eq(key, "requestlist.current.all"))
			RECORD_SET(dns, requestlist_current, n);
		else if (text_eq(key, "requestlist.exceeded"))
			RECORD_SET(dns, requestlist_exceeded_total, n);
		else if (text_eq(key, "requestlist.overwritten"))
			RECORD_SET(dns, requestlist_overwritten_total, n);
	}
	s->has_data = true;
	return HIWAT_OK;
}

/* mem.cache.NAME=BYTES, NAME.cache.count=ENTRIES; false when the key is neither. */
static bool
cache_line(struct state *s, struct text key, struct text value, int *err)
{
	struct text cache = key;
	uint64_t n;
	bool is_bytes = text_skip(&cache, "mem.cache.");

	if (!is_bytes) {
		long at = text_find(key, ".cache.");
		if (at <= 0)
			return false;
		cache.n = (size_t)at;
		if (!text_ends(key, ".cache.count"))
			return true;
		if (text_eq(cache, "msg"))
			cache = TEXT("message");
	}
	if (!is_count(value, &n) || cache.n == 0)
		return true;
	Hiwat__DnsCache *row = dns_cache(s->arena, s->dns, cache);
	if (row == NULL)
		*err = HIWAT_E_NOMEM;
	else if (is_bytes)
		RECORD_SET(row, bytes, n);
	else
		RECORD_SET(row, entries, n);
	return true;
}

static int
stats_line(struct state *s, struct text line, bool cut)
{
	struct text key, value;
	int err = HIWAT_OK;
	uint64_t n;

	if (!key_value(line, &key, &value)) {
		s->unknown += !cut;
		return HIWAT_OK;
	}
	if (text_skip(&key, "total."))
		return total_line(s, key, value);
	if (cache_line(s, key, value, &err))
		return err;
	/* nodata is NOERROR without an answer, and in its count. */
	if (text_skip(&key, "num.answer.rcode.")) {
		if (text_eq(key, "nodata") || !is_count(value, &n))
			return HIWAT_OK;
		Hiwat__DnsResponses *row = dns_responses(s->arena, s->dns, key);
		if (row == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, total, n);
		return HIWAT_OK;
	}
	for (size_t i = 0; i < sizeof(known_prefixes) / sizeof(known_prefixes[0]); i++) {
		if (text_starts(key, known_prefixes[i]))
			return HIWAT_OK;
	}
	s->unknown++;
	return HIWAT_OK;
}

int
unbound_stats_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct state s = { .arena = arena };
	struct text rest = last_dump(in->text, begins_thread), line;
	bool cut;

	/* A dump begins with its threads; a text that someone cut to the totals begins with these. */
	if (rest.n == 0)
		rest = last_dump(in->text, begins_total);
	s.dns = dns_server(arena, out, "unbound");
	if (s.dns == NULL)
		return HIWAT_E_NOMEM;
	while (text_line(&rest, &line, &cut)) {
		if (text_trim(line).n == 0)
			continue;
		int err = stats_line(&s, line, cut);
		if (err != HIWAT_OK)
			return err;
	}
	if (!s.has_data)
		return parse_fail(why, HIWAT_E_NODATA, "no line of the totals");
	/* The same difference in releases that count with 32 bits. */
	if (s.dns->has_cache_hits_total && s.dns->has_queries_total && s.dns->cache_hits_total > s.dns->queries_total)
		s.dns->cache_hits_total = 0;
	return s.unknown > 0 ? record_count_unknown(arena, out, "unbound-stats", s.unknown) : HIWAT_OK;
}

int
unbound_stats_recognise(struct text text)
{
	struct text line;

	for (int i = 0; i < 20 && text_line(&text, &line, NULL); i++) {
		line = text_trim(line);
		if (begins_thread(line) || begins_total(line))
			return 95;
	}
	return 0;
}
