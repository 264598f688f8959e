/* What parsers answer to a text that holds nothing for them. */
#ifndef HIWAT_AGENT_REFUSE_H
#define HIWAT_AGENT_REFUSE_H

#include "parse.h"

#define RECOGNISE_MAX 4096 /* bytes that a recogniser looks at */

/*
 * Writes why the text is not the output of this command and returns HIWAT_E_DENIED when the text is a refusal for lack of
 * permission, else HIWAT_E_NODATA.
 */
int refuse(struct text text, const char *command, struct parse_reason *why);

#endif
