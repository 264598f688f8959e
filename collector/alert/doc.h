/* What the JSON documents of this folder share: texts that may hold any bytes, times, identities. */
#ifndef HIWAT_COLLECTOR_DOC_H
#define HIWAT_COLLECTOR_DOC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Each adds a member; 0, or nonzero when memory is out, so that results can be joined by |. */

/* Bytes that are no UTF-8 become '?', as JSON has no room for them. */
int doc_put_text(json_t *o, const char *name, const char *s);
/* RFC 3339 in UTC with milliseconds, and Unix seconds under NAME_unix; nothing for 0. */
int doc_put_time(json_t *o, const char *name, uint64_t ns);
int doc_put_uuid(json_t *o, const char *name, const uint8_t uuid[16]);

/* 32 hexadecimal digits, hyphens anywhere between. */
bool doc_parse_uuid(const char *s, uint8_t uuid[16]);
/* 2026-12-01T08:00:00Z, with or without a fraction of the second, which is dropped. *ns is Unix time. */
bool doc_parse_time(const char *s, uint64_t *ns);

#endif
