/*
 * Addresses in tables: pfctl -vvs Tables prints a line "--a-r--<tab>NAME" and a block with "Addresses: N" for each table;
 * pfctl -t NAME -T show prints one address a line. The latter does not say which table it is: the name comes from the
 * shell's line that calls pfctl, where that was saved, else it is "". A table of an anchor is NAME@ANCHOR.
 */
#include "pfctl.h"

#include <string.h>

#include "arena.h"
#include "err.h"
#include "record_row.h"

#define TABLES_MAX 4096

struct reader {
	struct arena *arena;
	Hiwat__Pf *pf;
	struct text name;        /* of the block that is open, or empty */
	Hiwat__PfTable *listing; /* of the list of addresses that is open, or NULL */
	struct text shown;       /* -t NAME of the last command line */
	uint64_t n_unknown;
};

/* A table that comes again is told anew: the last one counts. NULL: too many, or memory is out (*err). */
static Hiwat__PfTable *
table_named(struct reader *r, struct text name, int *err)
{
	if (r->pf->n_table == TABLES_MAX && RECORD_FIND(r->pf, table, pf_table, name) == NULL) {
		r->n_unknown++;
		return NULL;
	}
	Hiwat__PfTable *t = RECORD_ROW(r->arena, r->pf, table, pf_table, name);
	if (t == NULL)
		*err = HIWAT_E_NOMEM;
	return t;
}

/* "-pa-r--": seven or eight flags, one letter or '-' each; older systems have fewer. */
static bool
is_flags(struct text word)
{
	bool dash = false;

	if (word.n < 5 || word.n > 10)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		if (strchr("cpairhCb-", word.p[i]) == NULL || word.p[i] == '\0')
			return false;
		dash |= word.p[i] == '-';
	}
	return dash;
}

/* Text of digits, hex digits, ':' and '.', with a prefix length, perhaps negated. */
static bool
is_address(struct text t)
{
	bool separator = false;

	text_skip(&t, "!");
	for (size_t i = 0; i < t.n; i++) {
		char c = t.p[i];
		separator |= c == '.' || c == ':';
		if (c == '/' && separator && i + 1 < t.n)
			return text_is_u64((struct text){ t.p + i + 1, t.n - i - 1 }, &(uint64_t){ 0 });
		if ((c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') && c != '.' && c != ':')
			return false;
	}
	return separator && t.n >= 2;
}

/* The lines of a block that give no number of entries. */
static bool
is_detail(struct text line)
{
	line = text_trim(line);
	return text_starts(line, "Cleared:") || text_starts(line, "References:") || text_starts(line, "Evaluations:") ||
	    text_starts(line, "In/") || text_starts(line, "Out/") || text_starts(line, "Active:");
}

static int
read_header(struct reader *r, struct text rest)
{
	struct text name, anchor;

	if (!text_word(&rest, &name))
		return HIWAT_OK;
	if (text_word(&rest, &anchor)) {
		char *joined = arena_alloc(r->arena, name.n + anchor.n + 2);
		if (joined == NULL)
			return HIWAT_E_NOMEM;
		memcpy(joined, name.p, name.n);
		joined[name.n] = '@';
		memcpy(joined + name.n + 1, anchor.p, anchor.n);
		name = (struct text){ joined, name.n + anchor.n + 1 };
	}
	r->name = name;
	return HIWAT_OK;
}

static int
read_count(struct reader *r, struct text number, bool cut)
{
	uint64_t entries;
	int err = HIWAT_OK;

	if (cut || r->name.n == 0 || !text_is_u64(number, &entries)) {
		r->n_unknown += !cut;
		return HIWAT_OK;
	}
	Hiwat__PfTable *t = table_named(r, r->name, &err);
	if (t != NULL)
		RECORD_SET(t, entries, entries);
	r->name.n = 0;
	return err;
}

static int
read_address(struct reader *r)
{
	int err = HIWAT_OK;

	if (r->listing == NULL) {
		r->listing = table_named(r, r->shown, &err);
		if (r->listing == NULL)
			return err;
		RECORD_SET(r->listing, entries, 0);
	}
	r->listing->entries++;
	return HIWAT_OK;
}

/* "# pfctl -t bad_hosts -T show" */
static void
read_command(struct reader *r, struct text line)
{
	struct text word;

	r->listing = NULL;
	r->name.n = 0;
	r->shown = TEXT("");
	while (text_word(&line, &word)) {
		if (text_eq(word, "-t") && text_word(&line, &word)) {
			r->shown = word;
			return;
		}
		if (text_skip(&word, "-t") && word.n > 0)
			r->shown = word;
	}
}

static int
read_line(struct reader *r, struct text line, bool cut)
{
	struct text rest = line, word;

	if (pfctl_is_chatter(line))
		return HIWAT_OK;
	if (pfctl_is_border(line)) {
		read_command(r, line);
		return HIWAT_OK;
	}
	if (!text_word(&rest, &word))
		return HIWAT_OK;
	if (is_flags(word) && text_trim(rest).n > 0)
		return read_header(r, rest);
	if (text_eq(word, "Addresses:"))
		return read_count(r, rest, cut);
	if (is_detail(line))
		return HIWAT_OK;
	/* A sign of what a command did to the address may stand first; a name behind it comes from a lookup. */
	if (word.n == 1 && text_trim(rest).n > 0)
		text_word(&rest, &word);
	if (is_address(word) && (rest.n == 0 || text_trim(rest).n == 0 || text_starts(text_trim(rest), "(")))
		return read_address(r);
	r->n_unknown += !cut;
	return HIWAT_OK;
}

int
pfctl_tables_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct reader r = { .arena = arena, .shown = TEXT("") };
	struct text rest = in->text, line;
	bool cut;

	if ((r.pf = RECORD_ONE(arena, out, pf, pf)) == NULL)
		return HIWAT_E_NOMEM;
	while (text_line(&rest, &line, &cut)) {
		int err = read_line(&r, line, cut);
		if (err != HIWAT_OK)
			return err;
	}
	if (r.pf->n_table == 0)
		return pfctl_refuse(in->text, "pfctl -vvs Tables or pfctl -T show", why);
	return r.n_unknown > 0 ? record_count_unknown(arena, out, "pfctl-tables", r.n_unknown) : HIWAT_OK;
}

int
pfctl_tables_recognise(struct text text)
{
	struct text head = pfctl_head(text);

	if (text_find(head, "Addresses:") >= 0 && text_find(head, "References:") >= 0 && text_find(head, "Anchors:") >= 0)
		return 90;
	return text_find(head, "pfctl") >= 0 && text_find(head, "-T show") >= 0 ? 80 : 0;
}
