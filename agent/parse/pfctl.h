/* What the readers of pfctl's outputs share. */
#ifndef HIWAT_AGENT_PARSE_PFCTL_H
#define HIWAT_AGENT_PARSE_PFCTL_H

#include "parse.h"

#define PFCTL_ROWS_MAX 256 /* of one kind in one dump; more are unknown lines */

/* The rows of kinds.c. */
int pfctl_info_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why);
int pfctl_memory_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why);
int pfctl_timeouts_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why);
int pfctl_rules_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why);
int pfctl_tables_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why);
int pfctl_info_recognise(struct text text);
int pfctl_memory_recognise(struct text text);
int pfctl_timeouts_recognise(struct text text);
int pfctl_rules_recognise(struct text text);
int pfctl_tables_recognise(struct text text);

/*
 * refuse() for pfctl, which also says HIWAT_E_MISSING when the text is pfctl's word that there is no packet filter.
 */
int pfctl_refuse(struct text text, const char *command, struct parse_reason *why);

/* An empty line or a remark on ALTQ: known, without data. */
bool pfctl_is_chatter(struct text line);

/* A title of pfctl -s all or a shell's line that calls pfctl: another output begins. */
bool pfctl_is_border(struct text line);

/* Whether the text is empty or ends like a shell's prompt, so that data may follow it in the same line. */
bool pfctl_is_prompt(struct text before);

/* The first bytes of a text, cut after a whole line: what recognise() looks at. */
struct text pfctl_head(struct text text);

#endif
