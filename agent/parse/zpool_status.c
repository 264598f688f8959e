/*
 * zpool status: for each pool lines "key: text", the text wrapped over lines that begin with a tab, a table of devices under
 * "config:" and a list of files under "errors:". Blanks count nowhere but in the table, where they tell who is inside whom.
 */
#include "zpool.h"

#include "arena.h"
#include "err.h"
#include "record_row.h"
#include "zpool_value.h"

#define TAB 8

enum block { BLOCK_NONE, BLOCK_TEXT, BLOCK_SCAN, BLOCK_CONFIG, BLOCK_TABLE, BLOCK_ERRORS };

static const struct {
	const char *key;
	enum block block;
} keys[] = {
	{ "pool", BLOCK_NONE },
	{ "state", BLOCK_NONE },
	{ "scan", BLOCK_SCAN },
	{ "scrub", BLOCK_SCAN }, /* before pool version 28 */
	{ "config", BLOCK_CONFIG },
	{ "errors", BLOCK_ERRORS },
	{ "status", BLOCK_TEXT },
	{ "action", BLOCK_TEXT },
	{ "see", BLOCK_TEXT },
	{ "remove", BLOCK_TEXT },
	{ "checkpoint", BLOCK_TEXT },
	{ "expand", BLOCK_TEXT },
	{ "dedup", BLOCK_TEXT },
	{ "comment", BLOCK_TEXT },
	{ "id", BLOCK_TEXT },
};

struct state {
	struct arena *arena;
	Hiwat__Storage *storage;
	int tz_seconds;
	Hiwat__Zpool *pool; /* the one that the lines belong to, or NULL */
	enum block block;
	bool is_scan_open;     /* the scan that the lines belong to runs or is paused */
	bool is_listing_files; /* under errors */
	bool is_whole;         /* the pool's errors line was there */
	/* The table: blanks before the pool's row, whether rows are log devices, whether a log mirror's rows follow. */
	size_t base;
	bool has_base, in_logs, in_log_mirror;
	uint64_t log_devices, log_unmirrored;
	uint64_t unknown;
	bool has_data;
	/* The pools of the output before, when a pool occurs again. */
	Hiwat__Zpool **before;
	size_t n_before;
};

static bool
is_in(struct text t, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text_eq(t, words[i]))
			return true;
	}
	return false;
}

static size_t
indent_of(struct text line)
{
	size_t column = 0;

	for (size_t i = 0; i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'); i++)
		column = line.p[i] == '\t' ? (column / TAB + 1) * TAB : column + 1;
	return column;
}

/* ------------------------------------------------------------------------------------------------------------ scan */

/* "12.34% done" anywhere in the line; nan and inf are no progress. */
static bool
progress_of(struct text line, double *ratio)
{
	long at = text_find(line, "% done");
	struct text before = { line.p, at > 0 ? (size_t)at : 0 }, word;

	if (at <= 0 || !text_last_word(&before, &word) || !zpool_decimal(&word, ratio) || word.n > 0)
		return false;
	*ratio /= 100;
	return true;
}

static void
scan_progress(struct state *s, struct text line)
{
	double ratio;

	if (s->is_scan_open && !s->pool->has_scrub_progress_ratio && progress_of(line, &ratio))
		RECORD_SET(s->pool, scrub_progress_ratio, ratio);
}

/*
 * "scrub repaired 0B in ... with 0 errors on DATE", before version 28 "scrub completed after ... on DATE". A resilver's end
 * is no scrub's, and neither is one that was stopped or canceled.
 */
static void
scan_line(struct state *s, struct text text)
{
	double seconds;

	bool is_running = text_find(text, " in progress") > 0;
	s->is_scan_open = is_running || text_find(text, " paused since ") > 0;
	RECORD_SET(s->pool, scrub_running, is_running || s->pool->scrub_running);
	scan_progress(s, text);
	text_skip(&text, "thorough ");
	bool is_finished = text_starts(text, "scrub repaired ") || text_starts(text, "scrub completed ");
	if (is_finished && text_find(text, " on ") > 0 && zpool_date(text, s->tz_seconds, &seconds))
		RECORD_SET(s->pool, scrub_finished_time_seconds, seconds);
}

/* ----------------------------------------------------------------------------------------------------------- table */

/* The name, which may hold blanks, and what follows the state; false when no word but the first is a state. */
static bool
split_row(struct text line, struct text *name, struct text *state, struct text *rest)
{
	struct text t = line, word;

	if (!text_word(&t, &word))
		return false;
	while (text_word(&t, &word)) {
		if (zpool_is_state(word)) {
			*name = text_trim((struct text){ line.p, (size_t)(word.p - line.p) });
			*state = word;
			*rest = t;
			return true;
		}
	}
	return false;
}

static bool
is_class_name(struct text name)
{
	static const char *const classes[] = { "logs", "cache", "spares", "special", "dedup" };

	return is_in(name, classes, sizeof(classes) / sizeof(classes[0]));
}

static void
count_log(struct state *s, struct text name, size_t indent)
{
	/* Two blanks a level: the class' rows are one deeper than the pool, a mirror's devices two. Without any, order tells. */
	bool is_top = indent > s->base ? indent <= s->base + 2 : !s->in_log_mirror;

	if (text_starts(name, "mirror")) {
		s->in_log_mirror = true;
	} else if (is_top) {
		s->in_log_mirror = false;
		s->log_devices++;
		s->log_unmirrored++;
	} else if (s->in_log_mirror && indent <= s->base + 4) {
		s->log_devices++;
	}
}

/* Behind the table it is certain how many log devices there are, and that there are none when none was in it. */
static void
table_ends(struct state *s)
{
	if (s->block != BLOCK_TABLE || !s->has_base)
		return;
	RECORD_SET(s->pool, log_devices, s->log_devices);
	RECORD_SET(s->pool, log_unmirrored, s->log_unmirrored);
}

static int
table_row(struct state *s, struct text line, bool cut)
{
	struct text name, state, rest, word;
	uint64_t counts[3];
	size_t n = 0, indent = indent_of(line);
	double d;

	bool has_state = split_row(line, &name, &state, &rest);
	if (!has_state)
		name = text_trim(line);
	if (is_class_name(name) && s->has_base && indent <= s->base) {
		/* Before about 2010 the class has a state and counts of its own. */
		s->in_logs = text_eq(name, "logs");
		s->in_log_mirror = false;
		return HIWAT_OK;
	}
	if (!has_state) {
		s->unknown += !cut;
		return HIWAT_OK;
	}
	if (!s->has_base) {
		s->has_base = true;
		s->base = indent;
	}
	while (n < 3 && text_word(&rest, &word) && zpool_number(word, &d))
		counts[n++] = (uint64_t)(d + 0.5);
	/* The last count of a row that breaks off may lack digits or its unit. */
	if (cut && n > 0 && n < 3 && text_trim(rest).n == 0)
		n--;
	if (s->in_logs)
		count_log(s, name, indent);
	return n > 0 ? zpool_add_errors(s->arena, s->pool, name, counts, n) : HIWAT_OK;
}

/* ---------------------------------------------------------------------------------------------------------- errors */

/* A list that names no file, as without privileges, leaves the number open: the pool is not without errors. */
static void
errors_line(struct state *s, struct text text)
{
	uint64_t n;

	s->is_whole = true;
	s->is_listing_files = text_starts(text, "Permanent errors have been detected");
	if (text_starts(text, "No known data errors"))
		RECORD_SET(s->pool, data_errors, 0);
	else if (text_u64(&text, &n) == HIWAT_OK && text_starts(text, " data error"))
		RECORD_SET(s->pool, data_errors, n);
}

/* /path, dataset:/path, dataset:<0x2a>, <metadata>:<0x3d>. A prompt may hold ":/", too, but no blanks stand before it. */
static bool
is_file(struct text line)
{
	struct text t = text_trim(line);

	return text_starts(t, "/") || text_starts(t, "<") || text_find(t, ":<") > 0 ||
	    (indent_of(line) > 0 && text_find(t, ":/") > 0);
}

/* ----------------------------------------------------------------------------------------------------------- lines */

static int
pool_line(struct state *s, struct text name)
{
	if (name.n == 0)
		return HIWAT_OK;
	if (RECORD_FIND(s->storage, zpools, zpool, name) != NULL) {
		s->before = s->storage->zpools;
		s->n_before = s->storage->n_zpools;
		s->storage->zpools = NULL;
		s->storage->n_zpools = 0;
	}
	s->pool = RECORD_ROW(s->arena, s->storage, zpools, zpool, name);
	s->is_whole = s->is_scan_open = s->is_listing_files = false;
	s->has_base = s->in_logs = s->in_log_mirror = false;
	s->log_devices = s->log_unmirrored = 0;
	return s->pool != NULL ? HIWAT_OK : HIWAT_E_NOMEM;
}

/* "key: text" with one of zpool's keys; the key's place in keys, or -1. */
static int
key_of(struct text line, struct text *text)
{
	struct text key;

	*text = line;
	if (!text_until(text, ':', &key))
		return -1;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (text_eq(key, keys[i].key)) {
			*text = text_trim(*text);
			return (int)i;
		}
	}
	return -1;
}

static int
key_line(struct state *s, int key, struct text text)
{
	table_ends(s);
	s->block = keys[key].block;
	if (text_eq(text_of(keys[key].key), "pool"))
		return pool_line(s, text);
	if (s->pool == NULL)
		return HIWAT_OK;
	if (text_eq(text_of(keys[key].key), "state"))
		return zpool_is_state(text) ? zpool_set_state(s->arena, s->pool, text) : HIWAT_OK;
	if (s->block == BLOCK_SCAN && text.n > 0)
		scan_line(s, text);
	if (s->block == BLOCK_ERRORS)
		errors_line(s, text);
	return HIWAT_OK;
}

/* What zpool says of all pools at once, of a healthy one under -x, or instead of pools; false when it is none of these. */
static bool
lone_line(struct state *s, struct text line, int *err)
{
	struct text name = line;

	if (text_eq(line, "all pools are healthy") || text_eq(line, "no pools available")) {
		s->has_data = true;
		return true;
	}
	if (!text_skip(&name, "pool '") || !text_ends(name, "' is healthy"))
		return false;
	name.n -= sizeof("' is healthy") - 1;
	s->has_data = true;
	*err = pool_line(s, name);
	if (*err == HIWAT_OK && s->pool != NULL)
		*err = zpool_set_state(s->arena, s->pool, TEXT("ONLINE"));
	s->is_whole = true;
	s->pool = NULL;
	return true;
}

static bool
is_table_header(struct text line)
{
	struct text word;

	return text_word(&line, &word) && text_eq(word, "NAME") && text_word(&line, &word) && text_eq(word, "STATE");
}

static int
status_line(struct state *s, struct text line, bool cut)
{
	struct text trimmed = text_trim(line), text;
	int err = HIWAT_OK;

	/* A blank line follows the table; others may stand between all lines of a text that was copied through a form. */
	if (trimmed.n == 0) {
		table_ends(s);
		return HIWAT_OK;
	}
	int key = key_of(trimmed, &text);
	if (key >= 0)
		return key_line(s, key, text);
	if (lone_line(s, trimmed, &err))
		return err;
	bool is_text = s->block == BLOCK_TEXT && indent_of(line) > 0;
	if (s->pool == NULL) {
		s->unknown += !cut;
	} else if ((s->block == BLOCK_CONFIG || s->block == BLOCK_NONE) && is_table_header(trimmed)) {
		s->block = BLOCK_TABLE;
	} else if (s->block == BLOCK_TABLE) {
		return table_row(s, line, cut);
	} else if (s->block == BLOCK_SCAN) {
		scan_progress(s, trimmed);
	} else if (s->block == BLOCK_ERRORS && s->is_listing_files && is_file(line)) {
		RECORD_SET(s->pool, data_errors, s->pool->data_errors + 1);
	} else {
		s->unknown += !cut && !is_text;
	}
	return HIWAT_OK;
}

/* Whether the last output, whose end is cut, lacks pools or the last one's errors that the output before had. */
static bool
is_shorter(const struct state *s)
{
	size_t n = s->storage->n_zpools;

	return n < s->n_before || (s->before[n - 1]->has_data_errors && !s->storage->zpools[n - 1]->has_data_errors);
}

int
zpool_status_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct state s = { .arena = arena, .tz_seconds = in->tz_seconds };
	struct text rest = in->text, line;
	bool cut = false, is_denied = false;

	if (zpool_status_json_recognise(in->text) > 0)
		return zpool_status_json_parse(in, arena, out, why);
	s.storage = RECORD_ONE(arena, out, storage, storage);
	if (s.storage == NULL)
		return HIWAT_E_NOMEM;
	while (text_line(&rest, &line, &cut)) {
		is_denied |= text_find(line, "ermission denied") >= 0;
		int err = status_line(&s, line, cut);
		if (err != HIWAT_OK)
			return err;
	}
	if (!cut)
		table_ends(&s);
	if (s.n_before > 0 && (!s.is_whole || (cut && is_shorter(&s)))) {
		s.storage->zpools = s.before;
		s.storage->n_zpools = s.n_before;
	}
	if (s.storage->n_zpools == 0 && !s.has_data) {
		return is_denied ? parse_fail(why, HIWAT_E_DENIED, "zpool may not open /dev/zfs")
				 : parse_fail(why, HIWAT_E_NODATA, "no pool");
	}
	return s.unknown > 0 ? record_count_unknown(arena, out, "zpool-status", s.unknown) : HIWAT_OK;
}

int
zpool_status_recognise(struct text text)
{
	struct text line, behind;
	int pool = -1;

	for (int i = 0; i < 30 && text_line(&text, &line, NULL); i++) {
		line = text_trim(line);
		int key = key_of(line, &behind);
		if (key == 0 && behind.n > 0)
			pool = i;
		if ((key == 1 && pool >= 0 && zpool_is_state(behind)) || text_eq(line, "all pools are healthy") ||
		    (text_starts(line, "pool '") && text_ends(line, "' is healthy")))
			return 95;
	}
	return 0;
}
