/*
 * One line of netstat -m: numbers joined by slashes, a label, and mostly the numbers' names in parentheses, joined the
 * same way. The label says the pool, the names say the columns.
 */
#ifndef HIWAT_AGENT_NETSTAT_M_LINE_H
#define HIWAT_AGENT_NETSTAT_M_LINE_H

#include "mbuf_dump.h"
#include "scan.h"

#define STATEMENT_NUMBERS_MAX 8 /* four were printed so far */

struct statement {
	uint64_t values[STATEMENT_NUMBERS_MAX];
	unsigned n;
	bool is_kilo; /* a K is glued to the numbers */
	bool has_names;
	bool cut;          /* the text breaks off behind it: what stands at its end may be half a word */
	bool joined;       /* from a scratch buffer: nothing of it may be kept */
	struct text label; /* without colon and without the last parentheses */
	struct text names; /* what these hold */
};

/* Takes a trimmed line apart; cut and joined are left to the caller. False when it has no such form. */
bool netstat_m_split(struct text line, struct statement *st);
/* Whether this is the line that all systems but FreeBSD 5.0 to 5.2 print first: how many mbufs are in use. */
bool netstat_m_begins(const struct statement *st);
/* Stores what the line says, which may be nothing of use; false when it is not known. */
bool netstat_m_take(const struct statement *st, struct mbuf_dump *d);
/* Stores numbers by their names, or as "in use" and "in use/allocated" where old systems print none; false if neither. */
bool netstat_m_take_columns(const struct statement *st, enum mbuf_row row, struct mbuf_dump *d);

#endif
