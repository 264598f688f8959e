/*
 * A bundle's files are parsed one by one into one arena; a table of all series remembers which file gave one first. The
 * text of all records is then printed without the lines that the table has already seen.
 */
#include "bundle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "arena.h"
#include "buf.h"
#include "catalogue.h"
#include "cmd.h"
#include "confine.h"
#include "err.h"
#include "input.h"
#include "parse.h"

#define OUTPUT_MAX (256u << 20)
#define CONFLICTS_SHOWN 5 /* per file; the rest is counted */

struct series {
	const char *name; /* with labels, as printed; in the arena */
	const char *file; /* in the arena */
	double value;
	bool is_printed;
	struct series *next; /* of the same hash */
};

struct bundle {
	const struct parse_input *defaults;
	struct arena *arena;
	const Hiwat__Record **records;
	size_t n_records;
	struct series **buckets;
	size_t n_buckets, n_series;
	struct buf scratch;
	const char *file; /* being parsed */
	unsigned n_conflicts, n_unused;
	bool out_of_memory;
};

static size_t
hash(const char *s, size_t len)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 1099511628211u;
	return (size_t)(h ^ h >> 32);
}

static struct series *
series_find(const struct bundle *b, const char *name, size_t len)
{
	struct series *s = b->n_buckets > 0 ? b->buckets[hash(name, len) % b->n_buckets] : NULL;

	while (s != NULL && (strncmp(s->name, name, len) != 0 || s->name[len] != '\0'))
		s = s->next;
	return s;
}

static bool
grow_buckets(struct bundle *b)
{
	size_t n = b->n_buckets == 0 ? 1024 : b->n_buckets * 4;
	struct series **buckets = arena_calloc(b->arena, n, sizeof(struct series *));

	if (buckets == NULL)
		return false;
	for (size_t i = 0; i < b->n_buckets; i++) {
		for (struct series *s = b->buckets[i], *next; s != NULL; s = next) {
			struct series **home = &buckets[hash(s->name, strlen(s->name)) % n];
			next = s->next;
			s->next = *home;
			*home = s;
		}
	}
	b->buckets = buckets;
	b->n_buckets = n;
	return true;
}

static bool
series_add(struct bundle *b, const char *name, size_t len, double value)
{
	struct series *s;

	if (b->n_series >= b->n_buckets && !grow_buckets(b))
		return false;
	if ((s = arena_alloc(b->arena, sizeof(*s))) == NULL || (s->name = arena_strndup(b->arena, name, len)) == NULL)
		return false;
	struct series **home = &b->buckets[hash(name, len) % b->n_buckets];
	s->file = b->file;
	s->value = value;
	s->next = *home;
	*home = s;
	b->n_series++;
	return true;
}

/* Called for each series of a file. */
static bool
merge(void *arg, const struct sample *sample)
{
	struct bundle *b = arg;

	buf_reset(&b->scratch);
	series_write(&b->scratch, catalogue_metrics[sample->metric].name, sample->labels, sample->n_labels);
	if (!buf_ok(&b->scratch)) {
		b->out_of_memory = true;
		return false;
	}
	const char *name = buf_str(&b->scratch);
	struct series *first = series_find(b, name, b->scratch.len);
	if (first == NULL) {
		b->out_of_memory = !series_add(b, name, b->scratch.len, sample->value);
		return !b->out_of_memory;
	}
	if (first->value < sample->value || first->value > sample->value) {
		if (b->n_conflicts++ < CONFLICTS_SHOWN)
			fprintf(stderr, "hiwat-agent parse: %s: %s is %.17g here, %.17g in %s, which is kept\n", b->file,
			    name, sample->value, first->value, first->file);
	}
	return true;
}

static void
complain(struct bundle *b, const char *name, const char *reason)
{
	b->n_unused++;
	fprintf(stderr, "hiwat-agent parse: %s: %s\n", name, reason);
}

/* The kind that a file's name tells: "netstat-m", "netstat-m.txt", "netstat-m--freebsd-12--idle--01.txt". */
static const struct parse_kind *
kind_of_name(const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash != NULL ? slash + 1 : name;

	for (const struct parse_kind *k = parse_kinds; k->name != NULL; k++) {
		size_t n = strlen(k->name);
		if (strncmp(base, k->name, n) == 0 && (base[n] == '\0' || base[n] == '.' || strncmp(base + n, "--", 2) == 0))
			return k;
	}
	return NULL;
}

/* An input_fn. */
static void
add_file(void *arg, const char *name, struct text text, int err)
{
	struct bundle *b = arg;
	struct parse_input in = *b->defaults;
	struct parse_reason why = { "" };

	if (b->out_of_memory)
		return;
	if (err == HIWAT_E_TOOBIG || err == HIWAT_E_SYS) {
		complain(b, name, err == HIWAT_E_SYS ? strerror(errno) : "too large or too deep, skipped");
		return;
	}
	if (text.n == 0) {
		complain(b, name, "empty");
		return;
	}
	Hiwat__Record *record = arena_alloc(b->arena, sizeof(*record));
	if (record == NULL || (b->file = arena_strndup(b->arena, name, strlen(name))) == NULL ||
	    parse_decode(b->arena, &text) != HIWAT_OK) {
		b->out_of_memory = true;
		return;
	}
	const struct parse_kind *kind = kind_of_name(name);
	if (kind == NULL)
		kind = parse_recognise(text);
	if (kind == NULL) {
		complain(b, name, parse_looks_binary(text) ? "binary, not text" : "of no known kind");
		return;
	}
	hiwat__record__init(record);
	in.text = text;
	err = kind->parse(&in, b->arena, record, &why);
	if (err != HIWAT_OK) {
		b->out_of_memory = err == HIWAT_E_NOMEM;
		fprintf(stderr, "hiwat-agent parse: %s: as %s: %s\n", name, kind->name,
		    why.text[0] != '\0' ? why.text : err_text(err));
		b->n_unused++;
		return;
	}
	const Hiwat__Record **slot = arena_grow(b->arena, (void *)&b->records, b->n_records, sizeof(Hiwat__Record *));
	if (slot == NULL) {
		b->out_of_memory = true;
		return;
	}
	*slot = record;
	b->n_records++;
	b->n_conflicts = 0;
	catalogue_walk(record, merge, b);
	if (b->n_conflicts > CONFLICTS_SHOWN)
		fprintf(stderr, "hiwat-agent parse: %s: %u more series differ from earlier files\n", name,
		    b->n_conflicts - CONFLICTS_SHOWN);
}

/* Every series once: record_write_text() keeps the order of the records, so that the first line is the first file's. */
static void
print_once(const struct bundle *b, const struct buf *out)
{
	struct text rest = { buf_str(out), out->len }, line, value;

	while (text_line(&rest, &line, NULL)) {
		struct text name = line;
		if (!text_starts(line, "#")) {
			text_last_word(&name, &value);
			struct series *s = series_find(b, name.p, name.n);
			if (s == NULL || s->is_printed)
				continue;
			s->is_printed = true;
		}
		fwrite(line.p, 1, line.n, stdout);
		putchar('\n');
	}
}

static int
print_bundle(struct bundle *b, const char *path)
{
	struct buf out;

	if (b->n_records == 0) {
		fprintf(stderr, "hiwat-agent parse: %s: no file could be used\n", path);
		return CMD_UNUSABLE;
	}
	buf_init(&out, OUTPUT_MAX);
	int err = record_write_text(&out, b->records, b->n_records);
	if (err == HIWAT_OK && b->defaults->os != PARSE_OS_UNKNOWN)
		printf("# os %s\n", parse_os_word(b->defaults->os));
	if (err == HIWAT_OK)
		print_once(b, &out);
	else
		fprintf(stderr, "hiwat-agent parse: %s: %s\n", path, err_text(err));
	buf_fini(&out);
	fprintf(stderr, "hiwat-agent parse: %zu files read, %u not used\n", b->n_records, b->n_unused);
	return err == HIWAT_OK ? cmd_finish_output("parse") : CMD_UNUSABLE;
}

int
bundle_parse(const char *path, const struct parse_input *in, struct arena *arena, struct buf *archive)
{
	struct bundle b = { .defaults = in, .arena = arena };
	struct stat st;
	int err;

	buf_init(&b.scratch, 1 << 16);
	bool is_stdin = strcmp(path, "-") == 0;
	if (!is_stdin && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		err = confine_parser(true);
		if (err == HIWAT_OK)
			err = input_walk_directory(path, add_file, &b);
	} else {
		err = input_read(path, archive);
		struct text bytes = { buf_str(archive), archive->len };
		if (err == HIWAT_OK)
			err = confine_parser(false);
		if (err == HIWAT_OK)
			err = input_is_tar(bytes) ? input_walk_tar(bytes, add_file, &b) : HIWAT_E_FORMAT;
	}
	if (is_stdin)
		path = "standard input";
	const char *reason = err == HIWAT_E_SYS ? strerror(errno) : err_text(err);
	if (err == HIWAT_E_FORMAT)
		reason = "neither a directory nor an uncompressed tar archive";
	if (err != HIWAT_OK)
		fprintf(stderr, "hiwat-agent parse: %s: %s\n", path, reason);
	if (b.out_of_memory)
		fprintf(stderr, "hiwat-agent parse: %s: %s\n", path, err_text(HIWAT_E_NOMEM));
	buf_fini(&b.scratch);
	if (b.out_of_memory || (err != HIWAT_OK && b.n_records == 0))
		return CMD_UNUSABLE;
	return print_bundle(&b, path);
}
