/* Findings of the settings audit for programs. */
#ifndef HIWAT_COLLECTOR_AUDIT_JSON_H
#define HIWAT_COLLECTOR_AUDIT_JSON_H

#include <jansson.h>

#include "audit.h"

/*
 * An object of texts, the caller's: id, setting, profile, verdict, wanted, found, command, doc, and the whole line as text.
 * NULL when memory is out.
 */
json_t *audit_finding_to_json(const struct audit_finding *finding);

#endif
