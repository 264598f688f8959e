/* A file of /proc with its parser: what most samplers of Linux are made of. */
#ifndef HIWAT_AGENT_SOURCE_H
#define HIWAT_AGENT_SOURCE_H

#include <stdbool.h>

#include "fetch.h"
#include "parse.h"
#include "sampler.h"

struct source_row {
	const char *name;  /* below proc_dir */
	parse_fn *parse;   /* NULL: the sampler reads it itself */
	bool is_optional;  /* depends on the kernel's configuration: absent is no failure */
	bool may_be_empty; /* nothing to tell is no failure */
};

struct source {
	const struct source_row *row;
	struct fetch_file file;
	bool was_found;
};

/* Files are opened when first read. HIWAT_E_TOOBIG: dir is too long. */
int sources_init(struct source *sources, const char *dir, const struct source_row *rows, size_t n);
void sources_fini(struct source *sources, size_t n);

/*
 * Reads a source and adds it to *out. An optional file that was never found adds nothing and is no failure. An empty file,
 * or one that ends within a line, is HIWAT_E_TRUNCATED; the rest as of fetch and the parser.
 */
int source_sample(struct source *s, struct fetch *f, const struct parse_input *units, struct arena *arena,
    Hiwat__Record *out, struct sampler_reason *why);
/* All of them, until one fails. */
int sources_sample(struct source *sources, size_t n, struct fetch *f, const struct parse_input *units, struct arena *arena,
    Hiwat__Record *out, struct sampler_reason *why);
/* The text alone; *text is empty for an optional file that was never found. */
int source_text(struct source *s, struct fetch *f, struct text *text, struct sampler_reason *why);
/* The first number; *has is false for an optional file that was never found. */
int source_u64(struct source *s, struct fetch *f, uint64_t *value, bool *has, struct sampler_reason *why);

/* Page size and clock ticks of this system. */
struct parse_input source_units(void);

/* Writes the reason and returns err. */
int sampler_fail(struct sampler_reason *why, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same with the sentence that fetch left. */
int sampler_fail_fetch(struct sampler_reason *why, int err, const struct fetch *f);

#endif
