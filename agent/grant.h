/* The least that lets a user read what it was denied. */
#ifndef HIWAT_AGENT_GRANT_H
#define HIWAT_AGENT_GRANT_H

#include <stdbool.h>

struct buf;

/*
 * The grant for a call as struct fetch_call has it: what is read or connected to as below, pfctl by a line of doas.conf, the
 * kernel log of FreeBSD by a setting. False, and nothing appended, when no grant for it is known.
 */
bool grant_write_call(struct buf *out, const char *verb, const char *what, const char *user);

/*
 * Appends one line, without its newline, that an administrator can run or write down: a group where the file's group is
 * enough, else a capability or an access list. path: what was denied; user: the name of who was denied.
 */
void grant_write(struct buf *out, const char *path, const char *user);

#endif
