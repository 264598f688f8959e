/*
 * Who may change something through the web side: bearer tokens with a role. They stand in a file, one a line,
 * "NAME ROLE TOKEN"; and the collector makes one for the administrator of its own host, a file that only it and root can
 * read. Only hashes are kept in memory.
 */
#ifndef HIWAT_COLLECTOR_AUTH_H
#define HIWAT_COLLECTOR_AUTH_H

#include <stddef.h>

struct auth;
struct buf;

#define AUTH_TOKENS_MAX 1000
#define AUTH_TOKEN_MIN 16 /* bytes */

/* Each may do what those before it may. silence: acknowledge, close, silence. */
enum auth_role { AUTH_NONE, AUTH_SILENCE, AUTH_ADMIN };

/*
 * tokens_file: NULL for none. own_file: made when it is not there, of role admin and name "admin"; NULL for none. Names the
 * line of a mistake in why, never a token. HIWAT_E_CONFIG, HIWAT_E_SYS, HIWAT_E_NOMEM.
 */
int auth_new(const char *tokens_file, const char *own_file, struct auth **auth, struct buf *why);
void auth_free(struct auth *auth);
/*
 * The role that an Authorization header gives ("Bearer TOKEN"; NULL: none), in a time that does not depend on how much of a
 * token is right. *name is the token's, borrowed; untouched for AUTH_NONE. auth may be NULL.
 */
enum auth_role auth_role(const struct auth *auth, const char *header, const char **name);

#endif
