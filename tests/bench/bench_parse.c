/* CPU time of reading saved outputs, as parse does. usage: hiwat-bench-parse FILE...; the kind is the file's name up to "--". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "err.h"
#include "parse.h"

#define ROUNDS 2000
#define FILE_MAX_BYTES (8u << 20)

static bool
read_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "r");

	buf_reset(out);
	if (f == NULL)
		return false;
	int err = buf_read(out, f);
	fclose(f);
	return err == HIWAT_OK;
}

static bool
bench(const char *path, struct buf *content, struct arena *arena)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path, *end = strstr(name, "--");
	char kind_name[64];

	snprintf(kind_name, sizeof(kind_name), "%.*s", (int)(end != NULL ? (size_t)(end - name) : strlen(name)), name);
	const struct parse_kind *kind = parse_kind_find(kind_name);
	if (kind == NULL || !read_file(path, content)) {
		fprintf(stderr, "hiwat-bench-parse: %s: no such file, or no kind %s\n", path, kind_name);
		return false;
	}
	uint64_t best_ns = UINT64_MAX;
	for (int i = 0; i < ROUNDS; i++) {
		struct parse_input in = { .text = { buf_str(content), content->len }, .page_size = 4096, .hz = 100 };
		Hiwat__Record record = HIWAT__RECORD__INIT;
		struct parse_reason why = { "out of memory" };
		arena_reset(arena);
		uint64_t began_ns = clock_thread_cpu_ns();
		int err = parse_decode(arena, &in.text);
		if (err == HIWAT_OK)
			err = kind->parse(&in, arena, &record, &why);
		uint64_t took_ns = clock_thread_cpu_ns() - began_ns;
		if (err != HIWAT_OK) {
			fprintf(stderr, "hiwat-bench-parse: %s: %s\n", path, why.text);
			return false;
		}
		if (took_ns < best_ns)
			best_ns = took_ns;
	}
	printf("%9.1f us %8zu bytes  %s\n", (double)best_ns / 1000, content->len, name);
	return true;
}

int
main(int argc, char **argv)
{
	struct arena arena;
	struct buf content;
	int status = argc > 1 ? 0 : 2;

	arena_init(&arena, 256u << 20);
	buf_init(&content, FILE_MAX_BYTES);
	for (int i = 1; i < argc; i++) {
		if (!bench(argv[i], &content, &arena))
			status = 1;
	}
	buf_fini(&content);
	arena_fini(&arena);
	return status;
}
