/*
 * Configuration as a table: one row per option says its key, its type, where it goes in a struct, its default and its
 * help. Loading, checking, freeing and the documented sample file all follow from the table.
 *
 *	struct server { char *listen; uint64_t timeout_ms; };
 *	static const struct conf_option options[] = {
 *		{ .key = "http.listen", .type = CONF_STRING, .offset = offsetof(struct server, listen), .value = "::1",
 *		    .help = "Address to listen on." },
 *		{ .key = "http.timeout", .type = CONF_DURATION, .offset = offsetof(struct server, timeout_ms), .value = "10s",
 *		    .min = 1000, .help = "Longest time for one request." },
 *		{ 0 },
 *	};
 *	static const struct conf_schema schema = { .size = sizeof(struct server), .options = options };
 *
 * A key with dots stands for nested mappings. Rows with the same prefix stand together; the first option of a schema for
 * items has no dots.
 */
#ifndef HIWAT_BASE_CONF_H
#define HIWAT_BASE_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct diag;
struct yaml_node;

/* What an option holds, and the type of its member in the struct. All memory is owned by the struct: conf_free(). */
enum conf_type {
	CONF_STRING,   /* char *; NULL without a default */
	CONF_PATH,     /* char *; absolute */
	CONF_BOOL,     /* bool; true or false */
	CONF_INTEGER,  /* int64_t */
	CONF_NUMBER,   /* double */
	CONF_SIZE,     /* uint64_t bytes; "64MiB" */
	CONF_DURATION, /* uint64_t milliseconds; "10s" */
	CONF_ENUM,     /* int, an index into words */
	CONF_LIST,     /* struct conf_list: text items */
	CONF_MAP,      /* struct conf_map: names to text, in the order of the file */
	CONF_ITEMS     /* struct conf_items: mappings, each read by the option's items schema */
};

struct conf_list {
	char **items;
	size_t n;
};

struct conf_pair {
	char *name, *value;
};

struct conf_map {
	struct conf_pair *pairs;
	size_t n;
};

struct conf_items {
	void *items; /* n structs of the schema's size */
	size_t n;
};

struct conf_schema;

struct conf_option {
	const char *key;                 /* NULL ends the table */
	const char *help;                /* sentences for the sample file */
	const char *value;               /* the default, as it would be written; NULL: none (NULL, 0, false, empty) */
	const char *example;             /* what the sample file shows when there is no default; one line of YAML */
	const char *const *words;        /* CONF_ENUM: ended by NULL */
	const struct conf_schema *items; /* CONF_ITEMS */
	/* CONF_STRING, CONF_PATH, CONF_LIST items, CONF_MAP values: NULL or what is wrong, a static text. May be NULL. */
	const char *(*check)(const char *text);
	size_t offset;
	/*
	 * Bounds of a number, bytes or milliseconds; of the number of elements of CONF_LIST, CONF_MAP and CONF_ITEMS. With
	 * both 0 there are none (but never negative sizes and durations); max 0 with min above 0: no upper bound.
	 */
	int64_t min, max;
	enum conf_type type;
	bool required; /* its absence is an error */
};

struct conf_schema {
	size_t size; /* of the struct */
	const struct conf_option *options;
};

/*
 * Reads the file into *out, a struct of schema->size bytes whose content is overwritten; absent options get their default.
 * Every error is added to diag: unknown keys with the nearest known ones, wrong types, values out of range, missing
 * options. On failure *out is untouched: HIWAT_E_CONFIG, HIWAT_E_NOMEM, HIWAT_E_SYS (the file cannot be read).
 */
int conf_load(const struct conf_schema *schema, const char *path, struct diag *diag, void *out);
/* The same for a tree that was parsed before. */
int conf_read(const struct conf_schema *schema, const struct yaml_node *root, struct diag *diag, void *out);
/* Defaults alone; required options are not asked for. */
int conf_defaults(const struct conf_schema *schema, void *out);
/* Frees what the struct owns and zeroes it. */
void conf_free(const struct conf_schema *schema, void *out);
/* The node of an option in the tree, to complain about two options that do not fit together; NULL when not given. */
struct yaml_node *conf_find(const struct yaml_node *root, const char *key);

/*
 * Appends a file with every option, its help and its default, commented out; sections are not. Help starts with "# ", an option with
 * "#" alone: taking the latter away everywhere gives a file with the default meaning (or the examples).
 */
void conf_write_sample(const struct conf_schema *schema, struct buf *out);

#endif
