/*
 * pfctl -s info: print_status() of pfctl_parser.c in OpenBSD and FreeBSD. Rows are a label and a number, with a rate behind
 * it once the filter was ever enabled; the same labels return under several headings, so the heading decides. A text may
 * hold several dumps: each fills a message of its own and the last complete one counts. A dump begins with its status, or,
 * where that is missing, with the first heading.
 *
 * An ordinary user of FreeBSD 15.1 is answered with "Disabled" and zeros instead of an error. Where the kernel's lists are
 * missing from such a dump, it contradicts itself and is refused; where they are there but zero, the text alone cannot tell
 * a disabled filter from a denied one, and whoever runs pfctl must know whether it may see it.
 */
#include "pfctl.h"

#include <stddef.h>
#include <string.h>

#include "arena.h"
#include "err.h"
#include "record_row.h"

/*
 * pf came with OpenBSD 3.0 in 2001; a filter that claims to run for longer than 20 years was enabled before its clock was
 * set, or the clock went back since (the difference is printed as unsigned).
 */
#define RUNNING_DAYS_MAX (20 * 366)

/* print_status() prints "  %-25s %14llu": a number that ends here is whole even where the text ends with it. */
#define NUMBER_END (2 + 25 + 1 + 14)

enum section {
	NO_DUMP,   /* before the first */
	ELSEWHERE, /* in another output of pfctl */
	HEAD,
	INTERFACE,
	STATES,
	SOURCES,
	FRAGMENTS,
	COUNTERS,
	LIMIT_COUNTERS,
	WATERMARKS,
	OTHER, /* a section that is not read */
};

struct dump {
	Hiwat__Pf *pf;
	unsigned n_state_rows; /* of the state table */
	bool saw_counters;     /* their heading */
	bool is_cut;           /* the text ended in a row of this dump */
	bool is_plain;         /* its counters have neither rates nor padding */
};

struct reader {
	struct arena *arena;
	struct dump dump, best;
	enum section section;
	uint64_t n_unknown;
};

static bool
number_of_status(struct text *t, const char *label, uint64_t *value)
{
	long at = text_find(*t, label);

	if (at < 0)
		return false;
	struct text rest = { t->p + at + strlen(label), t->n - (size_t)at - strlen(label) };
	text_skip_blanks(&rest);
	if (text_u64(&rest, value) != HIWAT_OK)
		return false;
	*t = rest;
	return true;
}

/* "Status: Enabled for 161 days 21:24:45   Debug: Urgent"; in 3.0 to 3.2 "Status: Enabled  Time: 1026 Since: 1000". */
static void
read_status(Hiwat__Pf *pf, struct text t, bool cut)
{
	uint64_t days, hours, minutes, seconds, now, since;

	RECORD_SET(pf, enabled, text_starts(t, "Status: Enabled") ? 1 : 0);
	if (pf->enabled == 0)
		return;
	struct text time = t;
	if (number_of_status(&time, "Time:", &now) && number_of_status(&time, "Since:", &since) && time.n > 0) {
		if (since > 0 && now >= since && (now - since) / 86400 <= RUNNING_DAYS_MAX)
			RECORD_SET(pf, running_seconds, now - since);
		return;
	}
	if (!number_of_status(&t, "Enabled for", &days))
		return;
	text_skip_blanks(&t);
	if (!text_skip(&t, "days") && !text_skip(&t, "day"))
		return;
	text_skip_blanks(&t);
	if (text_u64(&t, &hours) != HIWAT_OK || !text_skip(&t, ":") || text_u64(&t, &minutes) != HIWAT_OK ||
	    !text_skip(&t, ":"))
		return;
	size_t digits = t.n;
	if (text_u64(&t, &seconds) != HIWAT_OK || (cut && t.n == 0 && digits < 2))
		return;
	if (days <= RUNNING_DAYS_MAX && hours < 24 && minutes < 60 && seconds < 60)
		RECORD_SET(pf, running_seconds, ((days * 24 + hours) * 60 + minutes) * 60 + seconds);
}

/* A dump that ends early still counts when nothing better is there. */
static bool
is_complete(const struct reader *r)
{
	const struct dump *d = &r->dump, *best = &r->best;

	return d->pf != NULL && !d->is_cut && d->pf->has_states && d->pf->n_counters > 0 &&
	    (best->pf == NULL || (d->n_state_rows >= best->n_state_rows && d->pf->n_counters >= best->pf->n_counters));
}

static int
start_dump(struct reader *r)
{
	if (is_complete(r))
		r->best = r->dump;
	r->dump = (struct dump){ .pf = arena_alloc(r->arena, sizeof(Hiwat__Pf)) };
	if (r->dump.pf == NULL)
		return HIWAT_E_NOMEM;
	hiwat__pf__init(r->dump.pf);
	r->section = HEAD;
	return HIWAT_OK;
}

static bool
heading(struct text line, enum section *section)
{
	static const struct {
		const char *words;
		enum section section;
	} headings[] = {
		{ "Interface Stats", INTERFACE },
		{ "State Table", STATES },
		{ "pf Counters", STATES }, /* OpenBSD 3.0 to 3.2 */
		{ "Source Tracking Table", SOURCES },
		{ "Limit Counters", LIMIT_COUNTERS },
		{ "Adaptive Syncookies Watermarks", WATERMARKS },
	};
	struct text word;

	line = text_trim(line);
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++) {
		if (text_starts(line, headings[i].words)) {
			*section = headings[i].section;
			return true;
		}
	}
	struct text rest = line;
	if (!text_word(&rest, &word))
		return false;
	rest = text_trim(rest);
	if (rest.n > 0 && !text_starts(rest, "Total"))
		return false;
	if (text_eq(word, "Counters"))
		*section = COUNTERS;
	else if (text_eq(word, "Fragments"))
		*section = FRAGMENTS;
	else if (text_eq(word, "Syncookies"))
		*section = OTHER;
	else
		return false;
	return true;
}

/* Words of letters that begin with a capital at the very left: the heading of a section that this reader does not know. */
static bool
looks_like_heading(struct text line)
{
	if (line.n == 0 || line.p[0] < 'A' || line.p[0] > 'Z')
		return false;
	for (size_t i = 0; i < line.n; i++) {
		char c = line.p[i];
		if (c != ' ' && c != '-' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z'))
			return false;
	}
	return true;
}

struct row {
	struct text label;
	uint64_t value;
	bool is_certain; /* not cut off in the middle of the number */
	bool is_bare;    /* neither padded nor followed by a rate */
};

static bool
is_label(struct text t)
{
	for (size_t i = 0; i < t.n; i++) {
		char c = t.p[i];
		if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' &&
		    c != ' ' && c != '/' && c != '.')
			return false;
	}
	return t.n > 0 && !text_ends(t, "hard limit");
}

/* A number as printed, which may be close to 2^64; one below zero counts as none. */
static bool
is_count(struct text word, uint64_t *value)
{
	bool is_negative = text_skip(&word, "-");

	if (!text_is_u64(word, value))
		return false;
	*value = is_negative ? 0 : *value;
	return true;
}

/*
 * The label ends at the first word of digits alone. Behind the number stands nothing or a rate; a rate that is cut off is
 * nothing to worry about. is_plain: no row has more behind its number, so that its end can be believed.
 */
static bool
row_of(struct text line, bool cut, bool is_plain, struct row *row)
{
	struct text rest = line, word;

	if (!text_word(&rest, &word) || is_count(word, &row->value))
		return false;
	do {
		if (!text_word(&rest, &word))
			return false;
	} while (!is_count(word, &row->value));
	row->label = text_trim((struct text){ line.p, (size_t)(word.p - line.p) });
	size_t end = (size_t)(word.p + word.n - line.p);
	row->is_bare = end == line.n && end < NUMBER_END;
	row->is_certain = !cut || !row->is_bare || is_plain;
	rest = text_trim(rest);
	for (size_t i = 0; i < rest.n; i++) {
		char c = rest.p[i];
		if ((c < '0' || c > '9') && c != '.' && c != '/' && c != 's' && c != '-')
			return false;
	}
	return is_label(row->label);
}

static const struct table_row {
	enum section section;
	const char *label;
	size_t has, value; /* offsets in Hiwat__Pf; 0: known, but no metric */
} table_rows[] = {
#define ROW(section, label, field) \
	{ \
		section, label, offsetof(Hiwat__Pf, has_##field), offsetof(Hiwat__Pf, field) \
	}
	ROW(STATES, "current entries", states),
	ROW(STATES, "half-open tcp", half_open_states),
	ROW(STATES, "searches", state_searches_total),
	ROW(STATES, "inserts", state_inserts_total),
	ROW(STATES, "removals", state_removals_total),
	ROW(SOURCES, "current entries", source_nodes),
	ROW(SOURCES, "searches", source_node_searches_total),
	ROW(SOURCES, "inserts", source_node_inserts_total),
	ROW(SOURCES, "removals", source_node_removals_total),
	ROW(FRAGMENTS, "current entries", fragments),
#undef ROW
	{ FRAGMENTS, "searches", 0, 0 },
	{ FRAGMENTS, "inserts", 0, 0 },
	{ FRAGMENTS, "removals", 0, 0 },
};

/* False for a label that its table does not have, or has had already. */
static bool
read_table_row(struct reader *r, const struct row *row)
{
	char *pf = (char *)r->dump.pf;

	for (size_t i = 0; i < sizeof(table_rows) / sizeof(table_rows[0]); i++) {
		const struct table_row *t = &table_rows[i];
		if (t->section != r->section || !text_eq(row->label, t->label))
			continue;
		if (t->value == 0)
			return true;
		protobuf_c_boolean *has = (protobuf_c_boolean *)(void *)(pf + t->has);
		if (*has)
			return false;
		*has = 1;
		*(uint64_t *)(void *)(pf + t->value) = row->value;
		r->dump.n_state_rows += t->section == STATES;
		return true;
	}
	return false;
}

/* A counter of the name that is printed; a name that was there already is an unknown line. */
static int
add_counter(struct reader *r, const struct row *row)
{
	Hiwat__PfCounter *c = RECORD_ROW(r->arena, r->dump.pf, counters, pf_counter, row->label);

	if (c == NULL)
		return HIWAT_E_NOMEM;
	r->n_unknown += c->has_total;
	if (!c->has_total)
		RECORD_SET(c, total, row->value);
	return HIWAT_OK;
}

static int
add_limit_counter(struct reader *r, const struct row *row)
{
	Hiwat__PfLimitCounter *c = RECORD_ROW(r->arena, r->dump.pf, limit_counters, pf_limit_counter, row->label);

	if (c == NULL)
		return HIWAT_E_NOMEM;
	r->n_unknown += c->has_total;
	if (!c->has_total)
		RECORD_SET(c, total, row->value);
	return HIWAT_OK;
}

/* Lines before the first table: identification, and the plain lines of OpenBSD 3.0 to 3.2. */
static bool
read_head(struct reader *r, struct text line)
{
	uint64_t states;
	struct text t = text_trim(line);

	if (text_skip(&t, "States:")) {
		if (text_is_u64(t, &states))
			RECORD_SET(r->dump.pf, states, states);
		return true;
	}
	return text_starts(t, "Hostid:") || text_starts(t, "Checksum:") || text_starts(t, "Debug:") ||
	    text_starts(t, "Bytes In") || text_starts(t, "Bytes  In") || text_starts(t, "Bytes Out") ||
	    text_starts(t, "IPv6:") || text_starts(t, "Inbound Packets") || text_starts(t, "Outbound Packets") ||
	    text_starts(t, "Passed:");
}

/* A line below one of the headings. */
static int
read_row(struct reader *r, struct text line, bool cut)
{
	struct dump *d = &r->dump;
	struct row row;

	if (!row_of(line, cut, d->is_plain, &row)) {
		if (looks_like_heading(line))
			r->section = OTHER;
		d->is_cut |= cut;
		r->n_unknown += !cut;
		return HIWAT_OK;
	}
	if (!row.is_certain) {
		d->is_cut = true;
		return HIWAT_OK;
	}
	if (r->section == COUNTERS && !cut && row.is_bare)
		d->is_plain = true;
	if (r->section == COUNTERS && d->pf->n_counters < PFCTL_ROWS_MAX)
		return add_counter(r, &row);
	if (r->section == LIMIT_COUNTERS && d->pf->n_limit_counters < PFCTL_ROWS_MAX)
		return add_limit_counter(r, &row);
	if (r->section == COUNTERS || r->section == LIMIT_COUNTERS || !read_table_row(r, &row))
		r->n_unknown++;
	return HIWAT_OK;
}

static bool
is_interface_row(struct text line)
{
	line = text_trim(line);
	return text_starts(line, "Bytes") || text_starts(line, "Packets") || text_starts(line, "Passed") ||
	    text_starts(line, "Blocked");
}

static int
read_line(struct reader *r, struct text line, bool cut)
{
	enum section section;
	int err = HIWAT_OK;
	long at = text_find(line, "Status: Enabled");
	if (at < 0)
		at = text_find(line, "Status: Disabled");
	if (at >= 0) {
		if ((err = start_dump(r)) == HIWAT_OK)
			read_status(r->dump.pf, (struct text){ line.p + at, line.n - (size_t)at }, cut);
		return err;
	}
	if (pfctl_is_chatter(line))
		return HIWAT_OK;
	if (pfctl_is_border(line)) {
		r->section = ELSEWHERE;
		return HIWAT_OK;
	}
	if (r->section != ELSEWHERE && heading(line, &section)) {
		/* Whoever saved the text may have left out its first line. */
		bool is_again = section == STATES && r->dump.n_state_rows > 0 && !r->dump.pf->has_enabled;
		if ((r->section == NO_DUMP || is_again) && (err = start_dump(r)) != HIWAT_OK)
			return err;
		r->section = section;
		r->dump.saw_counters |= section == COUNTERS;
		return HIWAT_OK;
	}
	switch (r->section) {
	case NO_DUMP:
		r->n_unknown++;
		return HIWAT_OK;
	case HEAD:
		r->n_unknown += !read_head(r, line);
		return HIWAT_OK;
	case INTERFACE:
		r->n_unknown += !is_interface_row(line);
		return HIWAT_OK;
	case ELSEWHERE:
	case WATERMARKS:
	case OTHER:
		return HIWAT_OK;
	default:
		return read_row(r, line, cut);
	}
}

int
pfctl_info_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct reader r = { .arena = arena };
	struct text rest = in->text, line;
	bool cut;

	while (text_line(&rest, &line, &cut)) {
		int err = read_line(&r, line, cut);
		if (err != HIWAT_OK)
			return err;
	}
	const struct dump *d = r.best.pf != NULL && !is_complete(&r) ? &r.best : &r.dump;
	if (d->pf == NULL || (!d->pf->has_enabled && !d->pf->has_states && d->pf->n_counters == 0))
		return pfctl_refuse(in->text, "pfctl -s info", why);
	if (d->pf->has_enabled && d->pf->enabled == 0 && d->saw_counters && !d->pf->has_state_searches_total &&
	    d->pf->n_counters == 0)
		return parse_fail(why, HIWAT_E_IMPLAUSIBLE,
		    "says Disabled and lists no counters: pfctl was run by a user who may not see the packet filter");
	out->pf = d->pf;
	return r.n_unknown > 0 ? record_count_unknown(arena, out, "pfctl-info", r.n_unknown) : HIWAT_OK;
}

int
pfctl_info_recognise(struct text text)
{
	text = pfctl_head(text);
	if (text_find(text, "Status: Enabled") < 0 && text_find(text, "Status: Disabled") < 0)
		return 0;
	if (text_find(text, "State Table") >= 0 || text_find(text, "Debug:") >= 0)
		return 95;
	return 30;
}
