/* The least that lets a user read what it was denied. */
#ifndef HIWAT_AGENT_GRANT_H
#define HIWAT_AGENT_GRANT_H

struct buf;

/*
 * Appends one line, without its newline, that an administrator can run or write down: a group where the file's group is
 * enough, else a capability or an access list. path: what was denied; user: the name of who was denied.
 */
void grant_write(struct buf *out, const char *path, const char *user);

#endif
