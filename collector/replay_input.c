#include "replay_input.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "err.h"

struct source {
	char *path;
	uint64_t begin_ns;
	uint64_t number; /* of a recorder's file: in its directory they follow each other */
	char why[96];
	struct recording_damage damage;
	struct recording *file; /* while it is being read */
	struct recording_entry head;
	bool gap; /* before head */
};

struct replay_input {
	struct source *sources;   /* by begin_ns */
	size_t n, capacity, next; /* next: the first that was not opened yet */
	size_t open[REPLAY_OPEN_MAX];
	unsigned n_open;
	unsigned last;  /* in open: whose head was handed out; n_open: none */
	bool file_lost; /* since the last entry */
};

static int
add_source(struct replay_input *in, const char *path, uint64_t number)
{
	if (in->n == REPLAY_FILES_MAX)
		return HIWAT_E_FULL;
	if (in->n == in->capacity) {
		size_t capacity = in->capacity == 0 ? 64 : in->capacity * 2;
		struct source *bigger = realloc(in->sources, capacity * sizeof(*bigger));
		if (bigger == NULL)
			return HIWAT_E_NOMEM;
		in->sources = bigger;
		in->capacity = capacity;
	}
	struct source *s = &in->sources[in->n];
	*s = (struct source){ .path = strdup(path), .number = number };
	if (s->path == NULL)
		return HIWAT_E_NOMEM;
	in->n++;
	return HIWAT_OK;
}

static int
add_directory(struct replay_input *in, const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	char name[4096];
	uint64_t number;
	size_t before = in->n;
	int err = dir == NULL ? HIWAT_E_SYS : HIWAT_OK;

	while (err == HIWAT_OK && (e = readdir(dir)) != NULL) {
		if (!recording_name_parse(e->d_name, &number))
			continue;
		int n = snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		err = n > 0 && (size_t)n < sizeof(name) ? add_source(in, name, number) : HIWAT_E_TOOBIG;
	}
	if (dir != NULL)
		closedir(dir);
	return err == HIWAT_OK && in->n == before ? HIWAT_E_NODATA : err;
}

static void
explain(struct source *s, int err)
{
	const char *text = err_text(err);

	if (err == HIWAT_E_SYS)
		text = strerror(errno);
	else if (err == HIWAT_E_CORRUPT)
		text = "not a recording, or its first 32 bytes are damaged";
	else if (err == HIWAT_E_VERSION)
		text = "of a later release";
	snprintf(s->why, sizeof(s->why), "%s", text);
}

/* When each file begins stands in its header. A file without one comes where its name puts it, and is lost. */
static void
read_begins(struct replay_input *in)
{
	for (size_t i = 0; i < in->n; i++) {
		struct recording *file = NULL;
		int err = recording_open(in->sources[i].path, &file);
		if (err == HIWAT_OK)
			in->sources[i].begin_ns = recording_begin_ns(file);
		else
			explain(&in->sources[i], err);
		recording_close(file);
	}
}

static int
compare_begins(const void *a, const void *b)
{
	const struct source *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return strcmp(x->path, y->path);
}

int
replay_input_open(const char *const *paths, size_t n, struct replay_input **out, struct buf *why)
{
	struct replay_input *in = calloc(1, sizeof(*in));
	int err = in != NULL ? HIWAT_OK : HIWAT_E_NOMEM;

	for (size_t i = 0; err == HIWAT_OK && i < n; i++) {
		struct stat st;
		if (stat(paths[i], &st) != 0)
			err = HIWAT_E_SYS;
		else
			err = S_ISDIR(st.st_mode) ? add_directory(in, paths[i]) : add_source(in, paths[i], 0);
		if (err != HIWAT_OK)
			buf_printf(why, "%s: %s", paths[i],
			    err == HIWAT_E_SYS          ? strerror(errno)
				: err == HIWAT_E_NODATA ? "no recorded file (NUMBER-TIME.rec) in it"
							: err_text(err));
	}
	if (err != HIWAT_OK) {
		replay_input_close(in);
		return err;
	}
	read_begins(in);
	qsort(in->sources, in->n, sizeof(in->sources[0]), compare_begins);
	in->last = REPLAY_OPEN_MAX;
	*out = in;
	return HIWAT_OK;
}

void
replay_input_close(struct replay_input *in)
{
	if (in == NULL)
		return;
	for (size_t i = 0; i < in->n; i++) {
		recording_close(in->sources[i].file);
		free(in->sources[i].path);
	}
	free(in->sources);
	free(in);
}

/* Reads the head of an open file anew; at its end it is closed. */
static void
advance(struct replay_input *in, unsigned at)
{
	struct source *s = &in->sources[in->open[at]];
	int err = recording_next(s->file, &s->head, &s->gap);

	if (err == HIWAT_OK)
		return;
	if (err != HIWAT_E_NODATA) {
		explain(s, err);
		in->file_lost = true;
	}
	recording_damage(s->file, &s->damage);
	recording_close(s->file);
	s->file = NULL;
	in->open[at] = in->open[--in->n_open];
}

static unsigned
earliest(const struct replay_input *in)
{
	unsigned best = 0;

	for (unsigned i = 1; i < in->n_open; i++) {
		uint64_t a = in->sources[in->open[i]].head.wall_ns, b = in->sources[in->open[best]].head.wall_ns;
		if (a < b || (a == b && in->open[i] < in->open[best]))
			best = i;
	}
	return best;
}

/* Opens the files that begin before what is open goes on. */
static int
open_due(struct replay_input *in)
{
	while (in->next < in->n) {
		struct source *s = &in->sources[in->next];
		if (in->n_open > 0 && s->begin_ns > in->sources[in->open[earliest(in)]].head.wall_ns)
			break;
		if (in->n_open == REPLAY_OPEN_MAX)
			return HIWAT_E_FULL;
		in->next++;
		int err = s->why[0] != '\0' ? HIWAT_E_CORRUPT : recording_open(s->path, &s->file);
		if (err != HIWAT_OK) {
			if (s->why[0] == '\0')
				explain(s, err);
			in->file_lost = true;
			continue;
		}
		in->open[in->n_open++] = in->next - 1;
		advance(in, in->n_open - 1);
	}
	return HIWAT_OK;
}

int
replay_input_next(struct replay_input *in, struct recording_entry *entry, bool *gap)
{
	if (in->last < in->n_open)
		advance(in, in->last);
	in->last = REPLAY_OPEN_MAX;
	int err = open_due(in);
	if (err != HIWAT_OK)
		return err;
	if (in->n_open == 0)
		return HIWAT_E_NODATA;
	in->last = earliest(in);
	const struct source *s = &in->sources[in->open[in->last]];
	*entry = s->head;
	*gap = s->gap || in->file_lost;
	in->file_lost = false;
	return HIWAT_OK;
}

size_t
replay_input_count(const struct replay_input *in)
{
	return in->n;
}

void
replay_input_file(const struct replay_input *in, size_t index, struct replay_file *out)
{
	const struct source *s = &in->sources[index];

	*out = (struct replay_file){ s->path, s->why[0] != '\0' ? s->why : NULL, s->damage };
}
