#include "parsed.h"

#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "catalogue.h"
#include "err.h"
#include "record_check.h"

#define LINES_MAX (16u << 20)
#define UNKNOWN "hiwat_parse_unknown_lines_total"

static bool
write_line(void *arg, const struct sample *s)
{
	struct buf *out = arg;

	series_write(out, catalogue_metrics[s->metric].name, s->labels, s->n_labels);
	buf_putc(out, ' ');
	if (s->is_integer)
		buf_printf(out, "%" PRIu64, s->integer);
	else
		buf_put_double(out, s->value);
	buf_putc(out, '\n');
	return buf_ok(out);
}

int
parsed_by(parse_fn *parse, struct text text, struct buf *out)
{
	Hiwat__Record record = HIWAT__RECORD__INIT;
	struct parse_reason why = { "" };
	struct arena arena;
	char *series = NULL, *copy = malloc(text.n > 0 ? text.n : 1);

	ck_assert_ptr_nonnull(copy);
	if (text.n > 0)
		memcpy(copy, text.p, text.n);
	struct parse_input in = { .text = { copy, text.n }, .page_size = 4096, .hz = 100 };
	arena_init(&arena, 64u << 20);
	buf_reset(out);
	int err = parse(&in, &arena, &record, &why);
	if (err == HIWAT_OK) {
		ck_assert(catalogue_walk(&record, write_line, out));
		const char *fault = record_check(&record, &series);
		ck_assert_msg(fault == NULL, "%s: %s", fault, series != NULL ? series : "");
	} else {
		ck_assert_msg(why.text[0] != '\0', "no reason");
	}
	free(series);
	arena_fini(&arena);
	free(copy);
	return err;
}

static bool
has_line(struct text lines, struct text line)
{
	struct text other;

	while (text_line(&lines, &other, NULL)) {
		if (text_same(other, line))
			return true;
	}
	return false;
}

static bool
has_series(struct text lines, struct text series)
{
	struct text other, number;

	while (text_line(&lines, &other, NULL)) {
		if (text_last_word(&other, &number) && text_same(other, series))
			return true;
	}
	return false;
}

const char *
parsed_mismatch(const struct buf *lines, const char *expected)
{
	static char message[400];
	struct text all = { buf_str(lines), lines->len }, rest = text_of(expected), line;

	while (text_line(&rest, &line, NULL)) {
		struct text series = line;
		bool ok = text_skip(&series, "!") ? !has_series(all, series) : has_line(all, line);
		if (line.n > 0 && !ok) {
			snprintf(message, sizeof(message), "%.*s does not hold", (int)line.n, line.p);
			return message;
		}
	}
	return NULL;
}

void
parsed_row_check(const struct parsed_row *row)
{
	struct buf out;

	buf_init(&out, LINES_MAX);
	int err = parsed_by(row->parse, text_of(row->text), &out);
	ck_assert_msg(err == row->err, "%s: %s", row->name, err_text(err));
	const char *mismatch = parsed_mismatch(&out, row->expected);
	ck_assert_msg(mismatch == NULL, "%s: %s in\n%s", row->name, mismatch, buf_str(&out));
	buf_fini(&out);
}

static void
check_extra_line(parse_fn *parse, struct text text, size_t at, struct text before)
{
	static const char extra[] = "frobs that nobody knows\n";
	size_t n = text.n + sizeof(extra) - 1;
	char *longer = malloc(n);
	struct buf after;
	struct text line;

	ck_assert_ptr_nonnull(longer);
	memcpy(longer, text.p, at);
	memcpy(longer + at, extra, sizeof(extra) - 1);
	memcpy(longer + at + sizeof(extra) - 1, text.p + at, text.n - at);
	buf_init(&after, LINES_MAX);
	int err = parsed_by(parse, (struct text){ longer, n }, &after);
	ck_assert_msg(err == HIWAT_OK, "an unknown line at byte %zu: %s", at, err_text(err));
	while (text_line(&before, &line, NULL)) {
		if (!text_starts(line, UNKNOWN))
			ck_assert_msg(has_line((struct text){ after.data, after.len }, line),
			    "an unknown line at byte %zu changes %.*s", at, (int)line.n, line.p);
	}
	buf_fini(&after);
	free(longer);
}

void
parsed_properties(parse_fn *parse, struct text text, size_t step)
{
	struct buf before, scratch;
	struct text rest = text, line;

	buf_init(&before, LINES_MAX);
	buf_init(&scratch, LINES_MAX);
	ck_assert_int_eq(parsed_by(parse, text, &before), HIWAT_OK);
	for (size_t n = 0; n < text.n; n += step)
		parsed_by(parse, (struct text){ text.p, n }, &scratch);
	do {
		size_t at = (size_t)(rest.p - text.p);
		if (at == 0 || text.p[at - 1] == '\n')
			check_extra_line(parse, text, at, (struct text){ before.data, before.len });
		if (at > 32768)
			break;
	} while (text_line(&rest, &line, NULL));
	buf_fini(&scratch);
	buf_fini(&before);
}

/* Calls fn for every saved output of one kind in tests/corpus; returns their number. */
static unsigned
walk_corpus(const struct parse_kind *k, void (*fn)(const struct parse_kind *k, const char *name, struct text text))
{
	DIR *dir = opendir(TEST_DATA "/corpus");
	struct dirent *d;
	unsigned n = 0;
	size_t len = strlen(k->name);

	ck_assert_ptr_nonnull(dir);
	while ((d = readdir(dir)) != NULL) {
		char path[1024];
		struct buf text;
		if (strncmp(d->d_name, k->name, len) != 0 || strncmp(d->d_name + len, "--", 2) != 0 ||
		    !text_ends(text_of(d->d_name), ".txt"))
			continue;
		snprintf(path, sizeof(path), "%s/corpus/%s", TEST_DATA, d->d_name);
		FILE *f = fopen(path, "r");
		ck_assert_ptr_nonnull(f);
		buf_init(&text, LINES_MAX);
		char *room = buf_reserve(&text, 1 << 20);
		ck_assert_ptr_nonnull(room);
		buf_advance(&text, fread(room, 1, 1 << 20, f));
		fclose(f);
		struct text t = { buf_str(&text), text.len };
		struct arena arena;
		arena_init(&arena, LINES_MAX);
		ck_assert_int_eq(parse_decode(&arena, &t), HIWAT_OK);
		fn(k, d->d_name, t);
		arena_fini(&arena);
		buf_fini(&text);
		n++;
	}
	closedir(dir);
	ck_assert_uint_ge(n, 1);
	return n;
}

static void
check_properties(const struct parse_kind *k, const char *name, struct text text)
{
	ck_assert_msg(k->recognise == NULL || parse_recognise(text) == k, "%s is not recognised", name);
	/* A line in between two halves of one makes another text. */
	if (text_find(text_of(name), "wrapped") >= 0)
		return;
	parsed_properties(k->parse, text, text.n > 8192 ? 97 : 1);
}

unsigned
parsed_corpus_properties(const char *kind)
{
	const struct parse_kind *k = parse_kind_find(kind);

	ck_assert_ptr_nonnull(k);
	return walk_corpus(k, check_properties);
}

static void
check_prefixes(const struct parse_kind *k, const char *name, struct text text)
{
	struct buf whole, part;

	/* The first of several outputs alone is another sample. */
	if (text_find(text_of(name), "two-dumps") >= 0)
		return;
	buf_init(&whole, LINES_MAX);
	buf_init(&part, LINES_MAX);
	ck_assert_int_eq(parsed_by(k->parse, text, &whole), HIWAT_OK);
	for (size_t n = 0; n < text.n; n++) {
		if (parsed_by(k->parse, (struct text){ text.p, n }, &part) != HIWAT_OK)
			continue;
		struct text rest = { buf_str(&part), part.len }, line;
		while (text_line(&rest, &line, NULL))
			ck_assert_msg(text_starts(line, UNKNOWN) || has_line((struct text){ whole.data, whole.len }, line),
			    "%s: the first %zu bytes give %.*s", name, n, (int)line.n, line.p);
	}
	buf_fini(&part);
	buf_fini(&whole);
}

void
parsed_corpus_prefixes_agree(const char *kind)
{
	const struct parse_kind *k = parse_kind_find(kind);

	ck_assert_ptr_nonnull(k);
	walk_corpus(k, check_prefixes);
}
