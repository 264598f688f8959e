/* Exports of the Windows registry, for the audit of a host that no agent runs on. */
#ifndef HIWAT_AGENT_PARSE_REGISTRY_H
#define HIWAT_AGENT_PARSE_REGISTRY_H

#include "parse.h"

int registry_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why);
int registry_recognise(struct text text);

#endif
