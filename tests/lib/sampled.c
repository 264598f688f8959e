#include "sampled.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "clock.h"
#include "err.h"
#include "parsed.h"
#include "record_check.h"

void
sampled_open(struct sampled *s, const char *name, const struct sampler_config *config)
{
	*s = (struct sampled){ 0 };
	for (const struct sampler *const *i = samplers; *i != NULL; i++) {
		if (strcmp((*i)->name, name) == 0)
			s->sampler = *i;
	}
	ck_assert_ptr_nonnull(s->sampler);
	arena_init(&s->arena, 8 << 20);
	buf_init(&s->lines, 8 << 20);
	ck_assert_int_eq(s->sampler->open(config, &s->state), HIWAT_OK);
}

void
sampled_close(struct sampled *s)
{
	s->sampler->close(s->state);
	arena_fini(&s->arena);
	buf_fini(&s->lines);
}

/*
 * For the list of what the samplers of a system deliver: with HIWAT_DELIVERED in the environment, each series is added to
 * that file. tests/delivered.sh compares it with collector/rules.d/delivered.yaml.
 */
static void
note_delivered(struct sampled *s)
{
	const char *path = getenv("HIWAT_DELIVERED");
	FILE *f = path != NULL ? fopen(path, "a") : NULL;

	if (f == NULL)
		return;
	fputs(buf_str(&s->lines), f);
	fclose(f);
}

int
sampled_take(struct sampled *s, uint64_t boot_seconds)
{
	struct sampler_now now = { .wall_ns = (UINT64_C(1700000000) + boot_seconds) * NSEC_PER_SEC,
		.boot_ns = boot_seconds * NSEC_PER_SEC };
	struct outcome o;

	arena_reset(&s->arena);
	buf_reset(&s->lines);
	outcome_take(s->sampler, s->state, &now, &s->arena, &o);
	s->why = o.why;
	if (o.err == HIWAT_OK) {
		const Hiwat__Record *record = o.record;
		ck_assert_ptr_null(record_check(record, NULL));
		ck_assert_int_eq(record_write_text(&s->lines, &record, 1), HIWAT_OK);
		note_delivered(s);
	} else {
		ck_assert_str_ne(o.why.text, "");
	}
	return o.err;
}

double
sampled_value(const struct sampled *s, const char *series)
{
	const char *found = strstr(buf_str(&s->lines), series);

	return found != NULL && found[strlen(series)] == ' ' ? strtod(found + strlen(series), NULL) : -1;
}

void
sampled_expect(struct sampled *s, uint64_t boot_seconds, const char *expected)
{
	int err = sampled_take(s, boot_seconds);

	ck_assert_msg(err == HIWAT_OK, "%s: %s: %s", s->sampler->name, err_text(err), s->why.text);
	const char *mismatch = parsed_mismatch(&s->lines, expected);
	ck_assert_msg(mismatch == NULL, "%s: %s in\n%.3000s", s->sampler->name, mismatch, buf_str(&s->lines));
}
