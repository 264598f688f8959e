/*
 * pfctl -s memory and -s timeouts (pfctl.c of OpenBSD and FreeBSD): lists of names and numbers. A name that returns begins
 * another dump; the last complete one counts, which is one with no fewer rows than the one before it.
 */
#include "pfctl.h"

#include <stdint.h>
#include <string.h>

#include "arena.h"
#include "err.h"

/* pfctl prints "hard limit %8u": a number that fills its field is whole even where the text ends with it. */
#define LIMIT_WIDTH 8

struct dump {
	Hiwat__Pf *pf;
	const char *names[PFCTL_ROWS_MAX];
	size_t n_rows;
	bool is_cut;
};

struct reader {
	struct arena *arena;
	struct dump dump, best;
	bool is_plain; /* memory: numbers are not padded, so their width tells nothing */
	uint64_t n_unknown;
};

static bool
is_complete(const struct reader *r)
{
	return r->dump.pf != NULL && !r->dump.is_cut && r->dump.n_rows > 0 && r->dump.n_rows >= r->best.n_rows;
}

static int
next_dump(struct reader *r)
{
	if (is_complete(r))
		r->best = r->dump;
	r->dump = (struct dump){ .pf = arena_alloc(r->arena, sizeof(Hiwat__Pf)) };
	if (r->dump.pf == NULL)
		return HIWAT_E_NOMEM;
	hiwat__pf__init(r->dump.pf);
	return HIWAT_OK;
}

/* Takes a row's name into the present dump or begins the next. *name stays NULL when there are too many. */
static int
add_name(struct reader *r, struct text word, char **name)
{
	char *label = record_label(r->arena, word);
	int err = HIWAT_OK;

	if (label == NULL)
		return HIWAT_E_NOMEM;
	bool is_new = r->dump.pf == NULL;
	for (size_t i = 0; i < r->dump.n_rows && !is_new; i++)
		is_new = strcmp(r->dump.names[i], label) == 0;
	if (is_new)
		err = next_dump(r);
	if (err != HIWAT_OK)
		return err;
	if (r->dump.n_rows == PFCTL_ROWS_MAX) {
		r->n_unknown++;
		return HIWAT_OK;
	}
	r->dump.names[r->dump.n_rows++] = label;
	*name = label;
	return HIWAT_OK;
}

static bool
is_name(struct text t)
{
	for (size_t i = 0; i < t.n; i++) {
		char c = t.p[i];
		if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_')
			return false;
	}
	return t.n > 0 && t.p[0] >= 'a' && t.p[0] <= 'z';
}

/* The last word before a value is its name; what else stands there must be a prompt. */
static bool
name_before(struct text before, struct text *name)
{
	return text_last_word(&before, name) && is_name(*name) && pfctl_is_prompt(before);
}

/* "states        hard limit    10000" or "states        unlimited". */
static int
read_limit(struct reader *r, struct text line, bool cut)
{
	struct text before = line, name, value, rest;
	uint64_t limit = 0;
	char *label = NULL;
	bool is_limited = false;

	long at = text_find(line, "hard limit");
	if (at >= 0) {
		before.n = (size_t)at;
		rest = (struct text){ line.p + at + strlen("hard limit"), line.n - (size_t)at - strlen("hard limit") };
		size_t width = rest.n > 0 ? rest.n - 1 : 0;
		if (!name_before(before, &name) || !text_word(&rest, &value) || !text_is_u64(value, &limit) ||
		    text_trim(rest).n > 0) {
			r->n_unknown += !cut;
			r->dump.is_cut |= cut;
			return HIWAT_OK;
		}
		if (!cut && width < LIMIT_WIDTH)
			r->is_plain = true;
		if (cut && width < LIMIT_WIDTH && !r->is_plain) {
			r->dump.is_cut = true;
			return HIWAT_OK;
		}
		is_limited = limit != 0 && limit < UINT32_MAX;
	} else if (!text_last_word(&before, &value) || !text_eq(value, "unlimited") || !name_before(before, &name)) {
		r->n_unknown += !cut;
		r->dump.is_cut |= cut;
		return HIWAT_OK;
	}
	int err = add_name(r, name, &label);
	if (err != HIWAT_OK || label == NULL || !is_limited)
		return err;
	Hiwat__PfLimit *row = RECORD_ADD(r->arena, r->dump.pf, limits, pf_limit);
	if (row == NULL)
		return HIWAT_E_NOMEM;
	row->pool = label;
	RECORD_SET(row, value, limit);
	return HIWAT_OK;
}

/* A timeout's name has a point in it, but for two. */
static bool
is_timeout_name(struct text name)
{
	return text_find(name, ".") > 0 || text_eq(name, "frag") || text_eq(name, "interval");
}

/* "tcp.first                   120s" or "adaptive.start             6000 states". */
static int
read_timeout(struct reader *r, struct text line, bool cut)
{
	struct text before = line, name, value;
	uint64_t number;
	char *label = NULL;
	bool is_states = false, ok = text_last_word(&before, &value);

	if (ok && value.n <= 6 && memcmp(value.p, "states", value.n) == 0 && (value.n == 6 || cut)) {
		is_states = true;
		ok = text_last_word(&before, &value) && text_is_u64(value, &number);
	} else if (ok) {
		ok = text_u64(&value, &number) == HIWAT_OK && text_eq(value, "s");
	}
	if (!ok || !name_before(before, &name) || !is_timeout_name(name)) {
		r->n_unknown += !cut;
		r->dump.is_cut |= cut;
		return HIWAT_OK;
	}
	int err = add_name(r, name, &label);
	if (err != HIWAT_OK || label == NULL)
		return err;
	if (is_states || text_starts(name, "adaptive.")) {
		/* 0 means that timeouts do not adapt. */
		if (number > 0 && text_eq(name, "adaptive.start"))
			RECORD_SET(r->dump.pf, adaptive_start_states, number);
		else if (number > 0 && text_eq(name, "adaptive.end"))
			RECORD_SET(r->dump.pf, adaptive_end_states, number);
		return HIWAT_OK;
	}
	Hiwat__PfTimeout *row = RECORD_ADD(r->arena, r->dump.pf, timeouts, pf_timeout);
	if (row == NULL)
		return HIWAT_E_NOMEM;
	row->timeout = label;
	RECORD_SET(row, seconds, number);
	return HIWAT_OK;
}

static int
parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, const char *source,
    int (*read)(struct reader *r, struct text line, bool cut))
{
	struct reader r = { .arena = arena };
	struct text rest = in->text, line;
	bool cut, is_elsewhere = false;

	while (text_line(&rest, &line, &cut)) {
		uint64_t n_unknown = r.n_unknown;
		if (pfctl_is_chatter(line))
			continue;
		if (pfctl_is_border(line)) {
			/* Below a title of pfctl -s all, what is not known is another output. */
			is_elsewhere = text_find(line, "pfctl -") < 0;
			continue;
		}
		int err = read(&r, line, cut);
		if (err != HIWAT_OK)
			return err;
		if (is_elsewhere)
			r.n_unknown = n_unknown;
	}
	if (r.dump.n_rows == 0 && r.best.n_rows == 0)
		return HIWAT_E_NODATA;
	out->pf = is_complete(&r) || r.best.pf == NULL ? r.dump.pf : r.best.pf;
	return r.n_unknown > 0 ? record_count_unknown(arena, out, source, r.n_unknown) : HIWAT_OK;
}

int
pfctl_memory_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	int err = parse(in, arena, out, "pfctl-memory", read_limit);

	return err == HIWAT_E_NODATA ? pfctl_refuse(in->text, "pfctl -s memory", why) : err;
}

int
pfctl_timeouts_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	int err = parse(in, arena, out, "pfctl-timeouts", read_timeout);

	return err == HIWAT_E_NODATA ? pfctl_refuse(in->text, "pfctl -s timeouts", why) : err;
}

/* Rows that the reader takes, at least two of them. */
static int
recognise(struct text text, int (*read)(struct reader *r, struct text line, bool cut))
{
	struct reader r = { 0 };
	struct text rest = pfctl_head(text), line;
	struct arena arena;
	size_t rows = 0;

	arena_init(&arena, 1 << 16);
	r.arena = &arena;
	while (text_line(&rest, &line, NULL) && read(&r, line, false) == HIWAT_OK)
		rows += r.dump.n_rows > 0;
	arena_fini(&arena);
	return rows >= 2 ? 90 : 0;
}

int
pfctl_memory_recognise(struct text text)
{
	return recognise(text, read_limit);
}

int
pfctl_timeouts_recognise(struct text text)
{
	return recognise(text, read_timeout);
}
