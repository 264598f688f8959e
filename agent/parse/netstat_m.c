/*
 * netstat -m: lines into dumps; what a line says is netstat_m_line.c. FreeBSD 5.0 to 5.2 print sections with the same labels
 * in each, where only "Total:" is of use, since mbufs wander between the lists of CPUs. A line that is nothing by itself is
 * tried together with the next one or two, as a narrow terminal or a mail program may have broken it.
 *
 * Clusters: in use and allocated already include those of the packet zone; cached items count against the limit.
 */
#include "netstat.h"

#include <string.h>

#include "err.h"
#include "netstat_m_line.h"
#include "refuse.h"

#define JOINED_MAX 512 /* bytes of a line put together again; the longest line of any system has 90 */

/* A line of the text, or several put together. */
struct piece {
	struct text text;
	bool cut;    /* the text breaks off behind it: what stands at its end may be half a word */
	bool joined; /* in a scratch buffer: nothing of it may be kept */
};

struct state {
	struct mbuf_dump dump, last; /* last: the latest complete one before dump */
	bool has_last;
	bool has_ended;        /* dump has the line that ends its shape */
	bool sendfile_block;   /* FreeBSD 11 and later: sendfile's lines come before the last two */
	unsigned n_known;      /* lines of dump */
	enum mbuf_row section; /* MBUF_MBUF or MBUF_CLUSTER in FreeBSD 5's sections, else MBUF_ROWS */
	uint64_t n_unknown;
};

static void
begin_dump(struct state *s)
{
	if (s->has_ended) {
		s->last = s->dump;
		s->has_last = true;
	}
	mbuf_dump_reset(&s->dump);
	s->has_ended = s->sendfile_block = false;
	s->n_known = 0;
	s->section = MBUF_ROWS;
}

/* A line that begins with a word: FreeBSD 5's sections have some. */
static bool
take_heading(struct state *s, const struct piece *piece)
{
	struct statement st = { .cut = piece->cut };
	struct text t = piece->text;
	uint64_t limit;

	if (text_eq(t, "mbuf usage:")) {
		if (s->n_known > 0)
			begin_dump(s);
		s->section = MBUF_MBUF;
		return true;
	}
	if (text_eq(t, "mbuf cluster usage:")) {
		s->section = MBUF_CLUSTER;
		return true;
	}
	if (s->section == MBUF_ROWS)
		return false;
	if (text_skip(&t, "Total:"))
		return netstat_m_split(text_trim(t), &st) && st.label.n == 0 && st.has_names &&
		    netstat_m_take_columns(&st, s->section, &s->dump);
	if (text_skip(&t, "Maximum possible:")) {
		if (piece->cut || !text_is_u64(t, &limit))
			return false;
		mbuf_dump_set(&s->dump, s->section, MBUF_LIMIT, limit);
		return true;
	}
	return text_starts(t, "GEN ") || text_starts(t, "CPU #") || text_find(t, "cache high watermark:") >= 0 ||
	    text_eq(t, "Allocated mbuf types:");
}

static bool
begins_with_number(struct text t)
{
	size_t sign = t.n > 1 && *t.p == '-';

	return t.n > sign && t.p[sign] >= '0' && t.p[sign] <= '9';
}

/* Whether a known line is the last of its shape. */
static bool
ends_dump(const struct state *s, struct text label)
{
	if (s->sendfile_block)
		return text_same(label, TEXT("requests for sfbufs delayed"));
	return text_same(label, TEXT("requests for I/O initiated by sendfile")) ||
	    text_same(label, TEXT("calls to protocol drain routines")) || text_same(label, TEXT("calls to drain routines"));
}

static bool
take_numbers(struct state *s, const struct piece *piece)
{
	struct statement st = { .cut = piece->cut, .joined = piece->joined };

	if (!netstat_m_split(piece->text, &st))
		return false;
	if (s->n_known > 0 && netstat_m_begins(&st))
		begin_dump(s);
	if (!netstat_m_take(&st, &s->dump))
		return false;
	s->sendfile_block |= text_same(st.label, TEXT("sendfile syscalls"));
	s->has_ended |= ends_dump(s, st.label);
	return true;
}

static bool
take_piece(struct state *s, const struct piece *piece)
{
	bool is_known = begins_with_number(piece->text) ? take_numbers(s, piece) : take_heading(s, piece);

	s->n_known += is_known;
	return is_known;
}

/* Without blanks and without the marks of a quoted mail. */
static bool
next_piece(struct text *rest, struct piece *piece)
{
	*piece = (struct piece){ 0 };
	if (!text_line(rest, &piece->text, &piece->cut))
		return false;
	piece->text = text_trim(piece->text);
	while (text_skip(&piece->text, ">"))
		piece->text = text_trim(piece->text);
	return true;
}

/* Tries a line together with one or two more, broken at a blank or in a word. *rest goes on behind them if that is known. */
static bool
take_joined(struct state *s, const struct piece *piece, struct text *rest)
{
	char glued[JOINED_MAX], spaced[JOINED_MAX];
	struct text after = *rest;
	size_t n_glued = piece->text.n, n_spaced = n_glued;
	struct piece more;

	if (n_glued > JOINED_MAX)
		return false;
	memcpy(glued, piece->text.p, n_glued);
	memcpy(spaced, piece->text.p, n_spaced);
	for (unsigned i = 0; i < 2; i++) {
		if (!next_piece(&after, &more) || more.text.n == 0 || more.text.n >= JOINED_MAX - n_spaced)
			return false;
		memcpy(glued + n_glued, more.text.p, more.text.n);
		spaced[n_spaced++] = ' ';
		memcpy(spaced + n_spaced, more.text.p, more.text.n);
		n_glued += more.text.n;
		n_spaced += more.text.n;
		struct piece joined = { { spaced, n_spaced }, more.cut, true };
		if (!take_piece(s, &joined)) {
			joined.text = (struct text){ glued, n_glued };
			if (!take_piece(s, &joined))
				continue;
		}
		*rest = after;
		return true;
	}
	return false;
}

/* Whether the names of a line stand on the next one. */
static bool
lacks_names(const struct piece *piece, struct text rest)
{
	struct piece next;

	return piece->text.p[piece->text.n - 1] != ')' && next_piece(&rest, &next) && text_starts(next.text, "(");
}

static void
take_text(struct state *s, struct text rest)
{
	struct piece piece;

	while (next_piece(&rest, &piece)) {
		if (piece.text.n == 0)
			continue;
		bool is_number = begins_with_number(piece.text);
		if (is_number && lacks_names(&piece, rest) && take_joined(s, &piece, &rest))
			continue;
		if (take_piece(s, &piece) || (is_number && take_joined(s, &piece, &rest)))
			continue;
		/* Words outside of a dump are prompts, dates and headings. */
		s->n_unknown += is_number || (s->n_known > 0 && !s->has_ended);
	}
}

int
netstat_m_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct state s;

	if (netstat_m_json_recognise(in->text) > 0)
		return netstat_m_json_parse(in, arena, out, why);
	s.has_last = s.has_ended = s.sendfile_block = false;
	s.n_known = 0;
	s.section = MBUF_ROWS;
	s.n_unknown = 0;
	mbuf_dump_reset(&s.dump);
	take_text(&s, in->text);
	const struct mbuf_dump *dump = s.has_ended || !s.has_last ? &s.dump : &s.last;
	if (mbuf_dump_is_empty(dump))
		return refuse(in->text, "netstat -m", why);
	int err = mbuf_dump_write(dump, arena, out);
	if (err == HIWAT_OK && s.n_unknown > 0)
		err = record_count_unknown(arena, out, "netstat-m", s.n_unknown);
	return err == HIWAT_OK ? err : parse_fail(why, err, "too large");
}

int
netstat_m_recognise(struct text text)
{
	text.n = text.n < RECOGNISE_MAX ? text.n : RECOGNISE_MAX;
	return text_find(text, " mbufs in use") >= 0 || text_find(text, "1 mbuf in use:") >= 0 ||
		text_find(text, "mbuf usage:\n") >= 0 || text_find(text, " mbuf clusters in use") >= 0
	    ? 95
	    : 0;
}
