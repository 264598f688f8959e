/*
 * One parser under libFuzzer; built once per kind with its name in FUZZ_KIND. Whatever the text, a parser returns: with an
 * error, or with a record that can be written, that holds no series twice and that a collector takes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arena.h"
#include "err.h"
#include "parse.h"
#include "record_check.h"

#define ARENA_MAX (256u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
parse_as(const struct parse_kind *kind, struct text text, enum parse_os os)
{
	struct parse_input in = { .text = text, .os = os, .page_size = 4096, .hz = 100 };
	Hiwat__Record record = HIWAT__RECORD__INIT;
	struct parse_reason why = { "" };
	struct arena arena;
	char *series = NULL;

	arena_init(&arena, ARENA_MAX);
	if (parse_decode(&arena, &in.text) != HIWAT_OK)
		abort();
	if (kind->recognise != NULL) {
		int sure = kind->recognise(in.text);
		if (sure < 0 || sure > 100)
			abort();
	}
	int err = kind->parse(&in, &arena, &record, &why);
	const char *fault = err == HIWAT_OK ? record_check(&record, &series) : NULL;
	if (fault != NULL)
		fprintf(stderr, "%s: %s\n", fault, series != NULL ? series : "");
	if (fault != NULL || err > 0 || err == HIWAT_E_NOMEM)
		abort();
	arena_fini(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct parse_kind *kind = parse_kind_find(FUZZ_KIND);
	struct text text = { (const char *)data, size };

	if (kind == NULL)
		abort();
	parse_as(kind, text, PARSE_OS_UNKNOWN);
	parse_as(kind, text, (enum parse_os)(size % (PARSE_OS_LINUX + 1)));
	return 0;
}
