/* Labels are compared as they will be sent: what record_label() replaces or cuts may make two names one. */
#include "dns_record.h"

#include <string.h>

#include "arena.h"

Hiwat__Dns *
dns_server(struct arena *arena, Hiwat__Record *out, const char *server)
{
	Hiwat__Resolver *resolver = RECORD_ONE(arena, out, resolver, resolver);

	if (resolver == NULL)
		return NULL;
	for (size_t i = 0; i < resolver->n_servers; i++) {
		if (strcmp(resolver->servers[i]->server, server) == 0)
			return resolver->servers[i];
	}
	Hiwat__Dns *dns = RECORD_ADD(arena, resolver, servers, dns);
	if (dns == NULL || (dns->server = record_label(arena, text_of(server))) == NULL)
		return NULL;
	return dns;
}

Hiwat__DnsCache *
dns_cache(struct arena *arena, Hiwat__Dns *dns, struct text cache)
{
	char *label = record_label(arena, cache);

	if (label == NULL)
		return NULL;
	for (size_t i = 0; i < dns->n_caches; i++) {
		if (strcmp(label, dns->caches[i]->cache) == 0)
			return dns->caches[i];
	}
	Hiwat__DnsCache *row = RECORD_ADD(arena, dns, caches, dns_cache);
	if (row != NULL)
		row->cache = label;
	return row;
}

Hiwat__DnsResponses *
dns_responses(struct arena *arena, Hiwat__Dns *dns, struct text rcode)
{
	char *label = record_label(arena, rcode);

	if (label == NULL)
		return NULL;
	for (char *c = label; *c != '\0'; c++) {
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	}
	for (size_t i = 0; i < dns->n_responses; i++) {
		if (strcmp(label, dns->responses[i]->rcode) == 0)
			return dns->responses[i];
	}
	Hiwat__DnsResponses *row = RECORD_ADD(arena, dns, responses, dns_responses);
	if (row != NULL)
		row->rcode = label;
	return row;
}

Hiwat__DnsSetting *
dns_setting(struct arena *arena, Hiwat__Dns *dns, struct text name)
{
	char *label = record_label(arena, name);

	if (label == NULL)
		return NULL;
	for (size_t i = 0; i < dns->n_settings; i++) {
		if (strcmp(label, dns->settings[i]->name) == 0)
			return dns->settings[i];
	}
	Hiwat__DnsSetting *row = RECORD_ADD(arena, dns, settings, dns_setting);
	if (row != NULL)
		row->name = label;
	return row;
}
