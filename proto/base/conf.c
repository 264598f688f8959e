/*
 * Walks the tree along the table: each key of a mapping is looked up with the path before it; what is no option and no
 * prefix of one is unknown. Values are parsed into a fresh struct, which is handed over only when nothing was wrong.
 */
#include "conf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "conf_value.h"
#include "diag.h"
#include "err.h"
#include "yaml_tree.h"

#define KEY_MAX 128 /* of a whole dotted key */
#define NEAREST_MAX 3
#define NEAREST_SPREAD 3 /* edits that a key may need more than the nearest one to be shown beside it */

struct reader {
	const struct conf_schema *schema;
	struct diag *diag;
	char *out;
	int err; /* HIWAT_E_NOMEM once memory ran out */
};

static const struct conf_option *
option_find(const struct conf_schema *schema, const char *key)
{
	for (const struct conf_option *o = schema->options; o->key != NULL; o++) {
		if (strcmp(o->key, key) == 0)
			return o;
	}
	return NULL;
}

/* key stands for a mapping: options begin with it and a dot. */
static bool
is_section(const struct conf_schema *schema, const char *key)
{
	size_t len = strlen(key);

	for (const struct conf_option *o = schema->options; o->key != NULL; o++) {
		if (strncmp(o->key, key, len) == 0 && o->key[len] == '.')
			return true;
	}
	return false;
}

/* Levenshtein distance of a and b, both cut at KEY_MAX. */
static unsigned
distance(const char *a, const char *b)
{
	unsigned row[KEY_MAX + 1];
	size_t n = strnlen(b, KEY_MAX);

	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; i < KEY_MAX && a[i] != '\0'; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i + 1;
		for (size_t j = 0; j < n; j++) {
			unsigned best = diagonal + (a[i] != b[j]);
			diagonal = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (diagonal + 1 < best)
				best = diagonal + 1;
			row[j + 1] = best;
		}
	}
	return row[n];
}

/* The options and sections that come nearest to an unknown key, nearest first. */
struct nearest {
	struct {
		const char *key;
		size_t len;
		unsigned distance;
	} rows[NEAREST_MAX];
	size_t n;
};

static void
consider(struct nearest *near, const char *key, const char *candidate, size_t len)
{
	char text[KEY_MAX + 1];
	size_t at = near->n;

	for (size_t i = 0; i < near->n; i++) {
		if (near->rows[i].len == len && memcmp(near->rows[i].key, candidate, len) == 0)
			return;
	}
	if (len > KEY_MAX)
		return;
	memcpy(text, candidate, len);
	text[len] = '\0';
	/* A word that was left unfinished is nearer than its number of letters tells. */
	size_t key_len = strlen(key);
	bool is_prefix = key_len >= 3 && len >= 3 && strncmp(key, text, key_len < len ? key_len : len) == 0;
	unsigned d = is_prefix ? 1 : distance(key, text);
	while (at > 0 && near->rows[at - 1].distance > d)
		at--;
	if (at == NEAREST_MAX)
		return;
	if (near->n < NEAREST_MAX)
		near->n++;
	memmove(&near->rows[at + 1], &near->rows[at], (near->n - at - 1) * sizeof(near->rows[0]));
	near->rows[at].key = candidate;
	near->rows[at].len = len;
	near->rows[at].distance = d;
}

static void
complain_unknown(struct reader *r, const struct yaml_node *node, const char *key)
{
	struct nearest near = { .n = 0 };
	struct buf allowed;
	unsigned depth = 0;

	for (const char *p = key; *p != '\0'; p++)
		depth += *p == '.';
	for (const struct conf_option *o = r->schema->options; o->key != NULL; o++) {
		/* The whole key, for an option in the wrong section; and as many parts of it as were given. */
		consider(&near, key, o->key, strlen(o->key));
		unsigned dots = 0;
		for (const char *p = o->key; *p != '\0'; p++) {
			if (*p == '.' && dots++ == depth)
				consider(&near, key, o->key, (size_t)(p - o->key));
		}
	}
	buf_init(&allowed, NEAREST_MAX * (KEY_MAX + 2));
	for (size_t i = 0; i < near.n && near.rows[i].distance <= near.rows[0].distance + NEAREST_SPREAD; i++) {
		buf_puts(&allowed, i > 0 ? ", " : "");
		buf_add(&allowed, near.rows[i].key, near.rows[i].len);
	}
	yaml_complain_key(r->diag, node, "unknown key \"%s\"; allowed: %s", key, buf_str(&allowed));
	buf_fini(&allowed);
}

static int
read_list(struct reader *r, const struct conf_option *o, const struct yaml_node *node, struct conf_list *list)
{
	if (node->count == 0)
		return HIWAT_OK;
	list->items = calloc(node->count, sizeof(*list->items));
	if (list->items == NULL)
		return HIWAT_E_NOMEM;
	for (const struct yaml_node *n = node->first; n != NULL; n = n->next) {
		if (n->kind != YAML_SCALAR || yaml_is_null(n)) {
			yaml_complain(r->diag, n, "%s: an item is %s; allowed: a list of texts", o->key,
			    yaml_is_null(n) ? "empty" : yaml_kind_text(n));
			continue;
		}
		int err = conf_value_text(o, n, r->diag, &list->items[list->n]);
		if (err == HIWAT_E_NOMEM)
			return err;
		if (err == 0)
			list->n++;
	}
	return HIWAT_OK;
}

static int
read_map(struct reader *r, const struct conf_option *o, const struct yaml_node *node, struct conf_map *map)
{
	if (node->count == 0)
		return HIWAT_OK;
	map->pairs = calloc(node->count, sizeof(*map->pairs));
	if (map->pairs == NULL)
		return HIWAT_E_NOMEM;
	for (const struct yaml_node *n = node->first; n != NULL; n = n->next) {
		if (n->kind != YAML_SCALAR || yaml_is_null(n)) {
			yaml_complain(r->diag, n, "%s.%s is %s; allowed: a text", o->key, n->key,
			    yaml_is_null(n) ? "empty" : yaml_kind_text(n));
			continue;
		}
		struct conf_pair *pair = &map->pairs[map->n];
		int err = conf_value_text(o, n, r->diag, &pair->value);
		if (err == HIWAT_E_NOMEM)
			return err;
		if (err != 0)
			continue;
		map->n++;
		pair->name = strdup(n->key);
		if (pair->name == NULL)
			return HIWAT_E_NOMEM;
	}
	return HIWAT_OK;
}

static int read_root(const struct conf_schema *schema, const struct yaml_node *root, struct diag *diag, void *fresh);

static int
read_items(struct reader *r, const struct conf_option *o, const struct yaml_node *node, struct conf_items *items)
{
	if (node->count == 0)
		return HIWAT_OK;
	items->items = calloc(node->count, o->items->size);
	if (items->items == NULL)
		return HIWAT_E_NOMEM;
	for (const struct yaml_node *n = node->first; n != NULL; n = n->next) {
		if (n->kind != YAML_MAPPING) {
			yaml_complain(r->diag, n, "%s: an item is %s; allowed: a mapping", o->key, yaml_kind_text(n));
			continue;
		}
		int err = read_root(o->items, n, r->diag, (char *)items->items + items->n++ * o->items->size);
		if (err == HIWAT_E_NOMEM)
			return err;
	}
	return HIWAT_OK;
}

/* Lists, maps and items: the right kind of node, the right number of elements, then the elements. */
static int
read_collection(struct reader *r, const struct conf_option *o, const struct yaml_node *node, void *member)
{
	enum yaml_kind kind = o->type == CONF_MAP ? YAML_MAPPING : YAML_SEQUENCE;
	int64_t count = yaml_is_null(node) ? 0 : node->count;

	if (node->kind != kind && !yaml_is_null(node)) {
		yaml_complain(r->diag, node, "%s is %s; allowed: %s", o->key, yaml_kind_text(node),
		    o->type == CONF_MAP        ? "a mapping of names to texts"
			: o->type == CONF_LIST ? "a list of texts"
					       : "a list of mappings");
		return HIWAT_OK;
	}
	if (count < o->min || (o->max != 0 && count > o->max)) {
		char range[64];
		conf_value_range(o, range, sizeof(range));
		yaml_complain(r->diag, node, "%s has %u elements; allowed: %s", o->key, node->count, range);
		return HIWAT_OK;
	}
	switch (o->type) {
	case CONF_LIST:
		return read_list(r, o, node, member);
	case CONF_MAP:
		return read_map(r, o, node, member);
	default:
		return read_items(r, o, node, member);
	}
}

static void
read_option(struct reader *r, const struct conf_option *o, const struct yaml_node *node)
{
	void *member = r->out + o->offset;
	int err = conf_is_collection(o) ? read_collection(r, o, node, member) : conf_value_read(o, node, r->diag, member);

	if (err == HIWAT_E_NOMEM)
		r->err = err;
}

/* prefix: the dotted path to the mapping, "" at the root. */
static void
read_mapping(struct reader *r, const struct yaml_node *mapping, const char *prefix)
{
	for (const struct yaml_node *n = mapping->first; n != NULL; n = n->next) {
		struct buf key;
		buf_init(&key, KEY_MAX);
		buf_printf(&key, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", n->key);
		bool is_plain = buf_ok(&key) && strchr(n->key, '.') == NULL && n->key[0] != '\0';
		const struct conf_option *o = is_plain ? option_find(r->schema, buf_str(&key)) : NULL;
		if (o != NULL)
			read_option(r, o, n);
		else if (!is_plain || !is_section(r->schema, buf_str(&key)))
			complain_unknown(r, n, buf_ok(&key) ? buf_str(&key) : n->key);
		else if (n->kind == YAML_MAPPING)
			read_mapping(r, n, buf_str(&key));
		else if (!yaml_is_null(n))
			yaml_complain(r->diag, n, "%s is %s; allowed: a mapping", buf_str(&key), yaml_kind_text(n));
		buf_fini(&key);
	}
}

struct yaml_node *
conf_find(const struct yaml_node *root, const char *key)
{
	const struct yaml_node *node = root;
	char part[KEY_MAX];

	for (;;) {
		const char *dot = strchr(key, '.');
		size_t len = dot != NULL ? (size_t)(dot - key) : strlen(key);
		if (len >= sizeof(part))
			return NULL;
		memcpy(part, key, len);
		part[len] = '\0';
		struct yaml_node *child = yaml_get(node, part);
		if (child == NULL || dot == NULL)
			return child;
		node = child;
		key = dot + 1;
	}
}

/* Gives every option that is not in the tree its default; root NULL: all of them. */
static int
set_defaults(const struct conf_schema *schema, const struct yaml_node *root, void *out)
{
	for (const struct conf_option *o = schema->options; o->key != NULL; o++) {
		if (o->value == NULL || (root != NULL && conf_find(root, o->key) != NULL))
			continue;
		int err = conf_value_default(o, (char *)out + o->offset);
		if (err != 0)
			return err;
	}
	return HIWAT_OK;
}

/* Into a zeroed struct; whatever happens, conf_free() fits afterwards. */
static int
read_root(const struct conf_schema *schema, const struct yaml_node *root, struct diag *diag, void *fresh)
{
	struct reader r = { .schema = schema, .diag = diag, .out = fresh };
	unsigned before = diag->n;

	if (root->kind != YAML_MAPPING) {
		yaml_complain(diag, root, "the file is %s; allowed: a mapping of options", yaml_kind_text(root));
		return HIWAT_E_CONFIG;
	}
	read_mapping(&r, root, "");
	for (const struct conf_option *o = schema->options; o->key != NULL; o++) {
		if (o->required && conf_find(root, o->key) == NULL)
			yaml_complain(diag, root, "%s is missing; it must be given", o->key);
	}
	if (r.err == 0)
		r.err = set_defaults(schema, root, fresh);
	if (r.err == HIWAT_E_NOMEM)
		diag_add(diag, root->file, 0, 0, "%s", err_text(HIWAT_E_NOMEM));
	if (r.err == 0 && diag->n > before)
		r.err = HIWAT_E_CONFIG;
	return r.err;
}

int
conf_read(const struct conf_schema *schema, const struct yaml_node *root, struct diag *diag, void *out)
{
	void *fresh = calloc(1, schema->size);

	if (fresh == NULL)
		return HIWAT_E_NOMEM;
	int err = read_root(schema, root, diag, fresh);
	if (err == 0)
		memcpy(out, fresh, schema->size);
	else
		conf_free(schema, fresh);
	free(fresh);
	return err;
}

int
conf_load(const struct conf_schema *schema, const char *path, struct diag *diag, void *out)
{
	struct arena arena;
	struct yaml_node *root;

	arena_init(&arena, YAML_ARENA_MAX);
	int err = yaml_tree_load(path, &arena, diag, &root);
	if (err == 0)
		err = conf_read(schema, root, diag, out);
	arena_fini(&arena);
	return err;
}

int
conf_defaults(const struct conf_schema *schema, void *out)
{
	void *fresh = calloc(1, schema->size);

	if (fresh == NULL)
		return HIWAT_E_NOMEM;
	int err = set_defaults(schema, NULL, fresh);
	if (err == 0)
		memcpy(out, fresh, schema->size);
	else
		conf_free(schema, fresh);
	free(fresh);
	return err;
}

static void
free_option(const struct conf_option *o, void *member)
{
	switch (o->type) {
	case CONF_STRING:
	case CONF_PATH:
		free(*(char **)member);
		break;
	case CONF_LIST: {
		struct conf_list *list = member;
		for (size_t i = 0; i < list->n; i++)
			free(list->items[i]);
		free(list->items);
		break;
	}
	case CONF_MAP: {
		struct conf_map *map = member;
		for (size_t i = 0; i < map->n; i++) {
			free(map->pairs[i].name);
			free(map->pairs[i].value);
		}
		free(map->pairs);
		break;
	}
	case CONF_ITEMS: {
		struct conf_items *items = member;
		for (size_t i = 0; i < items->n; i++)
			conf_free(o->items, (char *)items->items + i * o->items->size);
		free(items->items);
		break;
	}
	default:
		break;
	}
}

void
conf_free(const struct conf_schema *schema, void *out)
{
	for (const struct conf_option *o = schema->options; o->key != NULL; o++)
		free_option(o, (char *)out + o->offset);
	memset(out, 0, schema->size);
}
