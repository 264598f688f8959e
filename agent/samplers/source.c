#include "source.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "err.h"

int
sampler_fail(struct sampler_reason *why, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return err;
}

int
sampler_fail_fetch(struct sampler_reason *why, int err, const struct fetch *f)
{
	return sampler_fail(why, err, "%s", f->why.text);
}

int
sources_init(struct source *sources, const char *dir, const struct source_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sources[i] = (struct source){ .row = &rows[i] };
		int err = fetch_file_init(&sources[i].file, dir, rows[i].name);
		if (err != HIWAT_OK)
			return err;
	}
	return HIWAT_OK;
}

void
sources_fini(struct source *sources, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sources[i].row != NULL)
			fetch_file_fini(&sources[i].file);
	}
}

int
source_text(struct source *s, struct fetch *f, struct text *text, struct sampler_reason *why)
{
	struct text read;
	int err = fetch_file_read(f, &s->file, &read);

	if (err == HIWAT_E_MISSING && s->row->is_optional && !s->was_found) {
		*text = (struct text){ "", 0 };
		return HIWAT_OK;
	}
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, f);
	s->was_found = true;
	if (read.n == 0 && !s->row->may_be_empty)
		return sampler_fail(why, HIWAT_E_TRUNCATED, "%s is empty", s->file.path);
	/* The kernel ends every line; binary files are not read through here. */
	if (read.n > 0 && read.p[read.n - 1] != '\n')
		return sampler_fail(why, HIWAT_E_TRUNCATED, "%s ends within a line", s->file.path);
	*text = read;
	return HIWAT_OK;
}

int
source_sample(struct source *s, struct fetch *f, const struct parse_input *units, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct parse_input in = *units;
	struct parse_reason reason = { "" };
	int err = source_text(s, f, &in.text, why);

	if (err != HIWAT_OK || in.text.n == 0)
		return err;
	err = s->row->parse(&in, arena, out, &reason);
	if (err == HIWAT_OK)
		return HIWAT_OK;
	return sampler_fail(why, err, "%s: %s", s->file.path, reason.text[0] != '\0' ? reason.text : err_text(err));
}

int
sources_sample(struct source *sources, size_t n, struct fetch *f, const struct parse_input *units, struct arena *arena,
    Hiwat__Record *out, struct sampler_reason *why)
{
	int err = HIWAT_OK;

	for (size_t i = 0; i < n && err == HIWAT_OK; i++) {
		if (sources[i].row->parse != NULL)
			err = source_sample(&sources[i], f, units, arena, out, why);
	}
	return err;
}

int
source_u64(struct source *s, struct fetch *f, uint64_t *value, bool *has, struct sampler_reason *why)
{
	struct text text = { "", 0 };
	int err = source_text(s, f, &text, why);

	if (err != HIWAT_OK)
		return err;
	*has = text.n > 0;
	text_skip_blanks(&text);
	if (*has && text_u64(&text, value) != HIWAT_OK)
		return sampler_fail(why, HIWAT_E_FORMAT, "%s holds no number", s->file.path);
	return HIWAT_OK;
}

struct parse_input
source_units(void)
{
	long page_size = sysconf(_SC_PAGESIZE), hz = sysconf(_SC_CLK_TCK);

	return (struct parse_input){
		.os = PARSE_OS_LINUX,
		.page_size = page_size > 0 ? (uint64_t)page_size : 0,
		.hz = hz > 0 ? (uint64_t)hz : 0,
	};
}
