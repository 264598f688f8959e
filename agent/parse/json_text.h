/* JSON out of saved texts. */
#ifndef HIWAT_AGENT_JSON_TEXT_H
#define HIWAT_AGENT_JSON_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "scan.h"

/*
 * The last whole JSON object that starts a line of the text and holds one of these members (ended by NULL); prompts, headers
 * and other objects around it do not matter. NULL when there is none: then *found tells whether an object was there that
 * breaks off or is malformed. The caller owns the reference.
 */
json_t *json_text_last(struct text text, const char *const *members, bool *found);

/* A whole number from 0 on, as integer, real without fraction or string of digits; false for all else. */
bool json_text_u64(const json_t *value, uint64_t *number);

/* Whether the text begins, after what stands before its first brace, like an object that holds the member. */
bool json_text_has(struct text text, const char *quoted_member);

#endif
