/* The statistics channel of BIND as JSON. Zeros are left out of nsstats, and so is nsstats when all is 0. */
#include "arena.h"
#include "dns.h"
#include "dns_record.h"
#include "err.h"
#include "json_text.h"

#define RCODES_MAX 128

/* Sum of one member over the cachestats of all views; false when no view has it. */
static bool
sum_views(json_t *views, const char *member, uint64_t *sum)
{
	void *it = json_object_iter(views);
	bool has = false;
	uint64_t n;

	*sum = 0;
	for (; it != NULL; it = json_object_iter_next(views, it)) {
		const json_t *resolver = json_object_get(json_object_iter_value(it), "resolver");
		if (json_text_u64(json_object_get(json_object_get(resolver, "cachestats"), member), &n)) {
			*sum += n;
			has = true;
		}
	}
	return has;
}

/* Sum of the counts of resource record sets over the caches of all views. */
static bool
sum_rrsets(json_t *views, uint64_t *sum)
{
	void *it = json_object_iter(views);
	bool has = false;
	uint64_t n;

	*sum = 0;
	for (; it != NULL; it = json_object_iter_next(views, it)) {
		json_t *cache = json_object_get(json_object_get(json_object_iter_value(it), "resolver"), "cache");
		for (void *row = json_object_iter(cache); row != NULL; row = json_object_iter_next(cache, row)) {
			if (json_text_u64(json_object_iter_value(row), &n)) {
				*sum += n;
				has = true;
			}
		}
	}
	return has;
}

/* Whether the release counts recursing clients among nsstats: 9.10 to 9.20 do; unknown releases are taken for these. */
static bool
has_gauge(const json_t *root)
{
	const char *version = json_string_value(json_object_get(root, "version"));
	uint64_t major, minor;

	if (version == NULL)
		return true;
	struct text t = text_of(version);
	if (text_u64(&t, &major) != HIWAT_OK || !text_skip(&t, ".") || text_u64(&t, &minor) != HIWAT_OK)
		return true;
	return major < 9 || (major == 9 && minor <= 20);
}

static int
fill_caches(struct arena *arena, Hiwat__Dns *dns, json_t *views)
{
	static const struct {
		const char *cache, *member;
	} memory[] = { { "tree", "TreeMemInUse" }, { "heap", "HeapMemInUse" } };
	uint64_t n, hits, misses;

	/* Lookups for queries where they are told apart from the server's own. */
	bool has_hits = sum_views(views, "QueryHits", &hits), has_misses = sum_views(views, "QueryMisses", &misses);
	if (!has_hits || !has_misses) {
		has_hits = sum_views(views, "CacheHits", &hits);
		has_misses = sum_views(views, "CacheMisses", &misses);
	}
	if (has_hits)
		RECORD_SET(dns, cache_hits_total, hits);
	if (has_misses)
		RECORD_SET(dns, cache_misses_total, misses);
	if (sum_views(views, "DeleteLRU", &n))
		RECORD_SET(dns, cache_evictions_total, n);
	if (sum_rrsets(views, &n)) {
		Hiwat__DnsCache *cache = dns_cache(arena, dns, TEXT("rrset"));
		if (cache == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(cache, entries, n);
	}
	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		if (!sum_views(views, memory[i].member, &n))
			continue;
		Hiwat__DnsCache *cache = dns_cache(arena, dns, text_of(memory[i].cache));
		if (cache == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(cache, bytes, n);
	}
	return HIWAT_OK;
}

static int
add_response(struct arena *arena, Hiwat__Dns *dns, const char *rcode, uint64_t n)
{
	Hiwat__DnsResponses *row = dns_responses(arena, dns, text_of(rcode));

	if (row == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(row, total, n);
	return HIWAT_OK;
}

/* Answers by response code; before 9.11 nsstats have two of them, where they are not 0. */
static int
fill_responses(struct arena *arena, Hiwat__Dns *dns, const json_t *root)
{
	static const struct {
		const char *member, *rcode;
	} old[] = { { "QrySERVFAIL", "SERVFAIL" }, { "QryNXDOMAIN", "NXDOMAIN" } };
	json_t *rcodes = json_object_get(root, "rcodes");
	const json_t *nsstats = json_object_get(root, "nsstats");
	int err = HIWAT_OK;
	uint64_t n;

	for (void *it = json_object_iter(rcodes); it != NULL && err == HIWAT_OK; it = json_object_iter_next(rcodes, it)) {
		if (json_text_u64(json_object_iter_value(it), &n) && dns->n_responses < RCODES_MAX)
			err = add_response(arena, dns, json_object_iter_key(it), n);
	}
	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]) && rcodes == NULL && json_is_object(nsstats) && err == HIWAT_OK;
	     i++) {
		if (!json_text_u64(json_object_get(nsstats, old[i].member), &n))
			n = 0;
		err = add_response(arena, dns, old[i].rcode, n);
	}
	return err;
}

static int
fill(struct arena *arena, Hiwat__Dns *dns, const json_t *root)
{
	const json_t *opcodes = json_object_get(root, "opcodes"), *nsstats = json_object_get(root, "nsstats");
	uint64_t n;

	if (json_text_u64(json_object_get(opcodes, "QUERY"), &n))
		RECORD_SET(dns, queries_total, n);
	if (json_text_u64(json_object_get(nsstats, "RecursClients"), &n))
		RECORD_SET(dns, recursive_clients, n);
	else if (json_is_object(opcodes) && json_object_get(nsstats, "RecursClients") == NULL && has_gauge(root))
		RECORD_SET(dns, recursive_clients, 0);
	int err = fill_responses(arena, dns, root);
	return err != HIWAT_OK ? err : fill_caches(arena, dns, json_object_get(root, "views"));
}

int
bind_json_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	static const char *const members[] = { "json-stats-version", "nsstats", "opcodes", "rcodes", NULL };
	bool is_broken;
	json_t *root = json_text_last(in->text, members, &is_broken);

	if (root == NULL) {
		return is_broken
		    ? parse_fail(why, HIWAT_E_FORMAT, "JSON that is malformed, breaks off or is another program's")
		    : parse_fail(why, HIWAT_E_NODATA, "no object of BIND's statistics");
	}
	int err = HIWAT_E_NOMEM;
	Hiwat__Dns *dns = dns_server(arena, out, "bind");
	if (dns != NULL)
		err = fill(arena, dns, root);
	json_decref(root);
	if (err == HIWAT_OK && !dns->has_queries_total && !dns->has_recursive_clients && dns->n_responses == 0 &&
	    !dns->has_cache_hits_total)
		return parse_fail(why, HIWAT_E_NODATA, "none of BIND's server statistics in the object");
	return err;
}

int
bind_json_recognise(struct text text)
{
	return json_text_has(text, "\"json-stats-version\"") ? 95 : 0;
}
