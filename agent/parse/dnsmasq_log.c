#include "dnsmasq_log.h"

#include "dns_record.h"
#include "err.h"
#include "record_row.h"
#include "refuse.h"

#define UPSTREAMS_MAX 128 /* of one dump; more are left out */

struct upstream {
	struct text address;
	uint64_t sent, failed;
};

struct dump {
	bool has_cache, has_queries;
	uint64_t limit, evicted, inserted, forwarded, local;
	unsigned n_upstreams;
	struct upstream upstreams[UPSTREAMS_MAX];
};

/* "dnsmasq[712]: ", "dnsmasq: ", and of RFC 5424 "dnsmasq 712 - - "; also where the host is named dnsmasq. */
static bool
tag(struct text *t)
{
	struct text in;

	if (!text_skip(t, "dnsmasq"))
		return false;
	if (text_skip(t, "[") && !text_until(t, ']', &in))
		return false;
	if (text_skip(t, ": "))
		return true;
	struct text id = *t;
	if (!text_skip(&id, " ") || !text_word(&id, &in) || !text_skip(&id, " - - "))
		return false;
	*t = id;
	return true;
}

/*
 * What dnsmasq says on a line; false for lines of other programs and of its DHCP part. A text that was cut to the messages
 * has no tags.
 */
static bool
said(struct text line, struct text *t)
{
	static const char *const begins[] = { "time ", "cache size ", "queries ", "server " };

	*t = text_trim(line);
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (text_starts(*t, begins[i]))
			return true;
	}
	for (struct text rest = *t;;) {
		struct text at = rest, word;
		text_skip_blanks(&at);
		if (tag(&at)) {
			*t = text_trim(at);
			return true;
		}
		if (!text_word(&rest, &word))
			return false;
	}
}

/* A counter that is printed as a signed 32-bit number. */
static bool
counter(struct text *t, uint64_t *value)
{
	int64_t v;

	if (text_i64(t, &v) != 0 || v < INT32_MIN)
		return false;
	*value = v < 0 ? (uint64_t)(v + ((int64_t)1 << 32)) : (uint64_t)v;
	return true;
}

static bool
cache_line(struct text t, struct dump *d)
{
	uint64_t limit, evicted, inserted;

	if (!text_skip(&t, "cache size ") || text_u64(&t, &limit) != 0 || !text_skip(&t, ", ") || !counter(&t, &evicted) ||
	    !text_skip(&t, "/") || !counter(&t, &inserted) || !text_starts(t, " cache insertions re-used unexpired"))
		return false;
	d->limit = limit;
	d->evicted = evicted;
	d->inserted = inserted;
	d->has_cache = true;
	return true;
}

static bool
queries_line(struct text t, struct dump *d)
{
	uint64_t forwarded, local;

	if (!text_skip(&t, "queries forwarded ") || text_u64(&t, &forwarded) != 0 ||
	    !text_skip(&t, ", queries answered locally ") || text_u64(&t, &local) != 0)
		return false;
	d->forwarded = forwarded;
	d->local = local;
	d->has_queries = true;
	return true;
}

/* A server may stand there once for each of its domains. Always true. */
static bool
add_upstream(struct dump *d, struct text address, uint64_t sent, uint64_t failed)
{
	for (unsigned i = 0; i < d->n_upstreams; i++) {
		if (text_same(d->upstreams[i].address, address)) {
			d->upstreams[i].sent += sent;
			d->upstreams[i].failed += failed;
			return true;
		}
	}
	if (d->n_upstreams < UPSTREAMS_MAX)
		d->upstreams[d->n_upstreams++] = (struct upstream){ address, sent, failed };
	return true;
}

static bool
server_line(struct text t, struct dump *d)
{
	struct text address;
	uint64_t sent, failed, retried;
	long end;

	if (!text_skip(&t, "server ") || (end = text_find(t, ": queries sent ")) <= 0)
		return false;
	address = (struct text){ t.p, (size_t)end };
	t.p += end;
	t.n -= (size_t)end;
	text_skip(&t, ": queries sent ");
	if (text_u64(&t, &sent) != 0)
		return false;
	if (text_skip(&t, ", retried or failed ")) {
		if (text_u64(&t, &failed) != 0)
			return false;
	} else if (!text_skip(&t, ", retried ") || text_u64(&t, &retried) != 0 || !text_skip(&t, ", failed ") ||
	    text_u64(&t, &failed) != 0) {
		return false;
	}
	return add_upstream(d, address, sent, failed);
}

/* Numbers that stand apart, as a message in any language holds its counts. Returns how many there are. */
static size_t
numbers(struct text t, uint64_t *found, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < t.n;) {
		struct text at = { t.p + i, t.n - i };
		uint64_t value;
		if ((i > 0 && t.p[i - 1] != ' ') || !counter(&at, &value)) {
			i++;
			continue;
		}
		i = (size_t)(at.p - t.p);
		if (n < max)
			found[n] = value;
		n++;
	}
	return n;
}

/*
 * Where a locale is set the messages are translated, their numbers stay in their order: "N, E/I" of the cache, in the next
 * message the queries forwarded and answered locally, then for each "ADDRESS#PORT:" two counts, or the five of 2.87.
 */
static bool
translated_cache(struct text t, struct dump *d)
{
	uint64_t limit, evicted, inserted;
	long comma = text_find(t, ", ");
	size_t begin = comma > 0 ? (size_t)comma : 0;

	while (begin > 0 && t.p[begin - 1] >= '0' && t.p[begin - 1] <= '9')
		begin--;
	t = (struct text){ t.p + begin, t.n - begin };
	if (text_u64(&t, &limit) != 0 || !text_skip(&t, ", ") || !counter(&t, &evicted) || !text_skip(&t, "/") ||
	    !counter(&t, &inserted) || !text_starts(t, " "))
		return false;
	*d = (struct dump){ .has_cache = true, .limit = limit, .evicted = evicted, .inserted = inserted };
	return true;
}

static bool
translated_queries(struct text t, struct dump *d)
{
	uint64_t n[2];

	if (numbers(t, n, 2) != 2)
		return false;
	d->forwarded = n[0];
	d->local = n[1];
	d->has_queries = true;
	return true;
}

static bool
translated_server(struct text t, struct dump *d)
{
	struct text word;
	uint64_t n[5];

	while (text_word(&t, &word)) {
		if (text_find(word, "#") <= 0 || !text_ends(word, ":"))
			continue;
		size_t found = numbers(t, n, 5);
		word.n--;
		return (found == 2 || found == 5) && add_upstream(d, word, n[0], found == 2 ? n[1] : n[2]);
	}
	return false;
}

static bool
is_time(struct text t)
{
	uint64_t seconds;

	return text_skip(&t, "time ") && text_is_u64(t, &seconds);
}

static int
emit(const struct dump *d, struct arena *arena, Hiwat__Record *out)
{
	Hiwat__Dns *dns = dns_server(arena, out, "dnsmasq");

	if (dns == NULL)
		return HIWAT_E_NOMEM;
	if (d->has_cache) {
		RECORD_SET(dns, cache_insertions_total, d->inserted);
		RECORD_SET(dns, cache_evictions_total, d->evicted);
		if (d->limit > 0) {
			Hiwat__DnsCache *cache = dns_cache(arena, dns, TEXT("rrset"));
			if (cache == NULL)
				return HIWAT_E_NOMEM;
			RECORD_SET(cache, limit_entries, d->limit);
		}
	}
	if (d->has_queries) {
		RECORD_SET(dns, cache_hits_total, d->local);
		RECORD_SET(dns, cache_misses_total, d->forwarded);
	}
	for (unsigned i = 0; i < d->n_upstreams; i++) {
		Hiwat__DnsUpstream *row = RECORD_ROW(arena, dns, upstreams, dns_upstream, d->upstreams[i].address);
		if (row == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, queries_total, row->queries_total + d->upstreams[i].sent);
		RECORD_SET(row, failures_total, row->failures_total + d->upstreams[i].failed);
	}
	return HIWAT_OK;
}

int
dnsmasq_log_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct dump last = { 0 }, before = { 0 };
	struct text rest = in->text, line, t;
	bool is_fresh = false, is_broken = false, is_translated = false, is_next = false, cut;

	while (text_line(&rest, &line, &cut)) {
		if (!said(line, &t)) {
			is_broken = cut; /* it may have begun as one */
			continue;
		}
		bool begins = is_time(t);
		if (begins || (text_starts(t, "cache size ") && !is_fresh && !cut)) {
			if (last.has_cache)
				before = last;
			last = (struct dump){ 0 };
		}
		is_fresh = begins;
		bool is_known = cache_line(t, &last) || queries_line(t, &last) || server_line(t, &last);
		struct dump translated;
		if (!is_known && !cut && translated_cache(t, &translated)) {
			before = last.has_cache ? last : before;
			last = translated;
			is_translated = is_next = true;
			continue;
		}
		if (!is_known && !cut && is_translated)
			is_known = is_next ? translated_queries(t, &last) : translated_server(t, &last);
		is_next = false;
		is_broken = !is_known && cut;
	}
	if ((is_broken || !last.has_cache) && before.has_cache)
		last = before;
	if (!last.has_cache && !last.has_queries && last.n_upstreams == 0)
		return parse_fail(why, HIWAT_E_NODATA, "no line of this text is what dnsmasq says on SIGUSR1");
	int err = emit(&last, arena, out);
	return err == HIWAT_OK ? err : parse_fail(why, err, "more upstream servers than a record may hold");
}

int
dnsmasq_log_recognise(struct text text)
{
	struct text line, t;
	struct dump d = { 0 };

	if (text.n > 4 * RECOGNISE_MAX)
		text.n = 4 * RECOGNISE_MAX;
	while (text_line(&text, &line, NULL)) {
		if (said(line, &t) && (cache_line(t, &d) || queries_line(t, &d) || translated_cache(t, &d)))
			return 92; /* surer than of a kernel's log, which may be in the same file */
	}
	return 0;
}
