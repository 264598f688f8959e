#include "dns_record.h"

#include "arena.h"
#include "record_row.h"

Hiwat__Dns *
dns_server(struct arena *arena, Hiwat__Record *out, const char *server)
{
	Hiwat__Resolver *resolver = RECORD_ONE(arena, out, resolver, resolver);

	if (resolver == NULL)
		return NULL;
	return RECORD_ROW(arena, resolver, servers, dns, text_of(server));
}

Hiwat__DnsCache *
dns_cache(struct arena *arena, Hiwat__Dns *dns, struct text cache)
{
	return RECORD_ROW(arena, dns, caches, dns_cache, cache);
}

Hiwat__DnsResponses *
dns_responses(struct arena *arena, Hiwat__Dns *dns, struct text rcode)
{
	char *upper = arena_strndup(arena, rcode.p, rcode.n);

	if (upper == NULL)
		return NULL;
	for (size_t i = 0; i < rcode.n; i++) {
		if (upper[i] >= 'a' && upper[i] <= 'z')
			upper[i] = (char)(upper[i] - 'a' + 'A');
	}
	return RECORD_ROW(arena, dns, responses, dns_responses, (struct text){ upper, rcode.n });
}

Hiwat__DnsSetting *
dns_setting(struct arena *arena, Hiwat__Dns *dns, struct text name)
{
	return RECORD_ROW(arena, dns, settings, dns_setting, name);
}
