/*
 * golden DIR: every saved output NAME.txt of DIR through its parser, compared with NAME.expect. NAME is
 * KIND--OS-VERSION--note--NN; OS is the word before the first '-' of the second part, darwin and solaris are read as
 * freebsd. An .expect line is a series and its number, which must be equal to 1e-9 of it. "# absent: SERIES" must not
 * be there; "# sum: SERIES NUMBER" is what all series with at least these labels add up to. Other comments are ignored.
 * Every text is read twice, with its system told and without: the result must be the same.
 */
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "catalogue.h"
#include "err.h"
#include "input.h"
#include "parse.h"
#include "record_check.h"

#define TEXT_MAX (64u << 20)

/* A series as text, taken apart; labels keep their escapes, since both sides are escaped alike. */
struct series {
	struct text name;
	unsigned n_labels;
	struct {
		struct text name, value;
	} labels[CATALOGUE_LABELS_MAX];
};

static bool
series_split(struct text t, struct series *s)
{
	struct text label;

	*s = (struct series){ .name = text_trim(t) };
	if (!text_until(&t, '{', &label))
		return s->name.n > 0;
	s->name = text_trim(label);
	while (t.n > 0 && *t.p != '}') {
		if (s->n_labels == CATALOGUE_LABELS_MAX || !text_until(&t, '=', &label) || !text_skip(&t, "\""))
			return false;
		size_t n = 0;
		while (n < t.n && t.p[n] != '"')
			n += t.p[n] == '\\' ? 2 : 1;
		if (n >= t.n)
			return false;
		s->labels[s->n_labels].name = text_trim(label);
		s->labels[s->n_labels].value = (struct text){ t.p, n };
		s->n_labels++;
		t.p += n + 1;
		t.n -= n + 1;
		text_skip(&t, ",");
	}
	return text_eq(text_trim(t), "}");
}

/* Whether s carries at least the labels of wanted. */
static bool
series_has(const struct series *s, const struct series *wanted)
{
	if (!text_same(s->name, wanted->name))
		return false;
	for (unsigned i = 0; i < wanted->n_labels; i++) {
		unsigned j = 0;
		while (j < s->n_labels &&
		    !(text_same(s->labels[j].name, wanted->labels[i].name) &&
			text_same(s->labels[j].value, wanted->labels[i].value)))
			j++;
		if (j == s->n_labels)
			return false;
	}
	return true;
}

struct search {
	const struct series *wanted;
	bool partly; /* more labels than the wanted ones are fine */
	unsigned found;
	double sum;
	struct buf scratch;
};

static bool
match(void *arg, const struct sample *sample)
{
	struct search *search = arg;
	struct series s;

	buf_reset(&search->scratch);
	series_write(&search->scratch, catalogue_metrics[sample->metric].name, sample->labels, sample->n_labels);
	if (series_split(text_of(buf_str(&search->scratch)), &s) && series_has(&s, search->wanted) &&
	    (search->partly || s.n_labels == search->wanted->n_labels)) {
		search->found++;
		search->sum += sample->value;
	}
	return true;
}

static bool
is_close(double a, double b)
{
	return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* One line of an .expect file; false with a message when it does not hold. */
static bool
expectation_holds(const char *name, struct text line, const Hiwat__Record *record)
{
	struct text series_text = text_trim(line), number;
	struct series wanted;
	bool absent = false, sum = false, ok;
	double value = 0;

	if (text_starts(series_text, "#")) {
		absent = text_skip(&series_text, "# absent:");
		sum = !absent && text_skip(&series_text, "# sum:");
		if (!absent && !sum)
			return true;
	}
	if (series_text.n == 0)
		return true;
	if ((!absent && (!text_last_word(&series_text, &number) || !text_is_double(number, &value))) ||
	    !series_split(series_text, &wanted)) {
		printf("%s: malformed expectation: %.*s\n", name, (int)line.n, line.p);
		return false;
	}
	if (catalogue_find(wanted.name.p, wanted.name.n) < 0) {
		printf("%s: no metric of this name: %.*s\n", name, (int)line.n, line.p);
		return false;
	}
	struct search search = { .wanted = &wanted, .partly = sum };
	buf_init(&search.scratch, 1 << 16);
	catalogue_walk(record, match, &search);
	buf_fini(&search.scratch);
	if (absent)
		ok = search.found == 0;
	else if (sum)
		ok = is_close(search.sum, value);
	else
		ok = search.found == 1 && is_close(search.sum, value);
	if (!ok && search.found > 0)
		printf("%s: %.*s   (got %.17g)\n", name, (int)line.n, line.p, search.sum);
	else if (!ok)
		printf("%s: %.*s   (got nothing)\n", name, (int)line.n, line.p);
	return ok;
}

static bool
read_file(const char *dir, const char *stem, const char *suffix, struct buf *out)
{
	char path[4096];

	buf_reset(out);
	if (snprintf(path, sizeof(path), "%s/%s%s", dir, stem, suffix) >= (int)sizeof(path))
		return false;
	return input_read(path, out) == HIWAT_OK;
}

static enum parse_os
os_of(struct text stem)
{
	struct text version, os;
	enum parse_os known = PARSE_OS_UNKNOWN;
	char word[32];

	long at = text_find(stem, "--");
	if (at < 0)
		return known;
	version = (struct text){ stem.p + at + 2, stem.n - (size_t)at - 2 };
	if (!text_until(&version, '-', &os) || os.n >= sizeof(word))
		return known;
	memcpy(word, os.p, os.n);
	word[os.n] = '\0';
	bool is_relative = strcmp(word, "darwin") == 0 || strcmp(word, "solaris") == 0;
	parse_os_of(is_relative ? "freebsd" : word, &known);
	return known;
}

/* A fixture through its parser and compared; false after at least one message. */
static bool
check_fixture(const char *dir, const char *stem, const struct parse_kind *kind, enum parse_os os)
{
	struct parse_input in = { .os = os, .page_size = 4096, .hz = 100 };
	Hiwat__Record record = HIWAT__RECORD__INIT;
	struct parse_reason why = { "" };
	struct buf text, expect;
	struct arena arena;
	struct text rest, line;
	char *series = NULL;
	bool ok = false;

	buf_init(&text, TEXT_MAX);
	buf_init(&expect, TEXT_MAX);
	arena_init(&arena, 256u << 20);
	if (!read_file(dir, stem, ".txt", &text) || !read_file(dir, stem, ".expect", &expect)) {
		printf("%s: cannot be read\n", stem);
		goto out;
	}
	in.text = (struct text){ buf_str(&text), text.len };
	int err = parse_decode(&arena, &in.text);
	if (err == HIWAT_OK)
		err = kind->parse(&in, &arena, &record, &why);
	if (err != HIWAT_OK) {
		printf("%s: %s\n", stem, why.text[0] != '\0' ? why.text : err_text(err));
		goto out;
	}
	const char *fault = record_check(&record, &series);
	if (fault != NULL) {
		printf("%s: %s: %s\n", stem, fault, series != NULL ? series : "");
		goto out;
	}
	ok = true;
	rest = (struct text){ buf_str(&expect), expect.len };
	while (text_line(&rest, &line, NULL))
		ok &= expectation_holds(stem, line, &record);
out:
	free(series);
	arena_fini(&arena);
	buf_fini(&expect);
	buf_fini(&text);
	return ok;
}

static int
is_text(const struct dirent *d)
{
	return text_ends(text_of(d->d_name), ".txt");
}

int
main(int argc, char **argv)
{
	struct dirent **files;
	unsigned passed = 0, failed = 0;

	if (argc != 2) {
		fputs("usage: golden DIR\n", stderr);
		return 2;
	}
	int n = scandir(argv[1], &files, is_text, alphasort);
	if (n < 0) {
		perror(argv[1]);
		return 2;
	}
	for (int i = 0; i < n; i++) {
		char *stem = files[i]->d_name, kind_name[64];
		stem[strlen(stem) - 4] = '\0';
		const char *end = strstr(stem, "--");
		snprintf(kind_name, sizeof(kind_name), "%.*s", end != NULL ? (int)(end - stem) : 0, stem);
		const struct parse_kind *kind = parse_kind_find(kind_name);
		if (kind == NULL) {
			printf("%s: no kind '%s'\n", stem, kind_name);
			failed++;
		} else if (check_fixture(argv[1], stem, kind, os_of(text_of(stem))) &&
		    check_fixture(argv[1], stem, kind, PARSE_OS_UNKNOWN)) {
			passed++;
		} else {
			failed++;
		}
		free(files[i]);
	}
	free(files);
	printf("%u passed, %u failed\n", passed, failed);
	return failed > 0 || n == 0;
}
