/*
 * The members of JSON text one after the other, whatever encloses them. libxo prints containers that do not balance when a
 * program fails half way, saved texts break off or hold several documents: a parser of whole documents would refuse all of
 * it, and the programs' flat lists of numbers need no tree.
 */
#ifndef HIWAT_AGENT_JSON_SCAN_H
#define HIWAT_AGENT_JSON_SCAN_H

#include "scan.h"

struct arena;

struct json_scan {
	struct text rest;
	unsigned depth; /* open containers; a closing one too many is ignored */
};

struct json_member {
	struct text key; /* escapes as they stand */
	enum { JSON_NUMBER, JSON_STRING, JSON_CONTAINER, JSON_OTHER } type;
	struct text value; /* of a number or string; escapes as they stand */
	unsigned depth;    /* of the container it is in; 1 in the outermost */
};

/*
 * The next "key": value. A container is given when it opens, its members follow. A value at the very end of the text is not
 * given, as it may be cut. False at the end.
 */
bool json_next(struct json_scan *s, struct json_member *m);

/*
 * Joins strings and numbers that a mailer or a terminal broke: JSON holds no line ends in them. A string goes on in the next
 * line when it ends there as a member or its value does; other text stays as it is. HIWAT_E_NOMEM.
 */
int json_unwrap(struct arena *arena, struct text *text);

/* Resolves the escapes of a string into out, which has room for value.n + 1 bytes; returns the length. */
size_t json_unescape(struct text value, char *out);

#endif
