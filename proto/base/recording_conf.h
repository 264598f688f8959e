/* record: in the configuration of agent and collector. */
#ifndef HIWAT_BASE_RECORDING_CONF_H
#define HIWAT_BASE_RECORDING_CONF_H

#include <string.h>

#include "conf.h"
#include "recording.h"

struct recording_config {
	char *dir; /* NULL: nothing is recorded */
	uint64_t max_bytes, file_bytes, min_free_bytes;
	int64_t max_files;
	uint64_t file_age_ms;
};

/* Rows of an option table. at: offset of the struct recording_config; size: default of max_bytes. */
#define RECORDING_CONF(at, example_dir, size) \
	{ .key = "record.dir", \
		.type = CONF_PATH, \
		.offset = (at) + offsetof(struct recording_config, dir), \
		.example = example_dir, \
		.help = "Directory in which batches are recorded, for hiwat-collector replay; nothing is recorded when " \
			"absent. Its parent must exist." }, \
	    { .key = "record.max_bytes", \
		    .type = CONF_SIZE, \
		    .offset = (at) + offsetof(struct recording_config, max_bytes), \
		    .value = size, \
		    .min = 8 << 20, \
		    .help = "Size of all its files; the oldest are removed for room." }, \
	    { .key = "record.max_files", \
		    .type = CONF_INTEGER, \
		    .offset = (at) + offsetof(struct recording_config, max_files), \
		    .value = "128", \
		    .min = 2, \
		    .max = 10000, \
		    .help = "Number of its files; the oldest are removed." }, \
	    { .key = "record.file_bytes", \
		    .type = CONF_SIZE, \
		    .offset = (at) + offsetof(struct recording_config, file_bytes), \
		    .value = "64MiB", \
		    .min = 4 << 20, \
		    .help = "Size at which a file is closed and the next begun; at most half of max_bytes." }, \
	    { .key = "record.file_age", \
		    .type = CONF_DURATION, \
		    .offset = (at) + offsetof(struct recording_config, file_age_ms), \
		    .value = "24h", \
		    .min = 60000, \
		    .help = "Age at which a file is closed and the next begun." }, \
	{ \
		.key = "record.min_free_bytes", .type = CONF_SIZE, \
		.offset = (at) + offsetof(struct recording_config, min_free_bytes), .value = "1GiB", .min = 0, \
		.help = "What the file system keeps free: older files are removed for it, then nothing is recorded." \
	}

/* NULL, or what is wrong with the options together. */
static inline const char *
recording_config_problem(const struct recording_config *c)
{
	return c->dir != NULL && c->file_bytes > c->max_bytes / 2 ? "more than half of record.max_bytes" : NULL;
}

static inline bool
recording_config_same(const struct recording_config *a, const struct recording_config *b)
{
	bool same_dir = a->dir == NULL || b->dir == NULL ? a->dir == b->dir : strcmp(a->dir, b->dir) == 0;

	return same_dir && a->max_bytes == b->max_bytes && a->file_bytes == b->file_bytes &&
	    a->min_free_bytes == b->min_free_bytes && a->max_files == b->max_files && a->file_age_ms == b->file_age_ms;
}

static inline struct recording_options
recording_config_options(const struct recording_config *c)
{
	return (struct recording_options){
		.dir = c->dir,
		.max_bytes = c->max_bytes,
		.min_free_bytes = c->min_free_bytes,
		.file_bytes = c->file_bytes,
		.file_age_ns = c->file_age_ms * 1000000,
		.max_files = (unsigned)c->max_files,
	};
}

#endif
