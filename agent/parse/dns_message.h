/* The little of DNS messages (RFC 1035) that a probe needs. */
#ifndef HIWAT_AGENT_DNS_MESSAGE_H
#define HIWAT_AGENT_DNS_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "scan.h"

#define DNS_QUERY_MAX 300

/*
 * Writes a query with recursion desired for the IPv4 addresses of a name, "localhost" or "www.example.org", class IN. The
 * length, or 0 when the name is none.
 */
size_t dns_query_write(char out[DNS_QUERY_MAX], uint16_t id, const char *name);

/*
 * The same for a text of class CHAOS, "hits.bind", by which some servers speak of themselves. The answer may be as long as
 * DNS_ANSWER_MAX (EDNS, RFC 6891).
 */
size_t dns_query_write_chaos(char out[DNS_QUERY_MAX], uint16_t id, const char *name);
#define DNS_ANSWER_MAX 4096

/*
 * Whether the message answers the query: same id, marked as an answer, the same question unless the server left it out.
 * *rcode is its response code.
 */
_Bool dns_answer_read(struct text answer, struct text query, unsigned *rcode);

/* The strings of the first answer, when that is a text of class CHAOS; false when it is none or the message breaks off. */
_Bool dns_answer_chaos(struct text answer, struct text query, struct text *strings);
/* Takes one of the strings; false at the end. */
_Bool dns_string_next(struct text *strings, struct text *string);

#endif
