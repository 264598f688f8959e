/* Building out->resolver: rows found by their labels or made. All return NULL when the arena is at its ceiling. */
#ifndef HIWAT_AGENT_DNS_RECORD_H
#define HIWAT_AGENT_DNS_RECORD_H

#include "record.h"

struct arena;

/* server: unbound, bind, dnsmasq or resolved. */
Hiwat__Dns *dns_server(struct arena *arena, Hiwat__Record *out, const char *server);
Hiwat__DnsCache *dns_cache(struct arena *arena, Hiwat__Dns *dns, struct text cache);
/* The label becomes upper case. */
Hiwat__DnsResponses *dns_responses(struct arena *arena, Hiwat__Dns *dns, struct text rcode);
/* The setting of this name; new ones have no value yet. */
Hiwat__DnsSetting *dns_setting(struct arena *arena, Hiwat__Dns *dns, struct text name);

#endif
