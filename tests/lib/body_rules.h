/* What services take, as their documentation says; written without a look at the sinks. See bad_server.h. */
#ifndef HIWAT_TESTS_BODY_RULES_H
#define HIWAT_TESTS_BODY_RULES_H

#include "bad_server.h"

#define PAGERDUTY_KEY "0123456789abcdefABCDEF0123456789"

/* Events API v2. seen: dedup_key, event_action, the number behind "generation" in payload.summary. */
body_rules pagerduty_takes;
/* Incoming webhooks with blocks. seen: 32 hexadecimal digits of the last context, the text's first word, the number. */
body_rules slack_takes;

#endif
