/* Each sink, and what sinks share. */
#ifndef HIWAT_COLLECTOR_SINKS_H
#define HIWAT_COLLECTOR_SINKS_H

#include "notify.h"

#define SECRET_MAX 4096

extern const struct sink sink_webhook;
extern const struct sink sink_command;
extern const struct sink sink_alertmanager;
extern const struct sink sink_pagerduty;
extern const struct sink sink_slack;
extern const struct sink sink_email;

/*
 * The secret that a file holds, without the newline at its end. HIWAT_E_CONFIG and a sentence in why when it cannot be
 * read, is empty or larger than SECRET_MAX. *secret ends in a NUL that len does not count and is owned: secret_free().
 */
int secret_read(const char *path, char **secret, size_t *len, struct buf *why);
/* Overwrites it first. NULL is allowed. */
void secret_free(char *secret, size_t len);

#endif
