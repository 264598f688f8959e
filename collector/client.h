/* Asking a running collector's API, for the subcommands that show it in a terminal. */
#ifndef HIWAT_COLLECTOR_CLIENT_H
#define HIWAT_COLLECTOR_CLIENT_H

#include <jansson.h>

#define CLIENT_URL_DEFAULT "http://127.0.0.1:9781"
#define CLIENT_TOKEN_DEFAULT "/var/lib/hiwat-collector/admin.token"

struct client;

/* command: for messages. base: the collector's web side, borrowed. NULL when memory is out. */
struct client *client_new(const char *command, const char *base);
void client_free(struct client *c);
/* The answer to GET base + path, owned by the caller; NULL after the reason was told on standard error. */
json_t *client_get(struct client *c, const char *path);

/* The HTTP status of the last answer, 0 when there was none. */
long client_status(const struct client *c);
/*
 * The same for a request that changes something: body may be NULL, token_file holds the bearer token. *status is an exit
 * status: 0, 1 when the collector refused, CMD_UNUSABLE when it or the token could not be reached.
 */
json_t *
client_send(struct client *c, const char *method, const char *path, const json_t *body, const char *token_file, int *status);

/* A member of an object: NaN or "-" when it is absent or of another type. Strings without control characters. */
double client_number(const json_t *o, const char *key);
const char *client_text(const json_t *o, const char *key);

#endif
