/*
 * named.stats: dumps one after the other, each in sections "++ Title ++" of rows "number text", some of them once for each
 * "[View: name]". Releases before 9.5 have no sections: rows "word number", then the same for each zone.
 */
#include "arena.h"
#include "dns.h"
#include "dns_record.h"
#include "err.h"

enum section {
	SECTION_FLAT, /* before the first title: rows of 9.4 and older */
	SECTION_REQUESTS,
	SECTION_RCODES,
	SECTION_SERVER,
	SECTION_CACHE,
	SECTION_RRSETS,
	SECTION_OTHER, /* known by its shape, of no use */
	N_SECTIONS,
};

static const struct {
	const char *title;
	enum section section;
} titles[] = {
	{ "Incoming Requests", SECTION_REQUESTS },
	{ "Outgoing Rcodes", SECTION_RCODES },
	{ "Name Server Statistics", SECTION_SERVER },
	{ "Cache Statistics", SECTION_CACHE },
	{ "Cache DB RRsets", SECTION_RRSETS },
};

/* A sum of one kind of row over views; has: such a row was there. */
struct sum {
	uint64_t n;
	bool has;
};

struct state {
	struct arena *arena;
	Hiwat__Dns *dns;
	enum section section;
	bool seen[N_SECTIONS];
	bool is_closed; /* the dump has its closing line */
	struct sum queries, recursing, hits, misses, query_hits, query_misses, evictions, tree, heap, rrsets;
	struct sum flat_noerror, flat_nxdomain, flat_other;
	struct sum servfail, nxdomain; /* of the server's statistics, for releases without rcodes */
	uint64_t unknown;
};

/* Rows by section and text. */
static const struct {
	enum section section;
	const char *text;
	size_t offset;
} sums[] = {
#define ROW(section, text, field) \
	{ \
		section, text, offsetof(struct state, field) \
	}
	ROW(SECTION_REQUESTS, "QUERY", queries),
	ROW(SECTION_SERVER, "recursing clients", recursing),
	ROW(SECTION_SERVER, "queries resulted in SERVFAIL", servfail),
	ROW(SECTION_SERVER, "queries resulted in NXDOMAIN", nxdomain),
	ROW(SECTION_CACHE, "cache hits", hits),
	ROW(SECTION_CACHE, "cache misses", misses),
	ROW(SECTION_CACHE, "cache hits (from query)", query_hits),
	ROW(SECTION_CACHE, "cache misses (from query)", query_misses),
	ROW(SECTION_CACHE, "cache records deleted due to memory exhaustion", evictions),
	ROW(SECTION_CACHE, "cache tree memory in use", tree),
	ROW(SECTION_CACHE, "cache heap memory in use", heap),
	ROW(SECTION_FLAT, "success", flat_noerror),
	ROW(SECTION_FLAT, "referral", flat_noerror),
	ROW(SECTION_FLAT, "nxrrset", flat_noerror),
	ROW(SECTION_FLAT, "nxdomain", flat_nxdomain),
	ROW(SECTION_FLAT, "failure", flat_other),
	ROW(SECTION_FLAT, "duplicate", flat_other),
	ROW(SECTION_FLAT, "dropped", flat_other),
#undef ROW
};

static void
sum_add(struct sum *sum, uint64_t n)
{
	sum->n = n > UINT64_MAX - sum->n ? UINT64_MAX : sum->n + n;
	sum->has = true;
}

static bool
is_title(struct text line, struct text *title)
{
	*title = line;
	if (!text_skip(title, "++ ") || !text_ends(*title, " ++"))
		return false;
	title->n -= 3;
	return true;
}

/* The last dump with its closing line; without any, what follows the last opening line, or the whole text. */
static struct text
find_dump(struct text text, bool *is_closed)
{
	struct text rest = text, line, open = text, closed = { text.p, 0 };

	while (text_line(&rest, &line, NULL)) {
		struct text t = text_trim(line);
		if (text_starts(t, "+++ Statistics Dump +++")) {
			open = rest;
		} else if (text_starts(t, "--- Statistics Dump ---") && open.n > 0) {
			closed = (struct text){ open.p, (size_t)(line.p - open.p) };
			open = (struct text){ text.p, 0 };
		}
	}
	*is_closed = closed.n > 0;
	return *is_closed ? closed : open;
}

static void
add_row(struct state *s, struct text label, uint64_t n)
{
	if (s->section == SECTION_RRSETS) {
		sum_add(&s->rrsets, n);
		return;
	}
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		if (sums[i].section == s->section && text_eq(label, sums[i].text)) {
			sum_add((struct sum *)(void *)((char *)s + sums[i].offset), n);
			return;
		}
	}
}

/* "number text" */
static int
section_row(struct state *s, struct text line, bool cut)
{
	struct text word;
	uint64_t n;

	if (!text_word(&line, &word) || !text_is_u64(word, &n) || text_trim(line).n == 0) {
		s->unknown += !cut;
		return HIWAT_OK;
	}
	struct text label = text_trim(line);
	if (s->section != SECTION_RCODES) {
		add_row(s, label, n);
		return HIWAT_OK;
	}
	Hiwat__DnsResponses *row = dns_responses(s->arena, s->dns, label);
	if (row == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(row, total, row->total + n);
	return HIWAT_OK;
}

/* "word number", or "word number zone [view]", which the former holds already. */
static void
flat_row(struct state *s, struct text line, bool cut)
{
	static const char *const words[] = { "success", "referral", "nxrrset", "nxdomain", "recursion", "failure",
		"duplicate", "dropped" };
	struct text word, number;
	uint64_t n;
	bool is_known = false;

	if (text_word(&line, &word) && text_word(&line, &number) && text_is_u64(number, &n)) {
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			is_known |= text_eq(word, words[i]);
	}
	if (!is_known) {
		s->unknown += !cut;
		return;
	}
	if (text_trim(line).n == 0) {
		s->seen[SECTION_FLAT] = true;
		add_row(s, word, n);
	}
}

static int
dump_line(struct state *s, struct text line, bool cut)
{
	struct text title;

	line = text_trim(line);
	if (line.n == 0 || (text_starts(line, "[") && text_ends(line, "]")))
		return HIWAT_OK;
	if (is_title(line, &title)) {
		s->section = SECTION_OTHER;
		for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
			if (text_eq(title, titles[i].title))
				s->section = titles[i].section;
		}
		s->seen[s->section] = true;
		return HIWAT_OK;
	}
	if (s->section == SECTION_FLAT) {
		flat_row(s, line, cut);
		return HIWAT_OK;
	}
	return section_row(s, line, cut);
}

/* The section is there and did not break off, so that what it leaves out is 0. */
static bool
is_whole(const struct state *s, enum section section)
{
	return s->seen[section] && (s->is_closed || s->section != section);
}

static int
set_response(struct state *s, const char *rcode, const struct sum *sum)
{
	Hiwat__DnsResponses *row = dns_responses(s->arena, s->dns, text_of(rcode));

	if (row == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(row, total, row->total + sum->n);
	return HIWAT_OK;
}

static int
set_responses(struct state *s)
{
	static const char *const rcodes[] = { "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED" };
	static const struct sum none = { 0 };
	int err = HIWAT_OK;

	if (s->seen[SECTION_RCODES]) {
		if (!is_whole(s, SECTION_RCODES))
			return HIWAT_OK;
		for (size_t i = 0; i < sizeof(rcodes) / sizeof(rcodes[0]) && err == HIWAT_OK; i++)
			err = set_response(s, rcodes[i], &none);
		return err;
	}
	/* Before 9.11 the server's own section has these two; other answers it does not count by code. */
	if (is_whole(s, SECTION_SERVER)) {
		err = set_response(s, "SERVFAIL", &s->servfail);
		if (err == HIWAT_OK)
			err = set_response(s, "NXDOMAIN", &s->nxdomain);
	}
	if (err == HIWAT_OK && s->flat_noerror.has)
		err = set_response(s, "NOERROR", &s->flat_noerror);
	if (err == HIWAT_OK && s->flat_nxdomain.has)
		err = set_response(s, "NXDOMAIN", &s->flat_nxdomain);
	return err;
}

static int
set_cache(struct state *s, const char *name, const struct sum *bytes, const struct sum *entries)
{
	if (!bytes->has && !entries->has)
		return HIWAT_OK;
	Hiwat__DnsCache *row = dns_cache(s->arena, s->dns, text_of(name));
	if (row == NULL)
		return HIWAT_E_NOMEM;
	if (bytes->has)
		RECORD_SET(row, bytes, bytes->n);
	if (entries->has)
		RECORD_SET(row, entries, entries->n);
	return HIWAT_OK;
}

static int
finish(struct state *s)
{
	static const struct sum none = { 0 };
	Hiwat__Dns *dns = s->dns;

	if (s->queries.has || is_whole(s, SECTION_REQUESTS)) {
		RECORD_SET(dns, queries_total, s->queries.n);
	} else if (s->flat_noerror.has && s->flat_nxdomain.has && s->flat_other.has) {
		/* Each query ended in one of these. */
		RECORD_SET(dns, queries_total, s->flat_noerror.n + s->flat_nxdomain.n + s->flat_other.n);
	}
	/* The releases that print rcodes (9.11) print this gauge, too, when it is not 0. */
	if (s->recursing.has || (is_whole(s, SECTION_SERVER) && s->seen[SECTION_RCODES]))
		RECORD_SET(dns, recursive_clients, s->recursing.n);
	/* Lookups for queries where they are told apart from the server's own. */
	const struct sum *hits = s->query_hits.has ? &s->query_hits : &s->hits;
	const struct sum *misses = s->query_misses.has ? &s->query_misses : &s->misses;
	if (s->query_hits.has != s->query_misses.has && s->hits.has && s->misses.has) {
		hits = &s->hits;
		misses = &s->misses;
	}
	if (hits->has)
		RECORD_SET(dns, cache_hits_total, hits->n);
	if (misses->has)
		RECORD_SET(dns, cache_misses_total, misses->n);
	if (s->evictions.has)
		RECORD_SET(dns, cache_evictions_total, s->evictions.n);
	int err = set_cache(s, "rrset", &none, &s->rrsets);
	if (err == HIWAT_OK)
		err = set_cache(s, "tree", &s->tree, &none);
	if (err == HIWAT_OK)
		err = set_cache(s, "heap", &s->heap, &none);
	return err == HIWAT_OK ? set_responses(s) : err;
}

int
bind_stats_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct state s = { .arena = arena };
	struct text rest = find_dump(in->text, &s.is_closed), line;
	bool cut, has_data = false;

	s.dns = dns_server(arena, out, "bind");
	if (s.dns == NULL)
		return HIWAT_E_NOMEM;
	while (text_line(&rest, &line, &cut)) {
		int err = dump_line(&s, line, cut);
		if (err != HIWAT_OK)
			return err;
	}
	for (int i = 0; i < N_SECTIONS; i++)
		has_data |= s.seen[i];
	if (!has_data)
		return parse_fail(why, HIWAT_E_NODATA, "no section of statistics");
	int err = finish(&s);
	if (err == HIWAT_OK && s.unknown > 0)
		err = record_count_unknown(arena, out, "bind-stats", s.unknown);
	return err;
}

int
bind_stats_recognise(struct text text)
{
	struct text line, title;

	for (int i = 0; i < 20 && text_line(&text, &line, NULL); i++) {
		line = text_trim(line);
		if (text_starts(line, "+++ Statistics Dump +++") ||
		    (is_title(line, &title) && text_eq(title, "Incoming Requests")))
			return 95;
	}
	return 0;
}
