/* systemd-resolved's statistics: a table of "label: number", or the same as JSON. */
#include "arena.h"
#include "dns.h"
#include "dns_record.h"
#include "err.h"
#include "json_text.h"
#include "last_dump.h"

#define CACHE "rrset" /* the one cache there is, of resource records */

static const char *const known_labels[] = { "Current Transactions", "Total Transactions", "Current Cache Size", "Cache Hits",
	"Cache Misses", "Total Timeouts", "Total Timeouts (Stale Data Served)", "Total Failure Responses",
	"Total Failure Responses (Stale Data Served)", "Secure", "Insecure", "Bogus", "Indeterminate",
	"DNSSEC supported by current servers" };
static const char *const titles[] = { "Transactions", "Cache", "Failure Transactions", "DNSSEC Verdicts" };

static bool
is_one_of(struct text t, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text_eq(t, words[i]))
			return true;
	}
	return false;
}

#define IS_ONE_OF(t, words) is_one_of((t), (words), sizeof(words) / sizeof((words)[0]))

struct statistics {
	uint64_t hits, misses, size;
	bool has_hits, has_misses, has_size;
};

static bool
begins_table(struct text line)
{
	return text_starts(line, "Current Transactions:");
}

/* False when the line is none of the table's. */
static bool
table_line(struct text line, struct statistics *s)
{
	struct text label, value = text_trim(line);
	uint64_t n;

	if (IS_ONE_OF(value, titles))
		return true;
	if (!text_until(&value, ':', &label))
		return false;
	label = text_trim(label);
	if (!text_is_u64(value, &n))
		return IS_ONE_OF(label, known_labels);
	if (text_eq(label, "Cache Hits")) {
		s->hits = n;
		s->has_hits = true;
	} else if (text_eq(label, "Cache Misses")) {
		s->misses = n;
		s->has_misses = true;
	} else if (text_eq(label, "Current Cache Size")) {
		s->size = n;
		s->has_size = true;
	}
	return IS_ONE_OF(label, known_labels);
}

/* Whether the text holds the statistics as JSON: alone, or as the parameters of an answer by varlink. */
static bool
from_json(struct text text, struct statistics *s, bool *is_broken)
{
	static const char *const members[] = { "transactions", "cache", "parameters", NULL };
	json_t *root = json_text_last(text, members, is_broken);

	if (root == NULL)
		return false;
	const json_t *inner = json_object_get(root, "parameters");
	const json_t *cache = json_object_get(inner != NULL ? inner : root, "cache");
	s->has_hits = json_text_u64(json_object_get(cache, "hits"), &s->hits);
	s->has_misses = json_text_u64(json_object_get(cache, "misses"), &s->misses);
	s->has_size = json_text_u64(json_object_get(cache, "size"), &s->size);
	json_decref(root);
	return s->has_hits || s->has_misses || s->has_size;
}

int
resolved_statistics_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct statistics s = { 0 };
	struct text rest = last_dump(in->text, begins_table), line;
	uint64_t unknown = 0;
	bool cut, is_broken;

	if (rest.n == 0) /* someone cut it to the rows of the cache */
		rest = in->text;
	if (!from_json(in->text, &s, &is_broken)) {
		while (text_line(&rest, &line, &cut)) {
			if (text_trim(line).n > 0 && !table_line(line, &s))
				unknown += !cut;
		}
	}
	if (!s.has_hits && !s.has_misses && !s.has_size) {
		return is_broken ? parse_fail(why, HIWAT_E_FORMAT, "JSON that is malformed or breaks off")
				 : parse_fail(why, HIWAT_E_NODATA, "no row of the cache");
	}
	Hiwat__Dns *dns = dns_server(arena, out, "resolved");
	if (dns == NULL)
		return HIWAT_E_NOMEM;
	if (s.has_hits)
		RECORD_SET(dns, cache_hits_total, s.hits);
	if (s.has_misses)
		RECORD_SET(dns, cache_misses_total, s.misses);
	if (s.has_size) {
		Hiwat__DnsCache *cache = dns_cache(arena, dns, TEXT(CACHE));
		if (cache == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(cache, entries, s.size);
	}
	return unknown > 0 ? record_count_unknown(arena, out, "resolved-statistics", unknown) : HIWAT_OK;
}

int
resolved_statistics_recognise(struct text text)
{
	struct text rest = text, line;

	for (int i = 0; i < 20 && text_line(&rest, &line, NULL); i++) {
		line = text_trim(line);
		if (text_starts(line, "Current Transactions:") || text_starts(line, "Current Cache Size:"))
			return 95;
	}
	return json_text_has(text, "\"currentTransactions\"") ? 95 : 0;
}
